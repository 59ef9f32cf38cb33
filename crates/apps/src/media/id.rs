//! Names of media packets that tell flow and kind.

use crate::MessageId;

/// A [`MessageId`] of a media packet taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MediaId {
    /// Number of the flow, from zero; up to 2^16.
    pub flow: u32,
    /// It goes from the called side to the calling one.
    pub reverse: bool,
    /// It keeps the connection warm in a pause and carries no sound.
    pub filler: bool,
    /// Its number in its flow and direction, from zero; up to 2^46.
    pub sequence: u64,
}

const SEQUENCE_BITS: u32 = 46;
const FILLER: u64 = 1 << SEQUENCE_BITS;
const REVERSE: u64 = FILLER << 1;
const FLOW_SHIFT: u32 = SEQUENCE_BITS + 2;

impl MediaId {
    /// Takes a number apart.
    #[must_use]
    pub fn decode(id: MessageId) -> Self {
        Self {
            flow: (id.0 >> FLOW_SHIFT) as u32,
            reverse: id.0 & REVERSE != 0,
            filler: id.0 & FILLER != 0,
            sequence: id.0 & (FILLER - 1),
        }
    }

    /// The number.
    #[must_use]
    pub fn encode(self) -> MessageId {
        let flag = |set, bit| if set { bit } else { 0 };
        MessageId(
            u64::from(self.flow) << FLOW_SHIFT
                | flag(self.reverse, REVERSE)
                | flag(self.filler, FILLER)
                | self.sequence,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_what_they_name() {
        for flow in [0, 5, 65_535] {
            for (reverse, filler) in [(false, false), (true, false), (false, true)] {
                for sequence in [0, 7, (1 << 46) - 1] {
                    let id = MediaId {
                        flow,
                        reverse,
                        filler,
                        sequence,
                    };
                    assert_eq!(MediaId::decode(id.encode()), id);
                }
            }
        }
    }
}
