//! Messages that do not come whole: in parts because they do not fit the buffer
//! (RFC 9260, section 6.9), or not at all because they were given up (RFC 3758,
//! section 3.6).

use std::collections::VecDeque;

use super::Inbound;
use super::interleaved::Interleaved;
use super::reassembly::{Outcome, Reassembly};
use super::streams::Streams;
use super::tsn_map::TsnMap;
use crate::{Config, Event, ForwardTsn, Part, Received, Skipped, Tsn};

impl Inbound {
    /// Delivers what became whole, or a part.
    pub(super) fn deliver(&mut self, outcome: Outcome, events: &mut VecDeque<Event>) {
        match outcome {
            Outcome::Nothing => {}
            Outcome::Part(part) => self.deliver_part(part, events),
            Outcome::Whole(message) => self.deliver_whole(message, events),
        }
    }

    /// Delivers a message when its turn comes, which for an unordered one is now.
    #[inline]
    pub(super) fn deliver_whole(&mut self, message: Received, events: &mut VecDeque<Event>) {
        if message.unordered {
            self.count_unread((message.payload.len() as u32, 1));
            events.push_back(Event::Message(message));
        } else {
            let delivered = self.streams.insert(message, events);
            self.count_unread(delivered);
        }
    }

    fn deliver_part(&mut self, part: Part, events: &mut VecDeque<Event>) {
        self.count_unread((part.payload.len() as u32, 1));
        let ended = (part.end && !part.unordered).then_some(part.stream);
        events.push_back(Event::Part(part));
        if let Some(stream) = ended {
            let delivered = self.streams.pass(stream, events);
            self.count_unread(delivered);
        }
    }

    fn count_unread(&mut self, (bytes, messages): (u32, u32)) {
        self.unread += bytes;
        self.unread_messages += messages;
    }

    /// Where messages that are not whole leave little of the buffer, the one of
    /// which most can be delivered comes in parts from now on. `chunk`: payload of
    /// the chunk that has just arrived; a window in which no such chunk fits would
    /// stop the peer.
    #[inline(never)]
    pub(super) fn relieve(&mut self, config: &Config, chunk: u32, events: &mut VecDeque<Event>) {
        let buffer = config.receive_buffer_bytes;
        let kept = self.held_bytes() + self.partial_bytes();
        let least = (2 * chunk.max(config.pmdcs_bytes())).min(buffer / 2);
        if self.partial_bytes() == 0 || kept + least <= buffer {
            return;
        }
        let streams = &self.streams;
        let may_mid = |stream, unordered, mid| unordered || streams.is_next(stream, mid);
        let may_ssn = |stream, unordered, ssn| {
            let mid = streams.number_of(stream, ssn);
            (unordered || streams.is_next(stream, mid)).then_some(mid)
        };
        let mixed = self.interleaved.longest_head(may_mid);
        let plain = self.reassembly.longest_head(may_ssn);
        let part = match (mixed, plain) {
            (Some((a, key)), plain) if plain.is_none_or(|(b, ..)| a >= b) => {
                self.interleaved.open(key)
            }
            (_, Some((_, run, mid))) => self.reassembly.open(run, mid),
            _ => None,
        };
        if let Some(part) = part {
            self.deliver_part(part, events);
        }
    }

    /// The sender has given up everything up to a TSN that has not arrived, and
    /// messages up to some number in some streams. Says whether that is news.
    pub(crate) fn forward(
        &mut self,
        forward: &ForwardTsn,
        streams: u16,
        events: &mut VecDeque<Event>,
    ) -> bool {
        let point = forward.cumulative_tsn;
        if !self.tsns.forward(point) {
            return false;
        }
        self.reassembly.forward(point, events);
        match &forward.skipped {
            Skipped::Ssns(ssns) => {
                for skipped in ssns.iter().filter(|skipped| skipped.stream < streams) {
                    let mid = self.streams.number_of(skipped.stream, skipped.ssn);
                    let delivered = self.streams.skip(skipped.stream, mid, events);
                    self.count_unread(delivered);
                }
            }
            Skipped::Mids(mids) => {
                for skipped in mids.iter().filter(|skipped| skipped.stream < streams) {
                    let (stream, mid) = (skipped.stream, skipped.mid);
                    self.interleaved
                        .skip(stream, skipped.unordered, mid, events);
                    if !skipped.unordered {
                        let delivered = self.streams.skip(stream, mid, events);
                        self.count_unread(delivered);
                    }
                }
            }
        }
        true
    }

    /// Expects the messages of these streams from number zero again, or those of all
    /// streams where none is named (RFC 6525, section 5.2.2).
    pub(crate) fn restart_streams(&mut self, streams: &[u16]) {
        self.streams.restart(streams);
        self.interleaved.restart(streams);
    }

    /// Expects this TSN next, and message zero in every stream; what is not whole
    /// will not be (RFC 6525, section 5.2.4, rules G4 and G5).
    pub(crate) fn restart(&mut self, next: Tsn) {
        self.tsns = TsnMap::new(next);
        self.reassembly = Reassembly::default();
        self.interleaved = Interleaved::default();
        self.streams = Streams::default();
    }
}
