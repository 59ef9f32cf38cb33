//! What was sent and not yet acknowledged, segment by segment, with the counters
//! that recovery needs. Nothing here decides; it only keeps count.

use std::collections::VecDeque;

use headway_sansio::{Duration, Time};

use crate::range_set::RangeSet;

/// One segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) start: u64,
    /// Length in sequence numbers: data, and one for FIN.
    pub(crate) len: u32,
    marks: u8,
    /// Last transmission.
    pub(crate) sent_at: Time,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RESENT: u8 = 4;
const EVER_RESENT: u8 = 8;
const FIN: u8 = 16;

impl Sent {
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
    pub(crate) fn sacked(&self) -> bool {
        self.marks & SACKED != 0
    }
    pub(crate) fn lost(&self) -> bool {
        self.marks & LOST != 0
    }
    /// Retransmitted, and that retransmission is thought to be under way.
    pub(crate) fn resent(&self) -> bool {
        self.marks & RESENT != 0
    }
    pub(crate) fn ever_resent(&self) -> bool {
        self.marks & EVER_RESENT != 0
    }
    pub(crate) fn fin(&self) -> bool {
        self.marks & FIN != 0
    }
    pub(crate) fn data_len(&self) -> u32 {
        self.len - u32::from(self.fin())
    }
}

/// A retransmission under way, in order of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resent {
    pub(crate) start: u64,
    pub(crate) sent_at: Time,
    /// What was the next new offset when it was sent.
    pub(crate) next: u64,
}

/// Newest delivered transmission: RFC 8985's `RACK.segment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Newest {
    pub(crate) sent_at: Time,
    pub(crate) end: u64,
}

/// What one ACK told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// Window units acknowledged cumulatively that were not SACKed before.
    pub(crate) acked_units: u64,
    /// Segments acknowledged cumulatively, SACKed before or not.
    pub(crate) acked_segments: u32,
    /// Window units newly SACKed.
    pub(crate) sacked_units: u64,
    /// Segments newly SACKed.
    pub(crate) sacked_segments: u32,
    /// Highest end of what was newly SACKed.
    pub(crate) highest_sacked: u64,
    /// When the oldest of the newly acknowledged was sent, if none of them was
    /// ever retransmitted.
    pub(crate) oldest_sent_at: Option<Time>,
    /// When the newest never retransmitted segment of all delivered was sent.
    pub(crate) newest_original: Option<Time>,
    /// Something that was never retransmitted is delivered.
    pub(crate) original: bool,
    /// Something that was retransmitted is delivered.
    pub(crate) retransmitted: bool,
    /// A segment below the highest one delivered, never retransmitted, arrived:
    /// the path reorders.
    pub(crate) reordered: bool,
}

/// The segments in flight.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    /// A segment counts for one, or for its bytes.
    by_segments: bool,
    segments: VecDeque<Sent>,
    /// All of them, in window units.
    out: u64,
    sacked: u64,
    lost: u64,
    resent: u64,
    /// Segments that were SACKed.
    sacked_segments: u32,
    /// Segments that are lost and not retransmitted.
    to_resend: u32,
    /// Where the search for them begins.
    resend_from: u64,
    ranges: RangeSet,
    /// Everything below was looked at for losses.
    lost_edge: u64,
    resent_queue: VecDeque<Resent>,
    /// Highest offset delivered, cumulatively or selectively.
    forward: u64,
    pub(crate) newest: Newest,
    /// The round-trip time of `newest`.
    pub(crate) newest_rtt: Duration,
    /// Shortest round-trip time seen: RFC 8985's `RACK.min_RTT`.
    pub(crate) rtt_floor: Duration,
}

impl Scoreboard {
    pub(crate) fn new(by_segments: bool) -> Self {
        Self {
            by_segments,
            ..Self::default()
        }
    }

    fn weight(&self, len: u32) -> u64 {
        if self.by_segments { 1 } else { u64::from(len) }
    }

    // ---- counters

    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }
    /// Window units sent and not cumulatively acknowledged.
    pub(crate) fn out(&self) -> u64 {
        self.out
    }
    /// Window units thought to be in the network: RFC 6675's pipe.
    pub(crate) fn pipe(&self) -> u64 {
        (self.out - self.sacked - self.lost) + self.resent
    }
    pub(crate) fn resent_units(&self) -> u64 {
        self.resent
    }
    pub(crate) fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }
    pub(crate) fn anything_lost(&self) -> bool {
        self.lost > 0
    }
    pub(crate) fn waits_for_resend(&self) -> bool {
        self.to_resend > 0
    }
    /// Highest offset that was SACKed; zero if none.
    pub(crate) fn highest_sacked(&self) -> u64 {
        self.ranges.end()
    }
    pub(crate) fn ranges(&self) -> &RangeSet {
        &self.ranges
    }
    pub(crate) fn forward(&self) -> u64 {
        self.forward
    }
    pub(crate) fn first(&self) -> Option<&Sent> {
        self.segments.front()
    }
    pub(crate) fn last(&self) -> Option<&Sent> {
        self.segments.back()
    }
    pub(crate) fn get(&self, index: usize) -> &Sent {
        &self.segments[index]
    }

    /// Index of the first segment that ends above `offset`.
    pub(crate) fn index_above(&self, offset: u64) -> usize {
        match self.segments.front() {
            Some(first) if first.end() > offset => 0,
            _ => self.segments.partition_point(|s| s.end() <= offset),
        }
    }

    // ---- transmissions

    /// New data was sent.
    pub(crate) fn sent(&mut self, start: u64, len: u32, fin: bool, now: Time) {
        self.out += self.weight(len);
        self.segments.push_back(Sent {
            start,
            len,
            marks: if fin { FIN } else { 0 },
            sent_at: now,
        });
    }

    /// The segment at `index` was sent again, while `next` was the next new offset.
    pub(crate) fn resend(&mut self, index: usize, next: u64, now: Time) {
        let weight = self.weight(self.segments[index].len);
        let segment = &mut self.segments[index];
        if !segment.resent() {
            self.resent += weight;
            if segment.lost() {
                self.to_resend -= 1;
            }
        }
        segment.marks |= RESENT | EVER_RESENT;
        segment.sent_at = now;
        let start = segment.start;
        self.resent_queue.push_back(Resent {
            start,
            sent_at: now,
            next,
        });
    }

    /// The next segment that is lost and not retransmitted.
    pub(crate) fn next_to_resend(&mut self) -> Option<usize> {
        if self.to_resend == 0 {
            return None;
        }
        let from = self.index_above(self.resend_from);
        let found = (from..self.segments.len()).find(|&i| {
            let s = &self.segments[i];
            s.lost() && !s.resent()
        });
        debug_assert!(found.is_some(), "the counter and the marks agree");
        if let Some(i) = found {
            self.resend_from = self.segments[i].start;
        }
        found
    }

    /// Joins the segment at `index` with the one after it.
    pub(crate) fn merge_next(&mut self, index: usize) {
        let (first, next) = (self.segments[index], self.segments[index + 1]);
        self.forget(&next);
        self.segments.remove(index + 1);
        if !self.by_segments {
            let more = u64::from(next.len);
            self.out += more;
            self.lost += if first.lost() { more } else { 0 };
            self.resent += if first.resent() { more } else { 0 };
        }
        let merged = &mut self.segments[index];
        merged.len += next.len;
        merged.marks |= next.marks & (FIN | EVER_RESENT);
    }

    /// Takes the marks of a segment that leaves the board out of the counters.
    fn forget(&mut self, segment: &Sent) {
        let weight = self.weight(segment.len);
        self.out -= weight;
        if segment.sacked() {
            self.sacked -= weight;
            self.sacked_segments -= 1;
        }
        if segment.lost() {
            self.lost -= weight;
            self.to_resend -= u32::from(!segment.resent());
        }
        if segment.resent() {
            self.resent -= weight;
        }
    }

    // ---- acknowledgements

    /// Everything below `una` arrived.
    pub(crate) fn acknowledge(&mut self, una: u64, now: Time, d: &mut Delivered) {
        let mut clean = true;
        while let Some(&segment) = self.segments.front() {
            if segment.end() > una {
                if segment.start < una {
                    self.trim_front(una);
                }
                break;
            }
            self.segments.pop_front();
            self.forget(&segment);
            d.acked_segments += 1;
            if segment.ever_resent() {
                clean = false;
            } else if d.oldest_sent_at.is_none() {
                d.oldest_sent_at = Some(segment.sent_at);
            }
            if !segment.sacked() {
                d.acked_units += self.weight(segment.len);
                self.delivered(&segment, now, d);
            }
        }
        if !clean {
            d.oldest_sent_at = None;
        }
        self.ranges.remove_below(una);
        while self.resent_queue.front().is_some_and(|r| r.start < una) {
            self.resent_queue.pop_front();
        }
    }

    /// Part of the first segment arrived: the peer has other boundaries.
    fn trim_front(&mut self, una: u64) {
        let mut segment = self.segments[0];
        let less = (una - segment.start) as u32;
        if !self.by_segments {
            let weight = u64::from(less);
            self.out -= weight;
            self.sacked -= if segment.sacked() { weight } else { 0 };
            self.lost -= if segment.lost() { weight } else { 0 };
            self.resent -= if segment.resent() { weight } else { 0 };
        }
        for r in &mut self.resent_queue {
            if r.start == segment.start {
                r.start = una;
            }
        }
        segment.start = una;
        segment.len -= less;
        self.segments[0] = segment;
    }

    /// `start..end` was SACKed.
    pub(crate) fn selectively_acknowledge(
        &mut self,
        start: u64,
        end: u64,
        now: Time,
        d: &mut Delivered,
    ) {
        let mut bounds: Option<(u64, u64)> = None;
        let held = self.ranges.insert(start, end, |s, e| {
            bounds = Some((bounds.map_or(s, |b| b.0), e));
        });
        // Where nothing is new there is nothing to mark.
        let Some((from, to)) = bounds else { return };
        // A segment that was SACKed in part before may be complete only now.
        let mut index = self.index_above(from);
        while let Some(&segment) = self.segments.get(index) {
            if segment.start >= to {
                break;
            }
            if !segment.sacked() && segment.start >= held.0 && segment.end() <= held.1 {
                self.mark_sacked(index, now, d);
            }
            index += 1;
        }
    }

    fn mark_sacked(&mut self, index: usize, now: Time, d: &mut Delivered) {
        let segment = self.segments[index];
        let weight = self.weight(segment.len);
        if segment.lost() {
            self.lost -= weight;
            self.to_resend -= u32::from(!segment.resent());
        }
        if segment.resent() {
            self.resent -= weight;
        }
        self.sacked += weight;
        self.sacked_segments += 1;
        let marks = &mut self.segments[index].marks;
        *marks = (*marks & !(LOST | RESENT)) | SACKED;
        d.sacked_units += weight;
        d.sacked_segments += 1;
        d.highest_sacked = d.highest_sacked.max(segment.end());
        self.delivered(&segment, now, d);
    }

    fn delivered(&mut self, segment: &Sent, now: Time, d: &mut Delivered) {
        if segment.ever_resent() {
            d.retransmitted = true;
        } else {
            d.original = true;
            d.newest_original = d.newest_original.max(Some(segment.sent_at));
            d.reordered |= segment.end() < self.forward;
        }
        self.forward = self.forward.max(segment.end());
        let this = (segment.sent_at, segment.end());
        if this > (self.newest.sent_at, self.newest.end) {
            let rtt = now.since(segment.sent_at);
            // RFC 8985, section 6.2, step 2: a retransmission that came back
            // sooner than any round trip was its original.
            if segment.ever_resent() && rtt < self.rtt_floor {
                return;
            }
            self.newest = Newest {
                sent_at: this.0,
                end: this.1,
            };
            self.newest_rtt = rtt;
        }
    }

    // ---- losses

    /// Marks everything below `edge` that was not SACKed as lost; each segment
    /// is looked at once only. Returns whether any mark was new.
    pub(crate) fn mark_lost_below(&mut self, edge: u64) -> bool {
        if edge <= self.lost_edge {
            return false;
        }
        let mut index = self.index_above(self.lost_edge);
        let before = self.lost;
        while self.segments.get(index).is_some_and(|s| s.end() <= edge) {
            self.mark_lost(index);
            index += 1;
        }
        self.lost_edge = edge;
        self.lost > before
    }

    /// Marks one segment as lost, unless it was SACKed.
    pub(crate) fn mark_lost(&mut self, index: usize) {
        let segment = self.segments[index];
        if segment.sacked() || segment.lost() {
            return;
        }
        self.lost += self.weight(segment.len);
        self.segments[index].marks |= LOST;
        if !segment.resent() {
            self.to_resend += 1;
            self.resend_from = self.resend_from.min(segment.start);
        }
    }

    /// The retransmission of a segment is lost too.
    pub(crate) fn mark_resend_lost(&mut self, index: usize) {
        let segment = self.segments[index];
        if segment.resent() {
            self.resent -= self.weight(segment.len);
            self.segments[index].marks &= !RESENT;
            if segment.lost() {
                self.to_resend += 1;
                self.resend_from = self.resend_from.min(segment.start);
            }
        }
        self.mark_lost(index);
    }

    /// A timeout: nothing is under way any more.
    pub(crate) fn mark_all_lost(&mut self) {
        for index in 0..self.segments.len() {
            self.mark_resend_lost(index);
        }
        self.resent_queue.clear();
        self.lost_edge = self.last().map_or(self.lost_edge, Sent::end);
    }

    /// The losses were none: all of it is under way.
    pub(crate) fn unmark_lost(&mut self) {
        for segment in &mut self.segments {
            segment.marks &= !(LOST | RESENT);
        }
        (self.lost, self.resent, self.to_resend) = (0, 0, 0);
        self.resent_queue.clear();
        self.lost_edge = self.segments.front().map_or(0, |s| s.start);
        self.resend_from = u64::MAX;
    }

    /// Forgets what was SACKed.
    pub(crate) fn forget_sacks(&mut self) {
        for segment in &mut self.segments {
            segment.marks &= !SACKED;
        }
        self.sacked = 0;
        self.sacked_segments = 0;
        self.ranges.clear();
    }

    /// The oldest retransmission that is still under way.
    pub(crate) fn oldest_resent(&mut self) -> Option<(usize, Resent)> {
        loop {
            let resent = *self.resent_queue.front()?;
            let index = self.index_above(resent.start);
            let segment = self.segments.get(index);
            if segment.is_some_and(|s| s.resent() && s.sent_at == resent.sent_at) {
                return Some((index, resent));
            }
            self.resent_queue.pop_front();
        }
    }

    /// Takes the oldest retransmission off the list.
    pub(crate) fn pop_resent(&mut self) {
        self.resent_queue.pop_front();
    }

    /// Everything below was looked at for losses.
    pub(crate) fn lost_edge(&self) -> u64 {
        self.lost_edge
    }

    /// Counts anew and compares; says which sum is wrong.
    pub(crate) fn check_books(&self) -> Result<(), String> {
        let equal = |name: &str, kept: u64, counted: u64| match kept == counted {
            true => Ok(()),
            false => Err(format!("{name}: {kept} kept, {counted} counted")),
        };
        let sum = |of: fn(&Sent) -> bool| -> u64 {
            let segments = self.segments.iter().filter(|s| of(s));
            segments.map(|s| self.weight(s.len)).sum()
        };
        equal("out", self.out, sum(|_| true))?;
        equal("sacked", self.sacked, sum(Sent::sacked))?;
        equal("lost", self.lost, sum(Sent::lost))?;
        equal("resent", self.resent, sum(Sent::resent))?;
        let count = |of: fn(&Sent) -> bool| self.segments.iter().filter(|s| of(s)).count() as u64;
        let sacked_segments = self.sacked_segments.into();
        equal("sacked segments", sacked_segments, count(Sent::sacked))?;
        let waiting = count(|s| s.lost() && !s.resent());
        equal("to resend", self.to_resend.into(), waiting)?;
        for (segment, next) in self.segments.iter().zip(self.segments.iter().skip(1)) {
            equal("where a segment begins", next.start, segment.end())?;
        }
        Ok(())
    }
}
