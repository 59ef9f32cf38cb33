//! Finding losses on the SACK scoreboard: RFC 6675, and the ways of stacks.

use super::AckSummary;
use crate::config::{Config, Recovery, SackDetection};
use crate::sender::Sender;

impl Sender {
    /// Looks for losses outside of recovery; whether there is one.
    pub(super) fn finds_loss(&mut self, config: &Config) -> bool {
        if config.recovery == Recovery::RackTlp {
            return self.board.anything_lost();
        }
        let counted = self.duplicates >= config.duplicate_threshold;
        match config.sack_detection {
            SackDetection::Rfc6675 => {
                self.mark_below_edge(config);
                // RFC 6675, section 5, steps 1 and 2.
                counted || self.board.anything_lost()
            }
            SackDetection::Segments | SackDetection::Fack => {
                self.mark_below_edge(config);
                self.board.anything_lost()
            }
            SackDetection::Holes => {
                if counted {
                    self.mark_below_edge(config);
                }
                counted
            }
        }
    }

    /// Looks for losses during recovery.
    pub(super) fn mark_losses(&mut self, config: &Config, summary: &AckSummary) {
        if config.recovery == Recovery::RackTlp {
            return;
        }
        self.mark_below_edge(config);
        // Linux: the segment that follows a partial ACK, as in NewReno, whatever
        // was SACKed above it.
        if summary.acked_bytes > 0
            && matches!(
                config.sack_detection,
                SackDetection::Fack | SackDetection::Segments
            )
            && self.board.first().is_some_and(|s| !s.ever_resent())
        {
            self.board.mark_lost(0);
        }
        if config.detect_lost_retransmissions {
            self.find_lost_retransmissions(summary);
        }
        if config.head_timeout {
            self.mark_timed_out(config, summary);
        }
    }

    fn mark_below_edge(&mut self, config: &Config) {
        if let Some(edge) = self.loss_edge(config) {
            self.board.mark_lost_below(edge);
        }
    }

    /// Everything below this offset that was not SACKed is lost.
    fn loss_edge(&self, config: &Config) -> Option<u64> {
        if self.board.ranges().is_empty() {
            return None;
        }
        let threshold = config.duplicate_threshold as usize;
        match config.sack_detection {
            SackDetection::Rfc6675 => {
                // IsLost: three separate ranges above, or more than two MSS.
                let enough = u64::from(config.duplicate_threshold - 1) * u64::from(self.agreed.mss);
                let mut bytes = 0;
                for (count, (start, end)) in self.board.ranges().iter().rev().enumerate() {
                    bytes += end - start;
                    if count + 1 >= threshold || bytes > enough {
                        return Some(start);
                    }
                }
                None
            }
            SackDetection::Segments => {
                let mut index = self.highest_sacked_index()?;
                let mut count = 0;
                loop {
                    let segment = self.board.get(index);
                    count += usize::from(segment.sacked());
                    if count >= threshold {
                        return Some(segment.start);
                    }
                    index = index.checked_sub(1)?;
                }
            }
            SackDetection::Fack => {
                // The highest SACKed one, and two below it, may still be reordered.
                let index = self.highest_sacked_index()?;
                let lost = (index + 1).checked_sub(threshold)?;
                (lost > 0).then(|| self.board.get(lost - 1).end())
            }
            SackDetection::Holes => self.board.ranges().iter().next_back().map(|r| r.0),
        }
    }

    fn highest_sacked_index(&self) -> Option<usize> {
        let index = self
            .board
            .index_above(self.board.highest_sacked().checked_sub(1)?);
        (index < self.board.len()).then_some(index)
    }

    /// Linux: something that was sent after a retransmission has arrived, and
    /// the retransmission has not.
    fn find_lost_retransmissions(&mut self, summary: &AckSummary) {
        let highest = summary.delivered.highest_sacked;
        while let Some((index, resent)) = self.board.oldest_resent() {
            if highest <= resent.next {
                return;
            }
            self.board.mark_resend_lost(index);
            self.board.pop_resent();
        }
    }

    /// Linux: what has waited for an RTO is lost, without a timeout.
    fn mark_timed_out(&mut self, config: &Config, summary: &AckSummary) {
        if !self.head_timed_out(config, summary.now) {
            return;
        }
        let rto = self.rto(config);
        let mut index = self.board.index_above(self.board.lost_edge());
        let mut edge = 0;
        while index < self.board.len() {
            let segment = self.board.get(index);
            if segment.ever_resent() || summary.now.since(segment.sent_at) <= rto {
                break;
            }
            edge = segment.end();
            index += 1;
        }
        self.board.mark_lost_below(edge);
    }

    /// Rules 3 and 4 of RFC 6675's `NextSeg`: what may be sent again though
    /// nothing says that it is lost, when there is nothing else to send.
    pub(crate) fn last_resort(&mut self, config: &Config) -> Option<usize> {
        if config.recovery == Recovery::RackTlp || config.sack_detection == SackDetection::Holes {
            return None;
        }
        let highest = self.board.highest_sacked();
        let mut index = self.board.index_above(self.high_resent);
        while index < self.board.len() && self.board.get(index).end() <= highest {
            let segment = self.board.get(index);
            if !segment.sacked() && !segment.ever_resent() {
                return self.fits(config, segment.len).then_some(index);
            }
            index += 1;
        }
        if config.rescue_retransmission && self.rescue.is_some_and(|r| self.una > r) {
            let last = (0..self.board.len())
                .rev()
                .find(|&i| !self.board.get(i).sacked())?;
            if self.fits(config, self.board.get(last).len) {
                self.rescue = Some(self.recovery_point);
                return Some(last);
            }
        }
        None
    }

    /// FreeBSD: up by one segment for a duplicate ACK while less than ssthresh
    /// is under way beyond what was SACKed; on a partial ACK, room for one
    /// segment, or two where it covers more than two (`tcp_sack_partialack`).
    pub(super) fn raise_from_one(&mut self, summary: &AckSummary) {
        let (full, ssthresh) = (self.window.full, self.window.ssthresh);
        if summary.acked_bytes > 0 {
            let segments = if summary.acked_bytes > 2 * u64::from(self.agreed.mss) {
                2
            } else {
                1
            };
            let sent = self.board.resent_units() + self.new_in_recovery;
            self.window.set_cwnd((sent + segments * full).min(ssthresh));
        } else if summary.duplicate {
            let beyond = self.board.forward().max(self.una);
            let above = self.next.saturating_sub(beyond) * full / u64::from(self.agreed.mss);
            if above + self.board.resent_units() < ssthresh {
                self.window.cwnd = (self.window.cwnd + full).min(ssthresh);
            }
        }
    }
}
