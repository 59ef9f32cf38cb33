//! What lies below SCTP.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use bytes::Bytes;
use headway_sansio::Time;

use crate::{ReceiveBuffers, Received, UdpCounters, UdpPort, ip_overhead};

/// Takes SCTP packets to and from the network. It never waits: what there is no
/// room for stays until [`Carrier::flush`] finds some.
pub(super) trait Carrier: Send {
    /// The addresses of this side, as the system gave them.
    fn local(&self) -> Vec<SocketAddr>;

    /// Bytes before an SCTP packet on the wire, from the IP header on.
    fn header_bytes(&self) -> u32;

    /// The method by which it finds errors at least as well as SCTP's checksum does,
    /// by its number (RFC 9653, section 3), if it does and the user wants it used.
    fn error_detection(&self) -> Option<u32> {
        None
    }

    /// Whether there is a way to peers of both IP versions from any local address.
    fn talks_both_versions(&self) -> bool {
        false
    }

    /// Descriptors to watch, for what comes and for room, by the index of their
    /// local address.
    ///
    /// # Errors
    /// Where the system has no descriptors left.
    fn descriptors(&self) -> io::Result<Vec<OwnedFd>>;

    /// Takes what has come to one local address, one batch at most. Packets that are
    /// not `wanted` it leaves out where it can look at them before it copies them. Says
    /// whether there may be more.
    ///
    /// # Errors
    /// Where the socket is broken.
    fn receive(
        &mut self,
        now: Time,
        local: usize,
        into: &mut Vec<Arrival>,
        wanted: Wanted<'_>,
    ) -> io::Result<bool>;

    /// Sends a packet from one local address.
    fn send(&mut self, now: Time, local: usize, to: SocketAddr, packet: Bytes);

    /// Gives the system what waits for it.
    ///
    /// # Errors
    /// Where a socket is broken.
    fn flush(&mut self) -> io::Result<()>;

    /// Whether packets wait for room.
    fn is_blocked(&self, local: usize) -> bool;

    /// Counts of datagrams.
    fn counters(&self) -> UdpCounters;

    /// Peers turned away for their certificates.
    fn refused(&self) -> u64 {
        0
    }

    /// When [`Self::handle_timeout`] wants to be called, if at all.
    fn poll_timeout(&mut self) -> Option<Time> {
        None
    }

    /// Does what is due.
    fn handle_timeout(&mut self, _now: Time, _into: &mut Vec<Arrival>) {}
}

/// Looks at an SCTP packet before anything is done with it, and says whether to go on.
pub(super) type Wanted<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

/// An SCTP packet that came.
#[derive(Debug)]
pub(super) struct Arrival {
    /// To which of the local addresses.
    pub(super) local: usize,
    pub(super) from: SocketAddr,
    pub(super) packet: Bytes,
}

/// SCTP packets in UDP datagrams (RFC 6951), one socket for each local address.
pub(super) struct Udp {
    ports: Vec<UdpPort>,
    buffers: ReceiveBuffers,
    received: Vec<Received>,
}

impl Udp {
    pub(super) fn bind(local: &[SocketAddr]) -> io::Result<Self> {
        let ports: io::Result<_> = local.iter().map(|local| UdpPort::bind(*local)).collect();
        Ok(Self::over(ports?))
    }

    pub(super) fn over(ports: Vec<UdpPort>) -> Self {
        Self {
            ports,
            buffers: ReceiveBuffers::default(),
            received: Vec::new(),
        }
    }
}

impl Carrier for Udp {
    fn local(&self) -> Vec<SocketAddr> {
        self.ports.iter().map(UdpPort::local).collect()
    }

    fn header_bytes(&self) -> u32 {
        let overheads = self.ports.iter().map(|port| ip_overhead(&port.local()));
        overheads.max().unwrap_or_default()
    }

    fn talks_both_versions(&self) -> bool {
        self.ports.iter().any(UdpPort::talks_both_versions)
    }

    fn descriptors(&self) -> io::Result<Vec<OwnedFd>> {
        let ports = self.ports.iter();
        ports
            .map(|port| port.as_fd().try_clone_to_owned())
            .collect()
    }

    fn receive(
        &mut self,
        _now: Time,
        local: usize,
        into: &mut Vec<Arrival>,
        wanted: Wanted<'_>,
    ) -> io::Result<bool> {
        let Some(port) = self.ports.get_mut(local) else {
            return Ok(false);
        };
        let more = port.receive_if(&mut self.buffers, &mut self.received, wanted)?;
        let arrivals = self.received.drain(..).map(|received| Arrival {
            local,
            from: received.from,
            packet: received.payload,
        });
        into.extend(arrivals);
        Ok(more)
    }

    fn send(&mut self, _now: Time, local: usize, to: SocketAddr, packet: Bytes) {
        if let Some(port) = self.ports.get_mut(local) {
            port.send(to, packet);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.ports.iter_mut().try_for_each(UdpPort::flush)
    }

    fn is_blocked(&self, local: usize) -> bool {
        self.ports.get(local).is_some_and(UdpPort::is_blocked)
    }

    fn counters(&self) -> UdpCounters {
        let mut total = UdpCounters::default();
        for port in &self.ports {
            total += port.counters();
        }
        total
    }
}
