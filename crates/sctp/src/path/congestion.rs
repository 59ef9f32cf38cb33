//! Congestion control of one path (RFC 9260, section 7.2).

use headway_sansio::Time;

use super::Path;
use crate::{Config, CwndWhenLimited, IdleDecay, MaxBurstRule};

/// What one SACK acknowledged for the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    /// In window bytes.
    pub(crate) bytes: u32,
    /// Flight size before the SACK.
    pub(crate) flight_before: u32,
    /// The cumulative TSN moved.
    pub(crate) advanced: bool,
    /// Nothing is outstanding any more.
    pub(crate) all: bool,
    /// Losses are being repaired.
    pub(crate) in_recovery: bool,
}

impl Path {
    /// Opens the window for what was acknowledged (sections 7.2.1 and 7.2.2).
    pub(crate) fn grow(&mut self, config: &Config, acked: Acknowledged) {
        let full =
            acked.flight_before >= self.cwnd || config.cwnd_when_limited == CwndWhenLimited::Grow;
        let advanced = acked.advanced || !config.growth_needs_advance;
        let unit = self.unit(config);
        if self.cwnd <= self.ssthresh {
            if full && advanced && !acked.in_recovery {
                let limit = config.byte_counting_limit.saturating_mul(unit);
                self.cwnd = self.cwnd.saturating_add(acked.bytes.min(limit));
            }
        } else if advanced {
            self.partial_bytes_acked = self.partial_bytes_acked.saturating_add(acked.bytes);
            if self.partial_bytes_acked >= self.cwnd {
                if full && !acked.in_recovery {
                    self.partial_bytes_acked -= self.cwnd;
                    self.cwnd = self.cwnd.saturating_add(unit);
                } else {
                    // An application that sends little may not save up for a leap.
                    self.partial_bytes_acked = self.cwnd;
                }
            }
        }
        if acked.all {
            self.partial_bytes_acked = 0;
        }
    }

    /// Halves the window after a loss that missing reports showed (section 7.2.3).
    pub(crate) fn cut(&mut self, config: &Config) {
        self.ssthresh = self.threshold_after_loss(config);
        self.cwnd = self.ssthresh;
        self.partial_bytes_acked = 0;
    }

    /// Starts over with one packet after T3-rtx expired (section 7.2.3).
    pub(crate) fn collapse(&mut self, config: &Config) {
        self.ssthresh = self.threshold_after_loss(config);
        self.cwnd = self.unit(config);
        self.partial_bytes_acked = 0;
    }

    fn threshold_after_loss(&self, config: &Config) -> u32 {
        let floor = config.ssthresh_floor_mtus.saturating_mul(self.unit(config));
        (self.cwnd / 2).max(floor)
    }

    /// Halves the window once for each RTO without DATA (section 7.2.1). Done
    /// when DATA is about to flow again, with the same result as at each RTO.
    fn decay(&mut self, config: &Config, now: Time) {
        if config.idle_decay != IdleDecay::EachRto || self.flight > 0 || self.rto.is_zero() {
            return;
        }
        let floor = 4 * self.unit(config);
        let mut idle = now.since(self.last_data);
        if idle < self.rto || self.cwnd <= floor {
            return;
        }
        self.ssthresh = self.cwnd;
        while idle >= self.rto && self.cwnd > floor {
            self.cwnd = (self.cwnd / 2).max(floor);
            idle -= self.rto;
        }
        self.last_data = now;
    }

    /// What lksctp does to the window when a heartbeat is due: it may even grow.
    pub(crate) fn decay_at_heartbeat(&mut self, config: &Config) {
        if config.idle_decay == IdleDecay::AtHeartbeat {
            self.cwnd = (self.cwnd / 2).max(4 * self.unit(config));
        }
    }

    /// Whether the burst limit was worked out in this opportunity to send.
    pub(crate) fn has_burst_limit(&self, opportunity: u64) -> bool {
        self.burst_limit.is_some_and(|(of, _)| of == opportunity)
    }

    /// How far the flight size may rise in this opportunity to send, which is worked
    /// out once in each, with what an idle time does to the window before.
    #[inline]
    pub(crate) fn burst_limit_in(&mut self, opportunity: u64, config: &Config, now: Time) -> u32 {
        if let Some((of, limit)) = self.burst_limit
            && of == opportunity
        {
            return limit;
        }
        self.decay(config, now);
        let limit = self.limit_burst(config);
        self.burst_limit = Some((opportunity, limit));
        limit
    }

    /// Works out how far the flight size may rise in one opportunity to send (section
    /// 6.1, rule D).
    fn limit_burst(&mut self, config: &Config) -> u32 {
        if config.max_burst == 0 {
            return u32::MAX;
        }
        let burst = config.max_burst.saturating_mul(self.unit(config));
        let limit = self.flight.saturating_add(burst);
        if limit < self.cwnd && config.max_burst_rule != MaxBurstRule::Temporary {
            if config.max_burst_rule == MaxBurstRule::PermanentRaisingSsthresh {
                self.ssthresh = self.cwnd;
            }
            self.cwnd = limit;
        }
        limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Route;
    use headway_sansio::Duration;

    const FULL: Acknowledged = Acknowledged {
        bytes: 3000,
        flight_before: 1_000_000,
        advanced: true,
        all: false,
        in_recovery: false,
    };

    fn fixture() -> (Config, Path) {
        let config = Config::default();
        let path = Path::new(&config, Route::default());
        (config, path)
    }

    #[test]
    fn first_window_of_section_7_2_1() {
        let (config, path) = fixture();
        assert_eq!((config.pmdcs_bytes(), path.cwnd), (1468, 4404));
        let lksctp = Config::profile("lksctp-2.6.11").unwrap();
        assert_eq!(lksctp.first_cwnd_bytes(), 4380);
    }

    #[test]
    fn slow_start_grows_by_l_units_at_most_and_only_when_full() {
        let (mut config, mut path) = fixture();
        path.grow(&config, FULL);
        assert_eq!(path.cwnd, 4404 + 1468);
        path.grow(&config, Acknowledged { bytes: 100, ..FULL });
        assert_eq!(path.cwnd, 5972);
        path.grow(
            &config,
            Acknowledged {
                flight_before: 5971,
                ..FULL
            },
        );
        path.grow(
            &config,
            Acknowledged {
                in_recovery: true,
                ..FULL
            },
        );
        assert_eq!(path.cwnd, 5972);
        config.cwnd_when_limited = CwndWhenLimited::Grow;
        path.grow(
            &config,
            Acknowledged {
                flight_before: 0,
                ..FULL
            },
        );
        assert_eq!(path.cwnd, 5972 + 1468);
    }

    #[test]
    fn growth_without_advance_is_rfc_9260_only() {
        let (mut config, mut path) = fixture();
        let gap_only = Acknowledged {
            advanced: false,
            ..FULL
        };
        config.growth_needs_advance = true;
        path.grow(&config, gap_only);
        assert_eq!(path.cwnd, 4404);
        config.growth_needs_advance = false;
        path.grow(&config, gap_only);
        assert_eq!(path.cwnd, 5872);
    }

    #[test]
    fn avoidance_adds_one_unit_for_each_window_acknowledged() {
        let (config, mut path) = fixture();
        (path.cwnd, path.ssthresh) = (10_000, 5_000);
        for _ in 0..3 {
            path.grow(&config, FULL);
        }
        assert_eq!((path.cwnd, path.partial_bytes_acked), (10_000, 9_000));
        path.grow(&config, FULL);
        assert_eq!((path.cwnd, path.partial_bytes_acked), (11_468, 2_000));
        // Not full: savings stop at one window.
        path.grow(
            &config,
            Acknowledged {
                bytes: 50_000,
                flight_before: 0,
                ..FULL
            },
        );
        assert_eq!((path.cwnd, path.partial_bytes_acked), (11_468, 11_468));
        path.grow(
            &config,
            Acknowledged {
                all: true,
                flight_before: 0,
                ..FULL
            },
        );
        assert_eq!(path.partial_bytes_acked, 0);
    }

    #[test]
    fn losses_cut_to_the_floor() {
        let (mut config, mut path) = fixture();
        path.cwnd = 20_000;
        path.cut(&config);
        assert_eq!((path.cwnd, path.ssthresh), (10_000, 10_000));
        path.cut(&config);
        assert_eq!((path.cwnd, path.ssthresh), (5_872, 5_872));
        path.collapse(&config);
        assert_eq!((path.cwnd, path.ssthresh), (1_468, 5_872));
        config.ssthresh_floor_mtus = 2;
        path.collapse(&config);
        assert_eq!(path.ssthresh, 2_936);
    }

    #[test]
    fn idle_time_halves_the_window_each_rto() {
        let (config, mut path) = fixture();
        path.cwnd = 40_000;
        path.decay(&config, Time::ZERO + Duration::from_millis(2_500));
        assert_eq!((path.cwnd, path.ssthresh), (10_000, 40_000));
        path.decay(&config, Time::ZERO + Duration::from_secs(60));
        assert_eq!(path.cwnd, 5_872);
        // A window below the floor is not raised by being idle.
        path.cwnd = 1_468;
        path.decay(&config, Time::ZERO + Duration::from_secs(600));
        assert_eq!(path.cwnd, 1_468);
    }

    #[test]
    fn bursts_are_limited_by_three_rules() {
        let (mut config, mut path) = fixture();
        (path.cwnd, path.flight) = (50_000, 1_000);
        assert_eq!(path.limit_burst(&config), 1_000 + 4 * 1_468);
        assert_eq!(path.cwnd, 50_000);
        config.max_burst_rule = MaxBurstRule::PermanentRaisingSsthresh;
        path.limit_burst(&config);
        assert_eq!((path.cwnd, path.ssthresh), (6_872, 50_000));
        config.max_burst = 0;
        assert_eq!(path.limit_burst(&config), u32::MAX);
    }
}
