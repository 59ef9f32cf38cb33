//! The graceful end (RFC 9260, section 9.2).

use headway_sansio::Time;

use super::Association;
use super::state::{Retry, State};
use crate::path::Route;
use crate::{Cause, Chunk, Event, LostReason, Tsn};

impl Association {
    /// Ends the association once all messages of this side have been
    /// acknowledged. `send` fails from now on; messages of the peer still arrive.
    pub fn shutdown(&mut self, now: Time) {
        match self.state {
            State::Established => {
                self.state = State::ShutdownPending;
                if !self.config.shutdown_guard.is_zero() {
                    self.guard = now + self.config.shutdown_guard;
                }
                self.continue_shutdown(now);
            }
            // There is nothing yet that the peer would have to agree to.
            State::Listen => self.close(),
            State::CookieWait(_) | State::CookieEchoed { .. } => {
                self.abort_with(Cause::new(Cause::USER_ABORT), LostReason::UserAbort);
            }
            _ => {}
        }
    }

    /// Goes on where nothing is outstanding any more.
    pub(super) fn continue_shutdown(&mut self, now: Time) {
        if !self.outbound.is_idle() || self.held_for_reset_bytes() > 0 {
            return;
        }
        match self.state {
            State::ShutdownPending => self.send_shutdown(now),
            State::ShutdownReceived => self.send_shutdown_ack(now),
            _ => {}
        }
    }

    fn retry(&self, now: Time) -> Retry {
        Retry {
            due: now + self.paths[self.paths.data()].rto,
            count: 0,
            since: now,
        }
    }

    fn push_shutdown(&mut self) {
        let cumulative_tsn = self.inbound.cumulative();
        self.control
            .retain(|(_, chunk)| !matches!(chunk, Chunk::Shutdown { .. }));
        self.push_control(Chunk::Shutdown { cumulative_tsn });
        // The SHUTDOWN says all that a SACK without gaps or duplicates would.
        let more = self.inbound.has_gap() || self.inbound.acknowledgement.has_duplicates();
        self.inbound.acknowledgement.due = Time::FAR_FUTURE;
        self.inbound.acknowledgement.at_once = more;
    }

    fn send_shutdown(&mut self, now: Time) {
        self.push_shutdown();
        self.stop_heartbeats();
        self.state = State::ShutdownSent(self.retry(now));
    }

    fn send_shutdown_ack(&mut self, now: Time) {
        self.control
            .retain(|(_, chunk)| !matches!(chunk, Chunk::Shutdown { .. } | Chunk::ShutdownAck));
        self.push_control(Chunk::ShutdownAck);
        self.stop_heartbeats();
        self.state = State::ShutdownAckSent(self.retry(now));
    }

    /// In SHUTDOWN-SENT each packet with DATA is answered with SHUTDOWN, and the
    /// peer has all the time it needs.
    pub(super) fn answer_data_with_shutdown(&mut self, now: Time) {
        self.push_shutdown();
        self.state = State::ShutdownSent(self.retry(now));
    }

    /// Any packet of the peer shows that it is there (section 9.2).
    pub(super) fn peer_heard_in_shutdown(&mut self) {
        if let State::ShutdownSent(retry) = &mut self.state {
            retry.count = 0;
            self.errors = 0;
        }
    }

    /// Timer T2 of SHUTDOWN and SHUTDOWN ACK.
    pub(super) fn shutdown_timeout(&mut self, now: Time, retry: Retry) {
        let data = self.paths.data();
        self.paths[data].back_off(&self.config);
        if !self.count_error(now, data) {
            return;
        }
        // The next goes to another address if there is one (section 6.4).
        let path = self.paths.alternate(data);
        let next = Retry {
            due: now + self.paths[data].rto,
            count: retry.count + 1,
            ..retry
        };
        if let State::ShutdownSent(_) = self.state {
            self.push_shutdown();
            self.state = State::ShutdownSent(next);
        } else {
            self.send_shutdown_ack(now);
            self.state = State::ShutdownAckSent(next);
        }
        if let Some((to, _)) = self.control.back_mut() {
            *to = path;
        }
    }

    /// Timer T5: the shutdown as a whole has taken too long.
    pub(super) fn guard_timeout(&mut self) {
        self.abort_with(Cause::new(Cause::USER_ABORT), LostReason::ShutdownTimeout);
    }

    pub(super) fn handle_shutdown(&mut self, now: Time, from: usize, cumulative_tsn: Tsn) {
        match self.state {
            State::Established | State::ShutdownPending => {
                self.state = State::ShutdownReceived;
                self.events.push_back(Event::PeerShutdown);
                self.acknowledge_up_to(now, cumulative_tsn);
                // Where all was acknowledged before, this says nothing new, and
                // there are stacks that put another number into it.
                self.continue_shutdown(now);
            }
            State::ShutdownReceived => {
                self.acknowledge_up_to(now, cumulative_tsn);
                self.continue_shutdown(now);
            }
            // Both sides asked for it at the same time; or our answer was lost.
            State::ShutdownSent(_) | State::ShutdownAckSent(_) => {
                self.send_shutdown_ack(now);
                if let Some((to, _)) = self.control.back_mut() {
                    *to = from;
                }
            }
            State::Closed | State::Listen | State::CookieWait(_) | State::CookieEchoed { .. } => {}
        }
    }

    pub(super) fn handle_shutdown_ack(&mut self, route: Route) {
        if let State::ShutdownSent(_) | State::ShutdownAckSent(_) = self.state {
            let mut packet = self.packet(self.peer_tag);
            packet.chunks.push(Chunk::ShutdownComplete {
                reflected_tag: false,
            });
            self.launch(route, packet);
            self.close();
            self.events.push_back(Event::ShutdownComplete);
        }
    }

    pub(super) fn handle_shutdown_complete(&mut self) {
        if let State::ShutdownAckSent(_) = self.state {
            self.close();
            self.events.push_back(Event::ShutdownComplete);
        }
    }
}
