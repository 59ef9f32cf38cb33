//! CUBIC: RFC 8312, with the window at the start of an epoch and the bound on
//! the target as in RFC 9438.

use headway_sansio::{Duration, Time};

/// C, in segments per second cubed (RFC 8312, section 5).
const C: f64 = 0.4;
/// The factor of decrease (section 4.5).
const BETA: f64 = 0.7;

/// What an ACK does to the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Step {
    /// Set it to this many segments: the TCP-friendly region (section 4.2).
    Jump(f64),
    /// Add this share of a segment for each segment acknowledged (sections 4.3
    /// and 4.4).
    PerSegment(f64),
}

/// The state of CUBIC, in segments and seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    w_max: f64,
    w_last_max: f64,
    epoch: Option<Epoch>,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Time,
    /// The window then.
    w_start: f64,
    /// The plateau of the cubic.
    origin: f64,
    k: f64,
}

impl Epoch {
    /// Equation 1.
    fn w_cubic(&self, t: f64) -> f64 {
        let d = t - self.k;
        self.origin + C * d * d * d
    }

    /// Equation 4, from the window at the start of the epoch.
    fn w_est(&self, t: f64, rtt: f64) -> f64 {
        self.w_start + 3.0 * (1.0 - BETA) / (1.0 + BETA) * (t / rtt)
    }
}

impl Cubic {
    pub(crate) fn next(&mut self, now: Time, srtt: Duration, cwnd: f64) -> Step {
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| {
            let below = w_max - cwnd;
            Epoch {
                began: now,
                w_start: cwnd,
                origin: w_max.max(cwnd),
                // Equation 2, where the window starts at beta W_max.
                k: if below > 0.0 {
                    libm::cbrt(below / C)
                } else {
                    0.0
                },
            }
        });
        let t = now.since(epoch.began).as_secs_f64();
        let rtt = srtt.as_secs_f64().max(1e-6);
        let w_est = epoch.w_est(t, rtt);
        if epoch.w_cubic(t) < w_est {
            return Step::Jump(w_est);
        }
        // RFC 9438, section 4.4: at most half the window in a round trip.
        let target = epoch.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
        Step::PerSegment((target - cwnd) / cwnd)
    }

    /// Sections 4.5 and 4.6; returns ssthresh.
    pub(crate) fn after_loss(&mut self, cwnd: f64) -> f64 {
        self.epoch = None;
        self.w_max = if cwnd < self.w_last_max {
            // Fast convergence.
            cwnd * (1.0 + BETA) / 2.0
        } else {
            cwnd
        };
        self.w_last_max = cwnd;
        cwnd * BETA
    }

    /// Section 4.7: the next epoch starts at its own plateau.
    pub(crate) fn after_timeout(&mut self) {
        self.epoch = None;
        self.w_max = 0.0;
    }

    pub(crate) fn was_idle(&mut self, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.began += idle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_curve_reaches_w_max_at_k() {
        // W_max 100: K = cbrt(100 * 0.3 / 0.4) = 4.217 s; at K the curve is flat.
        let mut cubic = Cubic::default();
        assert!((cubic.after_loss(100.0) - 70.0).abs() < 1e-9);
        let _ = cubic.next(at(0), RTT, 70.0);
        let epoch = cubic.epoch.unwrap();
        assert!((epoch.k - 4.217_163_326_508_746).abs() < 1e-9);
        assert!((epoch.w_cubic(0.0) - 70.0).abs() < 1e-9);
        assert!((epoch.w_cubic(epoch.k) - 100.0).abs() < 1e-9);
        assert!(
            (epoch.w_cubic(2.0 * epoch.k) - 130.0).abs() < 1e-9,
            "convex"
        );
    }

    #[test]
    fn windows_every_second_after_a_loss_at_100() {
        // 100 ms round trips, one ACK a segment: integers of the window at each
        // second follow W_cubic, one round trip ahead.
        let mut cubic = Cubic::default();
        let mut cwnd = cubic.after_loss(100.0);
        let mut windows = Vec::new();
        for ms in (0..9000).step_by(100) {
            if ms % 1000 == 0 {
                windows.push(cwnd as u64);
            }
            for _ in 0..cwnd as u64 {
                match cubic.next(at(ms), RTT, cwnd) {
                    Step::Jump(w) => cwnd = cwnd.max(w),
                    Step::PerSegment(share) => cwnd += share,
                }
            }
        }
        assert_eq!(windows, WINDOWS);
    }
    /// W_cubic at 0, 1, ..., 8 s is 70, 86, 95, 99, 99, 100, 102, 108, 121; the
    /// window lags a little, as each round trip goes only 1 - 1/e of the way.
    const WINDOWS: [u64; 9] = [70, 85, 95, 99, 99, 100, 102, 108, 120];

    #[test]
    fn friendly_region_on_short_paths() {
        // 1 ms round trips: W_est grows by 0.53 segments a round trip, far more
        // than the cubic does.
        let mut cubic = Cubic::default();
        let cwnd = cubic.after_loss(10.0);
        let _ = cubic.next(at(0), Duration::from_millis(1), cwnd);
        let Step::Jump(w) = cubic.next(at(10), Duration::from_millis(1), cwnd) else {
            panic!("the friendly region applies");
        };
        assert!((w - (7.0 + 10.0 * 0.9 / 1.7)).abs() < 1e-9);
    }

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let mut cubic = Cubic::default();
        cubic.after_loss(100.0);
        cubic.after_loss(80.0);
        assert!((cubic.w_max - 68.0).abs() < 1e-9);
        cubic.after_loss(90.0);
        assert!((cubic.w_max - 90.0).abs() < 1e-9);
    }
}
