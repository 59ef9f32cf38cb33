//! SCTP directly in IP, as protocol 132 (RFC 9260, section 3).

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;

use bytes::Bytes;
use headway_sansio::Time;
use socket2::{Domain, Protocol, Socket, Type};

use super::carrier::{Arrival, Carrier, Udp, Wanted};
use crate::{UdpCounters, UdpPort};

/// SCTP's number among the protocols over IP.
const SCTP: i32 = 132;

/// One raw socket for each local address. The kernel writes the IP header and
/// puts fragments together; checksums are SCTP's own, which covers no IP header. Over
/// IPv6, too, the kernel puts none in unless asked (`IPV6_CHECKSUM`; RFC 3542,
/// section 3.1).
pub(super) struct RawIp {
    sockets: Udp,
    versions: Vec<Version>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    /// What comes begins with its IP header.
    V4,
    /// What comes begins behind its headers.
    V6,
}

impl RawIp {
    /// # Errors
    /// Without the right to open raw sockets (root, or `CAP_NET_RAW`), and where an
    /// address is not of this machine.
    pub(super) fn bind(local: &[SocketAddr]) -> io::Result<Self> {
        let ports: io::Result<_> = local
            .iter()
            .map(|local| open(without_port(*local)))
            .collect();
        let version = |local: &SocketAddr| match local {
            SocketAddr::V4(_) => Version::V4,
            SocketAddr::V6(_) => Version::V6,
        };
        Ok(Self {
            sockets: Udp::over(ports?),
            versions: local.iter().map(version).collect(),
        })
    }
}

fn open(local: SocketAddr) -> io::Result<UdpPort> {
    let domain = Domain::for_address(local);
    let socket = Socket::new(domain, Type::RAW, Some(Protocol::from(SCTP)))?;
    socket.bind(&local.into())?;
    // The type stands for any socket that sends and receives datagrams.
    UdpPort::over(UdpSocket::from(OwnedFd::from(socket)))
}

/// There are no ports at this level; what the system puts there is no address.
fn without_port(mut address: SocketAddr) -> SocketAddr {
    address.set_port(0);
    address
}

/// Length of the IP header; `None` where that is none.
fn header_length(datagram: &[u8]) -> Option<usize> {
    let first = *datagram.first()?;
    let length = usize::from(first & 0xf) * 4;
    (first >> 4 == 4 && length >= 20 && length <= datagram.len()).then_some(length)
}

/// What follows the IP header.
fn behind_header(datagram: &Bytes) -> Option<Bytes> {
    header_length(datagram).map(|length| datagram.slice(length..))
}

impl Carrier for RawIp {
    fn local(&self) -> Vec<SocketAddr> {
        let local = self.sockets.local().into_iter();
        local.map(without_port).collect()
    }

    fn header_bytes(&self) -> u32 {
        if self.versions.contains(&Version::V6) {
            40
        } else {
            20
        }
    }

    fn descriptors(&self) -> io::Result<Vec<OwnedFd>> {
        self.sockets.descriptors()
    }

    fn receive(
        &mut self,
        now: Time,
        local: usize,
        into: &mut Vec<Arrival>,
        wanted: Wanted<'_>,
    ) -> io::Result<bool> {
        let start = into.len();
        let version = self.versions.get(local).copied();
        let mut wanted_behind = |datagram: &[u8]| {
            let header = match version {
                Some(Version::V4) => header_length(datagram).unwrap_or(0),
                _ => 0,
            };
            wanted(&datagram[header..])
        };
        let more = self.sockets.receive(now, local, into, &mut wanted_behind)?;
        for arrival in &mut into[start..] {
            arrival.from = without_port(arrival.from);
            if version == Some(Version::V4) {
                // What is no IP packet is no SCTP packet either, and counted as such.
                arrival.packet = behind_header(&arrival.packet).unwrap_or_default();
            }
        }
        Ok(more)
    }

    fn send(&mut self, now: Time, local: usize, to: SocketAddr, packet: Bytes) {
        self.sockets.send(now, local, without_port(to), packet);
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sockets.flush()
    }

    fn is_blocked(&self, local: usize) -> bool {
        self.sockets.is_blocked(local)
    }

    fn counters(&self) -> UdpCounters {
        self.sockets.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_taken_off_whatever_they_claim() {
        let datagram = |first: u8, length: usize| {
            let mut bytes = vec![0; length];
            bytes[0] = first;
            behind_header(&bytes.into()).map(|rest| rest.len())
        };
        assert_eq!(datagram(0x45, 32), Some(12));
        // With options.
        assert_eq!(datagram(0x46, 36), Some(12));
        for (first, length) in [(0x44, 32), (0x4f, 32), (0x60, 60), (0x45, 19)] {
            assert_eq!(datagram(first, length), None, "{first:x}");
        }
        assert_eq!(behind_header(&Bytes::new()), None);
    }
}
