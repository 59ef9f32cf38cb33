//! Sums over the messages of a run, and the rows that a study may ask for.

use headway_sansio::{Duration, Time};

use super::Parts;

/// One delivered message, as a row of the samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRow {
    /// The application's number for the message.
    pub id: u64,
    /// Its size in bytes.
    pub size_bytes: u32,
    /// When it was handed over.
    pub handed_over: Time,
    /// From handing over until delivery, measured on its own and not as a sum.
    pub delay: Duration,
    /// Its delay in four parts.
    pub parts: Parts,
    /// How often pieces of it were put on the wire.
    pub transmissions: u32,
    /// Whether a first transmission of any piece was lost.
    pub lost_first: bool,
}

/// What all messages of one direction, or of a run, add up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Messages handed over.
    pub handed_over: u64,
    /// Their bytes.
    pub handed_over_bytes: u64,
    /// Messages delivered.
    pub delivered: u64,
    /// Messages that waited for others.
    pub hol_blocked: u64,
    /// First transmissions of chunks.
    pub first_transmissions: u64,
    /// Later transmissions of chunks.
    pub retransmissions: u64,
    /// Retransmissions although an earlier copy was not lost.
    pub needless_retransmissions: u64,
    /// Transmissions of chunks that were lost, in a queue or on the wire.
    pub lost_chunks: u64,
    /// Sums over the delivered messages, in nanoseconds.
    pub sums: PartSums,
}

/// Sums of delay parts in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartSums {
    /// Sum of [`Parts::sender_wait`].
    pub sender_wait: u128,
    /// Sum of [`Parts::network`].
    pub network: u128,
    /// Sum of [`Parts::recovery`].
    pub recovery: u128,
    /// Sum of [`Parts::hol_blocking`].
    pub hol_blocking: u128,
}

impl PartSums {
    fn add(&mut self, parts: &Parts) {
        let nanos = |d: Duration| u128::from(d.as_nanos());
        self.sender_wait += nanos(parts.sender_wait);
        self.network += nanos(parts.network);
        self.recovery += nanos(parts.recovery);
        self.hol_blocking += nanos(parts.hol_blocking);
    }

    /// The sum of all delays.
    #[must_use]
    pub fn delay(&self) -> u128 {
        self.sender_wait + self.network + self.recovery + self.hol_blocking
    }
}

impl Totals {
    pub(super) fn count_delivered(&mut self, parts: &Parts) {
        self.delivered += 1;
        self.hol_blocked += u64::from(!parts.hol_blocking.is_zero());
        self.sums.add(parts);
    }

    /// Adds those of another direction.
    pub fn merge(&mut self, other: &Self) {
        self.handed_over += other.handed_over;
        self.handed_over_bytes += other.handed_over_bytes;
        self.delivered += other.delivered;
        self.hol_blocked += other.hol_blocked;
        self.first_transmissions += other.first_transmissions;
        self.retransmissions += other.retransmissions;
        self.needless_retransmissions += other.needless_retransmissions;
        self.lost_chunks += other.lost_chunks;
        self.sums.sender_wait += other.sums.sender_wait;
        self.sums.network += other.sums.network;
        self.sums.recovery += other.sums.recovery;
        self.sums.hol_blocking += other.sums.hol_blocking;
    }
}
