//! SACK (RFC 9260, section 3.3.4).
//!
//! ```text
//! |   Type = 3    |     Flags     |            Length             |
//! |                     Cumulative TSN ack                      |
//! |            Advertised receiver window (a_rwnd)              |
//! |     Number of gap blocks      |    Number of duplicates     |
//! |       Gap block start         |       Gap block end         | ...
//! |                        Duplicate TSN                        | ...
//! ```

use smallvec::SmallVec;

use super::ParseError;
use super::reader::Reader;
use crate::Tsn;

/// Acknowledges DATA chunks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sack {
    /// Last TSN received in sequence.
    pub cumulative_tsn: Tsn,
    /// Free bytes of the receive buffer.
    pub a_rwnd: u32,
    /// What was received beyond a gap, in ascending order.
    pub gaps: SmallVec<[GapBlock; 4]>,
    /// What was received more than once since the last SACK.
    pub duplicates: SmallVec<[Tsn; 4]>,
}

/// TSNs received without a gap between them, as distances from the cumulative
/// TSN, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GapBlock {
    /// Distance of the first TSN.
    pub start: u16,
    /// Distance of the last TSN.
    pub end: u16,
}

impl Sack {
    pub(crate) const FIXED_BYTES: u32 = 16;

    pub(crate) fn length_bytes(&self) -> u32 {
        Self::FIXED_BYTES + 4 * (self.gaps.len() + self.duplicates.len()) as u32
    }

    pub(super) fn encode_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.cumulative_tsn.0.to_be_bytes());
        out.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.extend_from_slice(&(self.gaps.len() as u16).to_be_bytes());
        out.extend_from_slice(&(self.duplicates.len() as u16).to_be_bytes());
        for gap in &self.gaps {
            out.extend_from_slice(&gap.start.to_be_bytes());
            out.extend_from_slice(&gap.end.to_be_bytes());
        }
        for tsn in &self.duplicates {
            out.extend_from_slice(&tsn.0.to_be_bytes());
        }
    }

    pub(super) fn decode(mut value: Reader<'_>) -> Result<Self, ParseError> {
        let cumulative_tsn = Tsn(value.u32()?);
        let a_rwnd = value.u32()?;
        let (gaps, duplicates) = (value.u16()?, value.u16()?);
        // Checked before anything is set aside for them.
        if value.remaining() < 4 * (usize::from(gaps) + usize::from(duplicates)) {
            return Err(ParseError::Truncated);
        }
        let gaps = (0..gaps)
            .map(|_| {
                Ok(GapBlock {
                    start: value.u16()?,
                    end: value.u16()?,
                })
            })
            .collect::<Result<_, ParseError>>()?;
        let duplicates = (0..duplicates)
            .map(|_| Ok(Tsn(value.u32()?)))
            .collect::<Result<_, ParseError>>()?;
        Ok(Self {
            cumulative_tsn,
            a_rwnd,
            gaps,
            duplicates,
        })
    }
}
