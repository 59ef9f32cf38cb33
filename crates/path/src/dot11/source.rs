//! The queue of one station, and the traffic that it makes by itself.
//!
//! Arrivals of a built-in source have no events of their own while the station
//! has something to do: a queue only shortens when a datagram is taken from it,
//! so it is enough to add what has come since, then.

use std::collections::VecDeque;

use headway_sansio::{Datagram, RandomStream};

use super::config::SourceConfig;
use super::record::SourceCounters;
use super::{NEVER, config::StationConfig};

/// A datagram that waits, or one of the source, which is nothing but its length.
pub(super) struct Waiting<B> {
    pub(super) handed: u64,
    pub(super) to: u16,
    pub(super) size_bytes: u32,
    pub(super) datagram: Option<Datagram<B>>,
}

/// First in, first out, with a limit.
pub(super) struct Queue<B> {
    waiting: VecDeque<Waiting<B>>,
    limit: usize,
    source: Option<Source>,
    /// Sum of the bytes that wait, for estimates.
    bytes: u64,
}

struct Source {
    to: u16,
    size_bytes: u32,
    /// `None`: saturated.
    interval: Option<u64>,
    next: u64,
}

impl<B> Queue<B> {
    pub(super) fn new(config: &StationConfig, mut stream: RandomStream) -> Self {
        let source = config.source.as_ref().map(|source| match *source {
            SourceConfig::Cbr {
                to,
                size_bytes,
                interval_ns,
                start_ns,
            } => Source {
                to,
                size_bytes,
                interval: Some(interval_ns),
                next: start_ns.unwrap_or_else(|| stream.below(interval_ns)),
            },
            SourceConfig::Saturated { to, size_bytes } => Source {
                to,
                size_bytes,
                interval: None,
                next: 0,
            },
        });
        Self {
            waiting: VecDeque::new(),
            limit: config.queue_pkts.map_or(usize::MAX, |limit| limit as usize),
            source,
            bytes: 0,
        }
    }

    /// Adds what the source has made up to `now`.
    fn catch_up(&mut self, now: u64, counters: &mut SourceCounters) {
        let Some(source) = &mut self.source else {
            return;
        };
        let Some(interval) = source.interval else {
            return;
        };
        while source.next <= now {
            if self.waiting.len() >= self.limit {
                let refused = (now - source.next) / interval + 1;
                counters.offered += refused;
                counters.dropped_queue += refused;
                source.next += refused * interval;
                return;
            }
            counters.offered += 1;
            self.bytes += u64::from(source.size_bytes);
            self.waiting.push_back(Waiting {
                handed: source.next,
                to: source.to,
                size_bytes: source.size_bytes,
                datagram: None,
            });
            source.next += interval;
        }
    }

    /// Puts a datagram at the end, or gives it back where the queue is full.
    pub(super) fn push(
        &mut self,
        waiting: Waiting<B>,
        counters: &mut SourceCounters,
    ) -> Result<(), Waiting<B>> {
        self.catch_up(waiting.handed, counters);
        if self.waiting.len() >= self.limit {
            return Err(waiting);
        }
        self.bytes += u64::from(waiting.size_bytes);
        self.waiting.push_back(waiting);
        Ok(())
    }

    /// Takes the first, at `now`.
    pub(super) fn pop(&mut self, now: u64, counters: &mut SourceCounters) -> Option<Waiting<B>> {
        self.catch_up(now, counters);
        if let Some(first) = self.waiting.pop_front() {
            self.bytes -= u64::from(first.size_bytes);
            return Some(first);
        }
        // A queue that holds nothing can only be that of an idle station; its
        // limit is of those that wait, so the source may still hand one over.
        let source = self.source.as_ref().filter(|s| s.interval.is_none())?;
        counters.offered += 1;
        Some(Waiting {
            handed: now,
            to: source.to,
            size_bytes: source.size_bytes,
            datagram: None,
        })
    }

    /// When an idle station is next given something by its source.
    pub(super) fn next_arrival(&self) -> u64 {
        self.source.as_ref().map_or(NEVER, |source| source.next)
    }

    /// What comes at `now` to an idle station: past the queue, whatever its
    /// limit, because nothing is being sent.
    pub(super) fn arrival(
        &mut self,
        now: u64,
        counters: &mut SourceCounters,
    ) -> Option<Waiting<B>> {
        let source = self.source.as_mut().filter(|s| s.next <= now)?;
        counters.offered += 1;
        let handed = source.next;
        source.next += source.interval.unwrap_or(0);
        Some(Waiting {
            handed,
            to: source.to,
            size_bytes: source.size_bytes,
            datagram: None,
        })
    }

    /// Datagrams waiting, without what a source may have made meanwhile.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}
