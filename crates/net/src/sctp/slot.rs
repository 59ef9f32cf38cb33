//! What the driver keeps of one association for its user.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::Address;
use headway_sctp::{Cause, Event, PathStatus, Stats};
use smallvec::SmallVec;
use tokio::sync::Notify;

use super::AssociationError;

/// What an unread message takes beside its payload: its own record, and its share of
/// the packet in which it came.
const MESSAGE_BYTES: usize = 96;

/// Notices that wait to be read; beyond, the oldest is dropped.
const MOST_NOTICES: usize = 256;

/// A message that came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// The stream on which it came.
    pub stream: u16,
    /// Payload protocol identifier as the peer gave it.
    pub ppid: u32,
    /// Whether the peer asked for unordered delivery.
    pub unordered: bool,
    /// The content.
    pub payload: Bytes,
}

/// What happened to an association that goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The peer lost its state and set the association up anew: messages under
    /// way are lost (RFC 9260, section 5.2.4, action A).
    Restarted,
    /// The peer wants to end the association and takes no new messages.
    PeerShutdown,
    /// A path answers no more.
    PathInactive(SocketAddr),
    /// A path was silent once or more; DATA goes elsewhere (RFC 7829).
    PathPotentiallyFailed(SocketAddr),
    /// The peer is reached at an address that it named.
    PathConfirmed(SocketAddr),
    /// A path answers again.
    PathActive(SocketAddr),
    /// The peer reported errors that end nothing.
    PeerReported(Vec<Cause>),
    /// Anything else, as the machine tells it.
    Other(Event),
}

/// How a path stands, with the addresses of its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathReport {
    /// This side's address.
    pub local: SocketAddr,
    /// The peer's address; with UDP below SCTP, with its port of now.
    pub remote: SocketAddr,
    /// DATA goes here where all paths work.
    pub primary: bool,
    /// Windows, timers and counters.
    pub status: PathStatus,
}

/// How an association ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// By a graceful shutdown.
    Shutdown,
    Error(AssociationError),
}

/// Who waits for something of an association.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    /// A message, or the end.
    pub(super) message: Notify,
    /// Room to send, or the end.
    pub(super) room: Notify,
    /// Anything else.
    pub(super) change: Notify,
}

impl Wakes {
    fn all(&self) {
        self.message.notify_waiters();
        self.room.notify_waiters();
        self.change.notify_waiters();
    }
}

#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) wakes: Arc<Wakes>,
    pub(super) inbox: VecDeque<Received>,
    /// What `inbox` takes.
    pub(super) inbox_bytes: usize,
    /// The machine keeps further messages in the receive buffer.
    pub(super) held: bool,
    pub(super) notices: VecDeque<Notice>,
    /// Streams of this side and of the peer, once the association is up.
    pub(super) streams: Option<(u16, u16)>,
    pub(super) peer_shutdown: bool,
    pub(super) end: Option<End>,
    /// The peer began it, and no user has it yet.
    pub(super) waiting: bool,
    /// The user has let go of it.
    pub(super) orphan: bool,
    /// The machine has let go of it.
    pub(super) gone: bool,
    /// A sender waits for room.
    pub(super) blocked: bool,
    /// Somebody waits until all is acknowledged.
    pub(super) draining: bool,
    /// The tag that the peer puts into its packets.
    pub(super) tag: Option<u32>,
    /// The peer's addresses, which are pinned in the table.
    pub(super) remotes: SmallVec<[(Address, SocketAddr); 2]>,
    /// How it stood at its end.
    pub(super) last: Option<Box<(Stats, Vec<PathReport>)>>,
}

impl Slot {
    pub(super) fn deliver(&mut self, message: Received) {
        if !self.orphan {
            self.inbox_bytes += message.payload.len() + MESSAGE_BYTES;
            self.inbox.push_back(message);
            self.wakes.message.notify_waiters();
        }
    }

    pub(super) fn take(&mut self) -> Option<Received> {
        let message = self.inbox.pop_front()?;
        self.inbox_bytes -= message.payload.len() + MESSAGE_BYTES;
        Some(message)
    }

    pub(super) fn notice(&mut self, notice: Notice) {
        if self.notices.len() >= MOST_NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
        self.wakes.change.notify_waiters();
    }

    pub(super) fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// Notes the end, unless one is known.
    pub(super) fn finish(&mut self, end: End) {
        self.end.get_or_insert(end);
        self.wakes.all();
    }

    /// Why nothing can be sent or received any more, if so.
    pub(super) fn error(&self) -> Option<AssociationError> {
        match &self.end {
            Some(End::Error(error)) => Some(error.clone()),
            _ => None,
        }
    }
}
