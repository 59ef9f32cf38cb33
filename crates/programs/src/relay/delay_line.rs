//! Packets under way.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use headway_sansio::Time;

use super::Parcel;

/// Holds packets until their times, those of one time in the order of coming.
#[derive(Debug, Default)]
pub(super) struct DelayLine {
    heap: BinaryHeap<Reverse<Held>>,
    serial: u64,
}

#[derive(Debug)]
struct Held {
    at: Time,
    serial: u64,
    parcel: Parcel,
}

impl DelayLine {
    pub(super) fn push(&mut self, at: Time, parcel: Parcel) {
        let serial = self.serial;
        self.serial += 1;
        self.heap.push(Reverse(Held { at, serial, parcel }));
    }

    /// The next packet that is due at `now`, and since when.
    pub(super) fn pop(&mut self, now: Time) -> Option<(Time, Parcel)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(held)| (held.at, held.parcel))
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(held)| held.at)
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.serial).cmp(&(other.at, other.serial))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Held {}
