//! Round-trip estimation (RFC 9260, section 6.3.1).

use headway_sansio::Duration;

use crate::RtoFormula;

/// Smoothed round-trip time and its variation, by one of two formulas.
#[derive(Debug)]
pub(crate) enum RttEstimator {
    /// Alpha 1/8, beta 1/4, in nanoseconds.
    Rfc {
        smoothed: Option<Duration>,
        variation: Duration,
    },
    /// Eight times SRTT and four times RTTVAR in nanoseconds; the first sample
    /// goes in as it is, not times eight and times two.
    Freebsd2006 {
        scaled: Option<i64>,
        scaled_variation: i64,
    },
}

impl RttEstimator {
    pub(crate) const fn new(formula: RtoFormula) -> Self {
        match formula {
            RtoFormula::Rfc => Self::Rfc {
                smoothed: None,
                variation: Duration::ZERO,
            },
            RtoFormula::Freebsd2006 => Self::Freebsd2006 {
                scaled: None,
                scaled_variation: 0,
            },
        }
    }

    pub(crate) fn sample(&mut self, round_trip: Duration) {
        match self {
            Self::Rfc {
                smoothed,
                variation,
            } => match *smoothed {
                None => {
                    *variation = round_trip / 2;
                    *smoothed = Some(round_trip);
                }
                Some(before) => {
                    *variation = *variation - *variation / 4 + before.abs_diff(round_trip) / 4;
                    *smoothed = Some(before - before / 8 + round_trip / 8);
                }
            },
            Self::Freebsd2006 {
                scaled,
                scaled_variation,
            } => {
                let round_trip = i64::try_from(round_trip.as_nanos()).unwrap_or(i64::MAX >> 8);
                match *scaled {
                    None => {
                        *scaled_variation = round_trip >> 1;
                        *scaled = Some(round_trip);
                    }
                    Some(before) => {
                        let error = round_trip - (before >> 3);
                        *scaled = Some(before + error);
                        *scaled_variation += error.abs() - (*scaled_variation >> 2);
                    }
                }
            }
        }
    }

    /// Smoothed round-trip time, once there is a measurement.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        match self {
            Self::Rfc { smoothed, .. } => *smoothed,
            Self::Freebsd2006 { scaled, .. } => scaled.map(|s| nanos(s >> 3)),
        }
    }

    /// The RTO that follows, without bounds; at least `margin` above the smoothed
    /// round trip by the formula of the RFC.
    pub(crate) fn estimate(&self, margin: Duration) -> Option<Duration> {
        match self {
            // Rule G1: a variation of zero counts as the clock's granularity, 1 ns.
            Self::Rfc {
                smoothed,
                variation,
            } => smoothed.map(|s| s + (*variation * 4).max(Duration::from_nanos(1)).max(margin)),
            Self::Freebsd2006 {
                scaled,
                scaled_variation,
            } => scaled.map(|s| nanos(((s >> 2) + scaled_variation) >> 1)),
        }
    }
}

fn nanos(value: i64) -> Duration {
    Duration::from_nanos(u64::try_from(value).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RTO in whole milliseconds after each of `count` equal samples.
    fn run(formula: RtoFormula, sample_ms: u64, count: usize) -> Vec<u64> {
        let mut rtt = RttEstimator::new(formula);
        (0..count)
            .map(|_| {
                rtt.sample(Duration::from_millis(sample_ms));
                rtt.estimate(Duration::ZERO).unwrap().as_nanos() / 1_000_000
            })
            .collect()
    }

    #[test]
    fn rfc_rules_c2_and_c3() {
        // 100 + 4 * 50; then RTTVAR shrinks by a quarter each time.
        assert_eq!(run(RtoFormula::Rfc, 100, 3), [300, 250, 212]);
        let mut rtt = RttEstimator::new(RtoFormula::Rfc);
        rtt.sample(Duration::from_millis(100));
        rtt.sample(Duration::from_millis(180));
        // RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5, SRTT = 7/8 * 100 + 1/8 * 180 = 110.
        assert_eq!(rtt.smoothed(), Some(Duration::from_millis(110)));
        assert_eq!(
            rtt.estimate(Duration::ZERO),
            Some(Duration::from_millis(340))
        );
        let margin = Duration::from_millis(250);
        assert_eq!(rtt.estimate(margin), Some(Duration::from_millis(360)));
    }

    #[test]
    fn the_formula_of_2006_starts_too_low() {
        // Worked out for sctp-refimpl's integers: with a floor of 1 s the RTO of a
        // path of 1100 ms runs 1000, 1000, 1300, 1527 ms and stays below 1760 ms.
        let rto = run(RtoFormula::Freebsd2006, 1100, 7);
        assert!(rto[0] < 1000 && rto[1] < 1000, "{rto:?}");
        // The stack counts in milliseconds, this in nanoseconds: 1 ms of rounding.
        assert!(
            rto[2].abs_diff(1300) <= 1 && rto[3].abs_diff(1527) <= 1,
            "{rto:?}"
        );
        assert!(rto[4..].iter().all(|&ms| ms < 1765), "{rto:?}");
    }
}
