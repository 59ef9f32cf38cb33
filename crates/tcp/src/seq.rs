//! Sequence numbers on the wire, and stream offsets that never wrap.

use core::fmt;

/// A sequence number of RFC 9293, section 3.4: 32 bits that wrap around.
///
/// It has no order: two of them are compared only as offsets, near a known one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// The sequence number `n` further on.
    #[must_use]
    pub const fn plus(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }

    /// The sequence number of the byte at `offset` in a stream whose first byte
    /// has this one.
    #[must_use]
    pub const fn at(self, offset: u64) -> Self {
        // Truncation is the wrap.
        Self(self.0.wrapping_add(offset as u32))
    }

    /// The offset of `seq` in a stream whose first byte has `self`: of all that
    /// share the 32 bits the one nearest to `near`. `None` where that lies
    /// before the stream's first byte.
    #[must_use]
    pub const fn offset_of(self, seq: Self, near: u64) -> Option<u64> {
        let distance = seq.0.wrapping_sub(self.at(near).0).cast_signed();
        near.checked_add_signed(distance as i64)
    }
}

impl fmt::Debug for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_survive_the_wrap() {
        let first = SeqNumber(0xffff_fff0);
        for near in [0_u64, 1 << 20, 1 << 32, (1 << 40) + 17] {
            for distance in [0_i64, 1, -1, 1500, 1 << 30, -(1 << 30)] {
                let Some(offset) = near.checked_add_signed(distance) else {
                    continue;
                };
                assert_eq!(first.offset_of(first.at(offset), near), Some(offset));
            }
        }
        assert_eq!(first.offset_of(SeqNumber(0xffff_ffef), 0), None);
    }
}
