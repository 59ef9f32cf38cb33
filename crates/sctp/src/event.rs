//! What an association tells its user, and what the user hands to it.

use headway_sansio::{Payload, Time};

use crate::{Cause, Ssn, Tsn};

/// One application message to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Stream identifier; below the number of streams agreed with the peer.
    pub stream: u16,
    /// Payload protocol identifier, carried to the peer unread.
    pub ppid: u32,
    /// Deliver it as soon as it is complete, without regard to its stream's order.
    pub unordered: bool,
    /// The content; at least one byte (RFC 9260, section 6.2: no empty DATA chunk).
    pub payload: Payload,
}

/// Running number that `send` gives a message: 0, 1, 2, ... in order of the calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct MessageId(pub u64);

/// One application message that arrived whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// Stream identifier.
    pub stream: u16,
    /// Its place in the stream; meaningless where `unordered`.
    pub ssn: Ssn,
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
