//! Puts the pieces of messages together that come as I-DATA (RFC 8260, section
//! 2.2.3): by stream, kind and message, whatever their TSNs.

use std::collections::{BTreeMap, VecDeque};

use headway_sansio::{Payload, Time};

use super::reassembly::{Contradiction, Outcome};
use crate::{DataChunk, Event, Interleaving, Mid, Part, Received, Ssn, Tsn};

/// Pieces of messages that are not whole yet.
#[derive(Debug, Default)]
pub(super) struct Interleaved {
    messages: BTreeMap<Key, Partial>,
    bytes: u32,
    pieces: u32,
    /// The last unordered message of a stream that will not be finished.
    skipped: BTreeMap<u16, Mid>,
}

/// So far behind the last skipped message one of its own pieces may come late.
const LATE_MIDS: u32 = 1024;

/// Stream, whether unordered, message.
type Key = (u16, bool, u32);

#[derive(Debug, Default)]
struct Partial {
    /// In order of their numbers.
    pieces: VecDeque<Piece>,
    /// Of the first piece, once that is there.
    ppid: u32,
    begun: bool,
    /// Number of the last piece, once that is there.
    end: Option<u32>,
    /// The first piece that was not given out.
    next: u32,
    /// Bytes that were given out.
    given: u64,
    /// It comes in parts.
    open: bool,
}

#[derive(Debug)]
struct Piece {
    number: u32,
    tsn: Tsn,
    payload: Payload,
}

impl Interleaved {
    pub(super) const fn bytes(&self) -> u32 {
        self.bytes
    }

    pub(super) const fn pieces(&self) -> u32 {
        self.pieces
    }

    /// Bytes and number of the pieces, counted anew.
    pub(super) fn count(&self) -> (u64, u64) {
        let pieces = || self.messages.values().flat_map(|message| &message.pieces);
        let bytes = pieces().map(|piece| piece.payload.len() as u64).sum();
        (bytes, pieces().count() as u64)
    }

    /// Takes one piece, and gives what that makes whole.
    pub(super) fn insert(
        &mut self,
        now: Time,
        chunk: &mut DataChunk,
        numbers: Interleaving,
    ) -> Result<Outcome, Contradiction> {
        let key = (chunk.stream, chunk.unordered, numbers.mid.0);
        let message = self.messages.entry(key).or_default();
        message.check(chunk, numbers.fsn)?;
        let place = message.place(numbers.fsn);
        if message
            .pieces
            .get(place)
            .is_some_and(|piece| piece.number == numbers.fsn)
        {
            return Err(Contradiction);
        }
        if chunk.begin {
            message.begun = true;
            message.ppid = chunk.ppid;
        }
        if chunk.end {
            message.end = Some(numbers.fsn);
        }
        self.bytes += chunk.payload.len() as u32;
        self.pieces += 1;
        message.pieces.insert(
            place,
            Piece {
                number: numbers.fsn,
                tsn: chunk.tsn,
                payload: chunk.take_payload(),
            },
        );
        if message.open {
            return Ok(self.give(key).map_or(Outcome::Nothing, Outcome::Part));
        }
        if !message.is_whole() {
            return Ok(Outcome::Nothing);
        }
        let Some(message) = self.messages.remove(&key) else {
            return Ok(Outcome::Nothing);
        };
        self.pieces -= message.pieces.len() as u32;
        let whole = message.into_received(key, now);
        self.bytes -= whole.payload.len() as u32;
        Ok(Outcome::Whole(whole))
    }

    /// Whether a piece is of an unordered message that was skipped. With several streams
    /// taking turns a message's last pieces may have TSNs behind the point to which the
    /// peer moved this side on, and nothing else is said of them. Messages of a stream do
    /// not mix (RFC 8260, section 2.2.2), so that what is before a skipped one is over.
    pub(super) fn is_past(&mut self, stream: u16, mid: Mid) -> bool {
        let Some(&last) = self.skipped.get(&stream) else {
            return false;
        };
        if last.precedes(mid) {
            // Long before numbers come round again nothing is late any more.
            if mid.0.wrapping_sub(last.0) > LATE_MIDS {
                self.skipped.remove(&stream);
            }
            return false;
        }
        last.0.wrapping_sub(mid.0) < LATE_MIDS
    }

    /// Streams begin anew, or all where none is named: their numbers do as well.
    pub(super) fn restart(&mut self, streams: &[u16]) {
        self.skipped
            .retain(|stream, _| !(streams.is_empty() || streams.contains(stream)));
    }

    /// Gives out what there is without a gap of a message that comes in parts.
    fn give(&mut self, key: Key) -> Option<Part> {
        let message = self.messages.get_mut(&key)?;
        let ready = message.ready();
        if ready == 0 {
            return None;
        }
        let payload = Payload::concat(message.pieces.iter().take(ready).map(|p| &p.payload));
        message.pieces.drain(..ready);
        message.next = message.next.wrapping_add(ready as u32);
        let offset_bytes = message.given;
        message.given += payload.len() as u64;
        self.bytes -= payload.len() as u32;
        self.pieces -= ready as u32;
        let end = message
            .end
            .is_some_and(|last| last.wrapping_add(1) == message.next);
        let (stream, unordered, mid) = key;
        let part = Part {
            stream,
            mid: Mid(mid),
            ppid: message.ppid,
            unordered,
            offset_bytes,
            payload,
            end,
        };
        if end {
            self.messages.remove(&key);
        }
        Some(part)
    }

    /// Bytes at the beginning of the message that has most of them, of those that
    /// may be delivered, and which it is.
    pub(super) fn longest_head(&self, may: impl Fn(u16, bool, Mid) -> bool) -> Option<(u32, Key)> {
        let mut best: Option<(u32, Key)> = None;
        for (&key, message) in &self.messages {
            if message.open || !may(key.0, key.1, Mid(key.2)) {
                continue;
            }
            let ready = message.pieces.iter().take(message.ready());
            let bytes: u32 = ready.map(|piece| piece.payload.len() as u32).sum();
            if bytes > 0 && best.is_none_or(|(most, _)| bytes > most) {
                best = Some((bytes, key));
            }
        }
        best
    }

    /// Delivers a message in parts from now on.
    pub(super) fn open(&mut self, key: Key) -> Option<Part> {
        self.messages.get_mut(&key)?.open = true;
        self.give(key)
    }

    /// Drops the messages of a stream up to `last`, which will not be finished
    /// (RFC 8260, section 2.3.1).
    pub(super) fn skip(
        &mut self,
        stream: u16,
        unordered: bool,
        last: Mid,
        events: &mut VecDeque<Event>,
    ) {
        if unordered {
            self.skipped.insert(stream, last);
        }
        let of_stream = (stream, unordered, 0)..=(stream, unordered, u32::MAX);
        let gone: Vec<Key> = self
            .messages
            .range(of_stream)
            .map(|(&key, _)| key)
            .filter(|key| !last.precedes(Mid(key.2)))
            .collect();
        for key in gone {
            let Some(message) = self.messages.remove(&key) else {
                continue;
            };
            self.pieces -= message.pieces.len() as u32;
            let bytes: usize = message.pieces.iter().map(|p| p.payload.len()).sum();
            self.bytes -= bytes as u32;
            if message.open {
                events.push_back(Event::PartAbandoned {
                    stream,
                    mid: Mid(key.2),
                    unordered,
                });
            }
        }
    }

    /// The highest TSN of all pieces, as serial numbers after `floor` go, with the
    /// piece that has it.
    fn highest_piece(&self, floor: Tsn) -> Option<(Key, usize, Tsn)> {
        let mut best: Option<(Key, usize, Tsn)> = None;
        for (&key, message) in &self.messages {
            for (index, piece) in message.pieces.iter().enumerate() {
                if floor.precedes(piece.tsn)
                    && best.is_none_or(|(_, _, tsn)| tsn.precedes(piece.tsn))
                {
                    best = Some((key, index, piece.tsn));
                }
            }
        }
        best
    }

    pub(super) fn highest(&self, floor: Tsn) -> Option<Tsn> {
        self.highest_piece(floor).map(|(_, _, tsn)| tsn)
    }

    /// Drops the piece that [`Self::highest`] named.
    pub(super) fn drop_highest(&mut self, floor: Tsn) {
        let Some((key, index, _)) = self.highest_piece(floor) else {
            return;
        };
        let Some(message) = self.messages.get_mut(&key) else {
            return;
        };
        let Some(piece) = message.pieces.remove(index) else {
            return;
        };
        self.bytes -= piece.payload.len() as u32;
        self.pieces -= 1;
        if message.end == Some(piece.number) {
            message.end = None;
        }
        if piece.number == 0 && !message.open {
            message.begun = false;
        }
        if message.pieces.is_empty() && !message.open {
            self.messages.remove(&key);
        }
    }
}

impl Partial {
    /// Whether a piece contradicts what is there.
    fn check(&self, chunk: &DataChunk, number: u32) -> Result<(), Contradiction> {
        let before = |a: u32, b: u32| (a.wrapping_sub(b) as i32) < 0;
        let newest = self.pieces.back().map(|piece| piece.number);
        let fault = before(number, self.next)
            || chunk.begin && self.begun
            || !chunk.begin && number == 0 && !self.open
            || self.end.is_some_and(|end| chunk.end || before(end, number))
            || chunk.end && newest.is_some_and(|newest| before(number, newest));
        if fault { Err(Contradiction) } else { Ok(()) }
    }

    /// Where a piece belongs.
    fn place(&self, number: u32) -> usize {
        let distance = number.wrapping_sub(self.next);
        match self.pieces.back() {
            Some(last) if last.number.wrapping_sub(self.next) >= distance => self
                .pieces
                .partition_point(|piece| piece.number.wrapping_sub(self.next) < distance),
            _ => self.pieces.len(),
        }
    }

    /// How many pieces there are without a gap from the first that was not given out.
    fn ready(&self) -> usize {
        if !self.begun {
            return 0;
        }
        let expected = |&(index, piece): &(usize, &Piece)| {
            piece.number == self.next.wrapping_add(index as u32)
        };
        self.pieces.iter().enumerate().take_while(expected).count()
    }

    fn is_whole(&self) -> bool {
        // Numbers are distinct, and none lies beyond the last.
        self.begun
            && self
                .end
                .is_some_and(|end| self.pieces.len() as u32 == end.wrapping_add(1))
    }

    fn into_received(self, (stream, unordered, mid): Key, complete_at: Time) -> Received {
        let tsn = |piece: Option<&Piece>| piece.map_or(Tsn::default(), |piece| piece.tsn);
        Received {
            stream,
            ssn: Ssn(mid as u16),
            mid: Mid(mid),
            ppid: self.ppid,
            unordered,
            first_tsn: tsn(self.pieces.front()),
            last_tsn: tsn(self.pieces.back()),
            payload: Payload::concat(self.pieces.iter().map(|piece| &piece.payload)),
            complete_at,
        }
    }
}
