//! A user agent as a machine that a real-time driver runs.

use std::net::IpAddr;

use bytes::Bytes;
use headway_apps::sip::ua::{Uac, Uas};
use headway_apps::{Application, Incoming, Outgoing, Peer};
use headway_sansio::{Machine, Payload, Time};

use super::totals::{AnswerTotals, CallTotals};
use super::traffic::Traffic;

/// What the transport has to tell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum FromTransport {
    /// A message arrived.
    Message {
        /// Who sent it.
        from: Peer,
        /// The IP address that it came from.
        address: IpAddr,
        /// The message.
        bytes: Bytes,
    },
    /// Nothing can be sent to this peer.
    Failed(Peer),
}

/// What the transport is to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ToTransport {
    /// To whom.
    pub(super) to: Peer,
    /// The message.
    pub(super) bytes: Bytes,
}

/// What both kinds of user agent have beside the contract of an application.
pub(super) trait UserAgent: Application {
    /// The sums of its calls.
    type Totals: Default;

    fn handle_message_from(&mut self, now: Time, address: IpAddr, message: &Incoming);
    fn handle_transport_error(&mut self, now: Time, peer: Peer);
    /// Moves the calls that can change no more into the sums.
    fn add_closed(&mut self, totals: &mut Self::Totals);
    /// Adds the other calls as they are now.
    fn add_open(&self, totals: &mut Self::Totals);
}

impl UserAgent for Uac {
    type Totals = CallTotals;

    fn handle_message_from(&mut self, now: Time, address: IpAddr, message: &Incoming) {
        Self::handle_message_from(self, now, address, message);
    }

    fn handle_transport_error(&mut self, now: Time, peer: Peer) {
        Self::handle_transport_error(self, now, peer);
    }

    fn add_closed(&mut self, totals: &mut CallTotals) {
        while let Some(call) = self.poll_record() {
            totals.add(&call);
        }
    }

    fn add_open(&self, totals: &mut CallTotals) {
        self.open_records().for_each(|call| totals.add(call));
    }
}

impl UserAgent for Uas {
    type Totals = AnswerTotals;

    fn handle_message_from(&mut self, now: Time, address: IpAddr, message: &Incoming) {
        Self::handle_message_from(self, now, address, message);
    }

    fn handle_transport_error(&mut self, now: Time, peer: Peer) {
        Self::handle_transport_error(self, now, peer);
    }

    fn add_closed(&mut self, totals: &mut AnswerTotals) {
        while let Some(answer) = self.poll_record() {
            totals.add(&answer);
        }
    }

    fn add_open(&self, totals: &mut AnswerTotals) {
        self.open_records().for_each(|answer| totals.add(answer));
    }
}

/// A user agent with the sums of its calls and a ledger of its messages.
pub(super) struct Agent<A: UserAgent> {
    pub(super) agent: A,
    /// Of calls that can change no more.
    pub(super) closed: A::Totals,
    pub(super) traffic: Traffic,
    /// When the last message came.
    pub(super) last_heard: Time,
}

impl<A: UserAgent> Agent<A> {
    /// Starts the agent at `now`.
    pub(super) fn start(mut agent: A, now: Time) -> Self {
        agent.start(now);
        Self {
            agent,
            closed: A::Totals::default(),
            traffic: Traffic::default(),
            last_heard: now,
        }
    }

    /// The sums of all calls, and the ledger.
    pub(super) fn finish(mut self) -> (A::Totals, Traffic) {
        self.agent.add_closed(&mut self.closed);
        self.agent.add_open(&mut self.closed);
        (self.closed, self.traffic)
    }
}

impl<A: UserAgent> Machine for Agent<A> {
    type Input = FromTransport;
    type Output = ToTransport;

    fn handle_input(&mut self, now: Time, input: FromTransport) {
        match input {
            FromTransport::Failed(peer) => self.agent.handle_transport_error(now, peer),
            FromTransport::Message {
                from,
                address,
                bytes,
            } => {
                self.last_heard = now;
                self.traffic.received(now, &bytes);
                let payload = Payload::Bytes(bytes);
                let id = None;
                let message = Incoming { id, from, payload };
                self.agent.handle_message_from(now, address, &message);
            }
        }
        self.agent.add_closed(&mut self.closed);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.traffic.turn(now);
        self.agent.handle_timeout(now);
        self.agent.add_closed(&mut self.closed);
    }

    fn poll_output(&mut self) -> Option<ToTransport> {
        loop {
            let Outgoing { to, payload, .. } = self.agent.poll_output()?;
            // User agents send text and nothing else.
            if let Payload::Bytes(bytes) = payload {
                self.traffic.sent(&bytes);
                return Some(ToTransport { to, bytes });
            }
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.agent.poll_timeout()
    }
}
