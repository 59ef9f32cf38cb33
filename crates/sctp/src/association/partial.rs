//! Messages that are given up: telling the user and the peer, and hearing of it
//! (RFC 3758, RFC 7496).

use headway_sansio::Time;

use super::Association;
use super::input::Rest;
use super::receive::Arrivals;
use super::state::State;
use super::transmit::Load;
use crate::outbound::{GivenUp, Limit};
use crate::{Abandoned, Cause, Chunk, Event, ForwardTsn, LostReason, Policy, Skipped};

impl Association {
    /// How many messages were given up: on one stream or on all, by one policy or by
    /// any (RFC 7496, sections 4.3 and 4.4).
    #[must_use]
    pub fn abandoned(&self, stream: Option<u16>, policy: Option<Policy>) -> Abandoned {
        let mut sum = Abandoned::default();
        for (&(of, by), &count) in &self.abandoned {
            if stream.is_none_or(|stream| stream == of) && policy.is_none_or(|policy| policy == by)
            {
                sum += count;
            }
        }
        sum
    }

    /// Gives up what has expired or may not be retransmitted.
    #[inline]
    pub(super) fn give_up(&mut self, now: Time) {
        if self.outbound.has_limits(now) && !matches!(self.state, State::Closed) {
            self.give_up_limited(now);
        }
    }

    #[inline(never)]
    fn give_up_limited(&mut self, now: Time) {
        let mut given_up = Vec::new();
        self.outbound.give_up(&mut self.paths, now, &mut given_up);
        self.report(now, &given_up);
    }

    /// Gives messages of lower priority up for one of so many bytes, where that
    /// makes room enough.
    pub(super) fn make_room(&mut self, now: Time, bytes: u32, limit: Limit) -> bool {
        let mut given_up = Vec::new();
        let made = self
            .outbound
            .make_room(&mut self.paths, bytes, limit, &mut given_up);
        self.report(now, &given_up);
        made
    }

    fn report(&mut self, now: Time, given_up: &[GivenUp]) {
        if given_up.is_empty() {
            return;
        }
        for gone in given_up {
            let count = Abandoned {
                unsent: u64::from(!gone.sent),
                sent: u64::from(gone.sent),
            };
            self.stats.messages_abandoned += count;
            *self
                .abandoned
                .entry((gone.stream, gone.policy))
                .or_default() += count;
            self.events.push_back(Event::Abandoned {
                message: gone.id,
                stream: gone.stream,
                sent: gone.sent,
                policy: gone.policy,
            });
        }
        self.move_peer_on(now);
        self.continue_shutdown(now);
    }

    /// Moves the Advanced.Peer.Ack.Point (rules C1 and C2 of RFC 3758, section 3.5).
    /// A peer that does not follow is told again after a round trip.
    pub(super) fn move_peer_on(&mut self, now: Time) {
        if !self.outbound.has_abandoned() {
            return;
        }
        let path = &self.paths[self.paths.data()];
        let patience = path.rtt.smoothed().unwrap_or(path.rto);
        self.outbound.advance_point(now, patience);
    }

    /// Adds FORWARD-TSN to a packet for the path that carries DATA (rules C3 to C5).
    #[inline(never)]
    pub(super) fn add_forward(&mut self, now: Time, load: &mut Load<'_>) {
        // One entry at least.
        if load.room < 16 && !load.is_empty() {
            return;
        }
        let Some(forward) = self.outbound.take_forward(now, load.room) else {
            return;
        };
        let chunk = Chunk::ForwardTsn(Box::new(forward));
        let bytes = chunk.padded_bytes();
        load.push(chunk, bytes);
        self.stats.forwards_sent += 1;
        let data = self.paths.data();
        let path = &mut self.paths[data];
        if path.t3 == Time::FAR_FUTURE {
            path.start_t3(now);
        }
    }

    /// FORWARD-TSN or I-FORWARD-TSN arrives (RFC 3758, section 3.6).
    pub(super) fn handle_forward_tsn(
        &mut self,
        forward: &ForwardTsn,
        arrivals: &mut Arrivals,
    ) -> Rest {
        if !self.state.takes_data() {
            return Rest::Process;
        }
        // RFC 8260, section 2.3.1: each goes with its kind of DATA.
        if matches!(forward.skipped, Skipped::Mids(_)) != self.extensions.interleaving {
            let cause = Cause::new(Cause::PROTOCOL_VIOLATION);
            self.abort_with(cause, LostReason::ProtocolViolation);
            return Rest::Discard;
        }
        self.stats.forwards_received += 1;
        arrivals.forward();
        let news = self
            .inbound
            .forward(forward, self.inbound_streams, &mut self.events);
        if !news {
            // Perhaps the last SACK was lost.
            arrivals.hurry();
        }
        Rest::Process
    }
}
