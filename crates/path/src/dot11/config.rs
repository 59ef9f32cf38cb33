//! The settings of a cell, as they stand in a RunSpec.
//!
//! Every key has a default, and unknown keys are errors. Variants without keys
//! are empty structs rather than units, because serde would let any key pass
//! beside the tag of a unit.

use serde::{Deserialize, Serialize};

use super::timing::{Preamble, Rate};

/// A whole cell: one channel and the stations on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CellConfig {
    /// The stations; the others name them by their index.
    pub stations: Vec<StationConfig>,
    /// Preamble of frames above 1 Mb/s.
    pub preamble: Preamble,
    /// Times and windows of the standard.
    pub timing: TimingConfig,
    /// Rates at which control frames may go. hostap's default is 1 and 2 Mb/s.
    pub basic_rates_bps: Vec<Rate>,
    /// Bytes that a frame adds to its IP datagram: MAC header 24, frame check
    /// sequence 4, LLC and SNAP 8.
    pub mac_overhead_bytes: u32,
    /// What a retry limit counts.
    pub retry_count: RetryCount,
    /// Who hears whom.
    pub hearing: HearingConfig,
    /// How an SNR becomes a frame error.
    pub errors: ErrorConfig,
    /// How the SNR varies about its mean.
    pub jitter: JitterConfig,
    /// Whether the channel may also destroy control frames (ACK, RTS, CTS).
    pub control_errors: bool,
    /// Capture: a frame that is stronger at a receiver than any other there by at
    /// least so many dB survives, whether it came first or later (as measured by
    /// Lee et al., WiNTECH 2007, on 802.11a). `None`: whatever overlaps is lost.
    pub capture_db: Option<f64>,
    /// SNR as the card reports it, for every ordered pair that `links` does not
    /// name. `None`: no channel errors.
    pub snr_db: Option<f64>,
    /// SNR of single ordered pairs, so that two directions may differ.
    pub links: Vec<SnrConfig>,
}

impl Default for CellConfig {
    fn default() -> Self {
        Self {
            stations: Vec::new(),
            preamble: Preamble::Long,
            timing: TimingConfig::default(),
            basic_rates_bps: vec![Rate::Mbps1, Rate::Mbps2],
            mac_overhead_bytes: 36,
            retry_count: RetryCount::Retries,
            hearing: HearingConfig::default(),
            errors: ErrorConfig::default(),
            jitter: JitterConfig::default(),
            control_errors: true,
            capture_db: None,
            snr_db: None,
            links: Vec::new(),
        }
    }
}

/// Times of the standard, in nanoseconds, and the contention window.
///
/// The defaults are those of the DSSS and high-rate PHYs (IEEE 802.11-1999,
/// section 15.3.3; 802.11b-1999, section 18.3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimingConfig {
    /// Slot: 20 us.
    pub slot_ns: u64,
    /// Short inter-frame space: 10 us.
    pub sifs_ns: u64,
    /// DCF inter-frame space: SIFS + 2 slots = 50 us.
    pub difs_ns: u64,
    /// Extended inter-frame space; `None`: SIFS + an ACK at 1 Mb/s + DIFS
    /// (section 9.2.10), 364 us. As long as DIFS: none.
    pub eifs_ns: Option<u64>,
    /// First contention window: 31.
    pub cw_min: u32,
    /// Largest contention window: 1023.
    pub cw_max: u32,
    /// Long preamble and header: 192 us.
    pub long_plcp_ns: u64,
    /// Short preamble and header: 96 us.
    pub short_plcp_ns: u64,
    /// How long carrier sense takes: a station that is to send less than this
    /// after another began does so and collides. 15 us (CCA; the slot is CCA
    /// plus 5 us of turnaround).
    pub sense_ns: u64,
    /// Propagation, added to the air time of each frame. 0 by default.
    pub air_delay_ns: u64,
    /// An answer (ACK or CTS) must have begun so long after the end of a frame;
    /// `None`: SIFS + slot + preamble and header, 222 us.
    pub response_timeout_ns: Option<u64>,
}

impl Default for TimingConfig {
    fn default() -> Self {
        Self {
            slot_ns: 20_000,
            sifs_ns: 10_000,
            difs_ns: 50_000,
            eifs_ns: None,
            cw_min: 31,
            cw_max: 1_023,
            long_plcp_ns: 192_000,
            short_plcp_ns: 96_000,
            sense_ns: 15_000,
            air_delay_ns: 0,
            response_timeout_ns: None,
        }
    }
}

/// One station.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StationConfig {
    /// Rate of its data frames.
    pub rate_bps: Rate,
    /// Retry limit of frames sent without RTS, and of the RTS itself; `None`:
    /// no limit. The standard's short limit is 7.
    pub retry_limit: Option<u32>,
    /// Retry limit of frames sent after RTS and CTS; `None`: no limit. The
    /// standard's long limit is 4.
    pub long_retry_limit: Option<u32>,
    /// Frames longer than this (MAC header and FCS included) are sent after RTS
    /// and CTS; `None`: never.
    pub rts_threshold_bytes: Option<u32>,
    /// Datagrams that may wait while another is being sent; `None`: any number.
    /// 100 by default, the transmit queue of an interface in Linux before 2.6
    /// (1000 from 2.6 on).
    pub queue_pkts: Option<u32>,
    /// Traffic of its own that the cell makes.
    pub source: Option<SourceConfig>,
}

impl Default for StationConfig {
    fn default() -> Self {
        Self {
            rate_bps: Rate::Mbps1,
            retry_limit: Some(7),
            long_retry_limit: Some(4),
            rts_threshold_bytes: None,
            queue_pkts: Some(100),
            source: None,
        }
    }
}

/// Traffic that a station makes by itself. It carries no body and comes out
/// nowhere; it takes queue places and air time, and is counted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceConfig {
    /// One datagram each interval.
    Cbr {
        /// Index of the receiving station.
        to: u16,
        /// Length of its IP datagrams.
        size_bytes: u32,
        /// From one datagram to the next.
        interval_ns: u64,
        /// When the first comes; `None`: drawn within one interval.
        #[serde(default)]
        start_ns: Option<u64>,
    },
    /// Always a datagram waiting.
    Saturated {
        /// Index of the receiving station.
        to: u16,
        /// Length of its IP datagrams.
        size_bytes: u32,
    },
}

/// What a retry limit r counts. Drivers and the standard do not agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryCount {
    /// Retries: r + 1 tries in all.
    #[default]
    Retries,
    /// Tries: r in all, at least one (IEEE 802.11-1999, section 11.4.4.2.9:
    /// the maximum number of transmission attempts).
    Tries,
}

/// Who senses and receives whose frames.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum HearingConfig {
    /// All hear all.
    All {},
    /// All hear all, but the stations of these pairs do not hear each other.
    Hidden {
        /// Pairs of indices.
        pairs: Vec<[u16; 2]>,
    },
    /// Row: sender; column: whether that station hears it.
    Matrix {
        /// One row for each station.
        heard: Vec<Vec<bool>>,
    },
}

impl Default for HearingConfig {
    fn default() -> Self {
        Self::All {}
    }
}

/// How an SNR becomes the probability of a frame error.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ErrorConfig {
    /// Textbook curves by modulation, see [`super::curves`].
    Textbook {
        /// What the card reports less what the receiver has, in dB.
        #[serde(default)]
        offset_db: f64,
    },
    /// A table over the SNR that the card reports; linear between its points,
    /// constant beyond the first and the last.
    Table {
        /// The points, by rising SNR.
        points: Vec<ErrorPoint>,
        /// Length of the frame that the table is for: others have as much more
        /// or less to lose as they have bits. `None`: every frame, ACKs
        /// included, has the probability of the table.
        #[serde(default)]
        frame_bytes: Option<u32>,
    },
}

impl Default for ErrorConfig {
    fn default() -> Self {
        Self::Textbook { offset_db: 0.0 }
    }
}

/// A point of an error table.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorPoint {
    /// SNR as the card reports it.
    pub snr_db: f64,
    /// Probability that a frame is lost.
    pub probability: f64,
}

/// Gaussian variation of the SNR about its mean.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JitterConfig {
    /// Standard deviation in dB.
    pub sigma_db: f64,
    /// How long one draw lasts.
    pub per: JitterPer,
}

/// How long one draw of the SNR lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JitterPer {
    /// One frame on the air: tries are independent.
    #[default]
    Try,
    /// All tries of one datagram between its two stations, ACKs likewise.
    /// Other stations that overhear draw for each frame.
    Message,
    /// Until [`super::Cell::begin_transaction`], for each ordered pair.
    Transaction,
}

/// The SNR from one station to another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnrConfig {
    /// Index of the sender.
    pub from: u16,
    /// Index of the receiver.
    pub to: u16,
    /// Its SNR, as the card reports it.
    pub snr: Snr,
}

/// An SNR over time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Snr {
    /// The same all the time.
    Constant {
        /// In dB.
        snr_db: f64,
    },
    /// Recorded or planned: before the first point its value, after the last
    /// the last's.
    Trace {
        /// The points, by rising time.
        points: Vec<TracePoint>,
        /// Between two points: `true` linear, `false` the earlier one's value.
        #[serde(default)]
        linear: bool,
    },
}

/// A point of an SNR trace.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracePoint {
    /// When, in nanoseconds from zero.
    pub at_ns: u64,
    /// SNR in dB.
    pub snr_db: f64,
}
