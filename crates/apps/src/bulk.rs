//! A file transfer that always has something to send.

use headway_sansio::Payload;

/// The writing side of a bulk transfer: it fills whatever room it is given, so it
/// is driven by the send buffer and not by a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BulkSource {
    /// Bytes still to be written; `None`: without end.
    left: Option<u64>,
    written: u64,
}

impl BulkSource {
    /// A transfer without end.
    #[must_use]
    pub const fn endless() -> Self {
        Self {
            left: None,
            written: 0,
        }
    }

    /// A transfer of so many bytes.
    #[must_use]
    pub const fn of(bytes: u64) -> Self {
        Self {
            left: Some(bytes),
            written: 0,
        }
    }

    /// What to write into a buffer with `room` bytes to spare; `None` where
    /// there is no room or nothing left.
    pub fn write(&mut self, room: u64) -> Option<Payload> {
        let bytes = room
            .min(self.left.unwrap_or(u64::MAX))
            .min(u64::from(u32::MAX)) as u32;
        if let Some(left) = &mut self.left {
            *left -= u64::from(bytes);
        }
        self.written += u64::from(bytes);
        (bytes > 0).then_some(Payload::Sized(bytes))
    }

    /// Bytes written so far.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Whether all is written.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        matches!(self.left, Some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_the_room_and_ends() {
        let mut source = BulkSource::of(100);
        assert_eq!(source.write(60), Some(Payload::Sized(60)));
        assert_eq!(source.write(0), None);
        assert_eq!(source.write(60), Some(Payload::Sized(40)));
        assert!(source.is_done());
        assert_eq!(source.write(60), None);
        assert_eq!(source.written(), 100);

        let mut endless = BulkSource::endless();
        assert_eq!(endless.write(u64::MAX), Some(Payload::Sized(u32::MAX)));
        assert!(!endless.is_done());
    }
}
