//! The driver: nodes and links in virtual time.

use headway_path::{Link, Offer, Verdict};
use headway_sansio::{Address, Datagram, Machine, Time};

use crate::error::SimError;
use crate::events::{Event, EventQueue, Kind};
use crate::flights::{Flight, Flights};
use crate::observer::Observer;
use crate::topology::{Edge, LinkId, NodeId, PacketId, Role, Topology};

/// Links that a datagram may cross: the usual initial time to live of IP.
const MAX_HOPS: u8 = 64;
/// Calls of `handle_timeout` at one instant before a node counts as stuck. The
/// contract allows one; machines with many children may need a few.
const MAX_TIMEOUT_CALLS: u32 = 1000;
/// Events and datagrams at one instant before time counts as stuck.
const MAX_AT_ONE_INSTANT: u32 = 1 << 22;

/// What a network can host: every [`Machine`] that takes and gives datagrams.
///
/// A network hosts one type, so that calls need no indirection; where nodes
/// differ the type is an enum (or a boxed machine).
pub trait Node: Machine<Input = Datagram<Self::Body>, Output = Datagram<Self::Body>> {
    /// What its datagrams carry. Cloned only where a link duplicates a packet.
    type Body: Clone;
}

impl<B: Clone, M: Machine<Input = Datagram<B>, Output = Datagram<B>>> Node for M {
    type Body = B;
}

/// Nodes, links between them, and virtual time.
///
/// Times at which several things happen are settled in a fixed order: datagrams
/// reach nodes in the order in which they were sent, then ghosts of lost
/// datagrams, then timers in the order in which they were set.
#[derive(Clone, Debug)]
pub struct Network<N: Node, O = ()> {
    now: Time,
    events: EventQueue,
    flights: Flights<N::Body>,
    topology: Topology<N>,
    observer: O,
    packets: u64,
    handled: u64,
    at_this_instant: u32,
    started: bool,
}

/// Why a run came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing is under way and no timer is set.
    Idle,
    /// What comes next lies beyond the deadline.
    Deadline,
    /// The caller's condition no longer holds.
    Stopped,
}

impl<N: Node, O: Observer<N::Body>> Network<N, O> {
    /// An empty network at time zero.
    pub fn new(observer: O) -> Self {
        Self {
            now: Time::ZERO,
            events: EventQueue::default(),
            flights: Flights::default(),
            topology: Topology::new(),
            observer,
            packets: 0,
            handled: 0,
            at_this_instant: 0,
            started: false,
        }
    }

    /// Adds a node with a machine. Datagrams for other nodes pass through it by
    /// its routes without its machine's knowledge.
    pub fn add_node(&mut self, machine: N) -> NodeId {
        self.topology.add_site(Some(machine), Role::Host)
    }

    /// Adds a network element with timers of its own, such as a radio cell: its
    /// machine gets the datagrams that pass through it, and what it puts out
    /// goes on by its routes.
    pub fn add_element(&mut self, machine: N) -> NodeId {
        self.topology.add_site(Some(machine), Role::Element)
    }

    /// Adds a node that only passes datagrams on.
    pub fn add_router(&mut self) -> NodeId {
        self.topology.add_site(None, Role::Host)
    }

    /// Gives a node an address; it may have several.
    ///
    /// # Errors
    /// Where the address is taken or too large, or the node a router.
    pub fn add_address(&mut self, node: NodeId, address: Address) -> Result<(), SimError> {
        self.topology.add_address(node, address)
    }

    /// Adds one direction between two nodes.
    ///
    /// # Panics
    /// Where a node belongs to another network.
    pub fn add_link(&mut self, from: NodeId, to: NodeId, link: Link) -> LinkId {
        self.topology.add_link(from, to, link)
    }

    /// Sends what `node` has for `to` over `link`, in place of an earlier route.
    ///
    /// # Errors
    /// Where the link starts elsewhere or the address is too large.
    pub fn add_route(&mut self, node: NodeId, to: Address, link: LinkId) -> Result<(), SimError> {
        self.topology.add_route(node, to, link)
    }

    /// Sends what `node` has no route for over `link`.
    ///
    /// # Errors
    /// Where the link starts elsewhere.
    pub fn set_default_route(&mut self, node: NodeId, link: LinkId) -> Result<(), SimError> {
        self.topology.set_default_route(node, link)
    }

    /// Adds the routes that are missing, over the fewest links; of equally short
    /// ways the link added first wins.
    pub fn route_shortest(&mut self) {
        self.topology.route_shortest();
    }

    /// The virtual time reached.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Events handled so far.
    #[must_use]
    pub const fn events_handled(&self) -> u64 {
        self.handled
    }

    /// Packets so far, copies included; the next one has this number.
    #[must_use]
    pub const fn packets_emitted(&self) -> u64 {
        self.packets
    }

    /// Whether nothing is under way and no timer is set. A network that has not
    /// run yet does not know.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.events.is_empty()
    }

    /// A node's machine.
    ///
    /// # Panics
    /// Where the node is a router.
    #[must_use]
    pub fn machine(&self, node: NodeId) -> &N {
        let site = &self.topology.sites[node.index()];
        site.machine.as_ref().expect("the node has a machine")
    }

    /// Lets the caller act on a machine now, then drains it: for calls of the
    /// machine's own, such as handing over a message.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    ///
    /// # Panics
    /// Where the node is a router.
    pub fn with_machine<R>(
        &mut self,
        node: NodeId,
        act: impl FnOnce(Time, &mut N) -> R,
    ) -> Result<R, SimError> {
        let machine = self.topology.sites[node.index()].machine.as_mut();
        let result = act(self.now, machine.expect("the node has a machine"));
        self.settle(node)?;
        Ok(result)
    }

    /// A link.
    #[must_use]
    pub fn link(&self, link: LinkId) -> &Link {
        &self.topology.edges[link.index()].link
    }

    /// The observer.
    #[must_use]
    pub const fn observer(&self) -> &O {
        &self.observer
    }

    /// The observer.
    pub const fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The machines in the order of their nodes, routers left out, and the
    /// observer.
    #[must_use]
    pub fn into_parts(self) -> (Vec<N>, O) {
        let sites = self.topology.sites.into_iter();
        (sites.filter_map(|s| s.machine).collect(), self.observer)
    }

    /// Runs until nothing is left to do, or up to and including `deadline`.
    /// Where the deadline ends it, virtual time stands at the deadline.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn run_until(&mut self, deadline: Time) -> Result<Outcome, SimError> {
        self.run_while(deadline, |_| true)
    }

    /// The same, but stops as soon as `go_on` says no. It is asked before each
    /// event, so it must be cheap.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn run_while(
        &mut self,
        deadline: Time,
        mut go_on: impl FnMut(&Self) -> bool,
    ) -> Result<Outcome, SimError> {
        self.start()?;
        loop {
            let Some(next) = self.events.next_time() else {
                return Ok(Outcome::Idle);
            };
            if next > deadline {
                self.now = self.now.max(deadline);
                return Ok(Outcome::Deadline);
            }
            if !go_on(self) {
                return Ok(Outcome::Stopped);
            }
            self.step()?;
        }
    }

    /// Handles the next event and says when it was; `None` where there is none.
    ///
    /// # Errors
    /// Where a datagram cannot be routed, time does not advance, or more is
    /// under way than can be numbered.
    #[inline]
    pub fn step(&mut self) -> Result<Option<Time>, SimError> {
        self.start()?;
        let Some(Event { time, kind, index }) = self.events.pop() else {
            return Ok(None);
        };
        if time > self.now {
            self.now = time;
            self.at_this_instant = 0;
        }
        self.handled += 1;
        self.count_work()?;
        match kind {
            Kind::Arrival => {
                let flight = self.flights.take(index);
                self.reach(flight)?;
            }
            Kind::Ghost => {
                let flight = self.flights.take(index);
                self.haunt(flight)?;
            }
            Kind::Wake => self.wake(NodeId(index))?,
        }
        Ok(Some(time))
    }

    /// Drains every machine once before the first event: some have something to
    /// say, or a timer to set, from the start.
    #[inline]
    fn start(&mut self) -> Result<(), SimError> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        for node in 0..self.topology.sites.len() {
            self.settle(NodeId(node as u32))?;
        }
        Ok(())
    }

    #[inline]
    fn count_work(&mut self) -> Result<(), SimError> {
        self.at_this_instant += 1;
        if self.at_this_instant > MAX_AT_ONE_INSTANT {
            return Err(SimError::StuckTime(self.now));
        }
        Ok(())
    }

    /// A datagram reaches a node.
    #[inline]
    fn reach(&mut self, flight: Flight<N::Body>) -> Result<(), SimError> {
        let node = flight.next;
        let Flight {
            packet, datagram, ..
        } = &flight;
        let own = self.topology.owner(datagram.destination) == Some(node);
        let site = &mut self.topology.sites[node.index()];
        let machine = match &mut site.machine {
            Some(machine) if own => {
                self.observer.on_arrived(self.now, node, *packet, datagram);
                machine
            }
            Some(machine) if site.role == Role::Element => {
                self.observer.on_transit(self.now, node, *packet, datagram);
                machine
            }
            _ => return self.forward(node, flight),
        };
        machine.handle_input(self.now, flight.datagram);
        self.settle(node)
    }

    /// A timer event of a node. Nodes move their timers often; instead of an
    /// event for each move there is one wake at the earliest time named since,
    /// and a node that wakes too early is put to sleep again.
    #[inline]
    fn wake(&mut self, node: NodeId) -> Result<(), SimError> {
        let site = &mut self.topology.sites[node.index()];
        if site.wake != self.now {
            // An earlier timer was set after this one.
            return Ok(());
        }
        site.wake = Time::FAR_FUTURE;
        for _ in 0..MAX_TIMEOUT_CALLS {
            let Some(machine) = &mut self.topology.sites[node.index()].machine else {
                return Ok(());
            };
            if machine.poll_timeout().is_none_or(|at| at > self.now) {
                return self.set_wake(node);
            }
            machine.handle_timeout(self.now);
            self.drain(node)?;
        }
        Err(SimError::StuckTimer(node, self.now))
    }

    /// After a machine was touched: sends what it has to send and sees to its timer.
    #[inline]
    fn settle(&mut self, node: NodeId) -> Result<(), SimError> {
        self.drain(node)?;
        self.set_wake(node)
    }

    #[inline]
    fn drain(&mut self, node: NodeId) -> Result<(), SimError> {
        while let Some(machine) = &mut self.topology.sites[node.index()].machine
            && let Some(datagram) = machine.poll_output()
        {
            self.count_work()?;
            self.emit(node, datagram)?;
        }
        Ok(())
    }

    #[inline]
    fn set_wake(&mut self, node: NodeId) -> Result<(), SimError> {
        let site = &mut self.topology.sites[node.index()];
        let Some(at) = site.machine.as_ref().and_then(Machine::poll_timeout) else {
            return Ok(());
        };
        let at = at.max(self.now);
        if at >= site.wake {
            return Ok(());
        }
        site.wake = at;
        self.events.push(at, Kind::Wake, node.0)
    }

    /// A machine puts out a datagram.
    #[inline]
    fn emit(&mut self, node: NodeId, datagram: Datagram<N::Body>) -> Result<(), SimError> {
        let packet = self.number();
        let relayed = self.topology.sites[node.index()].role == Role::Element
            && self.topology.owner(datagram.source) != Some(node);
        if relayed {
            self.observer.on_relayed(self.now, node, packet, &datagram);
        } else {
            self.observer.on_sent(self.now, node, packet, &datagram);
        }
        let flight = Flight {
            packet,
            datagram,
            next: node,
            hops: 0,
        };
        if self.topology.owner(flight.datagram.destination) == Some(node) {
            // To itself: no link, no delay, but an event, so that the machine
            // is not called from within its own drain.
            self.observer
                .on_would_arrive(self.now, packet, &flight.datagram, self.now);
            let index = self.flights.insert(flight);
            return self.events.push(self.now, Kind::Arrival, index);
        }
        self.forward(node, flight)
    }

    fn number(&mut self) -> PacketId {
        let packet = PacketId(self.packets);
        self.packets += 1;
        packet
    }

    /// The link by which a flight leaves a node.
    #[inline]
    fn next_link(&self, node: NodeId, flight: &mut Flight<N::Body>) -> Result<LinkId, SimError> {
        let to = flight.datagram.destination;
        if flight.hops >= MAX_HOPS {
            return Err(SimError::RoutingLoop(node, to));
        }
        flight.hops += 1;
        let route = self.topology.sites[node.index()].route(to);
        route.ok_or(SimError::NoRoute(node, to))
    }

    /// Sends a datagram down the next link of its route.
    #[inline]
    fn forward(&mut self, node: NodeId, mut flight: Flight<N::Body>) -> Result<(), SimError> {
        let id = self.next_link(node, &mut flight)?;
        let Edge { to, link, .. } = &mut self.topology.edges[id.index()];
        let to = *to;
        let offer = link.offer(self.now, flight.datagram.size_bytes);
        flight.next = to;

        let Flight {
            packet, datagram, ..
        } = &flight;
        let last_hop = self.topology.owner(datagram.destination) == Some(to);
        let Offer { verdict, duplicate } = offer;
        self.observer
            .on_offered(self.now, id, *packet, datagram, &offer);
        if let Verdict::Dropped { cause, .. } = verdict {
            self.observer
                .on_lost(self.now, id, *packet, datagram, cause);
        }
        if last_hop {
            self.observer
                .on_would_arrive(self.now, *packet, datagram, verdict.would_arrive());
        }

        let copy = duplicate.map(|at| (at, flight.clone()));
        match verdict {
            Verdict::Delivered { at } => {
                let index = self.flights.insert(flight);
                self.events.push(at, Kind::Arrival, index)?;
            }
            Verdict::Dropped { would_arrive, .. } if !last_hop => {
                let index = self.flights.insert(flight);
                self.events.push(would_arrive, Kind::Ghost, index)?;
            }
            Verdict::Dropped { .. } => {}
        }
        if let Some((at, copy)) = copy {
            self.send_copy(id, at, copy, last_hop)?;
        }
        Ok(())
    }

    /// A copy goes on as a packet of its own, behind its original.
    #[cold]
    fn send_copy(
        &mut self,
        link: LinkId,
        at: Time,
        mut copy: Flight<N::Body>,
        last_hop: bool,
    ) -> Result<(), SimError> {
        let original = copy.packet;
        copy.packet = self.number();
        let datagram = &copy.datagram;
        self.observer
            .on_duplicated(self.now, link, original, copy.packet, datagram);
        if last_hop {
            self.observer
                .on_would_arrive(self.now, copy.packet, datagram, at);
        }
        let index = self.flights.insert(copy);
        self.events.push(at, Kind::Arrival, index)
    }

    /// The ghost of a lost datagram reaches a node and goes on.
    fn haunt(&mut self, mut flight: Flight<N::Body>) -> Result<(), SimError> {
        let node = flight.next;
        if self.topology.sites[node.index()].role == Role::Element {
            self.observer
                .on_ghost_stranded(self.now, node, flight.packet, &flight.datagram);
            return Ok(());
        }
        let id = self.next_link(node, &mut flight)?;
        let Edge { to, link, .. } = &self.topology.edges[id.index()];
        let at = link.peek(self.now, flight.datagram.size_bytes);
        flight.next = *to;
        if self.topology.owner(flight.datagram.destination) == Some(*to) {
            self.observer
                .on_would_arrive(self.now, flight.packet, &flight.datagram, at);
            return Ok(());
        }
        let index = self.flights.insert(flight);
        self.events.push(at, Kind::Ghost, index)
    }
}
