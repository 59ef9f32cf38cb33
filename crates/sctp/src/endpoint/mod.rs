//! Many associations behind one door.
//!
//! An [`Endpoint`] finds the association that each packet is for, answers INITs
//! without remembering anything of them (RFC 9260, section 5.1), and answers what
//! is for none of its associations (section 8.4). Memory is taken only for peers
//! that have brought back a cookie, and for those that the user wants to reach.

mod demultiplex;
mod drive;
mod gate;
mod retired;
mod table;

pub use table::AssociationId;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use headway_sansio::{Address, Datagram, Time};

use crate::association::Birth;
use crate::cookie::KeyRing;
use crate::host::Host;
use crate::path::Route;
use crate::secret::Secret;
use crate::{Association, Config, Event, Packet, Tsn};
use gate::Gate;
use retired::Retired;
use table::{PeerKey, Table};

/// The ports from which one is taken where the user names none (RFC 6335,
/// section 6: the dynamic ones).
const DYNAMIC_PORTS: core::ops::RangeInclusive<u16> = 49_152..=65_535;

/// All associations of one host, or those of one program of it.
///
/// After each call of `connect`, `with` and `handle_*` the driver calls
/// `poll_event` until it returns `None`, then `poll_transmit` until it returns
/// `None`, then `poll_timeout`.
///
/// ```
/// use std::sync::Arc;
/// use headway_sansio::{Address, Payload, Time};
/// use headway_sctp::{Config, Endpoint, EndpointEvent, Event, Host, Message};
///
/// let now = Time::ZERO;
/// let config = Arc::new(Config::default());
/// let host = |n| Arc::new(Host::new(vec![Address(n)]));
/// // On a real network the secret comes from the operating system.
/// let mut server = Endpoint::new(Arc::clone(&config), host(1), [1; 32]);
/// let mut client = Endpoint::new(config, host(2), [2; 32]);
/// server.listen(5060);
/// let call = client.connect(now, 0, 5060, &[Address(1)]).unwrap();
/// let hello = Message { payload: Payload::Sized(450), ..Message::default() };
/// client.with(now, call, |association| association.send(now, hello)).unwrap().unwrap();
///
/// let mut heard = 0;
/// for _ in 0..4 {
///     while let Some(datagram) = client.poll_transmit() {
///         server.handle_input(now, datagram);
///     }
///     while let Some(event) = server.poll_event() {
///         if let EndpointEvent::Association(_, Event::Message(message)) = event {
///             heard += message.payload.len();
///         }
///     }
///     while let Some(datagram) = server.poll_transmit() {
///         client.handle_input(now, datagram);
///     }
/// }
/// assert_eq!(heard, 450);
/// ```
#[derive(Debug)]
pub struct Endpoint {
    config: Arc<Config>,
    host: Arc<Host>,
    secret: Secret,
    keys: KeyRing,
    /// Ports on which peers may begin associations.
    listening: BTreeSet<u16>,
    table: Table,
    /// Tags of associations that ended while their cookies are still good.
    retired: Retired,
    /// When to wake whom; each association has one place at most.
    wakes: BTreeSet<(Time, u32)>,
    eventful: VecDeque<u32>,
    sending: VecDeque<u32>,
    /// Packets that belong to no association.
    answers: VecDeque<Datagram<Packet>>,
    most_associations: usize,
    gate: Gate,
    now: Time,
    stats: EndpointStats,
}

/// What happened at an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndpointEvent {
    /// A peer began an association. Its `Connected` follows.
    Incoming(AssociationId),
    /// Something happened to an association.
    Association(AssociationId, Event),
    /// An association is over and everything of it was told: its name means
    /// nothing any more.
    Gone(AssociationId),
}

/// What an endpoint hands out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndpointOutput {
    /// For the user.
    Event(EndpointEvent),
    /// For the network.
    Transmit(Datagram<Packet>),
}

/// Why no association was begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConnectError {
    /// The peer needs an address.
    #[error("no address of the peer is given")]
    NoAddress,
    /// Both ports and an address of the peer name an association.
    #[error("there is an association with this peer on these ports")]
    Exists,
    /// All ports that may be given out are in use towards this peer.
    #[error("no port is free")]
    NoPort,
    /// The endpoint has as many associations as it may have.
    #[error("there are as many associations as there may be")]
    Full,
}

/// Counts of an endpoint since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EndpointStats {
    /// Packets that arrived.
    pub packets_received: u64,
    /// Packets dropped without an answer, before any association saw them.
    pub packets_discarded: u64,
    /// Packets handed to the network.
    pub packets_sent: u64,
    /// INITs answered with INIT ACK, nothing being kept of them.
    pub inits_answered: u64,
    /// INITs refused with ABORT.
    pub inits_refused: u64,
    /// INITs thrown away unread, as there were more than [`Config::init_limit`] lets
    /// in. They are among the packets discarded.
    pub inits_over_limit: u64,
    /// Associations that peers began.
    pub cookies_accepted: u64,
    /// Cookies that this endpoint did not make, or whose association is over.
    pub cookies_refused: u64,
    /// Cookies that came too late.
    pub cookies_stale: u64,
    /// Other packets that belong to no association, answered or not.
    pub out_of_the_blue: u64,
    /// Associations that ended.
    pub associations_ended: u64,
}

impl Endpoint {
    /// An endpoint without associations.
    ///
    /// Tags, cookie keys, initial TSNs and nonces follow from `secret`: whoever
    /// knows it can forge them. On a real network it comes from the operating
    /// system's source of randomness.
    #[must_use]
    pub fn new(config: Arc<Config>, host: Arc<Host>, secret: [u8; 32]) -> Self {
        let mut secret = Secret::new(&secret);
        let gate = Gate::new(config.init_limit);
        Self {
            keys: KeyRing::new(fresh_key(&mut secret)),
            secret,
            config,
            host,
            listening: BTreeSet::new(),
            table: Table::default(),
            retired: Retired::default(),
            wakes: BTreeSet::new(),
            eventful: VecDeque::new(),
            sending: VecDeque::new(),
            answers: VecDeque::new(),
            most_associations: usize::MAX,
            gate,
            now: Time::ZERO,
            stats: EndpointStats::default(),
        }
    }

    /// Takes associations that peers begin on this port.
    pub fn listen(&mut self, port: u16) {
        self.listening.insert(port);
    }

    /// Takes no more of them. Those that exist live on.
    pub fn stop_listening(&mut self, port: u16) {
        self.listening.remove(&port);
    }

    /// Has no more than so many associations at a time; peers that want to begin
    /// one more are refused (RFC 9260, section 3.3.10.4).
    pub fn limit_associations(&mut self, most: usize) {
        self.most_associations = most;
    }

    /// Begins an association with a peer whose addresses are known, the primary
    /// one first. A local port of zero stands for any that is free.
    ///
    /// # Errors
    /// Where there is no address, or one of them names an association already, or
    /// there is no room.
    pub fn connect(
        &mut self,
        now: Time,
        local_port: u16,
        remote_port: u16,
        remotes: &[Address],
    ) -> Result<AssociationId, ConnectError> {
        self.now = now;
        let &first = remotes.first().ok_or(ConnectError::NoAddress)?;
        if self.table.len() >= self.most_associations {
            return Err(ConnectError::Full);
        }
        let taken = |local_port| {
            remotes.iter().any(|&remote| {
                let key = PeerKey {
                    local_port,
                    remote_port,
                    remote,
                };
                self.table.by_peer(key).is_some()
            })
        };
        let local_port = if local_port != 0 {
            if taken(local_port) {
                return Err(ConnectError::Exists);
            }
            local_port
        } else {
            let free = |port: &u16| !taken(*port) && !self.listening.contains(port);
            let start = DYNAMIC_PORTS.start() + (first.0 % 8192) as u16;
            (start..=*DYNAMIC_PORTS.end())
                .chain(*DYNAMIC_PORTS.start()..start)
                .find(free)
                .ok_or(ConnectError::NoPort)?
        };
        let local = self.host.addresses.first().copied().unwrap_or_default();
        let routes = self.host.pair(local, remotes);
        let tag = self.fresh_tag();
        let birth = self.birth((local_port, remote_port), tag, routes);
        let association =
            Association::begin(now, Arc::clone(&self.config), Arc::clone(&self.host), birth);
        let id = self.table.insert(association, false);
        self.mark(id.slot);
        Ok(id)
    }

    /// Does something with an association: sends, shuts down, aborts, looks at
    /// it. `None` where it is over.
    pub fn with<R>(
        &mut self,
        now: Time,
        id: AssociationId,
        deed: impl FnOnce(&mut Association) -> R,
    ) -> Option<R> {
        self.now = now;
        if !self.table.holds(id) {
            return None;
        }
        let entry = self.table.slot_mut(id.slot)?;
        let result = deed(&mut entry.association);
        self.mark(id.slot);
        Some(result)
    }

    /// An association, unless it is over.
    #[must_use]
    pub fn association(&self, id: AssociationId) -> Option<&Association> {
        self.table.get(id).map(|entry| &*entry.association)
    }

    /// Whether the peer began it.
    #[must_use]
    pub fn is_incoming(&self, id: AssociationId) -> bool {
        self.table.get(id).is_some_and(|entry| entry.incoming)
    }

    /// Whether this packet, which the endpoint has handed out, may go without a
    /// checksum (RFC 9653). See [`Association::omits_checksum`].
    #[must_use]
    pub fn omits_checksum(&self, datagram: &Datagram<Packet>) -> bool {
        if self.config.zero_checksum_method.is_none() {
            return false;
        }
        let key = PeerKey {
            local_port: datagram.body.source_port,
            remote_port: datagram.body.destination_port,
            remote: datagram.destination,
        };
        let slot = self.table.by_peer(key);
        slot.and_then(|slot| self.table.slot(slot))
            .is_some_and(|entry| entry.association.omits_checksum(&datagram.body))
    }

    /// All associations.
    pub fn associations(&self) -> impl Iterator<Item = AssociationId> + '_ {
        self.table.ids()
    }

    /// How many associations there are.
    #[must_use]
    pub fn association_count(&self) -> usize {
        self.table.len()
    }

    /// Counters since the beginning.
    #[must_use]
    pub const fn stats(&self) -> &EndpointStats {
        &self.stats
    }

    /// A tag that none of the associations has.
    fn fresh_tag(&mut self) -> u32 {
        loop {
            let tag = self.secret.tag();
            if self.table.by_tag(tag).is_none() && !self.retired.contains(tag) {
                return tag;
            }
        }
    }

    fn fresh_tsn(&mut self) -> Tsn {
        let drawn = Tsn(self.secret.word());
        self.config.initial_tsn.unwrap_or(drawn)
    }

    fn birth(
        &mut self,
        (local_port, remote_port): (u16, u16),
        tag: u32,
        routes: Vec<Route>,
    ) -> Birth {
        Birth {
            random: self.secret.stream(),
            local_port,
            remote_port,
            tag,
            tsn: self.fresh_tsn(),
            keys: None,
            routes,
        }
    }

    /// Signs cookies with a new key once the old one has served its time.
    fn renew_key(&mut self, now: Time) {
        let lifetime = self
            .config
            .cookie_key_lifetime
            .max(self.config.cookie_lifetime);
        if self.keys.is_due(now, lifetime) {
            self.keys.renew(now, fresh_key(&mut self.secret));
        }
    }
}

fn fresh_key(secret: &mut Secret) -> [u8; 64] {
    let mut key = [0; 64];
    for part in key.chunks_exact_mut(32) {
        part.copy_from_slice(&secret.bytes::<32>());
    }
    key
}
