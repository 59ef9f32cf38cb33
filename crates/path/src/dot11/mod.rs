//! An 802.11b cell at packet level: stations that share one channel.

mod air;
mod backoff;
mod cell;
mod channel;
mod config;
pub mod curves;
mod exchange;
mod record;
mod source;
mod station;
mod timing;
mod validate;

pub use cell::Cell;
pub use config::{
    CellConfig, ErrorConfig, ErrorPoint, HearingConfig, JitterConfig, JitterPer, RetryCount, Snr,
    SnrConfig, SourceConfig, StationConfig, TimingConfig, TracePoint,
};
pub use record::{FrameDrop, Input, Journey, Output, SourceCounters, Station, StationCounters};
pub use timing::{ACK_BYTES, CTS_BYTES, Preamble, RTS_BYTES, Rate};

/// A time that does not come.
const NEVER: u64 = u64::MAX;
/// The index of no station.
const NOBODY: u16 = u16::MAX;
