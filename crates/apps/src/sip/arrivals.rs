//! When new calls begin.

use headway_sansio::{Duration, RandomStream, Time};

/// The process of new calls.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    random: RandomStream,
    law: Law,
    duration: Duration,
    end: Time,
    next: Option<Time>,
}

/// What decides when the next call begins.
#[derive(Clone, Debug)]
pub(super) enum Law {
    /// A Poisson process, whatever became of the calls before.
    Poisson { mean_gap: Duration },
    /// So many calls more, each one a pause after the one before ended; the
    /// pause is one of these, at random.
    OneByOne { left: u32, pauses: Vec<Duration> },
}

impl Arrivals {
    /// New calls for `duration` from the start.
    pub(super) fn new(law: Law, duration: Duration, random: RandomStream) -> Self {
        Self {
            random,
            law,
            duration,
            end: Time::ZERO,
            next: None,
        }
    }

    pub(super) fn start(&mut self, now: Time) {
        self.end = now + self.duration;
        match self.law {
            Law::Poisson { .. } => self.schedule_after(now),
            Law::OneByOne { .. } => self.schedule(now),
        }
    }

    /// When the next call begins, where that is known.
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// No more calls begin.
    pub(super) fn stop(&mut self) {
        self.end = Time::ZERO;
        self.next = None;
    }

    /// Whether a call begins now; each is told once.
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        let Some(at) = self.next.filter(|at| *at <= now) else {
            return false;
        };
        self.next = None;
        if let Law::Poisson { .. } = self.law {
            self.schedule_after(at);
        }
        true
    }

    /// A call ended.
    pub(super) fn call_ended(&mut self, now: Time) {
        if let Law::OneByOne { pauses, .. } = &self.law {
            let pick = self.random.below(pauses.len() as u64) as usize;
            let pause = pauses.get(pick).copied().unwrap_or(Duration::ZERO);
            self.schedule(now + pause);
        }
    }

    fn schedule_after(&mut self, time: Time) {
        if let Law::Poisson { mean_gap } = self.law {
            let gap = self.random.exponential_duration(mean_gap);
            self.schedule(time + gap);
        }
    }

    fn schedule(&mut self, at: Time) {
        if at >= self.end {
            return;
        }
        if let Law::OneByOne { left, .. } = &mut self.law {
            let Some(rest) = left.checked_sub(1) else {
                return;
            };
            *left = rest;
        }
        self.next = Some(at);
    }
}
