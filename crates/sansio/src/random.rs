//! Named random streams: every component draws from its own.
//!
//! A stream is found by name from a run's seed, so adding a component or drawing
//! more often in one never shifts another, and two transports compared at one
//! point see the same arrivals. Everything here gives the same bits on every
//! machine: integer arithmetic, and logarithms from a software library instead
//! of the platform's.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Duration;

/// The root from which named streams are derived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seed(u64);

/// One component's own sequence of random numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RandomStream(Pcg64Mcg);

/// A probability in a form that is compared exactly, without floating point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Chance(u64);

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit
/// reaches every output bit.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Seed {
    /// A root seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The number behind it.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }

    /// The seed of a named part.
    #[must_use]
    pub fn derive(self, name: &str) -> Self {
        // FNV-1a over the name, mixed with the root before and after, so that
        // neither close roots nor close names give related seeds.
        let mut hash = 0xcbf2_9ce4_8422_2325 ^ mix(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15));
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(mix(hash ^ (name.len() as u64).rotate_left(32)))
    }

    /// The random stream of a named part.
    #[must_use]
    pub fn stream(self, name: &str) -> RandomStream {
        let low = self.derive(name).0;
        let high = mix(low ^ 0x5851_f42d_4c95_7f2d);
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&low.to_le_bytes());
        seed[8..].copy_from_slice(&high.to_le_bytes());
        RandomStream(Pcg64Mcg::from_seed(seed))
    }
}

impl Chance {
    /// Never.
    pub const NEVER: Self = Self(0);

    /// The probability `p`, clamped to 0..=1.
    #[must_use]
    pub fn new(p: f64) -> Self {
        // 2^64 is exact in binary floating point; the cast saturates.
        Self((p * 18_446_744_073_709_551_616.0) as u64)
    }
}

impl RandomStream {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0.0 <= x < 1.0`, with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Whether something of this probability happens. Draws exactly once, also
    /// for probabilities of zero and one, so that changing a probability does
    /// not shift later draws.
    pub fn happens(&mut self, chance: Chance) -> bool {
        let draw = self.bits();
        draw < chance.0 || chance.0 == u64::MAX
    }

    /// Uniform in `0 <= n < bound`; zero where `bound` is zero. The bias is
    /// below 2^-32 for bounds that fit 32 bits.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Exponentially distributed with this mean, in units of the mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u lies in (0, 1], where the logarithm is finite.
        -libm::log(1.0 - self.uniform()) * mean
    }

    /// Exponentially distributed with this mean.
    pub fn exponential_duration(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(self.exponential(mean.as_secs_f64()))
    }

    /// Normally distributed with mean 0 and standard deviation 1 (Box and
    /// Muller; the second value is not kept, so that each call draws twice).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(2.0 * core::f64::consts::PI * self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_for_ever() {
        // A change here changes every published result: it needs a new major version.
        let mut stream = Seed::new(2007).stream("path.forward.loss");
        let drawn: Vec<u64> = (0..3).map(|_| stream.bits()).collect();
        assert_eq!(drawn, EXPECTED);
    }
    const EXPECTED: [u64; 3] = [
        7_190_166_496_740_834_216,
        13_905_013_955_310_838_609,
        13_762_870_483_053_084_983,
    ];

    #[test]
    fn names_and_roots_part_streams() {
        let a = Seed::new(1).stream("a").bits();
        assert_ne!(a, Seed::new(1).stream("b").bits());
        assert_ne!(a, Seed::new(2).stream("a").bits());
        assert_eq!(a, Seed::new(1).stream("a").bits());
    }

    #[test]
    fn a_chance_keeps_its_rate() {
        let mut stream = Seed::new(7).stream("chance");
        let chance = Chance::new(0.02);
        let hits = (0..1_000_000).filter(|_| stream.happens(chance)).count();
        // Five standard deviations of a binomial: sqrt(1e6 * 0.02 * 0.98) = 140.
        assert!((19_300..=20_700).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| !stream.happens(Chance::NEVER)));
        assert!((0..1000).all(|_| stream.happens(Chance::new(1.0))));
    }

    #[test]
    fn moments_of_the_continuous_draws() {
        let mut stream = Seed::new(7).stream("moments");
        let n = 200_000;
        let mean = (0..n).map(|_| stream.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 3.0).abs() < 0.04, "{mean}");
        let normals: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let var = normals.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(
            mean.abs() < 0.012 && (var - 1.0).abs() < 0.02,
            "{mean} {var}"
        );
    }
}
