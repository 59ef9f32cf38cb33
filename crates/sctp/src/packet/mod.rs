//! SCTP packets, structured and on the wire (RFC 9260, section 3).
//!
//! In virtual time packets travel as the structure [`Packet`]; on a real network
//! as what [`Packet::encode`] writes. [`Packet::size_bytes`] is the same number
//! either way. One kind of chunk has one file.

mod announce;
mod cause;
mod data;
mod forward;
mod init;
pub(crate) mod parameter;
mod reader;
mod reconfig;
mod sack;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use announce::{Announcement, Extensions, address_parameter, cookie_preservative};
pub use cause::Cause;
pub use data::{DataChunk, Interleaving, Trace};
pub use forward::{ForwardTsn, Skipped, SkippedMid, SkippedSsn};
pub use init::Init;
pub use parameter::Parameter;
pub(crate) use reconfig::Reconfiguration;
pub use sack::{GapBlock, Sack};
pub use wire::ParseError;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::Tsn;

/// Length of the common header (RFC 9260, section 3.1).
pub const COMMON_HEADER_BYTES: u32 = 12;

/// The chunks of one packet; two stand in place (a SACK and a DATA chunk are the
/// common pair), more move to the heap.
pub type Chunks = SmallVec<[Chunk; 2]>;

/// One SCTP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The tag by which the receiver knows that the sender belongs to the association.
    pub verification_tag: u32,
    /// What it carries, in the order of the wire.
    pub chunks: Chunks,
}

/// One chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chunk {
    /// User data (types 0 and 64).
    Data(DataChunk),
    /// Opens the handshake (type 1).
    Init(Box<Init>),
    /// Answers INIT and carries the cookie (type 2).
    InitAck(Box<Init>),
    /// Acknowledges DATA chunks (type 3).
    Sack(Sack),
    /// Probes a path; its parameters come back unread (type 4).
    Heartbeat(Bytes),
    /// Answers a heartbeat (type 5).
    HeartbeatAck(Bytes),
    /// Ends the association at once (type 6).
    Abort {
        /// The T bit: the verification tag is the receiver's own, reflected.
        reflected_tag: bool,
        /// Why.
        causes: Vec<Cause>,
    },
    /// Asks for a graceful end (type 7).
    Shutdown {
        /// Last TSN received in sequence.
        cumulative_tsn: Tsn,
    },
    /// Answers SHUTDOWN (type 8).
    ShutdownAck,
    /// Reports errors (type 9).
    Error(Vec<Cause>),
    /// Brings the cookie back (type 10).
    CookieEcho(Bytes),
    /// Ends the handshake (type 11).
    CookieAck,
    /// Ends the association (type 14).
    ShutdownComplete {
        /// The T bit, as in ABORT.
        reflected_tag: bool,
    },
    /// Changes streams (type 130, RFC 6525).
    Reconfig(Vec<Parameter>),
    /// So many bytes that say nothing (type 132, RFC 4820).
    Pad(u16),
    /// Gives up chunks that were sent (types 192 and 194).
    ForwardTsn(Box<ForwardTsn>),
    /// A chunk of a type this stack does not know.
    Unknown {
        /// Chunk type; its two high bits say what to do with it.
        kind: u8,
        /// Chunk flags.
        flags: u8,
        /// What follows the chunk header.
        value: Bytes,
    },
}

impl Packet {
    /// Length on the wire: common header, chunks and padding. The IP header is
    /// not in it.
    #[must_use]
    pub fn size_bytes(&self) -> u32 {
        COMMON_HEADER_BYTES + self.chunks.iter().map(Chunk::padded_bytes).sum::<u32>()
    }
}

impl Chunk {
    /// Length of the chunk as its length field says, without padding.
    #[must_use]
    pub fn length_bytes(&self) -> u32 {
        let value = match self {
            Self::Data(data) => return data.length_bytes(),
            Self::Sack(sack) => return sack.length_bytes(),
            Self::Init(init) | Self::InitAck(init) => return init.length_bytes(),
            Self::Heartbeat(info) | Self::HeartbeatAck(info) => info.len(),
            Self::Abort { causes, .. } | Self::Error(causes) => {
                return 4 + cause::length_bytes(causes);
            }
            Self::ForwardTsn(forward) => return forward.length_bytes(),
            Self::Reconfig(parameters) => return 4 + parameter::length_bytes(parameters),
            Self::Pad(length) => usize::from(*length),
            Self::Shutdown { .. } => 4,
            Self::ShutdownAck | Self::CookieAck | Self::ShutdownComplete { .. } => 0,
            Self::CookieEcho(cookie) => cookie.len(),
            Self::Unknown { value, .. } => value.len(),
        };
        4 + value as u32
    }

    /// Length of the chunk with its padding.
    #[must_use]
    pub fn padded_bytes(&self) -> u32 {
        padded(self.length_bytes())
    }
}

/// Rounded up to a multiple of four (RFC 9260, section 3.2).
pub(crate) const fn padded(length: u32) -> u32 {
    length.next_multiple_of(4)
}
