//! Takes numbers off a part of the datagram, checking each length.

use bytes::Bytes;

use super::ParseError;

/// The part of a datagram that is not read yet. Only [`Reader::rest`] and
/// [`Reader::bytes`] touch the datagram's reference count.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    datagram: &'a Bytes,
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(datagram: &'a Bytes) -> Self {
        Self {
            datagram,
            at: 0,
            end: datagram.len(),
        }
    }

    pub(super) const fn remaining(&self) -> usize {
        self.end - self.at
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.at == self.end
    }

    /// A reader of the next `length` bytes, which this one passes over.
    pub(super) fn part(&mut self, length: usize) -> Result<Self, ParseError> {
        if length > self.remaining() {
            return Err(ParseError::Truncated);
        }
        let part = Self {
            end: self.at + length,
            ..*self
        };
        self.at += length;
        Ok(part)
    }

    /// The next `length` bytes, sharing the datagram's memory.
    pub(super) fn bytes(&mut self, length: usize) -> Result<Bytes, ParseError> {
        Ok(self.part(length)?.rest())
    }

    pub(super) fn u8(&mut self) -> Result<u8, ParseError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, ParseError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, ParseError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// All that is left, sharing the datagram's memory.
    pub(super) fn rest(self) -> Bytes {
        self.datagram.slice(self.at..self.end)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ParseError> {
        let unread = &self.datagram[self.at..self.end];
        let array = *unread.first_chunk().ok_or(ParseError::Truncated)?;
        self.at += N;
        Ok(array)
    }
}
