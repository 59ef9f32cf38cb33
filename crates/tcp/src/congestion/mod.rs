//! The congestion window: slow start, congestion avoidance, and its fall.

mod bic;
mod cubic;
mod hystart;
mod validation;

use headway_sansio::{Duration, Time};

use crate::config::{Config, CongestionControl, GrowthCounting, WindowUnit};
use bic::Bic;
use cubic::Cubic;
use hystart::HyStart;
pub(crate) use validation::{SentRow, Usage};

/// Congestion window and slow-start threshold, in window units: segments or
/// bytes, as [`WindowUnit`] says.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    /// One full-sized segment in window units: 1, or the MSS.
    pub(crate) full: u64,
    mss: u64,
    /// Bytes acknowledged towards the next growth.
    credit: u64,
    control: Control,
    hystart: Option<HyStart>,
}

#[derive(Debug)]
enum Control {
    Reno,
    Bic(Bic),
    Cubic(Cubic),
}

/// What one ACK means for growth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) now: Time,
    pub(crate) acked_bytes: u64,
    pub(crate) acked_segments: u32,
    /// Slow start after a timeout: RFC 3465, section 2.3, limits it.
    pub(crate) after_timeout: bool,
    pub(crate) rtt: Option<Duration>,
    pub(crate) srtt: Duration,
    pub(crate) rtt_floor: Duration,
    pub(crate) una: u64,
    pub(crate) next: u64,
}

impl Window {
    pub(crate) fn new(config: &Config, mss: u32) -> Self {
        let by_segments = config.window_unit == WindowUnit::Segments;
        let mss = u64::from(mss.max(1));
        let full = if by_segments { 1 } else { mss };
        let initial = config.initial_window_bytes(mss as u32);
        Self {
            cwnd: if by_segments {
                (initial / mss).max(1)
            } else {
                initial
            },
            ssthresh: match config.initial_ssthresh_segments {
                0 => u64::MAX,
                n => u64::from(n) * full,
            },
            full,
            mss,
            credit: 0,
            control: match config.congestion_control {
                CongestionControl::Reno => Control::Reno,
                CongestionControl::Bic => Control::Bic(Bic::default()),
                CongestionControl::Cubic => Control::Cubic(Cubic::default()),
            },
            hystart: config.hystart.then(HyStart::default),
        }
    }

    /// The initial window in window units.
    pub(crate) fn initial(&self, config: &Config) -> u64 {
        let bytes = config.initial_window_bytes(self.mss as u32);
        (bytes * self.full / self.mss).max(self.full)
    }

    /// ssthresh keeps three quarters of a window that shrinks without a loss
    /// (RFC 2861, section 3).
    pub(crate) fn remember_three_quarters(&mut self) {
        self.ssthresh = self.ssthresh.max(self.cwnd * 3 / 4);
    }

    pub(crate) fn bytes(&self, units: u64) -> u64 {
        if self.full == self.mss {
            units
        } else {
            units.saturating_mul(self.mss)
        }
    }

    fn segments(&self, units: u64) -> f64 {
        units as f64 / self.full as f64
    }

    pub(crate) fn slow_start(&self, config: &Config) -> bool {
        self.cwnd < self.ssthresh || (config.slow_start_at_ssthresh && self.cwnd == self.ssthresh)
    }

    /// The window never falls below one segment.
    pub(crate) fn set_cwnd(&mut self, units: u64) {
        self.cwnd = units.max(self.full);
    }

    /// New data was acknowledged outside of fast recovery.
    pub(crate) fn grow(&mut self, config: &Config, g: &Growth) {
        if self.slow_start(config) {
            if let Some(hystart) = &mut self.hystart
                && self.cwnd >= hystart::LOW_WINDOW_SEGMENTS * self.full
                && hystart.leave_slow_start(g)
            {
                self.ssthresh = self.cwnd;
                return;
            }
            self.slow_start_step(config, g);
        } else {
            self.avoidance_step(config, g);
        }
    }

    /// RFC 5681, section 3.1; RFC 3465, section 2.2.
    fn slow_start_step(&mut self, config: &Config, g: &Growth) {
        let limit = if g.after_timeout {
            1
        } else {
            u64::from(config.byte_counting_limit_segments)
        };
        let step = match (config.growth_counting, config.window_unit) {
            (GrowthCounting::Acks, _) => self.full,
            (GrowthCounting::Segments, _) => {
                let step = u64::from(g.acked_segments) * self.full;
                // What goes beyond ssthresh belongs to congestion avoidance.
                step.min(self.ssthresh.saturating_sub(self.cwnd).max(self.full))
            }
            (GrowthCounting::Bytes, WindowUnit::Bytes) => g.acked_bytes.min(limit * self.mss),
            // Whole segments only, as Linux with tcp_abc: short ones add up.
            (GrowthCounting::Bytes, WindowUnit::Segments) => {
                self.credit += g.acked_bytes;
                if self.credit < self.mss {
                    return;
                }
                let step = (self.credit / self.mss).min(limit);
                self.credit = 0;
                step
            }
        };
        self.cwnd = self.cwnd.saturating_add(step);
    }

    fn avoidance_step(&mut self, config: &Config, g: &Growth) {
        let cwnd_segments = self.segments(self.cwnd);
        let credit = match config.growth_counting {
            GrowthCounting::Acks => self.mss,
            GrowthCounting::Segments => u64::from(g.acked_segments) * self.mss,
            GrowthCounting::Bytes => g.acked_bytes,
        };
        // Bytes to be acknowledged for one more segment.
        let need = match &mut self.control {
            Control::Reno => {
                if config.growth_counting == GrowthCounting::Acks
                    && config.window_unit == WindowUnit::Bytes
                {
                    // RFC 5681, equation 3.
                    self.cwnd += (self.full * self.full / self.cwnd).max(1);
                    return;
                }
                self.bytes(self.cwnd)
            }
            Control::Bic(bic) => (bic.segments_per_step(self.cwnd / self.full) * self.mss).max(1),
            Control::Cubic(cubic) => {
                let acked = credit as f64 / self.mss as f64;
                match cubic.next(g.now, g.srtt, cwnd_segments, acked) {
                    cubic::Step::Jump(segments) => {
                        let target = (segments * self.full as f64) as u64;
                        self.cwnd = self.cwnd.max(target);
                        return;
                    }
                    cubic::Step::PerSegment(share) => {
                        if share <= 0.0 {
                            return;
                        }
                        (self.mss as f64 / share) as u64
                    }
                }
            }
        };
        self.credit += credit;
        if self.credit >= need.max(1) {
            self.credit -= need;
            // A lower need must not turn old credit into a burst.
            self.credit = self.credit.min(need);
            self.cwnd += self.full;
        }
    }

    /// The slow-start threshold after a loss, when `basis` window units were
    /// used: RFC 5681, equation 4.
    pub(crate) fn threshold_after_loss(&mut self, basis: u64) -> u64 {
        let cwnd = self.segments(self.cwnd);
        let reduced = match &mut self.control {
            Control::Reno => basis / 2,
            Control::Bic(bic) => bic.after_loss(basis / self.full) * self.full,
            Control::Cubic(cubic) => {
                let segments = basis as f64 / self.full as f64;
                (cubic.after_loss(cwnd) * segments * self.full as f64) as u64
            }
        };
        reduced.max(2 * self.full)
    }

    /// A timeout: the window falls to one segment (RFC 5681, section 3.1).
    pub(crate) fn after_timeout(&mut self) {
        self.cwnd = self.full;
        self.credit = 0;
        match &mut self.control {
            Control::Reno => {}
            Control::Bic(bic) => bic.after_timeout(),
            Control::Cubic(cubic) => cubic.after_timeout(),
        }
    }

    /// The counting towards the next growth begins anew.
    pub(crate) fn clear_credit(&mut self) {
        self.credit = 0;
    }

    /// Nothing was sent for `idle` while nothing was under way: time does not
    /// count for CUBIC (RFC 9438, section 5.8).
    pub(crate) fn was_idle(&mut self, idle: Duration) {
        if let Control::Cubic(cubic) = &mut self.control {
            cubic.was_idle(idle);
        }
    }
}

#[cfg(test)]
mod tests;
