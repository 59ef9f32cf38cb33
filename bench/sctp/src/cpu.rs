//! CPU time of this process.

use nix::time::{ClockId, clock_gettime};

/// A moment from which CPU time is counted.
pub(crate) struct Stopwatch(f64);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(seconds())
    }

    /// Microseconds of CPU since then for each of `count` things.
    pub(crate) fn micros_each(&self, count: usize) -> f64 {
        (seconds() - self.0) * 1e6 / count as f64
    }
}

fn seconds() -> f64 {
    let now = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every Linux has this clock");
    now.tv_sec() as f64 + now.tv_nsec() as f64 * 1e-9
}
