//! Message bytes, or only their number.

use bytes::{Bytes, BytesMut};

/// The content of a message or of a piece of one.
///
/// In virtual time mostly the length matters, and carrying nothing but the
/// length keeps the simulator fast. On a real network, and where a study asks
/// for full content, the bytes travel. Every transport treats the two alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Payload {
    /// So many bytes of no further interest.
    Sized(u32),
    /// These bytes.
    Bytes(Bytes),
}

impl Payload {
    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Sized(n) => *n as usize,
            Self::Bytes(b) => b.len(),
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, where they travel.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Sized(_) => None,
            Self::Bytes(b) => Some(b),
        }
    }

    /// Takes the first `n` bytes off, without copying.
    ///
    /// # Panics
    /// Where `n` is longer than the payload: the caller miscounted.
    #[must_use]
    pub fn split_to(&mut self, n: usize) -> Self {
        match self {
            Self::Sized(len) => {
                let head = u32::try_from(n).expect("a payload is shorter than 4 GiB");
                *len = len.checked_sub(head).expect("split within the payload");
                Self::Sized(head)
            }
            Self::Bytes(b) => Self::Bytes(b.split_to(n)),
        }
    }

    /// Puts pieces together. Bytes are copied once; where any piece is only
    /// sized the whole is only sized.
    pub fn concat<'a>(pieces: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let total: usize = pieces.clone().map(Self::len).sum();
        if pieces.clone().any(|p| matches!(p, Self::Sized(_))) {
            return Self::Sized(u32::try_from(total).unwrap_or(u32::MAX));
        }
        let mut whole = BytesMut::with_capacity(total);
        for piece in pieces {
            if let Self::Bytes(b) = piece {
                whole.extend_from_slice(b);
            }
        }
        Self::Bytes(whole.freeze())
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<&'static [u8]> for Payload {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Bytes(Bytes::from_static(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_split_and_join_alike() {
        for mut whole in [Payload::Sized(10), Payload::from(b"0123456789".to_vec())] {
            let before = whole.clone();
            let head = whole.split_to(4);
            assert_eq!((head.len(), whole.len()), (4, 6));
            assert_eq!(Payload::concat([&head, &whole].into_iter()), before);
        }
    }
}
