//! FORWARD-TSN (RFC 3758, section 3.2) and I-FORWARD-TSN (RFC 8260, section 2.3.1):
//! the sender gives up what it sent up to a TSN.
//!
//! ```text
//! |  Type = 192   |     Flags     |            Length             |
//! |                      New cumulative TSN                      |
//! |       Stream identifier       |   Stream sequence number     | ...
//!
//! |  Type = 194   |     Flags     |            Length             |
//! |                      New cumulative TSN                      |
//! |       Stream identifier       |          Reserved         |U |
//! |                      Message identifier                      | ...
//! ```

use super::ParseError;
use super::reader::Reader;
use crate::{Mid, Ssn, Tsn};

/// Moves the receiver's cumulative TSN over chunks that will not come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForwardTsn {
    /// Everything up to this TSN counts as received.
    pub cumulative_tsn: Tsn,
    /// Up to where each stream's order is to go on.
    pub skipped: Skipped,
}

/// The last message that is skipped in each stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Skipped {
    /// Ordered messages of DATA.
    Ssns(Vec<SkippedSsn>),
    /// Messages of I-DATA.
    Mids(Vec<SkippedMid>),
}

/// A stream and the last ordered message skipped in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SkippedSsn {
    /// Stream identifier.
    pub stream: u16,
    /// Sequence number of the message.
    pub ssn: Ssn,
}

/// A stream and the last message skipped in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SkippedMid {
    /// Stream identifier.
    pub stream: u16,
    /// It is said of the stream's unordered messages.
    pub unordered: bool,
    /// Number of the message.
    pub mid: Mid,
}

impl ForwardTsn {
    pub(super) fn length_bytes(&self) -> u32 {
        let entries = match &self.skipped {
            Skipped::Ssns(ssns) => 4 * ssns.len(),
            Skipped::Mids(mids) => 8 * mids.len(),
        };
        8 + entries as u32
    }

    pub(super) fn encode_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.cumulative_tsn.0.to_be_bytes());
        match &self.skipped {
            Skipped::Ssns(ssns) => {
                for skipped in ssns {
                    out.extend_from_slice(&skipped.stream.to_be_bytes());
                    out.extend_from_slice(&skipped.ssn.0.to_be_bytes());
                }
            }
            Skipped::Mids(mids) => {
                for skipped in mids {
                    out.extend_from_slice(&skipped.stream.to_be_bytes());
                    out.extend_from_slice(&u16::from(skipped.unordered).to_be_bytes());
                    out.extend_from_slice(&skipped.mid.0.to_be_bytes());
                }
            }
        }
    }

    pub(super) fn decode(mut value: Reader<'_>) -> Result<Self, ParseError> {
        let cumulative_tsn = Tsn(value.u32()?);
        let mut ssns = Vec::new();
        while !value.is_empty() {
            ssns.push(SkippedSsn {
                stream: value.u16()?,
                ssn: Ssn(value.u16()?),
            });
        }
        Ok(Self {
            cumulative_tsn,
            skipped: Skipped::Ssns(ssns),
        })
    }

    pub(super) fn decode_interleaved(mut value: Reader<'_>) -> Result<Self, ParseError> {
        let cumulative_tsn = Tsn(value.u32()?);
        let mut mids = Vec::new();
        while !value.is_empty() {
            mids.push(SkippedMid {
                stream: value.u16()?,
                unordered: value.u16()? & 1 != 0,
                mid: Mid(value.u32()?),
            });
        }
        Ok(Self {
            cumulative_tsn,
            skipped: Skipped::Mids(mids),
        })
    }
}
