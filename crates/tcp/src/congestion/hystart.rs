//! HyStart: leaving slow start before the queue overflows (Ha and Rhee 2008),
//! with the constants of Linux 6 (`net/ipv4/tcp_cubic.c`).

use headway_sansio::{Duration, Time};

use super::Growth;

/// Below this window it does not look.
pub(crate) const LOW_WINDOW_SEGMENTS: u64 = 16;
const MIN_SAMPLES: u32 = 8;
const TRAIN_GAP: Duration = Duration::from_millis(2);
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);

#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    round_end: u64,
    round_start: Time,
    last_ack: Time,
    lowest: Option<Duration>,
    samples: u32,
    found: bool,
}

impl HyStart {
    /// Whether slow start has filled the path.
    pub(crate) fn leave_slow_start(&mut self, g: &Growth) -> bool {
        if self.found {
            return false;
        }
        if g.una > self.round_end {
            *self = Self {
                round_end: g.next,
                round_start: g.now,
                last_ack: g.now,
                ..Self::default()
            };
        }
        let Some(rtt) = g.rtt else { return false };
        // A train of closely spaced ACKs that lasts for half the round trip.
        if g.now.since(self.last_ack) <= TRAIN_GAP {
            self.last_ack = g.now;
            self.found = g.now.since(self.round_start) > g.rtt_floor / 2;
        }
        // The lowest of the first eight delays of a round against the lowest ever.
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            self.lowest = Some(self.lowest.map_or(rtt, |l| l.min(rtt)));
        } else if let Some(lowest) = self.lowest {
            let margin = (g.rtt_floor / 8).clamp(DELAY_MIN, DELAY_MAX);
            self.found |= lowest > g.rtt_floor + margin;
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(now_us: u64, rtt_us: u64, una: u64) -> Growth {
        Growth {
            now: Time::from_nanos(now_us * 1000),
            acked_bytes: 1448,
            acked_segments: 1,
            after_timeout: false,
            rtt: Some(Duration::from_micros(rtt_us)),
            srtt: Duration::from_micros(rtt_us),
            rtt_floor: Duration::from_millis(100),
            una,
            next: una + 100_000,
        }
    }

    #[test]
    fn a_risen_delay_ends_slow_start_after_eight_samples() {
        // A rise by 12.5 ms is the margin at 100 ms; ACKs 5 ms apart are no train.
        for (rtt_us, ends) in [(112_400, false), (112_600, true)] {
            let mut hystart = HyStart::default();
            let left = (1..=9)
                .map(|i| hystart.leave_slow_start(&growth(i * 5000, rtt_us, 1)))
                .position(|left| left);
            assert_eq!(left, ends.then_some(8));
        }
    }

    #[test]
    fn a_long_train_ends_slow_start() {
        let mut hystart = HyStart::default();
        let left = (0..100)
            .map(|i| hystart.leave_slow_start(&growth(1_000_000 + i * 1000, 100_000, 1)))
            .position(|left| left);
        // 1 ms apart: more than 50 ms after the first one.
        assert_eq!(left, Some(51));
    }
}
