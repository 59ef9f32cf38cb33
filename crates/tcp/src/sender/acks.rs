//! What an acknowledgement tells the sender, in order: the peer's window, SACK
//! blocks, the cumulative acknowledgement, the round-trip time; then recovery
//! and growth.

use headway_sansio::{Duration, Time};
use smallvec::SmallVec;

use super::scoreboard::Delivered;
use super::{Phase, Sender};
use crate::config::{Config, RttSampling};
use crate::congestion::Growth;
use crate::recovery::AckSummary;
use crate::stats::Stats;

/// The acknowledging part of a segment, as offsets in our stream.
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    pub(crate) offset: u64,
    pub(crate) window: u64,
    pub(crate) blocks: SmallVec<[(u64, u64); 4]>,
    /// The segment carries nothing else: no data, SYN or FIN.
    pub(crate) pure: bool,
    /// Round-trip time from the echoed timestamp.
    pub(crate) echoed_rtt: Option<Duration>,
    /// When the echoed segment left, to a tick.
    pub(crate) echoed_at: Option<Time>,
}

impl Sender {
    /// Takes an acknowledgement in. Returns whether new data was acknowledged.
    pub(crate) fn on_ack(
        &mut self,
        config: &Config,
        now: Time,
        ack: &Ack,
        stats: &mut Stats,
    ) -> bool {
        if ack.offset < self.una {
            // Old; but a duplicate report in it is news.
            if let Some(range) = duplicate_report(ack, self.una) {
                stats.duplicate_reports += 1;
                self.on_duplicate_report(config, range, stats);
            }
            return false;
        }
        self.begin_row();
        let mut summary = AckSummary {
            now,
            prior_in_flight: self.in_flight(config),
            acked_bytes: ack.offset - self.una,
            echoed_rtt: ack.echoed_rtt,
            echoed_at: ack.echoed_at,
            blocks: !ack.blocks.is_empty(),
            pure: ack.pure,
            duplicate_report: duplicate_report(ack, ack.offset),
            ..AckSummary::default()
        };
        let same_window = self.update_window(ack);
        let outstanding = !self.board.is_empty();
        if outstanding {
            self.take_blocks(ack, now, &mut summary);
        }
        if summary.acked_bytes > 0 {
            self.board
                .acknowledge(ack.offset, now, &mut summary.delivered);
            self.una = ack.offset;
            self.content.drop_below(ack.offset);
            self.timeouts_in_row = 0;
            stats.bytes_acknowledged = self.una.min(self.written());
        }
        self.measure(config, &mut summary);
        // RFC 5681, section 2; with SACK, RFC 6675, section 2: one that reports
        // something new.
        summary.duplicate = outstanding
            && if self.by_sack(config) {
                summary.delivered.sacked_segments > 0
            } else {
                summary.acked_bytes == 0 && ack.pure && same_window
            };
        stats.duplicate_acks += u64::from(summary.duplicate);
        self.recover_on_ack(config, &mut summary, stats);
        self.grow_on_ack(config, &summary);
        self.timers_on_ack(config, &summary);
        summary.acked_bytes > 0
    }

    /// Returns whether the offered window stayed what it was.
    fn update_window(&mut self, ack: &Ack) -> bool {
        let same = ack.window == self.peer_window;
        self.peer_window = ack.window;
        self.window_max = self.window_max.max(ack.window);
        self.edge = self.edge.max(ack.offset + ack.window);
        same
    }

    fn take_blocks(&mut self, ack: &Ack, now: Time, summary: &mut AckSummary) {
        if !self.agreed.sack {
            return;
        }
        let skip = usize::from(summary.duplicate_report.is_some());
        for &(start, end) in ack.blocks.iter().skip(skip) {
            // Below is old news, above is a lie.
            let (start, end) = (start.max(ack.offset), end.min(self.next));
            if start < end {
                self.board
                    .selectively_acknowledge(start, end, now, &mut summary.delivered);
            }
        }
    }

    /// RFC 6298, section 3: no sample from what was retransmitted, unless its
    /// timestamp tells which transmission it was.
    fn measure(&mut self, config: &Config, summary: &mut AckSummary) {
        if summary.acked_bytes == 0 {
            return;
        }
        let every = config.rtt_sampling == RttSampling::EveryAck;
        let mut sample = None;
        if let Some((end, at)) = self.timed
            && end <= self.una
        {
            sample = Some(summary.now.since(at));
            self.timed = None;
        }
        if every {
            sample = summary
                .delivered
                .oldest_sent_at
                .map(|at| summary.now.since(at));
        }
        if self.agreed.timestamps && (sample.is_none() || !every) {
            sample = summary.echoed_rtt.or(sample);
        }
        if let Some(rtt) = sample {
            self.rtt
                .sample(config, summary.now, rtt, self.una, self.next);
            self.board.rtt_floor = self.rtt.floor();
            self.tlp.sampled();
            summary.rtt = Some(rtt);
        }
    }

    /// Congestion control outside of fast recovery.
    fn grow_on_ack(&mut self, config: &Config, summary: &AckSummary) {
        if summary.acked_bytes == 0 || self.phase == Phase::Recovery || summary.left_recovery {
            return;
        }
        let srtt = self.srtt_or(config);
        self.usage.acknowledged(
            config,
            &mut self.window,
            summary.now,
            summary.acked_bytes,
            srtt,
        );
        if !self
            .usage
            .may_grow(config, &self.window, summary.prior_in_flight)
        {
            return;
        }
        let growth = Growth {
            now: summary.now,
            acked_bytes: summary.acked_bytes,
            acked_segments: summary.delivered.acked_segments.max(1),
            after_timeout: self.phase == Phase::Loss,
            rtt: summary.rtt,
            srtt,
            rtt_floor: self.rtt.floor(),
            una: self.una,
            next: self.next,
        };
        self.window.grow(config, &growth);
    }

    /// RFC 6298, sections 5.2 and 5.3.
    fn timers_on_ack(&mut self, config: &Config, summary: &AckSummary) {
        if self.board.is_empty() {
            self.rto_at = Time::FAR_FUTURE;
            self.tlp.due = Time::FAR_FUTURE;
            self.rack.reorder_at = Time::FAR_FUTURE;
        } else if summary.acked_bytes > 0 {
            let impatient = self.phase == Phase::Recovery
                && !self.by_sack(config)
                && !config.restart_timer_on_partial_acks
                && self.partial_acks > 1;
            if !impatient {
                self.arm_rto(config, summary.now);
            }
            self.arm_probe(config, summary.now);
        }
        if self.edge > self.next {
            self.stop_persist();
        }
    }
}

/// RFC 2883, section 4; RFC 3708, section 2: the first block reports a duplicate
/// if it lies below the cumulative acknowledgement or within the second block.
fn duplicate_report(ack: &Ack, una: u64) -> Option<(u64, u64)> {
    let &(start, end) = ack.blocks.first()?;
    let within = |second: &(u64, u64)| start >= second.0 && end <= second.1;
    (end <= una || ack.blocks.get(1).is_some_and(within)).then_some((start, end))
}

impl Default for AckSummary {
    fn default() -> Self {
        Self {
            now: Time::ZERO,
            prior_in_flight: 0,
            acked_bytes: 0,
            delivered: Delivered::default(),
            duplicate: false,
            duplicate_report: None,
            rtt: None,
            echoed_rtt: None,
            echoed_at: None,
            blocks: false,
            pure: false,
            left_recovery: false,
        }
    }
}
