//! SIP over UDP: one datagram, one message (RFC 3261 section 18).

use std::io;
use std::net::SocketAddr;

use headway_apps::Peer;
use headway_net::{
    AddressTable, Outside, Ready, ReceiveBuffers, Received, Registry, Token, UdpCounters, UdpPort,
};
use headway_sansio::{Address, Time};

use super::agent::{FromTransport, ToTransport};
use super::icmp;

/// Peers remembered by their addresses.
const PEERS: usize = 1 << 16;

/// The one socket of a user agent; every peer is an address.
///
/// It is connected to nobody, and yet learns from ICMP whom it does not reach.
pub(super) struct UdpTransport {
    port: UdpPort,
    peers: AddressTable,
    buffers: ReceiveBuffers,
    received: Vec<Received>,
    unreached: Vec<SocketAddr>,
    /// Datagrams for a peer that was forgotten.
    unknown: u64,
}

impl UdpTransport {
    pub(super) fn bind(registry: &Registry, local: SocketAddr) -> io::Result<Self> {
        let mut port = UdpPort::bind(local)?;
        icmp::ask_for_reports(&port, local)?;
        port.register(registry, Token(0))?;
        Ok(Self {
            port,
            peers: AddressTable::new(Address(0), PEERS),
            buffers: ReceiveBuffers::default(),
            received: Vec::new(),
            unreached: Vec::new(),
            unknown: 0,
        })
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.port.local()
    }

    /// The number of a peer.
    pub(super) fn peer(&mut self, socket: SocketAddr) -> Option<Peer> {
        self.peers.number(socket).map(|address| Peer(address.0))
    }

    pub(super) fn counters(&self) -> UdpCounters {
        let mut counters = self.port.counters();
        counters.unsent += self.unknown;
        counters
    }

    /// Tells the agent whom it does not reach. Whether there was any report is the
    /// answer.
    fn read_reports(&mut self, into: &mut Vec<FromTransport>) -> io::Result<bool> {
        let any = icmp::read_reports(&self.port, &mut self.unreached)?;
        self.unreached.sort_unstable();
        self.unreached.dedup();
        for socket in std::mem::take(&mut self.unreached) {
            into.extend(self.peer(socket).map(FromTransport::Failed));
        }
        Ok(any)
    }
}

impl Outside for UdpTransport {
    type Input = FromTransport;
    type Output = ToTransport;

    fn read(&mut self, _now: Time, ready: Ready, into: &mut Vec<FromTransport>) -> io::Result<()> {
        if !ready.readable {
            return Ok(());
        }
        let mut any = self.read_reports(into)?;
        if let Err(error) = self.port.receive(&mut self.buffers, &mut self.received) {
            // A report fails the next call on the socket with its own error, and
            // may have come just now.
            any |= self.read_reports(into)?;
            if !any {
                return Err(error);
            }
        }
        for Received { from, payload } in self.received.drain(..) {
            if let Some(number) = self.peers.number(from) {
                into.push(FromTransport::Message {
                    from: Peer(number.0),
                    address: from.ip(),
                    bytes: payload,
                });
            }
        }
        Ok(())
    }

    fn write(&mut self, _now: Time, output: ToTransport) {
        match self.peers.socket(Address(output.to.0)) {
            Some(to) => self.port.send(to, output.bytes),
            None => self.unknown += 1,
        }
    }

    fn flush(&mut self, into: &mut Vec<FromTransport>) -> io::Result<()> {
        if self.port.is_blocked() {
            // A report that waits would fail a datagram that it is not about.
            self.read_reports(into)?;
        }
        self.port.flush()
    }
}
