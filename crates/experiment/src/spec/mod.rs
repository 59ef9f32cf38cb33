//! The RunSpec: all that crosses from Python into Rust, and all that a run
//! depends on. `docs/runspec.md` describes it for readers.

mod competing;
mod dcsctp;
mod dot11;
mod error;
mod path;
mod tcp;
mod transport;
mod workload;

use headway_sansio::{Duration, Seed};
use serde::{Deserialize, Deserializer, Serialize};

pub use competing::{Bulk, Competing, Messages, RivalTcp, Towards, Web};
pub use dcsctp::{DcsctpOptions, DcsctpTransport};
pub use dot11::{
    Background, BackgroundHearing, Dot11Path, ErrorSpec, Side, TraceSample, Traffic, Voice,
};
pub use error::SpecError;
pub use path::PathSpec;
pub use tcp::{Schedule, TcpKind, TcpTransport, WhenFull};
pub use transport::{DeliveryKind, SctpTransport, TransportSpec, UdpTransport};
pub use workload::WorkloadSpec;

/// The version of the format that this crate reads.
pub const VERSION: u32 = 1;

/// One run, whole.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Must be [`VERSION`].
    pub version: u32,
    /// Which run of which plan; echoed in the results.
    pub run: RunId,
    /// Root of all random streams of the run.
    #[serde(deserialize_with = "hexadecimal")]
    pub seed: Seed,
    /// How long the source makes new calls, in nanoseconds.
    pub duration_ns: u64,
    /// How long after that what is under way may still be delivered, in nanoseconds.
    #[serde(default = "default_drain")]
    pub drain_ns: u64,
    /// Who says what.
    pub workload: WorkloadSpec,
    /// What carries it.
    pub transport: TransportSpec,
    /// What lies between.
    pub path: PathSpec,
    /// Who else uses the path.
    #[serde(default)]
    pub competing: Option<Competing>,
    /// What is kept beside the run's metrics.
    #[serde(default)]
    pub collect: Collect,
}

/// The place of a run in its plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunId {
    /// Unique within the plan.
    pub id: String,
    /// Number of the point.
    pub point: u32,
    /// Number of the replication.
    pub replication: u32,
}

/// What is kept beside the run's metrics.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Collect {
    /// A row for each message.
    pub messages: bool,
    /// A row for each transaction.
    pub transactions: bool,
    /// The congestion window over time, and a row for each flow of a shared path.
    pub windows: bool,
    /// Quantiles of each distribution.
    pub distributions: bool,
}

impl Default for Collect {
    fn default() -> Self {
        Self {
            messages: false,
            transactions: false,
            windows: false,
            distributions: true,
        }
    }
}

const fn default_drain() -> u64 {
    600_000_000_000
}

fn hexadecimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seed, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.len() != 16 {
        return Err(serde::de::Error::custom("a seed is 16 hexadecimal digits"));
    }
    u64::from_str_radix(&text, 16)
        .map(Seed::new)
        .map_err(|_| serde::de::Error::custom("a seed is 16 hexadecimal digits"))
}

impl RunSpec {
    /// Reads and checks one RunSpec.
    ///
    /// # Errors
    /// Text that is not JSON of this format, or a value that no run can have;
    /// the message begins with the key.
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let spec: Self =
            serde_path_to_error::deserialize(&mut reader).map_err(SpecError::format)?;
        reader
            .end()
            .map_err(|e| SpecError::new("", e.to_string()))?;
        spec.validate()?;
        Ok(spec)
    }

    fn validate(&self) -> Result<(), SpecError> {
        if self.version != VERSION {
            return Err(SpecError::new(
                "version",
                format!(
                    "{} is not supported; this build reads version {VERSION}",
                    self.version
                ),
            ));
        }
        if self.duration_ns == 0 {
            return Err(SpecError::new("duration_ns", "must be above 0"));
        }
        self.workload.validate()?;
        self.transport.validate(&self.workload)?;
        self.path.validate()?;
        self.competing
            .as_ref()
            .map_or(Ok(()), Competing::validate)?;
        let shared = self.competing.is_some() || !self.workload.is_sip();
        if shared && matches!(self.path, PathSpec::Dot11(_)) {
            return Err(SpecError::new(
                "path.kind",
                "media flows and competing traffic need the kind links",
            ));
        }
        Ok(())
    }

    /// How long the source makes new calls.
    #[must_use]
    pub fn duration(&self) -> Duration {
        Duration::from_nanos(self.duration_ns)
    }

    /// How long after that what is under way may still be delivered.
    #[must_use]
    pub fn drain(&self) -> Duration {
        Duration::from_nanos(self.drain_ns)
    }
}
