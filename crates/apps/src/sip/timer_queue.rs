//! The timers of many calls in one queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headway_sansio::Time;

/// Timers in the order of their times.
///
/// A machine that stops a timer does not search this queue. Instead its entry
/// goes stale: the owner tells when a machine is really due, and an entry with
/// another time counts for nothing.
#[derive(Clone, Debug)]
pub(super) struct TimerQueue<S> {
    heap: BinaryHeap<Reverse<(Time, u32, S)>>,
}

impl<S: Copy + Ord> TimerQueue<S> {
    pub(super) fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
        }
    }

    /// Notes that machine `slot` of a call went from one due time to another.
    pub(super) fn moved(&mut self, call: u32, slot: S, before: Option<Time>, after: Option<Time>) {
        if let Some(at) = after.filter(|_| after != before) {
            self.heap.push(Reverse((at, call, slot)));
        }
    }

    /// Takes the first entry that is due at `now`, stale ones skipped.
    pub(super) fn pop_due(
        &mut self,
        now: Time,
        due: impl Fn(u32, S) -> Option<Time>,
    ) -> Option<(u32, S)> {
        self.drop_stale(due);
        let Reverse((at, ..)) = self.heap.peek()?;
        if *at > now {
            return None;
        }
        let Reverse((_, call, slot)) = self.heap.pop()?;
        Some((call, slot))
    }

    /// Drops stale entries from the front, so that [`Self::next`] is true.
    pub(super) fn drop_stale(&mut self, due: impl Fn(u32, S) -> Option<Time>) {
        while let Some(Reverse((at, call, slot))) = self.heap.peek() {
            if due(*call, *slot) == Some(*at) {
                return;
            }
            self.heap.pop();
        }
    }

    /// When the first entry is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }
}
