//! Header bytes, and their meaning.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------------------------------+-------------------------------+
//! |          source port          |       destination port        |
//! |                        sequence number                        |
//! |                     acknowledgement number                    |
//! | offset|  0  |     control     |            window             |
//! |           checksum            |        urgent pointer         |
//! |                       options, padded                         |
//! ```

use bytes::{BufMut, Bytes, BytesMut};
use headway_sansio::Payload;

use super::{Flags, Options, SackBlock, Segment, Timestamps};
use crate::seq::SeqNumber;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// What to do with the checksum field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// Written as zero and not looked at: where the layer below protects, or
    /// computes it.
    None,
    /// Over the IPv4 pseudo-header with these addresses (RFC 9293, section 3.1).
    Ipv4 {
        /// Source address in network order.
        source: [u8; 4],
        /// Destination address in network order.
        destination: [u8; 4],
    },
}

/// Why bytes are not a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// Fewer bytes than the header says, or than any header has.
    #[error("the segment is shorter than its header")]
    Short,
    /// The data offset points into the fixed header.
    #[error("the data offset is below five words")]
    Offset,
    /// An option runs past the header or has a length that it cannot have.
    #[error("an option is malformed")]
    Option,
    /// The checksum does not match.
    #[error("the checksum does not match")]
    Checksum,
}

impl Segment {
    /// The segment as bytes, from the TCP header on. A payload of which only
    /// the length is known becomes zeros.
    #[must_use]
    pub fn encode(&self, checksum: Checksum) -> Bytes {
        let header = self.header_bytes();
        let mut out = BytesMut::with_capacity(self.size_bytes() as usize);
        out.put_u16(self.source_port);
        out.put_u16(self.destination_port);
        out.put_u32(self.seq.0);
        out.put_u32(self.ack.0);
        out.put_u8(((header / 4) << 4) as u8);
        out.put_u8(self.flags.0);
        out.put_u16(self.window);
        out.put_u32(0);
        encode_options(&self.options, &mut out);
        debug_assert_eq!(out.len(), header as usize);
        match &self.payload {
            Payload::Sized(n) => out.put_bytes(0, *n as usize),
            Payload::Bytes(b) => out.put_slice(b),
        }
        if let Checksum::Ipv4 { .. } = checksum {
            let sum = !sum(checksum, &out);
            out[16..18].copy_from_slice(&sum.to_be_bytes());
        }
        out.freeze()
    }

    /// Reads a segment from `bytes`, which start at the TCP header and end with
    /// the payload. Unknown options are skipped (RFC 9293, section 3.2).
    ///
    /// # Errors
    /// [`DecodeError`], where the bytes are not a segment; never a panic.
    pub fn decode(bytes: &Bytes, checksum: Checksum) -> Result<Self, DecodeError> {
        let fixed: &[u8; 20] = bytes.first_chunk().ok_or(DecodeError::Short)?;
        let header = usize::from(fixed[12] >> 4) * 4;
        if header < 20 {
            return Err(DecodeError::Offset);
        }
        let options = bytes.get(20..header).ok_or(DecodeError::Short)?;
        if matches!(checksum, Checksum::Ipv4 { .. }) && sum(checksum, bytes) != 0xffff {
            return Err(DecodeError::Checksum);
        }
        let u16_at = |i: usize| u16::from_be_bytes([fixed[i], fixed[i + 1]]);
        Ok(Self {
            source_port: u16_at(0),
            destination_port: u16_at(2),
            seq: SeqNumber(u32_from(&fixed[4..8])),
            ack: SeqNumber(u32_from(&fixed[8..12])),
            flags: Flags(fixed[13]),
            window: u16_at(14),
            options: decode_options(options)?,
            payload: Payload::Bytes(bytes.slice(header..)),
            offset: 0,
            retransmission: false,
        })
    }
}

fn u32_from(four: &[u8]) -> u32 {
    four.iter().fold(0, |n, &b| n << 8 | u32::from(b))
}

fn encode_options(options: &Options, out: &mut BytesMut) {
    if let Some(mss) = options.mss {
        out.put_slice(&[MSS, 4]);
        out.put_u16(mss);
    }
    match options.timestamps {
        Some(Timestamps { value, echo }) => {
            out.put_slice(if options.sack_permitted {
                &[SACK_PERMITTED, 2]
            } else {
                &[NOP, NOP]
            });
            out.put_slice(&[TIMESTAMPS, 10]);
            out.put_u32(value);
            out.put_u32(echo);
        }
        None if options.sack_permitted => out.put_slice(&[NOP, NOP, SACK_PERMITTED, 2]),
        None => {}
    }
    if let Some(shift) = options.window_scale {
        out.put_slice(&[NOP, WINDOW_SCALE, 3, shift]);
    }
    let sack = options.sack_that_fits();
    if !sack.is_empty() {
        out.put_slice(&[NOP, NOP, SACK, 2 + 8 * sack.len() as u8]);
        for block in sack {
            out.put_u32(block.start.0);
            out.put_u32(block.end.0);
        }
    }
}

fn decode_options(mut rest: &[u8]) -> Result<Options, DecodeError> {
    let mut options = Options::default();
    loop {
        rest = match rest {
            [] | [END, ..] => return Ok(options),
            [NOP, rest @ ..] => rest,
            [kind, len, ..] => {
                let len = usize::from(*len);
                let value = rest.get(2..len).ok_or(DecodeError::Option)?;
                decode_option(*kind, value, &mut options)?;
                &rest[len..]
            }
            [_] => return Err(DecodeError::Option),
        };
    }
}

fn decode_option(kind: u8, value: &[u8], options: &mut Options) -> Result<(), DecodeError> {
    match (kind, value) {
        (MSS, &[a, b]) => options.mss = Some(u16::from_be_bytes([a, b])),
        (WINDOW_SCALE, &[shift]) => options.window_scale = Some(shift),
        (SACK_PERMITTED, []) => options.sack_permitted = true,
        (TIMESTAMPS, value) if value.len() == 8 => {
            options.timestamps = Some(Timestamps {
                value: u32_from(&value[..4]),
                echo: u32_from(&value[4..]),
            });
        }
        (SACK, value) if value.len().is_multiple_of(8) => {
            for block in value.chunks_exact(8) {
                options.sack.push(SackBlock {
                    start: SeqNumber(u32_from(&block[..4])),
                    end: SeqNumber(u32_from(&block[4..])),
                });
            }
        }
        (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => {
            return Err(DecodeError::Option);
        }
        _ => {}
    }
    Ok(())
}

/// One's complement sum over pseudo-header and segment.
fn sum(checksum: Checksum, segment: &[u8]) -> u16 {
    let Checksum::Ipv4 {
        source,
        destination,
    } = checksum
    else {
        return 0;
    };
    const PROTOCOL: u64 = 6;
    let words = |bytes: &[u8]| -> u64 {
        let pairs = bytes.chunks_exact(2);
        let odd = pairs.remainder().first().map_or(0, |&b| u64::from(b) << 8);
        odd + pairs
            .map(|p| u64::from(u16::from_be_bytes([p[0], p[1]])))
            .sum::<u64>()
    };
    let len = segment.len() as u64;
    let mut sum = words(&source) + words(&destination) + PROTOCOL + len + words(segment);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
