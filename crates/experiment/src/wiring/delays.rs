//! The delays of a flow in constant memory, and how many came too late.

use headway_sansio::Duration;

use crate::attribution::MessageRow;
use crate::results::Histogram;

/// What is kept of the delay of each message.
#[derive(Clone, Debug)]
pub(super) struct DelayLog {
    /// Which messages count, by their names.
    counts: fn(u64) -> bool,
    playout: Duration,
    pub(super) delays: Histogram,
    /// Messages that came after their time of playout.
    pub(super) late: u64,
}

impl DelayLog {
    pub(super) fn new(playout: Duration, counts: fn(u64) -> bool) -> Self {
        Self {
            counts,
            playout,
            delays: Histogram::default(),
            late: 0,
        }
    }

    #[inline]
    pub(super) fn note(&mut self, row: &MessageRow) {
        if (self.counts)(row.id) {
            self.delays.add(row.delay);
            self.late += u64::from(row.delay > self.playout);
        }
    }

    /// Adds what another flow's log says.
    pub(super) fn merge(&mut self, other: &Self) {
        self.delays.merge(&other.delays);
        self.late += other.late;
    }
}
