//! What is wrong with a RunSpec, by key.

use thiserror::Error;

/// A RunSpec that cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}{}{problem}", .key, if .key.is_empty() { "" } else { ": " })]
pub struct SpecError {
    /// Dotted path of the key; empty where the text is no JSON object at all.
    pub key: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

impl SpecError {
    pub(crate) fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            problem: problem.into(),
        }
    }

    pub(super) fn format(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let path = error.path().to_string();
        let key = if path == "." { String::new() } else { path };
        Self::new(key, error.inner().to_string())
    }
}
