//! What the tests of the cell share: a driver and short ways to say things.
#![allow(dead_code, reason = "each test binary uses its own part")]

use headway_path::dot11::{
    Cell, CellConfig, ErrorConfig, ErrorPoint, Input, Output, Snr, SnrConfig, SourceConfig,
    Station, StationConfig, StationCounters,
};
use headway_sansio::{Address, Datagram, Machine, Seed, Time};

pub(crate) const A: Station = Station(0);
pub(crate) const B: Station = Station(1);
pub(crate) const C: Station = Station(2);

pub(crate) fn us(micros: u64) -> Time {
    Time::from_nanos(micros * 1_000)
}

/// A cell of `count` stations with default settings.
pub(crate) fn stations(count: usize) -> CellConfig {
    CellConfig {
        stations: vec![StationConfig::default(); count],
        ..CellConfig::default()
    }
}

/// Errors by SNR that need no curve: below 5 dB everything is lost, above
/// nothing, and from 100 dB on `(snr - 100)` percent are.
pub(crate) fn plain_errors() -> ErrorConfig {
    let points = [(4.99, 1.0), (5.01, 0.0), (100.0, 0.0), (200.0, 1.0)];
    ErrorConfig::Table {
        points: points
            .map(|(snr_db, probability)| ErrorPoint {
                snr_db,
                probability,
            })
            .to_vec(),
        frame_bytes: None,
    }
}

/// The SNR at which `plain_errors` loses this share of frames.
pub(crate) fn losing(share: f64) -> f64 {
    100.0 + 100.0 * share
}

pub(crate) fn link(from: Station, to: Station, snr_db: f64) -> SnrConfig {
    SnrConfig {
        from: from.0,
        to: to.0,
        snr: Snr::Constant { snr_db },
    }
}

pub(crate) fn saturated(to: Station, size_bytes: u32) -> Option<SourceConfig> {
    Some(SourceConfig::Saturated {
        to: to.0,
        size_bytes,
    })
}

/// A cell and what has come out of it.
pub(crate) struct Bench {
    pub(crate) cell: Cell<u32>,
    pub(crate) now: Time,
    pub(crate) outputs: Vec<Output<u32>>,
    next_body: u32,
}

impl Bench {
    pub(crate) fn new(config: &CellConfig) -> Self {
        Self::with_seed(config, 1)
    }

    pub(crate) fn with_seed(config: &CellConfig, seed: u64) -> Self {
        Self {
            cell: Cell::new(config, Seed::new(seed)).unwrap(),
            now: Time::ZERO,
            outputs: Vec::new(),
            next_body: 0,
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.cell.poll_output() {
            self.outputs.push(output);
        }
    }

    /// Hands over a datagram; bodies count up from zero.
    pub(crate) fn send(&mut self, from: Station, to: Station, size_bytes: u32) {
        let datagram = Datagram {
            source: Address(u32::from(from.0)),
            destination: Address(u32::from(to.0)),
            size_bytes,
            body: self.next_body,
        };
        self.next_body += 1;
        self.cell
            .handle_input(self.now, Input { from, to, datagram });
        self.drain();
    }

    /// Runs the cell's own events up to and including `end`.
    pub(crate) fn run_to(&mut self, end: Time) {
        while let Some(at) = self.cell.poll_timeout().filter(|&at| at <= end) {
            self.cell.handle_timeout(at);
            self.now = at;
            let next = self.cell.poll_timeout();
            assert!(next.is_none_or(|next| next > at), "{next:?} after {at:?}");
            self.drain();
        }
        self.now = end;
    }

    /// Runs until the cell has nothing more to do.
    pub(crate) fn finish(&mut self) {
        while let Some(at) = self.cell.poll_timeout() {
            self.run_to(at);
        }
    }

    pub(crate) fn counters(&self, station: Station) -> StationCounters {
        *self.cell.counters(station).unwrap()
    }

    /// When datagrams came out, by body.
    pub(crate) fn arrivals(&self) -> Vec<(u32, Time)> {
        self.outputs
            .iter()
            .filter_map(|output| match output {
                Output::Delivered {
                    datagram, journey, ..
                } => Some((datagram.body, journey.end)),
                Output::Dropped { .. } => None,
            })
            .collect()
    }

    /// How many were dropped.
    pub(crate) fn dropped(&self) -> usize {
        self.outputs.len() - self.arrivals().len()
    }
}
