//! Which chunks are given up for lost: by missing reports (RFC 9260, section
//! 7.2.4) and by T3-rtx (section 6.3.3).

use headway_sansio::{Duration, Time};

use super::{Outbound, Progress, SentState};
use crate::path::Path;
use crate::{Config, RepeatFastRetransmit, TimeoutMarks, Tsn};

impl Outbound {
    /// Counts missing reports and marks what reached the threshold. Says whether
    /// anything did.
    pub(crate) fn count_missing(
        &mut self,
        config: &Config,
        path: &mut Path,
        progress: &Progress,
    ) -> bool {
        let Some(last) = self.acked.last() else {
            return false;
        };
        let in_recovery = self.recovery.is_some() && progress.advanced;
        let qualified = config.repeat_fast_retransmit == RepeatFastRetransmit::Qualified;
        // While losses are being repaired, progress shows that the rest of the
        // gaps are losses too, and not late; sctp-refimpl stops at the highest
        // newly acknowledged TSN all the same.
        let bound = if in_recovery && !qualified {
            last.high
        } else if let Some(highest) = progress.highest {
            highest.distance_from(self.first)
        } else {
            return false;
        };
        let mut any = false;
        let mut low = 0;
        for position in 0..self.acked.len() {
            let span = self.acked[position];
            for index in low..span.low.min(bound) {
                any |= self.missing_report(config, path, index, progress.highest, in_recovery);
            }
            low = span.high + 1;
            if low > bound {
                break;
            }
        }
        any
    }

    fn missing_report(
        &mut self,
        config: &Config,
        path: &mut Path,
        index: u32,
        highest: Option<Tsn>,
        in_recovery: bool,
    ) -> bool {
        let sent = &mut self.sent[index as usize];
        if sent.state != SentState::InFlight {
            return false;
        }
        if sent.fast {
            match config.repeat_fast_retransmit {
                RepeatFastRetransmit::Off => return false,
                RepeatFastRetransmit::Unqualified => {}
                RepeatFastRetransmit::Qualified => {
                    let passed = highest.is_some_and(|tsn| !tsn.precedes(sent.marker));
                    if !passed && !in_recovery {
                        return false;
                    }
                }
            }
        }
        sent.missing = sent.missing.saturating_add(1);
        if sent.missing < config.missing_report_threshold {
            return false;
        }
        sent.fast = true;
        let tsn = sent.chunk.tsn;
        self.mark(config, path, index, SentState::MarkedFast);
        let place = self.marked.partition_point(|other| other.precedes(tsn));
        self.marked.insert(place, tsn);
        true
    }

    /// Marks what T3-rtx gives up; the earliest outstanding chunk always is.
    pub(crate) fn mark_timed_out(&mut self, config: &Config, path: &mut Path, now: Time) {
        let age = match config.timeout_marks {
            TimeoutMarks::All => Duration::ZERO,
            TimeoutMarks::OlderThanEstimate => path.rtt.estimate().unwrap_or(Duration::ZERO),
        };
        self.marked.clear();
        for index in 0..self.sent.len() {
            let sent = &self.sent[index];
            let tsn = sent.chunk.tsn;
            match sent.state {
                SentState::Acked => continue,
                SentState::InFlight if index > 0 && now.since(sent.sent_at) < age => continue,
                _ => self.mark(config, path, index as u32, SentState::MarkedTimeout),
            }
            if config.repeat_fast_retransmit != RepeatFastRetransmit::Off {
                // sctp-refimpl and lksctp 2.6.11 start afresh after a timeout.
                self.sent[index].fast = false;
            }
            self.marked.push_back(tsn);
        }
    }

    fn mark(&mut self, config: &Config, path: &mut Path, index: u32, state: SentState) {
        let sent = &mut self.sent[index as usize];
        if sent.state == SentState::InFlight {
            let window = sent.chunk.payload.len() as u32 + config.peer_window_chunk_cost_bytes;
            path.flight -= sent.cost;
            self.window_in_flight -= window;
            // Section 6.2.1, rule C.
            self.peer_window = self.peer_window.saturating_add(window);
        }
        sent.state = state;
        sent.missing = 0;
    }
}
