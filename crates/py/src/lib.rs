//! The extension module `headway._core`: a RunSpec goes in, Arrow comes out.
//!
//! Nothing is computed here. The GIL is released while runs are under way.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use headway_experiment::{Batches, RunSpec, run_all, stack_profiles};

/// Runs the specs one after another and returns the tables `runs`,
/// `distributions`, `messages`, `transactions`, `windows` and `flows` as Arrow IPC
/// streams.
///
/// Raises ValueError where a spec cannot be run; the message begins with its key.
#[pyfunction]
fn run<'py>(py: Python<'py>, specs: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
    let tables = py.detach(|| -> Result<Vec<(&'static str, Vec<u8>)>, PyErr> {
        let specs = specs
            .iter()
            .map(|text| RunSpec::from_json(text))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
        let results = run_all(&specs).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        let internal = |e: headway_experiment::ResultError| PyRuntimeError::new_err(e.to_string());
        let batches = Batches::of(&results).map_err(internal)?;
        let tables = [
            ("runs", &batches.runs),
            ("distributions", &batches.distributions),
            ("messages", &batches.messages),
            ("transactions", &batches.transactions),
            ("windows", &batches.windows),
            ("flows", &batches.flows),
        ];
        let encoded = tables.map(|(name, batch)| Ok((name, Batches::encode(batch)?)));
        encoded
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .map_err(internal)
    })?;
    let dict = PyDict::new(py);
    for (name, bytes) in &tables {
        dict.set_item(name, PyBytes::new(py, bytes))?;
    }
    Ok(dict)
}

/// Checks one spec; raises ValueError whose message begins with the key.
#[pyfunction]
fn check(spec: &str) -> PyResult<()> {
    RunSpec::from_json(spec)
        .map(drop)
        .map_err(|e| PyValueError::new_err(e.to_string()))
}

/// The version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Whether the engine was built by a profile of itself at work (scripts/fast-engine).
#[pyfunction]
fn profiled() -> bool {
    option_env!("HEADWAY_PROFILED").is_some()
}

/// The stack profiles as JSON: name -> list of {knob, value, source}.
#[pyfunction]
fn profiles() -> PyResult<String> {
    serde_json::to_string(&stack_profiles()).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// The engine of Headway.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{check, profiled, profiles, run, version};
}
