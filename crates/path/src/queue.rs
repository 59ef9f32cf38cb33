//! What holds packets before the wire, and when it refuses one.

use std::collections::VecDeque;

use headway_sansio::{Chance, RandomStream, Seed, Time};

use crate::config::{DrdAbove, DrdReading, LinkConfig, QueueConfig};

/// The probability at the second threshold of derivative random drop.
const DRD_AT_MAX: f64 = 0.95;

/// Packets held, in the order in which they leave, and the rule of refusal.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    discipline: Discipline,
    /// When each packet stops counting, and its bytes. Leaving times never
    /// decrease, because links are first in, first out.
    held: VecDeque<(Time, u32)>,
    held_bytes: u64,
    counts: Counts,
    stream: RandomStream,
}

/// Until when a packet counts as held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counts {
    /// Nothing ever waits: no rate, and no delay line that counts.
    Never,
    /// Until it has been serialised.
    UntilSerialised,
    /// Until it has arrived.
    UntilArrived,
}

#[derive(Clone, Debug)]
enum Discipline {
    Unlimited,
    Packets {
        limit: usize,
    },
    /// Refuses where the bytes held, plus the packet's own where `own` is set,
    /// exceed the limit.
    Bytes {
        limit: u64,
        own: bool,
    },
    Drd {
        min: u32,
        max: u32,
        /// Probability above `max`.
        above: f64,
    },
}

impl Queue {
    pub(crate) fn new(config: &LinkConfig, seed: Seed) -> Self {
        let discipline = match config.queue {
            QueueConfig::Unlimited {} => Discipline::Unlimited,
            QueueConfig::DropTailPackets { limit_pkts } => Discipline::Packets {
                limit: limit_pkts as usize,
            },
            QueueConfig::DropTailBytes {
                limit_bytes,
                overshoot,
            } => Discipline::Bytes {
                limit: limit_bytes,
                own: !overshoot,
            },
            QueueConfig::Drd {
                min_pkts,
                max_pkts,
                above,
                ..
            } => Discipline::Drd {
                min: min_pkts,
                max: max_pkts,
                above: match above {
                    DrdAbove::All => 1.0,
                    DrdAbove::Same => DRD_AT_MAX,
                },
            },
        };
        let counts = match config.queue {
            QueueConfig::Drd {
                reading: DrdReading::DelayLine,
                ..
            } => Counts::UntilArrived,
            _ if config.rate_bps.is_some() => Counts::UntilSerialised,
            _ => Counts::Never,
        };
        Self {
            discipline,
            held: VecDeque::new(),
            held_bytes: 0,
            counts,
            stream: seed.stream("queue"),
        }
    }

    /// Forgets the packets that no longer count. A packet that leaves at `now`
    /// has left.
    #[inline]
    pub(crate) fn expire(&mut self, now: Time) {
        while let Some(&(leaves, bytes)) = self.held.front()
            && leaves <= now
        {
            self.held.pop_front();
            self.held_bytes -= u64::from(bytes);
        }
    }

    /// Whether a packet of this size is taken. Derivative random drop draws
    /// exactly once for each packet, also where nothing can be dropped.
    #[inline]
    pub(crate) fn admits(&mut self, size_bytes: u32) -> bool {
        match &self.discipline {
            Discipline::Unlimited => true,
            Discipline::Packets { limit } => self.held.len() < *limit,
            Discipline::Bytes { limit, own } => {
                let own = if *own { u64::from(size_bytes) } else { 0 };
                self.held_bytes + own <= *limit
            }
            Discipline::Drd { min, max, above } => {
                let found = self.held.len() as u32;
                let p = if found > *max {
                    *above
                } else {
                    drd_probability(*min, *max, found)
                };
                !self.stream.happens(Chance::new(p))
            }
        }
    }

    /// Holds a packet until it has been serialised or has arrived; whether it
    /// counts as held at all is the answer.
    #[inline]
    pub(crate) fn push(&mut self, size_bytes: u32, serialised: Time, arrived: Time) -> bool {
        let leaves = match self.counts {
            Counts::Never => return false,
            Counts::UntilSerialised => serialised,
            Counts::UntilArrived => arrived,
        };
        self.held.push_back((leaves, size_bytes));
        self.held_bytes += u64::from(size_bytes);
        true
    }

    /// Packets held.
    #[inline]
    pub(crate) fn packets(&self) -> u32 {
        // More than 2^32 packets do not fit memory.
        self.held.len() as u32
    }

    /// Bytes held.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.held_bytes
    }
}

/// Drop probability of a packet that finds `held` packets, `held` at most
/// `max`: 0 up to `min`, then linear to 0.95 at `max`.
fn drd_probability(min: u32, max: u32, held: u32) -> f64 {
    DRD_AT_MAX * f64::from(held.saturating_sub(min)) / f64::from(max - min)
}

#[cfg(test)]
mod tests;
