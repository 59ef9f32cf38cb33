//! The order of messages within each stream (RFC 9260, section 6.6).

use std::collections::VecDeque;

use crate::{Event, Received, Ssn};

/// Ordered messages that wait for an earlier one of their stream.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// For each stream used so far.
    streams: Vec<Stream>,
    held_bytes: u32,
}

#[derive(Debug, Default)]
struct Stream {
    next: Ssn,
    /// In order of their SSNs.
    held: VecDeque<Received>,
}

impl Streams {
    /// Bytes of whole messages that wait for an earlier one.
    pub(crate) const fn held_bytes(&self) -> u32 {
        self.held_bytes
    }

    /// Takes a whole ordered message and delivers what is in order now. Says how
    /// many bytes that is.
    pub(crate) fn insert(&mut self, message: Received, events: &mut VecDeque<Event>) -> u32 {
        let index = usize::from(message.stream);
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, Stream::default);
        }
        let stream = &mut self.streams[index];
        if message.ssn != stream.next {
            self.held_bytes += stream.hold(message);
            return 0;
        }
        let mut delivered = message.payload.len() as u32;
        stream.next = stream.next.next();
        events.push_back(Event::Message(message));
        while stream
            .held
            .front()
            .is_some_and(|held| held.ssn == stream.next)
        {
            let Some(held) = stream.held.pop_front() else {
                break;
            };
            let bytes = held.payload.len() as u32;
            self.held_bytes -= bytes;
            delivered += bytes;
            stream.next = stream.next.next();
            events.push_back(Event::Message(held));
        }
        delivered
    }
}

impl Stream {
    /// Keeps a message for later, and says how many bytes that takes: none where
    /// its place in the stream is taken or past, which only a faulty peer causes.
    fn hold(&mut self, message: Received) -> u32 {
        if message.ssn.precedes(self.next) {
            return 0;
        }
        let place = match self.held.back() {
            Some(last) if last.ssn.precedes(message.ssn) => self.held.len(),
            _ => self
                .held
                .partition_point(|held| held.ssn.precedes(message.ssn)),
        };
        if self
            .held
            .get(place)
            .is_some_and(|held| held.ssn == message.ssn)
        {
            return 0;
        }
        let bytes = message.payload.len() as u32;
        self.held.insert(place, message);
        bytes
    }
}
