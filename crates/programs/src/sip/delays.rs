//! Delays summed up as the laboratory does.

use std::collections::BTreeMap;

use headway_sansio::Duration;
use serde_json::{Map, Value};

/// Different delays that are kept as they are.
const MOST_EXACT: usize = 1 << 16;

/// Leading bits of a delay in nanoseconds that are kept where there are more.
const BITS: u32 = 11;

/// A summary of the delays of one kind that stays small however many there are.
///
/// Count, mean, standard deviation and maximum are always exact. Quantiles are
/// exact up to [`MOST_EXACT`] different delays; from then on each delay counts as
/// the middle of its bucket, which is within 2^-11 (0.05 %) of it. There are fewer
/// buckets than [`MOST_EXACT`].
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Delays {
    /// How often each delay was, in nanoseconds.
    counts: BTreeMap<u64, u64>,
    rounded: bool,
    count: u64,
    /// Mean and sum of squared deviations from it, in seconds, in Welford's way.
    mean: f64,
    squares: f64,
    most: Duration,
}

impl Delays {
    pub(crate) fn add(&mut self, delay: Duration) {
        let seconds = delay.as_secs_f64();
        self.count += 1;
        let deviation = seconds - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (seconds - self.mean);
        self.most = self.most.max(delay);
        let value = match self.rounded {
            true => round(delay.as_nanos()),
            false => delay.as_nanos(),
        };
        *self.counts.entry(value).or_default() += 1;
        if self.counts.len() > MOST_EXACT {
            self.rounded = true;
            for (value, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(round(value)).or_default() += count;
            }
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Standard deviation of the sample, with n - 1.
    pub(crate) fn sd(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }

    /// Linear between order statistics: the rule of all of Headway's quantiles.
    pub(crate) fn quantile(&self, level: f64) -> Option<f64> {
        let last = self.count.checked_sub(1)?;
        let position = level.clamp(0.0, 1.0) * last as f64;
        let below = position.floor();
        let low = self.order(below as u64);
        let high = self.order((below as u64 + 1).min(last));
        Some(low + (high - low) * (position - below))
    }

    /// The delay that so many others precede, in seconds.
    fn order(&self, rank: u64) -> f64 {
        let mut before = 0;
        let found = self.counts.iter().find(|(_, count)| {
            before += **count;
            before > rank
        });
        // The middle of the last bucket may lie above all that is in it.
        let most = self.most.as_nanos();
        let value = found.map_or(most, |(value, _)| (*value).min(most));
        Duration::from_nanos(value).as_secs_f64()
    }

    /// Name, with its unit, and value of each figure.
    pub(crate) fn figures(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("mean_s", self.mean()),
            ("sd_s", self.sd()),
            ("p50_s", self.quantile(0.5)),
            ("p90_s", self.quantile(0.9)),
            ("p95_s", self.quantile(0.95)),
            ("p99_s", self.quantile(0.99)),
            ("max_s", (self.count > 0).then(|| self.most.as_secs_f64())),
        ]
    }

    /// Adds the figures to a report, `psd_mean_s` and so on where the prefix is `psd`.
    pub(crate) fn put(&self, report: &mut Map<String, Value>, prefix: &str) {
        for (name, value) in self.figures() {
            report.insert(format!("{prefix}_{name}"), value.into());
        }
    }
}

/// The middle of the bucket that a delay is in. Rounding again changes nothing.
fn round(nanos: u64) -> u64 {
    let shift = (u64::BITS - nanos.leading_zeros()).saturating_sub(BITS);
    let floor = nanos >> shift << shift;
    floor + ((1 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(all: impl IntoIterator<Item = Duration>) -> Delays {
        let mut delays = Delays::default();
        all.into_iter().for_each(|delay| delays.add(delay));
        delays
    }

    #[test]
    fn figures_are_those_of_the_sample() {
        let delays = delays([8, 1, 4, 2].map(Duration::from_secs));
        assert_eq!(delays.mean(), Some(3.75));
        assert_eq!(delays.quantile(0.5), Some(3.0));
        assert_eq!(delays.quantile(0.95), Some(4.0 + 4.0 * (0.95 * 3.0 - 2.0)));
        assert_eq!(delays.quantile(1.0), Some(8.0));
        let sd = delays.sd().unwrap();
        assert!((sd - 3.095_695_936_834_452).abs() < 1e-12, "{sd}");
        let none = Delays::default();
        assert!(none.figures().iter().all(|(_, value)| value.is_none()));
        let mut one = Delays::default();
        one.add(Duration::from_secs(1));
        assert_eq!(
            (one.count(), one.sd(), one.quantile(0.5)),
            (1, None, Some(1.0))
        );
    }

    #[test]
    fn many_delays_take_bounded_room_and_keep_their_quantiles() {
        // All different, from 1 ms to 1000 s, each decade as often.
        let many = 400_000_u32;
        let nth = |n: u32| 1e-3 * 10_f64.powf(6.0 * f64::from(n) / f64::from(many - 1));
        // In an order that has nothing to do with their size.
        let all = (0..many).map(|n| nth((u64::from(n) * 7_919 % u64::from(many)) as u32));
        let delays = delays(all.map(Duration::from_secs_f64));
        assert!(delays.counts.len() < 25_000, "{}", delays.counts.len());
        assert_eq!(delays.count(), u64::from(many));
        for level in [0.0, 0.1, 0.5, 0.9, 0.99, 0.9999] {
            let exact = 1e-3 * 10_f64.powf(6.0 * level);
            let error = delays.quantile(level).unwrap() / exact - 1.0;
            assert!(error.abs() < 5.2e-4, "{level}: {error}");
        }
        let mean = (0..many).map(nth).sum::<f64>() / f64::from(many);
        assert!((delays.mean().unwrap() / mean - 1.0).abs() < 1e-9);
        assert_eq!(delays.figures()[6], ("max_s", Some(1000.0)));
    }

    #[test]
    fn rounding_holds_at_the_edges() {
        for nanos in [0, 1, 2_046, 2_047, 2_048, 4_095, u64::MAX - 1, u64::MAX] {
            let rounded = round(nanos);
            assert_eq!(round(rounded), rounded, "{nanos}");
            assert!(rounded.abs_diff(nanos) <= nanos >> 11, "{nanos}: {rounded}");
        }
    }
}
