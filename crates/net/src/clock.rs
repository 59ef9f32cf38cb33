//! The monotonic clock as [`Time`].

use headway_sansio::Time;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// Counts nanoseconds since it was made, on the clock that never steps.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero_ns: u64,
}

impl Clock {
    /// A clock whose zero is now.
    #[must_use]
    pub fn start() -> Self {
        Self {
            zero_ns: monotonic_ns(),
        }
    }

    /// Now. Never decreases.
    #[must_use]
    pub fn now(&self) -> Time {
        Time::from_nanos(monotonic_ns() - self.zero_ns)
    }

    /// `at` as the operating system's monotonic clock counts it.
    pub(crate) fn to_monotonic(self, at: Time) -> TimeSpec {
        let ns = self.zero_ns.saturating_add(at.as_nanos());
        // Seconds of a 64-bit count of nanoseconds always fit.
        TimeSpec::new((ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64)
    }
}

fn monotonic_ns() -> u64 {
    // Linux always has this clock.
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("a monotonic clock");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_from_its_start_and_never_back() {
        let clock = Clock::start();
        let mut last = clock.now();
        assert!(last.as_nanos() < 1_000_000_000);
        for _ in 0..10_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
        let there = clock.to_monotonic(last);
        let ns = there.tv_sec() as u64 * 1_000_000_000 + there.tv_nsec() as u64;
        assert_eq!(ns - clock.zero_ns, last.as_nanos());
    }
}
