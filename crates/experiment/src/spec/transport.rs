//! The key `transport` of a RunSpec.

use headway_apps::Delivery;
use headway_sctp::{Config, Overrides};
use serde::Deserialize;

use super::SpecError;

/// What carries the messages.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TransportSpec {
    /// One SCTP association.
    Sctp(SctpTransport),
}

/// The keys of `transport` for the kind `sctp`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SctpTransport {
    /// How messages map onto streams.
    pub delivery: DeliveryKind,
    /// Streams that `delivery = "streams"` uses.
    pub streams: u16,
    /// Name of a stack profile.
    pub profile: String,
    /// Single knobs over the profile.
    pub sctp: Overrides,
}

/// The values of `transport.delivery`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryKind {
    /// Everything in order on one stream.
    #[default]
    Ordered,
    /// In order within each of several streams.
    Streams,
    /// In no order.
    Unordered,
}

impl Default for SctpTransport {
    fn default() -> Self {
        Self {
            delivery: DeliveryKind::default(),
            streams: 16,
            profile: "rfc9260".into(),
            sctp: Overrides::default(),
        }
    }
}

impl SctpTransport {
    /// The mapping of messages onto streams.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        match self.delivery {
            DeliveryKind::Ordered => Delivery::Ordered,
            DeliveryKind::Streams => Delivery::Streams(self.streams),
            DeliveryKind::Unordered => Delivery::Unordered,
        }
    }
}

impl SctpTransport {
    /// The configuration of the association: the profile with the single knobs
    /// laid over it and as many streams as the delivery uses.
    ///
    /// # Errors
    /// Where the profile is unknown or the knobs make no sense together.
    pub fn config(&self) -> Result<Config, SpecError> {
        let mut config = Config::profile(&self.profile)
            .map_err(|e| SpecError::new("transport.profile", e.to_string()))?;
        self.sctp.apply(&mut config);
        let streams = self.delivery().streams();
        config.outbound_streams = streams;
        config.inbound_streams = config.inbound_streams.max(streams);
        Ok(config)
    }
}

impl TransportSpec {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
        match self {
            Self::Sctp(sctp) => {
                if sctp.streams == 0 {
                    return Err(SpecError::new("transport.streams", "must be at least 1"));
                }
                sctp.config().map(drop)
            }
        }
    }
}
