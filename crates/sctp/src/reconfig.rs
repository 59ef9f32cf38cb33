//! What the user may ask of streams while an association lives (RFC 6525), and what
//! comes of it.

/// A change of streams that one side asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReconfigRequest {
    /// These streams of this side begin anew with message zero; none named: all.
    ResetOutgoing(Vec<u16>),
    /// The peer is to have these streams of its own begin anew; none named: all.
    ResetIncoming(Vec<u16>),
    /// All numbers of both sides begin anew, TSNs as well.
    ResetNumbers,
    /// So many more streams for this side to send on.
    AddOutgoing(u16),
    /// So many more streams for the peer to send on.
    AddIncoming(u16),
}

/// What the peer made of a request (RFC 6525, section 4.4, Table 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReconfigResult {
    /// There was nothing to do.
    NothingToDo,
    /// Done.
    Performed,
    /// The peer does not want it.
    Denied,
    /// There is no such stream.
    WrongSsn,
    /// The peer is busy with another request.
    Busy,
    /// The peer expected another request.
    BadSequenceNumber,
    /// It goes on; the peer will say more.
    InProgress,
    /// A code that RFC 6525 does not name.
    Other(u32),
}

impl ReconfigResult {
    pub(crate) const fn from_code(code: u32) -> Self {
        match code {
            0 => Self::NothingToDo,
            1 => Self::Performed,
            2 => Self::Denied,
            3 => Self::WrongSsn,
            4 => Self::Busy,
            5 => Self::BadSequenceNumber,
            6 => Self::InProgress,
            other => Self::Other(other),
        }
    }

    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::NothingToDo => 0,
            Self::Performed => 1,
            Self::Denied => 2,
            Self::WrongSsn => 3,
            Self::Busy => 4,
            Self::BadSequenceNumber => 5,
            Self::InProgress => 6,
            Self::Other(code) => code,
        }
    }

    /// Whether what was asked for is so now.
    #[must_use]
    pub const fn is_success(self) -> bool {
        matches!(self, Self::NothingToDo | Self::Performed)
    }
}

/// Why a change of streams was not asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReconfigError {
    /// The peer does not know RFC 6525, or this side does not offer it.
    #[error("the two sides have not agreed on stream reconfiguration")]
    NotAgreed,
    /// The association is not up, or is being shut down.
    #[error("the association is not established")]
    NotEstablished,
    /// A stream does not exist.
    #[error("there is no such stream")]
    InvalidStream,
    /// There would be more than 65,535 streams, or none is asked for.
    #[error("streams can be added from one up to 65,535 in all")]
    StreamCount,
    /// The same streams are being reset already, or too many requests wait.
    #[error("another request must be finished first")]
    Busy,
}
