//! CUBIC: RFC 9438.

use headway_sansio::{Duration, Time};

/// C, in segments per second cubed (RFC 9438, section 5.1).
const C: f64 = 0.4;
/// The factor of decrease (section 4.6).
const BETA: f64 = 0.7;
/// Growth in the Reno-friendly region, in segments for each window acknowledged
/// (equation 3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// What an ACK does to the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Step {
    /// Set it to this many segments: the Reno-friendly region (section 4.3).
    Jump(f64),
    /// Add this share of a segment for each segment acknowledged (sections 4.4
    /// and 4.5).
    PerSegment(f64),
}

/// The state of CUBIC, in segments and seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    w_max: f64,
    /// `cwnd_prior`: the window before it was last reduced.
    prior: f64,
    epoch: Option<Epoch>,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Time,
    /// What Reno's window would be by now.
    w_est: f64,
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
}

impl Cubic {
    /// An ACK of `acked` segments came in congestion avoidance, with a window of
    /// `cwnd` segments.
    pub(crate) fn next(&mut self, now: Time, srtt: Duration, cwnd: f64, acked: f64) -> Step {
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| {
            let below = w_max - cwnd;
            Epoch {
                began: now,
                w_est: cwnd,
                origin: w_max.max(cwnd),
                // Equation 2; above the plateau the curve is convex at once.
                k: if below > 0.0 {
                    libm::cbrt(below / C)
                } else {
                    0.0
                },
            }
        });
        // Equation 4; as fast as Reno once it has what it had before.
        let alpha = if epoch.w_est < self.prior { ALPHA } else { 1.0 };
        epoch.w_est += alpha * acked / cwnd;
        let t = now.since(epoch.began).as_secs_f64();
        if epoch.w_cubic(t) < epoch.w_est {
            return Step::Jump(epoch.w_est);
        }
        // Section 4.2: at most half the window in a round trip, and never less
        // than it is.
        let rtt = srtt.as_secs_f64().max(1e-6);
        let target = epoch.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
        Step::PerSegment((target - cwnd) / cwnd)
    }

    /// Sections 4.6 and 4.7, with the window before the loss. Returns the factor
    /// by which what was used falls to ssthresh.
    pub(crate) fn after_loss(&mut self, cwnd: f64) -> f64 {
        self.epoch = None;
        self.prior = cwnd;
        self.w_max = if cwnd < self.w_max {
            // Fast convergence.
            cwnd * (1.0 + BETA) / 2.0
        } else {
            cwnd
        };
        BETA
    }

    /// Section 4.8: the next epoch starts at its own plateau.
    pub(crate) fn after_timeout(&mut self) {
        self.epoch = None;
        self.w_max = 0.0;
    }

    /// Section 5.8: time in which nothing was sent does not count.
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

    /// Acknowledges `acked` segments, one by one; returns the window.
    fn acknowledge(cubic: &mut Cubic, now: Time, rtt: Duration, mut cwnd: f64, acked: u64) -> f64 {
        for _ in 0..acked {
            match cubic.next(now, rtt, cwnd, 1.0) {
                Step::Jump(w) => cwnd = cwnd.max(w),
                Step::PerSegment(share) => cwnd += share,
            }
        }
        cwnd
    }

    #[test]
    fn the_curve_reaches_w_max_at_k() {
        // Sections 4.2 and 4.6. W_max 100: K = cbrt(100 * 0.3 / 0.4) = 4.217 s;
        // at K the curve is flat.
        let mut cubic = Cubic::default();
        assert_eq!(cubic.after_loss(100.0), 0.7);
        let _ = cubic.next(at(0), RTT, 70.0, 1.0);
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
        // Sections 4.4 and 4.5, with 200 ms round trips and one ACK a segment:
        // integers of the window at each second follow W_cubic, one round trip
        // ahead.
        let rtt = Duration::from_millis(200);
        let mut cubic = Cubic::default();
        let mut cwnd = 100.0 * cubic.after_loss(100.0);
        let mut windows = Vec::new();
        for ms in (0..9000).step_by(200) {
            if ms % 1000 == 0 {
                windows.push(cwnd as u64);
            }
            cwnd = acknowledge(&mut cubic, at(ms), rtt, cwnd, cwnd as u64);
        }
        assert_eq!(windows, WINDOWS);
    }
    /// W_cubic at 0, 1, ..., 8 s is 70, 86, 95, 99, 99, 100, 102, 108, 121; the
    /// window lags a little, as each round trip goes only 1 - 1/e of the way.
    const WINDOWS: [u64; 9] = [70, 84, 94, 98, 99, 100, 101, 107, 119];

    #[test]
    fn reno_friendly_region_on_short_paths() {
        // Section 4.3. 1 ms round trips: the cubic hardly moves, W_est grows by
        // 0.53 segments for each window acknowledged, and by one from where the
        // window was before the loss.
        let rtt = Duration::from_millis(1);
        let mut cubic = Cubic::default();
        let mut cwnd = 100.0 * cubic.after_loss(100.0);
        let mut windows = vec![cwnd];
        for ms in 0..80 {
            cwnd = acknowledge(&mut cubic, at(ms), rtt, cwnd, cwnd as u64);
            windows.push(cwnd);
        }
        let slope = |from: usize, to: usize| (windows[to] - windows[from]) / (to - from) as f64;
        assert!((slope(0, 50) - ALPHA).abs() < 0.01, "{}", slope(0, 50));
        // 30 segments at 0.53 each take 57 round trips.
        assert!(windows[56] < 100.0 && windows[58] > 100.0);
        assert!((slope(60, 80) - 1.0).abs() < 0.02, "{}", slope(60, 80));
    }

    #[test]
    fn what_one_ack_covers_counts_not_the_time() {
        // Equation 4: where ACKs stay away, W_est does not grow.
        let mut cubic = Cubic::default();
        let cwnd = 10.0 * cubic.after_loss(10.0);
        let rtt = Duration::from_millis(1);
        let _ = cubic.next(at(0), rtt, cwnd, 1.0);
        let Step::Jump(w) = cubic.next(at(20), rtt, cwnd, 2.0) else {
            panic!("the Reno-friendly region applies");
        };
        assert!((w - (7.0 + 3.0 * ALPHA / 7.0)).abs() < 1e-9);
    }

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        // Section 4.7: against the plateau, which may be a lowered one.
        let mut cubic = Cubic::default();
        for (cwnd, plateau) in [(100.0, 100.0), (80.0, 68.0), (75.0, 75.0), (74.0, 62.9)] {
            cubic.after_loss(cwnd);
            assert!((cubic.w_max - plateau).abs() < 1e-9);
        }
    }

    #[test]
    fn after_a_timeout_the_curve_is_convex_from_its_start() {
        // Section 4.8: K is 0, and the plateau the window at the start.
        let mut cubic = Cubic::default();
        cubic.after_loss(100.0);
        cubic.after_timeout();
        let _ = cubic.next(at(0), RTT, 50.0, 1.0);
        let epoch = cubic.epoch.unwrap();
        assert_eq!((epoch.k, epoch.origin), (0.0, 50.0));
    }

    #[test]
    fn an_idle_time_moves_the_epoch() {
        // Section 5.8.
        let mut cubic = Cubic::default();
        cubic.after_loss(100.0);
        let _ = cubic.next(at(0), RTT, 70.0, 1.0);
        let mut idle = cubic.clone();
        idle.was_idle(Duration::from_secs(3));
        assert_eq!(
            cubic.next(at(1000), RTT, 70.0, 1.0),
            idle.next(at(4000), RTT, 70.0, 1.0)
        );
    }
}
