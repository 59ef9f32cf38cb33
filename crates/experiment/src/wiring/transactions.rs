//! INVITE transactions one after another: the workload of seed 1.

use headway_apps::sip::{
    MessageKind, Outcome, SipAnswerer, SipCaller, SipId, SipTransactions, outcome,
};
use headway_apps::{MessageId, Peer};
use headway_sansio::{Duration, Time};

use super::crowd::shared_metrics;
use super::error::RunError;
use super::metrics::{Sorted, level_metrics, message_metrics, radio_metrics};
use super::over::run_over;
use super::pair::Ended;
use crate::results::{Distribution, Metric, RunResult, TransactionSample};
use crate::spec::RunSpec;

/// Width of a bin of the delay histogram: that of seed 1's Figs. 9 and 13.
const BIN: Duration = Duration::from_millis(250);

/// Runs the workload over the transport of the spec.
pub(super) fn run(spec: &RunSpec, workload: &SipTransactions) -> Result<RunResult, RunError> {
    let pauses = spec.seed.stream("caller.pauses");
    let (reliability, via) = spec.transport.nature();
    let caller = SipCaller::one_by_one(workload, spec.duration(), pauses, Peer::default())
        .over(reliability, via);
    let answerer = SipAnswerer::for_transactions(workload).over(reliability, via);
    let ended = run_over(spec, (caller, answerer))?;
    let rows = rows(&ended);
    let delays = Sorted::of(rows.iter().filter_map(|row| row.delay));
    let mut metrics = transaction_metrics(&rows, &delays);
    metrics.extend(lost_metrics(&ended.lost));
    metrics.extend(message_metrics(ended.end.since(Time::ZERO), &ended));
    metrics.extend(level_metrics(&ended));
    metrics.extend(radio_metrics(ended.radio.as_ref()));
    metrics.extend(shared_metrics(ended.shared.as_ref()));
    let collect = spec.collect;
    Ok(RunResult {
        run: spec.run.clone(),
        complete: ended.complete,
        metrics,
        distributions: Vec::from_iter(collect.distributions.then(|| {
            let binned = rows.iter().filter_map(|row| row.delay);
            Distribution::of("td_s", delays.values()).with_counts(BIN, binned)
        })),
        messages: ended.messages,
        windows: ended.windows,
        flows: ended.flows,
        transactions: if collect.transactions {
            rows
        } else {
            Vec::new()
        },
    })
}

/// A row for each transaction, by number.
fn rows(ended: &Ended<SipCaller, SipAnswerer>) -> Vec<TransactionSample> {
    let answers = ended.answerer.calls();
    (0..)
        .zip(ended.caller.calls())
        .map(|(number, call)| {
            let answer = answers.get(number as usize);
            let oks = answer.map_or(0, |answer| answer.oks);
            let unacknowledged = answer.and_then(|answer| answer.unacknowledged);
            let gave_up: Option<Time> = call.failed.map(|(at, _)| at).or(unacknowledged);
            TransactionSample {
                call: number,
                started: call.started,
                psd: None,
                asd: None,
                clean: is_plain(call.invites, oks),
                delay: call.transaction_delay(),
                invites: call.invites,
                oks,
                gave_up: gave_up.map(|at| at.since(call.started)),
                outcome: Some(outcome(call, answer)),
            }
        })
        .collect()
}

/// Whether SIP repeated nothing.
const fn is_plain(invites: u32, oks: u32) -> bool {
    invites == 1 && oks == 1
}

fn transaction_metrics(rows: &[TransactionSample], delays: &Sorted) -> Vec<Metric> {
    let ended = |how| rows.iter().filter(move |row| row.outcome == Some(how));
    let count = |how| ended(how).count() as u64;
    let plain = Sorted::of(rows.iter().filter(|r| r.clean).filter_map(|r| r.delay));
    let (mean, sd) = delays.mean_and_sd();
    let (plain_mean, plain_sd) = plain.mean_and_sd();
    let (no_answer, no_ack) = (count(Outcome::NoAnswer), count(Outcome::NoAck));
    let mut metrics = vec![
        Metric::count("transactions", rows.len() as u64),
        Metric::count("succeeded", count(Outcome::Success)),
        Metric::count("failed", no_answer + no_ack),
        Metric::count("failed_no_answer", no_answer),
        Metric::count("failed_no_ack", no_ack),
        Metric::maybe("td_mean_s", mean),
        Metric::maybe("td_sd_s", sd),
        Metric::maybe("td_p50_s", delays.quantile(0.5)),
        Metric::maybe("td_p90_s", delays.quantile(0.9)),
        Metric::maybe("td_p95_s", delays.quantile(0.95)),
        Metric::maybe("td_p99_s", delays.quantile(0.99)),
        Metric::maybe("td_max_s", delays.max()),
        Metric::count("plain_transactions", plain.count()),
        Metric::maybe("td_plain_mean_s", plain_mean),
        Metric::maybe("td_plain_sd_s", plain_sd),
        Metric::maybe("td_symmetric_s", symmetric(mean, plain_mean)),
        Metric::count("invites", rows.iter().map(|r| u64::from(r.invites)).sum()),
        Metric::count("oks", rows.iter().map(|r| u64::from(r.oks)).sum()),
    ];
    metrics.extend(shares(ended(Outcome::Success).map(|r| r.oks), rows.len()));
    metrics
}

/// The delay of a symmetric link, estimated from an asymmetric one (seed 1,
/// equation 1): twice the delay without half of that of plain transactions.
fn symmetric(mean: Option<f64>, plain: Option<f64>) -> Option<f64> {
    Some(2.0 * (mean? - plain? / 2.0))
}

/// Names of F(t) for t = 1 to 11: shares of the successes and of all.
const F: [[&str; 2]; 11] = [
    ["f1_share", "f1_of_all_share"],
    ["f2_share", "f2_of_all_share"],
    ["f3_share", "f3_of_all_share"],
    ["f4_share", "f4_of_all_share"],
    ["f5_share", "f5_of_all_share"],
    ["f6_share", "f6_of_all_share"],
    ["f7_share", "f7_of_all_share"],
    ["f8_share", "f8_of_all_share"],
    ["f9_share", "f9_of_all_share"],
    ["f10_share", "f10_of_all_share"],
    ["f11_share", "f11_of_all_share"],
];

/// F(t) from the 200s that each success took, of `all` transactions.
fn shares(oks: impl Iterator<Item = u32>, all: usize) -> Vec<Metric> {
    let mut counts = [0_u64; F.len()];
    let mut successes = 0_u64;
    for oks in oks {
        successes += 1;
        // Where a repeated INVITE brings a 200 of its own there may be more than 11.
        if let Some(count) = counts.get_mut((oks as usize).wrapping_sub(1)) {
            *count += 1;
        }
    }
    let share = |n: u64, of: u64| n as f64 / of as f64;
    F.iter()
        .zip(counts)
        .flat_map(|([of_successes, of_all], n)| {
            [
                Metric::real(of_successes, share(n, successes)),
                Metric::real(of_all, share(n, all as u64)),
            ]
        })
        .collect()
}

/// Messages lost on an unreliable transport, by kind, copies included.
fn lost_metrics(lost: &[u64]) -> Vec<Metric> {
    let of = |kind| {
        let kinds = lost.iter().filter_map(|id| SipId::decode(MessageId(*id)));
        kinds.filter(|id| id.kind == kind).count() as u64
    };
    vec![
        Metric::count("lost_invites", of(MessageKind::Invite)),
        Metric::count("lost_tryings", of(MessageKind::Trying)),
        Metric::count("lost_oks", of(MessageKind::Ok)),
        Metric::count("lost_acks", of(MessageKind::Ack)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_1_gives_the_paper_s_numbers() {
        let close = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-12;
        assert!(close(symmetric(Some(0.100), Some(0.048)), 0.152));
        assert!(close(symmetric(Some(0.200), Some(0.140)), 0.260));
        assert_eq!(symmetric(Some(0.1), None), None);
    }

    #[test]
    fn f_counts_successes_only_or_all() {
        let metrics = shares([1, 1, 2, 11, 12].into_iter(), 10);
        let value = |name| metrics.iter().find(|m| m.name == name).unwrap().value;
        use crate::results::Value::Real;
        assert_eq!(value("f1_share"), Real(Some(0.4)));
        assert_eq!(value("f1_of_all_share"), Real(Some(0.2)));
        assert_eq!(value("f11_share"), Real(Some(0.2)));
        assert_eq!(value("f3_share"), Real(Some(0.0)));
        assert!(shares([].into_iter(), 3).iter().all(|m| {
            let of_successes = !m.name.contains("of_all");
            m.value == Real((!of_successes).then_some(0.0))
        }));
    }
}
