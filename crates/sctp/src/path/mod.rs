//! What is kept for each destination address of the peer (RFC 9260, section 14.3).

mod congestion;
mod rtt;

pub(crate) use congestion::Acknowledged;
pub(crate) use rtt::RttEstimator;

use headway_sansio::{Duration, Time};

use crate::{Config, Tsn};

/// State of one path. An association has one; several share the association's
/// numbers and window, and have these of their own.
#[derive(Debug)]
pub(crate) struct Path {
    /// Congestion window in bytes.
    pub(crate) cwnd: u32,
    /// Slow start threshold in bytes.
    pub(crate) ssthresh: u32,
    /// Bytes acknowledged since cwnd last grew in congestion avoidance.
    pub(crate) partial_bytes_acked: u32,
    /// Bytes of DATA under way, kept up to date with every chunk.
    pub(crate) flight: u32,
    /// Retransmission timeout with bounds and back-off.
    pub(crate) rto: Duration,
    pub(crate) rtt: RttEstimator,
    /// The chunk whose round trip is being measured, and when it was sent.
    pub(crate) timed: Option<(Tsn, Time)>,
    /// When T3-rtx expires.
    pub(crate) t3: Time,
    /// RTO for the next start of T3-rtx, where it is not `rto`.
    pub(crate) t3_next: Option<Duration>,
    /// Transmissions in a row that went unanswered.
    pub(crate) errors: u32,
    pub(crate) active: bool,
    /// When a new DATA chunk was last sent.
    pub(crate) last_data: Time,
    pub(crate) heartbeat: Heartbeat,
}

/// The heartbeat of a path (RFC 9260, section 8.3).
#[derive(Debug)]
pub(crate) struct Heartbeat {
    /// When to look again: is the path idle, or has the peer answered?
    pub(crate) due: Time,
    /// The one that is under way: its nonce.
    pub(crate) unanswered: Option<u64>,
}

impl Path {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            cwnd: config.first_cwnd_bytes(),
            ssthresh: u32::MAX,
            partial_bytes_acked: 0,
            flight: 0,
            rto: config.rto_initial,
            rtt: RttEstimator::new(config.rto_formula),
            timed: None,
            t3: Time::FAR_FUTURE,
            t3_next: None,
            errors: 0,
            active: true,
            last_data: Time::ZERO,
            heartbeat: Heartbeat {
                due: Time::FAR_FUTURE,
                unanswered: None,
            },
        }
    }

    /// Takes a round-trip measurement; an RTO that was backed off falls back.
    pub(crate) fn measured(&mut self, config: &Config, round_trip: Duration) {
        self.rtt.sample(round_trip);
        if let Some(estimate) = self.rtt.estimate() {
            self.rto = estimate.max(config.rto_min).min(config.rto_max);
        }
    }

    /// Doubles the RTO up to RTO.Max (RFC 9260, section 6.3.3, rule E2).
    pub(crate) fn back_off(&mut self, config: &Config) {
        self.rto = (self.rto * 2).min(config.rto_max);
    }

    pub(crate) fn start_t3(&mut self, now: Time) {
        self.t3 = now + self.t3_next.take().unwrap_or(self.rto);
    }

    pub(crate) fn stop_t3(&mut self) {
        self.t3 = Time::FAR_FUTURE;
        self.t3_next = None;
    }

    pub(crate) fn next_timeout(&self) -> Time {
        self.t3.min(self.heartbeat.due)
    }
}
