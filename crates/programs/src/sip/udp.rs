//! SIP over UDP: one datagram, one message (RFC 3261 section 18).

use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use headway_apps::Peer;
use headway_net::{Outside, Ready, Registry, UdpCounters, UdpHost};
use headway_sansio::{Address, Datagram, Time};

use super::agent::{FromTransport, ToTransport};

/// The one socket of a user agent; every peer is an address.
pub(super) struct UdpTransport {
    host: UdpHost,
    datagrams: Vec<Datagram<Bytes>>,
}

/// The socket, as the host numbers it.
const SOCKET: Address = Address(0);

impl UdpTransport {
    pub(super) fn bind(registry: &Registry, local: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            host: UdpHost::bind(registry, &[local])?,
            datagrams: Vec::new(),
        })
    }

    pub(super) fn local(&mut self) -> Option<SocketAddr> {
        self.host.socket(SOCKET)
    }

    /// The number of a peer.
    pub(super) fn peer(&mut self, socket: SocketAddr) -> Option<Peer> {
        self.host.peer(socket).map(|address| Peer(address.0))
    }

    pub(super) fn counters(&self) -> UdpCounters {
        self.host.counters()
    }
}

impl Outside for UdpTransport {
    type Input = FromTransport;
    type Output = ToTransport;

    fn read(&mut self, now: Time, ready: Ready, into: &mut Vec<FromTransport>) -> io::Result<()> {
        self.host.read(now, ready, &mut self.datagrams)?;
        for datagram in self.datagrams.drain(..) {
            if let Some(socket) = self.host.socket(datagram.source) {
                into.push(FromTransport::Message {
                    from: Peer(datagram.source.0),
                    address: socket.ip(),
                    bytes: datagram.body,
                });
            }
        }
        Ok(())
    }

    fn write(&mut self, now: Time, output: ToTransport) {
        let datagram = Datagram {
            source: SOCKET,
            destination: Address(output.to.0),
            // Only networks count it.
            size_bytes: 0,
            body: output.bytes,
        };
        self.host.write(now, datagram);
    }

    fn flush(&mut self, _into: &mut Vec<FromTransport>) -> io::Result<()> {
        self.host.flush(&mut self.datagrams)
    }
}
