//! The four parts of a message's delay and the identity that they sum to it.

use headway_sansio::{Duration, Time};

/// The five moments between which the parts lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moments {
    /// The application handed the message over.
    pub handed_over: Time,
    /// Its last byte was first put on the wire.
    pub last_byte_sent: Time,
    /// When all of it would have arrived had nothing been lost.
    pub would_arrive: Time,
    /// All its bytes had really arrived.
    pub all_arrived: Time,
    /// The receiving application got it.
    pub delivered: Time,
}

/// A delay in four parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// Send queue, congestion window, Nagle, pacing.
    pub sender_wait: Duration,
    /// Propagation, queueing, serialisation, link-layer retries.
    pub network: Duration,
    /// Fast retransmit and time-outs.
    pub recovery: Duration,
    /// The wait for other messages.
    pub hol_blocking: Duration,
}

impl Moments {
    /// Takes the delay apart.
    ///
    /// The moments are first put in order, each at most the next: a needless
    /// retransmission may overtake a delayed original, and the bytes are then
    /// there before the original would have been. The network was that much
    /// faster, and nothing had to be recovered.
    #[must_use]
    pub fn parts(&self) -> Parts {
        let delivered = self.delivered.max(self.handed_over);
        let all_arrived = self.all_arrived.clamp(self.handed_over, delivered);
        let would_arrive = self.would_arrive.clamp(self.handed_over, all_arrived);
        let sent = self.last_byte_sent.clamp(self.handed_over, would_arrive);
        Parts {
            sender_wait: sent.since(self.handed_over),
            network: would_arrive.since(sent),
            recovery: all_arrived.since(would_arrive),
            hol_blocking: delivered.since(all_arrived),
        }
    }
}

impl Parts {
    /// The delay that they make up.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.sender_wait + self.network + self.recovery + self.hol_blocking
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: [u64; 5]) -> Moments {
        let [
            handed_over,
            last_byte_sent,
            would_arrive,
            all_arrived,
            delivered,
        ] = ns.map(Time::from_nanos);
        Moments {
            handed_over,
            last_byte_sent,
            would_arrive,
            all_arrived,
            delivered,
        }
    }

    #[test]
    fn each_part_is_its_own_stretch() {
        let parts = at([10, 13, 33, 133, 150]).parts();
        assert_eq!(parts.sender_wait.as_nanos(), 3);
        assert_eq!(parts.network.as_nanos(), 20);
        assert_eq!(parts.recovery.as_nanos(), 100);
        assert_eq!(parts.hol_blocking.as_nanos(), 17);
    }

    #[test]
    fn an_overtaking_retransmission_leaves_nothing_to_recover() {
        let parts = at([0, 0, 90, 40, 40]).parts();
        assert_eq!(
            (parts.network.as_nanos(), parts.recovery.as_nanos()),
            (40, 0)
        );
    }

    proptest! {
        #[test]
        fn the_parts_sum_to_the_delay(start in 0u64..1_000, rest in any::<[u32; 4]>()) {
            let [a, b, c, d] = rest.map(u64::from);
            let moments = at([start, a, b, c, start + d]);
            prop_assert_eq!(moments.parts().delay().as_nanos(), d);
        }
    }
}
