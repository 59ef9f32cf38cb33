//! Delays of any number of messages in constant memory.

use headway_sansio::Duration;

use super::Distribution;

/// Values are counted in units of 2^10 ns.
const UNIT_BITS: u32 = 10;
/// Bins to each doubling: 2^10.
const SUB_BITS: u32 = 10;
const SUB: u64 = 1 << SUB_BITS;

/// Counts of durations in bins whose width follows the value.
///
/// Up to about one millisecond a bin is 1.024 us wide; above, a bin's width is
/// at most 1/1024 of its values. So an order statistic read from it is off by
/// less than 1.1 us or 0.1 %, whichever is more. Count, mean, standard
/// deviation, least and greatest value are exact. A run of any length takes at
/// most 0.4 MB.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    bins: Vec<u64>,
    count: u64,
    sum: u128,
    squares: u128,
    least: u64,
    most: u64,
}

/// How far a search by rank has come: a bin, and how many values lie below it.
#[derive(Clone, Debug, Default)]
struct Cursor {
    bin: usize,
    before: u64,
}

/// The bin of a value.
#[inline]
fn bin(nanos: u64) -> usize {
    let units = nanos >> UNIT_BITS;
    if units < SUB {
        return units as usize;
    }
    let shift = units.ilog2() - SUB_BITS;
    (u64::from(shift) * SUB + (units >> shift)) as usize
}

/// Least value of a bin, and its width, in nanoseconds.
fn bounds(bin: usize) -> (f64, f64) {
    let bin = bin as u64;
    let (low, width) = if bin < 2 * SUB {
        (bin, 1)
    } else {
        let shift = bin / SUB - 1;
        ((bin - shift * SUB) << shift, 1 << shift)
    };
    let nanos = |units: u64| (units << UNIT_BITS) as f64;
    (nanos(low), nanos(width))
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: Duration) {
        let nanos = value.as_nanos();
        let bin = bin(nanos);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
        self.least = if self.count == 0 {
            nanos
        } else {
            self.least.min(nanos)
        };
        self.most = self.most.max(nanos);
        self.count += 1;
        self.sum += u128::from(nanos);
        self.squares += u128::from(nanos) * u128::from(nanos);
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            *mine += theirs;
        }
        self.least = if self.count == 0 {
            other.least
        } else {
            self.least.min(other.least)
        };
        self.most = self.most.max(other.most);
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// How many values were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean in seconds.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e9)
    }

    /// Their sample standard deviation in seconds.
    #[must_use]
    pub fn sd(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        // n sum(x^2) - sum(x)^2 is an integer, so nothing cancels.
        let n = u128::from(self.count);
        let spread = n
            .checked_mul(self.squares)
            .zip(self.sum.checked_mul(self.sum))
            .map(|(a, b)| (a - b) as f64 / n as f64)
            .unwrap_or_else(|| {
                self.squares as f64 - self.sum as f64 * (self.sum as f64 / n as f64)
            });
        Some((spread / (n - 1) as f64).max(0.0).sqrt() / 1e9)
    }

    /// The greatest value in seconds.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then(|| self.most as f64 / 1e9)
    }

    /// The quantile `q` (0..=1) in seconds, by the rule of
    /// [`quantile`](super::quantile) on values spread evenly within their bins.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.quantile_from(q, &mut Cursor::default())
    }

    /// The same, for one that is no lower than those asked for with this cursor
    /// before.
    fn quantile_from(&self, q: f64, cursor: &mut Cursor) -> Option<f64> {
        let last = self.count.checked_sub(1)?;
        let position = q.clamp(0.0, 1.0) * last as f64;
        let below = position.floor();
        let low = self.order(below as u64, cursor);
        // The next quantile may begin at the lower rank again.
        let high = self.order((below as u64 + 1).min(last), &mut cursor.clone());
        Some((low + (high - low) * (position - below)) / 1e9)
    }

    /// The value of rank `rank`, from zero, in nanoseconds. Ranks must not fall
    /// from one use of a cursor to the next.
    fn order(&self, rank: u64, cursor: &mut Cursor) -> f64 {
        if rank + 1 >= self.count {
            return self.most as f64;
        }
        if rank == 0 {
            return self.least as f64;
        }
        for &count in &self.bins[cursor.bin..] {
            if rank < cursor.before + count {
                let (low, width) = bounds(cursor.bin);
                let inside = ((rank - cursor.before) as f64 + 0.5) / count as f64;
                return (low + width * inside).clamp(self.least as f64, self.most as f64);
            }
            cursor.before += count;
            cursor.bin += 1;
        }
        self.most as f64
    }

    /// The quantiles that the results keep.
    #[must_use]
    pub fn distribution(&self, metric: &'static str) -> Distribution {
        let step = 1.0 / (Distribution::POINTS - 1) as f64;
        let mut cursor = Cursor::default();
        let quantiles = (0..Distribution::POINTS)
            .filter_map(|i| self.quantile_from(i as f64 * step, &mut cursor));
        Distribution {
            quantiles: quantiles.collect(),
            ..Distribution::of(metric, &[])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::quantile;
    use headway_sansio::Seed;
    use proptest::prelude::*;

    #[test]
    fn bins_follow_one_another_without_gap() {
        let mut expected = 0.0;
        for b in 0..30_000 {
            let (low, width) = bounds(b);
            assert_eq!(low, expected, "bin {b}");
            assert_eq!(bin(low as u64), b);
            assert_eq!(bin((low + width) as u64 - 1), b);
            assert!(width <= 1024.0 || width <= low / 1024.0);
            expected = low + width;
        }
        assert!(expected > 1e11, "{expected}");
    }

    #[test]
    fn quantiles_keep_their_bound() {
        let mut random = Seed::new(3).stream("delays");
        for mean in [3e-6, 2e-3, 0.1, 30.0] {
            let mut histogram = Histogram::default();
            let mut exact = Vec::new();
            for _ in 0..20_000 {
                let value = random.exponential_duration(Duration::from_secs_f64(mean));
                histogram.add(value);
                exact.push(value.as_secs_f64());
            }
            exact.sort_by(f64::total_cmp);
            for i in 0..=1000 {
                let q = f64::from(i) / 1000.0;
                let (read, truth) = (histogram.quantile(q).unwrap(), quantile(&exact, q).unwrap());
                let bound = (truth * 0.001).max(1.1e-6);
                assert!((read - truth).abs() <= bound, "{q}: {read} for {truth}");
            }
            assert_eq!(histogram.max(), exact.last().copied());
        }
    }

    proptest! {
        #[test]
        fn moments_are_exact_and_parts_add_up(nanos in prop::collection::vec(0_u64..4_000_000_000, 2..200), cut in 0_usize..200) {
            let cut = cut.min(nanos.len());
            let of = |part: &[u64]| {
                let mut histogram = Histogram::default();
                part.iter().for_each(|&n| histogram.add(Duration::from_nanos(n)));
                histogram
            };
            let whole = of(&nanos);
            let mut parts = of(&nanos[..cut]);
            parts.merge(&of(&nanos[cut..]));
            let n = nanos.len() as f64;
            let mean = nanos.iter().sum::<u64>() as f64 / n;
            let variance = nanos.iter().map(|&x| (x as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0);
            prop_assert!((whole.mean().unwrap() * 1e9 - mean).abs() < 1e-3);
            prop_assert!((whole.sd().unwrap() * 1e9 - variance.sqrt()).abs() < 1e-3 * variance.sqrt().max(1.0));
            for i in 0..=20 {
                let q = f64::from(i) / 20.0;
                prop_assert_eq!(whole.quantile(q), parts.quantile(q));
            }
            prop_assert_eq!(parts.count(), nanos.len() as u64);
        }
    }
}
