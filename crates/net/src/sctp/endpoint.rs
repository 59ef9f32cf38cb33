//! The user's hold on an endpoint.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headway_sctp::{AssociationId, EndpointStats};

use super::carrier::{Carrier, Udp};
use super::core::Core;
use super::driver::Driver;
use super::dtls::DtlsOverUdp;
use super::raw::RawIp;
use super::slot::Wakes;
use super::{Association, AssociationError, ConnectError, EndpointConfig, Peer, Transport};
use crate::{Clock, UdpCounters};

/// What the driver and the handles share.
pub(super) struct Shared(Mutex<Core>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Core> {
        // A panic elsewhere, which there is no reason for, must not spread to
        // every association.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the network side of an endpoint counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NetworkStats {
    /// Datagrams to and from the sockets.
    pub datagrams: UdpCounters,
    /// Datagrams that were no SCTP packets, or damaged ones.
    pub malformed: u64,
    /// SCTP packets that came with zeros in place of a checksum (RFC 9653).
    pub zero_checksums_received: u64,
    /// SCTP packets that were sent so.
    pub zero_checksums_sent: u64,
    /// Packets for peers whose address is forgotten.
    pub unaddressed: u64,
    /// Ports of peers that have changed and were learnt (RFC 6951, section 5.4).
    pub ports_learnt: u64,
    /// Peers turned away for their certificates.
    pub certificates_refused: u64,
    /// Associations aborted because nobody accepted those before.
    pub backlog_overflows: u64,
    /// What broke the endpoint, if it is broken.
    pub failure: Option<io::ErrorKind>,
}

/// An SCTP endpoint: its sockets, and all its associations.
///
/// A task of its own drives it. Where the endpoint is dropped, peers can begin no
/// more associations, and those that nobody has accepted are aborted; those that
/// are in use live on.
pub struct Endpoint {
    shared: Arc<Shared>,
    local: Vec<SocketAddr>,
    /// What carries SCTP has ports of its own.
    ports: bool,
}

impl Endpoint {
    /// Opens the sockets and begins to listen, where that is wished. Needs a tokio
    /// runtime with time and I/O.
    ///
    /// # Errors
    /// Where an address is in use or not of this machine, a setting makes no sense,
    /// or there is no runtime.
    pub fn bind(config: EndpointConfig) -> io::Result<Self> {
        let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        config.sctp.check().map_err(invalid)?;
        let clock = Clock::start();
        let carrier: Box<dyn Carrier> = match &config.transport {
            Transport::Udp => Box::new(Udp::bind(&config.local)?),
            Transport::RawIp => Box::new(RawIp::bind(&config.local)?),
            Transport::Dtls(dtls) => Box::new(DtlsOverUdp::bind(&config.local, dtls, clock.now())?),
        };
        let ports = !matches!(config.transport, Transport::RawIp);
        let local = carrier.local();
        let descriptors = carrier.descriptors()?;
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(io::Error::from)?;
        let shared = Arc::new(Shared(Mutex::new(Core::new(
            config, carrier, clock, secret,
        ))));
        runtime.spawn(Driver::new(Arc::clone(&shared), descriptors)?);
        Ok(Self {
            shared,
            local,
            ports,
        })
    }

    /// The addresses of this side.
    #[must_use]
    pub fn local_addrs(&self) -> &[SocketAddr] {
        &self.local
    }

    /// Begins an association and waits until it is up. Where the wait is given up
    /// the association is too.
    ///
    /// # Errors
    /// Where it cannot be begun, or the peer refuses it or does not answer.
    pub async fn connect(&self, peer: Peer) -> Result<Association, ConnectError> {
        let association = self.begin(&peer)?;
        association.connected().await?;
        Ok(association)
    }

    fn begin(&self, peer: &Peer) -> Result<Association, ConnectError> {
        let mut core = self.shared.lock();
        if core.dead {
            return Err(AssociationError::EndpointClosed.into());
        }
        let mut remotes = Vec::with_capacity(peer.addresses.len());
        for mut address in peer.addresses.iter().copied() {
            if !self.ports {
                address.set_port(0);
            }
            if core.peers.reaches(address.ip())
                && let Some(number) = core.peers.table().number(address)
            {
                remotes.push(number);
            }
        }
        if remotes.is_empty() && !peer.addresses.is_empty() {
            return Err(ConnectError::Family);
        }
        let now = core.now();
        let id = core
            .machine
            .connect(now, peer.local_port, peer.port, &remotes)?;
        core.begun(id);
        let wakes = core.slots.get(&id).map(|slot| Arc::clone(&slot.wakes));
        drop(core);
        Ok(self.handle(id, wakes.unwrap_or_default()))
    }

    fn handle(&self, id: AssociationId, wakes: Arc<Wakes>) -> Association {
        Association::new(Arc::clone(&self.shared), id, wakes)
    }

    /// The next association that a peer has begun.
    ///
    /// # Errors
    /// Where the endpoint is broken.
    pub async fn accept(&self) -> Result<Association, AssociationError> {
        let accepting = Arc::clone(&self.shared.lock().accepting);
        loop {
            let mut news = std::pin::pin!(accepting.notified());
            news.as_mut().enable();
            if let Some(association) = self.next_waiting()? {
                return Ok(association);
            }
            news.await;
        }
    }

    fn next_waiting(&self) -> Result<Option<Association>, AssociationError> {
        let mut core = self.shared.lock();
        while let Some(id) = core.waiting.pop_front() {
            if let Some(slot) = core.slots.get_mut(&id) {
                slot.waiting = false;
                let wakes = Arc::clone(&slot.wakes);
                return Ok(Some(self.handle(id, wakes)));
            }
        }
        if core.dead {
            Err(AssociationError::EndpointClosed)
        } else {
            Ok(None)
        }
    }

    /// Waits until no association is left. A program that ends earlier leaves peers
    /// behind that wait for its last packets.
    pub async fn idle(&self) {
        let idle = Arc::clone(&self.shared.lock().idle);
        loop {
            let mut news = std::pin::pin!(idle.notified());
            news.as_mut().enable();
            if self.shared.lock().is_idle() {
                return;
            }
            news.await;
        }
    }

    /// How many associations there are.
    #[must_use]
    pub fn association_count(&self) -> usize {
        self.shared.lock().machine.association_count()
    }

    /// Counters of the endpoint.
    #[must_use]
    pub fn stats(&self) -> EndpointStats {
        *self.shared.lock().machine.stats()
    }

    /// Counters of its sockets.
    #[must_use]
    pub fn network_stats(&self) -> NetworkStats {
        let core = self.shared.lock();
        NetworkStats {
            datagrams: core.carrier.counters(),
            certificates_refused: core.carrier.refused(),
            ..core.network
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let mut core = self.shared.lock();
        core.close();
        core.wake();
    }
}
