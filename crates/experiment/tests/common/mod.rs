//! Specs from small changes to a base, and what all tests of whole runs share.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

#[path = "../support/mod.rs"]
mod support;

use headway_experiment::results::RunResult;
use headway_experiment::{RunSpec, run};
use serde_json::{Value as Json, json};
#[allow(unused_imports, reason = "each file of tests uses a part of it")]
pub(crate) use support::{assert_table, bytes, count, figures, lay_over, real};

/// A run of ten seconds over 20 ms with 5 % loss; `change` is laid over it.
pub(crate) fn spec(change: Json) -> RunSpec {
    let mut text = json!({
        "version": 1,
        "run": { "id": "p0000-r00", "point": 0, "replication": 0 },
        "seed": "00000000000007d7",
        "duration_ns": 10_000_000_000_u64,
        "workload": { "kind": "sip", "call_rate": 40.0 },
        "transport": { "kind": "tcp" },
        "path": {
            "one_way_delay_ns": 20_000_000,
            "loss": { "kind": "bernoulli", "rate": 0.05 },
        },
        "collect": { "messages": true, "transactions": true, "distributions": true },
    });
    lay_over(&mut text, change);
    RunSpec::from_json(&text.to_string()).expect("a spec that can be run")
}

pub(crate) fn result(change: Json) -> RunResult {
    run(&spec(change)).expect("it runs")
}
