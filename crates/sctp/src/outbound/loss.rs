//! Which chunks are given up for lost: by missing reports (RFC 9260, section
//! 7.2.4) and by T3-rtx (section 6.3.3).

use headway_sansio::{Duration, Time};

use super::{Outbound, Progress, SentState};
use crate::path::Paths;
use crate::{Config, RepeatFastRetransmit, TimeoutMarks, Tsn};

impl Outbound {
    /// Counts missing reports and marks what reached the threshold. Says whether
    /// anything did.
    pub(crate) fn count_missing(
        &mut self,
        config: &Config,
        paths: &mut Paths,
        progress: &Progress,
    ) -> bool {
        let Some(&last) = self.acked.last() else {
            return false;
        };
        let in_recovery = self.recovery.is_some() && progress.advanced;
        let qualified = config.repeat_fast_retransmit == RepeatFastRetransmit::Qualified;
        // While losses are being repaired, progress shows that the rest of the
        // gaps are losses too, and not late; sctp-refimpl stops at the highest
        // newly acknowledged TSN all the same.
        let everything = in_recovery && !qualified;
        let bound = if everything {
            last.high
        } else if progress.beyond_gap {
            let first = self.first;
            let distance = |tsn: Tsn| tsn.distance_from(first);
            let highest = paths.iter().filter_map(|path| path.news.highest);
            highest.map(distance).max().unwrap_or(0)
        } else {
            return false;
        };
        let mut any = false;
        let mut low = 0;
        for position in 0..self.acked.len() {
            let span = self.acked[position];
            for index in low..span.low.min(bound) {
                any |= self.missing_report(config, paths, index, everything, in_recovery);
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
        paths: &mut Paths,
        index: u32,
        everything: bool,
        in_recovery: bool,
    ) -> bool {
        let sent = &mut self.sent[index as usize];
        if sent.state != SentState::InFlight && !sent.watched {
            return false;
        }
        let tsn = sent.chunk.tsn;
        // What arrived by another path says nothing of this chunk: that path may
        // be faster. So the highest TSN newly acknowledged is that of its own.
        let highest = paths[usize::from(sent.path)].news.highest;
        if !everything && !highest.is_some_and(|highest| tsn.precedes(highest)) {
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
        paths[usize::from(sent.path)].lossy = true;
        if core::mem::take(&mut sent.watched) {
            return true;
        }
        self.mark(config, paths, index, SentState::MarkedFast);
        let place = self.marked.partition_point(|other| other.precedes(tsn));
        self.marked.insert(place, tsn);
        true
    }

    /// Marks what the T3-rtx of a path gives up; the earliest chunk outstanding on
    /// it always is.
    pub(crate) fn mark_timed_out(
        &mut self,
        config: &Config,
        paths: &mut Paths,
        on: usize,
        now: Time,
    ) {
        let age = match config.timeout_marks {
            // RFC 8985, section 6.3.
            _ if config.time_loss_detection => {
                let smoothed = paths[on].rtt.smoothed();
                smoothed.map_or(Duration::ZERO, |srtt| paths[on].rack.patience(srtt))
            }
            TimeoutMarks::All => Duration::ZERO,
            TimeoutMarks::OlderThanEstimate => paths[on]
                .rtt
                .estimate(Duration::ZERO)
                .unwrap_or(Duration::ZERO),
        };
        let mut first = true;
        self.marked.clear();
        for index in 0..self.sent.len() {
            let sent = &self.sent[index];
            let tsn = sent.chunk.tsn;
            let here = usize::from(sent.path) == on;
            match sent.state {
                SentState::Acked | SentState::Abandoned => continue,
                // Marked before, and on another path: still to be sent again.
                _ if !here && sent.state.is_marked() => {}
                _ if !here => continue,
                SentState::InFlight if !first && now.since(sent.sent_at) < age => continue,
                _ => {
                    self.mark(config, paths, index as u32, SentState::MarkedTimeout);
                    first = false;
                    if config.repeat_fast_retransmit != RepeatFastRetransmit::Off {
                        // sctp-refimpl and lksctp 2.6.11 start afresh after a timeout.
                        self.sent[index].fast = false;
                    }
                }
            }
            self.marked.push_back(tsn);
        }
    }

    pub(super) fn mark(
        &mut self,
        config: &Config,
        paths: &mut Paths,
        index: u32,
        state: SentState,
    ) {
        let sent = &mut self.sent[index as usize];
        if sent.state == SentState::InFlight {
            let window = sent.chunk.payload.len() as u32 + config.peer_window_chunk_cost_bytes;
            paths[usize::from(sent.path)].flight -= sent.cost;
            self.window_in_flight -= window;
            // Section 6.2.1, rule C.
            self.peer_window = self.peer_window.saturating_add(window);
        }
        sent.state = state;
        sent.missing = 0;
    }
}
