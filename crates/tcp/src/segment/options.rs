//! The options that the machine knows: MSS (RFC 9293, section 3.7.1), window
//! scale and timestamps (RFC 7323), SACK permitted and SACK (RFC 2018).

use crate::seq::SeqNumber;

/// Options of one segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Largest payload that the sender takes, in bytes; on SYN only.
    pub mss: Option<u16>,
    /// Shift of later window fields; on SYN only.
    pub window_scale: Option<u8>,
    /// The sender understands SACK; on SYN only.
    pub sack_permitted: bool,
    /// The sender's clock and its echo of ours.
    pub timestamps: Option<Timestamps>,
    /// What the sender holds beyond a gap; the first block may report a
    /// duplicate (RFC 2883).
    pub sack: SackBlocks,
}

/// The timestamps option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// The sender's clock, in its own ticks.
    pub value: u32,
    /// The most recent clock of the other side.
    pub echo: u32,
}

/// One SACK block: `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlock {
    /// First sequence number held.
    pub start: SeqNumber,
    /// One past the last sequence number held.
    pub end: SeqNumber,
}

/// Up to four SACK blocks: more do not fit the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// What the 40 bytes of options hold at most.
    pub const MAX: usize = 4;

    /// Adds a block; a fifth is left out.
    pub fn push(&mut self, block: SackBlock) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.len)) {
            *place = block;
            self.len += 1;
        }
    }

    /// The blocks in the order of the option.
    #[must_use]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Options {
    /// The header has room for so many bytes of options (RFC 9293, section 3.1).
    const MOST_BYTES: u32 = 40;

    /// How many SACK blocks fit beside the other options: three with timestamps
    /// and four without (RFC 2018, section 3).
    #[must_use]
    pub const fn sack_room(timestamps: bool) -> usize {
        if timestamps { 3 } else { 4 }
    }

    /// Length on the wire in bytes, padding included. Each option is padded to
    /// four bytes on its own, as all stacks do; SACK permitted takes the place
    /// of the padding of timestamps.
    #[must_use]
    pub fn wire_bytes(&self) -> u32 {
        let others = self.other_bytes();
        match self.sack_that_fits().len() as u32 {
            0 => others,
            blocks => others + 4 + 8 * blocks,
        }
    }

    /// The first SACK blocks, as many as the header takes beside the other options: no
    /// stack has a window scale beside them, but who reads a segment may find that.
    pub(super) fn sack_that_fits(&self) -> &[SackBlock] {
        let blocks = self.sack.as_slice();
        if blocks.is_empty() {
            return blocks;
        }
        let room = Self::MOST_BYTES - 4 - self.other_bytes();
        &blocks[..blocks.len().min(room as usize / 8)]
    }

    /// Length of all options but SACK.
    fn other_bytes(&self) -> u32 {
        let mut bytes = 0;
        if self.mss.is_some() {
            bytes += 4;
        }
        if self.window_scale.is_some() {
            bytes += 4;
        }
        if self.timestamps.is_some() {
            bytes += 12;
        } else if self.sack_permitted {
            bytes += 4;
        }
        bytes
    }
}
