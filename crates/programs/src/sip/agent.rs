//! A user agent as a machine that a real-time driver runs.

use std::net::IpAddr;

use bytes::Bytes;
use headway_apps::sip::ua::{Uac, Uas};
use headway_apps::{Application, Incoming, Outgoing, Peer};
use headway_sansio::{Machine, Payload, Time};

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
    fn set_address(&mut self, peer: Peer, address: IpAddr);
    fn handle_transport_error(&mut self, now: Time, peer: Peer);
}

impl UserAgent for Uac {
    fn set_address(&mut self, peer: Peer, address: IpAddr) {
        Self::set_address(self, peer, address);
    }

    fn handle_transport_error(&mut self, now: Time, peer: Peer) {
        Self::handle_transport_error(self, now, peer);
    }
}

impl UserAgent for Uas {
    fn set_address(&mut self, peer: Peer, address: IpAddr) {
        Self::set_address(self, peer, address);
    }

    fn handle_transport_error(&mut self, now: Time, peer: Peer) {
        Self::handle_transport_error(self, now, peer);
    }
}

/// A user agent with a ledger of its messages.
#[derive(Debug)]
pub(super) struct Agent<A> {
    pub(super) agent: A,
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
            traffic: Traffic::default(),
            last_heard: now,
        }
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
                self.agent.set_address(from, address);
                let payload = Payload::Bytes(bytes);
                let id = None;
                self.agent
                    .handle_message(now, Incoming { id, from, payload });
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.traffic.turn(now);
        self.agent.handle_timeout(now);
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
