//! RACK: losses by the time of transmission (RFC 8985, section 6).

use headway_sansio::{Duration, Time};

use super::AckSummary;
use crate::config::Config;
use crate::sender::scoreboard::Newest;
use crate::sender::{Phase, Sender};
use crate::stats::Stats;

/// How many recoveries a widened reordering window lasts.
const PERSIST: u32 = 16;

#[derive(Debug)]
pub(crate) struct Rack {
    pub(crate) reorder_at: Time,
    reordering_seen: bool,
    multiplier: u32,
    persist: u32,
    dsack_round: Option<u64>,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            reorder_at: Time::FAR_FUTURE,
            reordering_seen: false,
            multiplier: 1,
            persist: 0,
            dsack_round: None,
        }
    }
}

fn sent_after(a: Newest, b: Newest) -> bool {
    (a.sent_at, a.end) > (b.sent_at, b.end)
}

impl Sender {
    /// Steps 3 to 5 of section 6.2; steps 1 and 2 are the scoreboard's.
    pub(super) fn rack_on_ack(&mut self, config: &Config, summary: &AckSummary) {
        self.rack.reordering_seen |= summary.delivered.reordered;
        if self.rack.dsack_round.is_some_and(|round| self.una >= round) {
            self.rack.dsack_round = None;
        }
        if summary.duplicate_report.is_some() && self.rack.dsack_round.is_none() {
            self.rack.dsack_round = Some(self.next);
            self.rack.multiplier += 1;
            self.rack.persist = PERSIST;
        }
        // With nothing SACKed and nothing sent twice, what was sent first
        // arrived first.
        if self.board.ranges().is_empty() && self.board.oldest_resent().is_none() {
            self.rack.reorder_at = Time::FAR_FUTURE;
            return;
        }
        self.rack_detect(config, summary.now);
    }

    /// A recovery is over (step 4).
    pub(super) fn rack_recovered(&mut self) {
        self.rack.persist = self.rack.persist.saturating_sub(1);
        if self.rack.persist == 0 {
            self.rack.multiplier = 1;
        }
    }

    fn reorder_window(&self, config: &Config) -> Duration {
        if !self.rack.reordering_seen
            && (self.phase != Phase::Open
                || self.board.sacked_segments() >= config.duplicate_threshold)
        {
            return Duration::ZERO;
        }
        let window = self.rtt.floor() * u64::from(self.rack.multiplier) / 4;
        window.min(self.srtt_or(config))
    }

    /// Step 5: marks losses, and sets the timer for those that are to be lost
    /// when the reordering window has passed.
    fn rack_detect(&mut self, config: &Config, now: Time) {
        let newest = self.board.newest;
        let wait = self.board.newest_rtt + self.reorder_window(config);
        let mut latest = Time::ZERO;
        // First transmissions are in order of time and of offset alike.
        let mut index = self.board.index_above(self.board.lost_edge());
        let mut edge = None;
        while index < self.board.len() {
            let segment = self.board.get(index);
            if !segment.sacked() && !segment.ever_resent() {
                if !sent_after(newest, self.newest_of(index)) {
                    break;
                }
                let due = segment.sent_at + wait;
                if due > now {
                    latest = latest.max(due);
                    edge = edge.or(Some(segment.start));
                }
            }
            index += 1;
        }
        let looked_at = index
            .checked_sub(1)
            .map_or(0, |last| self.board.get(last).end());
        let edge = edge.unwrap_or(looked_at);
        self.board.mark_lost_below(edge);
        // Retransmissions are in order of time in a list of their own.
        while let Some((index, resent)) = self.board.oldest_resent() {
            let this = Newest {
                sent_at: resent.sent_at,
                end: self.board.get(index).end(),
            };
            if !sent_after(newest, this) {
                break;
            }
            let due = resent.sent_at + wait;
            if due > now {
                latest = latest.max(due);
                break;
            }
            self.board.mark_resend_lost(index);
            self.board.pop_resent();
        }
        self.rack.reorder_at = if latest == Time::ZERO {
            Time::FAR_FUTURE
        } else {
            latest
        };
    }

    fn newest_of(&self, index: usize) -> Newest {
        let segment = self.board.get(index);
        Newest {
            sent_at: segment.sent_at,
            end: segment.end(),
        }
    }

    /// The reordering window has passed.
    pub(crate) fn on_reorder_timer(&mut self, config: &Config, now: Time, stats: &mut Stats) {
        self.rack_detect(config, now);
        if self.phase == Phase::Open && self.board.anything_lost() {
            self.enter_recovery(config, now, stats);
            let nothing = AckSummary {
                now,
                ..AckSummary::default()
            };
            self.reduce_on_ack(config, &nothing);
        }
    }

    /// Section 6.3: on a timeout only the first segment, and what was sent long
    /// enough ago, is lost.
    pub(super) fn rack_mark_on_timeout(&mut self, config: &Config, now: Time) {
        let wait = self.board.newest_rtt + self.reorder_window(config);
        for index in 0..self.board.len() {
            if index == 0 || self.board.get(index).sent_at + wait <= now {
                self.board.mark_resend_lost(index);
            }
        }
    }
}
