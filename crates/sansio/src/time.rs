//! Virtual or real time, counted in whole nanoseconds from zero.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A point in time: nanoseconds since the driver's zero.
///
/// 64 bits reach over 584 years, so sums do not overflow in practice; they
/// saturate all the same, because a machine must not panic on a hostile timer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Time {
    /// The driver's zero.
    pub const ZERO: Self = Self(0);
    /// Later than everything that happens.
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    /// The time `nanos` nanoseconds after zero.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since zero.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since zero.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// How long after `earlier` this is; zero where it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than everything that is waited for.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// `secs` seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// `secs` seconds, rounded to the nearest nanosecond; negative and NaN give zero.
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Self {
        // The cast saturates at both ends and maps NaN to zero.
        Self((secs * 1e9 + 0.5) as u64)
    }

    /// Whole nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Whether this is no time at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The difference, or zero where `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The distance between two durations.
    #[must_use]
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    /// The time that `bytes` take at `bits_per_second`, rounded up to a whole
    /// nanosecond. A rate of zero never ends: [`Duration::MAX`].
    #[must_use]
    pub const fn of_transmission(bytes: u64, bits_per_second: u64) -> Self {
        if bits_per_second == 0 {
            return Self::MAX;
        }
        let bit_nanos = bytes as u128 * 8 * 1_000_000_000;
        let nanos = bit_nanos.div_ceil(bits_per_second as u128);
        if nanos > u64::MAX as u128 {
            Self::MAX
        } else {
            Self(nanos as u64)
        }
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, rhs: Duration) {
        *self = *self + rhs;
    }
}

impl Sub<Duration> for Time {
    type Output = Self;
    fn sub(self, rhs: Duration) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        self.saturating_sub(rhs)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, rhs: Self) {
        *self = *self - rhs;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, rhs: u64) -> Self {
        Self(self.0.saturating_mul(rhs))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, rhs: u64) -> Self {
        Self(self.0 / rhs)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09}s",
            self.0 / 1_000_000_000,
            self.0 % 1_000_000_000
        )
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09}s",
            self.0 / 1_000_000_000,
            self.0 % 1_000_000_000
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences() {
        let t = Time::from_nanos(5) + Duration::from_millis(20);
        assert_eq!(t.as_nanos(), 20_000_005);
        assert_eq!(t.since(Time::from_nanos(5)), Duration::from_millis(20));
        assert_eq!(Time::ZERO.since(t), Duration::ZERO);
        assert_eq!(Time::FAR_FUTURE + Duration::from_secs(1), Time::FAR_FUTURE);
    }

    #[test]
    fn seconds_round_to_nanoseconds() {
        assert_eq!(
            Duration::from_secs_f64(0.020_000_000_4).as_nanos(),
            20_000_000
        );
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
    }

    #[test]
    fn transmission_time_rounds_up() {
        assert_eq!(
            Duration::of_transmission(1500, 100_000_000),
            Duration::from_micros(120)
        );
        assert_eq!(Duration::of_transmission(1, 3).as_nanos(), 2_666_666_667);
        assert_eq!(Duration::of_transmission(1, 0), Duration::MAX);
    }
}
