//! Puts the pieces of messages together (RFC 9260, section 6.9).
//!
//! The pieces of a message bear TSNs without a break, so pieces are kept as runs
//! of neighbouring TSNs, whatever their streams; a run that has a first and a
//! last piece is a message.

use std::collections::VecDeque;

use headway_sansio::{Payload, Time};

use crate::{DataChunk, Event, Mid, Part, Received, Ssn, Tsn};

/// Neighbouring pieces of one message.
#[derive(Debug)]
struct Run {
    first: Tsn,
    last: Tsn,
    begin: bool,
    end: bool,
    stream: u16,
    ssn: Ssn,
    unordered: bool,
    ppid: u32,
    /// Those not given out; none where the message comes in parts.
    pieces: VecDeque<Payload>,
    /// Where the message comes in parts: its number, and the bytes given out.
    open: Option<(Mid, u64)>,
}

/// What a piece leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Nothing,
    Whole(Received),
    Part(Part),
}

/// The peer's pieces contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Contradiction;

/// Pieces of messages that are not whole yet.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// In order of their TSNs, never overlapping.
    runs: VecDeque<Run>,
    bytes: u32,
    pieces: u32,
}

impl Reassembly {
    pub(crate) fn trim(&mut self) {
        self.runs.shrink_to_fit();
    }

    /// Bytes of all pieces.
    pub(crate) const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// How many pieces there are.
    pub(crate) const fn pieces(&self) -> u32 {
        self.pieces
    }

    /// Both, counted anew.
    pub(super) fn count(&self) -> (u64, u64) {
        let pieces = || self.runs.iter().flat_map(|run| &run.pieces);
        let bytes = pieces().map(|piece| piece.len() as u64).sum();
        (bytes, pieces().count() as u64)
    }

    /// The highest TSN of all pieces.
    pub(crate) fn highest(&self) -> Option<Tsn> {
        self.highest_run().map(|index| self.runs[index].last)
    }

    /// The last run of which pieces are here.
    fn highest_run(&self) -> Option<usize> {
        self.runs.iter().rposition(|run| !run.pieces.is_empty())
    }

    /// Drops the piece with the highest TSN.
    pub(crate) fn drop_highest(&mut self) {
        let Some(index) = self.highest_run() else {
            return;
        };
        let run = &mut self.runs[index];
        if let Some(piece) = run.pieces.pop_back() {
            self.bytes -= piece.len() as u32;
            self.pieces -= 1;
        }
        run.end = false;
        run.last = run.last.previous();
        if run.pieces.is_empty() {
            self.runs.remove(index);
        }
    }

    /// Drops what can never be finished, as a TSN that it lacks will not come
    /// (RFC 3758, section 3.6).
    pub(super) fn forward(&mut self, point: Tsn, events: &mut VecDeque<Event>) {
        let (mut bytes, mut pieces) = (0, 0);
        self.runs.retain(|run| {
            let headless = !run.begin && !point.precedes(run.first.previous());
            let tailless = !run.end && !point.precedes(run.last.next());
            if !headless && !tailless {
                return true;
            }
            bytes += run.pieces.iter().map(|p| p.len() as u32).sum::<u32>();
            pieces += run.pieces.len() as u32;
            if let Some((mid, _)) = run.open {
                events.push_back(Event::PartAbandoned {
                    stream: run.stream,
                    mid,
                    unordered: run.unordered,
                });
            }
            false
        });
        self.bytes -= bytes;
        self.pieces -= pieces;
    }

    /// Bytes at the beginning of the message that has most of them, of those that
    /// may be delivered; its place and its number.
    pub(super) fn longest_head(
        &self,
        may: impl Fn(u16, bool, Ssn) -> Option<Mid>,
    ) -> Option<(u32, usize, Mid)> {
        let mut best: Option<(u32, usize, Mid)> = None;
        for (index, run) in self.runs.iter().enumerate() {
            if !run.begin || run.open.is_some() {
                continue;
            }
            let Some(mid) = may(run.stream, run.unordered, run.ssn) else {
                continue;
            };
            let mid = if run.unordered { Mid(run.first.0) } else { mid };
            let bytes: u32 = run.pieces.iter().map(|p| p.len() as u32).sum();
            if best.is_none_or(|(most, ..)| bytes > most) {
                best = Some((bytes, index, mid));
            }
        }
        best
    }

    /// Delivers a message in parts from now on.
    pub(super) fn open(&mut self, index: usize, mid: Mid) -> Option<Part> {
        self.runs.get_mut(index)?.open = Some((mid, 0));
        self.give(index)
    }

    /// Gives out what there is of a message that comes in parts.
    fn give(&mut self, index: usize) -> Option<Part> {
        let run = self.runs.get_mut(index)?;
        let (mid, offset_bytes) = run.open?;
        let payload = Payload::concat(run.pieces.iter());
        let bytes = payload.len();
        run.open = Some((mid, offset_bytes + bytes as u64));
        self.bytes -= bytes as u32;
        self.pieces -= run.pieces.len() as u32;
        run.pieces = VecDeque::new();
        let part = Part {
            stream: run.stream,
            mid,
            ppid: run.ppid,
            unordered: run.unordered,
            offset_bytes,
            payload,
            end: run.end,
        };
        if part.end {
            self.runs.remove(index);
        }
        Some(part)
    }

    /// Takes one piece, and gives the message if that makes it whole.
    pub(super) fn insert(
        &mut self,
        now: Time,
        chunk: &mut DataChunk,
    ) -> Result<Outcome, Contradiction> {
        let tsn = chunk.tsn;
        // Pieces mostly arrive in order, at the end of the last run.
        let index = match self.runs.back() {
            Some(run) if run.first.precedes(tsn) => self.runs.len(),
            _ => self.runs.partition_point(|run| run.first.precedes(tsn)),
        };
        let joins_before = index > 0 && self.runs[index - 1].last.next() == tsn;
        let joins_after = self
            .runs
            .get(index)
            .is_some_and(|run| tsn.next() == run.first);
        // A neighbour is the same message unless one of the two says it ends there.
        let before = joins_before && !(self.runs[index - 1].end && chunk.begin);
        let after = joins_after && !(chunk.end && self.runs[index].begin);
        if before && (self.runs[index - 1].end || chunk.begin || !self.runs[index - 1].fits(chunk))
            || after && (chunk.end || self.runs[index].begin || !self.runs[index].fits(chunk))
        {
            return Err(Contradiction);
        }
        self.bytes += chunk.payload.len() as u32;
        self.pieces += 1;
        let at = match (before, after) {
            (true, false) => {
                let run = &mut self.runs[index - 1];
                run.last = tsn;
                run.end = chunk.end;
                run.pieces.push_back(chunk.take_payload());
                index - 1
            }
            (false, true) => {
                let run = &mut self.runs[index];
                run.first = tsn;
                run.begin = chunk.begin;
                run.ppid = chunk.ppid;
                run.pieces.push_front(chunk.take_payload());
                index
            }
            (true, true) => {
                let following = self.runs.remove(index).ok_or(Contradiction)?;
                let run = &mut self.runs[index - 1];
                run.pieces.push_back(chunk.take_payload());
                run.pieces.extend(following.pieces);
                run.last = following.last;
                run.end = following.end;
                index - 1
            }
            (false, false) => {
                self.runs.insert(index, Run::of(chunk));
                index
            }
        };
        if self.runs[at].open.is_some() {
            return Ok(self.give(at).map_or(Outcome::Nothing, Outcome::Part));
        }
        if !(self.runs[at].begin && self.runs[at].end) {
            return Ok(Outcome::Nothing);
        }
        let run = self.runs.remove(at).ok_or(Contradiction)?;
        self.pieces -= run.pieces.len() as u32;
        let message = run.into_message(now);
        self.bytes -= message.payload.len() as u32;
        Ok(Outcome::Whole(message))
    }
}

impl Run {
    fn of(chunk: &mut DataChunk) -> Self {
        Self {
            first: chunk.tsn,
            last: chunk.tsn,
            begin: chunk.begin,
            end: chunk.end,
            stream: chunk.stream,
            ssn: chunk.ssn,
            unordered: chunk.unordered,
            ppid: chunk.ppid,
            pieces: VecDeque::from([chunk.take_payload()]),
            open: None,
        }
    }

    fn fits(&self, chunk: &DataChunk) -> bool {
        self.stream == chunk.stream
            && self.unordered == chunk.unordered
            && (self.unordered || self.ssn == chunk.ssn)
    }

    fn into_message(self, complete_at: Time) -> Received {
        Received {
            stream: self.stream,
            ssn: self.ssn,
            mid: Mid(0),
            ppid: self.ppid,
            unordered: self.unordered,
            payload: Payload::concat(self.pieces.iter()),
            first_tsn: self.first,
            last_tsn: self.last,
            complete_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;

    fn piece(tsn: u32, begin: bool, end: bool) -> DataChunk {
        DataChunk {
            tsn: Tsn(tsn),
            stream: 0,
            ssn: Ssn(0),
            ppid: tsn,
            unordered: false,
            begin,
            end,
            immediate: false,
            interleaving: None,
            payload: Payload::Sized(10),
            trace: Trace::default(),
        }
    }

    fn insert(
        pieces: &mut Reassembly,
        mut chunk: DataChunk,
    ) -> Result<Option<(u32, u32)>, Contradiction> {
        match pieces.insert(Time::ZERO, &mut chunk)? {
            Outcome::Whole(m) => Ok(Some((m.first_tsn.0, m.last_tsn.0))),
            Outcome::Nothing => Ok(None),
            Outcome::Part(part) => panic!("{part:?}"),
        }
    }

    #[test]
    fn pieces_come_in_any_order() {
        let mut pieces = Reassembly::default();
        // Two neighbouring messages, across the wrap: the end of the first is the
        // last to come.
        let last = u32::MAX;
        assert_eq!(insert(&mut pieces, piece(2, false, true)), Ok(None));
        assert_eq!(insert(&mut pieces, piece(last, false, false)), Ok(None));
        assert_eq!(insert(&mut pieces, piece(last - 1, true, false)), Ok(None));
        assert_eq!(insert(&mut pieces, piece(1, true, false)), Ok(Some((1, 2))));
        assert_eq!(pieces.bytes(), 20);
        assert_eq!(
            insert(&mut pieces, piece(0, false, true)),
            Ok(Some((last - 1, 0)))
        );
        assert_eq!(pieces.bytes(), 0);
    }

    #[test]
    fn a_middle_piece_joins_both_sides() {
        let mut pieces = Reassembly::default();
        assert_eq!(insert(&mut pieces, piece(5, true, false)), Ok(None));
        assert_eq!(insert(&mut pieces, piece(7, false, true)), Ok(None));
        assert_eq!(
            insert(&mut pieces, piece(6, false, false)),
            Ok(Some((5, 7)))
        );
    }

    #[test]
    fn contradictions_are_noticed() {
        let with = |first: DataChunk, second: DataChunk| {
            let mut pieces = Reassembly::default();
            insert(&mut pieces, first).unwrap();
            insert(&mut pieces, second)
        };
        // A message begins within another, or goes on after its end.
        assert_eq!(
            with(piece(5, true, false), piece(6, true, false)),
            Err(Contradiction)
        );
        assert_eq!(
            with(piece(5, false, true), piece(6, false, false)),
            Err(Contradiction)
        );
        assert_eq!(
            with(piece(6, false, false), piece(5, false, true)),
            Err(Contradiction)
        );
        // Its pieces name different streams or places in the stream.
        let other = DataChunk {
            stream: 1,
            ..piece(6, false, true)
        };
        assert_eq!(with(piece(5, true, false), other), Err(Contradiction));
        let other = DataChunk {
            ssn: Ssn(1),
            ..piece(6, false, true)
        };
        assert_eq!(with(piece(5, true, false), other), Err(Contradiction));
    }
}
