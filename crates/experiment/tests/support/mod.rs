//! What the tests of whole runs share.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use headway_experiment::Batches;
use headway_experiment::results::{RunResult, Value};
use serde_json::Value as Json;

/// Lays `change` over `base`, table by table.
pub(crate) fn lay_over(base: &mut Json, change: Json) {
    match (base, change) {
        // Another kind has other keys: it replaces the whole.
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

/// A line of a table of SIP runs, after what tells the run: integers, so that a
/// change of behaviour shows. The 95th percentile has `width` digits; duplicates
/// are a column only where asked for.
pub(crate) fn figures(result: &RunResult, width: usize, with_duplicates: bool) -> String {
    let n = |name| count(result, name);
    let us = |name| (real(result, name) * 1e6).round() as u64;
    let duplicates = with_duplicates.then(|| format!(" {:3}", n("duplicates")));
    format!(
        "| {:5} {:6} {:width$} | {:7} {:4} {:5} {:8}{} | {:5} {:7}\n",
        n("calls"),
        us("psd_p50_s"),
        us("psd_p95_s"),
        n("retransmissions"),
        n("fast_retransmissions"),
        n("timed_retransmissions"),
        n("needless_retransmissions"),
        duplicates.unwrap_or_default(),
        n("timeouts"),
        n("hol_blocked_messages"),
    )
}

/// Fails, with the table as it is now, where it has changed.
pub(crate) fn assert_table(table: &str, expected: &str) {
    assert!(
        table == expected,
        "the table of runs has changed; it is now:\n{table}"
    );
}

/// Every table of a result as it crosses into Python.
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

/// A metric that is a count.
pub(crate) fn count(result: &RunResult, name: &str) -> u64 {
    match result
        .metrics
        .iter()
        .find(|m| m.name == name)
        .map(|m| m.value)
    {
        Some(Value::Count(n)) => n,
        other => panic!("{name} is {other:?}"),
    }
}

/// A metric that is a number.
pub(crate) fn real(result: &RunResult, name: &str) -> f64 {
    match result
        .metrics
        .iter()
        .find(|m| m.name == name)
        .map(|m| m.value)
    {
        Some(Value::Real(Some(x))) => x,
        other => panic!("{name} is {other:?}"),
    }
}

/// Whether a metric is undefined.
pub(crate) fn undefined(result: &RunResult, name: &str) -> bool {
    let metric = result.metrics.iter().find(|m| m.name == name);
    matches!(metric.map(|m| m.value), Some(Value::Real(None)))
}
