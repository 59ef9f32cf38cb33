//! Time-outs of many machines in one queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headway_sansio::Time;

/// Times by key, the earliest first.
///
/// Meant for an owner of many machines (associations, connections, calls): after
/// each call of a machine the owner notes what `poll_timeout` says. Nothing is
/// searched for when a time moves; the entry of the former time goes stale and
/// is dropped when it comes up, because the owner's answer for that key differs.
#[derive(Clone, Debug)]
pub struct Timeouts<K> {
    heap: BinaryHeap<Reverse<(Time, K)>>,
}

impl<K: Copy + Ord> Default for Timeouts<K> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
        }
    }
}

impl<K: Copy + Ord> Timeouts<K> {
    /// Notes that the time of `key` went from `before` to `after`.
    pub fn moved(&mut self, key: K, before: Option<Time>, after: Option<Time>) {
        if let Some(at) = after.filter(|_| after != before) {
            self.heap.push(Reverse((at, key)));
        }
    }

    /// Takes the earliest key that is due at `now`. `due` tells the present time
    /// of a key; entries that differ from it are dropped.
    pub fn pop(&mut self, now: Time, due: impl Fn(K) -> Option<Time>) -> Option<K> {
        let at = self.next(due)?;
        if at > now {
            return None;
        }
        self.heap.pop().map(|Reverse((_, key))| key)
    }

    /// The earliest time of all, after dropping stale entries before it.
    pub fn next(&mut self, due: impl Fn(K) -> Option<Time>) -> Option<Time> {
        while let Some(Reverse((at, key))) = self.heap.peek() {
            if due(*key) == Some(*at) {
                return Some(*at);
            }
            self.heap.pop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_in_the_order_of_their_present_times() {
        let at = |n| Some(Time::from_nanos(n));
        let mut present = [at(30), at(10), at(20)];
        let mut queue = Timeouts::default();
        for (key, time) in present.iter().enumerate() {
            queue.moved(key, None, *time);
        }
        // Key 1 is put off, key 0 is stopped.
        present[1] = at(40);
        queue.moved(1, at(10), at(40));
        present[0] = None;
        queue.moved(0, at(30), None);
        assert_eq!(queue.next(|key| present[key]), at(20));
        assert_eq!(queue.pop(Time::from_nanos(19), |key| present[key]), None);
        assert_eq!(queue.pop(Time::from_nanos(20), |key| present[key]), Some(2));
        present[2] = None;
        assert_eq!(queue.next(|key| present[key]), at(40));
        assert_eq!(queue.pop(Time::from_nanos(99), |key| present[key]), Some(1));
        present[1] = None;
        assert_eq!(queue.next(|key| present[key]), None);
    }
}
