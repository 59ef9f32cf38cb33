//! The receiving half: DATA in, messages and SACKs out.

mod books;
mod interleaved;
mod partial;
mod reassembly;
mod sack;
mod streams;
mod tsn_map;

use std::collections::VecDeque;

use headway_sansio::Time;

use crate::{Config, DataChunk, Event, Mid, Received, Ssn, Tsn};
use interleaved::Interleaved;
use reassembly::{Contradiction, Outcome, Reassembly};
use sack::Acknowledgement;
use streams::Streams;
use tsn_map::{Place, TsnMap};

/// Everything about the DATA that this side receives.
#[derive(Debug)]
pub(crate) struct Inbound {
    tsns: TsnMap,
    /// Of DATA.
    reassembly: Reassembly,
    /// Of I-DATA.
    interleaved: Interleaved,
    streams: Streams,
    /// Bytes delivered that the user has not read, and of how many messages.
    unread: u32,
    unread_messages: u32,
    /// Chunks acknowledged beyond a gap and dropped again.
    reneged: u64,
    pub(crate) acknowledgement: Acknowledgement,
}

/// A chunk that waits counts as so many bytes at least.
const BYTES_OF_A_CHUNK: u32 = 32;
/// So many chunks may wait however small the buffer is.
const LEAST_CHUNKS: u32 = 512;

/// What became of a DATA chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// Taken.
    New,
    /// It had arrived before.
    Duplicate,
    /// There is no room for it.
    Dropped,
    /// The peer's pieces contradict each other.
    Contradiction,
    /// Even the room for repairing gaps is used up.
    Exhausted,
}

impl Inbound {
    pub(crate) fn new(config: &Config, initial: Tsn) -> Self {
        Self {
            tsns: TsnMap::new(initial),
            reassembly: Reassembly::default(),
            interleaved: Interleaved::default(),
            streams: Streams::default(),
            unread: 0,
            unread_messages: 0,
            reneged: 0,
            acknowledgement: Acknowledgement::new(config),
        }
    }

    /// The same for a peer that has begun anew. What the user has not read stays.
    pub(crate) fn anew(&self, config: &Config, initial: Tsn) -> Self {
        Self {
            unread: self.unread,
            unread_messages: self.unread_messages,
            ..Self::new(config, initial)
        }
    }

    pub(crate) const fn cumulative(&self) -> Tsn {
        self.tsns.cumulative()
    }

    pub(crate) fn has_gap(&self) -> bool {
        self.tsns.has_gap()
    }

    pub(crate) const fn held_bytes(&self) -> u32 {
        self.streams.held_bytes()
    }

    pub(crate) const fn partial_bytes(&self) -> u32 {
        self.reassembly.bytes() + self.interleaved.bytes()
    }

    pub(crate) const fn unread_bytes(&self) -> u32 {
        self.unread
    }

    /// Gives back memory that nothing needs now.
    pub(crate) fn trim(&mut self) {
        self.tsns.trim();
        self.reassembly.trim();
        self.streams.trim();
    }

    /// Chunks acknowledged beyond a gap and dropped since the last question.
    pub(crate) fn take_reneged(&mut self) -> u64 {
        core::mem::take(&mut self.reneged)
    }

    const fn used(&self) -> u32 {
        self.unread + self.held_bytes() + self.partial_bytes()
    }

    /// Takes one DATA chunk of a stream that exists, out of which the payload is moved.
    #[inline]
    pub(crate) fn take(
        &mut self,
        config: &Config,
        now: Time,
        chunk: &mut DataChunk,
        events: &mut VecDeque<Event>,
    ) -> Arrival {
        let place = self.tsns.place(chunk.tsn);
        if place == Place::Duplicate {
            self.acknowledgement.duplicate(chunk.tsn);
            return Arrival::Duplicate;
        }
        if let Some(refused) = self.refuse(config, place, chunk.tsn) {
            return refused;
        }
        let bytes = chunk.payload.len() as u32;
        self.tsns.insert(chunk.tsn);
        self.acknowledgement.received(bytes);
        if chunk.begin && chunk.end {
            self.take_whole(now, chunk, events);
        } else {
            match self.assemble(now, chunk) {
                Ok(outcome) => self.deliver(outcome, events),
                Err(_) => return Arrival::Contradiction,
            }
        }
        if config.partial_delivery {
            self.relieve(config, bytes, events);
        }
        Arrival::New
    }

    /// Takes a chunk that is a whole message.
    #[inline]
    fn take_whole(&mut self, now: Time, chunk: &mut DataChunk, events: &mut VecDeque<Event>) {
        let (ssn, mid) = match chunk.interleaving {
            None => (chunk.ssn, Mid(0)),
            Some(numbers) => {
                self.streams.mix();
                (Ssn(numbers.mid.0 as u16), numbers.mid)
            }
        };
        self.deliver_whole(
            Received {
                stream: chunk.stream,
                ssn,
                mid,
                ppid: chunk.ppid,
                unordered: chunk.unordered,
                payload: chunk.take_payload(),
                first_tsn: chunk.tsn,
                last_tsn: chunk.tsn,
                complete_at: now,
            },
            events,
        );
    }

    /// Puts a piece to what else is there of its message.
    #[inline(never)]
    fn assemble(&mut self, now: Time, chunk: &mut DataChunk) -> Result<Outcome, Contradiction> {
        let Some(numbers) = chunk.interleaving else {
            return self.reassembly.insert(now, chunk);
        };
        self.streams.mix();
        let given_up = if chunk.unordered {
            self.interleaved.is_past(chunk.stream, numbers.mid)
        } else {
            self.streams.is_past(chunk.stream, numbers.mid)
        };
        if given_up {
            return Ok(Outcome::Nothing);
        }
        self.interleaved.insert(now, chunk, numbers)
    }

    /// Notes a TSN whose chunk is thrown away, as for a stream that does not exist
    /// (section 6.5: acknowledged all the same).
    pub(crate) fn skip(&mut self, tsn: Tsn) {
        match self.tsns.place(tsn) {
            Place::Duplicate => self.acknowledgement.duplicate(tsn),
            Place::TooFar => {}
            Place::Next | Place::Below | Place::Above => self.tsns.insert(tsn),
        }
    }

    /// Room in the buffer, in bytes. Chunks cost memory beside their bytes, so that
    /// very short ones count as more than they carry.
    fn free_bytes(&self, config: &Config) -> u32 {
        let chunks = self.reassembly.pieces()
            + self.interleaved.pieces()
            + self.streams.held_messages()
            + self.unread_messages;
        let most = LEAST_CHUNKS.max(config.receive_buffer_bytes / BYTES_OF_A_CHUNK);
        let bytes = config.receive_buffer_bytes.saturating_sub(self.used());
        bytes.min(most.saturating_sub(chunks) * BYTES_OF_A_CHUNK)
    }

    /// The buffer takes no more.
    fn is_full(&self, config: &Config) -> bool {
        self.free_bytes(config) == 0
    }

    /// Whether a new chunk must be refused because of the buffer (section 6.2).
    #[inline]
    fn refuse(&mut self, config: &Config, place: Place, tsn: Tsn) -> Option<Arrival> {
        if place == Place::TooFar {
            return Some(Arrival::Dropped);
        }
        if !self.is_full(config) {
            return None;
        }
        self.refuse_when_full(config, place, tsn)
    }

    #[cold]
    fn refuse_when_full(&mut self, config: &Config, place: Place, tsn: Tsn) -> Option<Arrival> {
        let repairs = place == Place::Below || self.tsns.has_gap() && place == Place::Next;
        if repairs {
            // What closes a gap takes the place of what lies furthest beyond it.
            while self.is_full(config) && self.drop_highest(tsn) {}
        }
        if !self.is_full(config) {
            return None;
        }
        // A message longer than the buffer could never be finished otherwise. It
        // goes on up to twice the buffer, so that a hostile peer cannot fill the
        // memory.
        let only_way = place == Place::Next && self.unread == 0;
        if !only_way {
            Some(Arrival::Dropped)
        } else if self.used() >= config.receive_buffer_bytes.saturating_mul(2) {
            Some(Arrival::Exhausted)
        } else {
            None
        }
    }

    /// Drops what is held for reordering with the highest TSN, if that is above
    /// `tsn`. Says whether there was such a thing.
    fn drop_highest(&mut self, tsn: Tsn) -> bool {
        let floor = self.tsns.cumulative();
        let beyond = |last: &Tsn| floor.precedes(*last) && tsn.precedes(*last);
        let piece = self.reassembly.highest().filter(beyond);
        let message = self.streams.highest().filter(beyond);
        if self.streams.is_mixed()
            && let Some(piece) = self.interleaved.highest(floor).filter(beyond)
            && message.is_none_or(|held| held.precedes(piece))
        {
            self.interleaved.drop_highest(floor);
            self.tsns.remove(piece, piece);
            self.reneged += 1;
            return true;
        }
        let (first, last) = match (piece, message) {
            (Some(piece), message) if message.is_none_or(|held| held.precedes(piece)) => {
                self.reassembly.drop_highest();
                (piece, piece)
            }
            (_, Some(_)) => match self.streams.drop_highest() {
                Some(span) => span,
                None => return false,
            },
            _ => return false,
        };
        self.tsns.remove(first, last);
        self.reneged += u64::from(last.distance_from(first)) + 1;
        true
    }

    /// Notes that the user read a message, and asks for a SACK where that opens
    /// a window that the peer believes closed (section 6.2).
    pub(crate) fn read(&mut self, config: &Config, bytes: u32) {
        self.unread = self.unread.saturating_sub(bytes);
        self.unread_messages = self.unread_messages.saturating_sub(1);
        if self.acknowledgement.is_nearly_closed(config) {
            let free = self.free_bytes(config);
            self.acknowledgement.opened(config, free);
        }
    }
}
