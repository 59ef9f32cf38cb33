//! Taking a reduction back that turns out to be needless: by D-SACK (RFC 3708),
//! by timestamps (RFC 3522), or by an ACK that came too soon after a timeout.

use headway_sansio::Time;

use super::AckSummary;
use crate::config::Config;
use crate::congestion::Window;
use crate::sender::{Phase, Sender};
use crate::stats::Stats;

#[derive(Debug)]
pub(crate) struct Undo {
    /// Oldest unacknowledged offset when the reduction began.
    marker: Option<u64>,
    cwnd: u64,
    ssthresh: u64,
    /// Retransmissions that were not reported as duplicates.
    open: u32,
    first_resent_at: Option<Time>,
    /// BSD: an ACK before this time is one of the first transmission.
    pub(super) early_until: Time,
}

impl Default for Undo {
    fn default() -> Self {
        Self {
            marker: None,
            cwnd: 0,
            ssthresh: 0,
            open: 0,
            first_resent_at: None,
            early_until: Time::ZERO,
        }
    }
}

impl Undo {
    /// A reduction begins.
    pub(super) fn begin(&mut self, una: u64, window: &Window) {
        *self = Self {
            marker: Some(una),
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            ..Self::default()
        };
    }

    pub(crate) fn retransmitted(&mut self, now: Time) {
        self.open += 1;
        self.first_resent_at.get_or_insert(now);
    }
}

impl Sender {
    /// The receiver got `range` twice.
    pub(crate) fn on_duplicate_report(
        &mut self,
        config: &Config,
        range: (u64, u64),
        stats: &mut Stats,
    ) {
        let Some(marker) = self.undo.marker else {
            return;
        };
        if range.1 <= marker || self.undo.open == 0 {
            return;
        }
        self.undo.open -= 1;
        if self.undo.open == 0 && config.undo_dsack {
            self.take_back(config, stats);
        }
    }

    pub(super) fn undo_on_ack(&mut self, config: &Config, summary: &AckSummary, stats: &mut Stats) {
        if self.phase == Phase::Open || summary.acked_bytes == 0 || self.undo.marker.is_none() {
            return;
        }
        let tick = config.timestamp_tick_ns.max(1);
        let older =
            |echoed: Time, resent: Time| echoed.as_nanos() / tick < resent.as_nanos() / tick;
        let by_timestamp = config.undo_timestamps
            && summary
                .echoed_at
                .zip(self.undo.first_resent_at)
                .is_some_and(|(echoed, resent)| older(echoed, resent));
        let by_time = config.undo_early_ack
            && self.phase == Phase::Loss
            && self.rtt.backoff() <= 1
            && summary.now < self.undo.early_until;
        if by_timestamp || by_time {
            self.take_back(config, stats);
        }
    }

    /// Window and threshold are again what they were; nothing counts as lost.
    pub(super) fn take_back(&mut self, config: &Config, stats: &mut Stats) {
        stats.undone += 1;
        self.window.cwnd = self.window.cwnd.max(self.undo.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(self.undo.ssthresh);
        self.undo.marker = None;
        self.undo.early_until = Time::ZERO;
        if self.phase != Phase::Open {
            self.board.unmark_lost();
            self.phase = Phase::Open;
            self.forced = false;
            self.duplicates = 0;
            self.frto = super::Frto::default();
        }
        self.moderate(config);
    }
}
