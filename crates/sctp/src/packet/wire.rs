//! The packet on the wire: common header, checksum, chunk headers and padding.

use bytes::Bytes;

use super::reader::Reader;
use super::{
    COMMON_HEADER_BYTES, Chunk, Chunks, DataChunk, ForwardTsn, Init, Packet, Sack, Skipped,
};
use super::{cause, padded, parameter};
use crate::Tsn;

/// Where the checksum stands in the common header.
const CHECKSUM: core::ops::Range<usize> = 8..12;

/// Why a datagram is not an SCTP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseError {
    /// It ends within a header or a field.
    #[error("the packet ends too early")]
    Truncated,
    /// The CRC32c does not match.
    #[error("the checksum does not match")]
    Checksum,
    /// A chunk claims to be shorter than its header.
    #[error("a chunk's length is impossible")]
    ChunkLength,
    /// A parameter or cause claims to be shorter than its header.
    #[error("a parameter's length is impossible")]
    ParameterLength,
    /// There is no chunk in it.
    #[error("the packet carries no chunk")]
    Empty,
}

impl Packet {
    /// Appends the packet's bytes to `out`: exactly [`Packet::size_bytes`] of
    /// them, with the CRC32c in place. Payload of which only the size is known
    /// is written as zeros.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        self.encode_without_checksum(out);
        // CRC32c goes out least significant byte first (RFC 9260, appendix A).
        let checksum = crc32c::crc32c(&out[start..]).to_le_bytes();
        out[start..][CHECKSUM].copy_from_slice(&checksum);
    }

    /// Appends the packet's bytes with zeros in place of the checksum (RFC 9653).
    /// Only for packets for which
    /// [`Association::omits_checksum`](crate::Association::omits_checksum) or that
    /// of the endpoint allows it.
    pub fn encode_without_checksum(&self, out: &mut Vec<u8>) {
        out.reserve(self.size_bytes() as usize);
        out.extend_from_slice(&self.source_port.to_be_bytes());
        out.extend_from_slice(&self.destination_port.to_be_bytes());
        out.extend_from_slice(&self.verification_tag.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        for chunk in &self.chunks {
            chunk.encode(out);
        }
    }

    /// Reads a packet. Payloads and other long values share the datagram's memory.
    ///
    /// # Errors
    /// Where the checksum is wrong, a length lies, or there is no chunk. No part
    /// of such a packet may be acted upon (RFC 9260, section 6.8).
    pub fn decode(datagram: &Bytes) -> Result<Self, ParseError> {
        if datagram.len() < COMMON_HEADER_BYTES as usize {
            return Err(ParseError::Truncated);
        }
        let checksum = crc32c::crc32c(&datagram[..CHECKSUM.start]);
        let checksum = crc32c::crc32c_append(checksum, &[0; 4]);
        let checksum = crc32c::crc32c_append(checksum, &datagram[CHECKSUM.end..]);
        if datagram[CHECKSUM] != checksum.to_le_bytes() {
            return Err(ParseError::Checksum);
        }
        Self::read(datagram)
    }

    /// Reads a packet that may bear zeros in place of a checksum, as what carries it
    /// has found it free of errors and this side has offered that (RFC 9653; see
    /// [`Config::zero_checksum_method`](crate::Config::zero_checksum_method)). One
    /// with an INIT needs its checksum all the same, as nothing is agreed with its
    /// sender.
    ///
    /// # Errors
    /// As [`Self::decode`], and where an INIT has no checksum.
    pub fn decode_with_zero_checksum(datagram: &Bytes) -> Result<Self, ParseError> {
        if datagram.get(CHECKSUM) != Some(&[0; 4]) {
            return Self::decode(datagram);
        }
        let packet = Self::read(datagram)?;
        if packet.chunks.iter().any(|c| matches!(c, Chunk::Init(_))) {
            return Self::decode(datagram);
        }
        Ok(packet)
    }

    /// Whether a datagram, if it is an SCTP packet at all, begins with an INIT, beside
    /// which there may be nothing else (RFC 9260, section 6.10). Looks at one byte.
    pub(crate) fn begins_with_init(datagram: &[u8]) -> bool {
        datagram.get(COMMON_HEADER_BYTES as usize) == Some(&1)
    }

    fn read(datagram: &Bytes) -> Result<Self, ParseError> {
        let mut reader = Reader::new(datagram);
        let mut packet = Self {
            source_port: reader.u16()?,
            destination_port: reader.u16()?,
            verification_tag: reader.u32()?,
            chunks: Chunks::new(),
        };
        reader.u32()?;
        while !reader.is_empty() {
            packet.chunks.push(Chunk::decode(&mut reader)?);
        }
        if packet.chunks.is_empty() {
            return Err(ParseError::Empty);
        }
        Ok(packet)
    }
}

impl Chunk {
    /// Chunk type (RFC 9260, section 3.2).
    #[must_use]
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Data(data) if data.interleaving.is_some() => 64,
            Self::Data(_) => 0,
            Self::Init(_) => 1,
            Self::InitAck(_) => 2,
            Self::Sack(_) => 3,
            Self::Heartbeat(_) => 4,
            Self::HeartbeatAck(_) => 5,
            Self::Abort { .. } => 6,
            Self::Shutdown { .. } => 7,
            Self::ShutdownAck => 8,
            Self::Error(_) => 9,
            Self::CookieEcho(_) => 10,
            Self::CookieAck => 11,
            Self::ShutdownComplete { .. } => 14,
            Self::Reconfig(_) => 130,
            Self::Pad(_) => 132,
            Self::ForwardTsn(forward) => match forward.skipped {
                Skipped::Ssns(_) => 192,
                Skipped::Mids(_) => 194,
            },
            Self::Unknown { kind, .. } => *kind,
        }
    }

    fn flags(&self) -> u8 {
        match self {
            Self::Data(data) => data.flags(),
            Self::Abort { reflected_tag, .. } | Self::ShutdownComplete { reflected_tag } => {
                u8::from(*reflected_tag)
            }
            Self::Unknown { flags, .. } => *flags,
            _ => 0,
        }
    }

    /// Appends the chunk with its padding.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(self.kind());
        out.push(self.flags());
        out.extend_from_slice(&(self.length_bytes() as u16).to_be_bytes());
        match self {
            Self::Data(data) => data.encode_value(out),
            Self::Init(init) | Self::InitAck(init) => init.encode_value(out),
            Self::Sack(sack) => sack.encode_value(out),
            Self::Abort { causes, .. } | Self::Error(causes) => cause::encode_list(causes, out),
            Self::Reconfig(parameters) => parameter::encode_list(parameters, out),
            Self::ForwardTsn(forward) => forward.encode_value(out),
            Self::Pad(length) => out.resize(out.len() + usize::from(*length), 0),
            Self::Shutdown { cumulative_tsn } => {
                out.extend_from_slice(&cumulative_tsn.0.to_be_bytes());
            }
            Self::CookieEcho(value)
            | Self::Heartbeat(value)
            | Self::HeartbeatAck(value)
            | Self::Unknown { value, .. } => out.extend_from_slice(value),
            Self::ShutdownAck | Self::CookieAck | Self::ShutdownComplete { .. } => {}
        }
        let length = (out.len() - start) as u32;
        out.resize(start + padded(length) as usize, 0);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, ParseError> {
        let (kind, flags) = (reader.u8()?, reader.u8()?);
        let length = usize::from(reader.u16()?);
        let content = length.checked_sub(4).ok_or(ParseError::ChunkLength)?;
        let mut value = reader.part(content)?;
        // Tolerated where missing at the very end, as a robust receiver should.
        let padding = (length.next_multiple_of(4) - length).min(reader.remaining());
        reader.part(padding)?;
        Ok(match kind {
            0 => Self::Data(DataChunk::decode(flags, value)?),
            1 => Self::Init(Box::new(Init::decode(value)?)),
            2 => Self::InitAck(Box::new(Init::decode(value)?)),
            3 => Self::Sack(Sack::decode(value)?),
            4 => Self::Heartbeat(value.rest()),
            5 => Self::HeartbeatAck(value.rest()),
            6 => Self::Abort {
                reflected_tag: flags & 1 != 0,
                causes: cause::decode_list(value)?,
            },
            7 => Self::Shutdown {
                cumulative_tsn: Tsn(value.u32()?),
            },
            8 => Self::ShutdownAck,
            9 => Self::Error(cause::decode_list(value)?),
            10 => Self::CookieEcho(value.rest()),
            11 => Self::CookieAck,
            14 => Self::ShutdownComplete {
                reflected_tag: flags & 1 != 0,
            },
            64 => Self::Data(DataChunk::decode_interleaved(flags, value)?),
            130 => Self::Reconfig(parameter::decode_list(value)?),
            132 => Self::Pad(value.remaining() as u16),
            192 => Self::ForwardTsn(Box::new(ForwardTsn::decode(value)?)),
            194 => Self::ForwardTsn(Box::new(ForwardTsn::decode_interleaved(value)?)),
            _ => Self::Unknown {
                kind,
                flags,
                value: value.rest(),
            },
        })
    }
}
