//! The receiving half: DATA in, messages and SACKs out.

mod reassembly;
mod sack;
mod streams;
mod tsn_map;

use std::collections::VecDeque;

use headway_sansio::Time;

use crate::{Config, DataChunk, Event, Received, Tsn};
use reassembly::Reassembly;
use sack::Acknowledgement;
use streams::Streams;
use tsn_map::{Place, TsnMap};

/// Everything about the DATA that this side receives.
#[derive(Debug)]
pub(crate) struct Inbound {
    tsns: TsnMap,
    reassembly: Reassembly,
    streams: Streams,
    /// Bytes delivered that the user has not read.
    unread: u32,
    pub(crate) acknowledgement: Acknowledgement,
}

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
            streams: Streams::default(),
            unread: 0,
            acknowledgement: Acknowledgement::new(config),
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
        self.reassembly.bytes()
    }

    pub(crate) const fn unread_bytes(&self) -> u32 {
        self.unread
    }

    const fn used(&self) -> u32 {
        self.unread + self.held_bytes() + self.partial_bytes()
    }

    /// Takes one DATA chunk of a stream that exists.
    pub(crate) fn take(
        &mut self,
        config: &Config,
        now: Time,
        chunk: DataChunk,
        events: &mut VecDeque<Event>,
    ) -> Arrival {
        let place = self.tsns.place(chunk.tsn);
        if place == Place::Duplicate {
            self.acknowledgement.duplicate(chunk.tsn);
            return Arrival::Duplicate;
        }
        if let Some(refused) = self.refuse(config, place) {
            return refused;
        }
        let bytes = chunk.payload.len() as u32;
        self.tsns.insert(chunk.tsn);
        self.acknowledgement.received(bytes);
        let message = if chunk.begin && chunk.end {
            Received {
                stream: chunk.stream,
                ssn: chunk.ssn,
                ppid: chunk.ppid,
                unordered: chunk.unordered,
                payload: chunk.payload,
                first_tsn: chunk.tsn,
                last_tsn: chunk.tsn,
                complete_at: now,
            }
        } else {
            match self.reassembly.insert(now, chunk) {
                Ok(Some(message)) => message,
                Ok(None) => return Arrival::New,
                Err(_) => return Arrival::Contradiction,
            }
        };
        if message.unordered {
            self.unread += message.payload.len() as u32;
            events.push_back(Event::Message(message));
        } else {
            self.unread += self.streams.insert(message, events);
        }
        Arrival::New
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

    /// Whether a new chunk must be refused because of the buffer (section 6.2).
    fn refuse(&self, config: &Config, place: Place) -> Option<Arrival> {
        if place == Place::TooFar {
            return Some(Arrival::Dropped);
        }
        let used = self.used();
        if used < config.receive_buffer_bytes {
            return None;
        }
        // What repairs a gap frees more than it takes, and a message longer than
        // the buffer could never be finished otherwise. Both go on up to twice
        // the buffer, so that a hostile peer cannot fill the memory.
        let repairs = place == Place::Below || self.tsns.has_gap() && place == Place::Next;
        let only_way = place == Place::Next && self.unread == 0;
        if !repairs && !only_way {
            Some(Arrival::Dropped)
        } else if used >= config.receive_buffer_bytes.saturating_mul(2) {
            Some(Arrival::Exhausted)
        } else {
            None
        }
    }

    /// Notes that the user read a message, and asks for a SACK where that opens
    /// a window that the peer believes closed (section 6.2).
    pub(crate) fn read(&mut self, config: &Config, bytes: u32) {
        self.unread -= bytes;
        let free = config.receive_buffer_bytes.saturating_sub(self.used());
        self.acknowledgement.opened(config, free);
    }
}
