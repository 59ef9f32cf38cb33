//! Both directions of a path.

use headway_sansio::Duration;
use serde::{Deserialize, Deserializer, Serialize};

use crate::config::{DuplicateConfig, LinkConfig, LossConfig, QueueConfig, ReorderConfig, Wire};
use crate::validate::ConfigError;

/// The key `path` of a RunSpec: the forward direction, and what differs in the
/// reverse one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// See [`LinkConfig::one_way_delay_ns`].
    pub one_way_delay_ns: u64,
    /// See [`LinkConfig::rate_bps`].
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// See [`LinkConfig::loss`].
    #[serde(default)]
    pub loss: LossConfig,
    /// See [`LinkConfig::queue`].
    #[serde(default)]
    pub queue: QueueConfig,
    /// See [`LinkConfig::reorder`].
    #[serde(default)]
    pub reorder: ReorderConfig,
    /// See [`LinkConfig::duplicate`].
    #[serde(default)]
    pub duplicate: DuplicateConfig,
    /// See [`LinkConfig::wire`].
    #[serde(default)]
    pub wire: Wire,
    /// What differs in the reverse direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<LinkOverride>,
}

/// Settings of the reverse direction; what is `None` is as in the forward one.
/// A key replaces the forward key whole: `loss` is not merged key by key.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkOverride {
    /// See [`LinkConfig::one_way_delay_ns`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way_delay_ns: Option<u64>,
    /// See [`LinkConfig::rate_bps`]. `Some(None)`, written `null`, lifts a
    /// limit that the forward direction has.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<Option<u64>>,
    /// See [`LinkConfig::loss`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossConfig>,
    /// See [`LinkConfig::queue`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueConfig>,
    /// See [`LinkConfig::reorder`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderConfig>,
    /// See [`LinkConfig::duplicate`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<DuplicateConfig>,
    /// See [`LinkConfig::wire`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

/// Tells `null` from an absent key.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::<u64>::deserialize(deserializer).map(Some)
}

impl PathConfig {
    /// A path that does nothing but delay, in both directions.
    #[must_use]
    pub fn with_delay(one_way_delay: Duration) -> Self {
        Self {
            one_way_delay_ns: one_way_delay.as_nanos(),
            rate_bps: None,
            loss: LossConfig::default(),
            queue: QueueConfig::default(),
            reorder: ReorderConfig::default(),
            duplicate: DuplicateConfig::default(),
            wire: Wire::default(),
            reverse: None,
        }
    }

    /// The settings of the forward direction.
    #[must_use]
    pub fn forward(&self) -> LinkConfig {
        LinkConfig {
            one_way_delay_ns: self.one_way_delay_ns,
            rate_bps: self.rate_bps,
            loss: self.loss.clone(),
            queue: self.queue.clone(),
            reorder: self.reorder,
            duplicate: self.duplicate,
            wire: self.wire,
        }
    }

    /// The settings of the reverse direction.
    #[must_use]
    pub fn reverse(&self) -> LinkConfig {
        let mut link = self.forward();
        if let Some(other) = &self.reverse {
            link.one_way_delay_ns = other.one_way_delay_ns.unwrap_or(link.one_way_delay_ns);
            link.rate_bps = other.rate_bps.unwrap_or(link.rate_bps);
            link.loss = other.loss.clone().unwrap_or(link.loss);
            link.queue = other.queue.clone().unwrap_or(link.queue);
            link.reorder = other.reorder.unwrap_or(link.reorder);
            link.duplicate = other.duplicate.unwrap_or(link.duplicate);
            link.wire = other.wire.unwrap_or(link.wire);
        }
        link
    }

    /// Checks both directions.
    ///
    /// # Errors
    /// The first setting that makes no sense, by its key within `path`; a key of
    /// the reverse direction starts with `reverse.`.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.forward().validate()?;
        self.reverse().validate().map_err(|e| e.within("reverse"))
    }
}
