//! What may go wrong in a run.

use headway_path::ConfigError;
use headway_sim::SimError;
use thiserror::Error;

use crate::spec::SpecError;

/// A run that could not be carried through.
#[derive(Debug, Error)]
pub enum RunError {
    /// The spec names something that does not exist.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The path has a setting that makes no sense.
    #[error("path.{0}")]
    Path(#[from] ConfigError),
    /// The simulator gave up, which is a fault of this program.
    #[error("run {run}: {cause}")]
    Sim {
        /// Which run.
        run: String,
        /// Why.
        cause: SimError,
    },
}
