//! Tail loss probes (RFC 8985, section 7).

use headway_sansio::{Duration, Time};

use super::AckSummary;
use crate::config::Config;
use crate::sender::{Phase, Sender, Transmission};
use crate::stats::Stats;

#[derive(Debug)]
pub(crate) struct Tlp {
    /// When the probe timeout (PTO) is due.
    pub(crate) due: Time,
    /// What was the next new offset when the probe was sent: `TLP.end_seq`.
    end: Option<u64>,
    retransmission: bool,
    /// A round-trip time was measured since the last probe.
    sampled: bool,
    wanted: bool,
}

impl Default for Tlp {
    fn default() -> Self {
        Self {
            due: Time::FAR_FUTURE,
            end: None,
            retransmission: false,
            sampled: false,
            wanted: false,
        }
    }
}

impl Tlp {
    pub(crate) fn sampled(&mut self) {
        self.sampled = true;
    }

    /// Another kind of recovery begins (section 7.1).
    pub(super) fn reset(&mut self) {
        self.due = Time::FAR_FUTURE;
        self.end = None;
        self.wanted = false;
    }
}

impl Sender {
    /// Section 7.2. Called when new data was sent or acknowledged.
    pub(crate) fn arm_probe(&mut self, config: &Config, now: Time) {
        if !config.tail_loss_probe || !self.by_rack(config) {
            return;
        }
        if self.phase != Phase::Open || self.board.sacked_segments() > 0 || self.board.is_empty() {
            self.tlp.due = Time::FAR_FUTURE;
            return;
        }
        let wait = match self.rtt.srtt() {
            Some(srtt) if self.board.len() == 1 => {
                srtt * 2 + Duration::from_nanos(config.probe_ack_delay_ns)
            }
            Some(srtt) => srtt * 2,
            None => Duration::from_secs(1),
        };
        self.tlp.due = (now + wait).min(self.rto_at);
    }

    /// Section 7.3. The RTO is the last resort, a whole RTO from now.
    pub(crate) fn on_probe_timer(&mut self, config: &Config, now: Time) {
        self.tlp.due = Time::FAR_FUTURE;
        if self.board.is_empty() {
            return;
        }
        self.tlp.wanted = self.tlp.end.is_none() && self.tlp.sampled;
        self.arm_rto(config, now);
    }

    /// The probe, if one is wanted: new data, or else the last segment again.
    pub(crate) fn take_probe(
        &mut self,
        config: &Config,
        now: Time,
        stats: &mut Stats,
    ) -> Option<Transmission> {
        if !core::mem::take(&mut self.tlp.wanted) || self.board.is_empty() {
            return None;
        }
        stats.tail_probes += 1;
        self.tlp.sampled = false;
        let len = self.unsent().min(u64::from(self.agreed.mss)) as u32;
        let probe = if len > 0 && self.peer_takes(len) {
            self.tlp.retransmission = false;
            self.send_new(config, len, now, stats)
        } else {
            self.tlp.retransmission = true;
            let last = self.board.len() - 1;
            self.retransmit(config, last, now, stats)
        };
        self.tlp.end = Some(self.next);
        self.tlp.due = Time::FAR_FUTURE;
        self.arm_rto(config, now);
        Some(probe)
    }

    /// Section 7.4: whether the probe repaired a loss that nothing else shows.
    pub(super) fn probe_on_ack(&mut self, config: &Config, summary: &AckSummary) {
        let Some(end) = self.tlp.end.filter(|&end| self.una >= end) else {
            return;
        };
        if !self.tlp.retransmission {
            self.tlp.end = None;
        } else if summary.duplicate_report.is_some_and(|r| r.1 == end) {
            // Both copies arrived.
            self.tlp.end = None;
        } else if self.una > end {
            self.tlp.end = None;
            self.window.ssthresh = self.reduced_threshold(config);
            let cwnd = self.window.cwnd.min(self.window.ssthresh);
            self.window.set_cwnd(cwnd);
        } else if summary.acked_bytes == 0 && summary.pure && !summary.blocks {
            self.tlp.end = None;
        }
    }
}
