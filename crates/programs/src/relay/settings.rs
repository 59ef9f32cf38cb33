//! The path that a relay applies: from a file, from flags, or from both.

use std::fs;
use std::path::Path;

use headway_path::{
    DrdAbove, DrdReading, DuplicateConfig, LossConfig, LossGenerator, PathConfig, QueueConfig,
    ReorderConfig,
};
use headway_sansio::Duration;
use serde_json::Value;

use super::args::Args;
use super::radio::RadioConfig;
use crate::failure::Failure;
use crate::units;

/// Everything that the relay does to packets.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The keys of a RunSpec's `path`.
    pub(crate) path: PathConfig,
    /// An 802.11b cell between the clients and the path.
    pub(crate) dot11: Option<RadioConfig>,
}

impl Settings {
    /// The settings that the arguments ask for. Flags replace what the file says.
    ///
    /// # Errors
    /// Where the file cannot be read or a setting makes no sense.
    pub(crate) fn from_args(args: &Args) -> Result<Self, Failure> {
        let mut settings = match &args.path {
            Some(file) => Self::read(file)?,
            None => Self {
                path: PathConfig::with_delay(Duration::ZERO),
                dot11: None,
            },
        };
        settings.apply(args)?;
        let name = args
            .path
            .as_ref()
            .map_or("path".to_owned(), |f| f.display().to_string());
        settings
            .path
            .validate()
            .map_err(|error| Failure::Input(format!("{name}: {error}")))?;
        if let Some(dot11) = &settings.dot11 {
            let checked = dot11.validate().map_err(|error| error.within("dot11"));
            checked.map_err(|error| Failure::Input(format!("{name}: {error}")))?;
        }
        Ok(settings)
    }

    fn read(file: &Path) -> Result<Self, Failure> {
        let wrong =
            |what: &dyn std::fmt::Display| Failure::Input(format!("{}: {what}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| wrong(&error))?;
        let settings = match file.extension().and_then(|extension| extension.to_str()) {
            Some("json") => Self::from_json(&text),
            Some("toml") => Self::from_toml(&text),
            _ => return Err(wrong(&"a settings file ends in .json or .toml")),
        };
        settings.map_err(|reason| wrong(&reason))
    }

    /// The settings that a file ending in `.json` holds; whether they make sense is for
    /// [`Path::new`](super::Path::new) to say.
    ///
    /// # Errors
    /// What is wrong with the text, for the user to read.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Self::from_value(value).map_err(|error| error.to_string())
    }

    /// The settings that a file ending in `.toml` holds, as [`Self::from_json`].
    ///
    /// # Errors
    /// What is wrong with the text, for the user to read.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let value = toml::from_str(text).map_err(|error| error.to_string())?;
        Self::from_value(value).map_err(|error| error.to_string())
    }

    /// Takes the keys of `path`, and `dot11` beside them.
    fn from_value(mut value: Value) -> Result<Self, serde_json::Error> {
        let dot11 = value.as_object_mut().and_then(|keys| keys.remove("dot11"));
        Ok(Self {
            path: serde_json::from_value(value)?,
            dot11: dot11.map(serde_json::from_value).transpose()?,
        })
    }

    fn apply(&mut self, args: &Args) -> Result<(), Failure> {
        let path = &mut self.path;
        if let Some(delay) = args.delay {
            path.one_way_delay_ns = delay.as_nanos();
        }
        if let Some(rate) = args.rate {
            path.rate_bps = Some(rate);
        }
        if let Some(rate) = args.loss {
            path.loss = loss(rate, args);
        } else if args.correlation.is_some() || args.generator.is_some() {
            let reason = "--correlation and --generator say how --loss is drawn; give --loss too";
            return Err(Failure::Input(reason.to_owned()));
        }
        if let Some(queue) = &args.queue {
            path.queue = queue.clone();
        }
        if let Some(reorder) = args.reorder {
            path.reorder = reorder;
        }
        if let Some(probability) = args.duplicate {
            path.duplicate = DuplicateConfig { probability };
        }
        let reverse = path.reverse.get_or_insert_default();
        if let Some(delay) = args.reverse_delay {
            reverse.one_way_delay_ns = Some(delay.as_nanos());
        }
        if let Some(rate) = args.reverse_rate {
            reverse.rate_bps = Some(Some(rate));
        }
        if let Some(rate) = args.reverse_loss {
            reverse.loss = Some(loss(rate, args));
        }
        if let Some(queue) = &args.reverse_queue {
            reverse.queue = Some(queue.clone());
        }
        Ok(())
    }
}

fn loss(rate: f64, args: &Args) -> LossConfig {
    LossConfig::Bernoulli {
        rate,
        correlation: args.correlation.unwrap_or(0.0),
        generator: args.generator.unwrap_or_default(),
    }
}

/// `--queue`: `unlimited`, `drop-tail:100`, `drop-tail:85kB`, `drd:10-20`,
/// `drd:10-20:server`.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub(super) fn queue(text: &str) -> Result<QueueConfig, String> {
    let wrong = || {
        format!(
            "\"{text}\" is no queue; write unlimited, drop-tail:100 (packets), drop-tail:85kB, \
             drd:10-20 or drd:10-20:server"
        )
    };
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    match kind {
        "unlimited" if rest.is_empty() => Ok(QueueConfig::Unlimited {}),
        "drop-tail" => match rest.parse() {
            Ok(limit_pkts) => Ok(QueueConfig::DropTailPackets { limit_pkts }),
            Err(_) => Ok(QueueConfig::DropTailBytes {
                limit_bytes: units::size(rest).map_err(|error| format!("{error}; {}", wrong()))?,
                overshoot: false,
            }),
        },
        "drd" => {
            let (range, reading) = rest.split_once(':').unwrap_or((rest, "delay-line"));
            let (min, max) = range.split_once('-').ok_or_else(wrong)?;
            Ok(QueueConfig::Drd {
                min_pkts: min.parse().map_err(|_| wrong())?,
                max_pkts: max.parse().map_err(|_| wrong())?,
                reading: match reading {
                    "delay-line" => DrdReading::DelayLine,
                    "server" => DrdReading::Server,
                    _ => return Err(wrong()),
                },
                above: DrdAbove::default(),
            })
        }
        _ => Err(wrong()),
    }
}

/// `--reorder`: `1%:10ms`, probability and extra delay.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub(super) fn reorder(text: &str) -> Result<ReorderConfig, String> {
    let (probability, extra) = text.split_once(':').ok_or_else(|| {
        format!("\"{text}\" is no reordering; write how many and by how much, such as 1%:10ms")
    })?;
    Ok(ReorderConfig {
        probability: units::fraction(probability)?,
        extra_delay_ns: units::duration(extra)?.as_nanos(),
    })
}

/// `--generator`.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub(super) fn generator(text: &str) -> Result<LossGenerator, String> {
    match text {
        "markov" => Ok(LossGenerator::Markov),
        "copula" => Ok(LossGenerator::Copula),
        _ => Err(format!(
            "\"{text}\" is no generator; there are markov and copula"
        )),
    }
}

#[cfg(test)]
mod tests;
