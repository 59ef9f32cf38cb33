//! What the transaction layer hands out and counts.

use bytes::Bytes;

use crate::Peer;
use crate::sip::message::SipMessage;

/// A client transaction of a layer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ClientId(pub(super) u64);

/// A server transaction of a layer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ServerId(pub(super) u64);

/// What the layer hands out: messages for the transport, events for its user.
#[derive(Clone, Debug)]
pub enum LayerOutput {
    /// Send this message.
    Send {
        /// To whom.
        to: Peer,
        /// The message.
        bytes: Bytes,
        /// Which request this is, first or again, where it is one of a
        /// transaction.
        request: Option<ClientId>,
        /// A number that all messages with the same Call-ID share.
        context: u32,
    },
    /// Something happened.
    Event(LayerEvent),
}

/// A number of a Call-ID: FNV-1a of 32 bits.
pub(super) fn context_of(call_id: &str) -> u32 {
    call_id.bytes().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// What happened.
#[derive(Clone, Debug)]
pub enum LayerEvent {
    /// A request other than ACK arrived for the first time.
    Request {
        /// Where its responses go.
        id: ServerId,
        /// Who sent it.
        from: Peer,
        /// The request.
        message: Box<SipMessage>,
    },
    /// An ACK arrived that is not a transaction's own: of a 2xx.
    Ack(Box<SipMessage>),
    /// A response arrived that the user is to know of.
    Response {
        /// To which request.
        id: ClientId,
        /// The response.
        message: Box<SipMessage>,
    },
    /// No response came in time.
    ClientTimedOut(ClientId),
    /// No ACK of a final response other than 2xx came in time.
    ServerTimedOut(ServerId),
    /// The request could not be sent.
    ClientFailed(ClientId),
    /// A response could not be sent.
    ServerFailed(ServerId),
}

/// What the layer has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LayerCounters {
    /// Requests sent for the first time, ACKs not among them.
    pub requests: u64,
    /// Requests that a timer sent again.
    pub repeated_requests: u64,
    /// Responses sent, every time.
    pub responses: u64,
    /// Responses that a timer or a repeated request sent again, the user's
    /// repetitions of a 2xx not among them.
    pub repeated_responses: u64,
    /// Messages that could not be read.
    pub malformed: u64,
    /// Responses that matched no transaction.
    pub stray_responses: u64,
}
