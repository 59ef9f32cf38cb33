//! Which TSNs have arrived.

use smallvec::SmallVec;

use crate::{GapBlock, Tsn};

/// So far beyond the cumulative TSN a sender may move it. When TSNs begin anew, they do so
/// half their space further on, so that those of before lie behind (RFC 6525, section 5.2.4,
/// rule G1); but the last of them lies exactly as far ahead, and those before it a little less.
const FURTHEST_POINT: u32 = 1 << 30;

/// The cumulative TSN and what arrived beyond it.
#[derive(Debug)]
pub(crate) struct TsnMap {
    cumulative: Tsn,
    /// Runs of TSNs beyond a gap, in ascending order, never touching each other.
    runs: Vec<(Tsn, Tsn)>,
}

/// How a TSN lies to those that have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// It arrived before.
    Duplicate,
    /// The next in sequence.
    Next,
    /// Within the range of what arrived: it fills a part of a gap.
    Below,
    /// Beyond everything that arrived, leaving a gap.
    Above,
    /// Further on than any gap block can say.
    TooFar,
}

impl TsnMap {
    pub(crate) const fn new(initial: Tsn) -> Self {
        Self {
            cumulative: initial.previous(),
            runs: Vec::new(),
        }
    }

    pub(crate) fn trim(&mut self) {
        self.runs.shrink_to_fit();
    }

    pub(crate) const fn cumulative(&self) -> Tsn {
        self.cumulative
    }

    pub(crate) fn has_gap(&self) -> bool {
        !self.runs.is_empty()
    }

    pub(crate) fn place(&self, tsn: Tsn) -> Place {
        let distance = tsn.distance_from(self.cumulative);
        if distance == 0 || distance > 1 << 31 {
            return Place::Duplicate;
        }
        if distance == 1 {
            return Place::Next;
        }
        if distance > u32::from(u16::MAX) {
            return Place::TooFar;
        }
        match self.runs.last() {
            Some((_, last)) if !last.precedes(tsn) => {
                let (first, _) = self.runs[self.run_at(tsn)];
                if first.precedes(tsn) || first == tsn {
                    Place::Duplicate
                } else {
                    Place::Below
                }
            }
            _ => Place::Above,
        }
    }

    /// The first run that ends at or after `tsn`; the number of runs if none does.
    fn run_at(&self, tsn: Tsn) -> usize {
        self.runs.partition_point(|(_, last)| last.precedes(tsn))
    }

    /// Notes a TSN that is not there yet.
    pub(crate) fn insert(&mut self, tsn: Tsn) {
        if tsn == self.cumulative.next() {
            self.cumulative = tsn;
            if let Some(&(first, last)) = self.runs.first()
                && first == tsn.next()
            {
                self.cumulative = last;
                self.runs.remove(0);
            }
            return;
        }
        self.insert_beyond(tsn);
    }

    /// Notes a TSN that leaves a gap.
    #[inline(never)]
    fn insert_beyond(&mut self, tsn: Tsn) {
        let index = self.run_at(tsn);
        let joins_before = index > 0 && self.runs[index - 1].1.next() == tsn;
        let joins_after = self
            .runs
            .get(index)
            .is_some_and(|(first, _)| tsn.next() == *first);
        match (joins_before, joins_after) {
            (true, true) => {
                self.runs[index - 1].1 = self.runs[index].1;
                self.runs.remove(index);
            }
            (true, false) => self.runs[index - 1].1 = tsn,
            (false, true) => self.runs[index].0 = tsn,
            (false, false) => self.runs.insert(index, (tsn, tsn)),
        }
    }

    /// Everything up to `point` counts as arrived, and what follows it without a gap
    /// (RFC 3758, section 3.6). Says whether that is news.
    pub(crate) fn forward(&mut self, point: Tsn) -> bool {
        let distance = point.distance_from(self.cumulative);
        if distance == 0 || distance > FURTHEST_POINT {
            return false;
        }
        self.cumulative = point;
        let behind = self.run_at(point.next());
        let joined = self.runs.get(behind).copied();
        self.runs.drain(..behind);
        if let Some((first, last)) = joined
            && !point.next().precedes(first)
        {
            self.cumulative = last;
            self.runs.remove(0);
        }
        true
    }

    /// Forgets that TSNs beyond the cumulative one had arrived: `first` to `last`,
    /// which did so without a gap between them.
    pub(crate) fn remove(&mut self, first: Tsn, last: Tsn) {
        let index = self.run_at(last);
        let Some(&(low, high)) = self.runs.get(index) else {
            return;
        };
        if first.precedes(low) {
            return;
        }
        match (low == first, high == last) {
            (true, true) => drop(self.runs.remove(index)),
            (true, false) => self.runs[index].0 = last.next(),
            (false, true) => self.runs[index].1 = first.previous(),
            (false, false) => {
                self.runs[index].1 = first.previous();
                self.runs.insert(index + 1, (last.next(), high));
            }
        }
    }

    /// The first `most` gap blocks.
    #[inline]
    pub(crate) fn gap_blocks(&self, most: usize) -> SmallVec<[GapBlock; 4]> {
        if self.runs.is_empty() {
            return SmallVec::new();
        }
        self.blocks(most)
    }

    fn blocks(&self, most: usize) -> SmallVec<[GapBlock; 4]> {
        let offset = |tsn: Tsn| tsn.distance_from(self.cumulative) as u16;
        self.runs
            .iter()
            .take(most)
            .map(|&(first, last)| GapBlock {
                start: offset(first),
                end: offset(last),
            })
            .collect()
    }

    pub(crate) fn gap_count(&self) -> usize {
        self.runs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a plain set of numbers, across the wrap of the TSN.
        #[test]
        fn behaves_as_a_set(initial in prop::sample::select(vec![1u32, 5, u32::MAX - 20]),
                            offsets in proptest::collection::vec(0u32..40, 1..120)) {
            let initial = Tsn(initial);
            let mut turn = 0;
            let mut map = TsnMap::new(initial);
            let mut set = BTreeSet::new();
            let mut cumulative = 0;
            for offset in offsets {
                let tsn = initial.plus(offset);
                let expected = if offset < cumulative || set.contains(&offset) {
                    Place::Duplicate
                } else if offset == cumulative {
                    Place::Next
                } else if set.last().is_some_and(|&last| offset < last) {
                    Place::Below
                } else {
                    Place::Above
                };
                prop_assert_eq!(map.place(tsn), expected);
                if expected != Place::Duplicate {
                    map.insert(tsn);
                    set.insert(offset);
                }
                while set.remove(&cumulative) {
                    cumulative += 1;
                }
                turn += 1;
                if turn % 7 == 0 && let Some(last) = set.pop_last() {
                    let two = set.contains(&(last - 1)) && set.remove(&(last - 1));
                    map.remove(initial.plus(last - u32::from(two)), initial.plus(last));
                } else if turn % 11 == 0 && let Some(first) = set.pop_first() {
                    map.remove(initial.plus(first), initial.plus(first));
                }
                prop_assert_eq!(map.cumulative(), initial.plus(cumulative).previous());
                let reported: Vec<u32> = map.gap_blocks(100).iter()
                    .flat_map(|gap| gap.start..=gap.end)
                    .map(|distance| u32::from(distance) + cumulative - 1)
                    .collect();
                prop_assert_eq!(reported, set.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(map.has_gap(), !set.is_empty());
            }
            prop_assert_eq!(map.place(map.cumulative().plus(65_536)), Place::TooFar);
        }
    }
}
