//! A level over time.

use headway_sansio::Time;

/// Mean over time and greatest value of something that changes in steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gauge {
    level: u64,
    since: Time,
    /// Level times nanoseconds, up to `since`.
    integral: u128,
    from: Option<Time>,
    max: u64,
}

impl Gauge {
    /// The level is `level` from `now` on. The first call starts the clock.
    #[inline]
    pub(super) fn set(&mut self, now: Time, level: u64) {
        if level != self.level || self.from.is_none() {
            self.change(now, level);
        }
    }

    fn change(&mut self, now: Time, level: u64) {
        if self.from.is_none() {
            self.from = Some(now);
            self.since = now;
        }
        self.integral += u128::from(self.level) * u128::from(now.since(self.since).as_nanos());
        self.level = level;
        self.since = now;
        self.max = self.max.max(level);
    }

    /// The mean up to `now`; undefined where no time has passed.
    pub(super) fn mean(&self, now: Time) -> Option<f64> {
        let elapsed = now.since(self.from?).as_nanos();
        let rest = u128::from(self.level) * u128::from(now.since(self.since).as_nanos());
        (elapsed > 0).then(|| (self.integral + rest) as f64 / elapsed as f64)
    }

    /// The level; undefined before the first one.
    pub(super) fn level(&self) -> Option<u64> {
        self.from.map(|_| self.level)
    }

    /// The greatest level so far.
    pub(super) fn max(&self) -> u64 {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighs_by_time() {
        let mut gauge = Gauge::default();
        gauge.set(Time::from_nanos(100), 10);
        gauge.set(Time::from_nanos(130), 50);
        gauge.set(Time::from_nanos(140), 0);
        assert_eq!(
            gauge.mean(Time::from_nanos(200)),
            Some((300.0 + 500.0) / 100.0)
        );
        assert_eq!(gauge.max(), 50);
        assert_eq!(Gauge::default().mean(Time::from_nanos(5)), None);
    }
}
