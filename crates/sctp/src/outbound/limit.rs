//! How far a message's reliability goes.

use headway_sansio::Time;

use crate::{Policy, Reliability};

/// A message's [`Reliability`], with the time at which a lifetime ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Limit {
    None,
    Until(Time),
    Retransmissions(u32),
    Priority(u32),
}

impl Limit {
    pub(crate) fn of(reliability: Reliability, now: Time) -> Self {
        match reliability {
            Reliability::Full => Self::None,
            Reliability::Lifetime(time) => Self::Until(now + time),
            Reliability::Retransmissions(most) => Self::Retransmissions(most),
            Reliability::Priority(priority) => Self::Priority(priority),
        }
    }

    pub(super) const fn policy(self) -> Option<Policy> {
        match self {
            Self::None => None,
            Self::Until(_) => Some(Policy::Lifetime),
            Self::Retransmissions(_) => Some(Policy::Retransmissions),
            Self::Priority(_) => Some(Policy::Priority),
        }
    }

    pub(super) const fn is_priority(self) -> bool {
        matches!(self, Self::Priority(_))
    }

    /// Whether a chunk that was sent so often may not be sent once more (RFC 3758,
    /// section 4.1, rule TR4; RFC 7496, section 3.1).
    pub(super) fn is_spent(self, now: Time, transmissions: u16) -> bool {
        match self {
            Self::None | Self::Priority(_) => false,
            Self::Until(end) => end <= now,
            Self::Retransmissions(most) => u32::from(transmissions) > most,
        }
    }

    /// Whether this message makes room for one of that limit (RFC 7496, section 3.2).
    pub(super) const fn yields_to(self, other: Self) -> bool {
        match (self, other) {
            (Self::Priority(own), Self::Priority(theirs)) => own > theirs,
            (Self::Priority(_), _) => true,
            _ => false,
        }
    }
}
