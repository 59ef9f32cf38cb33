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
