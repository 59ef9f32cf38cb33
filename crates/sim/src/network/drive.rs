//! What happens at each event: datagrams reach nodes, machines are drained,
//! links are offered what comes out, ghosts go on, timers ring.

use headway_path::{Offer, Verdict};
use headway_sansio::{Datagram, Machine, Time};

use super::{Network, Node};
use crate::error::SimError;
use crate::events::{Event, Kind, Upcoming};
use crate::flights::Flight;
use crate::observer::Observer;
use crate::topology::{Edge, LinkId, NodeId, PacketId, Role};

/// Links that a datagram may cross: the usual initial time to live of IP.
const MAX_HOPS: u8 = 64;
/// Calls of `handle_timeout` at one instant before a node counts as stuck. The
/// contract allows one; machines with many children may need a few.
const MAX_TIMEOUT_CALLS: u32 = 1000;
/// Events and datagrams at one instant before time counts as stuck.
const MAX_AT_ONE_INSTANT: u32 = 1 << 22;

impl<N: Node, O: Observer<N::Body>> Network<N, O> {
    /// Handles the next event and says when it was; `None` where there is none.
    ///
    /// # Errors
    /// Where a datagram cannot be routed, time does not advance, or more is
    /// under way than can be numbered.
    #[inline]
    pub fn step(&mut self) -> Result<Option<Time>, SimError> {
        self.start()?;
        let Some(next) = self.events.first() else {
            return Ok(None);
        };
        self.handle(next)?;
        Ok(Some(next.time()))
    }

    /// Handles the event that comes first.
    #[inline]
    pub(super) fn handle(&mut self, next: Upcoming) -> Result<(), SimError> {
        let Event { time, kind, index } = self.events.take(next);
        if time > self.now {
            self.now = time;
            self.at_this_instant = 0;
        }
        self.handled += 1;
        self.count_work()?;
        match kind {
            Kind::Arrival => {
                let flight = self.flights.take(index);
                self.reach(flight)
            }
            Kind::Ghost => {
                let flight = self.flights.take(index);
                self.haunt(flight)
            }
            Kind::Wake => self.wake(NodeId(index)),
        }
    }

    /// Drains every machine once before the first event: some have something to
    /// say, or a timer to set, from the start.
    #[inline]
    pub(super) fn start(&mut self) -> Result<(), SimError> {
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
            let site = &mut self.topology.sites[node.index()];
            match &mut site.machine {
                Some(machine) if site.due <= self.now => machine.handle_timeout(self.now),
                _ => return self.set_wake(node),
            }
            self.drain(node)?;
            self.ask(node);
        }
        Err(SimError::StuckTimer(node, self.now))
    }

    /// After a machine was touched: sends what it has to send and sees to its timer.
    #[inline(always)]
    pub(super) fn settle(&mut self, node: NodeId) -> Result<(), SimError> {
        self.drain(node)?;
        self.ask(node);
        self.set_wake(node)
    }

    /// Asks a node's machine when it wants to be called.
    #[inline]
    fn ask(&mut self, node: NodeId) {
        let site = &mut self.topology.sites[node.index()];
        let at = site.machine.as_ref().and_then(Machine::poll_timeout);
        site.due = at.unwrap_or(Time::FAR_FUTURE);
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

    /// Sees to it that a node wakes when its machine wants to be called.
    #[inline]
    fn set_wake(&mut self, node: NodeId) -> Result<(), SimError> {
        let site = &mut self.topology.sites[node.index()];
        let at = site.due.max(self.now);
        if at >= site.wake {
            return Ok(());
        }
        site.wake = at;
        self.events.push(at, Kind::Wake, node.0)
    }

    /// A machine puts out a datagram.
    #[inline(always)]
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
    // Always inline, so that a flight is built where it stays.
    #[inline(always)]
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

        match verdict {
            Verdict::Delivered { at } => {
                let index = self.flights.insert(flight);
                self.events.push_arrival(at, index, id.index())?;
                if let Some(at) = duplicate {
                    self.send_copy(id, at, index, last_hop)?;
                }
            }
            Verdict::Dropped { would_arrive, .. } if !last_hop => {
                let index = self.flights.insert(flight);
                self.events.push(would_arrive, Kind::Ghost, index)?;
            }
            Verdict::Dropped { .. } => {}
        }
        Ok(())
    }

    /// A copy of a flight goes on as a packet of its own, behind its original.
    #[cold]
    fn send_copy(
        &mut self,
        link: LinkId,
        at: Time,
        original: u32,
        last_hop: bool,
    ) -> Result<(), SimError> {
        let mut copy = self.flights.get(original).clone();
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
        self.events.push_arrival(at, index, link.index())
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
