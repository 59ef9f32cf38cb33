//! How an endpoint is set up, and whom it reaches.

use std::net::SocketAddr;

use headway_sctp::Config;

use super::DtlsConfig;

/// The UDP port that is registered for SCTP (RFC 6951, section 4.1).
pub const ENCAPSULATION_PORT: u16 = 9899;

/// What an [`Endpoint`](super::Endpoint) is made from.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// The addresses of this side. With UDP below SCTP, each gets a socket on its
    /// port, where zero lets the system choose; over IP the ports mean nothing.
    /// Several are announced to the peers, one is not (RFC 9260, section 3.3.2), so
    /// one alone may be the unspecified address.
    pub local: Vec<SocketAddr>,
    /// What carries SCTP packets.
    pub transport: Transport,
    /// SCTP ports on which peers may begin associations.
    pub listen: Vec<u16>,
    /// The settings of all associations. Three are not the user's: `ip_header_bytes`
    /// becomes what stands before SCTP packets here, `zero_checksum_method` follows
    /// from what carries them, and messages always come whole (no
    /// `partial_delivery`): [`recv`](super::Association::recv) has no way to tell of a
    /// part. A message longer than twice `receive_buffer_bytes` ends its association,
    /// so that none takes more memory than that.
    pub sctp: Config,
    /// Associations that wait for [`accept`](super::Endpoint::accept); peers beyond
    /// are aborted.
    pub backlog: usize,
    /// The most associations at a time, of both kinds; INITs beyond are refused
    /// (RFC 9260, section 3.3.10.4).
    pub most_associations: usize,
}

/// What carries SCTP packets.
#[derive(Clone, Debug, Default)]
pub enum Transport {
    /// One in each UDP datagram (RFC 6951).
    #[default]
    Udp,
    /// One in each IP packet, as protocol 132. Needs root or `CAP_NET_RAW`; the
    /// system must not have an SCTP of its own in use, which would answer as well.
    RawIp,
    /// One in each DTLS record over UDP (RFC 8261), where both sides show their
    /// certificates.
    Dtls(DtlsConfig),
}

impl EndpointConfig {
    /// SCTP over UDP from this address, with the settings of RFC 9260.
    #[must_use]
    pub fn udp(local: SocketAddr) -> Self {
        Self {
            local: vec![local],
            transport: Transport::Udp,
            listen: Vec::new(),
            sctp: Config::default(),
            backlog: 1024,
            most_associations: 1 << 20,
        }
    }

    /// The same with peers welcome on this SCTP port.
    #[must_use]
    pub fn listen(mut self, port: u16) -> Self {
        self.listen.push(port);
        self
    }

    /// The same with these settings of associations.
    #[must_use]
    pub fn sctp(mut self, sctp: Config) -> Self {
        self.sctp = sctp;
        self
    }
}

/// Whom to reach.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Its addresses, the one to try first in front. The port is that of the UDP
    /// encapsulation; over IP it means nothing.
    pub addresses: Vec<SocketAddr>,
    /// Its SCTP port.
    pub port: u16,
    /// This side's SCTP port; zero: any that is free.
    pub local_port: u16,
}

impl Peer {
    /// The peer at this address with this SCTP port.
    #[must_use]
    pub fn new(address: SocketAddr, port: u16) -> Self {
        Self {
            addresses: vec![address],
            port,
            local_port: 0,
        }
    }
}
