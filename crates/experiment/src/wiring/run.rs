//! From a spec to its result, by kind of workload.

use super::error::RunError;
use super::{media, sip, transactions};
use crate::results::RunResult;
use crate::spec::{RunSpec, WorkloadSpec};

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
