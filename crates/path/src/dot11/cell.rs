//! The cell as a machine.

use std::collections::VecDeque;

use headway_sansio::{Duration, Machine, Seed, Time};

use super::channel::Channels;
use super::config::{CellConfig, HearingConfig};
use super::record::{FrameDrop, Input, Journey, Output, Station, StationCounters};
use super::source::Waiting;
use super::station::{Content, Frame, Phase, StationState};
use super::timing::Timing;
use super::{NEVER, validate};
use crate::ConfigError;

/// Kinds of event, in the order in which those of one instant happen: what ends
/// ends before anything begins, and an answer that begins just in time is in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    End = 0,
    Begin = 1,
    Timeout = 2,
    Arrival = 3,
}

/// One 802.11b channel and the stations on it. See the [module](super) for what
/// it models.
///
/// Stations that transmit at the same time disturb each other at every receiver
/// that hears both; who wins the medium, and how often a frame is tried, follows
/// from the rules of the distributed coordination function.
pub struct Cell<B> {
    pub(super) timing: Timing,
    pub(super) mac_overhead_bytes: u32,
    pub(super) cw_min: u32,
    pub(super) cw_max: u32,
    pub(super) capture_db: Option<f64>,
    pub(super) channels: Channels,
    pub(super) stations: Vec<StationState<B>>,
    /// By sender: who hears it.
    pub(super) hearers: Vec<Vec<u16>>,
    /// Each station's next event, then each station's next arrival from its
    /// source: four times the time plus the kind, so that the smallest is next.
    pub(super) wake: Vec<u64>,
    /// Index and value of the smallest of `wake`, up to date between calls.
    next: (usize, u64),
    pub(super) outputs: VecDeque<Output<B>>,
    pub(super) on_air: u32,
    pub(super) busy_since: u64,
    pub(super) busy: u64,
}

impl<B> Cell<B> {
    /// A cell of these settings that draws from streams of `seed`. Its time
    /// begins at zero, with an idle medium.
    ///
    /// # Errors
    /// The first setting that makes no sense, by its key.
    pub fn new(config: &CellConfig, seed: Seed) -> Result<Self, ConfigError> {
        validate::check(config)?;
        let count = config.stations.len();
        let with_sources = config.stations.iter().any(|s| s.source.is_some());
        let mut cell = Self {
            timing: Timing::new(config),
            mac_overhead_bytes: config.mac_overhead_bytes,
            cw_min: config.timing.cw_min,
            cw_max: config.timing.cw_max,
            capture_db: config.capture_db,
            channels: Channels::new(config, seed),
            stations: (0..count)
                .map(|index| StationState::new(config, index, seed))
                .collect(),
            hearers: hearers(config),
            wake: vec![NEVER; if with_sources { 2 * count } else { count }],
            next: (0, NEVER),
            outputs: VecDeque::new(),
            on_air: 0,
            busy_since: 0,
            busy: 0,
        };
        for i in 0..count {
            // The medium counts as idle since before the start: the first frame
            // waits for one DIFS.
            cell.stations[i]
                .backoff
                .run(cell.timing.difs, 0, cell.timing.slot);
            cell.await_source(i);
        }
        cell.find_next();
        Ok(cell)
    }

    /// Sets the SNR from one station to another (as the receiver's card reports
    /// it, in dB) from `now` on. Frames that end after `now` meet it. Ends a trace
    /// of that pair; nothing happens for stations that do not exist.
    pub fn set_snr(&mut self, now: Time, from: Station, to: Station, snr_db: f64) {
        self.run_until(now.as_nanos());
        let count = self.stations.len();
        let (from, to) = (usize::from(from.0), usize::from(to.0));
        if from < count && to < count && !snr_db.is_nan() {
            self.channels.set_snr(from, to, snr_db);
        }
    }

    /// The mean SNR from one station to another at `now`; `None` where there is
    /// no such pair.
    #[must_use]
    pub fn snr_db(&self, now: Time, from: Station, to: Station) -> Option<f64> {
        let count = self.stations.len();
        let (from, to) = (usize::from(from.0), usize::from(to.0));
        (from < count && to < count).then(|| self.channels.snr_db(from, to, now.as_nanos()))
    }

    /// From `now` on the SNR of every pair has a new deviation from its mean,
    /// where the settings say that one lasts for a transaction.
    pub fn begin_transaction(&mut self, now: Time) {
        self.run_until(now.as_nanos());
        self.channels.begin_transaction();
    }

    /// When a datagram of this length, handed to `from` at `now`, would arrive if
    /// every frame before it and its own needed one try without contention. It
    /// takes no place and draws nothing.
    #[must_use]
    pub fn peek(&self, now: Time, from: Station, size_bytes: u32) -> Time {
        let Some(station) = self.stations.get(usize::from(from.0)) else {
            return now;
        };
        let (timing, limits) = (&self.timing, &station.limits);
        let nominal = |bytes: u32| {
            let air = timing.air(limits.rate, bytes);
            timing.uncontended(limits.rate, air, bytes > limits.rts_threshold)
        };
        let answer = timing.sifs + timing.ack(limits.rate);
        let mut wait = nominal(size_bytes.saturating_add(self.mac_overhead_bytes));
        if let Some(frame) = &station.frame {
            wait += nominal(frame.bytes) + answer;
        }
        let waiting = station.queue.len() as u64;
        if let Some(mean) = station.queue.bytes().checked_div(waiting) {
            let mean = u32::try_from(mean).unwrap_or(u32::MAX);
            wait += waiting * (nominal(mean.saturating_add(self.mac_overhead_bytes)) + answer);
        }
        now + Duration::from_nanos(wait)
    }

    /// What a station has counted so far; `None` where there is no such station.
    #[must_use]
    pub fn counters(&self, station: Station) -> Option<&StationCounters> {
        self.stations
            .get(usize::from(station.0))
            .map(|s| &s.counters)
    }

    /// Number of stations.
    #[must_use]
    pub fn stations(&self) -> usize {
        self.stations.len()
    }

    /// Datagrams that a station holds at its last event, the one being sent
    /// included; zero where there is no such station.
    #[must_use]
    pub fn held_pkts(&self, station: Station) -> usize {
        self.stations
            .get(usize::from(station.0))
            .map_or(0, |s| s.queue.len() + usize::from(s.frame.is_some()))
    }

    /// Time up to `now` during which at least one frame was on the air.
    #[must_use]
    pub fn busy(&self, now: Time) -> Duration {
        let present = if self.on_air > 0 {
            now.as_nanos().saturating_sub(self.busy_since)
        } else {
            0
        };
        Duration::from_nanos(self.busy + present)
    }

    /// Share of the time up to `now` during which the channel was busy, 0 to 1.
    #[must_use]
    pub fn busy_share(&self, now: Time) -> f64 {
        if now == Time::ZERO {
            return 0.0;
        }
        self.busy(now).as_secs_f64() / now.as_secs_f64()
    }

    /// Does everything that is due before `limit`.
    fn run_until(&mut self, limit: u64) {
        loop {
            let (index, key) = self.next;
            if key == NEVER || key >> 2 >= limit {
                return;
            }
            self.happen(index, key);
            self.find_next();
        }
    }

    fn happen(&mut self, index: usize, key: u64) {
        let now = key >> 2;
        self.wake[index] = NEVER;
        match key & 3 {
            0 => self.end_transmission(index, now),
            1 => self.begin_due(index, now),
            2 => self.fail(index, now),
            _ => self.source_arrival(index - self.stations.len(), now),
        }
    }

    /// Finds the earliest event; of those at one instant and of one kind the
    /// lowest station's. With the few stations of a cell a look at each is
    /// quicker than any heap.
    fn find_next(&mut self) {
        let mut found = (0, NEVER);
        for (index, &key) in self.wake.iter().enumerate() {
            if key < found.1 {
                found = (index, key);
            }
        }
        self.next = found;
    }

    pub(super) fn set_wake(&mut self, index: usize, at: u64, event: Event) {
        self.wake[index] = if at >= NEVER >> 2 {
            NEVER
        } else {
            at << 2 | event as u64
        };
    }

    /// Brings a station's next event up to date, unless it is sending.
    pub(super) fn arm(&mut self, i: usize) {
        let station = &self.stations[i];
        if station.sending.is_some() {
            return;
        }
        let event = match station.phase {
            Phase::AwaitCts { .. } | Phase::AwaitAck { .. } if station.answer.is_none() => {
                Event::Timeout
            }
            _ => Event::Begin,
        };
        self.set_wake(i, station.due(self.timing.slot), event);
    }

    /// An idle station waits for its own source.
    pub(super) fn await_source(&mut self, i: usize) {
        let at = self.stations[i].queue.next_arrival();
        if at != NEVER {
            self.set_wake(self.stations.len() + i, at, Event::Arrival);
        }
    }

    fn source_arrival(&mut self, i: usize, now: u64) {
        let station = &mut self.stations[i];
        // A station that got something to do meanwhile adds its source's
        // arrivals when it next looks at its queue.
        if station.frame.is_some() {
            return;
        }
        match station.queue.arrival(now, &mut station.counters.source) {
            Some(waiting) => self.begin_service(i, waiting, now),
            None => self.await_source(i),
        }
    }

    /// A datagram is the first of its station from `now` on.
    pub(super) fn begin_service(&mut self, i: usize, waiting: Waiting<B>, now: u64) {
        let bytes = waiting.size_bytes.saturating_add(self.mac_overhead_bytes);
        let jitter = self.channels.begin_message(i, usize::from(waiting.to));
        let slot = self.timing.slot;
        let station = &mut self.stations[i];
        let sequence = station.next_sequence;
        station.next_sequence = (sequence + 1) & 0xfff;
        station.frame = Some(Frame {
            to: waiting.to,
            bytes,
            size_bytes: waiting.size_bytes,
            air: self.timing.air(station.limits.rate, bytes),
            sequence,
            rts: bytes > station.limits.rts_threshold,
            tries: 0,
            short_failures: 0,
            long_failures: 0,
            handed: waiting.handed,
            head: now,
            first_try_end: now,
            last_try_end: now,
            jitter,
            arrived: false,
            content: match waiting.datagram {
                Some(datagram) => Content::Datagram(Some(datagram)),
                None => Content::Source,
            },
        });
        station.phase = Phase::Contend;
        station.backoff.settle(now, slot);
        // IEEE 802.11-1999, section 9.2.5.1: who finds the medium busy, by
        // carrier sense or by reservation, begins with a back-off.
        let busy = !station.backoff.is_running() || station.ear.reserved_until > now;
        if busy && !station.backoff.is_pending() {
            station.backoff.draw();
        }
        self.arm(i);
    }

    /// Puts out a datagram that never got as far as a first try.
    fn refuse(&mut self, now: Time, input: Input<B>, cause: FrameDrop) {
        let would_arrive = match cause {
            FrameDrop::NoSuchStation => now,
            _ => self.peek(now, input.from, input.datagram.size_bytes),
        };
        self.outputs.push_back(Output::Dropped {
            from: input.from,
            to: input.to,
            datagram: input.datagram,
            cause,
            journey: Journey {
                handed: now,
                head: now,
                first_try_end: now,
                end: now,
                would_arrive,
                tries: 0,
                snr_db: f64::NAN,
            },
        });
    }

    fn accept(&mut self, now: Time, input: Input<B>) {
        let (from, to) = (usize::from(input.from.0), usize::from(input.to.0));
        let count = self.stations.len();
        if from >= count {
            return self.refuse(now, input, FrameDrop::NoSuchStation);
        }
        let station = &mut self.stations[from];
        station.counters.offered += 1;
        if to >= count || to == from {
            station.counters.dropped_queue += 1;
            return self.refuse(now, input, FrameDrop::NoSuchStation);
        }
        let waiting = Waiting {
            handed: now.as_nanos(),
            to: input.to.0,
            size_bytes: input.datagram.size_bytes,
            datagram: Some(input.datagram),
        };
        if station.frame.is_none() {
            return self.begin_service(from, waiting, now.as_nanos());
        }
        if let Err(Waiting {
            datagram: Some(datagram),
            ..
        }) = station.queue.push(waiting, &mut station.counters.source)
        {
            station.counters.dropped_queue += 1;
            let input = Input {
                from: input.from,
                to: input.to,
                datagram,
            };
            self.refuse(now, input, FrameDrop::QueueFull);
        }
    }
}

impl<B> Machine for Cell<B> {
    type Input = Input<B>;
    type Output = Output<B>;

    fn handle_input(&mut self, now: Time, input: Input<B>) {
        self.run_until(now.as_nanos());
        self.accept(now, input);
        self.find_next();
    }

    fn handle_timeout(&mut self, now: Time) {
        self.run_until(now.as_nanos().saturating_add(1));
    }

    fn poll_output(&mut self) -> Option<Output<B>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        (self.next.1 != NEVER).then(|| Time::from_nanos(self.next.1 >> 2))
    }
}

/// By sender: the stations that hear it.
fn hearers(config: &CellConfig) -> Vec<Vec<u16>> {
    let count = u16::try_from(config.stations.len()).unwrap_or(u16::MAX);
    let hears = |from: u16, by: u16| match &config.hearing {
        HearingConfig::All {} => true,
        HearingConfig::Hidden { pairs } => {
            !pairs.contains(&[from, by]) && !pairs.contains(&[by, from])
        }
        HearingConfig::Matrix { heard } => heard[usize::from(from)][usize::from(by)],
    };
    (0..count)
        .map(|from| {
            (0..count)
                .filter(|&by| by != from && hears(from, by))
                .collect()
        })
        .collect()
}
