//! Specs from small changes to a base, and metrics by name.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use headway_experiment::results::{RunResult, Value};
use headway_experiment::{Batches, RunSpec, run};
use serde_json::{Value as Json, json};

/// Lays `change` over `base`. A table with a `kind` replaces the whole.
pub(crate) fn lay_over(base: &mut Json, change: Json) {
    match (base, change) {
        (base @ Json::Object(_), Json::Object(change)) if change.contains_key("kind") => {
            *base = Json::Object(change);
        }
        (Json::Object(base), Json::Object(change)) => {
            for (key, value) in change {
                lay_over(base.entry(key).or_insert(Json::Null), value);
            }
        }
        (base, change) => *base = change,
    }
}

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

pub(crate) fn bytes(result: &RunResult) -> Vec<Vec<u8>> {
    let batches = Batches::of(std::slice::from_ref(result)).unwrap();
    [
        &batches.runs,
        &batches.distributions,
        &batches.messages,
        &batches.transactions,
    ]
    .map(|batch| Batches::encode(batch).unwrap())
    .to_vec()
}

fn value(result: &RunResult, name: &str) -> Value {
    let metric = result.metrics.iter().find(|m| m.name == name);
    metric.unwrap_or_else(|| panic!("no metric {name}")).value
}

pub(crate) fn count(result: &RunResult, name: &str) -> u64 {
    match value(result, name) {
        Value::Count(n) => n,
        other => panic!("{name} is {other:?}"),
    }
}

pub(crate) fn real(result: &RunResult, name: &str) -> f64 {
    match value(result, name) {
        Value::Real(Some(x)) => x,
        other => panic!("{name} is {other:?}"),
    }
}
