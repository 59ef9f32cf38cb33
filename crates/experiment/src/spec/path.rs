//! The key `path` of a RunSpec: links, or a radio cell.

use headway_path::{PathConfig, Wire};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{Dot11Path, SpecError};

/// What lies between the two ends, told apart by `path.kind`.
#[derive(Clone, PartialEq, Debug)]
pub enum PathSpec {
    /// `links`, the default: one link each way.
    Links(Box<PathConfig>),
    /// `dot11`: an 802.11b cell.
    Dot11(Box<Dot11Path>),
}

impl PathSpec {
    /// In what form packets cross, from the caller and to it.
    #[must_use]
    pub fn wires(&self) -> [Wire; 2] {
        match self {
            Self::Links(path) => [path.forward().wire, path.reverse().wire],
            Self::Dot11(_) => [Wire::Structured; 2],
        }
    }

    pub(super) fn validate(&self) -> Result<(), SpecError> {
        match self {
            Self::Links(path) => path.validate(),
            Self::Dot11(path) => path.validate(),
        }
        .map_err(|e| SpecError::new(format!("path.{}", e.key), e.reason))
    }
}

impl<'de> Deserialize<'de> for PathSpec {
    // By hand, because the kind of old specs is left out.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::<String, Value>::deserialize(deserializer)?;
        let kind = table.remove("kind").unwrap_or_else(|| "links".into());
        match kind.as_str() {
            Some("links") => keys(table).map(|path| Self::Links(Box::new(path))),
            Some("dot11") => keys(table).map(|path| Self::Dot11(Box::new(path))),
            _ => Err(format!("kind: {kind} is unknown; one of: links, dot11")),
        }
        .map_err(D::Error::custom)
    }
}

/// Reads the other keys; an error begins with its key.
fn keys<T: DeserializeOwned>(table: Map<String, Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(table)).map_err(|error| {
        match error.path().to_string().as_str() {
            "." => error.inner().to_string(),
            key => format!("{key}: {}", error.inner()),
        }
    })
}
