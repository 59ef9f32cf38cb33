//! UDP sockets as the outside of a machine that speaks datagrams.

use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Time};

use crate::{
    AddressTable, Outside, Ready, ReceiveBuffers, Received, Registry, Token, UdpCounters, UdpPort,
};

/// Peers remembered by their addresses.
const PEERS: usize = 1 << 16;

/// The sockets of one host: each is an interface, known to the machine by an
/// [`Address`], as each peer is.
///
/// Interfaces have the numbers 0, 1, 2... in the order of their sockets. The
/// size of a datagram counts its IP and UDP headers, without options.
pub struct UdpHost {
    ports: Vec<UdpPort>,
    peers: AddressTable,
    buffers: ReceiveBuffers,
    received: Vec<Received>,
    /// Datagrams for a peer that was forgotten.
    unknown: u64,
}

impl UdpHost {
    /// A host with a socket on each of these addresses.
    ///
    /// # Errors
    /// Where an address is in use or not of this machine.
    pub fn bind(registry: &Registry, locals: &[SocketAddr]) -> io::Result<Self> {
        let mut ports = Vec::with_capacity(locals.len());
        for (index, local) in locals.iter().enumerate() {
            let mut port = UdpPort::bind(*local)?;
            port.register(registry, Token(index as u64))?;
            ports.push(port);
        }
        // Hosts have a handful of interfaces.
        let first_peer = Address(ports.len() as u32);
        Ok(Self {
            ports,
            peers: AddressTable::new(first_peer, PEERS),
            buffers: ReceiveBuffers::default(),
            received: Vec::new(),
            unknown: 0,
        })
    }

    /// The number by which the machine knows this peer.
    pub fn peer(&mut self, socket: SocketAddr) -> Option<Address> {
        self.peers.number(socket)
    }

    /// The socket address behind a number of an interface or a peer.
    pub fn socket(&mut self, address: Address) -> Option<SocketAddr> {
        match self.ports.get(address.0 as usize) {
            Some(port) => Some(port.local()),
            None => self.peers.socket(address),
        }
    }

    /// Totals of all sockets.
    #[must_use]
    pub fn counters(&self) -> UdpCounters {
        let mut total = UdpCounters {
            unsent: self.unknown,
            ..UdpCounters::default()
        };
        for port in &self.ports {
            total += port.counters();
        }
        total
    }
}

impl Outside for UdpHost {
    type Input = Datagram<Bytes>;
    type Output = Datagram<Bytes>;

    fn read(
        &mut self,
        _now: Time,
        ready: Ready,
        into: &mut Vec<Datagram<Bytes>>,
    ) -> io::Result<()> {
        let Some(port) = self.ports.get_mut(ready.token.0 as usize) else {
            return Ok(());
        };
        if ready.readable {
            port.receive(&mut self.buffers, &mut self.received)?;
        }
        let headers = ip_overhead(&port.local());
        for Received { from, payload } in self.received.drain(..) {
            let Some(source) = self.peers.number(from) else {
                continue;
            };
            into.push(Datagram {
                source,
                destination: Address(ready.token.0 as u32),
                size_bytes: payload.len() as u32 + headers,
                body: payload,
            });
        }
        Ok(())
    }

    fn write(&mut self, _now: Time, datagram: Datagram<Bytes>) {
        let to = self.peers.socket(datagram.destination);
        match (self.ports.get_mut(datagram.source.0 as usize), to) {
            (Some(port), Some(to)) => port.send(to, datagram.body),
            _ => self.unknown += 1,
        }
    }

    fn flush(&mut self, _into: &mut Vec<Datagram<Bytes>>) -> io::Result<()> {
        self.ports.iter_mut().try_for_each(UdpPort::flush)
    }
}

/// Bytes of IP and UDP headers before a payload on the way from or to `socket`.
#[must_use]
pub fn ip_overhead(socket: &SocketAddr) -> u32 {
    if socket.is_ipv4() { 28 } else { 48 }
}
