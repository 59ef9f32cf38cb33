//! DATA (RFC 9260, section 3.3.1; the I bit is RFC 7053).
//!
//! ```text
//! |   Type = 0    | Res |I|U|B|E|            Length             |
//! |                              TSN                            |
//! |       Stream identifier       |   Stream sequence number    |
//! |                Payload protocol identifier                  |
//! |                         User data ...                       |
//! ```

use headway_sansio::Payload;

use super::reader::Reader;
use super::{ParseError, padded};
use crate::{MessageId, Ssn, Tsn};

const IMMEDIATE: u8 = 8;
const UNORDERED: u8 = 4;
const BEGIN: u8 = 2;
const END: u8 = 1;

/// A piece of a message, or a whole one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataChunk {
    /// Its number in the association.
    pub tsn: Tsn,
    /// Stream identifier.
    pub stream: u16,
    /// Place of the message in its stream; zero where `unordered`.
    pub ssn: Ssn,
    /// Payload protocol identifier.
    pub ppid: u32,
    /// The message does not take part in its stream's order.
    pub unordered: bool,
    /// First piece of its message.
    pub begin: bool,
    /// Last piece of its message.
    pub end: bool,
    /// The sender asks for a SACK without delay.
    pub immediate: bool,
    /// The bytes.
    pub payload: Payload,
    /// What an observer may want to know and the wire does not carry.
    pub trace: Trace,
}

/// Notes of the sender for observers of structured packets. They are not on the
/// wire: a decoded chunk has the default, and no receiver acts on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// This transmission repeats an earlier one.
    pub retransmission: bool,
    /// Which message of the sender this is a piece of.
    pub message: MessageId,
}

impl DataChunk {
    /// Length of the header.
    pub const HEADER_BYTES: u32 = 16;

    /// Length of the chunk without padding.
    #[must_use]
    pub fn length_bytes(&self) -> u32 {
        Self::HEADER_BYTES + self.payload.len() as u32
    }

    /// Length of a chunk with so many bytes of payload, padding included.
    #[must_use]
    pub const fn padded_bytes_for(payload: u32) -> u32 {
        padded(Self::HEADER_BYTES + payload)
    }

    pub(super) const fn flags(&self) -> u8 {
        let mut flags = 0;
        if self.immediate {
            flags |= IMMEDIATE;
        }
        if self.unordered {
            flags |= UNORDERED;
        }
        if self.begin {
            flags |= BEGIN;
        }
        if self.end {
            flags |= END;
        }
        flags
    }

    pub(super) fn encode_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tsn.0.to_be_bytes());
        out.extend_from_slice(&self.stream.to_be_bytes());
        out.extend_from_slice(&self.ssn.0.to_be_bytes());
        out.extend_from_slice(&self.ppid.to_be_bytes());
        match &self.payload {
            Payload::Bytes(bytes) => out.extend_from_slice(bytes),
            Payload::Sized(length) => out.resize(out.len() + *length as usize, 0),
        }
    }

    pub(super) fn decode(flags: u8, mut value: Reader) -> Result<Self, ParseError> {
        Ok(Self {
            tsn: Tsn(value.u32()?),
            stream: value.u16()?,
            ssn: Ssn(value.u16()?),
            ppid: value.u32()?,
            unordered: flags & UNORDERED != 0,
            begin: flags & BEGIN != 0,
            end: flags & END != 0,
            immediate: flags & IMMEDIATE != 0,
            payload: Payload::Bytes(value.rest()),
            trace: Trace::default(),
        })
    }
}
