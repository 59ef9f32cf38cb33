//! The event queue: a heap of small keys, and a line for each link.
//!
//! An event is one 128-bit number, so that moving and comparing events is cheap:
//!
//! ```text
//! | time, ns: 64 | kind: 2 | sequence: 38 | index: 24 |
//! ```
//!
//! Numbers compare as (time, kind, sequence). The index is a datagram's place
//! among the flights or a node, by kind; it never decides, because sequences
//! differ. The heap is the standard library's: measured with 4 to 20,000 events to
//! come it was about as fast as one with four children to a node, or faster.
//!
//! Links are first in, first out, so what is under way on one of them is in order
//! already and waits in a line of its own; only what overtakes others goes to the
//! heap. A few hundred packets under way then cost no more than a few.

use core::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use headway_sansio::Time;

use crate::error::SimError;

const INDEX_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 38;
const KIND_BITS: u32 = 2;

/// What happens, in the order in which it happens at equal times: datagrams
/// before timers, so that an answer that comes at the last instant still counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A datagram reaches a node; the index is its flight.
    Arrival = 0,
    /// A datagram that was lost earlier would reach a node; likewise.
    Ghost = 1,
    /// A node's timer; the index is the node.
    Wake = 2,
}

/// An event as it comes out of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    pub(crate) time: Time,
    pub(crate) kind: Kind,
    pub(crate) index: u32,
}

/// An event that comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upcoming {
    key: u128,
}

impl Upcoming {
    /// When it happens.
    #[inline]
    pub(crate) fn time(self) -> Time {
        Time::from_nanos((self.key >> 64) as u64)
    }
}

/// Links with a line of their own: both directions of a path. The heads of all
/// lines are looked at for each event, so more of them would cost more than the
/// heap does.
const LANES: usize = 2;
/// The head of an empty line: later than any event.
const NOTHING: u128 = u128::MAX;

/// Events to come.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<u128>>,
    /// First events of the lines.
    heads: [u128; LANES],
    /// What comes behind them, in order.
    lanes: [VecDeque<u128>; LANES],
    made: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            heads: [NOTHING; LANES],
            lanes: Default::default(),
            made: 0,
        }
    }
}

fn unpack(key: u128) -> Event {
    let low = key as u64;
    Event {
        time: Time::from_nanos((key >> 64) as u64),
        kind: match low >> (64 - KIND_BITS) {
            0 => Kind::Arrival,
            1 => Kind::Ghost,
            _ => Kind::Wake,
        },
        index: (low & ((1 << INDEX_BITS) - 1)) as u32,
    }
}

impl EventQueue {
    /// Adds an event. Fails where a number outgrows its bits.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, kind: Kind, index: u32) -> Result<(), SimError> {
        let key = self.key(time, kind, index)?;
        self.heap.push(Reverse(key));
        Ok(())
    }

    /// Adds the arrival of a datagram over link number `link`.
    #[inline(always)]
    pub(crate) fn push_arrival(
        &mut self,
        time: Time,
        index: u32,
        link: usize,
    ) -> Result<(), SimError> {
        let key = self.key(time, Kind::Arrival, index)?;
        if link >= LANES {
            self.heap.push(Reverse(key));
        } else if self.heads[link] == NOTHING {
            self.heads[link] = key;
        } else if key > *self.lanes[link].back().unwrap_or(&self.heads[link]) {
            self.lanes[link].push_back(key);
        } else {
            self.heap.push(Reverse(key));
        }
        Ok(())
    }

    #[inline]
    fn key(&mut self, time: Time, kind: Kind, index: u32) -> Result<u128, SimError> {
        if self.made >> SEQUENCE_BITS != 0 || index >> INDEX_BITS != 0 {
            return Err(SimError::TooManyEvents);
        }
        let low = (kind as u64) << (64 - KIND_BITS) | self.made << INDEX_BITS | u64::from(index);
        self.made += 1;
        Ok(u128::from(time.as_nanos()) << 64 | u128::from(low))
    }

    /// The next event, which stays.
    #[inline]
    pub(crate) fn first(&self) -> Option<Upcoming> {
        let mut first = match self.heap.peek() {
            Some(&Reverse(key)) => key,
            None => NOTHING,
        };
        for head in self.heads {
            first = first.min(head);
        }
        (first != NOTHING).then_some(Upcoming { key: first })
    }

    /// Takes the event that [`Self::first`] told, since when nothing was added.
    #[inline(always)]
    pub(crate) fn take(&mut self, Upcoming { key }: Upcoming) -> Event {
        // No two keys are the same.
        match self.heads.iter().position(|head| *head == key) {
            Some(lane) => self.heads[lane] = self.lanes[lane].pop_front().unwrap_or(NOTHING),
            None => drop(self.heap.pop()),
        }
        unpack(key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_sansio::Seed;

    fn pop(queue: &mut EventQueue) -> Option<Event> {
        let first = queue.first()?;
        Some(queue.take(first))
    }

    fn drain(queue: &mut EventQueue) -> Vec<Event> {
        core::iter::from_fn(|| pop(queue)).collect()
    }

    #[test]
    fn time_then_kind_then_order_of_making() {
        let mut queue = EventQueue::default();
        let at = Time::from_nanos;
        let made = [
            (9, Kind::Wake, 0),
            (9, Kind::Arrival, 5),
            (3, Kind::Wake, 1),
            (9, Kind::Arrival, 4),
            (9, Kind::Ghost, 0),
            (u64::MAX, Kind::Arrival, 1),
        ];
        for (time, kind, index) in made {
            queue.push(at(time), kind, index).unwrap();
        }
        assert_eq!(queue.first().map(Upcoming::time), Some(at(3)));
        let order: Vec<_> = drain(&mut queue)
            .iter()
            .map(|e| (e.time.as_nanos(), e.kind, e.index))
            .collect();
        assert_eq!(order, [2, 1, 3, 4, 0, 5].map(|n: usize| made[n]));
        assert!(queue.is_empty());
    }

    #[test]
    fn the_queue_sorts_while_it_is_filled() {
        let mut random = Seed::new(1).stream("heap");
        let mut queue = EventQueue::default();
        let mut expected = Vec::new();
        for round in 0..2000_u32 {
            for _ in 0..random.below(4) {
                let time = Time::from_nanos(random.below(500));
                // Some over links with a line, in and out of order.
                match random.below(2 * LANES as u64) as usize {
                    0 => queue.push(time, Kind::Arrival, round),
                    link => queue.push_arrival(time, round, link - 1),
                }
                .unwrap();
                expected.push((time, round));
            }
            if random.below(3) == 0 && !expected.is_empty() {
                expected.sort();
                let (time, index) = expected.remove(0);
                let event = pop(&mut queue).unwrap();
                assert_eq!((event.time, event.index), (time, index));
            }
        }
        expected.sort();
        let rest: Vec<_> = drain(&mut queue)
            .iter()
            .map(|e| (e.time, e.index))
            .collect();
        assert_eq!(rest, expected);
    }

    #[test]
    fn numbers_that_outgrow_their_bits_are_refused() {
        let mut queue = EventQueue::default();
        let refused = queue.push(Time::ZERO, Kind::Arrival, 1 << INDEX_BITS);
        assert_eq!(refused, Err(SimError::TooManyEvents));
        queue.made = 1 << SEQUENCE_BITS;
        let refused = queue.push(Time::ZERO, Kind::Arrival, 0);
        assert_eq!(refused, Err(SimError::TooManyEvents));
    }
}
