//! How late packets leave.

use headway_sansio::Duration;
use serde::Serialize;

/// Lateness of packets against the time at which the path lets them out: what
/// timer and scheduler of a real machine add.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Lateness {
    packets: u64,
    total: Duration,
    worst: Duration,
    over_100_us: u64,
    over_1_ms: u64,
}

/// The same, summed up.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct LatenessReport {
    /// Mean in seconds.
    pub(crate) mean_s: f64,
    /// The worst in seconds.
    pub(crate) max_s: f64,
    /// Share of packets that left more than 100 us late.
    pub(crate) over_100_us: f64,
    /// Share of packets that left more than 1 ms late.
    pub(crate) over_1_ms: f64,
}

impl Lateness {
    /// A packet left so late.
    pub(crate) fn record(&mut self, late: Duration) {
        self.packets += 1;
        self.total += late;
        self.worst = self.worst.max(late);
        self.over_100_us += u64::from(late > Duration::from_micros(100));
        self.over_1_ms += u64::from(late > Duration::from_millis(1));
    }

    pub(crate) fn report(&self) -> LatenessReport {
        let packets = self.packets.max(1) as f64;
        LatenessReport {
            mean_s: self.total.as_secs_f64() / packets,
            max_s: self.worst.as_secs_f64(),
            over_100_us: self.over_100_us as f64 / packets,
            over_1_ms: self.over_1_ms as f64 / packets,
        }
    }
}
