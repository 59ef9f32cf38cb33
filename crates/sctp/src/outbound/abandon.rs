//! Giving messages up (RFC 3758, sections 3.5 and 4.1; RFC 7496, section 3).

use headway_sansio::{Payload, Time};

use super::limit::Limit;
use super::queue::Pending;
use super::{Outbound, Sent, SentState};
use crate::path::Paths;
use crate::{DataChunk, MessageId, Policy};

/// A message that was given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenUp {
    pub(crate) id: MessageId,
    pub(crate) stream: u16,
    /// Some of it was sent.
    pub(crate) sent: bool,
    pub(crate) policy: Policy,
}

impl Outbound {
    /// When a message expires of which something was never sent, at the earliest.
    pub(crate) const fn deadline(&self) -> Time {
        self.queue.earliest()
    }

    /// Whether there may be anything to give up.
    pub(crate) fn has_limits(&self, now: Time) -> bool {
        self.queue.earliest() <= now || self.partial && self.limited > 0
    }

    /// Gives up what has expired unsent, and what would be retransmitted and may
    /// not. What is under way is left alone until it is given up for lost.
    pub(crate) fn give_up(&mut self, paths: &mut Paths, now: Time, given_up: &mut Vec<GivenUp>) {
        for pending in self.queue.withdraw_expired(now, self.partial) {
            self.drop_pending(paths, pending, given_up);
        }
        if !self.partial || self.limited == 0 {
            return;
        }
        let mut place = 0;
        while let Some(&tsn) = self.marked.get(place) {
            place += 1;
            let index = tsn.distance_from(self.first) as usize;
            let Some(sent) = self.sent.get(index) else {
                continue;
            };
            if sent.state.is_marked() && sent.limit.is_spent(now, sent.transmissions) {
                self.abandon(paths, index, given_up);
            }
        }
    }

    /// Makes room for a message of so many bytes at the cost of messages of lower
    /// priority, the lowest first and of these the newest, where that suffices
    /// (RFC 7496, section 3.2).
    pub(crate) fn make_room(
        &mut self,
        paths: &mut Paths,
        bytes: u32,
        limit: Limit,
        given_up: &mut Vec<GivenUp>,
    ) -> bool {
        let sent_too = self.partial && self.limited > 0;
        if !self.queue.has_prioritised() && !sent_too {
            return false;
        }
        // Priority, message, and what giving it up sets free.
        let mut victims: Vec<(u32, MessageId, u32)> = Vec::new();
        let partial = self.partial;
        self.queue.for_each(|pending| {
            if let Limit::Priority(priority) = pending.limit
                && pending.limit.yields_to(limit)
                && (partial || pending.begun.is_none())
            {
                let length = pending.payload.len() as u32;
                victims.push((priority, pending.id, length));
            }
        });
        if sent_too {
            for sent in &self.sent {
                if let Limit::Priority(priority) = sent.limit
                    && sent.limit.yields_to(limit)
                    && sent.state != SentState::Abandoned
                {
                    let length = sent.chunk.payload.len() as u32;
                    victims.push((priority, sent.chunk.trace.message, length));
                }
            }
        }
        victims.sort_unstable_by(|a, b| b.cmp(a));
        let mut freed = 0;
        let mut chosen: Vec<MessageId> = Vec::new();
        for &(_, id, length) in &victims {
            // All parts of a message go, also those beyond what is needed.
            if freed >= bytes && chosen.last() != Some(&id) {
                break;
            }
            freed += length;
            if chosen.last() != Some(&id) {
                chosen.push(id);
            }
        }
        if freed < bytes {
            return false;
        }
        for id in chosen {
            let mut waiting = self.queue.withdraw(|pending| pending.id == id);
            if let Some(pending) = waiting.pop() {
                self.drop_pending(paths, pending, given_up);
            } else if let Some(index) = self.sent.iter().position(|sent| sent.is_of(id)) {
                self.abandon(paths, index, given_up);
            }
        }
        true
    }

    /// Gives up a message, or the rest of one, that was taken off the queue.
    fn drop_pending(&mut self, paths: &mut Paths, pending: Pending, given_up: &mut Vec<GivenUp>) {
        let Some(policy) = pending.limit.policy() else {
            return;
        };
        let sent = pending.begun.is_some();
        given_up.push(GivenUp {
            id: pending.id,
            stream: pending.stream,
            sent,
            policy,
        });
        if sent {
            let template = self.queue.last_piece(&pending);
            self.abandon_pieces(paths, pending.id);
            self.close_message(template);
        }
    }

    /// Gives up the message of a chunk that was sent, with all that belongs to it
    /// (rule A3).
    fn abandon(&mut self, paths: &mut Paths, index: usize, given_up: &mut Vec<GivenUp>) {
        let sent = &self.sent[index];
        let Some(policy) = sent.limit.policy() else {
            return;
        };
        let (id, stream) = (sent.chunk.trace.message, sent.chunk.stream);
        given_up.push(GivenUp {
            id,
            stream,
            sent: true,
            policy,
        });
        if sent.chunk.begin && sent.chunk.end {
            self.abandon_chunk(paths, index);
            return;
        }
        let mut rest = Vec::new();
        if self.queue.begun_messages() > 0 {
            rest = self.queue.withdraw(|pending| pending.id == id);
        }
        self.abandon_pieces(paths, id);
        if let Some(rest) = rest.pop() {
            let template = self.queue.last_piece(&rest);
            self.close_message(template);
        }
    }

    /// Gives up all pieces of a message that were sent, the newest first.
    fn abandon_pieces(&mut self, paths: &mut Paths, id: MessageId) {
        for index in (0..self.sent.len()).rev() {
            if self.sent[index].is_of(id) {
                self.abandon_chunk(paths, index);
                if self.sent[index].chunk.begin {
                    return;
                }
            }
        }
    }

    /// The chunk counts as acknowledged for good (rule A2).
    fn abandon_chunk(&mut self, paths: &mut Paths, index: usize) {
        let sent = &mut self.sent[index];
        if sent.state == SentState::Abandoned {
            return;
        }
        let path = &mut paths[usize::from(sent.path)];
        let bytes = sent.chunk.payload.len() as u32;
        if sent.state == SentState::InFlight {
            let window = bytes + self.window_chunk_cost;
            path.flight -= sent.cost;
            self.window_in_flight -= window;
            self.peer_window = self.peer_window.saturating_add(window);
            sent.watched = true;
        }
        if sent.state != SentState::Acked {
            path.outstanding -= 1;
        }
        if path.timed.is_some_and(|(timed, _)| timed == sent.chunk.tsn) {
            path.timed = None;
        }
        sent.state = SentState::Abandoned;
        sent.chunk.payload = Payload::Sized(0);
        self.sent_bytes -= bytes;
        self.limited -= 1;
        self.abandoned += 1;
    }

    /// Ends a message whose last pieces were never sent with a TSN that never goes
    /// out, so that the peer learns of the end from FORWARD-TSN even where it has
    /// received all the pieces that were sent.
    fn close_message(&mut self, template: DataChunk) {
        let tsn = self.next_tsn();
        self.sent.push_back(Sent {
            chunk: DataChunk { tsn, ..template },
            state: SentState::Abandoned,
            path: 0,
            moved: false,
            transmissions: 0,
            missing: 0,
            fast: false,
            marker: tsn,
            cost: 0,
            sent_at: Time::ZERO,
            limit: Limit::None,
            watched: false,
        });
        self.abandoned += 1;
    }
}

impl Sent {
    fn is_of(&self, id: MessageId) -> bool {
        self.chunk.trace.message == id
    }
}
