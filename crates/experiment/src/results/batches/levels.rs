//! Congestion windows over time, and flows as a shared path saw them.

use arrow_array::{Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};

use super::{ResultError, column, table};
use crate::results::{FlowKind, FlowSample, RunResult, WindowSample};

fn direction(forward: bool) -> &'static str {
    if forward { "forward" } else { "reverse" }
}

pub(super) fn windows(results: &[RunResult]) -> Result<RecordBatch, ResultError> {
    let each = || {
        results
            .iter()
            .flat_map(|r| r.windows.iter().map(move |w| (r, w)))
    };
    let count = |name: &str, of: fn(&WindowSample) -> u64| {
        column(
            name,
            UInt64Array::from_iter_values(each().map(|(_, w)| of(w))),
        )
    };
    table(vec![
        column(
            "run_id",
            StringArray::from_iter_values(each().map(|(r, _)| &r.run.id)),
        ),
        column(
            "flow",
            UInt32Array::from_iter_values(each().map(|(_, w)| w.flow)),
        ),
        column(
            "direction",
            StringArray::from_iter_values(each().map(|(_, w)| direction(w.forward))),
        ),
        count("at_ns", |w| w.at.as_nanos()),
        count("cwnd_bytes", |w| w.cwnd_bytes),
    ])
}

pub(super) fn flows(results: &[RunResult]) -> Result<RecordBatch, ResultError> {
    let each = || {
        results
            .iter()
            .flat_map(|r| r.flows.iter().map(move |f| (r, f)))
    };
    let count = |name: &str, of: fn(&FlowSample) -> u64| {
        column(
            name,
            UInt64Array::from_iter_values(each().map(|(_, f)| of(f))),
        )
    };
    let kind = |kind| match kind {
        FlowKind::Study => "study",
        FlowKind::Bulk => "bulk",
        FlowKind::Web => "web",
        FlowKind::Messages => "messages",
    };
    table(vec![
        column(
            "run_id",
            StringArray::from_iter_values(each().map(|(r, _)| &r.run.id)),
        ),
        column(
            "kind",
            StringArray::from_iter_values(each().map(|(_, f)| kind(f.kind))),
        ),
        column(
            "flow",
            UInt32Array::from_iter_values(each().map(|(_, f)| f.flow)),
        ),
        column(
            "direction",
            StringArray::from_iter_values(each().map(|(_, f)| direction(f.forward))),
        ),
        count("packets", |f| f.packets),
        count("packets_lost", |f| f.packets_lost),
        column(
            "round_trip_ns",
            each()
                .map(|(_, f)| f.round_trip.map(|d| d.as_nanos()))
                .collect::<UInt64Array>(),
        ),
        column(
            "goodput_bps",
            each().map(|(_, f)| f.goodput_bps).collect::<Float64Array>(),
        ),
    ])
}
