//! The reading end of one connection.

use headway_sansio::Time;
use headway_tcp::{Connection, Segment};

/// Reads whatever comes, at once.
pub(in crate::wiring) struct Reader {
    connection: Connection,
}

impl Reader {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    pub(super) fn handle_input(&mut self, now: Time, segment: &Segment) {
        self.connection.handle_input(now, segment);
        self.read(now);
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.connection.handle_timeout(now);
        self.read(now);
    }

    fn read(&mut self, now: Time) {
        while self.connection.poll_event().is_some() {}
        while self.connection.readable_bytes() > 0 {
            let _ = self.connection.read(now, usize::MAX);
        }
    }

    pub(super) fn poll_transmit(&mut self) -> Option<Segment> {
        self.connection.poll_transmit()
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.connection.poll_timeout()
    }

    pub(super) fn read_bytes(&self) -> u64 {
        self.connection.read_offset()
    }
}
