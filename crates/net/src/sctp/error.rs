//! What can go wrong.

use std::io;

use headway_sctp::{Cause, ConnectError as MachineConnectError, LostReason};

/// Why an association is over, other than by a graceful shutdown.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AssociationError {
    /// The peer ended it at once.
    #[error("the peer aborted the association{}", because(.0))]
    Aborted(Vec<Cause>),
    /// This side gave it up.
    #[error("{}", lost(*.0))]
    Lost(LostReason),
    /// The driver is gone: its runtime was shut down, or the socket broke.
    #[error("the endpoint is closed")]
    EndpointClosed,
}

/// Why there is no association.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConnectError {
    /// It was not begun.
    #[error(transparent)]
    NotBegun(#[from] MachineConnectError),
    /// None of this side's sockets is of the kind of the peer's address.
    #[error("no local address is of the same kind (IPv4, IPv6) as the peer's")]
    Family,
    /// It was begun and did not come up.
    #[error(transparent)]
    Failed(#[from] AssociationError),
}

/// Why a message was not taken.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// It can never be sent.
    #[error(transparent)]
    Message(headway_sctp::SendError),
    /// There is no room now. Only [`try_send`](super::Association::try_send) says so.
    #[error("the send buffer is full")]
    Full,
    /// The association is being shut down, by either side.
    #[error("the association takes no more messages")]
    Closing,
    /// The association is over.
    #[error(transparent)]
    Over(#[from] AssociationError),
}

impl From<AssociationError> for io::Error {
    fn from(error: AssociationError) -> Self {
        let kind = match &error {
            AssociationError::Aborted(_) => io::ErrorKind::ConnectionReset,
            AssociationError::Lost(LostReason::HandshakeTimeout | LostReason::PeerUnreachable) => {
                io::ErrorKind::TimedOut
            }
            AssociationError::Lost(_) => io::ErrorKind::ConnectionAborted,
            AssociationError::EndpointClosed => io::ErrorKind::NotConnected,
        };
        Self::new(kind, error)
    }
}

fn because(causes: &[Cause]) -> String {
    let mut text = String::new();
    for cause in causes {
        let said = String::from_utf8_lossy(&cause.information);
        text.push_str(if text.is_empty() { ": " } else { ", " });
        text.push_str(&format!("cause {}", cause.code));
        // What another user said in words; other causes are binary.
        if cause.code == Cause::USER_ABORT && !said.is_empty() {
            text.push_str(&format!(" ({})", said.escape_debug()));
        }
    }
    text
}

fn lost(reason: LostReason) -> &'static str {
    match reason {
        LostReason::HandshakeTimeout => "the peer did not answer the handshake",
        LostReason::PeerUnreachable => "the peer no longer answers",
        LostReason::ShutdownTimeout => "the shutdown took too long",
        LostReason::ProtocolViolation => "the peer broke a rule of the protocol",
        LostReason::UserAbort => "this side aborted the association",
    }
}
