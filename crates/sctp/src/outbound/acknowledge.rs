//! What a SACK acknowledges (RFC 9260, section 6.2.1).
//!
//! The cost is that of the chunks newly acknowledged and of the gap blocks: the
//! blocks of the last SACK are kept, and only what differs is looked at.

use headway_sansio::Time;

use super::limit::Limit;
use super::{Outbound, Sent, SentState, spans};
use crate::path::{News, Path, Paths};
use crate::{Config, Sack, Tsn};

/// What became of one SACK. What concerns a path is in its [`News`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Chunks acknowledged for the first time.
    pub(crate) chunks: u32,
    /// The cumulative TSN moved, and with it the earliest outstanding chunk.
    pub(crate) advanced: bool,
    /// Something lies beyond a gap that was not acknowledged before.
    pub(crate) beyond_gap: bool,
    /// A chunk reported before is missing again.
    pub(crate) reneged: bool,
    /// The peer has skipped what was given up.
    pub(crate) skipped: bool,
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
        paths: &mut Paths,
        now: Time,
        cumulative: Tsn,
        progress: &mut Progress,
    ) {
        let count = cumulative.next().distance_from(self.first);
        for _ in 0..count {
            let Some(sent) = self.sent.front() else {
                break;
            };
            if sent.state == SentState::Abandoned {
                // It earns neither window nor round trip (RFC 3758, section 3.5,
                // rule A2).
                self.abandoned -= 1;
                progress.chunks += 1;
                progress.skipped = true;
            } else {
                if sent.limit != Limit::None {
                    self.limited -= 1;
                }
                let bytes = sent.chunk.payload.len() as u32;
                self.sent_bytes -= bytes;
                let path = &mut paths[usize::from(sent.path)];
                if sent.state == SentState::InFlight {
                    path.flight -= sent.cost;
                    self.window_in_flight -= bytes + config.peer_window_chunk_cost_bytes;
                }
                if sent.state != SentState::Acked {
                    acknowledged(config, path, now, sent);
                    progress.chunks += 1;
                }
                path.news.advanced = true;
            }
            self.sent.pop_front();
        }
        self.first = self.first.plus(count);
        progress.advanced = count > 0;
        self.forward.shift(count, self.first);
        spans::shift(&mut self.acked, count);
    }

    /// Compares the gap blocks with those of the SACK before.
    pub(crate) fn take_gaps(
        &mut self,
        config: &Config,
        paths: &mut Paths,
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
                self.gap_acked(config, paths, now, index);
                progress.chunks += 1;
            }
            progress.beyond_gap = true;
        }
        spans::difference(&self.acked, &new, &mut changed);
        for span in &changed {
            for index in span.low..=span.high {
                self.reneged(config, paths, index);
            }
            progress.reneged = true;
        }
        self.difference = changed;
        self.scratch = core::mem::replace(&mut self.acked, new);
    }

    fn gap_acked(&mut self, config: &Config, paths: &mut Paths, now: Time, index: u32) {
        let sent = &mut self.sent[index as usize];
        if sent.state == SentState::Abandoned {
            sent.watched = false;
            return;
        }
        let path = &mut paths[usize::from(sent.path)];
        if sent.state == SentState::InFlight {
            path.flight -= sent.cost;
            self.window_in_flight -=
                sent.chunk.payload.len() as u32 + config.peer_window_chunk_cost_bytes;
        }
        sent.state = SentState::Acked;
        path.news.highest = Some(sent.chunk.tsn);
        acknowledged(config, path, now, sent);
    }

    /// The peer no longer reports a chunk: it counts as under way again, with one
    /// missing report (section 6.2.1, rule D iii).
    fn reneged(&mut self, config: &Config, paths: &mut Paths, index: u32) {
        let sent = &mut self.sent[index as usize];
        if sent.state == SentState::Abandoned {
            return;
        }
        sent.state = SentState::InFlight;
        sent.missing = 1;
        let path = &mut paths[usize::from(sent.path)];
        path.flight += sent.cost;
        path.outstanding += 1;
        self.window_in_flight +=
            sent.chunk.payload.len() as u32 + config.peer_window_chunk_cost_bytes;
    }

    /// Works out what the peer's buffer takes beyond what is under way (rule D ii).
    pub(crate) fn set_peer_window(&mut self, a_rwnd: u32) {
        self.peer_window = a_rwnd.saturating_sub(self.window_in_flight);
    }
}

/// A chunk is acknowledged for the first time.
fn acknowledged(config: &Config, path: &mut Path, now: Time, sent: &Sent) {
    path.outstanding -= 1;
    path.news.bytes += sent.cost;
    path.news.chunks += 1;
    path.news.certain |= !sent.moved;
    if config.time_loss_detection {
        let again = sent.transmissions > 1;
        path.rack.arrived(now, sent.chunk.tsn, sent.sent_at, again);
    }
    if let Some((timed, sent_at)) = path.timed
        && timed == sent.chunk.tsn
    {
        path.timed = None;
        path.sampled = true;
        path.measured(config, now.since(sent_at));
    }
}

impl Paths {
    /// Before a SACK is looked at.
    pub(crate) fn await_news(&mut self) {
        for path in self.iter_mut() {
            path.news = News {
                flight_before: path.flight,
                ..News::default()
            };
        }
    }
}
