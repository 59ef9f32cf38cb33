//! Taking delay apart on transports whose unit is a numbered chunk (SCTP).
//!
//! A chunk is known by its transmission sequence number (RFC 9260 section
//! 3.3.1), and a message by the run of chunks from a B bit to an E bit. Within
//! one stream and one kind of delivery, messages get their numbers in the order
//! in which they were handed over, so that the first transmission of a chunk
//! with the B bit belongs to the oldest message of its lane that has none yet.

use std::collections::VecDeque;

use headway_sansio::Time;

use super::{MessageRow, Moments, Totals};

/// A queue of messages in which order is kept until they get chunk numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane {
    /// The stream.
    pub stream: u16,
    /// Whether delivery is unordered.
    pub unordered: bool,
}

/// A DATA chunk as an observer of the wire sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeenChunk {
    /// Transmission sequence number.
    pub tsn: u32,
    /// Where its message was queued.
    pub lane: Lane,
    /// First chunk of its message.
    pub begin: bool,
    /// Last chunk of its message.
    pub end: bool,
}

/// One chunk on its way.
#[derive(Clone, Copy, Debug)]
struct Unit {
    message: u64,
    /// When its first transmission would have arrived.
    would_arrive: Option<Time>,
    arrived: Option<Time>,
    transmissions: u32,
    lost: u32,
    lost_first: bool,
    done: bool,
}

/// One message on its way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    id: u64,
    size_bytes: u32,
    handed_over: Time,
    last_byte_sent: Time,
    done: bool,
}

/// The trace of one direction of an association.
#[derive(Debug, Default)]
pub struct ChunkTrace {
    totals: Totals,
    rows: Option<Vec<MessageRow>>,
    /// For each lane the messages whose first chunk was not sent yet.
    lanes: Vec<VecDeque<u64>>,
    /// Messages from number `first_message` on, in the order of handing over.
    messages: VecDeque<Pending>,
    first_message: u64,
    /// The message whose chunks are being numbered.
    current: u64,
    /// Chunks from number `first_unit` on.
    units: VecDeque<Unit>,
    /// TSN of the chunk at the front of `units`; known from the first chunk on.
    first_tsn: Option<u32>,
}

impl ChunkTrace {
    /// A trace that keeps a row for each message where `keep_rows` says so.
    #[must_use]
    pub fn new(keep_rows: bool) -> Self {
        Self {
            rows: keep_rows.then(Vec::new),
            ..Self::default()
        }
    }

    /// What the messages add up to so far.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The rows, where they were kept, in the order of delivery.
    #[must_use]
    pub fn into_rows(self) -> Vec<MessageRow> {
        self.rows.unwrap_or_default()
    }

    /// Messages handed over and not yet delivered.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.totals.handed_over - self.totals.delivered
    }

    /// The application handed over a message.
    pub fn handed_over(&mut self, now: Time, id: u64, size_bytes: u32, lane: Lane) {
        let number = self.first_message + self.messages.len() as u64;
        self.messages.push_back(Pending {
            id,
            size_bytes,
            handed_over: now,
            last_byte_sent: now,
            done: false,
        });
        let lane = usize::from(lane.stream) * 2 + usize::from(lane.unordered);
        if self.lanes.len() <= lane {
            self.lanes.resize_with(lane + 1, VecDeque::new);
        }
        self.lanes[lane].push_back(number);
        self.totals.handed_over += 1;
        self.totals.handed_over_bytes += u64::from(size_bytes);
    }

    /// A chunk was put on the wire.
    #[inline]
    pub fn sent(&mut self, now: Time, chunk: SeenChunk) {
        let first_tsn = *self.first_tsn.get_or_insert(chunk.tsn);
        let offset = chunk.tsn.wrapping_sub(first_tsn) as usize;
        if offset == self.units.len() {
            self.sent_first(now, chunk);
        } else {
            self.sent_again(offset);
        }
    }

    #[cold]
    fn sent_again(&mut self, offset: usize) {
        self.totals.retransmissions += 1;
        match self.units.get_mut(offset) {
            Some(unit) => {
                if unit.transmissions > unit.lost {
                    self.totals.needless_retransmissions += 1;
                }
                unit.transmissions += 1;
            }
            // The chunk has left the trace: its message was delivered.
            None => self.totals.needless_retransmissions += 1,
        }
    }

    #[inline]
    fn sent_first(&mut self, now: Time, chunk: SeenChunk) {
        if chunk.begin {
            let lane = usize::from(chunk.lane.stream) * 2 + usize::from(chunk.lane.unordered);
            self.current = self
                .lanes
                .get_mut(lane)
                .and_then(VecDeque::pop_front)
                .expect("a chunk that begins a message follows a message handed over");
        }
        if chunk.end {
            let index = (self.current - self.first_message) as usize;
            self.messages[index].last_byte_sent = now;
        }
        self.totals.first_transmissions += 1;
        self.units.push_back(Unit {
            message: self.current,
            would_arrive: None,
            arrived: None,
            transmissions: 1,
            lost: 0,
            lost_first: false,
            done: false,
        });
    }

    /// A transmission of a chunk was lost.
    pub fn lost(&mut self, tsn: u32) {
        self.totals.lost_chunks += 1;
        if let Some(unit) = self.unit(tsn) {
            unit.lost += 1;
            unit.lost_first |= unit.transmissions == 1;
        }
    }

    /// A transmission of a chunk arrives at `at`, or would have, had it not been
    /// lost. Only the first report counts, which is that of the first
    /// transmission.
    pub fn would_arrive(&mut self, tsn: u32, at: Time) {
        if let Some(unit) = self.unit(tsn) {
            unit.would_arrive.get_or_insert(at);
        }
    }

    /// A chunk reached the receiver.
    pub fn arrived(&mut self, now: Time, tsn: u32) {
        if let Some(unit) = self.unit(tsn) {
            unit.arrived.get_or_insert(now);
        }
    }

    /// The application got the message whose chunks are numbered `first` to
    /// `last`. Returns its row, or `None` where the trace knows no such message.
    pub fn delivered(&mut self, now: Time, first: u32, last: u32) -> Option<MessageRow> {
        let first_tsn = self.first_tsn?;
        let from = first.wrapping_sub(first_tsn) as usize;
        let to = last.wrapping_sub(first_tsn) as usize;
        if from > to || to >= self.units.len() {
            return None;
        }
        let number = self.units[from].message;
        let index = usize::try_from(number.checked_sub(self.first_message)?).ok()?;
        let message = self.messages.get_mut(index)?;
        message.done = true;
        let mut would_arrive = Time::ZERO;
        let mut all_arrived = Time::ZERO;
        let mut transmissions = 0;
        let mut lost_first = false;
        for offset in from..to + 1 {
            let unit = &mut self.units[offset];
            let arrived = unit.arrived.unwrap_or(now);
            all_arrived = all_arrived.max(arrived);
            would_arrive = would_arrive.max(unit.would_arrive.unwrap_or(arrived));
            transmissions += unit.transmissions;
            lost_first |= unit.lost_first;
            unit.done = true;
        }
        let parts = Moments {
            handed_over: message.handed_over,
            last_byte_sent: message.last_byte_sent,
            would_arrive,
            all_arrived,
            delivered: now,
        }
        .parts();
        let row = MessageRow {
            id: message.id,
            size_bytes: message.size_bytes,
            handed_over: message.handed_over,
            delay: now.since(message.handed_over),
            parts,
            transmissions,
            lost_first,
        };
        self.totals.count_delivered(&parts);
        if let Some(rows) = &mut self.rows {
            rows.push(row);
        }
        self.forget_delivered();
        Some(row)
    }

    fn unit(&mut self, tsn: u32) -> Option<&mut Unit> {
        let offset = tsn.wrapping_sub(self.first_tsn?) as usize;
        self.units.get_mut(offset)
    }

    /// Drops what is done from the front, so that a long run needs no more
    /// memory than what is under way.
    fn forget_delivered(&mut self) {
        while self.units.front().is_some_and(|u| u.done) {
            self.units.pop_front();
            self.first_tsn = self.first_tsn.map(|tsn| tsn.wrapping_add(1));
        }
        while self.messages.front().is_some_and(|m| m.done) {
            self.messages.pop_front();
            self.first_message += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_sansio::Duration;

    const LANE: Lane = Lane {
        stream: 0,
        unordered: false,
    };

    fn ms(n: u64) -> Time {
        Time::ZERO + Duration::from_millis(n)
    }

    fn whole(tsn: u32) -> SeenChunk {
        SeenChunk {
            tsn,
            lane: LANE,
            begin: true,
            end: true,
        }
    }

    #[test]
    fn a_lost_message_recovers_and_the_next_waits_for_it() {
        let mut trace = ChunkTrace::new(true);
        for (n, tsn) in [(0, u32::MAX), (1, 0)] {
            trace.handed_over(ms(n), n, 225, LANE);
            trace.sent(ms(n), whole(tsn));
            trace.would_arrive(tsn, ms(n + 20));
        }
        trace.lost(u32::MAX);
        trace.arrived(ms(21), 0);
        trace.sent(ms(100), whole(u32::MAX));
        trace.arrived(ms(120), u32::MAX);
        let first = trace.delivered(ms(120), u32::MAX, u32::MAX).unwrap();
        let second = trace.delivered(ms(120), 0, 0).unwrap();
        assert_eq!(first.parts.recovery, Duration::from_millis(100));
        assert!(first.lost_first && !second.lost_first);
        assert_eq!(second.parts.hol_blocking, Duration::from_millis(99));
        assert_eq!(second.parts.network, Duration::from_millis(20));
        assert_eq!(trace.totals().needless_retransmissions, 0);
        assert_eq!(trace.outstanding(), 0);
        // One more copy of what was delivered is needless.
        trace.sent(ms(130), whole(0));
        assert_eq!(trace.totals().needless_retransmissions, 1);
    }

    #[test]
    fn a_message_of_three_chunks_is_complete_with_the_last_to_arrive() {
        let mut trace = ChunkTrace::new(false);
        trace.handed_over(ms(0), 7, 3000, LANE);
        for (i, tsn) in (10..13).enumerate() {
            let chunk = SeenChunk {
                tsn,
                lane: LANE,
                begin: i == 0,
                end: i == 2,
            };
            trace.sent(ms(i as u64), chunk);
            trace.would_arrive(tsn, ms(20 + i as u64));
            trace.arrived(ms(20 + i as u64), tsn);
        }
        let row = trace.delivered(ms(22), 10, 12).unwrap();
        assert_eq!(row.id, 7);
        assert_eq!(row.parts.sender_wait, Duration::from_millis(2));
        assert_eq!(row.parts.network, Duration::from_millis(20));
        assert_eq!(row.parts.delay(), Duration::from_millis(22));
    }
}
