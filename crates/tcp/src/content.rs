//! The bytes of a stream between two offsets, or only their number.

use std::collections::VecDeque;

use bytes::Bytes;
use headway_sansio::Payload;

/// A contiguous part of a byte stream.
///
/// Bytes of no further interest cost one entry however many they are, so a bulk
/// source of gigabytes needs no buffer.
#[derive(Debug, Default)]
pub(crate) struct Content {
    start: u64,
    end: u64,
    pieces: VecDeque<(u64, Piece)>,
}

#[derive(Debug, Clone)]
enum Piece {
    Sized(u64),
    Bytes(Bytes),
}

impl Piece {
    fn len(&self) -> u64 {
        match self {
            Self::Sized(n) => *n,
            Self::Bytes(b) => b.len() as u64,
        }
    }
}

impl Content {
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Appends at the end.
    pub(crate) fn push(&mut self, payload: Payload) {
        let at = self.end;
        self.end += payload.len() as u64;
        match payload {
            Payload::Sized(0) => {}
            Payload::Sized(n) => {
                if let Some((_, Piece::Sized(last))) = self.pieces.back_mut() {
                    *last += u64::from(n);
                } else {
                    self.pieces.push_back((at, Piece::Sized(u64::from(n))));
                }
            }
            Payload::Bytes(b) if b.is_empty() => {}
            Payload::Bytes(b) => self.pieces.push_back((at, Piece::Bytes(b))),
        }
    }

    /// Forgets everything below `offset`.
    pub(crate) fn drop_below(&mut self, offset: u64) {
        self.start = offset.clamp(self.start, self.end);
        while let Some((at, piece)) = self.pieces.front_mut() {
            let end = *at + piece.len();
            if end > offset {
                if let Piece::Sized(n) = piece
                    && *at < offset
                {
                    *n = end - offset;
                    *at = offset;
                }
                return;
            }
            self.pieces.pop_front();
        }
    }

    /// `len` bytes from `offset`, which must lie within.
    pub(crate) fn slice(&self, offset: u64, len: u32) -> Payload {
        debug_assert!(offset >= self.start && offset + u64::from(len) <= self.end);
        if let Some((at, Piece::Sized(n))) = self.pieces.front()
            && offset + u64::from(len) <= at + n
        {
            return Payload::Sized(len);
        }
        let mut wanted = offset..offset + u64::from(len);
        let first = self
            .pieces
            .partition_point(|(at, piece)| at + piece.len() <= offset);
        let mut parts = smallvec::SmallVec::<[Payload; 4]>::new();
        for (at, piece) in self.pieces.range(first..) {
            if wanted.is_empty() {
                break;
            }
            let take = (at + piece.len()).min(wanted.end) - wanted.start;
            parts.push(match piece {
                Piece::Sized(_) => Payload::Sized(take as u32),
                Piece::Bytes(b) => {
                    let from = (wanted.start - at) as usize;
                    Payload::Bytes(b.slice(from..from + take as usize))
                }
            });
            wanted.start += take;
        }
        match parts.len() {
            1 => parts.swap_remove(0),
            _ => Payload::concat(parts.iter()),
        }
    }

    /// Takes up to `max` bytes off the front: all of them where only their
    /// number is known, else the rest of the first piece.
    pub(crate) fn take(&mut self, max: usize) -> Payload {
        let Some((at, piece)) = self.pieces.front_mut() else {
            return Payload::Sized(0);
        };
        let n = piece.len().min(max as u64).min(u64::from(u32::MAX));
        let taken = match piece {
            Piece::Sized(_) => Payload::Sized(n as u32),
            Piece::Bytes(b) => Payload::Bytes(b.slice(..n as usize)),
        };
        self.start += n;
        if n == piece.len() {
            self.pieces.pop_front();
        } else {
            *at += n;
            match piece {
                Piece::Sized(left) => *left -= n,
                Piece::Bytes(b) => *b = b.slice(n as usize..),
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_across_pieces_and_kinds() {
        let mut content = Content::default();
        content.push(Payload::from(b"abcd".to_vec()));
        content.push(Payload::from(b"efgh".to_vec()));
        assert_eq!(content.slice(2, 4), Payload::from(b"cdef".to_vec()));
        content.drop_below(3);
        assert_eq!(content.slice(3, 5), Payload::from(b"defgh".to_vec()));
        content.push(Payload::Sized(10));
        content.push(Payload::Sized(10));
        assert_eq!(content.slice(6, 4), Payload::Sized(4));
        assert_eq!(content.slice(12, 16), Payload::Sized(16));
        assert_eq!((content.start(), content.end()), (3, 28));
    }

    #[test]
    fn what_is_taken_comes_in_order() {
        let mut content = Content::default();
        content.push(Payload::from(b"abcd".to_vec()));
        content.push(Payload::Sized(6));
        assert_eq!(content.take(3), Payload::from(b"abc".to_vec()));
        assert_eq!(content.take(3), Payload::from(b"d".to_vec()));
        assert_eq!(content.take(4), Payload::Sized(4));
        assert_eq!(content.take(usize::MAX), Payload::Sized(2));
        assert!(content.take(1).is_empty() && content.len() == 0);
    }
}
