//! The key `path` of a RunSpec for the kind `dot11`: a client and a server that
//! is the access point, with whoever else shares the channel.

mod cell;

use headway_path::dot11::{JitterConfig, Preamble, Rate, RetryCount, Station};
use serde::Deserialize;

/// An 802.11b cell between the caller, which is its client, and the answerer,
/// which is its access point.
///
/// Seed 1's set-up is the default as far as that paper tells it: all at 1 Mb/s,
/// the client at full power, and only the access point's frames weak.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dot11Path {
    /// SNR of the server's frames as the client's card reports it, in dB: its
    /// mean, where something below makes it vary.
    pub snr_db: f64,
    /// SNR of the client's frames at the server, in dB. 32 dB is what seed 1
    /// calls good (section 5.3).
    #[serde(default = "strong")]
    pub uplink_snr_db: f64,
    /// The client's frames are as weak as the server's, in place of
    /// `uplink_snr_db`.
    #[serde(default)]
    pub symmetric: bool,
    /// Standard deviation in dB of the mean that each transaction draws anew
    /// about `snr_db`. Beside `jitter`, which is the cell's own.
    #[serde(default)]
    pub snr_sigma_db: f64,
    /// SNR over time instead of `snr_db`, linear between its points.
    #[serde(default)]
    pub snr_trace: Vec<TraceSample>,
    /// From SNR to frame errors.
    #[serde(default)]
    pub errors: ErrorSpec,
    /// How the SNR varies about its mean.
    #[serde(default)]
    pub jitter: JitterConfig,
    /// Whether ACK, RTS and CTS frames meet channel errors too.
    #[serde(default = "yes")]
    pub control_errors: bool,
    /// Rate of data frames of every station.
    #[serde(default)]
    pub rate_bps: Rate,
    /// Preamble of frames above 1 Mb/s.
    #[serde(default)]
    pub preamble: Preamble,
    /// Retry limit of client and server; `null`: none.
    #[serde(default = "retry_limit")]
    pub retry_limit: Option<u32>,
    /// What a retry limit counts.
    #[serde(default)]
    pub retry_count: RetryCount,
    /// Frames longer than this go after RTS and CTS; `null`: never.
    #[serde(default)]
    pub rts_threshold_bytes: Option<u32>,
    /// Datagrams that may wait at client and server each; `null`: any number.
    #[serde(default = "queue_pkts")]
    pub queue_pkts: Option<u32>,
    /// A frame that much stronger than others that overlap it survives; `null`:
    /// none does.
    #[serde(default)]
    pub capture_db: Option<f64>,
    /// Other stations' traffic.
    #[serde(default)]
    pub background: Background,
    /// A voice stream whose packets' delays are measured beside the signalling.
    #[serde(default)]
    pub voice: Option<Voice>,
}

/// A point of an SNR trace: seconds from the start of the run, and dB.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub struct TraceSample(pub f64, pub f64);

/// From the SNR that a card reports to the probability of a frame error.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ErrorSpec {
    /// See [`ErrorConfig::Textbook`].
    Textbook {
        /// What the card reports less what the receiver has, in dB.
        #[serde(default)]
        offset_db: f64,
    },
    /// See [`ErrorConfig::Table`].
    Table {
        /// Pairs of SNR in dB and probability, by rising SNR.
        points: Vec<(f64, f64)>,
        /// Length of the MAC frame that the table is for; `null`: all alike.
        #[serde(default)]
        frame_bytes: Option<u32>,
    },
}

impl Default for ErrorSpec {
    fn default() -> Self {
        Self::Textbook { offset_db: 0.0 }
    }
}

/// Traffic of stations that take no part in the signalling.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Background {
    /// What they send.
    pub traffic: Traffic,
    /// Of `cbr`: bits of payload per second of each station.
    pub rate_bps: u64,
    /// Payload of a UDP packet.
    pub size_bytes: u32,
    /// How many such stations there are.
    pub stations: u16,
    /// Who receives their frames.
    pub to: Side,
    /// What they and the two ends hear of each other.
    pub hearing: BackgroundHearing,
    /// SNR of the server's frames at these stations less that at the client, in
    /// dB; `null`: they hear the server as well as everybody else.
    pub downlink_gain_db: Option<f64>,
    /// Their retry limit; `null`: none. The standard's default is 7.
    pub retry_limit: Option<u32>,
    /// Packets that may wait at each of them; `null`: any number.
    pub queue_pkts: Option<u32>,
}

impl Default for Background {
    fn default() -> Self {
        Self {
            traffic: Traffic::Silent,
            rate_bps: 1_000_000,
            size_bytes: 1_000,
            stations: 1,
            to: Side::Server,
            hearing: BackgroundHearing::All,
            downlink_gain_db: None,
            retry_limit: retry_limit(),
            queue_pkts: queue_pkts(),
        }
    }
}

/// What background stations send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Nothing: there are none.
    #[default]
    #[serde(rename = "none")]
    Silent,
    /// Packets at a constant rate.
    Cbr,
    /// There is always a packet waiting.
    Saturated,
}

/// One of the two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The caller's.
    Client,
    /// The answerer's, which is the access point.
    Server,
}

impl Side {
    /// Its station in the cell.
    #[must_use]
    pub const fn station(self) -> Station {
        match self {
            Self::Client => Station(0),
            Self::Server => Station(1),
        }
    }
}

/// Who hears background stations, and whom they hear.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackgroundHearing {
    /// All hear all.
    #[default]
    All,
    /// They and the client do not hear each other.
    HiddenFromClient,
    /// They do not hear the server, which hears them: its frames are weak.
    DeafToServer,
}

/// A stream of voice packets between the two ends. They share queue and channel
/// with the signalling; what they go through is counted on its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voice {
    /// Who sends it.
    #[serde(default = "server")]
    pub sender: Side,
    /// Length of its IP datagrams in bytes. 200: 20 ms of G.711 with RTP, UDP
    /// and IPv4 headers.
    #[serde(default = "voice_bytes")]
    pub size_bytes: u32,
    /// From one packet to the next, in nanoseconds.
    #[serde(default = "voice_interval")]
    pub interval_ns: u64,
}

const fn strong() -> f64 {
    32.0
}

const fn yes() -> bool {
    true
}

#[allow(clippy::unnecessary_wraps, reason = "a default of the key")]
const fn retry_limit() -> Option<u32> {
    Some(7)
}

#[allow(clippy::unnecessary_wraps, reason = "a default of the key")]
const fn queue_pkts() -> Option<u32> {
    Some(100)
}

const fn server() -> Side {
    Side::Server
}

const fn voice_bytes() -> u32 {
    200
}

const fn voice_interval() -> u64 {
    20_000_000
}
