//! The retransmission timeout and the repair after it: RFC 6298, section 5; RFC
//! 5681, section 3.1; RFC 6675, section 5.1.

use headway_sansio::Time;

use super::{AckSummary, Frto};
use crate::config::Config;
use crate::sender::{Phase, Sender};
use crate::stats::Stats;

impl Sender {
    /// The retransmission timer is due. Returns whether the peer counts as gone.
    pub(crate) fn on_timeout(&mut self, config: &Config, now: Time, stats: &mut Stats) -> bool {
        self.rto_at = Time::FAR_FUTURE;
        if self.board.is_empty() {
            return false;
        }
        stats.timeouts += 1;
        self.timeouts_in_row += 1;
        if config.max_retransmissions != 0 && self.timeouts_in_row > config.max_retransmissions {
            return true;
        }
        let again = self.phase == Phase::Loss;
        if self.phase == Phase::Open {
            self.undo.begin(self.una, &self.window);
            self.undo.early_until = now + self.srtt_or(config) / 2;
        }
        // RFC 5681, section 3.1: once only for one segment.
        if self.timeouts_in_row == 1 {
            self.window.ssthresh = self.reduced_threshold(config);
        }
        self.mark_on_timeout(config, now);
        // RFC 5682, step 1: not while an earlier timeout is being repaired,
        // unless it is the same segment once more.
        let resent_end = self.board.first().map_or(0, |s| s.end());
        self.frto = if config.frto && (!again || self.timeouts_in_row > 1) {
            Frto::First { resent_end }
        } else {
            Frto::Off
        };
        self.window.after_timeout();
        self.phase = Phase::Loss;
        self.recovery_point = self.next;
        self.recover = Some(self.next);
        self.duplicates = 0;
        self.limited_sent = 0;
        self.high_resent = self.una;
        self.forced = true;
        self.tlp.reset();
        self.rack.reorder_at = Time::FAR_FUTURE;
        self.rtt.back_off();
        self.arm_rto(config, now);
        false
    }

    fn mark_on_timeout(&mut self, config: &Config, now: Time) {
        // A receiver whose first gap is SACKed has thrown away what it reported
        // (RFC 2018, section 8).
        let reneged = self.board.first().is_some_and(|s| s.sacked());
        if reneged || !config.keep_sack_after_timeout {
            self.board.forget_sacks();
        }
        if self.by_rack(config) {
            self.rack_mark_on_timeout(config, now);
        } else {
            self.board.mark_all_lost();
        }
    }

    /// An acknowledgement while the losses of a timeout are being repaired, in
    /// slow start.
    pub(super) fn loss_on_ack(&mut self, config: &Config, summary: &AckSummary, stats: &mut Stats) {
        self.frto_on_ack(config, summary, stats);
        if self.phase == Phase::Loss && self.una >= self.recovery_point {
            self.phase = Phase::Open;
            self.forced = false;
            self.frto = Frto::Off;
            self.usage.recovered(summary.now);
            self.rack_recovered();
        }
        if self.phase == Phase::Loss {
            self.moderate(config);
        }
    }
}
