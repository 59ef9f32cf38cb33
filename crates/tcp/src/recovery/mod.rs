//! Loss recovery: how losses are found, and how the window falls and the gaps
//! are filled. One procedure has one file.

mod dup_acks;
mod frto;
mod prr;
mod rack;
mod rate_halving;
mod sack;
mod timeout;
mod tlp;
mod undo;

use headway_sansio::{Duration, Time};

use crate::config::{Config, Recovery, Reduction, SsthreshBasis};
use crate::sender::scoreboard::Delivered;
use crate::sender::{Phase, Sender};
use crate::stats::Stats;
pub(crate) use frto::Frto;
pub(crate) use prr::Prr;
pub(crate) use rack::Rack;
pub(crate) use tlp::Tlp;
pub(crate) use undo::Undo;

/// What one acknowledgement told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSummary {
    pub(crate) now: Time,
    /// Window units under way before it.
    pub(crate) prior_in_flight: u64,
    pub(crate) acked_bytes: u64,
    pub(crate) delivered: Delivered,
    /// It shows that something arrived beyond a gap.
    pub(crate) duplicate: bool,
    /// The receiver got these bytes twice.
    pub(crate) duplicate_report: Option<(u64, u64)>,
    /// The round-trip time that it measured.
    pub(crate) rtt: Option<Duration>,
    /// When the segment left that it echoes, to a tick.
    pub(crate) echoed_at: Option<Time>,
    pub(crate) echoed_rtt: Option<Duration>,
    pub(crate) pure: bool,
    pub(crate) blocks: bool,
    /// Recovery ended with it, so it does not let the window grow.
    pub(crate) left_recovery: bool,
}

impl Sender {
    /// Everything about losses that follows from an acknowledgement.
    pub(crate) fn recover_on_ack(
        &mut self,
        config: &Config,
        summary: &mut AckSummary,
        stats: &mut Stats,
    ) {
        if let Some(range) = summary.duplicate_report {
            stats.duplicate_reports += 1;
            self.on_duplicate_report(config, range, stats);
        }
        self.probe_on_ack(config, summary);
        self.undo_on_ack(config, summary, stats);
        if self.by_rack(config) {
            self.rack_on_ack(config, summary);
        }
        match self.phase {
            Phase::Open => self.open_on_ack(config, summary, stats),
            Phase::Recovery => self.recovery_on_ack(config, summary, stats),
            Phase::Loss => self.loss_on_ack(config, summary, stats),
        }
    }

    fn open_on_ack(&mut self, config: &Config, summary: &AckSummary, stats: &mut Stats) {
        if summary.acked_bytes > 0 {
            self.duplicates = 0;
            self.limited_sent = 0;
        }
        if summary.duplicate {
            self.duplicates += 1;
        } else if self.board.sacked_segments() == 0 && !self.board.anything_lost() {
            return;
        }
        let lost = if self.by_sack(config) {
            self.finds_loss(config)
        } else {
            self.third_duplicate(config)
        };
        if lost || (summary.duplicate && self.head_timed_out(config, summary.now)) {
            self.enter_recovery(config, summary.now, stats);
            if self.by_sack(config) {
                self.reduce_on_ack(config, summary);
            }
        } else {
            // Linux 2.6, `tcp_try_to_open`: the first sign of a gap ends a window
            // that was not used.
            self.moderate(config);
        }
    }

    fn recovery_on_ack(&mut self, config: &Config, summary: &mut AckSummary, stats: &mut Stats) {
        if !self.by_sack(config) {
            self.dup_ack_recovery(config, summary);
            return;
        }
        if self.una >= self.recovery_point {
            self.leave_recovery(config, summary);
            if self.board.anything_lost() {
                self.enter_recovery(config, summary.now, stats);
            }
            return;
        }
        if summary.acked_bytes > 0 {
            self.partial_acks += 1;
        }
        self.mark_losses(config, summary);
        self.reduce_on_ack(config, summary);
    }

    /// Begins fast recovery: RFC 5681, section 3.2; RFC 6675, section 5, step 4.
    pub(crate) fn enter_recovery(&mut self, config: &Config, now: Time, stats: &mut Stats) {
        stats.fast_recoveries += 1;
        self.undo.begin(self.una, &self.window);
        self.recovery_point = self.next;
        self.recover = Some(self.next);
        self.window.ssthresh = self.reduced_threshold(config);
        self.window.clear_credit();
        self.phase = Phase::Recovery;
        self.forced = true;
        self.high_resent = self.una;
        self.rescue = self.board.first().map(|s| s.end());
        self.partial_acks = 0;
        self.new_in_recovery = 0;
        self.resent_in_recovery = 0;
        self.frto = Frto::default();
        self.tlp.reset();
        self.board.mark_lost(0);
        self.forced = self.board.waits_for_resend();
        self.prr.begin(self.board.out());
        self.rate_halving_count = 0;
        let ssthresh = self.window.ssthresh;
        if !self.by_sack(config) {
            self.inflate(config);
        } else {
            match config.reduction {
                Reduction::Immediate => self.window.set_cwnd(ssthresh),
                Reduction::OneSegment => self.window.cwnd = self.window.full,
                Reduction::RateHalving | Reduction::PrrCrb | Reduction::PrrSsrb => {}
            }
        }
        // Without RACK nothing else runs; with it the probe gives way.
        self.arm_rto(config, now);
    }

    /// ssthresh after a loss.
    pub(crate) fn reduced_threshold(&mut self, config: &Config) -> u64 {
        // RFC 5681: what limited transmit sent does not count.
        let flight = self.board.out().saturating_sub(self.limited_sent);
        self.used_at_loss = self.usage.used_at_loss(config, &self.window, flight);
        if let Some(used) = self.used_at_loss {
            return (used / 2).max(2 * self.window.full);
        }
        let basis = match config.ssthresh_basis {
            SsthreshBasis::Flight => flight,
            SsthreshBasis::Outstanding => self.board.out(),
            SsthreshBasis::Window => self.window.cwnd,
            SsthreshBasis::SmallerWindow => self.window.cwnd.min(self.offered_units()),
        };
        self.window.threshold_after_loss(basis)
    }

    /// The window during recovery, step by step.
    fn reduce_on_ack(&mut self, config: &Config, summary: &AckSummary) {
        match config.reduction {
            Reduction::Immediate => {}
            Reduction::RateHalving => self.halve_rate(),
            Reduction::PrrCrb | Reduction::PrrSsrb => self.reduce_proportionally(config, summary),
            Reduction::OneSegment => self.raise_from_one(summary),
        }
    }

    /// Everything that was sent before recovery has arrived.
    pub(crate) fn leave_recovery(&mut self, config: &Config, summary: &mut AckSummary) {
        let (full, ssthresh) = (self.window.full, self.window.ssthresh);
        let out = self.board.out();
        let cwnd = if self.by_sack(config) {
            match config.reduction {
                Reduction::Immediate | Reduction::PrrCrb | Reduction::PrrSsrb => ssthresh,
                Reduction::RateHalving => self.window.cwnd.min(ssthresh),
                Reduction::OneSegment => ssthresh.min(out + full),
            }
        } else if config.recovery == Recovery::Reno {
            ssthresh
        } else {
            // RFC 6582, section 3.2, step 3, the first way.
            ssthresh.min(out.max(full) + full)
        };
        self.window.set_cwnd(cwnd);
        if let Some(used) = self.used_at_loss.take() {
            // RFC 7661, section 4.4.1: less what could not be carried.
            let carried = used.saturating_sub(self.resent_in_recovery);
            self.window.set_cwnd(carried / 2);
            self.window.ssthresh = self.window.cwnd;
        }
        self.phase = Phase::Open;
        self.moderate(config);
        self.duplicates = 0;
        self.limited_sent = 0;
        self.forced = false;
        self.usage.recovered(summary.now);
        self.rack_recovered();
        summary.left_recovery = true;
    }

    /// Linux: no burst where ACKs are in doubt, nor after recovery.
    pub(crate) fn moderate(&mut self, config: &Config) {
        if config.moderation_segments > 0 {
            let burst = u64::from(config.moderation_segments) * self.window.full;
            let most = self.in_flight(config) + burst;
            self.window.set_cwnd(self.window.cwnd.min(most));
        }
    }

    /// Linux 2.6: the oldest segment has waited for a whole RTO.
    pub(crate) fn head_timed_out(&self, config: &Config, now: Time) -> bool {
        config.head_timeout
            && self
                .board
                .first()
                .is_some_and(|head| now.since(head.sent_at) > self.rto(config))
    }
}
