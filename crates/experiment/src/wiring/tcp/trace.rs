//! Segments as the trace of a byte stream sees them.

use headway_sansio::Time;
use headway_tcp::Segment;

use super::{CALLER_PORTS, line_of};
use crate::attribution::{ByteTrace, MessageRow, Totals};
use crate::wiring::watch::Trace;

/// Which stream a segment belongs to, where its payload lies in it, how long it
/// is, and whether any of it was sent before.
fn data(segment: &Segment) -> Option<(usize, u64, u64, bool)> {
    let len = segment.payload.len() as u64;
    // The higher port is the caller's, whichever way the segment goes.
    let port = segment.source_port.max(segment.destination_port);
    debug_assert!(port >= CALLER_PORTS);
    (len > 0).then(|| {
        let line = line_of(port);
        (line, segment.offset, len, segment.retransmission)
    })
}

impl Trace<Segment> for ByteTrace {
    #[inline]
    fn sent(&mut self, now: Time, segment: &Segment) {
        if let Some((line, offset, len, _)) = data(segment) {
            self.sent(now, line, offset, len);
        }
    }

    fn lost(&mut self, segment: &Segment) {
        if let Some((line, offset, len, again)) = data(segment) {
            self.lost(line, offset, len, again);
        }
    }

    #[inline]
    fn would_arrive(&mut self, segment: &Segment, at: Time) {
        if let Some((line, offset, len, again)) = data(segment) {
            self.would_arrive(at, line, offset, len, again);
        }
    }

    #[inline]
    fn arrived(&mut self, now: Time, segment: &Segment) {
        if let Some((line, offset, len, _)) = data(segment) {
            self.arrived(now, line, offset, len);
        }
    }

    fn totals(&self) -> &Totals {
        self.totals()
    }

    fn outstanding(&self) -> u64 {
        self.outstanding()
    }

    fn into_rows(self) -> Vec<MessageRow> {
        self.into_rows()
    }
}
