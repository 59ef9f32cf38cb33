//! The 802.11b cell before the path.

use bytes::Bytes;
use headway_path::ConfigError;
use headway_path::dot11::{
    Cell, CellConfig, Input, JitterPer, Output, SourceCounters, Station, StationCounters,
};
use headway_sansio::{Address, Datagram, Machine, Seed, Time};
use serde::{Deserialize, Serialize};

use super::{Direction, Parcel};

/// The key `dot11` of the relay's settings: clients sit behind one station of
/// the cell, the path begins at another, the access point.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RadioConfig {
    /// The cell itself.
    pub(crate) cell: CellConfig,
    /// Index of the station that sends what clients send.
    #[serde(default)]
    pub(crate) client: u16,
    /// Index of the station that sends what the target sends.
    #[serde(default = "second")]
    pub(crate) access_point: u16,
}

fn second() -> u16 {
    1
}

/// A cell that carries parcels between two of its stations.
pub(super) struct Radio {
    cell: Cell<(Direction, Bytes)>,
    client: Station,
    access_point: Station,
}

/// What became of a parcel in the cell.
pub(super) enum Carried {
    /// It came out at this time.
    Out(Time, Parcel),
    /// It did not.
    Lost(Parcel),
}

/// What one station counted, for the report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StationReport {
    pub(crate) offered: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped_queue: u64,
    pub(crate) dropped_retry: u64,
    pub(crate) tries: u64,
    pub(crate) retries: u64,
    pub(crate) collisions: u64,
    pub(crate) channel_errors: u64,
    pub(crate) air_s: f64,
    /// Traffic of the station's own.
    pub(crate) source_offered: u64,
    pub(crate) source_delivered: u64,
}

impl RadioConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.cell.validate().map_err(|error| error.within("cell"))?;
        let count = self.cell.stations.len();
        for (key, index) in [("client", self.client), ("access_point", self.access_point)] {
            if usize::from(index) >= count {
                return Err(ConfigError {
                    key: key.to_owned(),
                    reason: format!("there is no station {index}; the last is {}", count - 1),
                });
            }
        }
        if self.client == self.access_point {
            return Err(ConfigError {
                key: "access_point".to_owned(),
                reason: "the client's own station; name another one".to_owned(),
            });
        }
        if self.cell.jitter.per == JitterPer::Transaction && self.cell.jitter.sigma_db > 0.0 {
            return Err(ConfigError {
                key: "cell.jitter.per".to_owned(),
                reason: "a relay sees no transactions; use \"try\" or \"message\"".to_owned(),
            });
        }
        Ok(())
    }
}

impl Radio {
    pub(super) fn new(config: &RadioConfig, seed: Seed) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            cell: Cell::new(&config.cell, seed)?,
            client: Station(config.client),
            access_point: Station(config.access_point),
        })
    }

    /// The station on the parcel's side takes it.
    pub(super) fn send(&mut self, now: Time, parcel: Parcel) {
        let (from, to) = match parcel.direction {
            Direction::Forward => (self.client, self.access_point),
            Direction::Reverse => (self.access_point, self.client),
        };
        let datagram = Datagram {
            source: parcel.client,
            destination: Address(0),
            size_bytes: parcel.size_bytes,
            body: (parcel.direction, parcel.payload),
        };
        self.cell.handle_input(now, Input { from, to, datagram });
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.cell.handle_timeout(now);
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.cell.poll_timeout()
    }

    pub(super) fn poll(&mut self) -> Option<Carried> {
        Some(match self.cell.poll_output()? {
            Output::Delivered {
                datagram, journey, ..
            } => Carried::Out(journey.end, unpack(datagram)),
            Output::Dropped { datagram, .. } => Carried::Lost(unpack(datagram)),
        })
    }

    /// What each station counted, by its index.
    pub(super) fn report(&self) -> Vec<StationReport> {
        (0..self.cell.stations())
            .filter_map(|index| self.cell.counters(Station(u16::try_from(index).ok()?)))
            .map(station_report)
            .collect()
    }
}

fn unpack(datagram: Datagram<(Direction, Bytes)>) -> Parcel {
    let (direction, payload) = datagram.body;
    Parcel {
        client: datagram.source,
        direction,
        size_bytes: datagram.size_bytes,
        payload,
    }
}

fn station_report(counters: &StationCounters) -> StationReport {
    let SourceCounters {
        offered: source_offered,
        delivered: source_delivered,
        ..
    } = counters.source;
    StationReport {
        offered: counters.offered,
        delivered: counters.delivered,
        dropped_queue: counters.dropped_queue,
        dropped_retry: counters.dropped_retry,
        tries: counters.tries,
        retries: counters.retries,
        collisions: counters.collisions,
        channel_errors: counters.channel_errors,
        air_s: counters.air.as_secs_f64(),
        source_offered,
        source_delivered,
    }
}
