//! Recovery by counting duplicate ACKs: Reno (RFC 5681, section 3.2) and NewReno
//! (RFC 6582).

use super::AckSummary;
use crate::config::{Config, Recovery};
use crate::sender::Sender;

impl Sender {
    /// Whether duplicate ACKs now show a loss.
    pub(super) fn third_duplicate(&self, config: &Config) -> bool {
        if self.duplicates < config.duplicate_threshold {
            return false;
        }
        // RFC 6582, section 3.2, step 2: duplicate ACKs that go-back-N provokes
        // after a timeout are no sign of a loss.
        config.recovery == Recovery::Reno || self.recover.is_none_or(|r| self.una > r)
    }

    /// RFC 5681, section 3.2, step 3: the window is raised by the segments that
    /// have left the network.
    pub(super) fn inflate(&mut self, config: &Config) {
        let full = self.window.full;
        let inflation = if config.window_inflation {
            u64::from(config.duplicate_threshold) * full
        } else {
            0
        };
        self.window.set_cwnd(self.window.ssthresh + inflation);
    }

    pub(super) fn dup_ack_recovery(&mut self, config: &Config, summary: &mut AckSummary) {
        let full = self.window.full;
        if summary.acked_bytes == 0 {
            // Step 4.
            if summary.duplicate && config.window_inflation {
                self.window.cwnd += full;
            }
            return;
        }
        if config.recovery == Recovery::Reno || self.una >= self.recovery_point {
            self.leave_recovery(config, summary);
            return;
        }
        // A partial ACK: the next segment is lost as well.
        self.partial_acks += 1;
        if !self.board.is_empty() {
            self.board.mark_resend_lost(0);
            self.forced = true;
        }
        if config.window_inflation {
            let acked = summary.delivered.acked_units;
            let back = if acked >= full { full } else { 0 };
            let deflated = self.window.cwnd.saturating_sub(acked) + back;
            self.window.set_cwnd(deflated);
        }
    }
}
