//! SIP signalling between two proxies, over any transport.

use headway_apps::sip::{SipAnswerer, SipCaller, SipId, SipWorkload, answer_signal_delay};
use headway_apps::{MessageId, Peer};

use super::crowd::shared_metrics;
use super::error::RunError;
use super::metrics::{Sorted, level_metrics, message_metrics, radio_metrics};
use super::over::run_over;
use super::pair::Ended;
use crate::results::{Distribution, Metric, RunResult, TransactionSample};
use crate::spec::RunSpec;

/// Runs the workload over the transport of the spec.
pub(super) fn run(spec: &RunSpec, workload: &SipWorkload) -> Result<RunResult, RunError> {
    let arrivals = spec.seed.stream("caller.arrivals");
    let (reliability, via) = spec.transport.nature();
    let caller =
        SipCaller::new(workload, spec.duration(), arrivals, Peer::default()).over(reliability, via);
    let answerer = SipAnswerer::new(workload)
        .expecting(workload.expected_calls(spec.duration()))
        .over(reliability, via);
    let ended = run_over(spec, (caller, answerer))?;
    let unclean = unclean(&ended);
    let calls = || transactions(&ended, &unclean);
    let (psd, clean) = post_selection_delays(calls());
    let mut metrics = call_metrics(&ended, calls(), &psd, &clean);
    metrics.extend(message_metrics(spec.duration(), &ended));
    metrics.extend(level_metrics(&ended));
    metrics.extend(radio_metrics(ended.radio.as_ref()));
    metrics.extend(shared_metrics(ended.shared.as_ref()));
    let collect = spec.collect;
    let transactions = if collect.transactions {
        calls().collect()
    } else {
        Vec::new()
    };
    Ok(RunResult {
        run: spec.run.clone(),
        complete: ended.complete,
        metrics,
        distributions: Vec::from_iter(
            collect
                .distributions
                .then(|| Distribution::of("psd_s", psd.values())),
        ),
        messages: ended.messages,
        windows: ended.windows,
        flows: ended.flows,
        transactions,
    })
}

/// The calls of which a message was lost on its first transmission, by number.
fn unclean(ended: &Ended<SipCaller, SipAnswerer>) -> Vec<bool> {
    let mut unclean = vec![false; ended.caller.calls().len()];
    for id in &ended.lost {
        let call = SipId::decode(MessageId(*id)).map(|id| id.call as usize);
        if let Some(call) = call.and_then(|call| unclean.get_mut(call)) {
            *call = true;
        }
    }
    unclean
}

/// A row for each call, by number.
fn transactions<'a>(
    ended: &'a Ended<SipCaller, SipAnswerer>,
    unclean: &'a [bool],
) -> impl Iterator<Item = TransactionSample> + 'a {
    let answers = ended.answerer.calls();
    (0..)
        .zip(ended.caller.calls())
        .zip(unclean)
        .map(|((number, call), unclean)| {
            let answer = answers.get(number as usize);
            TransactionSample {
                call: number,
                started: call.started,
                psd: call.post_selection_delay(),
                asd: answer.and_then(|answer| answer_signal_delay(call, answer)),
                clean: call.ringing.is_some() && !unclean,
                delay: call.transaction_delay(),
                invites: call.invites,
                oks: answer.map_or(0, |answer| answer.oks),
                gave_up: call.failed.map(|(at, _)| at.since(call.started)),
                outcome: None,
            }
        })
}

/// The post-selection delays of all calls, and those of the clean ones.
fn post_selection_delays(calls: impl Iterator<Item = TransactionSample>) -> (Sorted, Sorted) {
    let mut delays = Vec::from_iter(calls.filter_map(|call| Some((call.psd?, call.clean))));
    delays.sort_unstable_by_key(|(psd, _)| *psd);
    let of = |clean_only: bool| {
        let chosen = delays
            .iter()
            .filter(move |(_, clean)| *clean || !clean_only);
        Sorted::of_sorted(chosen.map(|(psd, _)| *psd))
    };
    (of(false), of(true))
}

fn call_metrics(
    ended: &Ended<SipCaller, SipAnswerer>,
    calls: impl Iterator<Item = TransactionSample>,
    psd: &Sorted,
    clean: &Sorted,
) -> Vec<Metric> {
    let (mut count, mut invites, mut oks) = (0, 0, 0);
    let asd = Sorted::of(calls.filter_map(|call| {
        count += 1;
        invites += u64::from(call.invites);
        oks += u64::from(call.oks);
        call.asd
    }));
    let (psd_mean, psd_sd) = psd.mean_and_sd();
    let (clean_mean, clean_sd) = clean.mean_and_sd();
    let failed = ended.caller.calls().iter().filter(|c| c.failed.is_some());
    vec![
        Metric::count("calls", count),
        Metric::count("answered", psd.count()),
        Metric::maybe("psd_mean_s", psd_mean),
        Metric::maybe("psd_sd_s", psd_sd),
        Metric::maybe("psd_p50_s", psd.quantile(0.5)),
        Metric::maybe("psd_p90_s", psd.quantile(0.9)),
        Metric::maybe("psd_p95_s", psd.quantile(0.95)),
        Metric::maybe("psd_p99_s", psd.quantile(0.99)),
        Metric::maybe("psd_max_s", psd.max()),
        Metric::maybe("asd_mean_s", asd.mean_and_sd().0),
        Metric::maybe("asd_p95_s", asd.quantile(0.95)),
        Metric::count("clean_calls", clean.count()),
        Metric::maybe("psd_clean_mean_s", clean_mean),
        Metric::maybe("psd_clean_sd_s", clean_sd),
        Metric::count("failed_calls", failed.count() as u64),
        Metric::count("invites", invites),
        Metric::count("oks", oks),
    ]
}
