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
    let answerer = SipAnswerer::new(workload).over(reliability, via);
    let ended = run_over(spec, (caller, answerer))?;
    let calls = transactions(&ended);
    let mut metrics = call_metrics(&ended, &calls);
    metrics.extend(message_metrics(spec.duration(), &ended));
    metrics.extend(level_metrics(&ended));
    metrics.extend(radio_metrics(ended.radio.as_ref()));
    metrics.extend(shared_metrics(ended.shared.as_ref()));
    let collect = spec.collect;
    let psd = Sorted::of(calls.iter().filter_map(|c| c.psd));
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
        transactions: if collect.transactions {
            calls
        } else {
            Vec::new()
        },
    })
}

/// A row for each call, by number.
fn transactions(ended: &Ended<SipCaller, SipAnswerer>) -> Vec<TransactionSample> {
    let answers = ended.answerer.calls();
    let mut calls: Vec<TransactionSample> = (0..)
        .zip(ended.caller.calls())
        .map(|(number, call)| {
            let answer = answers.get(number as usize);
            TransactionSample {
                call: number,
                started: call.started,
                psd: call.post_selection_delay(),
                asd: answer.and_then(|answer| answer_signal_delay(call, answer)),
                clean: call.ringing.is_some(),
                delay: call.transaction_delay(),
                invites: call.invites,
                oks: answer.map_or(0, |answer| answer.oks),
                gave_up: call.failed.map(|(at, _)| at.since(call.started)),
                outcome: None,
            }
        })
        .collect();
    for id in &ended.lost {
        let call = SipId::decode(MessageId(*id)).map(|id| id.call as usize);
        if let Some(call) = call.and_then(|call| calls.get_mut(call)) {
            call.clean = false;
        }
    }
    calls
}

fn call_metrics(ended: &Ended<SipCaller, SipAnswerer>, calls: &[TransactionSample]) -> Vec<Metric> {
    let psd = Sorted::of(calls.iter().filter_map(|c| c.psd));
    let asd = Sorted::of(calls.iter().filter_map(|c| c.asd));
    let clean = Sorted::of(calls.iter().filter(|c| c.clean).filter_map(|c| c.psd));
    let (psd_mean, psd_sd) = psd.mean_and_sd();
    let (clean_mean, clean_sd) = clean.mean_and_sd();
    let failed = ended.caller.calls().iter().filter(|c| c.failed.is_some());
    vec![
        Metric::count("calls", calls.len() as u64),
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
        Metric::count("invites", calls.iter().map(|c| u64::from(c.invites)).sum()),
        Metric::count("oks", calls.iter().map(|c| u64::from(c.oks)).sum()),
    ]
}
