//! One direction of a path: a queue, then a wire.

use headway_sansio::{Chance, Duration, RandomStream, Seed, Time};

use crate::config::LinkConfig;
use crate::counters::LinkCounters;
use crate::loss::Loss;
use crate::queue::Queue;

/// One direction between two nodes.
///
/// Offering a packet settles its fate at once, so nothing here needs a timer.
/// The rules:
///
/// * A packet is serialised when all before it have been, at the link's rate,
///   rounded up to a whole nanosecond; then it propagates. Without reordering no
///   packet overtakes another.
/// * The queue decides first. What it refuses takes no time on the link.
/// * A packet lost on the wire was queued and serialised like any other.
/// * Each element draws from its own stream of the link's seed ("loss",
///   "queue", "reorder", "duplicate"), a fixed number of times for each packet
///   offered, so that a change in one element shifts no draw in another.
#[derive(Clone, Debug)]
pub struct Link {
    delay: Duration,
    server: Option<Server>,
    queue: Queue,
    loss: Loss,
    reorder: Option<Reorder>,
    duplicate: Option<Duplicate>,
    counters: LinkCounters,
}

#[derive(Clone, Debug)]
struct Server {
    rate_bps: u64,
    free_at: Time,
}

#[derive(Clone, Debug)]
struct Reorder {
    chance: Chance,
    extra: Duration,
    stream: RandomStream,
}

#[derive(Clone, Debug)]
struct Duplicate {
    chance: Chance,
    stream: RandomStream,
}

/// What becomes of an offered packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The packet's own fate.
    pub verdict: Verdict,
    /// When a copy of it arrives, if one was made; never before the packet.
    pub duplicate: Option<Time>,
}

/// A packet's fate on one link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It reaches the other end.
    Delivered {
        /// When its last bit has arrived.
        at: Time,
    },
    /// It does not.
    Dropped {
        /// What took it.
        cause: DropCause,
        /// When it would have arrived otherwise; for a packet that the queue
        /// refused, as if the queue had taken it.
        would_arrive: Time,
    },
}

/// What took a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DropCause {
    /// It was lost on the wire.
    Loss,
    /// The queue refused it.
    Queue,
}

impl Verdict {
    /// When the packet arrives or would have.
    #[must_use]
    pub const fn would_arrive(self) -> Time {
        match self {
            Self::Delivered { at } => at,
            Self::Dropped { would_arrive, .. } => would_arrive,
        }
    }
}

impl Server {
    #[inline]
    fn departure(&self, now: Time, size_bytes: u32) -> Time {
        let start = self.free_at.max(now);
        start + Duration::of_transmission(u64::from(size_bytes), self.rate_bps)
    }
}

impl Link {
    /// A link of these settings, which draws from streams of `seed`.
    ///
    /// The settings are taken as they are; see [`LinkConfig::validate`].
    #[must_use]
    pub fn new(config: &LinkConfig, seed: Seed) -> Self {
        let reorder = Chance::new(config.reorder.probability);
        let duplicate = Chance::new(config.duplicate.probability);
        Self {
            delay: Duration::from_nanos(config.one_way_delay_ns),
            server: config.rate_bps.map(|rate_bps| Server {
                rate_bps,
                free_at: Time::ZERO,
            }),
            queue: Queue::new(config, seed),
            loss: Loss::new(&config.loss, seed),
            reorder: (reorder != Chance::NEVER).then(|| Reorder {
                chance: reorder,
                extra: Duration::from_nanos(config.reorder.extra_delay_ns),
                stream: seed.stream("reorder"),
            }),
            duplicate: (duplicate != Chance::NEVER).then(|| Duplicate {
                chance: duplicate,
                stream: seed.stream("duplicate"),
            }),
            counters: LinkCounters::default(),
        }
    }

    /// Sends a packet of `size_bytes` down the link at `now`, which must not
    /// decrease from one call to the next.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, size_bytes: u32) -> Offer {
        let lost = self.loss.next();
        let held_back = match &mut self.reorder {
            Some(r) => r.stream.happens(r.chance).then_some(r.extra),
            None => None,
        };
        let copied = match &mut self.duplicate {
            Some(d) => d.stream.happens(d.chance),
            None => false,
        };
        self.queue.expire(now);
        let admitted = self.queue.admits(size_bytes);

        let departs = match &self.server {
            Some(server) => server.departure(now, size_bytes),
            None => now,
        };
        let on_time = departs + self.delay;
        let at = on_time + held_back.unwrap_or(Duration::ZERO);

        let counters = &mut self.counters;
        counters.packets_offered += 1;
        counters.bytes_offered += u64::from(size_bytes);
        if !admitted {
            counters.packets_lost_queue += 1;
            return Offer::dropped(DropCause::Queue, at);
        }
        counters.packets_held_back += u64::from(held_back.is_some());
        if let Some(server) = &mut self.server {
            server.free_at = departs;
        }
        if self.queue.push(size_bytes, departs, on_time) {
            counters.queue_max_pkts = counters.queue_max_pkts.max(self.queue.packets());
            counters.queue_max_bytes = counters.queue_max_bytes.max(self.queue.bytes());
        }
        if lost {
            counters.packets_lost_wire += 1;
            return Offer::dropped(DropCause::Loss, at);
        }
        counters.packets_delivered += 1;
        counters.bytes_delivered += u64::from(size_bytes);
        counters.packets_duplicated += u64::from(copied);
        Offer {
            verdict: Verdict::Delivered { at },
            duplicate: copied.then_some(at),
        }
    }

    /// When a packet offered at `now` would arrive if nothing took it or held
    /// it back. Takes no place and draws nothing: it follows the ghost of a
    /// packet that was dropped earlier on its way.
    #[must_use]
    pub fn peek(&self, now: Time, size_bytes: u32) -> Time {
        let departs = match &self.server {
            Some(server) => server.departure(now, size_bytes),
            None => now,
        };
        departs + self.delay
    }

    /// Packets in the queue at `now`, as the queue counts them (see
    /// [`LinkCounters::queue_max_pkts`]).
    pub fn queue_packets(&mut self, now: Time) -> u32 {
        self.queue.expire(now);
        self.queue.packets()
    }

    /// Totals so far.
    #[must_use]
    pub const fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// Propagation delay.
    #[must_use]
    pub const fn delay(&self) -> Duration {
        self.delay
    }
}

impl Offer {
    #[inline]
    const fn dropped(cause: DropCause, would_arrive: Time) -> Self {
        Self {
            verdict: Verdict::Dropped {
                cause,
                would_arrive,
            },
            duplicate: None,
        }
    }
}

#[cfg(test)]
mod tests;
