//! Disjoint ranges of stream offsets, in ascending order.

/// A set of offsets, kept as ranges that neither overlap nor touch.
///
/// Both sides of SACK use it: the receiver for what it holds beyond a gap, the
/// sender for what the receiver reported. There is one range for each gap, so
/// the vector stays short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeSet {
    ranges: Vec<(u64, u64)>,
}

impl RangeSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The ranges, lowest first; `end` is exclusive.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// One past the highest offset held; zero where nothing is held.
    pub(crate) fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |r| r.1)
    }

    /// Adds `start..end`, calls `new` with each part that was not held before,
    /// lowest first, and returns the range that now holds it.
    pub(crate) fn insert(
        &mut self,
        start: u64,
        end: u64,
        mut new: impl FnMut(u64, u64),
    ) -> (u64, u64) {
        debug_assert!(start < end, "an empty range is no range");
        // In order or appended at the top: by far the most frequent case.
        let from = match self.ranges.last() {
            Some(last) if last.1 < start => self.ranges.len(),
            _ => self.ranges.partition_point(|r| r.1 < start),
        };
        let mut merged = (start, end);
        let mut covered = start;
        let mut to = from;
        while let Some(&(s, e)) = self.ranges.get(to).filter(|r| r.0 <= end) {
            if covered < s {
                new(covered, s);
            }
            covered = covered.max(e);
            merged = (merged.0.min(s), merged.1.max(e));
            to += 1;
        }
        if covered < end {
            new(covered, end);
        }
        if from == to {
            self.ranges.insert(from, merged);
        } else {
            self.ranges[from] = merged;
            self.ranges.drain(from + 1..to);
        }
        merged
    }

    /// Forgets everything below `offset`.
    pub(crate) fn remove_below(&mut self, offset: u64) {
        match self.ranges.first() {
            None => return,
            Some(first) if first.0 >= offset => return,
            Some(_) => {}
        }
        let gone = self.ranges.partition_point(|r| r.1 <= offset);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(offset);
        }
    }

    /// The range that holds `offset`.
    pub(crate) fn containing(&self, offset: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|r| r.1 <= offset);
        self.ranges.get(at).copied().filter(|r| r.0 <= offset)
    }

    /// The first part of `start..end` that is held.
    pub(crate) fn first_overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|r| r.1 <= start);
        self.ranges
            .get(at)
            .filter(|r| r.0 < end)
            .map(|r| (r.0.max(start), r.1.min(end)))
    }

    /// Whether all of `start..end` is held.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        self.containing(start).is_some_and(|r| r.1 >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn touching_ranges_become_one() {
        let mut set = RangeSet::default();
        set.insert(10, 20, |_, _| {});
        set.insert(30, 40, |_, _| {});
        let mut new = Vec::new();
        assert_eq!(set.insert(15, 30, |s, e| new.push((s, e))), (10, 40));
        assert_eq!(new, [(20, 30)]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [(10, 40)]);
        set.remove_below(35);
        assert_eq!(set.iter().collect::<Vec<_>>(), [(35, 40)]);
        assert!(set.covers(36, 40) && !set.covers(34, 40));
    }

    proptest! {
        #[test]
        fn agrees_with_a_bit_map(
            inserts in prop::collection::vec((0_u64..200, 1_u64..40), 1..60),
            below in 0_u64..200,
        ) {
            let mut set = RangeSet::default();
            let mut bits = [false; 256];
            for (start, len) in inserts {
                let mut fresh = Vec::new();
                let merged = set.insert(start, start + len, |s, e| fresh.extend(s..e));
                let expected: Vec<u64> =
                    (start..start + len).filter(|&i| !bits[i as usize]).collect();
                prop_assert_eq!(fresh, expected);
                for i in start..start + len {
                    bits[i as usize] = true;
                }
                prop_assert!(merged.0 <= start && merged.1 >= start + len);
                prop_assert!(set.covers(merged.0, merged.1));
            }
            set.remove_below(below);
            let held: Vec<u64> = set.iter().flat_map(|(s, e)| s..e).collect();
            let expected: Vec<u64> =
                (below..256).filter(|&i| bits[i as usize]).collect();
            prop_assert_eq!(held, expected);
            let ranges: Vec<_> = set.iter().collect();
            prop_assert!(ranges.windows(2).all(|w| w[0].1 < w[1].0));
        }
    }
}
