//! Settings that parse but make no sense.

use core::fmt;

use crate::config::{DrdReading, LinkConfig, LossConfig, QueueConfig};

/// Why a setting cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// Dotted key of the setting, relative to what was checked: `loss.rate`.
    pub key: String,
    /// What is wrong with it, in words.
    pub reason: String,
}

impl ConfigError {
    fn new(key: &str, reason: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            reason: reason.into(),
        }
    }

    /// The same error with its key under `prefix`.
    #[must_use]
    pub fn within(self, prefix: &str) -> Self {
        Self {
            key: format!("{prefix}.{}", self.key),
            reason: self.reason,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.reason)
    }
}

impl core::error::Error for ConfigError {}

fn probability(key: &str, p: f64) -> Result<(), ConfigError> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(ConfigError::new(
        key,
        format!("{p} is not a probability (0 to 1)"),
    ))
}

fn needs_rate(link: &LinkConfig, what: &str) -> Result<(), ConfigError> {
    if link.rate_bps.is_some() {
        return Ok(());
    }
    Err(ConfigError::new(
        "queue.kind",
        format!("{what} needs rate_bps: without a rate no packet ever waits"),
    ))
}

impl LinkConfig {
    /// Checks one direction.
    ///
    /// # Errors
    /// The first setting that makes no sense, by its key.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.rate_bps == Some(0) {
            let reason = "a rate of 0 carries nothing; leave the key out for no limit";
            return Err(ConfigError::new("rate_bps", reason));
        }
        self.validate_loss()?;
        self.validate_queue()?;
        probability("reorder.probability", self.reorder.probability)?;
        probability("duplicate.probability", self.duplicate.probability)
    }

    fn validate_loss(&self) -> Result<(), ConfigError> {
        match &self.loss {
            LossConfig::Lossless {} => Ok(()),
            LossConfig::Bernoulli {
                rate, correlation, ..
            } => {
                probability("loss.rate", *rate)?;
                if !(0.0..1.0).contains(correlation) {
                    return Err(ConfigError::new(
                        "loss.correlation",
                        format!("{correlation} is not a correlation of losses (0 to below 1)"),
                    ));
                }
                Ok(())
            }
            LossConfig::GilbertElliott {
                good_to_bad,
                bad_to_good,
                loss_good,
                loss_bad,
            } => {
                probability("loss.good_to_bad", *good_to_bad)?;
                probability("loss.bad_to_good", *bad_to_good)?;
                probability("loss.loss_good", *loss_good)?;
                probability("loss.loss_bad", *loss_bad)
            }
            LossConfig::Trace { lost } if lost.is_empty() => {
                Err(ConfigError::new("loss.lost", "a trace needs an entry"))
            }
            LossConfig::Trace { lost } => match lost.iter().position(|&x| x > 1) {
                None => Ok(()),
                Some(at) => Err(ConfigError::new(
                    "loss.lost",
                    format!("entry {at} is {}, neither 0 nor 1", lost[at]),
                )),
            },
        }
    }

    fn validate_queue(&self) -> Result<(), ConfigError> {
        match self.queue {
            QueueConfig::Unlimited {} => Ok(()),
            QueueConfig::DropTailPackets { limit_pkts } => {
                if limit_pkts == 0 {
                    let reason = "a queue that holds 0 packets sends none";
                    return Err(ConfigError::new("queue.limit_pkts", reason));
                }
                needs_rate(self, "drop-tail-packets")
            }
            QueueConfig::DropTailBytes { limit_bytes, .. } => {
                if limit_bytes == 0 {
                    let reason = "a queue that holds 0 bytes sends none";
                    return Err(ConfigError::new("queue.limit_bytes", reason));
                }
                needs_rate(self, "drop-tail-bytes")
            }
            QueueConfig::Drd {
                min_pkts,
                max_pkts,
                reading,
                ..
            } => {
                if min_pkts >= max_pkts {
                    return Err(ConfigError::new(
                        "queue.max_pkts",
                        format!("{max_pkts} is not above min_pkts ({min_pkts})"),
                    ));
                }
                match reading {
                    DrdReading::DelayLine => Ok(()),
                    DrdReading::Server => needs_rate(self, "drd with reading server"),
                }
            }
        }
    }
}
