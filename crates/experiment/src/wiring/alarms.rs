//! The earliest of many times, each of which may move.

use headway_sansio::Time;

/// A tournament tree: who is due first stands at its root, and moving one time
/// asks only those on its way up.
#[derive(Clone, Debug)]
pub(super) struct Alarms {
    /// Node 1 is the root; the children of `i` are `2 i` and `2 i + 1`; the last
    /// half are the times themselves.
    tree: Vec<Time>,
}

impl Alarms {
    /// So many times, none of them set.
    pub(super) fn new(len: usize) -> Self {
        Self {
            tree: vec![Time::FAR_FUTURE; 2 * len.next_power_of_two()],
        }
    }

    fn leaves(&self) -> usize {
        self.tree.len() / 2
    }

    /// Makes room for time number `index`.
    pub(super) fn reach(&mut self, index: usize) {
        if index < self.leaves() {
            return;
        }
        let mut larger = Self::new(index + 1);
        for i in 0..self.leaves() {
            larger.set(i, Some(self.tree[self.leaves() + i]));
        }
        *self = larger;
    }

    /// Sets time number `index`; `None`: never.
    #[inline]
    pub(super) fn set(&mut self, index: usize, at: Option<Time>) {
        let mut node = self.leaves() + index;
        self.tree[node] = at.unwrap_or(Time::FAR_FUTURE);
        while node > 1 {
            let least = self.tree[node].min(self.tree[node ^ 1]);
            node /= 2;
            if self.tree[node] == least {
                return;
            }
            self.tree[node] = least;
        }
    }

    /// The earliest time, if any is set.
    #[inline]
    pub(super) fn first(&self) -> Option<Time> {
        let first = self.tree[1];
        (first != Time::FAR_FUTURE).then_some(first)
    }

    /// The number of a time at or before `now`: of several, the least number.
    pub(super) fn due(&self, now: Time) -> Option<usize> {
        if self.tree[1] > now {
            return None;
        }
        let mut node = 1;
        while node < self.leaves() {
            node *= 2;
            if self.tree[node] > now {
                node += 1;
            }
        }
        Some(node - self.leaves())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_plain_list(steps in prop::collection::vec((0_usize..40, 0_u64..100, any::<bool>()), 1..200)) {
            let mut alarms = Alarms::new(1);
            let mut list = [None; 40];
            for (index, at, set) in steps {
                let at = set.then(|| Time::from_nanos(at));
                alarms.reach(index);
                alarms.set(index, at);
                list[index] = at;
                let first = list.iter().flatten().min().copied();
                prop_assert_eq!(alarms.first(), first);
                let now = Time::from_nanos(50);
                let due = list.iter().position(|at| at.is_some_and(|at| at <= now));
                prop_assert_eq!(alarms.due(now), due);
            }
        }
    }
}
