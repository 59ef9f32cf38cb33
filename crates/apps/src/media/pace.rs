//! When packets are due.

use headway_sansio::{Duration, RandomStream, Time};

use super::workload::Silence;

/// The times at which a source sends, and whether each packet is a real one or
/// only keeps the window open.
#[derive(Clone, Debug)]
pub struct Pace {
    law: Law,
    random: RandomStream,
    duration: Duration,
    end: Time,
    next: Option<Time>,
    filler: bool,
}

#[derive(Clone, Debug)]
enum Law {
    /// The first at random within one gap, so that sources are not in step.
    Regular { gap: Duration },
    /// Gaps of exponential length.
    Exponential { mean: Duration },
    /// Regular within talk spurts.
    Pauses {
        gap: Duration,
        silence: Silence,
        /// When the talk spurt or the silence ends.
        until: Time,
        talking: bool,
    },
}

impl Pace {
    /// A packet every `gap`, for `duration`.
    #[must_use]
    pub fn regular(gap: Duration, duration: Duration, random: RandomStream) -> Self {
        Self::new(Law::Regular { gap }, duration, random)
    }

    /// Packets with exponential gaps of this mean, for `duration`: a Poisson
    /// process.
    #[must_use]
    pub fn exponential(mean: Duration, duration: Duration, random: RandomStream) -> Self {
        Self::new(Law::Exponential { mean }, duration, random)
    }

    /// A packet every `gap` while there is speech, for `duration`.
    #[must_use]
    pub fn with_pauses(
        gap: Duration,
        silence: Silence,
        duration: Duration,
        random: RandomStream,
    ) -> Self {
        let law = Law::Pauses {
            gap,
            silence,
            until: Time::ZERO,
            talking: true,
        };
        Self::new(law, duration, random)
    }

    fn new(law: Law, duration: Duration, random: RandomStream) -> Self {
        Self {
            law,
            random,
            duration,
            end: Time::ZERO,
            next: None,
            filler: false,
        }
    }

    /// The clock starts.
    pub fn start(&mut self, now: Time) {
        self.end = now + self.duration;
        let first = match &mut self.law {
            Law::Regular { gap } => now + spread(*gap, &mut self.random),
            Law::Exponential { mean } => now + self.random.exponential_duration(*mean),
            Law::Pauses {
                gap,
                silence,
                until,
                ..
            } => {
                let mean = Duration::from_nanos(silence.talk_mean_ns);
                let first = now + spread(*gap, &mut self.random);
                *until = first + self.random.exponential_duration(mean);
                first
            }
        };
        self.schedule(first);
    }

    /// When the next packet is due.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        self.next
    }

    /// Takes the packet that is due at `now`, if one is: whether it only keeps
    /// the window open.
    pub fn take_due(&mut self, now: Time) -> Option<bool> {
        let at = self.next.filter(|at| *at <= now)?;
        let filler = self.filler;
        let next = match &mut self.law {
            Law::Regular { gap } => at + *gap,
            Law::Exponential { mean } => at + self.random.exponential_duration(*mean),
            Law::Pauses { .. } => self.after_pauses(at),
        };
        self.schedule(next);
        Some(filler)
    }

    fn schedule(&mut self, at: Time) {
        self.next = (at < self.end).then_some(at);
    }

    /// The next packet after one at `at`, in speech or in silence.
    fn after_pauses(&mut self, at: Time) -> Time {
        let Law::Pauses {
            gap,
            silence,
            until,
            talking,
        } = &mut self.law
        else {
            return at;
        };
        let mut from = at;
        loop {
            let step = if *talking {
                Some(*gap)
            } else {
                silence.filler_interval_ns.map(Duration::from_nanos)
            };
            if let Some(step) = step
                && from + step < *until
            {
                self.filler = !*talking;
                return from + step;
            }
            if from >= self.end || *until >= self.end {
                return self.end;
            }
            // The state changes; a talk spurt begins with a packet.
            *talking = !*talking;
            let begins = *until;
            let mean = if *talking {
                silence.talk_mean_ns
            } else {
                silence.silence_mean_ns
            };
            *until = begins + self.random.exponential_duration(Duration::from_nanos(mean));
            if *talking {
                self.filler = false;
                return begins.max(at);
            }
            from = begins;
        }
    }
}

/// Uniform in `0 <= d < gap`.
fn spread(gap: Duration, random: &mut RandomStream) -> Duration {
    Duration::from_nanos(random.below(gap.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_sansio::Seed;

    fn all(mut pace: Pace) -> Vec<(u64, bool)> {
        let mut times = Vec::new();
        pace.start(Time::from_nanos(1_000));
        while let Some(at) = pace.next() {
            assert_eq!(pace.take_due(at - Duration::from_nanos(1)), None);
            times.push((at.as_nanos(), pace.take_due(at).unwrap()));
        }
        times
    }

    fn random() -> RandomStream {
        Seed::new(5).stream("pace")
    }

    #[test]
    fn regular_packets_keep_their_gap() {
        let gap = Duration::from_millis(20);
        let times = all(Pace::regular(gap, Duration::from_secs(10), random()));
        assert_eq!(times.len(), 500);
        assert!(times[0].0 < 20_001_000);
        assert!(times.windows(2).all(|w| w[1].0 - w[0].0 == 20_000_000));
    }

    #[test]
    fn random_packets_keep_their_mean() {
        let mean = Duration::from_millis(50);
        let times = all(Pace::exponential(mean, Duration::from_secs(1000), random()));
        // Five standard deviations of a Poisson count of 20,000.
        assert!((19_300..20_700).contains(&times.len()), "{}", times.len());
    }

    #[test]
    fn speech_fills_its_share_of_the_time() {
        let silence = Silence::default();
        let gap = Duration::from_millis(20);
        let hour = Duration::from_secs(36_000);
        let times = all(Pace::with_pauses(gap, silence, hour, random()));
        assert!(times.iter().all(|(_, filler)| !filler));
        assert!(times.is_sorted());
        // Each spurt has a packet at its start and one every 20 ms after it, so
        // half a gap more than its length on average.
        let expected = 1.014 / (1.004 + 1.587);
        let share = times.len() as f64 * 0.02 / 36_000.0;
        assert!((share - expected).abs() < 0.01, "{share} for {expected}");
    }

    #[test]
    fn fillers_fill_the_silences() {
        let silence = Silence {
            filler_interval_ns: Some(33_000_000),
            ..Silence::default()
        };
        let gap = Duration::from_millis(20);
        let times = all(Pace::with_pauses(
            gap,
            silence,
            Duration::from_secs(1000),
            random(),
        ));
        let longest = times.windows(2).map(|w| w[1].0 - w[0].0).max().unwrap();
        assert!(longest <= 53_000_000, "{longest}");
        let fillers = times.iter().filter(|(_, filler)| *filler).count();
        let expected = 1000.0 * 1.587 / 2.591 / 0.033;
        assert!((fillers as f64 / expected - 1.0).abs() < 0.1, "{fillers}");
    }
}
