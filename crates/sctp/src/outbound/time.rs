//! Losses that time shows (RFC 8985, section 6.2, step 5), and early retransmit
//! (RFC 5827).

use headway_sansio::Time;

use super::{Outbound, SentState};
use crate::Config;
use crate::path::Paths;

/// What looking at the clock showed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overdue {
    /// Something is lost.
    pub(crate) any: bool,
    /// Some of that was a retransmission.
    pub(crate) again: bool,
}

impl Outbound {
    /// Marks the chunks that are overdue, and sets each path's timer to when the
    /// last of those will be that might still come.
    pub(crate) fn mark_overdue(
        &mut self,
        config: &Config,
        paths: &mut Paths,
        now: Time,
    ) -> Overdue {
        let mut found = Overdue::default();
        let beyond: u32 = self.acked.iter().map(|span| span.high - span.low + 1).sum();
        let certain =
            self.recovery.is_some() || beyond >= u32::from(config.missing_report_threshold);
        let alone = paths.len() == 1;
        for path in paths.iter_mut() {
            path.rack.due = Time::FAR_FUTURE;
        }
        for index in 0..self.sent.len() {
            let sent = &self.sent[index];
            if sent.state != SentState::InFlight && !sent.watched {
                continue;
            }
            let (tsn, again) = (sent.chunk.tsn, sent.transmissions > 1);
            let path = &mut paths[usize::from(sent.path)];
            let smoothed = path.rtt.smoothed().unwrap_or(path.rto);
            match path.rack.lost_at(tsn, sent.sent_at, certain, smoothed) {
                // Chunks are first sent in the order of their TSNs: what follows
                // was sent later still.
                None if !again && alone => break,
                None => {}
                Some(at) if at > now => {
                    let due = path.rack.due;
                    path.rack.due = if due == Time::FAR_FUTURE {
                        at
                    } else {
                        due.max(at)
                    };
                }
                Some(_) => {
                    path.lossy = true;
                    found.any = true;
                    found.again |= again;
                    if core::mem::take(&mut self.sent[index].watched) {
                        continue;
                    }
                    self.mark(config, paths, index as u32, SentState::MarkedFast);
                    let place = self.marked.partition_point(|other| other.precedes(tsn));
                    self.marked.insert(place, tsn);
                }
            }
        }
        found
    }

    /// Marks the one chunk that is missing of a small flight, where no new data
    /// will bring further reports (RFC 5827, section 3: fewer than four are
    /// outstanding, and all but one have arrived).
    pub(crate) fn mark_early(&mut self, config: &Config, paths: &mut Paths, more: bool) -> bool {
        let outstanding = self.sent.len();
        if more || !(2..4).contains(&outstanding) {
            return false;
        }
        let arrived = self
            .sent
            .iter()
            .filter(|sent| sent.state == SentState::Acked);
        let Some(first) = self.sent.front() else {
            return false;
        };
        if arrived.count() != outstanding - 1 || first.state != SentState::InFlight || first.fast {
            return false;
        }
        let (tsn, path) = (first.chunk.tsn, usize::from(first.path));
        self.sent[0].fast = true;
        paths[path].lossy = true;
        self.mark(config, paths, 0, SentState::MarkedFast);
        self.marked.push_front(tsn);
        true
    }

    /// Marks the newest chunk of a path, to go out again as a probe (RFC 8985,
    /// section 7.3). Says whether there is one.
    pub(crate) fn mark_probe(
        &mut self,
        config: &Config,
        paths: &mut Paths,
        on: usize,
        now: Time,
    ) -> bool {
        let newest = self
            .sent
            .iter()
            .rposition(|sent| usize::from(sent.path) == on && sent.state == SentState::InFlight);
        let Some(index) = newest else {
            return false;
        };
        let sent = &self.sent[index];
        if sent.limit.is_spent(now, sent.transmissions) {
            return false;
        }
        let tsn = sent.chunk.tsn;
        self.mark(config, paths, index as u32, SentState::MarkedProbe);
        let place = self.marked.partition_point(|other| other.precedes(tsn));
        self.marked.insert(place, tsn);
        true
    }

    /// Nothing is marked, and nothing lies beyond a gap.
    pub(crate) fn is_in_order(&mut self) -> bool {
        self.acked.is_empty() && self.next_marked().is_none()
    }

    /// Whether the newest chunk asks for a SACK without delay.
    pub(crate) fn newest_asks(&self) -> bool {
        self.sent.back().is_some_and(|sent| sent.chunk.immediate)
    }
}
