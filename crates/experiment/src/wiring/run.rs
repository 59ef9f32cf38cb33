//! From a spec to its result, by kind of workload.

use headway_path::ConfigError;
use headway_sim::SimError;
use thiserror::Error;

use super::{media, sip, transactions};
use crate::results::RunResult;
use crate::spec::{RunSpec, SpecError, WorkloadSpec};

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

/// Runs one spec.
///
/// # Errors
/// Where the spec cannot be run, or the simulator gives up.
pub fn run(spec: &RunSpec) -> Result<RunResult, RunError> {
    match &spec.workload {
        WorkloadSpec::Sip(workload) => sip::run(spec, workload),
        WorkloadSpec::SipTransactions(workload) => transactions::run(spec, workload),
        WorkloadSpec::Media(workload) => media::run(spec, workload),
        WorkloadSpec::Trace(workload) => media::run_trace(spec, workload),
    }
}
