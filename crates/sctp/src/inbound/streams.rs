//! The order of messages within each stream (RFC 9260, section 6.6).

use std::collections::VecDeque;

use crate::{Event, Mid, Received, Ssn, Tsn};

/// Ordered messages that wait for an earlier one of their stream.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// For each stream used so far.
    streams: Vec<Stream>,
    held_bytes: u32,
    held_messages: u32,
    /// Messages come as I-DATA, and the TSNs of one need not be neighbours.
    mixed: bool,
}

#[derive(Debug, Default)]
struct Stream {
    /// Number of the message that is delivered next. DATA carries its lower 16 bits.
    next: Mid,
    /// In order of their numbers.
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

    /// The same, counted anew: bytes and messages.
    pub(super) fn count_held(&self) -> (u64, u64) {
        let held = || self.streams.iter().flat_map(|stream| &stream.held);
        let bytes = held().map(|message| message.payload.len() as u64).sum();
        (bytes, held().count() as u64)
    }

    /// Notes that messages come as I-DATA.
    pub(super) const fn mix(&mut self) {
        self.mixed = true;
    }

    pub(super) const fn is_mixed(&self) -> bool {
        self.mixed
    }

    fn stream(&mut self, stream: u16) -> &mut Stream {
        let index = usize::from(stream);
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, Stream::default);
        }
        &mut self.streams[index]
    }

    fn next_of(&self, stream: u16) -> Mid {
        self.streams
            .get(usize::from(stream))
            .map_or(Mid(0), |stream| stream.next)
    }

    /// The number of an ordered message of DATA: the one nearest to what is next.
    pub(super) fn number_of(&self, stream: u16, ssn: Ssn) -> Mid {
        nearest(self.next_of(stream), ssn)
    }

    /// Whether this message is the one that is delivered next.
    pub(super) fn is_next(&self, stream: u16, mid: Mid) -> bool {
        self.next_of(stream) == mid
    }

    /// Whether this message was delivered or skipped before.
    pub(super) fn is_past(&self, stream: u16, mid: Mid) -> bool {
        mid.precedes(self.next_of(stream))
    }

    /// Takes a whole ordered message and delivers what is in order now. Says how
    /// many bytes and messages that is.
    pub(crate) fn insert(
        &mut self,
        mut message: Received,
        events: &mut VecDeque<Event>,
    ) -> (u32, u32) {
        let mixed = self.mixed;
        let stream = self.stream(message.stream);
        if !mixed {
            message.mid = nearest(stream.next, message.ssn);
        }
        if message.mid != stream.next {
            if let Some(bytes) = stream.hold(message) {
                self.held_bytes += bytes;
                self.held_messages += 1;
            }
            return (0, 0);
        }
        let (index, bytes) = (message.stream, message.payload.len() as u32);
        events.push_back(Event::Message(message));
        stream.next = stream.next.next();
        if stream.held.is_empty() {
            return (bytes, 1);
        }
        let (more_bytes, more) = self.release(index, events);
        (bytes + more_bytes, 1 + more)
    }

    /// Goes on to the next message of a stream, and delivers what is in order now.
    pub(super) fn pass(&mut self, stream: u16, events: &mut VecDeque<Event>) -> (u32, u32) {
        let entry = self.stream(stream);
        entry.next = entry.next.next();
        if entry.held.is_empty() {
            return (0, 0);
        }
        self.release(stream, events)
    }

    /// Skips all messages of a stream up to `last`: those that are here are
    /// delivered, the others will not come (RFC 3758, section 3.6).
    pub(super) fn skip(
        &mut self,
        stream: u16,
        last: Mid,
        events: &mut VecDeque<Event>,
    ) -> (u32, u32) {
        let entry = self.stream(stream);
        if last.precedes(entry.next) {
            return (0, 0);
        }
        let mut sum = (0, 0);
        while let Some(held) = self.stream(stream).held.front()
            && !last.precedes(held.mid)
        {
            self.stream(stream).next = held.mid;
            let (bytes, messages) = self.release(stream, events);
            sum = (sum.0 + bytes, sum.1 + messages);
        }
        let entry = self.stream(stream);
        if !last.precedes(entry.next) {
            entry.next = last.next();
        }
        let (bytes, messages) = self.release(stream, events);
        (sum.0 + bytes, sum.1 + messages)
    }

    /// Delivers the messages of a stream that are in order.
    fn release(&mut self, stream: u16, events: &mut VecDeque<Event>) -> (u32, u32) {
        let Some(stream) = self.streams.get_mut(usize::from(stream)) else {
            return (0, 0);
        };
        let mut delivered = (0, 0);
        while stream
            .held
            .front()
            .is_some_and(|held| held.mid == stream.next)
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

    /// Expects message zero of these streams next, or of all where none is named.
    pub(super) fn restart(&mut self, streams: &[u16]) {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if streams.is_empty() || streams.contains(&(index as u16)) {
                stream.next = Mid(0);
            }
        }
    }

    /// The stream whose last held message has the highest TSN of all.
    fn highest_stream(&self) -> Option<usize> {
        let mut best: Option<(Tsn, usize)> = None;
        for (index, stream) in self.streams.iter().enumerate() {
            // Of a message of I-DATA with several chunks the TSNs are not known here.
            if let Some(held) = stream.held.back()
                && (!self.mixed || held.first_tsn == held.last_tsn)
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

/// The number with these lower 16 bits that is nearest to `next`.
fn nearest(next: Mid, ssn: Ssn) -> Mid {
    let ahead = ssn.0.wrapping_sub(next.0 as u16) as i16;
    Mid(next.0.wrapping_add_signed(i32::from(ahead)))
}

impl Stream {
    /// Keeps a message for later, and says how many bytes that takes: `None` where
    /// its place in the stream is taken or past, which only a faulty peer causes.
    fn hold(&mut self, message: Received) -> Option<u32> {
        if message.mid.precedes(self.next) {
            return None;
        }
        let place = match self.held.back() {
            Some(last) if last.mid.precedes(message.mid) => self.held.len(),
            _ => self
                .held
                .partition_point(|held| held.mid.precedes(message.mid)),
        };
        if self
            .held
            .get(place)
            .is_some_and(|held| held.mid == message.mid)
        {
            return None;
        }
        let bytes = message.payload.len() as u32;
        self.held.insert(place, message);
        Some(bytes)
    }
}
