//! From the keys of a path to the settings of a cell.

use headway_path::ConfigError;
use headway_path::dot11::{
    CellConfig, ErrorConfig, ErrorPoint, HearingConfig, Snr, SnrConfig, SourceConfig,
    StationConfig, TracePoint,
};

use super::{
    Background, BackgroundHearing, Dot11Path, ErrorSpec, Side, TraceSample, Traffic, strong,
};

/// Headers of a background packet: IPv4 20 and UDP 8 bytes.
const BACKGROUND_HEADER_BYTES: u32 = 28;

impl Dot11Path {
    /// Checks every value.
    ///
    /// # Errors
    /// The first that makes no sense, by its key within `path`.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (key, db) in [
            ("snr_db", self.snr_db),
            ("uplink_snr_db", self.uplink_snr_db),
            ("snr_sigma_db", self.snr_sigma_db),
            (
                "background.downlink_gain_db",
                self.background.downlink_gain_db.unwrap_or(0.0),
            ),
        ] {
            if !db.is_finite() {
                return wrong(key, "is not a number");
            }
        }
        if self.snr_sigma_db < 0.0 {
            return wrong("snr_sigma_db", "is below 0");
        }
        if self.snr_sigma_db > 0.0 && !self.snr_trace.is_empty() {
            let reason = "the mean cannot be drawn for each transaction where snr_trace gives it";
            return wrong("snr_sigma_db", reason);
        }
        for (i, point) in self.snr_trace.iter().enumerate() {
            if !(0.0..=1e9).contains(&point.0) {
                return wrong(&format!("snr_trace[{i}]"), "the time is not in 0 to 1e9 s");
            }
        }
        let background = &self.background;
        if background.traffic != Traffic::Silent {
            if background.stations == 0 {
                return wrong("background.stations", "must be at least 1");
            }
            if background.size_bytes == 0 || background.size_bytes > 1_472 {
                let reason = format!(
                    "{} bytes; it must be 1 to 1472, so that a packet is not fragmented",
                    background.size_bytes
                );
                return wrong("background.size_bytes", &reason);
            }
            if background.traffic == Traffic::Cbr && background.rate_bps == 0 {
                return wrong("background.rate_bps", "must be above 0");
            }
        }
        if let Some(voice) = self.voice {
            if voice.interval_ns == 0 {
                return wrong("voice.interval_ns", "must be above 0");
            }
            if voice.size_bytes == 0 || voice.size_bytes > 1_500 {
                return wrong("voice.size_bytes", "must be 1 to 1500");
            }
        }
        self.cell().validate()
    }

    /// The cell that it describes: station 0 is the client, 1 the server, the
    /// others make the background.
    #[must_use]
    pub fn cell(&self) -> CellConfig {
        let end = StationConfig {
            rate_bps: self.rate_bps,
            retry_limit: self.retry_limit,
            rts_threshold_bytes: self.rts_threshold_bytes,
            queue_pkts: self.queue_pkts,
            ..StationConfig::default()
        };
        let other = StationConfig {
            retry_limit: self.background.retry_limit,
            queue_pkts: self.background.queue_pkts,
            source: self.background.source(),
            ..end.clone()
        };
        let others = match self.background.traffic {
            Traffic::Silent => 0,
            _ => usize::from(self.background.stations),
        };
        let mut stations = vec![end; 2];
        stations.extend(std::iter::repeat_n(other, others));
        CellConfig {
            hearing: self.background.hearing.among(stations.len()),
            links: self.links(stations.len()),
            stations,
            preamble: self.preamble,
            retry_count: self.retry_count,
            errors: self.errors.config(),
            jitter: self.jitter,
            control_errors: self.control_errors,
            capture_db: self.capture_db,
            snr_db: Some(strong()),
            ..CellConfig::default()
        }
    }

    fn links(&self, stations: usize) -> Vec<SnrConfig> {
        let weak = |gain_db: f64| {
            if self.snr_trace.is_empty() {
                let snr_db = self.snr_db + gain_db;
                return Snr::Constant { snr_db };
            }
            let point = |&TraceSample(at_s, snr_db): &TraceSample| TracePoint {
                at_ns: (at_s * 1e9).round() as u64,
                snr_db: snr_db + gain_db,
            };
            Snr::Trace {
                points: self.snr_trace.iter().map(point).collect(),
                linear: true,
            }
        };
        let uplink = if self.symmetric {
            weak(0.0)
        } else {
            let snr_db = self.uplink_snr_db;
            Snr::Constant { snr_db }
        };
        let (client, server) = (Side::Client.station().0, Side::Server.station().0);
        let mut links = vec![
            SnrConfig {
                from: server,
                to: client,
                snr: weak(0.0),
            },
            SnrConfig {
                from: client,
                to: server,
                snr: uplink,
            },
        ];
        if let Some(gain_db) = self.background.downlink_gain_db {
            links.extend((2..stations).map(|to| SnrConfig {
                from: server,
                to: u16::try_from(to).unwrap_or(u16::MAX),
                snr: weak(gain_db),
            }));
        }
        links
    }
}

impl Background {
    fn source(&self) -> Option<SourceConfig> {
        let size_bytes = self.size_bytes + BACKGROUND_HEADER_BYTES;
        let to = self.to.station().0;
        match self.traffic {
            Traffic::Silent => None,
            Traffic::Saturated => Some(SourceConfig::Saturated { to, size_bytes }),
            Traffic::Cbr => Some(SourceConfig::Cbr {
                to,
                size_bytes,
                interval_ns: u64::from(self.size_bytes) * 8_000_000_000 / self.rate_bps.max(1),
                start_ns: None,
            }),
        }
    }
}

impl BackgroundHearing {
    fn among(self, stations: usize) -> HearingConfig {
        let (client, server) = (Side::Client.station().0, Side::Server.station().0);
        let others = 2..u16::try_from(stations).unwrap_or(u16::MAX);
        match self {
            Self::All => HearingConfig::All {},
            Self::HiddenFromClient => HearingConfig::Hidden {
                pairs: others.map(|other| [client, other]).collect(),
            },
            Self::DeafToServer => {
                let mut heard = vec![vec![true; stations]; stations];
                for other in others {
                    heard[usize::from(server)][usize::from(other)] = false;
                }
                HearingConfig::Matrix { heard }
            }
        }
    }
}

impl ErrorSpec {
    fn config(&self) -> ErrorConfig {
        match self {
            Self::Textbook { offset_db } => ErrorConfig::Textbook {
                offset_db: *offset_db,
            },
            Self::Table {
                points,
                frame_bytes,
            } => ErrorConfig::Table {
                points: points
                    .iter()
                    .map(|&(snr_db, probability)| ErrorPoint {
                        snr_db,
                        probability,
                    })
                    .collect(),
                frame_bytes: *frame_bytes,
            },
        }
    }
}

fn wrong(key: &str, reason: &str) -> Result<(), ConfigError> {
    Err(ConfigError {
        key: key.to_owned(),
        reason: reason.to_owned(),
    })
}
