//! Time, events and packets of an endpoint.

use headway_sansio::{Datagram, Machine, Time};

use super::{AssociationId, Endpoint, EndpointEvent, EndpointOutput};
use crate::Packet;

impl Endpoint {
    /// Notes that an association may have something to say.
    pub(super) fn mark(&mut self, slot: u32) {
        let Some(entry) = self.table.slot_mut(slot) else {
            return;
        };
        if !entry.eventful {
            entry.eventful = true;
            self.eventful.push_back(slot);
        }
        if !entry.sending {
            entry.sending = true;
            self.sending.push_back(slot);
        }
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<EndpointEvent> {
        while let Some(&slot) = self.eventful.front() {
            let id = self.table.id(slot);
            let Some(entry) = self.table.slot_mut(slot) else {
                self.eventful.pop_front();
                continue;
            };
            if entry.incoming && !entry.announced {
                entry.announced = true;
                return Some(EndpointEvent::Incoming(id));
            }
            let event = if entry.held {
                entry.association.poll_notice(&mut entry.passed)
            } else {
                entry.association.poll_event()
            };
            if let Some(event) = event {
                // What was read may have opened the window.
                if !entry.sending {
                    entry.sending = true;
                    self.sending.push_back(slot);
                }
                return Some(EndpointEvent::Association(id, event));
            }
            entry.eventful = false;
            self.eventful.pop_front();
            if self.bury(slot) {
                return Some(EndpointEvent::Gone(id));
            }
        }
        None
    }

    /// Holds the messages of an association back, or hands them out again. Those that
    /// are held back stay in the receive buffer: who takes none closes the peer's
    /// window, and who takes them again opens it with a SACK (RFC 9260, section 6.2).
    /// All else is told as it happens, ahead of them, but for what changes how they are
    /// numbered. An association that is over is gone only once its messages are
    /// handed out.
    pub fn hold(&mut self, now: Time, id: AssociationId, held: bool) {
        self.now = now;
        if !self.table.holds(id) {
            return;
        }
        if let Some(entry) = self.table.slot_mut(id.slot) {
            entry.held = held;
            entry.passed = 0;
            self.mark(id.slot);
        }
    }

    /// The next packet for the network, with the addresses from and to which it
    /// goes.
    pub fn poll_transmit(&mut self) -> Option<Datagram<Packet>> {
        if let Some(answer) = self.answers.pop_front() {
            self.stats.packets_sent += 1;
            return Some(answer);
        }
        while let Some(&slot) = self.sending.front() {
            if let Some(entry) = self.table.slot_mut(slot) {
                if let Some(datagram) = entry.association.poll_datagram(self.now) {
                    self.stats.packets_sent += 1;
                    return Some(datagram);
                }
                entry.sending = false;
                // It may be over now that its last packet has gone.
                if entry.association.is_finished() && !entry.eventful {
                    entry.eventful = true;
                    self.eventful.push_back(slot);
                }
                self.schedule(slot);
            }
            self.sending.pop_front();
        }
        None
    }

    /// Takes an association that is over off the books.
    fn bury(&mut self, slot: u32) -> bool {
        let over = self
            .table
            .slot(slot)
            .is_some_and(|entry| entry.association.is_finished());
        if !over {
            return false;
        }
        let Some(entry) = self.table.remove(slot) else {
            return false;
        };
        self.wakes.remove(&(entry.scheduled, slot));
        self.retired
            .add(self.now, self.config.cookie_lifetime, entry.tag);
        self.stats.associations_ended += 1;
        true
    }

    /// Sees to it that an association is woken in time. One that is to be woken
    /// later than before stays where it is and looks again when its time comes,
    /// so that restarting a timer costs nothing.
    fn schedule(&mut self, slot: u32) {
        let Some(entry) = self.table.slot_mut(slot) else {
            return;
        };
        let due = entry.association.poll_timeout().unwrap_or(Time::FAR_FUTURE);
        if due < entry.scheduled {
            self.wakes.remove(&(entry.scheduled, slot));
            self.wakes.insert((due, slot));
            entry.scheduled = due;
        }
    }

    /// When `handle_timeout` wants to be called, if at all.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.wakes.first().map(|(at, _)| *at)
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        while let Some(&(at, slot)) = self.wakes.first() {
            if at > now {
                break;
            }
            self.wakes.pop_first();
            let Some(entry) = self.table.slot_mut(slot) else {
                continue;
            };
            entry.scheduled = Time::FAR_FUTURE;
            if entry
                .association
                .poll_timeout()
                .is_some_and(|due| due <= now)
            {
                entry.association.handle_timeout(now);
                self.mark(slot);
            }
            self.schedule(slot);
        }
    }
}

impl Machine for Endpoint {
    type Input = Datagram<Packet>;
    type Output = EndpointOutput;

    fn handle_input(&mut self, now: Time, datagram: Datagram<Packet>) {
        Self::handle_input(self, now, datagram);
    }

    fn handle_timeout(&mut self, now: Time) {
        Self::handle_timeout(self, now);
    }

    fn poll_output(&mut self) -> Option<EndpointOutput> {
        if let Some(event) = self.poll_event() {
            return Some(EndpointOutput::Event(event));
        }
        if let Some(datagram) = Self::poll_transmit(self) {
            return Some(EndpointOutput::Transmit(datagram));
        }
        // The last packet of an association makes its end known.
        self.poll_event().map(EndpointOutput::Event)
    }

    fn poll_timeout(&self) -> Option<Time> {
        Self::poll_timeout(self)
    }
}
