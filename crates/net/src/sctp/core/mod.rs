//! The machine, what carries its packets, and what it told its users: all that
//! the driver and the handles share.

mod hear;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Waker;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Time};
use headway_sctp::{Association as Machine, AssociationId, Endpoint, Host, Packet};
use tokio::sync::Notify;

use crate::Clock;
use crate::sctp::carrier::{Arrival, Carrier};
use crate::sctp::peers::Peers;
use crate::sctp::slot::{Received, Slot};
use crate::sctp::{EndpointConfig, NetworkStats};

pub(in crate::sctp) struct Core {
    pub(in crate::sctp) machine: Endpoint,
    pub(in crate::sctp) carrier: Box<dyn Carrier>,
    pub(in crate::sctp) peers: Arc<Peers>,
    pub(in crate::sctp) slots: HashMap<AssociationId, Slot>,
    by_tag: HashMap<u32, AssociationId>,
    /// Associations that peers began and no user has yet.
    pub(in crate::sctp) waiting: VecDeque<AssociationId>,
    pub(in crate::sctp) accepting: Arc<Notify>,
    /// The last association is gone.
    pub(in crate::sctp) idle: Arc<Notify>,
    /// Those of which somebody waits for room, or for the last acknowledgement.
    blocked: Vec<AssociationId>,
    backlog: usize,
    /// Packets may come without a checksum.
    zero_checksums: bool,
    /// Where so much of an association waits here for its user, its further messages
    /// wait in the machine's receive buffer, which closes the peer's window.
    most_unread: usize,
    clock: Clock,
    /// The driver, while it sleeps.
    pub(in crate::sctp) driver: Option<Waker>,
    /// No user has the endpoint any more.
    pub(in crate::sctp) closed: bool,
    /// The driver has ended.
    pub(in crate::sctp) dead: bool,
    pub(in crate::sctp) network: NetworkStats,
    arrivals: Vec<Arrival>,
}

/// What is known of a packet when it is handed to the machine.
#[derive(Clone, Copy)]
struct Origin {
    tag: u32,
    from: SocketAddr,
}

impl Core {
    pub(in crate::sctp) fn new(
        config: EndpointConfig,
        carrier: Box<dyn Carrier>,
        clock: Clock,
        secret: [u8; 32],
    ) -> Self {
        let local = carrier.local();
        let peers = Arc::new(Peers::new(local.clone(), carrier.talks_both_versions()));
        let host = Host {
            addresses: (0..local.len() as u32).map(Address).collect(),
            book: Arc::clone(&peers) as Arc<_>,
        };
        let mut sctp = config.sctp;
        sctp.ip_header_bytes = carrier.header_bytes();
        sctp.partial_delivery = false;
        sctp.zero_checksum_method = carrier.error_detection();
        let zero_checksums = sctp.zero_checksum_method.is_some();
        // What is taken off the machine in one go should be worth a SACK of its own.
        let most_unread = sctp.receive_buffer_bytes as usize / 4;
        let mut machine = Endpoint::new(Arc::new(sctp), Arc::new(host), secret);
        machine.limit_associations(config.most_associations);
        for port in config.listen {
            machine.listen(port);
        }
        Self {
            machine,
            carrier,
            peers,
            slots: HashMap::new(),
            by_tag: HashMap::new(),
            waiting: VecDeque::new(),
            accepting: Arc::default(),
            idle: Arc::default(),
            blocked: Vec::new(),
            backlog: config.backlog,
            zero_checksums,
            most_unread,
            clock,
            driver: None,
            closed: false,
            dead: false,
            network: NetworkStats::default(),
            arrivals: Vec::new(),
        }
    }

    pub(in crate::sctp) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Has the driver send what there is.
    pub(in crate::sctp) fn wake(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    /// Does something with an association.
    pub(in crate::sctp) fn with<R>(
        &mut self,
        id: AssociationId,
        deed: impl FnOnce(&mut Machine, Time) -> R,
    ) -> Option<R> {
        let now = self.now();
        let result = self.machine.with(now, id, |machine| deed(machine, now));
        self.wake();
        result
    }

    /// Takes one batch from a socket. Says whether there may be more.
    pub(in crate::sctp) fn receive(&mut self, local: usize) -> io::Result<bool> {
        let now = self.now();
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let machine = &mut self.machine;
        let mut admits = |packet: &[u8]| machine.admits(now, packet);
        let more = self.carrier.receive(now, local, &mut arrivals, &mut admits);
        for arrival in arrivals.drain(..) {
            self.absorb(now, arrival);
        }
        self.arrivals = arrivals;
        more
    }

    fn absorb(&mut self, now: Time, arrival: Arrival) {
        let Arrival {
            local,
            from,
            packet: bytes,
        } = arrival;
        let decoded = if self.zero_checksums {
            Packet::decode_with_zero_checksum(&bytes)
        } else {
            Packet::decode(&bytes)
        };
        let Ok(packet) = decoded else {
            self.network.malformed += 1;
            return;
        };
        if bytes[8..12] == [0; 4] {
            self.network.zero_checksums_received += 1;
        }
        let origin = Origin {
            tag: packet.verification_tag,
            from,
        };
        let owner = self.owner(&packet);
        let Some((source, moved)) = self.source(owner, from) else {
            return;
        };
        let heard = |core: &Self| {
            let id = owner?;
            Some(core.machine.association(id)?.stats().packets_received)
        };
        let before = heard(self);
        let datagram = Datagram {
            source,
            destination: Address(local as u32),
            size_bytes: bytes.len() as u32,
            body: packet,
        };
        self.machine.handle_input(now, datagram);
        // The port is learnt only from a packet whose tag was found right.
        if moved && before < heard(self) {
            self.peers.table().redirect(source, from);
            self.network.ports_learnt += 1;
            if let Some(slot) = owner.and_then(|id| self.slots.get_mut(&id)) {
                for (_, socket) in slot.remotes.iter_mut().filter(|(n, _)| *n == source) {
                    *socket = from;
                }
            }
        }
        self.hear(now, Some(origin));
    }

    /// The association that gave its peer the tag of this packet.
    fn owner(&self, packet: &Packet) -> Option<AssociationId> {
        let id = *self.by_tag.get(&packet.verification_tag)?;
        let ports = self.machine.association(id)?.ports();
        (ports == (packet.destination_port, packet.source_port)).then_some(id)
    }

    /// The next message of an association, and what its reading brings about.
    pub(in crate::sctp) fn read(&mut self, id: AssociationId) -> Option<Received> {
        let slot = self.slots.get_mut(&id)?;
        let message = slot.take()?;
        if slot.held && slot.inbox.is_empty() {
            self.hold(id, false);
            let now = self.now();
            self.hear(now, None);
            // The peer may have to be told that its window is open again.
            self.wake();
        }
        Some(message)
    }

    /// Has the machine keep the messages of an association, or hand them out again.
    fn hold(&mut self, id: AssociationId, held: bool) {
        let now = self.now();
        if let Some(slot) = self.slots.get_mut(&id)
            && slot.held != held
        {
            slot.held = held;
            self.machine.hold(now, id, held);
        }
    }

    /// By which number the machine knows the sender. A packet with the right tag
    /// that comes from another port of an address of the peer belongs to that
    /// address (RFC 6951, section 5.4); the second value says that it does.
    fn source(&self, owner: Option<AssociationId>, from: SocketAddr) -> Option<(Address, bool)> {
        let slot = owner.and_then(|id| self.slots.get(&id));
        let remotes = slot.map_or(&[][..], |slot| &slot.remotes);
        if let Some((number, _)) = remotes.iter().find(|(_, socket)| *socket == from) {
            return Some((*number, false));
        }
        if let Some((number, _)) = remotes.iter().find(|(_, s)| s.ip() == from.ip()) {
            return Some((*number, true));
        }
        let number = self.peers.table().number(from)?;
        Some((number, false))
    }

    /// Does what is due.
    pub(in crate::sctp) fn handle_timeout(&mut self) {
        let now = self.now();
        if self.carrier.poll_timeout().is_some_and(|at| at <= now) {
            let mut arrivals = std::mem::take(&mut self.arrivals);
            self.carrier.handle_timeout(now, &mut arrivals);
            for arrival in arrivals.drain(..) {
                self.absorb(now, arrival);
            }
            self.arrivals = arrivals;
        }
        if self.machine.poll_timeout().is_some_and(|at| at <= now) {
            self.machine.handle_timeout(now);
        }
    }

    /// Tells the users what happened, sends what there is to send, and tells what
    /// that brings about.
    ///
    /// # Errors
    /// Where a socket is broken.
    pub(in crate::sctp) fn settle(&mut self) -> io::Result<()> {
        let now = self.now();
        self.hear(now, None);
        self.transmit(now);
        self.hear(now, None);
        self.make_room();
        self.carrier.flush()
    }

    fn transmit(&mut self, now: Time) {
        while let Some(datagram) = self.machine.poll_transmit() {
            self.launch(now, &datagram);
        }
    }

    fn launch(&mut self, now: Time, datagram: &Datagram<Packet>) {
        let Some(to) = self.peers.socket(datagram.destination) else {
            self.network.unaddressed += 1;
            return;
        };
        let mut bytes = Vec::with_capacity(datagram.body.size_bytes() as usize);
        if self.machine.omits_checksum(datagram) {
            datagram.body.encode_without_checksum(&mut bytes);
            self.network.zero_checksums_sent += 1;
        } else {
            datagram.body.encode(&mut bytes);
        }
        let local = datagram.source.0 as usize;
        self.carrier.send(now, local, to, Bytes::from(bytes));
    }

    /// Wakes senders for whom there is room again.
    fn make_room(&mut self) {
        if self.blocked.is_empty() {
            return;
        }
        let Self {
            blocked,
            slots,
            machine,
            ..
        } = self;
        blocked.retain(|id| {
            let Some(slot) = slots.get_mut(id) else {
                return false;
            };
            let association = machine.association(*id);
            let buffered = association.map_or(0, |a| a.buffered_bytes());
            // A quarter of the buffer at a time, so that a sender is not woken for
            // each message that is acknowledged.
            let mark = association.map_or(0, |a| a.config().send_buffer_bytes / 4 * 3);
            let room = slot.blocked && buffered <= mark;
            let drained = slot.draining && buffered == 0;
            if room || drained {
                slot.blocked &= !room;
                slot.draining &= !drained;
                slot.wakes.room.notify_waiters();
            }
            slot.blocked || slot.draining
        });
    }

    /// A sender waits for room.
    pub(in crate::sctp) fn block(&mut self, id: AssociationId) {
        self.watch(id, |slot| slot.blocked = true);
    }

    /// Somebody waits until all that was sent is acknowledged.
    pub(in crate::sctp) fn drain(&mut self, id: AssociationId) {
        self.watch(id, |slot| slot.draining = true);
    }

    fn watch(&mut self, id: AssociationId, note: impl FnOnce(&mut Slot)) {
        if let Some(slot) = self.slots.get_mut(&id) {
            let watched = slot.blocked || slot.draining;
            note(slot);
            if !watched {
                self.blocked.push(id);
            }
        }
    }

    /// Whether the peer has acknowledged all that was sent, and for good.
    pub(in crate::sctp) fn is_drained(&self, id: AssociationId) -> bool {
        let association = self.machine.association(id);
        association.is_none_or(|association| association.buffered_bytes() == 0)
    }

    pub(in crate::sctp) fn poll_timeout(&mut self) -> Option<Time> {
        let carrier = self.carrier.poll_timeout();
        let machine = self.machine.poll_timeout();
        carrier.into_iter().chain(machine).min()
    }

    /// Whether there is no association, and nothing that could bring one.
    pub(in crate::sctp) fn is_idle(&self) -> bool {
        self.dead || self.machine.association_count() == 0
    }
}
