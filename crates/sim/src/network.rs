//! A network: how it is put together, run and read.

mod drive;

use headway_path::Link;
use headway_sansio::{Address, Datagram, Machine, Time};

use crate::error::SimError;
use crate::events::EventQueue;
use crate::flights::Flights;
use crate::observer::Observer;
use crate::topology::{LinkId, NodeId, Role, Topology};

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
            let Some(next) = self.events.first() else {
                return Ok(Outcome::Idle);
            };
            if next.time() > deadline {
                self.now = self.now.max(deadline);
                return Ok(Outcome::Deadline);
            }
            if !go_on(self) {
                return Ok(Outcome::Stopped);
            }
            self.handle(next)?;
        }
    }
}
