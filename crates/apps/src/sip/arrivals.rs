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
    /// One at the start and one each gap later, whatever became of the calls
    /// before.
    Even { gap: Duration },
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
            Law::Even { .. } | Law::OneByOne { .. } => self.schedule(now),
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
        self.schedule_after(at);
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

    /// The call after one at `time`, where that does not depend on its end.
    fn schedule_after(&mut self, time: Time) {
        let gap = match self.law {
            Law::Poisson { mean_gap } => self.random.exponential_duration(mean_gap),
            Law::Even { gap } => gap,
            Law::OneByOne { .. } => return,
        };
        self.schedule(time + gap);
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

#[cfg(test)]
mod tests {
    use headway_sansio::Seed;

    use super::*;

    fn times(law: Law, duration: Duration) -> Vec<Time> {
        let mut arrivals = Arrivals::new(law, duration, Seed::new(1).stream("arrivals"));
        arrivals.start(Time::from_nanos(7));
        let mut times = Vec::new();
        while let Some(at) = arrivals.next() {
            // A late look changes no later time.
            assert!(arrivals.take_due(at + Duration::from_nanos(3)));
            times.push(at);
        }
        times
    }

    #[test]
    fn even_calls_begin_at_the_start_and_each_gap_later() {
        let gap = Duration::from_millis(50);
        let times = times(Law::Even { gap }, Duration::from_secs(1));
        let expected: Vec<Time> = (0..20).map(|n| Time::from_nanos(7) + gap * n).collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn poisson_gaps_have_their_mean_and_spread() {
        let mean_gap = Duration::from_millis(50);
        let times = times(Law::Poisson { mean_gap }, Duration::from_secs(500));
        let gaps = times.windows(2).map(|pair| pair[1].since(pair[0]));
        let gaps: Vec<f64> = gaps.map(Duration::as_secs_f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        // Ten thousand gaps; both bounds are five standard errors and more.
        assert!((mean / 0.05 - 1.0).abs() < 0.05, "{mean}");
        assert!(
            (square / (2.0 * 0.05 * 0.05) - 1.0).abs() < 0.12,
            "{square}"
        );
    }
}
