//! Which settings make sense together.

use headway_sansio::Duration;

use super::Config;

/// A setting with which no association can work, or that RFC 9260 forbids.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// RTO.Min, RTO.Initial and RTO.Max are out of order.
    #[error("the RTO's least, first and greatest value must be above zero and in this order")]
    Rto,
    /// Section 6.2 forbids more than 500 ms.
    #[error("the SACK delay must not be longer than 500 ms (RFC 9260, section 6.2)")]
    SackDelay,
    /// Nothing would ever be retransmitted fast, or everything.
    #[error("the missing report threshold must be at least 1")]
    MissingReportThreshold,
    /// Outside what IP knows.
    #[error("the MTU must lie between 68 and 65535 bytes, and leave 32 beside the headers")]
    Mtu,
    /// Section 6 asks for at least 1500 bytes of receive buffer.
    #[error("buffers must lie between 1500 bytes and 1 GiB")]
    Buffer,
    /// Section 3.3.2 forbids zero streams.
    #[error("there must be at least one stream each way")]
    Streams,
    /// No peer could begin an association.
    #[error("the limit on INITs must let at least one through a second, and at once")]
    InitLimit,
}

impl Config {
    /// Checks the settings. An association works with any, but one that fails
    /// here does not do what its owner wants.
    ///
    /// # Errors
    /// The first setting found that makes no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        let buffer = 1500..=1 << 30;
        let room = self
            .mtu_bytes
            .saturating_sub(self.ip_header_bytes.saturating_add(12));
        if self.rto_min.is_zero()
            || self.rto_min > self.rto_max
            || self.rto_initial < self.rto_min
            || self.rto_initial > self.rto_max
        {
            Err(ConfigError::Rto)
        } else if self.sack_delay > Duration::from_millis(500) {
            Err(ConfigError::SackDelay)
        } else if self.missing_report_threshold == 0 {
            Err(ConfigError::MissingReportThreshold)
        } else if !(68..=65_535).contains(&self.mtu_bytes) || room < 32 {
            Err(ConfigError::Mtu)
        } else if !buffer.contains(&self.send_buffer_bytes)
            || !buffer.contains(&self.receive_buffer_bytes)
        {
            Err(ConfigError::Buffer)
        } else if self.outbound_streams == 0 || self.inbound_streams == 0 {
            Err(ConfigError::Streams)
        } else if self
            .init_limit
            .is_some_and(|limit| limit.per_second == 0 || limit.burst == 0)
        {
            Err(ConfigError::InitLimit)
        } else {
            Ok(())
        }
    }
}
