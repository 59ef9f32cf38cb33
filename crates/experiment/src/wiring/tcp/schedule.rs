//! Which connection a piece takes.

use super::line::Line;
use crate::spec::Schedule;

/// A choice among connections, with its memory.
pub(super) struct Chooser {
    schedule: Schedule,
    last: usize,
}

impl Chooser {
    pub(super) fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            last: usize::MAX,
        }
    }

    pub(super) fn choose(&mut self, lines: &[Line]) -> usize {
        let next = self.last.wrapping_add(1) % lines.len();
        self.last = match self.schedule {
            Schedule::RoundRobin => next,
            // Of equals, and where all are in a time-out, they take turns.
            Schedule::ShortestQueue => (0..lines.len())
                .map(|i| (next + i) % lines.len())
                .min_by_key(|&i| {
                    let line = &lines[i];
                    (line.connection.in_timeout(), line.queued_bytes())
                })
                .unwrap_or(next),
        };
        self.last
    }
}
