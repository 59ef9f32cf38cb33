//! How messages map onto what a transport offers.

use serde::{Deserialize, Serialize};

/// The delivery that the messages of an application ask for (RFC 4168 leaves
/// the choice to SIP's implementers; seed 0 compares the first and the third).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// Everything in order on stream 0, as over TCP.
    #[default]
    Ordered,
    /// In order within each of so many streams. Contexts take the streams in
    /// turn, so that messages of one call stay in order among themselves.
    Streams(u16),
    /// As soon as a message is whole, in no order.
    Unordered,
}

impl Delivery {
    /// Stream number of the messages of `context`, and whether they ask for
    /// unordered delivery.
    #[must_use]
    pub fn map(self, context: u32) -> (u16, bool) {
        match self {
            Self::Ordered => (0, false),
            // The remainder of a division by a u16 fits one; zero streams count as one.
            Self::Streams(n) => ((context % u32::from(n.max(1))) as u16, false),
            Self::Unordered => (0, true),
        }
    }

    /// How many streams the mapping uses, at least one.
    #[must_use]
    pub fn streams(self) -> u16 {
        match self {
            Self::Streams(n) => n.max(1),
            Self::Ordered | Self::Unordered => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_map_to_streams() {
        assert_eq!(Delivery::Ordered.map(17), (0, false));
        assert_eq!(Delivery::Unordered.map(17), (0, true));
        assert_eq!(Delivery::Streams(16).map(17), (1, false));
        assert_eq!(Delivery::Streams(16).map(15), (15, false));
        assert_eq!(Delivery::Streams(0).map(15), (0, false));
        assert_eq!(Delivery::Streams(u16::MAX).map(u32::MAX), (0, false));
        assert_eq!(Delivery::Streams(16).streams(), 16);
        assert_eq!(Delivery::Unordered.streams(), 1);
    }
}
