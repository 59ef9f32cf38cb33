//! The sending half of a connection: what is written, what is under way, and
//! what may be sent next.
//!
//! [`output`] chooses the next transmission, [`acks`] takes acknowledgements in,
//! and the files of `recovery` decide what is lost and how fast to repair it.

mod acks;
mod output;
pub(crate) mod rto;
pub(crate) mod scoreboard;

use std::collections::VecDeque;

use headway_sansio::{Duration, Payload, Time};

use crate::config::{Config, Recovery, Reduction, WindowUnit};
use crate::congestion::{Usage, Window};
use crate::content::Content;
use crate::recovery::{Frto, Prr, Tlp, Undo};
use crate::stats::Stats;
pub(crate) use acks::Ack;
pub(crate) use output::Transmission;
use rto::RttEstimator;
use scoreboard::Scoreboard;

/// Where the sender stands in loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing is known to be lost.
    Open,
    /// Fast recovery.
    Recovery,
    /// Repair after a timeout.
    Loss,
}

/// What the two ends agreed on, and the MSS that follows from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    pub(crate) mss: u32,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
}

#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) agreed: Agreed,

    // ---- the stream
    content: Content,
    /// Ends of writes above `next`.
    boundaries: VecDeque<u64>,
    pub(crate) una: u64,
    pub(crate) next: u64,
    /// Where the stream ends, once the user said so.
    fin_at: Option<u64>,

    // ---- the peer's window
    /// First offset that the peer does not take yet.
    edge: u64,
    window_max: u64,
    peer_window: u64,

    // ---- the network
    pub(crate) board: Scoreboard,
    pub(crate) window: Window,
    pub(crate) usage: Usage,
    pub(crate) rtt: RttEstimator,
    /// End and time of the segment whose round trip is being measured.
    timed: Option<(u64, Time)>,
    last_sent_at: Option<Time>,
    /// When something was sent last.
    idle_since: Time,
    /// End of the last segment shorter than the MSS (Minshall).
    short_end: u64,

    // ---- recovery
    pub(crate) phase: Phase,
    pub(crate) duplicates: u32,
    /// Recovery ends when everything below is acknowledged.
    pub(crate) recovery_point: u64,
    /// RFC 6582's `recover`: no new fast retransmit before it is passed.
    pub(crate) recover: Option<u64>,
    /// Send one retransmission whatever the window says.
    pub(crate) forced: bool,
    /// Highest end retransmitted in this recovery: RFC 6675's `HighRxt`.
    pub(crate) high_resent: u64,
    /// RFC 6675's `RescueRxt`.
    pub(crate) rescue: Option<u64>,
    pub(crate) partial_acks: u32,
    /// New data sent in this recovery, in window units.
    pub(crate) new_in_recovery: u64,
    /// Retransmitted in this recovery, in window units.
    pub(crate) resent_in_recovery: u64,
    /// RFC 7661: what was used when this recovery began, if the window was not
    /// validated.
    pub(crate) used_at_loss: Option<u64>,
    /// New data sent on duplicate ACKs before recovery, in window units.
    pub(crate) limited_sent: u64,
    pub(crate) rate_halving_count: u32,
    pub(crate) prr: Prr,
    pub(crate) undo: Undo,
    pub(crate) frto: Frto,
    pub(crate) tlp: Tlp,
    pub(crate) rack: crate::recovery::Rack,
    /// Timeouts since the last new ACK.
    pub(crate) timeouts_in_row: u32,

    // ---- timers
    pub(crate) rto_at: Time,
    pub(crate) persist_at: Time,
    persists: u32,
    window_probe: bool,

    // ---- this row of transmissions
    burst: u32,
    limited_by_window: bool,
    sent_in_row: bool,
}

impl Sender {
    pub(crate) fn new(config: &Config, agreed: Agreed, now: Time) -> Self {
        Self {
            agreed,
            content: Content::default(),
            boundaries: VecDeque::new(),
            una: 0,
            next: 0,
            fin_at: None,
            edge: 0,
            window_max: 0,
            peer_window: 0,
            board: Scoreboard::new(config.window_unit == WindowUnit::Segments),
            window: Window::new(config, agreed.mss),
            usage: Usage::new(now),
            rtt: RttEstimator::new(),
            timed: None,
            last_sent_at: None,
            idle_since: now,
            short_end: 0,
            phase: Phase::Open,
            duplicates: 0,
            recovery_point: 0,
            recover: None,
            forced: false,
            high_resent: 0,
            rescue: None,
            partial_acks: 0,
            new_in_recovery: 0,
            resent_in_recovery: 0,
            used_at_loss: None,
            limited_sent: 0,
            rate_halving_count: 0,
            prr: Prr::default(),
            undo: Undo::default(),
            frto: Frto::default(),
            tlp: Tlp::default(),
            rack: crate::recovery::Rack::default(),
            timeouts_in_row: 0,
            rto_at: Time::FAR_FUTURE,
            persist_at: Time::FAR_FUTURE,
            persists: 0,
            window_probe: false,
            burst: 0,
            limited_by_window: false,
            sent_in_row: false,
        }
    }

    /// The handshake is done: the MSS, and with it the windows, are known.
    pub(crate) fn agree(&mut self, config: &Config, agreed: Agreed) {
        self.agreed = agreed;
        self.window = Window::new(config, agreed.mss);
    }

    /// Takes what fits the send buffer.
    pub(crate) fn write(&mut self, config: &Config, mut payload: Payload) -> usize {
        let room = config.send_buffer_bytes.saturating_sub(self.content.len());
        let taken = (payload.len() as u64).min(room) as usize;
        if taken > 0 {
            let kept = if taken == payload.len() {
                payload
            } else {
                payload.split_to(taken)
            };
            self.content.push(kept);
            self.boundaries.push_back(self.content.end());
            self.begin_row();
        }
        taken
    }

    /// The stream ends where it is now.
    pub(crate) fn finish(&mut self) {
        self.fin_at = Some(self.content.end());
        self.begin_row();
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.fin_at.is_some()
    }

    /// The round-trip time of the handshake.
    pub(crate) fn first_sample(&mut self, config: &Config, now: Time, rtt: Duration) {
        self.rtt.sample(config, now, rtt, self.una, self.next);
        self.board.rtt_floor = self.rtt.floor();
    }

    /// The window that the peer offered in the handshake.
    pub(crate) fn first_window(&mut self, window: u64) {
        self.peer_window = window;
        self.window_max = window;
        self.edge = window;
    }

    /// Nothing is sent any more.
    pub(crate) fn stop(&mut self) {
        self.rto_at = Time::FAR_FUTURE;
        self.persist_at = Time::FAR_FUTURE;
        self.rack.reorder_at = Time::FAR_FUTURE;
        self.tlp.due = Time::FAR_FUTURE;
    }

    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.fin_at.is_some_and(|at| self.una > at)
    }

    /// A new occasion to send: the burst limit counts anew.
    pub(crate) fn begin_row(&mut self) {
        self.burst = 0;
    }

    // ---- figures

    pub(crate) fn unsent(&self) -> u64 {
        self.content.end().saturating_sub(self.next)
    }

    pub(crate) fn written(&self) -> u64 {
        self.content.end()
    }

    pub(crate) fn buffered(&self) -> u64 {
        self.content.len()
    }

    fn buffer_full(&self, config: &Config) -> bool {
        self.content.len() >= config.send_buffer_bytes
    }

    /// Whether losses are found by SACK: agreed on, and wanted.
    pub(crate) fn by_sack(&self, config: &Config) -> bool {
        self.agreed.sack && matches!(config.recovery, Recovery::Sack | Recovery::RackTlp)
    }

    pub(crate) fn by_rack(&self, config: &Config) -> bool {
        self.agreed.sack && config.recovery == Recovery::RackTlp
    }

    /// Window units that count against the congestion window.
    pub(crate) fn in_flight(&self, config: &Config) -> u64 {
        let by_sack = self.by_sack(config);
        match self.phase {
            // RFC 5681: flight size; the window is inflated instead.
            Phase::Open | Phase::Recovery if !by_sack => self.board.out(),
            // Without limited transmit what was SACKed gives no room before
            // recovery begins.
            Phase::Open if !config.limited_transmit => self.board.out(),
            Phase::Recovery if config.reduction == Reduction::OneSegment => {
                self.board.resent_units() + self.new_in_recovery
            }
            _ => self.board.pipe(),
        }
    }

    /// Window units for which there is room, as the segment of `len` counts.
    pub(crate) fn fits(&self, config: &Config, len: u32) -> bool {
        let weight = if config.window_unit == WindowUnit::Segments {
            1
        } else {
            u64::from(len)
        };
        self.in_flight(config) + weight <= self.window.cwnd + self.limited_allowance(config)
    }

    /// Whether the peer's window takes `len` new bytes.
    pub(crate) fn peer_takes(&self, len: u32) -> bool {
        self.edge >= self.next + u64::from(len)
    }

    /// The offered window in window units.
    pub(crate) fn offered_units(&self) -> u64 {
        self.peer_window.saturating_mul(self.window.full) / u64::from(self.agreed.mss)
    }

    /// RFC 3042 without SACK: two segments beyond the window.
    fn limited_allowance(&self, config: &Config) -> u64 {
        if config.limited_transmit && self.phase == Phase::Open && !self.by_sack(config) {
            u64::from(self.duplicates.min(2)) * self.window.full
        } else {
            0
        }
    }

    pub(crate) fn rto(&self, config: &Config) -> Duration {
        self.rtt.rto(config)
    }

    pub(crate) fn srtt_or(&self, config: &Config) -> Duration {
        self.rtt
            .srtt()
            .unwrap_or(Duration::from_nanos(config.rto_initial_ns))
    }

    // ---- timers

    /// When the next timer is due; [`Time::FAR_FUTURE`] if none runs.
    pub(crate) fn due(&self) -> Time {
        self.rto_at
            .min(self.persist_at)
            .min(self.rack.reorder_at)
            .min(self.tlp.due)
    }

    /// See [`Connection::check_books`](crate::Connection::check_books); the timers of one that
    /// is over do not run.
    pub(crate) fn check_books(&self, timed: bool) -> Result<(), String> {
        self.board.check_books()?;
        if let Some(first) = self.board.first()
            && first.start != self.una
        {
            return Err(format!("{} first, {} acknowledged", first.start, self.una));
        }
        if timed && !self.board.is_empty() && self.due() == Time::FAR_FUTURE {
            return Err(format!("no timer runs for {:?}", self.board.first()));
        }
        Ok(())
    }

    pub(crate) fn arm_rto(&mut self, config: &Config, now: Time) {
        self.rto_at = now + self.rto(config);
    }

    /// Runs the timers that are due. Returns whether the peer counts as gone.
    pub(crate) fn on_timer(&mut self, config: &Config, now: Time, stats: &mut Stats) -> bool {
        if self.due() > now {
            return false;
        }
        self.begin_row();
        if self.rack.reorder_at <= now {
            self.rack.reorder_at = Time::FAR_FUTURE;
            self.on_reorder_timer(config, now, stats);
        }
        if self.tlp.due <= now {
            self.on_probe_timer(config, now);
        }
        if self.persist_at <= now {
            self.on_persist_timer(config, now, stats);
        }
        if self.rto_at <= now {
            return self.on_timeout(config, now, stats);
        }
        false
    }

    /// RFC 9293, section 3.8.6.1: the closed window is probed, ever more rarely.
    fn on_persist_timer(&mut self, config: &Config, now: Time, stats: &mut Stats) {
        stats.window_probes += 1;
        self.window_probe = true;
        self.persists = (self.persists + 1).min(16);
        let wait = self.rto(config) * (1 << self.persists);
        self.persist_at = now + wait.min(Duration::from_nanos(config.rto_max_ns));
    }

    fn stop_persist(&mut self) {
        self.persist_at = Time::FAR_FUTURE;
        self.persists = 0;
        self.window_probe = false;
    }
}
