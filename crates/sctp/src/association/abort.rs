//! The end at once, by either side (RFC 9260, section 9.1).

use bytes::Bytes;
use headway_sansio::Time;

use super::Association;
use super::state::State;
use crate::{Cause, Chunk, Event, LostReason};

impl Association {
    /// Ends the association at once. Messages under way are lost.
    pub fn abort(&mut self, now: Time) {
        self.abort_because(now, Bytes::new());
    }

    /// Ends the association at once and tells the peer's user why, in words or
    /// whatever the application agrees on (section 3.3.10.12).
    pub fn abort_because(&mut self, _now: Time, why: Bytes) {
        match self.state {
            State::Closed => {}
            State::Listen => self.close(),
            _ => self.abort_with(Cause::with(Cause::USER_ABORT, why), LostReason::UserAbort),
        }
    }

    /// Sends ABORT and gives the association up.
    #[cold]
    pub(super) fn abort_with(&mut self, cause: Cause, reason: LostReason) {
        // Before INIT ACK there is no tag that the peer would accept.
        if self.peer_tag != 0 {
            let mut packet = self.packet(self.peer_tag);
            packet.chunks.push(Chunk::Abort {
                reflected_tag: false,
                causes: vec![cause],
            });
            let route = self.paths[self.paths.data()].route;
            self.launch(route, packet);
        }
        self.lose(reason);
    }

    /// Gives the association up without a word to the peer.
    pub(super) fn lose(&mut self, reason: LostReason) {
        self.close();
        self.events.push_back(Event::ConnectionLost { reason });
    }

    pub(super) fn handle_abort(&mut self, causes: Vec<Cause>) {
        self.close();
        self.events.push_back(Event::Aborted { causes });
    }

    /// Forgets everything but counters, events and packets that are to go out.
    pub(super) fn close(&mut self) {
        self.state = State::Closed;
        for path in self.paths.iter_mut() {
            path.stop_t3();
        }
        self.stop_heartbeats();
        self.guard = Time::FAR_FUTURE;
        self.probe = Time::FAR_FUTURE;
        self.probe_now = false;
        self.inbound.acknowledgement.due = Time::FAR_FUTURE;
        self.inbound.acknowledgement.at_once = false;
        self.reconfig = None;
        self.control.clear();
        self.outbound.queue.forget_deadlines();
        self.peer_tag = 0;
    }
}
