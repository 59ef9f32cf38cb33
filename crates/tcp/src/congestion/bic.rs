//! BIC: binary increase congestion control (Xu, Harfoush, Rhee: INFOCOM 2004),
//! with the constants of Linux 2.6.11 (`net/ipv4/tcp_input.c`).
//!
//! Up to 14 segments it is Reno. Above, after a loss, the window first searches
//! by halves for where the loss was, then probes beyond it.

/// At and below this window BIC is Reno.
const LOW_WINDOW: u64 = 14;
/// The factor of decrease: 819/1024.
const BETA: u64 = 819;
const SCALE: u64 = 1024;
/// Most segments of growth in a round trip.
const MAX_INCREMENT: u64 = 32;
/// The binary search goes a quarter of the way.
const SEARCH: u64 = 4;
/// Round trips that the last step takes.
const SMOOTH: u64 = 20;

#[derive(Clone, Debug, Default)]
pub(crate) struct Bic {
    last_max: u64,
}

impl Bic {
    /// Segments to be acknowledged for one more segment of window.
    pub(crate) fn segments_per_step(&self, cwnd: u64) -> u64 {
        if cwnd <= LOW_WINDOW {
            return cwnd;
        }
        let per_round = |increment: u64| cwnd / increment.max(1);
        let count = if cwnd < self.last_max {
            match (self.last_max - cwnd) / SEARCH {
                0 | 1 => cwnd * SMOOTH / SEARCH,
                distance => per_round(distance.min(MAX_INCREMENT)),
            }
        } else {
            let beyond = cwnd - self.last_max;
            if beyond < SEARCH {
                cwnd * SMOOTH / SEARCH
            } else if beyond < MAX_INCREMENT * (SEARCH - 1) {
                cwnd * (SEARCH - 1) / beyond
            } else {
                per_round(MAX_INCREMENT)
            }
        };
        count.max(1)
    }

    /// Returns ssthresh in segments.
    pub(crate) fn after_loss(&mut self, cwnd: u64) -> u64 {
        // Fast convergence.
        self.last_max = if cwnd < self.last_max {
            cwnd * (SCALE + BETA) / (2 * SCALE)
        } else {
            cwnd
        };
        if cwnd <= LOW_WINDOW {
            cwnd / 2
        } else {
            cwnd * BETA / SCALE
        }
    }

    pub(crate) fn after_timeout(&mut self) {
        self.last_max = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_windows_are_reno() {
        let mut bic = Bic::default();
        assert_eq!(bic.after_loss(12), 6);
        assert_eq!(bic.segments_per_step(6), 6);
    }

    #[test]
    fn searches_then_probes() {
        let mut bic = Bic::default();
        assert_eq!(bic.after_loss(1000), 799);
        // 201 below: a quarter is 50, at most 32 a round trip.
        assert_eq!(bic.segments_per_step(799), 24);
        // 40 below: 10 a round trip.
        assert_eq!(bic.segments_per_step(960), 96);
        // Close: one segment in five round trips.
        assert_eq!(bic.segments_per_step(998), 4990);
        // Beyond, slowly and then faster.
        assert_eq!(bic.segments_per_step(1030), 103);
        assert_eq!(bic.segments_per_step(2000), 62);
    }
}
