//! Round-trip time and retransmission timeout: RFC 6298, and what stacks make
//! of it.

use headway_sansio::{Duration, Time};

use crate::config::{Config, RtoForm};

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: Option<Duration>,
    /// Mean deviation.
    deviation: Duration,
    /// Linux: the largest deviation of the present round trip, times four, and
    /// the one in use.
    deviation_max: Duration,
    variance: Duration,
    round_end: u64,
    backoff: u32,
    /// Lowest sample of this and of the previous window of time.
    floors: [Duration; 2],
    floor_since: Time,
}

/// The span over which the lowest round-trip time is remembered: Linux's
/// `tcp_min_rtt_wlen` of 300 s, in two halves.
const FLOOR_WINDOW: Duration = Duration::from_secs(150);

impl RttEstimator {
    pub(crate) fn new() -> Self {
        Self {
            srtt: None,
            deviation: Duration::ZERO,
            deviation_max: Duration::ZERO,
            variance: Duration::ZERO,
            round_end: 0,
            backoff: 0,
            floors: [Duration::MAX; 2],
            floor_since: Time::ZERO,
        }
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Lowest round-trip time of late; zero before the first sample.
    pub(crate) fn floor(&self) -> Duration {
        let floor = self.floors[0].min(self.floors[1]);
        if floor == Duration::MAX {
            Duration::ZERO
        } else {
            floor
        }
    }

    /// Takes one sample; `una` and `next` are the oldest unacknowledged and the
    /// next new offset.
    pub(crate) fn sample(
        &mut self,
        config: &Config,
        now: Time,
        rtt: Duration,
        una: u64,
        next: u64,
    ) {
        if now.since(self.floor_since) > FLOOR_WINDOW {
            self.floors = [rtt, self.floors[0]];
            self.floor_since = now;
        }
        self.floors[0] = self.floors[0].min(rtt);
        let linux = config.rto_form == RtoForm::Linux;
        let least = Duration::from_nanos(config.rto_min_ns);
        match self.srtt {
            // RFC 6298, section 2.2.
            None => {
                self.srtt = Some(rtt);
                self.deviation = rtt / 2;
                self.deviation_max = (rtt * 2).max(least);
                self.variance = self.deviation_max;
                self.round_end = next;
            }
            // Section 2.3, alpha = 1/8 and beta = 1/4, deviation first.
            Some(srtt) => {
                let error = srtt.abs_diff(rtt);
                // Linux lets a sudden shorter sample raise the deviation by an
                // eighth of what it would.
                let shift = linux && rtt < srtt && error > self.deviation;
                self.deviation = if shift {
                    self.deviation + (error - self.deviation) / 32
                } else {
                    self.deviation - self.deviation / 4 + error / 4
                };
                self.srtt = Some(srtt - srtt / 8 + rtt / 8);
                if linux {
                    self.follow_round(least, una, next);
                }
            }
        }
        self.backoff = 0;
    }

    /// Linux: the variance rises at once to the largest deviation, and falls by
    /// a quarter of the difference once a round trip; never below the minimum.
    fn follow_round(&mut self, least: Duration, una: u64, next: u64) {
        self.deviation_max = self.deviation_max.max(self.deviation * 4);
        self.variance = self.variance.max(self.deviation_max);
        if una > self.round_end {
            self.variance = self.variance - (self.variance - self.deviation_max) / 4;
            self.round_end = next;
            self.deviation_max = least;
        }
    }

    /// The RTO without back-off.
    pub(crate) fn base(&self, config: &Config) -> Duration {
        let (min, max) = (
            Duration::from_nanos(config.rto_min_ns),
            Duration::from_nanos(config.rto_max_ns),
        );
        let Some(srtt) = self.srtt else {
            return Duration::from_nanos(config.rto_initial_ns);
        };
        let granularity = Duration::from_nanos(config.clock_granularity_ns);
        match config.rto_form {
            RtoForm::Rfc6298 => (srtt + granularity.max(self.deviation * 4)).max(min),
            RtoForm::Linux => srtt + self.variance,
            RtoForm::Freebsd => {
                (srtt + self.deviation * 4 + Duration::from_nanos(config.rto_slop_ns)).max(min)
            }
            RtoForm::RttMultiple => srtt * u64::from(config.rto_rtt_multiple),
        }
        .min(max)
        // A path without delay must not make the timer fire for ever.
        .max(granularity)
        .max(Duration::from_nanos(1))
    }

    /// The RTO in use: doubled for each timeout (RFC 6298, section 5.5).
    pub(crate) fn rto(&self, config: &Config) -> Duration {
        let doublings = self.backoff.min(config.rto_backoff_limit).min(32);
        (self.base(config) * (1 << doublings)).min(Duration::from_nanos(config.rto_max_ns))
    }

    /// A timeout happened.
    pub(crate) fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Profile;

    fn after(profile: Profile, samples_ms: &[u64]) -> (RttEstimator, Config) {
        let config = profile.config();
        let mut rtt = RttEstimator::new();
        for (i, &ms) in samples_ms.iter().enumerate() {
            let i = i as u64;
            rtt.sample(
                &config,
                Time::ZERO,
                Duration::from_millis(ms),
                2 * i,
                2 * i + 1,
            );
        }
        (rtt, config)
    }

    #[test]
    fn first_sample_and_bounds_of_rfc_6298() {
        let (rtt, config) = after(Profile::Rfc, &[]);
        assert_eq!(rtt.rto(&config), Duration::from_secs(1));
        let (rtt, mut config) = after(Profile::Rfc, &[600]);
        assert_eq!(rtt.rto(&config), Duration::from_millis(1800));
        config.rto_max_ns = 1_500_000_000;
        assert_eq!(rtt.rto(&config), Duration::from_millis(1500));
        let (rtt, config) = after(Profile::Rfc, &[100]);
        assert_eq!(rtt.rto(&config), Duration::from_secs(1), "the minimum");
    }

    #[test]
    fn backs_off_by_doubling_up_to_the_cap() {
        let (mut rtt, mut config) = after(Profile::Rfc, &[100]);
        config.rto_backoff_limit = 6;
        let mut seconds = Vec::new();
        for _ in 0..8 {
            seconds.push(rtt.rto(&config).as_nanos() / 1_000_000_000);
            rtt.back_off();
        }
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        config.rto_max_ns = u64::MAX;
        assert_eq!(rtt.rto(&config), Duration::from_secs(64));
    }

    #[test]
    fn linux_floors_the_variance_not_the_sum() {
        let (rtt, config) = after(Profile::Linux2611, &[100; 50]);
        let rto = rtt.rto(&config);
        assert!(rto >= Duration::from_millis(300) && rto < Duration::from_millis(301));
        let (rtt, config) = after(Profile::Linux2611, &[20; 50]);
        let rto = rtt.rto(&config);
        assert!(rto >= Duration::from_millis(220) && rto < Duration::from_millis(221));
    }

    #[test]
    fn freebsd_adds_its_slop_and_the_model_multiplies() {
        let (rtt, config) = after(Profile::Freebsd61, &[100; 60]);
        let rto = rtt.rto(&config);
        assert!(rto >= Duration::from_millis(300) && rto < Duration::from_millis(301));
        let (rtt, config) = after(Profile::ModelSeed4, &[100; 5]);
        assert_eq!(rtt.rto(&config), Duration::from_millis(400));
    }

    #[test]
    fn the_floor_is_forgotten_after_a_while() {
        let config = Config::default();
        let mut rtt = RttEstimator::new();
        for second in 0..400 {
            let ms = if second == 0 { 10 } else { 50 };
            let now = Time::ZERO + Duration::from_secs(second);
            rtt.sample(&config, now, Duration::from_millis(ms), 0, 1);
            if second == 200 {
                assert_eq!(rtt.floor(), Duration::from_millis(10));
            }
        }
        assert_eq!(rtt.floor(), Duration::from_millis(50));
    }
}
