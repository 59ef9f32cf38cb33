//! The key `transport` of a RunSpec.

use headway_apps::{Delivery, Reliability};
use headway_sctp::{Config, Overrides};
use serde::Deserialize;

use super::{DcsctpTransport, SpecError, TcpKind, TcpTransport, WorkloadSpec};

/// What carries the messages.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TransportSpec {
    /// One SCTP association.
    Sctp(Box<SctpTransport>),
    /// One association of the crate `dcsctp`.
    Dcsctp(Box<DcsctpTransport>),
    /// Each message a UDP datagram.
    Udp(UdpTransport),
    /// One TCP connection.
    Tcp(TcpTransport),
    /// Several TCP connections.
    TcpParallel(TcpTransport),
    /// Each message in several pieces over TCP.
    TcpSplit(TcpTransport),
}

/// The keys of `transport` for the kind `sctp`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SctpTransport {
    /// How messages map onto streams.
    pub delivery: DeliveryKind,
    /// Streams that `delivery = "streams"` uses.
    pub streams: u16,
    /// Name of a stack profile.
    pub profile: String,
    /// Single knobs over the profile.
    pub sctp: Overrides,
}

/// The keys of `transport` for the kind `udp`: none, because all that could be
/// set is SIP's own (the timers of the workload).
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UdpTransport {}

impl UdpTransport {
    /// Headers before each message: IPv4 without options 20 (RFC 791), UDP 8
    /// (RFC 768).
    pub const HEADER_BYTES: u32 = 28;
    /// The longest message that goes without IP fragments over an Ethernet MTU
    /// of 1500 bytes. RFC 3261 section 18.1.1 wants longer ones over a transport
    /// with congestion control.
    pub const MAX_MESSAGE_BYTES: u32 = 1500 - Self::HEADER_BYTES;
}

/// The values of `transport.delivery`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryKind {
    /// Everything in order on one stream.
    #[default]
    Ordered,
    /// In order within each of several streams.
    Streams,
    /// In no order.
    Unordered,
}

impl DeliveryKind {
    /// The mapping of messages onto so many streams.
    pub(super) fn over(self, streams: u16) -> Delivery {
        match self {
            Self::Ordered => Delivery::Ordered,
            Self::Streams => Delivery::Streams(streams),
            Self::Unordered => Delivery::Unordered,
        }
    }
}

impl Default for SctpTransport {
    fn default() -> Self {
        Self {
            delivery: DeliveryKind::default(),
            streams: 16,
            profile: "rfc9260".into(),
            sctp: Overrides::default(),
        }
    }
}

impl SctpTransport {
    /// The mapping of messages onto streams.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        self.delivery.over(self.streams)
    }
}

impl SctpTransport {
    /// The configuration of the association: the profile with the single knobs
    /// laid over it and as many streams as the delivery uses.
    ///
    /// # Errors
    /// Where the profile is unknown or the knobs make no sense together.
    pub fn config(&self) -> Result<Config, SpecError> {
        let mut config = Config::profile(&self.profile)
            .map_err(|e| SpecError::new("transport.profile", e.to_string()))?;
        self.sctp.apply(&mut config);
        let streams = self.delivery().streams();
        config.outbound_streams = streams;
        config.inbound_streams = config.inbound_streams.max(streams);
        Ok(config)
    }
}

impl TransportSpec {
    /// What the applications may expect of it, and what SIP's Via header calls it.
    #[must_use]
    pub fn nature(&self) -> (Reliability, &'static str) {
        match self {
            Self::Sctp(_) | Self::Dcsctp(_) => (Reliability::Reliable, "SCTP"),
            Self::Udp(_) => (Reliability::Unreliable, "UDP"),
            Self::Tcp(_) | Self::TcpParallel(_) | Self::TcpSplit(_) => {
                (Reliability::Reliable, "TCP")
            }
        }
    }

    /// The kind and the keys of a transport over TCP.
    #[must_use]
    pub fn tcp(&self) -> Option<(TcpKind, &TcpTransport)> {
        match self {
            Self::Tcp(tcp) => Some((TcpKind::Single, tcp)),
            Self::TcpParallel(tcp) => Some((TcpKind::Parallel, tcp)),
            Self::TcpSplit(tcp) => Some((TcpKind::Split, tcp)),
            Self::Sctp(_) | Self::Dcsctp(_) | Self::Udp(_) => None,
        }
    }

    /// Checks it for the messages of a workload.
    pub(super) fn validate(&self, workload: &WorkloadSpec) -> Result<(), SpecError> {
        let longest = workload.longest_message();
        if let Some((kind, tcp)) = self.tcp() {
            return tcp.validate(kind, workload);
        }
        match self {
            Self::Udp(_) if longest > UdpTransport::MAX_MESSAGE_BYTES => Err(SpecError::new(
                "transport.kind",
                format!(
                    "udp carries messages of up to {} bytes, each in one packet; the longest \
                     here has {longest}",
                    UdpTransport::MAX_MESSAGE_BYTES
                ),
            )),
            Self::Udp(_) => Ok(()),
            Self::Sctp(sctp) => {
                if sctp.streams == 0 {
                    return Err(SpecError::new("transport.streams", "must be at least 1"));
                }
                sctp.config().map(drop)
            }
            Self::Dcsctp(dcsctp) => dcsctp.validate(longest),
            Self::Tcp(_) | Self::TcpParallel(_) | Self::TcpSplit(_) => Ok(()),
        }
    }
}
