//! Settings that parse but make no sense.

use super::config::{
    CellConfig, ErrorConfig, HearingConfig, Snr, SourceConfig, StationConfig, TimingConfig,
};
use crate::ConfigError;

/// More stations than this are no cell; the hearing of each is kept in full.
const MOST_STATIONS: usize = 1_000;
/// Times beyond this, one hour, are typing errors.
const LONGEST_NS: u64 = 3_600_000_000_000;

impl CellConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// The first setting that makes no sense, by its key.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check(self)
    }
}

pub(super) fn check(config: &CellConfig) -> Result<(), ConfigError> {
    let count = config.stations.len();
    if count < 2 {
        let reason = format!("a cell needs two stations, this one has {count}");
        return error("stations", reason);
    }
    if count > MOST_STATIONS {
        let reason = format!("{count} stations are more than {MOST_STATIONS}");
        return error("stations", reason);
    }
    timing(&config.timing)?;
    if config.basic_rates_bps.is_empty() {
        return error("basic_rates_bps", "control frames need a rate");
    }
    for (i, station) in config.stations.iter().enumerate() {
        check_station(i, station, count).map_err(|e| e.within(&format!("stations[{i}]")))?;
    }
    hearing(&config.hearing, count)?;
    errors(&config.errors)?;
    let jitter = config.jitter.sigma_db;
    if !(jitter >= 0.0 && jitter.is_finite()) {
        let reason = format!("{jitter} is not a standard deviation in dB");
        return error("jitter.sigma_db", reason);
    }
    if let Some(db) = config.capture_db
        && !(db > 0.0 && db.is_finite())
    {
        let reason = format!("{db} is not a margin in dB above 0");
        return error("capture_db", reason);
    }
    if let Some(db) = config.snr_db {
        finite("snr_db", db)?;
    }
    links(config, count)
}

fn error<T>(key: &str, reason: impl Into<String>) -> Result<T, ConfigError> {
    Err(ConfigError {
        key: key.to_owned(),
        reason: reason.into(),
    })
}

fn finite(key: &str, db: f64) -> Result<(), ConfigError> {
    if db.is_finite() {
        return Ok(());
    }
    error(key, format!("{db} is not a number of dB"))
}

fn station_exists(key: &str, index: u16, count: usize) -> Result<(), ConfigError> {
    if usize::from(index) < count {
        return Ok(());
    }
    error(
        key,
        format!("there is no station {index}; the last is {}", count - 1),
    )
}

fn timing(t: &TimingConfig) -> Result<(), ConfigError> {
    let times = [
        ("timing.slot_ns", Some(t.slot_ns)),
        ("timing.sifs_ns", Some(t.sifs_ns)),
        ("timing.difs_ns", Some(t.difs_ns)),
        ("timing.eifs_ns", t.eifs_ns),
        ("timing.long_plcp_ns", Some(t.long_plcp_ns)),
        ("timing.short_plcp_ns", Some(t.short_plcp_ns)),
        ("timing.sense_ns", Some(t.sense_ns)),
        ("timing.air_delay_ns", Some(t.air_delay_ns)),
        ("timing.response_timeout_ns", t.response_timeout_ns),
    ];
    for (key, ns) in times {
        if ns.is_some_and(|ns| ns > LONGEST_NS) {
            return error(key, "longer than an hour");
        }
    }
    if t.slot_ns == 0 {
        return error("timing.slot_ns", "a slot takes time");
    }
    if t.difs_ns <= t.sifs_ns {
        let reason = format!(
            "{} ns is not longer than SIFS ({} ns): answers would not come first",
            t.difs_ns, t.sifs_ns
        );
        return error("timing.difs_ns", reason);
    }
    if let Some(timeout) = t.response_timeout_ns
        && timeout < t.sifs_ns
    {
        let reason = format!(
            "{timeout} ns is over before an answer begins (SIFS, {} ns)",
            t.sifs_ns
        );
        return error("timing.response_timeout_ns", reason);
    }
    if t.cw_max < t.cw_min {
        let reason = format!("{} is below cw_min ({})", t.cw_max, t.cw_min);
        return error("timing.cw_max", reason);
    }
    if t.cw_max > 65_535 {
        return error("timing.cw_max", format!("{} is above 65535", t.cw_max));
    }
    Ok(())
}

fn check_station(i: usize, station: &StationConfig, count: usize) -> Result<(), ConfigError> {
    let (to, size_bytes) = match &station.source {
        None => return Ok(()),
        Some(SourceConfig::Cbr {
            to,
            size_bytes,
            interval_ns,
            start_ns,
        }) => {
            if *interval_ns == 0 {
                let reason = "datagrams without pause between them; use kind \"saturated\"";
                return error("source.interval_ns", reason);
            }
            if interval_ns.max(&start_ns.unwrap_or(0)) > &(u64::MAX >> 4) {
                return error("source.interval_ns", "longer than any run");
            }
            (*to, *size_bytes)
        }
        Some(SourceConfig::Saturated { to, size_bytes }) => (*to, *size_bytes),
    };
    station_exists("source.to", to, count)?;
    if usize::from(to) == i {
        return error("source.to", "a station cannot send to itself");
    }
    if size_bytes == 0 || size_bytes > 65_535 {
        let reason = format!("{size_bytes} is no length of an IP datagram (1 to 65535)");
        return error("source.size_bytes", reason);
    }
    Ok(())
}

fn hearing(hearing: &HearingConfig, count: usize) -> Result<(), ConfigError> {
    match hearing {
        HearingConfig::All {} => Ok(()),
        HearingConfig::Hidden { pairs } => {
            for (k, pair) in pairs.iter().enumerate() {
                let key = format!("hearing.pairs[{k}]");
                station_exists(&key, pair[0], count)?;
                station_exists(&key, pair[1], count)?;
            }
            Ok(())
        }
        HearingConfig::Matrix { heard } => {
            if heard.len() == count && heard.iter().all(|row| row.len() == count) {
                return Ok(());
            }
            let reason = format!("the matrix must have {count} rows of {count} entries");
            error("hearing.heard", reason)
        }
    }
}

fn errors(errors: &ErrorConfig) -> Result<(), ConfigError> {
    let (points, frame_bytes) = match errors {
        ErrorConfig::Textbook { offset_db } => return finite("errors.offset_db", *offset_db),
        ErrorConfig::Table {
            points,
            frame_bytes,
        } => (points, frame_bytes),
    };
    if points.is_empty() {
        return error("errors.points", "a table needs a point");
    }
    if *frame_bytes == Some(0) {
        return error("errors.frame_bytes", "a frame has a byte");
    }
    for (k, point) in points.iter().enumerate() {
        finite(&format!("errors.points[{k}].snr_db"), point.snr_db)?;
        if !(0.0..=1.0).contains(&point.probability) {
            let key = format!("errors.points[{k}].probability");
            let reason = format!("{} is not a probability (0 to 1)", point.probability);
            return error(&key, reason);
        }
        if k > 0 && points[k - 1].snr_db >= point.snr_db {
            let key = format!("errors.points[{k}].snr_db");
            let reason = format!("{} does not rise over the point before", point.snr_db);
            return error(&key, reason);
        }
    }
    Ok(())
}

fn links(config: &CellConfig, count: usize) -> Result<(), ConfigError> {
    for (k, link) in config.links.iter().enumerate() {
        station_exists(&format!("links[{k}].from"), link.from, count)?;
        station_exists(&format!("links[{k}].to"), link.to, count)?;
        let named_before = config.links[..k]
            .iter()
            .any(|other| (other.from, other.to) == (link.from, link.to));
        if named_before {
            let reason = format!("{} to {} is named twice", link.from, link.to);
            return error(&format!("links[{k}]"), reason);
        }
        let Snr::Trace { points, .. } = &link.snr else {
            if let Snr::Constant { snr_db } = link.snr {
                finite(&format!("links[{k}].snr.snr_db"), snr_db)?;
            }
            continue;
        };
        if points.is_empty() {
            return error(&format!("links[{k}].snr.points"), "a trace needs a point");
        }
        for (j, point) in points.iter().enumerate() {
            let key = format!("links[{k}].snr.points[{j}]");
            finite(&format!("{key}.snr_db"), point.snr_db)?;
            if j > 0 && points[j - 1].at_ns >= point.at_ns {
                let reason = format!("{} does not come after the point before", point.at_ns);
                return error(&format!("{key}.at_ns"), reason);
            }
        }
    }
    Ok(())
}
