//! The timers of many machines in one queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headway_sansio::Time;

/// Timers in the order of their times.
///
/// A machine that stops a timer does not search this queue. Instead its entry
/// goes stale: the owner tells when a machine is really due, and an entry with
/// another time counts for nothing. Stale entries never outnumber the others by
/// much, however late their times are.
#[derive(Clone, Debug)]
pub(super) struct TimerQueue<K> {
    heap: BinaryHeap<Reverse<(Time, K)>>,
    /// The length at which stale entries are looked for all through the queue.
    sweep_at: usize,
}

/// Shorter queues are not worth a sweep.
const SHORT: usize = 64;

impl<K: Copy + Ord> TimerQueue<K> {
    pub(super) fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            sweep_at: SHORT,
        }
    }

    /// Notes that a machine went from one due time to another.
    pub(super) fn moved(&mut self, key: K, before: Option<Time>, after: Option<Time>) {
        if let Some(at) = after.filter(|_| after != before) {
            self.heap.push(Reverse((at, key)));
        }
    }

    /// Takes the first entry that is due at `now`, stale ones skipped.
    pub(super) fn pop_due(&mut self, now: Time, due: impl Fn(K) -> Option<Time>) -> Option<K> {
        self.drop_stale(due);
        let Reverse((at, _)) = self.heap.peek()?;
        if *at > now {
            return None;
        }
        let Reverse((_, key)) = self.heap.pop()?;
        Some(key)
    }

    /// Drops stale entries from the front, so that [`Self::next`] is true, and the
    /// others whenever the queue has doubled.
    pub(super) fn drop_stale(&mut self, due: impl Fn(K) -> Option<Time>) {
        if self.heap.len() >= self.sweep_at {
            self.heap
                .retain(|Reverse((at, key))| due(*key) == Some(*at));
            self.sweep_at = SHORT.max(2 * self.heap.len());
        }
        while let Some(Reverse((at, key))) = self.heap.peek() {
            if due(*key) == Some(*at) {
                return;
            }
            self.heap.pop();
        }
    }

    /// Entries, stale ones included.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// When the first entry is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }
}

/// The earlier of two times that may not be there.
pub(super) fn earliest(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
