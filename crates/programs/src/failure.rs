//! Why a program could not do what it was asked to.

use std::io;
use std::process::ExitCode;

use thiserror::Error;

/// A failure with a message for the user.
#[derive(Debug, Error)]
pub enum Failure {
    /// What the user gave cannot be used.
    #[error("{0}")]
    Input(String),
    /// The system refused something.
    #[error("{0}")]
    System(String),
    /// The work was done, and its result is not what it should be.
    #[error("{0}")]
    Result(String),
}

impl Failure {
    /// What was tried when the system refused.
    pub(crate) fn system(what: impl std::fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System(format!("{what}: {error}"))
    }

    /// 2 for bad input, as for wrong arguments; 1 for the rest.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Input(_) => ExitCode::from(2),
            Self::System(_) | Self::Result(_) => ExitCode::FAILURE,
        }
    }
}
