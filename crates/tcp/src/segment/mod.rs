//! A segment: RFC 9293, section 3.1.

mod codec;
mod options;

pub use codec::{Checksum, DecodeError};
pub use options::{Options, SackBlock, SackBlocks, Timestamps};

use headway_sansio::Payload;

use crate::seq::SeqNumber;

/// One TCP segment, structured. [`Segment::encode`] and [`Segment::decode`] turn
/// it into header bytes and back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Sequence number of the first payload byte, or of SYN.
    pub seq: SeqNumber,
    /// The next sequence number that the sender of this segment expects.
    pub ack: SeqNumber,
    /// Control bits.
    pub flags: Flags,
    /// The window field as it is on the wire, not yet scaled (RFC 7323).
    pub window: u16,
    /// The options that this crate knows.
    pub options: Options,
    /// The data.
    pub payload: Payload,
    /// Where the payload lies in the sender's stream, counted from its first
    /// byte. Known to the sending machine only: not on the wire, zero after
    /// decoding, and never read by a receiving machine.
    pub offset: u64,
    /// Whether any of the payload was sent before. Not on the wire.
    pub retransmission: bool,
}

/// Control bits of the header.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push: the segment ends a write.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field counts.
    pub const ACK: Self = Self(0x10);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These bits and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl core::fmt::Debug for Flags {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let names = [
            (Self::SYN, 'S'),
            (Self::FIN, 'F'),
            (Self::RST, 'R'),
            (Self::PSH, 'P'),
            (Self::ACK, '.'),
        ];
        names
            .iter()
            .filter(|(flag, _)| self.has(*flag))
            .try_for_each(|(_, name)| write!(f, "{name}"))
    }
}

impl Segment {
    /// Length of the header with its options, in bytes: a multiple of four.
    #[must_use]
    pub fn header_bytes(&self) -> u32 {
        20 + self.options.wire_bytes()
    }

    /// Length of header and payload in bytes, without the IP header.
    #[must_use]
    pub fn size_bytes(&self) -> u32 {
        self.header_bytes() + self.payload.len() as u32
    }

    /// Payload bytes, and one each for SYN and FIN (RFC 9293, `SEG.LEN`).
    #[must_use]
    pub fn sequence_length(&self) -> u32 {
        self.payload.len() as u32
            + u32::from(self.flags.has(Flags::SYN))
            + u32::from(self.flags.has(Flags::FIN))
    }
}

#[cfg(test)]
mod tests;
