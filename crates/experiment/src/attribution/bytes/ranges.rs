//! A few disjoint ranges of offsets, lowest first.

/// Disjoint ranges that do not touch. There are as many as gaps in a stream, so
/// a list that is searched from its end does.
#[derive(Debug, Default)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds `start..end` and tells each part that was not there before.
    pub(super) fn insert(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        // The ranges that touch the new one become one with it.
        let first = self.0.partition_point(|range| range.1 < start);
        let mut last = first;
        let (mut low, mut high) = (start, end);
        let mut at = start;
        while let Some(&(from, to)) = self.0.get(last)
            && from <= end
        {
            if at < from {
                new(at, from);
            }
            at = at.max(to);
            low = low.min(from);
            high = high.max(to);
            last += 1;
        }
        if at < end {
            new(at, end);
        }
        self.0.splice(first..last, [(low, high)]);
    }

    /// Removes `start..end`. Returns whether any of it was there.
    pub(super) fn remove(&mut self, start: u64, end: u64) -> bool {
        if self.0.is_empty() || start >= end {
            return false;
        }
        let first = self.0.partition_point(|range| range.1 <= start);
        let last = self.0.partition_point(|range| range.0 < end);
        if first == last {
            return false;
        }
        let (low, high) = (self.0[first].0, self.0[last - 1].1);
        let left = (low < start).then_some((low, start));
        let right = (end < high).then_some((end, high));
        self.0.splice(first..last, left.into_iter().chain(right));
        true
    }

    /// The ranges, or parts of them, in `start..end`.
    pub(super) fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.0.partition_point(|range| range.1 <= start);
        let inside = self.0[first..]
            .iter()
            .take_while(move |range| range.0 < end);
        inside.map(move |&(from, to)| (from.max(start), to.min(end)))
    }

    /// Takes the first range if it begins at or below `offset`; returns its end.
    pub(super) fn take_first_from(&mut self, offset: u64) -> Option<u64> {
        let &(start, end) = self.0.first()?;
        (start <= offset).then(|| {
            self.0.remove(0);
            end
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a set of single offsets.
        #[test]
        fn as_single_offsets(steps in prop::collection::vec((0_u64..60, 0_u64..9, any::<bool>()), 1..60)) {
            let mut ranges = Ranges::default();
            let mut there = [false; 70];
            for (start, len, add) in steps {
                let end = start + len;
                let within = start as usize..end as usize;
                if add {
                    let mut told = Vec::new();
                    ranges.insert(start, end, |from, to| told.extend(from..to));
                    let new: Vec<u64> = (start..end).filter(|&i| !there[i as usize]).collect();
                    prop_assert_eq!(told, new);
                    there[within].fill(true);
                } else {
                    let any = there[within.clone()].contains(&true);
                    let inside: u64 = ranges.within(start, end).map(|(a, b)| b - a).sum();
                    prop_assert_eq!(inside > 0, any);
                    prop_assert_eq!(ranges.remove(start, end), any);
                    there[within].fill(false);
                }
                for (i, &expected) in there.iter().enumerate() {
                    let i = i as u64;
                    let held = ranges.0.iter().any(|&(from, to)| from <= i && i < to);
                    prop_assert_eq!(held, expected);
                }
                prop_assert!(ranges.0.windows(2).all(|w| w[0].1 < w[1].0));
                prop_assert!(ranges.0.iter().all(|range| range.0 < range.1));
            }
        }
    }
}
