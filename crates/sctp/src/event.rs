//! What an association tells its user, and what the user hands to it.

use headway_sansio::{Duration, Payload, Time};

use crate::{Cause, Mid, ReconfigRequest, ReconfigResult, Ssn, Tsn};

/// One application message to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Stream identifier; below the number of streams agreed with the peer.
    pub stream: u16,
    /// Payload protocol identifier, carried to the peer unread.
    pub ppid: u32,
    /// Deliver it as soon as it is complete, without regard to its stream's order.
    pub unordered: bool,
    /// How much is done to bring it across.
    pub reliability: Reliability,
    /// Ask for a SACK without delay with its last chunk (I bit, RFC 7053, section 4).
    pub immediate_sack: bool,
    /// The content; at least one byte (RFC 9260, section 6.2: no empty DATA chunk).
    pub payload: Payload,
}

impl Default for Message {
    /// Reliable, in order, on stream 0. It has no content yet, without which it
    /// cannot be sent.
    fn default() -> Self {
        Self {
            stream: 0,
            ppid: 0,
            unordered: false,
            reliability: Reliability::Full,
            immediate_sack: false,
            payload: Payload::Sized(0),
        }
    }
}

/// When a message is given up (RFC 3758, section 4; RFC 7496, section 3).
///
/// What no part of has been sent is given up whatever the peer knows. What has,
/// only where both sides have agreed on partial reliability; otherwise it goes
/// the way of a reliable message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reliability {
    /// Never.
    #[default]
    Full,
    /// So long after `send` (RFC 3758, section 4.1). What is under way then is given
    /// up when it would be retransmitted.
    Lifetime(Duration),
    /// When a chunk of it would be retransmitted more often than this (RFC 7496,
    /// section 3.1). Zero: nothing of it is retransmitted.
    Retransmissions(u32),
    /// When the send buffer is needed for a message of higher priority: one with a
    /// lower number, or with any other kind of reliability (RFC 7496, section 3.2).
    Priority(u32),
}

/// The kinds of [`Reliability`] by which messages are given up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Policy {
    /// [`Reliability::Lifetime`].
    Lifetime,
    /// [`Reliability::Retransmissions`].
    Retransmissions,
    /// [`Reliability::Priority`].
    Priority,
}

/// Running number that `send` gives a message: 0, 1, 2, ... in order of the calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct MessageId(pub u64);

/// One application message that arrived whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// Stream identifier.
    pub stream: u16,
    /// Its place in the stream; with I-DATA the lower 16 bits of `mid` (RFC 8260,
    /// section 4.1). Meaningless for DATA where `unordered`.
    pub ssn: Ssn,
    /// Its number in the stream, of the ordered or the unordered messages there. DATA
    /// has 16 bits of it, to which the receiver adds the rest, and none where
    /// `unordered`.
    pub mid: Mid,
    /// Payload protocol identifier as the sender gave it.
    pub ppid: u32,
    /// Whether the sender asked for unordered delivery.
    pub unordered: bool,
    /// The content, put together again.
    pub payload: Payload,
    /// TSN of its first DATA chunk.
    pub first_tsn: Tsn,
    /// TSN of its last DATA chunk; the ones between are its own too.
    pub last_tsn: Tsn,
    /// When the last missing piece of it arrived. Until delivery it then waited
    /// for other messages only.
    pub complete_at: Time,
}

/// A part of a message. The parts of one message come in order, with other messages
/// between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Stream identifier.
    pub stream: u16,
    /// Number of the message in its stream. For an unordered message of DATA it is
    /// the TSN of its first chunk.
    pub mid: Mid,
    /// Payload protocol identifier as the sender gave it.
    pub ppid: u32,
    /// Whether the sender asked for unordered delivery.
    pub unordered: bool,
    /// How many bytes of the message came before.
    pub offset_bytes: u64,
    /// The bytes of this part.
    pub payload: Payload,
    /// Whether the message ends with it.
    pub end: bool,
}

/// What happened to an association.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The handshake is done; numbers of streams as agreed.
    Connected {
        /// How many streams this side may send on.
        outbound_streams: u16,
        /// How many streams the peer may send on.
        inbound_streams: u16,
    },
    /// A message is delivered.
    Message(Received),
    /// A part of a message that comes in parts, because the receive buffer would
    /// else be full of messages that are not whole (RFC 9260, section 6.9). Only
    /// where [`Config::partial_delivery`](crate::Config::partial_delivery) allows it.
    Part(Part),
    /// The rest of a message that came in parts will not come: its sender has given
    /// it up (RFC 3758, section 3.6).
    PartAbandoned {
        /// Stream identifier.
        stream: u16,
        /// Number of the message, as in [`Part::mid`].
        mid: Mid,
        /// Whether it was an unordered one.
        unordered: bool,
    },
    /// A message of this side was given up, as its [`Reliability`] says.
    Abandoned {
        /// The number that `send` gave it.
        message: MessageId,
        /// Stream identifier.
        stream: u16,
        /// Whether some of it was sent; it may have arrived then, even whole.
        sent: bool,
        /// By which policy.
        policy: Policy,
    },
    /// The peer lost its state and set the association up anew (RFC 9260,
    /// section 5.2.4, action A). Messages under way are lost.
    Restarted,
    /// The peer wants to end the association: it takes no new messages from its
    /// user, and neither does this side.
    PeerShutdown,
    /// Graceful shutdown is complete; all messages of both sides were delivered.
    ShutdownComplete,
    /// The peer ended the association at once.
    Aborted {
        /// The causes that the peer named.
        causes: Vec<Cause>,
    },
    /// This side gave the association up.
    ConnectionLost {
        /// Why.
        reason: LostReason,
    },
    /// A path's error counter passed `path_max_retransmits`.
    PathInactive {
        /// Index of the path.
        path: usize,
    },
    /// A path's error counter passed `potentially_failed_max_retransmits`: DATA
    /// goes elsewhere where it can (RFC 7829).
    PathPotentiallyFailed {
        /// Index of the path.
        path: usize,
    },
    /// The peer has shown that it is reached at an address that it named
    /// (RFC 9260, section 5.4).
    PathConfirmed {
        /// Index of the path.
        path: usize,
    },
    /// The peer reported errors that end nothing (RFC 9260, section 3.3.10).
    PeerReported {
        /// The causes that the peer named.
        causes: Vec<Cause>,
    },
    /// The peer has answered a request of this side to change streams (RFC 6525).
    Reconfigured {
        /// What was asked for.
        request: ReconfigRequest,
        /// What came of it.
        result: ReconfigResult,
    },
    /// Streams of the peer have begun anew with message zero (RFC 6525, section
    /// 5.2.2).
    IncomingReset {
        /// Which; none named: all.
        streams: Vec<u16>,
    },
    /// All numbers of both sides have begun anew, as the peer asked (RFC 6525,
    /// section 5.2.4).
    NumbersReset,
    /// Streams were added; numbers of streams as they are now.
    StreamsChanged {
        /// How many streams this side may send on.
        outbound_streams: u16,
        /// How many streams the peer may send on.
        inbound_streams: u16,
    },
    /// A path that was inactive or potentially failed answers again.
    PathActive {
        /// Index of the path.
        path: usize,
    },
}

/// Why this side gave an association up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LostReason {
    /// INIT or COOKIE ECHO went unanswered `init_max_retransmits` times.
    HandshakeTimeout,
    /// The association's error counter passed `association_max_retransmits`.
    PeerUnreachable,
    /// The shutdown took longer than `shutdown_guard` (timer T5).
    ShutdownTimeout,
    /// The peer broke a rule of the protocol.
    ProtocolViolation,
    /// The user called `abort`.
    UserAbort,
}

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// The send buffer has no room for it now.
    #[error("the send buffer is full")]
    BufferFull,
    /// The stream does not exist.
    #[error("the stream identifier is not below the number of outbound streams")]
    InvalidStream,
    /// There is nothing in it.
    #[error("a message has at least one byte")]
    Empty,
    /// It is longer than the send buffer, so it never fits.
    #[error("the message is longer than the send buffer")]
    TooLong,
    /// The association is being shut down or is closed.
    #[error("the association takes no more messages")]
    Closing,
}
