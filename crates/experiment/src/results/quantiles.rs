//! The project's one quantile rule, and counts in bins.

use headway_sansio::Duration;

/// Quantiles 0, 0.005, ..., 1 of one metric in one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Distribution {
    /// The metric.
    pub metric: &'static str,
    /// [`Distribution::POINTS`] values, ascending; empty where nothing was measured.
    pub quantiles: Vec<f64>,
    /// How many values fell into each of the bins from 0 on, up to the last that
    /// holds one; `None` for a metric that is not counted so.
    pub counts: Option<Vec<u64>>,
}

impl Distribution {
    /// How many quantiles a distribution has.
    pub const POINTS: usize = 201;

    /// The distribution of `sorted` values.
    #[must_use]
    pub fn of(metric: &'static str, sorted: &[f64]) -> Self {
        let quantiles = if sorted.is_empty() {
            Vec::new()
        } else {
            let step = 1.0 / (Self::POINTS - 1) as f64;
            (0..Self::POINTS)
                .filter_map(|i| quantile(sorted, i as f64 * step))
                .collect()
        };
        Self {
            metric,
            quantiles,
            counts: None,
        }
    }

    /// The same, with the values counted in bins `[x, x + width)` from zero on.
    #[must_use]
    pub fn with_counts(mut self, width: Duration, values: impl Iterator<Item = Duration>) -> Self {
        let mut counts = Vec::new();
        for value in values {
            let bin = (value.as_nanos() / width.as_nanos()) as usize;
            if counts.len() <= bin {
                counts.resize(bin + 1, 0);
            }
            counts[bin] += 1;
        }
        self.counts = Some(counts);
        self
    }
}

/// The quantile `q` (0..=1) of ascending values, by linear interpolation
/// between order statistics: position `q (n - 1)` (Hyndman and Fan's type 7, the
/// default of numpy and R). `None` where there are no values.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor();
    let index = below as usize;
    let low = sorted[index.min(last)];
    let high = sorted[(index + 1).min(last)];
    Some(low + (high - low) * (position - below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_between_order_statistics() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 0.5), Some(3.0));
        assert_eq!(quantile(&values, 1.0), Some(8.0));
        assert_eq!(
            quantile(&values, 0.95),
            Some(4.0 + 4.0 * (0.95 * 3.0 - 2.0))
        );
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
    }

    #[test]
    fn a_distribution_runs_from_least_to_greatest() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let distribution = Distribution::of("x", &values);
        assert_eq!(distribution.quantiles.len(), Distribution::POINTS);
        assert_eq!(distribution.quantiles[0], 0.0);
        assert_eq!(distribution.quantiles[200], 999.0);
        assert!(Distribution::of("x", &[]).quantiles.is_empty());
    }

    #[test]
    fn bins_begin_at_their_lower_end() {
        let width = Duration::from_millis(250);
        let values = [0, 24, 249, 250, 1_524].map(Duration::from_millis);
        let distribution = Distribution::of("x", &[]).with_counts(width, values.into_iter());
        assert_eq!(distribution.counts, Some(vec![3, 1, 0, 0, 0, 0, 1]));
    }
}
