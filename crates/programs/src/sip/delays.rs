//! Delays summed up as the laboratory does.

use headway_sansio::Duration;
use serde_json::{Map, Value};

/// Delays of one kind, in seconds, sorted.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Delays(Vec<f64>);

impl FromIterator<Duration> for Delays {
    fn from_iter<I: IntoIterator<Item = Duration>>(delays: I) -> Self {
        let mut seconds: Vec<f64> = delays.into_iter().map(Duration::as_secs_f64).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        Self(seconds)
    }
}

impl Delays {
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let count = self.0.len() as f64;
        (count > 0.0).then(|| self.0.iter().sum::<f64>() / count)
    }

    /// Standard deviation of the sample, with n - 1.
    pub(super) fn sd(&self) -> Option<f64> {
        let mean = self.mean()?;
        let freedom = (self.0.len() - 1) as f64;
        let squares = self.0.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        (freedom > 0.0).then(|| (squares / freedom).sqrt())
    }

    /// Linear between order statistics: the rule of all of Headway's quantiles.
    pub(super) fn quantile(&self, level: f64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        let position = level.clamp(0.0, 1.0) * last as f64;
        let below = position.floor();
        let low = self.0[(below as usize).min(last)];
        let high = self.0[(below as usize + 1).min(last)];
        Some(low + (high - low) * (position - below))
    }

    /// Name, with its unit, and value of each figure.
    pub(super) fn figures(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("mean_s", self.mean()),
            ("sd_s", self.sd()),
            ("p50_s", self.quantile(0.5)),
            ("p90_s", self.quantile(0.9)),
            ("p95_s", self.quantile(0.95)),
            ("p99_s", self.quantile(0.99)),
            ("max_s", self.quantile(1.0)),
        ]
    }

    /// Adds the figures to a report, `psd_mean_s` and so on where the prefix is `psd`.
    pub(super) fn put(&self, report: &mut Map<String, Value>, prefix: &str) {
        for (name, value) in self.figures() {
            report.insert(format!("{prefix}_{name}"), value.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_sample() {
        let delays: Delays = [8, 1, 4, 2].into_iter().map(Duration::from_secs).collect();
        assert_eq!(delays.mean(), Some(3.75));
        assert_eq!(delays.quantile(0.5), Some(3.0));
        assert_eq!(delays.quantile(0.95), Some(4.0 + 4.0 * (0.95 * 3.0 - 2.0)));
        assert_eq!(delays.quantile(1.0), Some(8.0));
        let sd = delays.sd().unwrap();
        assert!((sd - 3.095_695_936_834_452).abs() < 1e-12, "{sd}");
        let none = Delays::from_iter([]);
        assert!(none.figures().iter().all(|(_, value)| value.is_none()));
        let one: Delays = [Duration::from_secs(1)].into_iter().collect();
        assert_eq!(
            (one.count(), one.sd(), one.quantile(0.5)),
            (1, None, Some(1.0))
        );
    }
}
