//! Results as Arrow batches, encoded as IPC streams.

mod levels;

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, UInt64Builder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use headway_apps::sip::Outcome;
use headway_sansio::Duration;
use thiserror::Error;

use super::{RunResult, TransactionSample, Value};

/// The tables of a set of runs.
#[derive(Clone, Debug)]
pub struct Batches {
    /// A row for each run.
    pub runs: RecordBatch,
    /// A row for each run and distribution.
    pub distributions: RecordBatch,
    /// A row for each message, where asked for.
    pub messages: RecordBatch,
    /// A row for each transaction, where asked for.
    pub transactions: RecordBatch,
    /// A row for each change of a congestion window, where asked for.
    pub windows: RecordBatch,
    /// A row for each flow of a shared path, where asked for.
    pub flows: RecordBatch,
}

/// Results that do not make one table.
#[derive(Debug, Error)]
pub enum ResultError {
    /// Runs of different kinds have different columns.
    #[error("runs of different kinds cannot share a table: {0} and {1}")]
    Mixed(String, String),
    /// Arrow refused, which is a fault of this crate.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

impl Batches {
    /// Gathers results, in their order.
    ///
    /// # Errors
    /// Where the runs have different metrics.
    pub fn of(results: &[RunResult]) -> Result<Self, ResultError> {
        Ok(Self {
            runs: runs(results)?,
            distributions: distributions(results)?,
            messages: messages(results)?,
            transactions: transactions(results)?,
            windows: levels::windows(results)?,
            flows: levels::flows(results)?,
        })
    }

    /// One table as an Arrow IPC stream.
    ///
    /// # Errors
    /// Where Arrow refuses, which is a fault of this crate.
    pub fn encode(batch: &RecordBatch) -> Result<Vec<u8>, ResultError> {
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
        writer.write(batch)?;
        Ok(writer.into_inner()?)
    }
}

fn column<A: arrow_array::Array + 'static>(name: &str, array: A) -> (String, ArrayRef) {
    (name.to_owned(), Arc::new(array))
}

fn table(columns: Vec<(String, ArrayRef)>) -> Result<RecordBatch, ResultError> {
    Ok(RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )?)
}

fn runs(results: &[RunResult]) -> Result<RecordBatch, ResultError> {
    let mut columns = vec![
        column(
            "run_id",
            StringArray::from_iter_values(results.iter().map(|r| &r.run.id)),
        ),
        column(
            "point_id",
            UInt32Array::from_iter_values(results.iter().map(|r| r.run.point)),
        ),
        column(
            "replication",
            UInt32Array::from_iter_values(results.iter().map(|r| r.run.replication)),
        ),
        column(
            "complete",
            results
                .iter()
                .map(|r| Some(r.complete))
                .collect::<BooleanArray>(),
        ),
    ];
    if let Some(first) = results.first() {
        for result in results {
            let same = result.metrics.len() == first.metrics.len()
                && result
                    .metrics
                    .iter()
                    .zip(&first.metrics)
                    .all(|(a, b)| a.name == b.name);
            if !same {
                return Err(ResultError::Mixed(
                    first.run.id.clone(),
                    result.run.id.clone(),
                ));
            }
        }
        for (i, metric) in first.metrics.iter().enumerate() {
            let values = results.iter().map(|r| r.metrics[i].value);
            columns.push(match metric.value {
                Value::Count(_) => column(
                    metric.name,
                    values
                        .map(|v| match v {
                            Value::Count(n) => Some(n),
                            Value::Real(_) => None,
                        })
                        .collect::<UInt64Array>(),
                ),
                Value::Real(_) => column(
                    metric.name,
                    values
                        .map(|v| match v {
                            Value::Real(x) => x,
                            Value::Count(_) => None,
                        })
                        .collect::<Float64Array>(),
                ),
            });
        }
    }
    table(columns)
}

fn distributions(results: &[RunResult]) -> Result<RecordBatch, ResultError> {
    let each = || {
        results
            .iter()
            .flat_map(|r| r.distributions.iter().map(move |d| (r, d)))
    };
    let mut quantiles = ListBuilder::new(Float64Builder::new());
    let mut counts = ListBuilder::new(UInt64Builder::new());
    for (_, distribution) in each() {
        quantiles.values().append_slice(&distribution.quantiles);
        quantiles.append(true);
        counts
            .values()
            .append_slice(distribution.counts.as_deref().unwrap_or_default());
        counts.append(distribution.counts.is_some());
    }
    table(vec![
        column(
            "run_id",
            StringArray::from_iter_values(each().map(|(r, _)| &r.run.id)),
        ),
        column(
            "metric",
            StringArray::from_iter_values(each().map(|(_, d)| d.metric)),
        ),
        column("quantiles", quantiles.finish()),
        column("counts", counts.finish()),
    ])
}

fn messages(results: &[RunResult]) -> Result<RecordBatch, ResultError> {
    let each = || {
        results
            .iter()
            .flat_map(|r| r.messages.iter().map(move |m| (r, m)))
    };
    let nanos = |name: &str, of: fn(&super::MessageSample) -> u64| {
        column(
            name,
            UInt64Array::from_iter_values(each().map(|(_, m)| of(m))),
        )
    };
    table(vec![
        column(
            "run_id",
            StringArray::from_iter_values(each().map(|(r, _)| &r.run.id)),
        ),
        nanos("message_id", |m| m.row.id),
        column(
            "direction",
            StringArray::from_iter_values(
                each().map(|(_, m)| if m.forward { "forward" } else { "reverse" }),
            ),
        ),
        column(
            "size_bytes",
            UInt32Array::from_iter_values(each().map(|(_, m)| m.row.size_bytes)),
        ),
        nanos("handed_over_ns", |m| m.row.handed_over.as_nanos()),
        nanos("delay_ns", |m| m.row.delay.as_nanos()),
        nanos("sender_wait_ns", |m| m.row.parts.sender_wait.as_nanos()),
        nanos("network_ns", |m| m.row.parts.network.as_nanos()),
        nanos("recovery_ns", |m| m.row.parts.recovery.as_nanos()),
        nanos("hol_blocking_ns", |m| m.row.parts.hol_blocking.as_nanos()),
        column(
            "transmissions",
            UInt32Array::from_iter_values(each().map(|(_, m)| m.row.transmissions)),
        ),
        column(
            "lost_first",
            each()
                .map(|(_, m)| Some(m.row.lost_first))
                .collect::<BooleanArray>(),
        ),
    ])
}

fn transactions(results: &[RunResult]) -> Result<RecordBatch, ResultError> {
    let each = || {
        results
            .iter()
            .flat_map(|r| r.transactions.iter().map(move |t| (r, t)))
    };
    let count = |name: &str, of: fn(&TransactionSample) -> u32| {
        let values = each().map(|(_, t)| of(t));
        column(name, UInt32Array::from_iter_values(values))
    };
    let nanos = |name: &str, of: fn(&TransactionSample) -> Option<Duration>| {
        let values = each().map(|(_, t)| of(t).map(Duration::as_nanos));
        column(name, values.collect::<UInt64Array>())
    };
    let outcome = |outcome| match outcome {
        Outcome::Success => "success",
        Outcome::NoAnswer => "no-answer",
        Outcome::NoAck => "no-ack",
    };
    table(vec![
        column(
            "run_id",
            StringArray::from_iter_values(each().map(|(r, _)| &r.run.id)),
        ),
        count("call", |t| t.call),
        column(
            "started_ns",
            UInt64Array::from_iter_values(each().map(|(_, t)| t.started.as_nanos())),
        ),
        nanos("psd_ns", |t| t.psd),
        nanos("asd_ns", |t| t.asd),
        column(
            "clean",
            each().map(|(_, t)| Some(t.clean)).collect::<BooleanArray>(),
        ),
        nanos("td_ns", |t| t.delay),
        count("invites", |t| t.invites),
        count("oks", |t| t.oks),
        nanos("gave_up_ns", |t| t.gave_up),
        column(
            "outcome",
            each()
                .map(|(_, t)| t.outcome.map(outcome))
                .collect::<StringArray>(),
        ),
    ])
}
