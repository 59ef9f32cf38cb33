//! Tags of associations that are over, as long as a cookie that bears one may
//! still be good: whoever replays it must not bring the association back.

use std::collections::{BTreeSet, VecDeque};

use headway_sansio::{Duration, Time};

/// The most that are remembered; beyond, the oldest is forgotten.
const MOST: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Retired {
    tags: BTreeSet<u32>,
    /// In the order in which they are forgotten.
    until: VecDeque<(Time, u32)>,
}

impl Retired {
    /// Remembers a tag for so long.
    pub(super) fn add(&mut self, now: Time, lifetime: Duration, tag: u32) {
        self.forget(now);
        if self.until.len() >= MOST
            && let Some((_, oldest)) = self.until.pop_front()
        {
            self.tags.remove(&oldest);
        }
        if self.tags.insert(tag) {
            self.until.push_back((now + lifetime, tag));
        }
    }

    pub(super) fn contains(&self, tag: u32) -> bool {
        self.tags.contains(&tag)
    }

    fn forget(&mut self, now: Time) {
        while let Some(&(until, tag)) = self.until.front() {
            if until > now {
                break;
            }
            self.until.pop_front();
            self.tags.remove(&tag);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_forgotten_in_time_and_in_number() {
        let mut retired = Retired::default();
        let minute = Duration::from_secs(60);
        retired.add(Time::ZERO, minute, 7);
        assert!(retired.contains(7) && !retired.contains(8));
        retired.add(Time::ZERO + minute, minute, 8);
        assert!(!retired.contains(7) && retired.contains(8));
        for tag in 100..100 + MOST as u32 {
            retired.add(Time::ZERO + minute, minute, tag);
        }
        assert!(!retired.contains(8) && retired.contains(100));
        assert_eq!(retired.tags.len(), MOST);
    }
}
