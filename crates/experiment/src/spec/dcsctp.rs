//! The key `transport` of a RunSpec for the kind `dcsctp`.

use std::time::Duration;

use dcsctp::api::Options;
use headway_apps::Delivery;
use serde::Deserialize;

use super::{DeliveryKind, SpecError};

/// The keys of `transport` for the kind `dcsctp`: one association of the crate
/// `dcsctp`, the SCTP of WebRTC's data channels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DcsctpTransport {
    /// How messages map onto streams.
    pub delivery: DeliveryKind,
    /// Streams that `delivery = "streams"` uses.
    pub streams: u16,
    /// Single options over dcSCTP's own defaults.
    pub dcsctp: DcsctpOptions,
}

impl Default for DcsctpTransport {
    fn default() -> Self {
        Self {
            delivery: DeliveryKind::default(),
            streams: 16,
            dcsctp: DcsctpOptions::default(),
        }
    }
}

/// Options of dcSCTP that have an effect here; what is left out keeps the value that
/// `dcsctp::api::Options::default` gives it. Names are dcSCTP's, with a unit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DcsctpOptions {
    /// Largest SCTP packet, without the IP header.
    pub mtu_bytes: Option<u32>,
    /// IP header before each packet; 20 where left out. Not dcSCTP's, which
    /// knows no layer below.
    pub ip_header_bytes: Option<u32>,
    /// `max_receiver_window_buffer_size`.
    pub receive_buffer_bytes: Option<u32>,
    /// `max_send_buffer_size`, also for each stream.
    pub send_buffer_bytes: Option<u32>,
    /// `rto_initial`, and the timers of the handshake.
    pub rto_initial_ns: Option<u64>,
    /// `rto_min`.
    pub rto_min_ns: Option<u64>,
    /// `rto_max`.
    pub rto_max_ns: Option<u64>,
    /// `min_rtt_variance`; dcSCTP takes an eighth of it for the least RTTVAR.
    pub min_rtt_variance_ns: Option<u64>,
    /// `max_timer_backoff_duration`.
    pub max_timer_backoff_ns: Option<u64>,
    /// `delayed_ack_max_timeout`.
    pub delayed_ack_max_ns: Option<u64>,
    /// `heartbeat_interval`.
    pub heartbeat_interval_ns: Option<u64>,
    /// `cwnd_mtus_initial`.
    pub cwnd_mtus_initial: Option<u32>,
    /// `cwnd_mtus_min`.
    pub cwnd_mtus_min: Option<u32>,
    /// `immediate_sack_under_cwnd_mtus`.
    pub immediate_sack_under_cwnd_mtus: Option<u32>,
    /// `max_burst`.
    pub max_burst: Option<u16>,
    /// `max_retransmissions`: time-outs in a row after which the association is
    /// given up.
    pub max_retransmissions: Option<u32>,
    /// `max_init_retransmits`.
    pub max_init_retransmits: Option<u32>,
}

impl DcsctpTransport {
    /// The IP header of RFC 791 without options.
    const IP_HEADER_BYTES: u32 = 20;
    /// The least MTU that RFC 9260 builds on: an IPv4 packet that every host
    /// takes (576 bytes, RFC 1122) less its header.
    const LEAST_MTU_BYTES: u32 = 556;

    /// The mapping of messages onto streams.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        self.delivery.over(self.streams)
    }

    /// Length of the IP header before each packet.
    #[must_use]
    pub fn ip_header_bytes(&self) -> u32 {
        self.dcsctp.ip_header_bytes.unwrap_or(Self::IP_HEADER_BYTES)
    }

    /// dcSCTP's options for both ends.
    #[must_use]
    pub fn options(&self, port: u16) -> Options {
        fn put<T, U>(to: &mut U, value: Option<T>, from: impl FnOnce(T) -> U) {
            if let Some(value) = value {
                *to = from(value);
            }
        }
        let size = |n: u32| n as usize;
        let knobs = &self.dcsctp;
        let mut options = Options {
            local_port: port,
            remote_port: port,
            ..Options::default()
        };
        put(&mut options.mtu, knobs.mtu_bytes, size);
        put(
            &mut options.max_receiver_window_buffer_size,
            knobs.receive_buffer_bytes,
            size,
        );
        put(
            &mut options.max_send_buffer_size,
            knobs.send_buffer_bytes,
            size,
        );
        options.per_stream_send_queue_limit = options.max_send_buffer_size;
        if let Some(initial) = knobs.rto_initial_ns.map(Duration::from_nanos) {
            options.rto_initial = initial;
            options.t1_init_timeout = initial;
            options.t1_cookie_timeout = initial;
            options.t2_shutdown_timeout = initial;
        }
        let time = Duration::from_nanos;
        put(&mut options.rto_min, knobs.rto_min_ns, time);
        put(&mut options.rto_max, knobs.rto_max_ns, time);
        put(
            &mut options.min_rtt_variance,
            knobs.min_rtt_variance_ns,
            time,
        );
        put(
            &mut options.max_timer_backoff_duration,
            knobs.max_timer_backoff_ns,
            |ns| Some(time(ns)),
        );
        put(
            &mut options.delayed_ack_max_timeout,
            knobs.delayed_ack_max_ns,
            time,
        );
        put(
            &mut options.heartbeat_interval,
            knobs.heartbeat_interval_ns,
            time,
        );
        put(
            &mut options.cwnd_mtus_initial,
            knobs.cwnd_mtus_initial,
            size,
        );
        put(&mut options.cwnd_mtus_min, knobs.cwnd_mtus_min, size);
        put(
            &mut options.immediate_sack_under_cwnd_mtus,
            knobs.immediate_sack_under_cwnd_mtus,
            size,
        );
        put(&mut options.max_burst, knobs.max_burst, i32::from);
        put(
            &mut options.max_retransmissions,
            knobs.max_retransmissions,
            Some,
        );
        put(
            &mut options.max_init_retransmits,
            knobs.max_init_retransmits,
            Some,
        );
        options
    }

    /// Checks the keys, and that the longest message fits.
    pub(super) fn validate(&self, longest_message: u32) -> Result<(), SpecError> {
        let wrong = |key: &str, problem: String| {
            Err(SpecError::new(format!("transport.dcsctp.{key}"), problem))
        };
        if self.streams == 0 {
            return Err(SpecError::new("transport.streams", "must be at least 1"));
        }
        let options = self.options(0);
        let least = Self::LEAST_MTU_BYTES;
        if !(least as usize..=65_535).contains(&options.mtu) {
            return wrong("mtu_bytes", format!("must be {least} to 65535"));
        }
        if options.max_burst == 0 {
            return wrong("max_burst", "must be at least 1".into());
        }
        if options.cwnd_mtus_initial == 0 {
            return wrong("cwnd_mtus_initial", "must be at least 1".into());
        }
        if options.cwnd_mtus_min == 0 {
            return wrong("cwnd_mtus_min", "must be at least 1".into());
        }
        if options.rto_initial.is_zero() {
            return wrong("rto_initial_ns", "must be above 0".into());
        }
        if options.rto_min.is_zero() {
            return wrong("rto_min_ns", "must be above 0".into());
        }
        if options.rto_min > options.rto_max {
            return wrong("rto_min_ns", "must not exceed rto_max_ns".into());
        }
        let most = options
            .max_message_size
            .min(options.max_send_buffer_size)
            .min(options.max_receiver_window_buffer_size);
        if longest_message as usize > most {
            return Err(SpecError::new(
                "transport.kind",
                format!(
                    "dcsctp carries messages of up to {most} bytes with these options; the \
                     longest here has {longest_message}"
                ),
            ));
        }
        Ok(())
    }
}
