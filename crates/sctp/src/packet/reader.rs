//! Takes numbers off a slice of the datagram, checking each length.

use bytes::Bytes;

use super::ParseError;

/// The part of a datagram that is not read yet.
#[derive(Clone)]
pub(super) struct Reader(Bytes);

impl Reader {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    pub(super) fn remaining(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, length: usize) -> Result<Bytes, ParseError> {
        if length > self.0.len() {
            return Err(ParseError::Truncated);
        }
        Ok(self.0.split_to(length))
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

    pub(super) fn rest(self) -> Bytes {
        self.0
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ParseError> {
        let mut array = [0; N];
        array.copy_from_slice(self.0.get(..N).ok_or(ParseError::Truncated)?);
        bytes::Buf::advance(&mut self.0, N);
        Ok(array)
    }
}
