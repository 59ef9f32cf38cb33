//! What a cell takes in and hands out, and what it counts.

use headway_sansio::{Datagram, Duration, Time};

/// A station of a cell, by its index in the settings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Station(pub u16);

/// A datagram that a station is to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input<B> {
    /// Who sends it.
    pub from: Station,
    /// Who is to receive the frame.
    pub to: Station,
    /// What it carries.
    pub datagram: Datagram<B>,
}

/// What became of a datagram: each comes out exactly once.
#[derive(Clone, PartialEq, Debug)]
pub enum Output<B> {
    /// It has come out at its receiver.
    Delivered {
        /// Who sent it.
        from: Station,
        /// Where it comes out.
        to: Station,
        /// The datagram.
        datagram: Datagram<B>,
        /// What it went through.
        journey: Journey,
    },
    /// It never will.
    Dropped {
        /// Who was to send it.
        from: Station,
        /// Who was to receive it.
        to: Station,
        /// The datagram.
        datagram: Datagram<B>,
        /// What took it.
        cause: FrameDrop,
        /// What it went through.
        journey: Journey,
    },
}

/// Why a datagram does not come out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FrameDrop {
    /// The sender's queue was full.
    QueueFull,
    /// As many tries failed as the retry limit allows.
    RetryLimit,
    /// The receiver took it for a repetition: it had the sequence number of the
    /// last frame that the receiver had from this sender, 4096 frames before,
    /// and the retry bit (IEEE 802.11-1999, section 9.2.9).
    TakenForDuplicate,
    /// There is no such station, or it is the sender itself.
    NoSuchStation,
}

/// The way of one datagram through the cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Journey {
    /// The station was given it.
    pub handed: Time,
    /// It was first in the station's queue.
    pub head: Time,
    /// The data frame of its first try ended: when it would have arrived had
    /// that try succeeded.
    pub first_try_end: Time,
    /// The last of it has arrived; of a dropped one, the data frame of its last
    /// try ended, or the queue refused it.
    pub end: Time,
    /// When it has arrived or would have, had nothing been lost; retries of the
    /// link count as part of the network. So this is `end`, also for a frame
    /// given up. For one that the queue refused it is the time at which it
    /// would have arrived had the queue taken it and each frame needed one try
    /// without contention: nobody can know better at that moment.
    pub would_arrive: Time,
    /// Tries begun so far, collided ones and those that ended with the RTS included.
    pub tries: u32,
    /// The SNR that the receiver's card reports for the frame that arrived;
    /// infinite where none was set, NaN where nothing arrived.
    pub snr_db: f64,
}

impl Journey {
    /// Wait for datagrams handed over before.
    #[must_use]
    pub const fn queue_wait(&self) -> Duration {
        self.head.since(self.handed)
    }

    /// From the head of the queue to the end: medium access, air time, retries.
    #[must_use]
    pub const fn access_and_air(&self) -> Duration {
        self.end.since(self.head)
    }

    /// The part of it that the tries after the first took.
    #[must_use]
    pub const fn retry_time(&self) -> Duration {
        self.end.since(self.first_try_end)
    }
}

/// Totals of one station since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StationCounters {
    /// Datagrams handed over, those of its own source not counted.
    pub offered: u64,
    /// Of these, delivered.
    pub delivered: u64,
    /// Of these, refused by the queue (or addressed to no station).
    pub dropped_queue: u64,
    /// Of these, given up at the retry limit or taken for duplicates.
    pub dropped_retry: u64,
    /// The same four for the station's own source.
    pub source: SourceCounters,
    /// Bytes of IP datagrams delivered, from both.
    pub delivered_bytes: u64,
    /// Tries begun: an RTS, or a data frame without one.
    pub tries: u64,
    /// Tries that were not the first of their frame.
    pub retries: u64,
    /// RTS frames among the tries.
    pub rts: u64,
    /// RTS or data frames lost because another frame was on the air at the receiver.
    pub collisions: u64,
    /// RTS or data frames lost by the channel.
    pub channel_errors: u64,
    /// Data frames that arrived while their ACK did not, and RTS without CTS likewise.
    pub answers_lost: u64,
    /// Frames that arrived but were given up for want of an ACK.
    pub delivered_unacknowledged: u64,
    /// Repeated data frames that this station filtered as a receiver.
    pub duplicates: u64,
    /// Time on the air with frames of any kind.
    pub air: Duration,
}

/// Totals of a station's own source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceCounters {
    /// Datagrams made. Those of a saturated source count when the station
    /// begins with them.
    pub offered: u64,
    /// Delivered.
    pub delivered: u64,
    /// Refused by the queue.
    pub dropped_queue: u64,
    /// Given up at the retry limit.
    pub dropped_retry: u64,
}
