//! What a SACK acknowledges (RFC 9260, section 6.2.1).
//!
//! The cost is that of the chunks newly acknowledged and of the gap blocks: the
//! blocks of the last SACK are kept, and only what differs is looked at.

use headway_sansio::{Duration, Time};

use super::{Outbound, SentState, spans};
use crate::path::Path;
use crate::{Config, Sack, Tsn};

/// What became of one SACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Window bytes acknowledged for the first time.
    pub(crate) bytes: u32,
    /// Chunks acknowledged for the first time.
    pub(crate) chunks: u32,
    /// The cumulative TSN moved, and with it the earliest outstanding chunk.
    pub(crate) advanced: bool,
    /// A measurement of the round trip.
    pub(crate) round_trip: Option<Duration>,
    /// Highest TSN newly acknowledged (HTNA), if it lies beyond a gap.
    pub(crate) highest: Option<Tsn>,
    /// A chunk reported before is missing again.
    pub(crate) reneged: bool,
}

impl Outbound {
    /// Whether a cumulative TSN is neither older than the last one nor beyond
    /// what was sent.
    pub(crate) fn is_plausible(&self, cumulative: Tsn) -> bool {
        let newest = self.next_tsn().previous();
        !cumulative.precedes(self.first.previous()) && !newest.precedes(cumulative)
    }

    /// Takes everything up to `cumulative` off the books.
    pub(crate) fn advance(
        &mut self,
        config: &Config,
        path: &mut Path,
        now: Time,
        cumulative: Tsn,
        progress: &mut Progress,
    ) {
        let count = cumulative.next().distance_from(self.first);
        for _ in 0..count {
            let Some(sent) = self.sent.pop_front() else {
                break;
            };
            let tsn = sent.chunk.tsn;
            let bytes = sent.chunk.payload.len() as u32;
            self.sent_bytes -= bytes;
            if sent.state == SentState::InFlight {
                path.flight -= sent.cost;
                self.window_in_flight -= bytes + config.peer_window_chunk_cost_bytes;
            }
            if sent.state != SentState::Acked {
                progress.bytes += sent.cost;
                progress.chunks += 1;
                take_round_trip(path, now, tsn, progress);
            }
        }
        self.first = self.first.plus(count);
        progress.advanced = count > 0;
        spans::shift(&mut self.acked, count);
    }

    /// Compares the gap blocks with those of the SACK before.
    pub(crate) fn take_gaps(
        &mut self,
        config: &Config,
        path: &mut Path,
        now: Time,
        sack: &Sack,
        progress: &mut Progress,
    ) {
        if sack.gaps.is_empty() && self.acked.is_empty() {
            return;
        }
        let mut new = core::mem::take(&mut self.scratch);
        spans::from_gaps(&sack.gaps, self.sent.len() as u32, &mut new);
        let mut changed = core::mem::take(&mut self.difference);
        spans::difference(&new, &self.acked, &mut changed);
        for span in &changed {
            for index in span.low..=span.high {
                self.gap_acked(config, path, now, index, progress);
            }
            progress.highest = Some(self.first.plus(span.high));
        }
        spans::difference(&self.acked, &new, &mut changed);
        for span in &changed {
            for index in span.low..=span.high {
                self.reneged(config, path, index);
            }
            progress.reneged = true;
        }
        self.difference = changed;
        self.scratch = core::mem::replace(&mut self.acked, new);
    }

    fn gap_acked(
        &mut self,
        config: &Config,
        path: &mut Path,
        now: Time,
        index: u32,
        progress: &mut Progress,
    ) {
        let sent = &mut self.sent[index as usize];
        if sent.state == SentState::InFlight {
            path.flight -= sent.cost;
            self.window_in_flight -=
                sent.chunk.payload.len() as u32 + config.peer_window_chunk_cost_bytes;
        }
        sent.state = SentState::Acked;
        progress.bytes += sent.cost;
        progress.chunks += 1;
        take_round_trip(path, now, sent.chunk.tsn, progress);
    }

    /// The peer no longer reports a chunk: it counts as under way again, with one
    /// missing report (section 6.2.1, rule D iii).
    fn reneged(&mut self, config: &Config, path: &mut Path, index: u32) {
        let sent = &mut self.sent[index as usize];
        sent.state = SentState::InFlight;
        sent.missing = 1;
        path.flight += sent.cost;
        self.window_in_flight +=
            sent.chunk.payload.len() as u32 + config.peer_window_chunk_cost_bytes;
    }

    /// Works out what the peer's buffer takes beyond what is under way (rule D ii).
    pub(crate) fn set_peer_window(&mut self, a_rwnd: u32) {
        self.peer_window = a_rwnd.saturating_sub(self.window_in_flight);
    }
}

fn take_round_trip(path: &mut Path, now: Time, tsn: Tsn, progress: &mut Progress) {
    if let Some((timed, sent_at)) = path.timed
        && timed == tsn
    {
        path.timed = None;
        progress.round_trip = Some(now.since(sent_at));
    }
}
