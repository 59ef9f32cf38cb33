//! How many INITs come in: a bucket of tokens in the driver's time.

use headway_sansio::Time;

use crate::InitLimit;

/// What one INIT takes out of the bucket, so that a nanosecond at `per_second` fills
/// in a whole number.
const INIT: u64 = 1_000_000_000;

#[derive(Debug)]
pub(super) struct Gate {
    /// `None`: it stands open.
    limit: Option<InitLimit>,
    /// What is in the bucket, in billionths of an INIT.
    level: u64,
    /// When that was so.
    filled: Time,
    /// INITs that have taken their token already and are still to arrive.
    expected: u32,
}

impl Gate {
    pub(super) fn new(limit: Option<InitLimit>) -> Self {
        Self {
            limit,
            level: limit.map_or(0, full),
            filled: Time::ZERO,
            expected: 0,
        }
    }

    /// An INIT is in sight that is not read yet. Says whether it may come.
    pub(super) fn expect(&mut self, now: Time) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        let may_come = self.draw(now, limit);
        if may_come {
            // Those that turn out to be unreadable never arrive, and their tokens are
            // still good: no more come in than tokens were drawn.
            self.expected = self.expected.saturating_add(1);
        }
        may_come
    }

    /// An INIT is here. Says whether it may come in.
    pub(super) fn pass(&mut self, now: Time) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        if self.expected > 0 {
            self.expected -= 1;
            return true;
        }
        self.draw(now, limit)
    }

    fn draw(&mut self, now: Time, limit: InitLimit) -> bool {
        let waited = now.since(self.filled).as_nanos();
        self.filled = self.filled.max(now);
        let gained = waited.saturating_mul(u64::from(limit.per_second));
        self.level = self.level.saturating_add(gained).min(full(limit));
        match self.level.checked_sub(INIT) {
            Some(rest) => {
                self.level = rest;
                true
            }
            None => false,
        }
    }
}

/// No burst is so long that this overflows.
const fn full(limit: InitLimit) -> u64 {
    limit.burst as u64 * INIT
}

#[cfg(test)]
mod tests {
    use headway_sansio::Duration;

    use super::*;

    fn gate(per_second: u32, burst: u32) -> Gate {
        Gate::new(Some(InitLimit { per_second, burst }))
    }

    fn passed(gate: &mut Gate, now: Time, tries: u32) -> u32 {
        (0..tries).filter(|_| gate.pass(now)).count() as u32
    }

    #[test]
    fn a_burst_and_then_the_rate_to_the_nanosecond() {
        let mut gate = gate(3, 5);
        let start = Time::ZERO + Duration::from_secs(9);
        assert_eq!(passed(&mut gate, start, 100), 5);
        // A third of a second is 333,333,333 ns and a bit.
        assert!(!gate.pass(start + Duration::from_nanos(333_333_333)));
        assert!(gate.pass(start + Duration::from_nanos(333_333_334)));
        assert!(!gate.pass(start + Duration::from_nanos(666_666_666)));
        assert!(gate.pass(start + Duration::from_nanos(666_666_667)));
        assert!(gate.pass(start + Duration::from_secs(1)));
        assert!(!gate.pass(start + Duration::from_secs(1)));
        // However long it was quiet: a burst.
        assert_eq!(passed(&mut gate, start + Duration::from_secs(100), 100), 5);
    }

    #[test]
    fn small_steps_give_what_a_long_one_does() {
        let mut gate = gate(100_000, 10);
        let mut now = Time::ZERO;
        assert_eq!(passed(&mut gate, now, 11), 10);
        let mut through = 0;
        for _ in 0..1_000_000 {
            now += Duration::from_nanos(999);
            through += passed(&mut gate, now, 1);
        }
        assert_eq!(through, 99_900);
    }

    #[test]
    fn the_ends_of_numbers() {
        let mut all = gate(u32::MAX, u32::MAX);
        assert!(all.pass(Time::FAR_FUTURE) && all.expect(Time::FAR_FUTURE));
        // A clock that steps back fills nothing.
        assert!(all.pass(Time::ZERO));
        assert_eq!(all.filled, Time::FAR_FUTURE);
        let mut slow = gate(1, 1);
        assert_eq!(passed(&mut slow, Time::ZERO, 9), 1);
        assert_eq!(passed(&mut slow, Time::FAR_FUTURE, 9), 1);
        assert_eq!(passed(&mut slow, Time::ZERO, 9), 0);
        for (per_second, burst) in [(0, 0), (5, 0)] {
            let mut shut = gate(per_second, burst);
            assert_eq!(passed(&mut shut, Time::FAR_FUTURE, 9), 0);
            assert!(!shut.expect(Time::FAR_FUTURE));
        }
        assert_eq!(passed(&mut Gate::new(None), Time::ZERO, 1_000), 1_000);
    }

    #[test]
    fn who_has_shown_a_token_outside_needs_none_inside() {
        let mut gate = gate(1, 3);
        let now = Time::ZERO;
        assert!(gate.expect(now) && gate.expect(now));
        assert!(gate.pass(now) && gate.pass(now) && gate.pass(now));
        assert!(!gate.pass(now) && !gate.expect(now));
        // As many as are in sight at once, also where a burst is shorter.
        for second in 1..100 {
            assert!(gate.expect(now + Duration::from_secs(second)));
        }
        let then = now + Duration::from_secs(99);
        assert_eq!(passed(&mut gate, then, 200), 99);
        gate.expected = u32::MAX;
        assert!(gate.expect(then + Duration::from_secs(1)));
    }
}
