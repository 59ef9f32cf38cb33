//! The state of one station.

use headway_sansio::{Datagram, Seed};

use super::backoff::Backoff;
use super::channel::MessageJitter;
use super::config::{CellConfig, RetryCount, StationConfig};
use super::record::StationCounters;
use super::source::Queue;
use super::timing::Rate;
use super::{NEVER, NOBODY};

/// Everything that one station knows and does.
pub(super) struct StationState<B> {
    pub(super) limits: Limits,
    pub(super) queue: Queue<B>,
    pub(super) frame: Option<Frame<B>>,
    pub(super) phase: Phase,
    pub(super) backoff: Backoff,
    pub(super) ear: Ear,
    /// The answer that it owes, due a SIFS after a frame.
    pub(super) answer: Option<Answer>,
    /// What it has on the air.
    pub(super) sending: Option<Transmission>,
    pub(super) next_sequence: u16,
    /// As a receiver: the last sequence number by sender; beyond 4095 for none.
    pub(super) last_sequence: Vec<u16>,
    pub(super) counters: StationCounters,
}

/// The settings of one station, ready for use.
pub(super) struct Limits {
    pub(super) rate: Rate,
    pub(super) short_tries: u32,
    pub(super) long_tries: u32,
    /// Frames longer than this go after RTS and CTS.
    pub(super) rts_threshold: u32,
}

/// Where a station stands with the frame that it is to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// It has none.
    Idle,
    /// It waits for the medium.
    Contend,
    /// It sends the RTS or the data.
    Sending,
    /// It waits for an answer that must have begun by then.
    AwaitCts { until: u64 },
    /// Likewise.
    AwaitAck { until: u64 },
    /// The CTS has come; the data follow at this time.
    Cleared { at: u64 },
}

/// The datagram that a station tries to send.
pub(super) struct Frame<B> {
    pub(super) to: u16,
    /// Length of the MAC frame.
    pub(super) bytes: u32,
    /// Length of the IP datagram.
    pub(super) size_bytes: u32,
    pub(super) air: u64,
    pub(super) sequence: u16,
    pub(super) rts: bool,
    pub(super) tries: u32,
    pub(super) short_failures: u32,
    pub(super) long_failures: u32,
    pub(super) handed: u64,
    pub(super) head: u64,
    pub(super) first_try_end: u64,
    pub(super) last_try_end: u64,
    pub(super) jitter: Option<MessageJitter>,
    /// Whether the receiver has had it.
    pub(super) arrived: bool,
    pub(super) content: Content<B>,
}

/// What a frame carries.
pub(super) enum Content<B> {
    /// A datagram that was handed over, until it comes out.
    Datagram(Option<Datagram<B>>),
    /// Nothing but its length: the station's own traffic.
    Source,
}

/// Kinds of frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Rts,
    Cts,
    Data,
    Ack,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) kind: Kind,
    pub(super) to: u16,
    pub(super) rate: Rate,
    pub(super) bytes: u32,
    pub(super) ends: u64,
    /// Duration field: how long after its end the medium is reserved.
    pub(super) reserves: u64,
}

/// An ACK or CTS that is owed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) at: u64,
    pub(super) kind: Kind,
    pub(super) to: u16,
    /// Rate of the data that it belongs to.
    pub(super) data_rate: Rate,
    pub(super) reserves: u64,
}

/// What a station hears.
pub(super) struct Ear {
    /// Frames of others on the air here.
    pub(super) busy: u16,
    /// Whose frame it receives, or [`NOBODY`].
    pub(super) receives: u16,
    /// Another frame overlaps that one.
    pub(super) spoilt: bool,
    /// Since when the medium has been idle here, if it is.
    pub(super) idle_since: u64,
    /// Until when others have reserved the medium (network allocation vector).
    pub(super) reserved_until: u64,
    /// The last reception ended in an error, so that EIFS applies.
    pub(super) after_error: bool,
}

impl<B> StationState<B> {
    pub(super) fn new(config: &CellConfig, index: usize, seed: Seed) -> Self {
        let station = &config.stations[index];
        Self {
            limits: Limits::new(station, config.retry_count),
            queue: Queue::new(station, seed.stream(&format!("station.{index}.source"))),
            frame: None,
            phase: Phase::Idle,
            backoff: Backoff::new(
                config.timing.cw_min,
                seed.stream(&format!("station.{index}.backoff")),
            ),
            ear: Ear {
                busy: 0,
                receives: NOBODY,
                spoilt: false,
                idle_since: 0,
                reserved_until: 0,
                after_error: false,
            },
            answer: None,
            sending: None,
            next_sequence: 0,
            last_sequence: vec![u16::MAX; config.stations.len()],
            counters: StationCounters::default(),
        }
    }

    /// When this station next does something by itself, were nothing to happen.
    pub(super) fn due(&self, slot: u64) -> u64 {
        if let Some(answer) = &self.answer {
            return answer.at;
        }
        match self.phase {
            Phase::Contend => self.backoff.due(slot),
            Phase::Cleared { at } => at,
            // While something is being received, its end decides.
            Phase::AwaitCts { until } | Phase::AwaitAck { until }
                if self.ear.receives == NOBODY =>
            {
                until
            }
            _ => NEVER,
        }
    }
}

impl Limits {
    fn new(config: &StationConfig, count: RetryCount) -> Self {
        let tries = |limit: Option<u32>| match (limit, count) {
            (None, _) => u32::MAX,
            (Some(r), RetryCount::Retries) => r.saturating_add(1),
            (Some(r), RetryCount::Tries) => r.max(1),
        };
        Self {
            rate: config.rate_bps,
            short_tries: tries(config.retry_limit),
            long_tries: tries(config.long_retry_limit),
            rts_threshold: config.rts_threshold_bytes.unwrap_or(u32::MAX),
        }
    }
}
