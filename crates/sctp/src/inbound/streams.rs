//! The order of messages within each stream (RFC 9260, section 6.6).

use std::collections::VecDeque;

use crate::{Event, Received, Ssn, Tsn};

/// Ordered messages that wait for an earlier one of their stream.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// For each stream used so far.
    streams: Vec<Stream>,
    held_bytes: u32,
    held_messages: u32,
}

#[derive(Debug, Default)]
struct Stream {
    next: Ssn,
    /// In order of their SSNs.
    held: VecDeque<Received>,
}

impl Streams {
    pub(crate) fn trim(&mut self) {
        for stream in &mut self.streams {
            stream.held.shrink_to_fit();
        }
    }

    /// Bytes of whole messages that wait for an earlier one.
    pub(crate) const fn held_bytes(&self) -> u32 {
        self.held_bytes
    }

    /// How many whole messages wait for an earlier one.
    pub(crate) const fn held_messages(&self) -> u32 {
        self.held_messages
    }

    /// Takes a whole ordered message and delivers what is in order now. Says how
    /// many bytes and messages that is.
    pub(crate) fn insert(&mut self, message: Received, events: &mut VecDeque<Event>) -> (u32, u32) {
        let index = usize::from(message.stream);
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, Stream::default);
        }
        let stream = &mut self.streams[index];
        if message.ssn != stream.next {
            if let Some(bytes) = stream.hold(message) {
                self.held_bytes += bytes;
                self.held_messages += 1;
            }
            return (0, 0);
        }
        let mut delivered = (message.payload.len() as u32, 1);
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
            self.held_messages -= 1;
            delivered.0 += bytes;
            delivered.1 += 1;
            stream.next = stream.next.next();
            events.push_back(Event::Message(held));
        }
        delivered
    }

    /// The stream whose last held message has the highest TSN of all.
    fn highest_stream(&self) -> Option<usize> {
        let mut best: Option<(Tsn, usize)> = None;
        for (index, stream) in self.streams.iter().enumerate() {
            if let Some(held) = stream.held.back()
                && best.is_none_or(|(tsn, _)| tsn.precedes(held.last_tsn))
            {
                best = Some((held.last_tsn, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// The highest TSN of the messages that are last in their streams.
    pub(crate) fn highest(&self) -> Option<Tsn> {
        let stream = &self.streams[self.highest_stream()?];
        stream.held.back().map(|held| held.last_tsn)
    }

    /// Drops the message that [`Self::highest`] named; gives its first and last TSN.
    pub(crate) fn drop_highest(&mut self) -> Option<(Tsn, Tsn)> {
        let index = self.highest_stream()?;
        let dropped = self.streams[index].held.pop_back()?;
        self.held_bytes -= dropped.payload.len() as u32;
        self.held_messages -= 1;
        Some((dropped.first_tsn, dropped.last_tsn))
    }
}

impl Stream {
    /// Keeps a message for later, and says how many bytes that takes: `None` where
    /// its place in the stream is taken or past, which only a faulty peer causes.
    fn hold(&mut self, message: Received) -> Option<u32> {
        if message.ssn.precedes(self.next) {
            return None;
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
            return None;
        }
        let bytes = message.payload.len() as u32;
        self.held.insert(place, message);
        Some(bytes)
    }
}
