//! Sequence numbers as types of their own: they wrap, and cannot be mixed up.

use core::fmt;

/// Transmission sequence number of a DATA chunk (RFC 9260, section 3.3.1).
///
/// Compared by serial number arithmetic (RFC 9260, section 1.6): there is no
/// total order, so there is no `Ord`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tsn(pub u32);

/// Stream sequence number of an ordered message (RFC 9260, section 6.5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ssn(pub u16);

/// Message identifier of I-DATA (RFC 8260, section 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Mid(pub u32);

impl Tsn {
    /// The number after this one; zero follows `2^32 - 1`.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// The number before this one.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.wrapping_sub(1))
    }

    /// The number `n` places on.
    #[must_use]
    pub const fn plus(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }

    /// How many places this lies after `earlier`, modulo `2^32`.
    #[must_use]
    pub const fn distance_from(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Whether this lies before `other` on the circle.
    #[must_use]
    pub const fn precedes(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }
}

impl Ssn {
    /// The number after this one; zero follows `2^16 - 1`.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Whether this lies before `other` on the circle.
    #[must_use]
    pub const fn precedes(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i16) < 0
    }
}

impl Mid {
    /// The number after this one; zero follows `2^32 - 1`.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Whether this lies before `other` on the circle.
    #[must_use]
    pub const fn precedes(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }
}

impl fmt::Debug for Mid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mid {}", self.0)
    }
}

impl fmt::Debug for Tsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tsn {}", self.0)
    }
}

impl fmt::Debug for Ssn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ssn {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        let last = Tsn(u32::MAX);
        assert_eq!(last.next(), Tsn(0));
        assert!(last.precedes(Tsn(0)) && !Tsn(0).precedes(last));
        assert!(!last.precedes(last));
        assert_eq!(Tsn(4).distance_from(Tsn(u32::MAX - 1)), 6);
        assert_eq!(Tsn(0).previous(), last);
        assert!(Ssn(65_535).precedes(Ssn(2)) && !Ssn(2).precedes(Ssn(65_535)));
        assert_eq!(Ssn(65_535).next(), Ssn(0));
    }
}
