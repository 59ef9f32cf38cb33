//! DATA (RFC 9260, section 3.3.1; the I bit is RFC 7053) and I-DATA (RFC 8260,
//! section 2.1).
//!
//! ```text
//! |   Type = 0    | Res |I|U|B|E|            Length             |
//! |                              TSN                            |
//! |       Stream identifier       |   Stream sequence number    |
//! |                Payload protocol identifier                  |
//! |                         User data ...                       |
//!
//! |   Type = 64   | Res |I|U|B|E|            Length             |
//! |                              TSN                            |
//! |       Stream identifier       |          Reserved           |
//! |                      Message identifier                     |
//! |   Payload protocol identifier (B) or fragment number (else) |
//! |                         User data ...                       |
//! ```

use headway_sansio::Payload;

use super::reader::Reader;
use super::{ParseError, padded};
use crate::{MessageId, Mid, Ssn, Tsn};

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
    /// Place of the message in its stream; zero where `unordered` and in I-DATA.
    pub ssn: Ssn,
    /// Payload protocol identifier; zero in I-DATA that does not begin a message.
    pub ppid: u32,
    /// The message does not take part in its stream's order.
    pub unordered: bool,
    /// First piece of its message.
    pub begin: bool,
    /// Last piece of its message.
    pub end: bool,
    /// The sender asks for a SACK without delay.
    pub immediate: bool,
    /// The numbers that I-DATA has in place of `ssn`; `None`: this is DATA.
    pub interleaving: Option<Interleaving>,
    /// The bytes.
    pub payload: Payload,
    /// What an observer may want to know and the wire does not carry.
    pub trace: Trace,
}

/// By which the pieces of interleaved messages are told apart (RFC 8260,
/// section 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interleaving {
    /// Number of the message in its stream; ordered and unordered messages are
    /// counted separately.
    pub mid: Mid,
    /// Number of the piece in its message; zero in the first.
    pub fsn: u32,
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
    /// Length of the header of DATA.
    pub const HEADER_BYTES: u32 = 16;
    /// Length of the header of I-DATA.
    pub const INTERLEAVED_HEADER_BYTES: u32 = 20;

    /// Length of the header.
    #[must_use]
    pub const fn header_bytes(&self) -> u32 {
        match self.interleaving {
            None => Self::HEADER_BYTES,
            Some(_) => Self::INTERLEAVED_HEADER_BYTES,
        }
    }

    /// Length of the chunk without padding.
    #[must_use]
    pub fn length_bytes(&self) -> u32 {
        self.header_bytes() + self.payload.len() as u32
    }

    /// Moves the payload out, and leaves nothing of it.
    pub(crate) const fn take_payload(&mut self) -> Payload {
        core::mem::replace(&mut self.payload, Payload::Sized(0))
    }

    /// Length of a DATA chunk with so many bytes of payload, padding included.
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
        let mut header = [0; 16];
        header[..4].copy_from_slice(&self.tsn.0.to_be_bytes());
        header[4..6].copy_from_slice(&self.stream.to_be_bytes());
        let header = match self.interleaving {
            None => {
                header[6..8].copy_from_slice(&self.ssn.0.to_be_bytes());
                header[8..12].copy_from_slice(&self.ppid.to_be_bytes());
                &header[..12]
            }
            Some(Interleaving { mid, fsn }) => {
                let last = if self.begin { self.ppid } else { fsn };
                header[8..12].copy_from_slice(&mid.0.to_be_bytes());
                header[12..].copy_from_slice(&last.to_be_bytes());
                &header[..]
            }
        };
        out.extend_from_slice(header);
        match &self.payload {
            Payload::Bytes(bytes) => out.extend_from_slice(bytes),
            Payload::Sized(length) => out.resize(out.len() + *length as usize, 0),
        }
    }

    pub(super) fn decode(flags: u8, mut value: Reader<'_>) -> Result<Self, ParseError> {
        let [t0, t1, t2, t3, i0, i1, s0, s1, p0, p1, p2, p3] = value.array()?;
        Ok(Self {
            tsn: Tsn(u32::from_be_bytes([t0, t1, t2, t3])),
            stream: u16::from_be_bytes([i0, i1]),
            ssn: Ssn(u16::from_be_bytes([s0, s1])),
            ppid: u32::from_be_bytes([p0, p1, p2, p3]),
            unordered: flags & UNORDERED != 0,
            begin: flags & BEGIN != 0,
            end: flags & END != 0,
            immediate: flags & IMMEDIATE != 0,
            interleaving: None,
            payload: Payload::Bytes(value.rest()),
            trace: Trace::default(),
        })
    }

    pub(super) fn decode_interleaved(flags: u8, mut value: Reader<'_>) -> Result<Self, ParseError> {
        let tsn = Tsn(value.u32()?);
        let stream = value.u16()?;
        value.u16()?;
        let mid = Mid(value.u32()?);
        let last = value.u32()?;
        let begin = flags & BEGIN != 0;
        let (ppid, fsn) = if begin { (last, 0) } else { (0, last) };
        Ok(Self {
            tsn,
            stream,
            ssn: Ssn(0),
            ppid,
            unordered: flags & UNORDERED != 0,
            begin,
            end: flags & END != 0,
            immediate: flags & IMMEDIATE != 0,
            interleaving: Some(Interleaving { mid, fsn }),
            payload: Payload::Bytes(value.rest()),
            trace: Trace::default(),
        })
    }
}
