//! What the machine tells, and what the users do: associations come and go.

use bytes::Bytes;
use headway_sansio::{Address, Payload, Time};
use headway_sctp::{AssociationId, EndpointEvent, Event};
use smallvec::SmallVec;

use super::{Core, Origin};
use crate::sctp::AssociationError;
use crate::sctp::slot::{End, Notice, PathReport, Received, Slot};

impl Core {
    /// Reads what the machine has to tell.
    pub(super) fn hear(&mut self, now: Time, origin: Option<Origin>) {
        while let Some(event) = self.machine.poll_event() {
            match event {
                EndpointEvent::Incoming(id) => self.incoming(now, id, origin),
                EndpointEvent::Association(id, event) => self.happened(id, event, origin),
                EndpointEvent::Gone(id) => self.gone(id),
            }
        }
    }

    fn incoming(&mut self, now: Time, id: AssociationId, origin: Option<Origin>) {
        let full = self.waiting.len() >= self.backlog || self.closed;
        let slot = Slot {
            waiting: !full,
            orphan: full,
            ..Slot::default()
        };
        self.slots.insert(id, slot);
        self.learn(id, origin);
        if full {
            self.network.backlog_overflows += 1;
            let why = Bytes::from_static(b"nobody accepts it");
            self.machine
                .with(now, id, |machine| machine.abort_because(now, why));
        }
    }

    fn happened(&mut self, id: AssociationId, event: Event, origin: Option<Origin>) {
        if let Event::Connected { .. } | Event::Restarted = event {
            self.learn(id, origin);
        }
        let end = match &event {
            Event::ShutdownComplete => Some(End::Shutdown),
            Event::Aborted { causes } => {
                Some(End::Error(AssociationError::Aborted(causes.clone())))
            }
            Event::ConnectionLost { reason } => Some(End::Error(AssociationError::Lost(*reason))),
            _ => None,
        };
        let path = |core: &Self, index: usize| {
            let status = core.machine.association(id)?.path(index)?;
            core.peers.socket(status.remote)
        };
        let notice = match &event {
            Event::Restarted => Some(Notice::Restarted),
            Event::PeerShutdown => Some(Notice::PeerShutdown),
            Event::PathInactive { path: n } => path(self, *n).map(Notice::PathInactive),
            Event::PathPotentiallyFailed { path: n } => {
                path(self, *n).map(Notice::PathPotentiallyFailed)
            }
            Event::PathConfirmed { path: n } => path(self, *n).map(Notice::PathConfirmed),
            Event::PathActive { path: n } => path(self, *n).map(Notice::PathActive),
            Event::PeerReported { causes } => Some(Notice::PeerReported(causes.clone())),
            Event::Message(_) | Event::Connected { .. } => None,
            _ if end.is_some() => None,
            other => Some(Notice::Other(other.clone())),
        };
        let last = end.is_some().then(|| self.reports(id)).flatten();
        let Some(slot) = self.slots.get_mut(&id) else {
            return;
        };
        let mut full = false;
        match event {
            Event::Connected {
                outbound_streams,
                inbound_streams,
            } => {
                slot.streams = Some((outbound_streams, inbound_streams));
                slot.wakes.change.notify_waiters();
                if slot.waiting {
                    self.waiting.push_back(id);
                    self.accepting.notify_waiters();
                }
            }
            Event::Message(message) => {
                let payload = match message.payload {
                    Payload::Bytes(bytes) => bytes,
                    // What comes from a network has bytes.
                    Payload::Sized(_) => Bytes::new(),
                };
                slot.deliver(Received {
                    stream: message.stream,
                    ppid: message.ppid,
                    unordered: message.unordered,
                    payload,
                });
                // Handed out after the last look at the counters.
                if let Some((stats, _)) = slot.last.as_deref_mut() {
                    stats.messages_received += 1;
                }
                // One that is over hands out all it has, and is gone.
                full = slot.inbox_bytes >= self.most_unread && slot.end.is_none();
            }
            Event::PeerShutdown => {
                slot.peer_shutdown = true;
                slot.wakes.message.notify_waiters();
                slot.wakes.room.notify_waiters();
            }
            _ => {}
        }
        if let Some(notice) = notice {
            slot.notice(notice);
        }
        if let Some(end) = end {
            slot.last = last.map(Box::new);
            slot.finish(end);
            self.hold(id, false);
        } else if full {
            self.hold(id, true);
        }
    }

    /// Notes tag and addresses of a peer that has just proved itself with a packet.
    fn learn(&mut self, id: AssociationId, origin: Option<Origin>) {
        let (Some(association), Some(slot)) =
            (self.machine.association(id), self.slots.get_mut(&id))
        else {
            return;
        };
        if let Some(origin) = origin {
            if let Some(former) = slot.tag.replace(origin.tag)
                && self.by_tag.get(&former) == Some(&id)
            {
                self.by_tag.remove(&former);
            }
            self.by_tag.insert(origin.tag, id);
        }
        let mut table = self.peers.table();
        let numbers = (0..association.path_count()).filter_map(|n| association.path(n));
        let mut remotes = SmallVec::new();
        for Address(number) in numbers.map(|path| path.remote) {
            let number = Address(number);
            let socket = match (table.socket(number), origin) {
                (Some(socket), _) => socket,
                // Forgotten in a flood between INIT ACK and COOKIE ECHO, which has
                // come from there.
                (None, Some(origin)) => {
                    table.redirect(number, origin.from);
                    origin.from
                }
                (None, None) => continue,
            };
            table.pin(number);
            remotes.push((number, socket));
        }
        for (number, _) in std::mem::replace(&mut slot.remotes, remotes) {
            table.unpin(number);
        }
    }

    /// Pins the addresses of an association that this side begins.
    pub(in crate::sctp) fn begun(&mut self, id: AssociationId) {
        self.slots.insert(id, Slot::default());
        self.learn(id, None);
        self.wake();
    }

    fn gone(&mut self, id: AssociationId) {
        let Some(slot) = self.slots.get_mut(&id) else {
            return;
        };
        slot.gone = true;
        let mut table = self.peers.table();
        for (number, _) in slot.remotes.drain(..) {
            table.unpin(number);
        }
        drop(table);
        if let Some(tag) = slot.tag.take()
            && self.by_tag.get(&tag) == Some(&id)
        {
            self.by_tag.remove(&tag);
        }
        // One that the peer ended before anybody took it is still handed out: it may
        // have brought messages.
        slot.finish(End::Shutdown);
        if slot.orphan {
            self.slots.remove(&id);
        }
        if self.machine.association_count() == 0 {
            self.idle.notify_waiters();
        }
    }

    /// The user lets go of an association.
    pub(in crate::sctp) fn release(&mut self, id: AssociationId) {
        let Some(slot) = self.slots.get_mut(&id) else {
            return;
        };
        // Where the machine holds messages, there are some here as well.
        let unread = !slot.inbox.is_empty();
        if slot.gone {
            self.slots.remove(&id);
            return;
        }
        slot.orphan = true;
        slot.inbox.clear();
        slot.inbox_bytes = 0;
        // They are thrown away.
        self.hold(id, false);
        let now = self.now();
        self.machine.with(now, id, |machine| {
            if unread {
                machine.abort_because(now, Bytes::from_static(b"messages were not read"));
            } else {
                machine.shutdown(now);
            }
        });
        self.wake();
    }

    /// Counters and paths as they are, or as they were at the end.
    pub(in crate::sctp) fn reports(
        &self,
        id: AssociationId,
    ) -> Option<(headway_sctp::Stats, Vec<PathReport>)> {
        if let Some(last) = self.slots.get(&id).and_then(|slot| slot.last.as_ref()) {
            return Some((**last).clone());
        }
        let association = self.machine.association(id)?;
        let primary = association.primary_path();
        let paths = (0..association.path_count()).filter_map(|index| {
            let status = association.path(index)?;
            Some(PathReport {
                local: self.peers.socket(status.local)?,
                remote: self.peers.socket(status.remote)?,
                primary: index == primary,
                status,
            })
        });
        Some((*association.stats(), paths.collect()))
    }

    /// No user has the endpoint any more: nobody will accept what waits.
    pub(in crate::sctp) fn close(&mut self) {
        self.closed = true;
        for id in std::mem::take(&mut self.waiting) {
            if let Some(slot) = self.slots.get_mut(&id) {
                slot.waiting = false;
                let why = Bytes::from_static(b"nobody accepts it");
                self.with(id, |machine, now| machine.abort_because(now, why));
                self.release(id);
            }
        }
    }

    /// The driver ends: nobody waits in vain.
    pub(in crate::sctp) fn die(&mut self) {
        self.dead = true;
        for slot in self.slots.values_mut() {
            slot.gone = true;
            slot.finish(End::Error(AssociationError::EndpointClosed));
        }
        self.accepting.notify_waiters();
        self.idle.notify_waiters();
    }
}
