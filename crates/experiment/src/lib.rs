//! From a RunSpec to samples: wiring, attribution, results.
//!
//! [`RunSpec`] is all that a run depends on. [`run`] builds hosts, links and
//! observers from it, lets the simulator run them and returns a [`RunResult`];
//! [`Batches`] turns results into Arrow tables.
//!
//! ```
//! use headway_experiment::{RunSpec, run};
//!
//! let spec = RunSpec::from_json(r#"{
//!     "version": 1,
//!     "run": { "id": "p0000-r00", "point": 0, "replication": 0 },
//!     "seed": "00000000000007d7",
//!     "duration_ns": 10000000000,
//!     "workload": { "kind": "sip", "call_rate": 40.0 },
//!     "transport": { "kind": "sctp", "delivery": "unordered" },
//!     "path": { "one_way_delay_ns": 20000000 }
//! }"#)?;
//! let result = run(&spec)?;
//! assert!(result.complete);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod attribution;
mod profiles;
pub mod results;
pub mod spec;
mod wiring;

pub use profiles::stack_profiles;
pub use results::{Batches, ResultError, RunResult};
pub use spec::{RunSpec, SpecError};
pub use wiring::{RunError, run};

/// Runs the specs one after another.
///
/// # Errors
/// The first run that fails, by its name.
pub fn run_all(specs: &[RunSpec]) -> Result<Vec<RunResult>, RunError> {
    specs.iter().map(run).collect()
}
