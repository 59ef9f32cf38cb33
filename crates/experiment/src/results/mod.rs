//! What a run returns: metrics, distributions and, on request, samples; all as
//! Arrow batches.

mod batches;
mod emodel;
mod histogram;
mod metric;
mod quantiles;

pub use batches::{Batches, ResultError};
pub use emodel::{mean_opinion_score, rating};
pub use histogram::Histogram;
pub use metric::{Metric, Value};
pub use quantiles::{Distribution, quantile};

use headway_apps::sip::Outcome;
use headway_sansio::{Duration, Time};

use crate::attribution::MessageRow;
use crate::spec::RunId;

/// Everything that one run returns.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Which run it was.
    pub run: RunId,
    /// Whether everything handed over was delivered and every transaction ended.
    pub complete: bool,
    /// Its metrics, always the same ones in the same order for one kind of workload.
    pub metrics: Vec<Metric>,
    /// Distributions, where they were asked for.
    pub distributions: Vec<Distribution>,
    /// Messages, where they were asked for.
    pub messages: Vec<MessageSample>,
    /// Transactions, where they were asked for.
    pub transactions: Vec<TransactionSample>,
    /// Congestion windows over time, where they were asked for.
    pub windows: Vec<WindowSample>,
    /// Flows of a shared path, where they were asked for.
    pub flows: Vec<FlowSample>,
}

/// A congestion window from a moment on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowSample {
    /// Number of the flow under study.
    pub flow: u32,
    /// Of the caller's side (forward) or of the answerer's (reverse).
    pub forward: bool,
    /// From when on.
    pub at: Time,
    /// The window in bytes, of all connections of the flow.
    pub cwnd_bytes: u64,
}

/// Who a flow belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowKind {
    /// It is under study.
    Study,
    /// A competing bulk transfer.
    Bulk,
    /// All competing web traffic together.
    Web,
    /// Competing short messages.
    Messages,
}

/// One flow as the shared path saw it, from when the flows under study began.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowSample {
    /// Number of the flow among those of its kind.
    pub flow: u32,
    /// Who it belongs to.
    pub kind: FlowKind,
    /// From the caller's side (forward) or to it (reverse).
    pub forward: bool,
    /// Packets offered to the path in that direction, and those that it lost.
    pub packets: u64,
    /// Those of them that it lost.
    pub packets_lost: u64,
    /// Mean time on the path there and back; undefined where one way is silent.
    pub round_trip: Option<Duration>,
    /// Bits per second delivered in order, of bulk transfers and short messages.
    pub goodput_bps: Option<f64>,
}

/// A message as a row of the samples.
#[derive(Clone, Copy, Debug)]
pub struct MessageSample {
    /// From the caller's side (forward) or to it (reverse).
    pub forward: bool,
    /// What the trace says of it.
    pub row: MessageRow,
}

/// A transaction as a row of the samples.
#[derive(Clone, Copy, Debug)]
pub struct TransactionSample {
    /// Number of the call or transaction.
    pub call: u32,
    /// When its first message was handed over.
    pub started: Time,
    /// Post-selection delay, where the call was answered.
    pub psd: Option<Duration>,
    /// Answer signal delay, where the flow has one.
    pub asd: Option<Duration>,
    /// Whether none of its messages was lost on its first transmission; for
    /// transactions one by one, whether SIP repeated neither INVITE nor 200.
    pub clean: bool,
    /// Transaction delay, where a 200 came in time.
    pub delay: Option<Duration>,
    /// How often the INVITE was sent.
    pub invites: u32,
    /// How often the 200 to it was sent.
    pub oks: u32,
    /// From the first INVITE until an end gave up, where one did.
    pub gave_up: Option<Duration>,
    /// How a transaction of seed 1 ended; undefined for other workloads.
    pub outcome: Option<Outcome>,
}
