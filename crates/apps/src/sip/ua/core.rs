//! What both kinds of user agent need: who they are, names that nobody else has,
//! and the transaction layer.

use std::collections::VecDeque;
use std::fmt::Display;
use std::net::IpAddr;

use bytes::Bytes;
use headway_sansio::{Payload, RandomStream, Seed, Time};

use super::layer::{ClientId, LayerCounters, LayerEvent, LayerOutput, ServerId, TransactionLayer};
use crate::sip::message::{Draft, MAGIC_COOKIE, SipMessage, response_to};
use crate::sip::transaction::Timers;
use crate::{Incoming, MessageId, Outgoing, Peer, Reliability};

/// Who a user agent is and how it talks.
#[derive(Clone, Debug)]
pub struct UaConfig {
    /// The user part of its address.
    pub user: String,
    /// Host, or host and port, at which it takes requests: what stands in Via
    /// and Contact.
    pub host: String,
    /// The transport's name in Via: "UDP", "TCP" or "SCTP".
    pub via: &'static str,
    /// Whether that transport is reliable.
    pub reliability: Reliability,
    /// Base values of the timers.
    pub timers: Timers,
    /// Where tags, branches and Call-IDs are drawn from. RFC 3261 section 19.3
    /// asks for tags that nobody can guess, so that a real network needs a real
    /// random seed.
    pub seed: Seed,
}

/// Methods that a user agent of this crate understands.
pub(super) const ALLOW: &str = "INVITE, ACK, BYE, CANCEL, OPTIONS";

#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: UaConfig,
    pub(super) layer: TransactionLayer,
    pub(super) random: RandomStream,
    outputs: VecDeque<Outgoing>,
    sent: u64,
}

impl Core {
    pub(super) fn new(config: UaConfig) -> Self {
        Self {
            layer: TransactionLayer::new(config.timers, config.reliability),
            random: config.seed.stream("sip.ua.names"),
            config,
            outputs: VecDeque::new(),
            sent: 0,
        }
    }

    pub(super) fn counters(&self) -> LayerCounters {
        self.layer.counters()
    }

    /// A word that nobody else has.
    pub(super) fn new_word(&mut self) -> String {
        format!("{:016x}", self.random.bits())
    }

    pub(super) fn new_call_id(&mut self) -> String {
        let (high, low) = (self.new_word(), self.new_word());
        format!("{high}{low}")
    }

    /// The Via of a new request.
    pub(super) fn new_via(&mut self) -> String {
        let branch = self.new_word();
        format!(
            "SIP/2.0/{} {};branch={MAGIC_COOKIE}{branch}",
            self.config.via, self.config.host
        )
    }

    /// This agent's address.
    pub(super) fn address(&self) -> String {
        format!("<sip:{}@{}>", self.config.user, self.config.host)
    }

    /// Where this agent takes requests of a dialog.
    pub(super) fn contact(&self) -> String {
        let Self { config, .. } = self;
        let transport = config.via.to_ascii_lowercase();
        if transport == "udp" {
            return self.address();
        }
        format!(
            "<sip:{}@{};transport={transport}>",
            config.user, config.host
        )
    }

    /// Hands a message that came from the transport to the layer, with the IP
    /// address that it came from where that is known.
    pub(super) fn handle_message(
        &mut self,
        now: Time,
        message: &Incoming,
        address: Option<IpAddr>,
    ) {
        // A user agent reads text; a length alone says nothing to it.
        if let Payload::Bytes(bytes) = &message.payload {
            self.layer.handle_message(now, message.from, address, bytes);
        }
    }

    /// Refuses a request, or answers it for good without a body.
    pub(super) fn answer(&mut self, now: Time, id: ServerId, draft: Draft) {
        self.layer.respond(now, id, draft.finish());
    }

    /// A final response to a request, with a tag that nothing else depends on.
    pub(super) fn final_response(
        &mut self,
        request: &SipMessage,
        code: u16,
        reason: impl Display,
    ) -> Draft {
        let tag = self.new_word();
        response_to(request, code, &reason.to_string(), Some(&tag))
    }

    pub(super) fn acknowledge(&mut self, to: Peer, bytes: Bytes) {
        self.layer.acknowledge(to, bytes);
    }

    /// Moves the layer's messages to the outputs up to its next event. `sent`
    /// hears of each request that goes out, repeated ones included.
    pub(super) fn next_event(&mut self, mut sent: impl FnMut(ClientId)) -> Option<LayerEvent> {
        loop {
            match self.layer.poll_output()? {
                LayerOutput::Event(event) => return Some(event),
                LayerOutput::Send {
                    to,
                    bytes,
                    request,
                    context,
                } => {
                    if let Some(id) = request {
                        sent(id);
                    }
                    self.outputs.push_back(Outgoing {
                        id: MessageId(self.sent),
                        to,
                        context,
                        payload: Payload::Bytes(bytes),
                    });
                    self.sent += 1;
                }
            }
        }
    }

    /// Entries in all its tables.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.layer.entries() + self.outputs.len()
    }

    pub(super) fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }
}
