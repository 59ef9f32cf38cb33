//! What is kept for each destination address of the peer (RFC 9260, section 14.3).

mod congestion;
mod mtu;
mod rack;
mod rtt;
mod set;

pub(crate) use congestion::Acknowledged;
pub(crate) use mtu::PathMtu;
pub(crate) use rack::Rack;
pub(crate) use rtt::RttEstimator;
pub(crate) use set::Paths;

use headway_sansio::{Address, Duration, Time};

use crate::stats::PathStats;
use crate::{Config, Tsn, WindowUnit};

/// Where a packet comes from and goes to, seen from this side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Route {
    /// This side's address.
    pub(crate) local: Address,
    /// The peer's address.
    pub(crate) remote: Address,
}

/// State of one path. The paths of an association share its numbers and its
/// peer's window, and have these of their own.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) route: Route,
    /// Congestion window in bytes.
    pub(crate) cwnd: u32,
    /// Slow start threshold in bytes.
    pub(crate) ssthresh: u32,
    /// Bytes acknowledged since cwnd last grew in congestion avoidance.
    pub(crate) partial_bytes_acked: u32,
    /// Bytes of DATA under way, kept up to date with every chunk.
    pub(crate) flight: u32,
    /// Chunks last sent here that are not acknowledged.
    pub(crate) outstanding: u32,
    /// Retransmission timeout with bounds and back-off.
    pub(crate) rto: Duration,
    pub(crate) rtt: RttEstimator,
    /// The chunk whose round trip is being measured, and when it was sent.
    pub(crate) timed: Option<(Tsn, Time)>,
    /// When T3-rtx expires.
    pub(crate) t3: Time,
    /// Time-based loss detection.
    pub(crate) rack: Rack,
    pub(crate) tail: TailProbe,
    /// A round trip was measured since the last tail loss probe.
    pub(crate) sampled: bool,
    /// RTO for the next start of T3-rtx, where it is not `rto`.
    pub(crate) t3_next: Option<Duration>,
    /// Transmissions in a row that went unanswered.
    pub(crate) errors: u32,
    pub(crate) reachability: Reachability,
    /// The peer has shown that it is reached here (section 5.4).
    pub(crate) confirmed: bool,
    /// A duplicate suggests that SACKs sent here do not arrive (section 6.4).
    pub(crate) mute: bool,
    /// T3-rtx expired and nothing was acknowledged since (section 7.2.3).
    pub(crate) hold: bool,
    /// Missing reports have just shown a loss.
    pub(crate) lossy: bool,
    /// How far the flight size may rise in an opportunity to send, and the number of
    /// that opportunity.
    burst_limit: Option<(u64, u32)>,
    /// When a new DATA chunk was last sent.
    pub(crate) last_data: Time,
    /// When the last packet with a new DATA chunk was finished.
    pub(crate) last_packet: Time,
    pub(crate) heartbeat: Heartbeat,
    pub(crate) mtu: PathMtu,
    /// What the chunks of one packet take together here (PMDCS).
    pub(crate) pmdcs: u32,
    /// What the SACK at hand says of this path.
    pub(crate) news: News,
    pub(crate) stats: PathStats,
}

/// The tail loss probe of a path (RFC 8985, section 7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailProbe {
    /// When it is to go.
    pub(crate) due: Time,
    /// The one that is under way: the first TSN not sent when it went, and
    /// whether it repeated a chunk.
    pub(crate) under_way: Option<(Tsn, bool)>,
}

impl Default for TailProbe {
    fn default() -> Self {
        Self {
            due: Time::FAR_FUTURE,
            under_way: None,
        }
    }
}

/// Whether a path is thought to work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reachability {
    Active,
    /// Unanswered more than `potentially_failed_max_retransmits` times (RFC 7829).
    PotentiallyFailed,
    /// Unanswered more than `path_max_retransmits` times.
    Inactive,
}

/// The heartbeat of a path (RFC 9260, section 8.3).
#[derive(Debug)]
pub(crate) struct Heartbeat {
    /// When to look again: is the path idle, or has the peer answered?
    pub(crate) due: Time,
    /// The one that is under way: its nonce, and when it was sent.
    pub(crate) unanswered: Option<(u64, Time)>,
    /// The user wants them.
    pub(crate) wanted: bool,
}

/// What one SACK acknowledged for the first time of the chunks last sent on a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// Flight size before the SACK.
    pub(crate) flight_before: u32,
    /// In window bytes.
    pub(crate) bytes: u32,
    pub(crate) chunks: u32,
    /// Some of it was the earliest outstanding.
    pub(crate) advanced: bool,
    /// Some of it was never sent on another path, so that it says something of this one.
    pub(crate) certain: bool,
    /// Highest TSN of it, if that lies beyond a gap.
    pub(crate) highest: Option<Tsn>,
}

impl Path {
    pub(crate) fn new(config: &Config, route: Route) -> Self {
        let mtu = PathMtu::new(config);
        Self {
            route,
            pmdcs: config.pmdcs_of(mtu.bytes()),
            mtu,
            cwnd: config.first_cwnd_bytes(),
            ssthresh: u32::MAX,
            partial_bytes_acked: 0,
            flight: 0,
            outstanding: 0,
            rto: config.rto_initial,
            rtt: RttEstimator::new(config.rto_formula),
            timed: None,
            t3: Time::FAR_FUTURE,
            rack: Rack::new(),
            tail: TailProbe::default(),
            sampled: false,
            t3_next: None,
            errors: 0,
            reachability: Reachability::Active,
            confirmed: true,
            mute: false,
            hold: false,
            lossy: false,
            burst_limit: None,
            last_data: Time::ZERO,
            last_packet: Time::ZERO,
            heartbeat: Heartbeat {
                due: Time::FAR_FUTURE,
                unanswered: None,
                wanted: true,
            },
            news: News::default(),
            stats: PathStats::default(),
        }
    }

    /// TSNs begin anew: what was noted of them means nothing any more.
    pub(crate) fn forget_numbers(&mut self) {
        self.timed = None;
        self.rack = Rack::new();
        self.tail = TailProbe::default();
        self.news = News::default();
    }

    /// Whether DATA may go here without a second thought.
    pub(crate) fn is_usable(&self) -> bool {
        self.confirmed && self.reachability == Reachability::Active
    }

    /// Takes a round-trip measurement; an RTO that was backed off falls back.
    pub(crate) fn measured(&mut self, config: &Config, round_trip: Duration) {
        self.rtt.sample(round_trip);
        if let Some(estimate) = self.rtt.estimate(config.rto_margin_min) {
            self.rto = estimate.max(config.rto_min).min(config.rto_max);
        }
    }

    /// Doubles the RTO up to RTO.Max (RFC 9260, section 6.3.3, rule E2).
    pub(crate) fn back_off(&mut self, config: &Config) {
        self.rto = (self.rto * 2).min(config.rto_max);
    }

    /// The unit in which cwnd is counted here, in bytes.
    pub(crate) const fn unit(&self, config: &Config) -> u32 {
        match config.window_unit {
            WindowUnit::Pmdcs => self.pmdcs,
            WindowUnit::Mtu => self.mtu.bytes(),
        }
    }

    pub(crate) fn start_t3(&mut self, now: Time) {
        self.t3 = now + self.t3_next.take().unwrap_or(self.rto);
    }

    pub(crate) fn stop_t3(&mut self) {
        self.t3 = Time::FAR_FUTURE;
        self.t3_next = None;
        self.tail.due = Time::FAR_FUTURE;
        self.rack.due = Time::FAR_FUTURE;
    }

    pub(crate) fn next_timeout(&self) -> Time {
        self.t3
            .min(self.heartbeat.due)
            .min(self.mtu.due)
            .min(self.rack.due)
            .min(self.tail.due)
    }
}
