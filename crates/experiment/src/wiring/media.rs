//! Media flows and recorded conversations, over any transport.

use headway_apps::MessageId;
use headway_apps::media::{MediaDirection, MediaEnd, MediaId, MediaWorkload};
use headway_apps::trace::{TraceEnd, TraceWorkload};
use headway_path::PathConfig;
use headway_sansio::Duration;

use super::crowd::shared_metrics;
use super::delays::DelayLog;
use super::dumbbell::flow_seed;
use super::error::RunError;
use super::metrics::{level_metrics, message_metrics};
use super::over::run_flows;
use super::pair::Ended;
use crate::results::{Metric, RunResult, mean_opinion_score, rating};
use crate::spec::{PathSpec, RunSpec, SpecError};

/// The path, which flows can share.
fn links(spec: &RunSpec) -> Result<&PathConfig, SpecError> {
    match &spec.path {
        PathSpec::Links(path) => Ok(path),
        PathSpec::Dot11(_) => Err(SpecError::new("path.kind", "must be links")),
    }
}

/// Runs the flows over the transport of the spec.
pub(super) fn run(spec: &RunSpec, workload: &MediaWorkload) -> Result<RunResult, RunError> {
    let path = links(spec)?;
    let both = workload.direction == MediaDirection::Both;
    let apps = (0..workload.flows)
        .map(|flow| {
            let seed = flow_seed(spec, flow as usize);
            let pace = |name| workload.pace(spec.duration(), seed.stream(name));
            let caller = pace("caller.media");
            let answerer = both.then(|| pace("answerer.media"));
            (
                MediaEnd::new(workload, flow, false, Some(caller)),
                MediaEnd::new(workload, flow, true, answerer),
            )
        })
        .collect();
    let playout = playout(path, workload);
    let log = DelayLog::new(playout, |id| !MediaId::decode(MessageId(id)).filler);
    let ended = run_flows(spec, path, apps, Some(&log))?.into_ended();
    let ends = || ended.caller.iter().chain(&ended.answerer);
    let sent = ends().map(MediaEnd::sent).sum();
    let strange: u64 = ends().map(|end| end.received().out_of_order).sum();
    let mut metrics = delay_metrics(&ended, sent, playout);
    metrics.push(Metric::count("out_of_order_messages", strange));
    metrics.extend(conversation_metrics(&ended, workload, sent, playout));
    Ok(finish(spec, ended, metrics))
}

/// Runs the conversation over the transport of the spec.
pub(super) fn run_trace(spec: &RunSpec, workload: &TraceWorkload) -> Result<RunResult, RunError> {
    let path = links(spec)?;
    let end = |reverse| TraceEnd::new(workload, reverse, spec.duration());
    let playout = workload
        .playout_ns
        .map_or(Duration::from_nanos(u64::MAX), Duration::from_nanos);
    let log = DelayLog::new(playout, |_| true);
    let apps = vec![(end(false), end(true))];
    let ended = run_flows(spec, path, apps, Some(&log))?.into_ended();
    let sent = ended
        .caller
        .iter()
        .chain(&ended.answerer)
        .map(TraceEnd::sent)
        .sum();
    let metrics = delay_metrics(&ended, sent, playout);
    Ok(finish(spec, ended, metrics))
}

/// When a packet is played: as the workload says, or after the time that one
/// fast retransmission takes, 1.5 round-trip times and three intervals (seed 4,
/// section 6.6).
fn playout(path: &PathConfig, workload: &MediaWorkload) -> Duration {
    let (there, back) = (path.forward(), path.reverse());
    let there = Duration::from_nanos(there.one_way_delay_ns);
    let back = Duration::from_nanos(back.one_way_delay_ns);
    let advised = there + there + back + workload.interval() * 3;
    workload.playout_ns.map_or(advised, Duration::from_nanos)
}

/// Delays of the messages that count.
fn delay_metrics<A, B>(ended: &Ended<A, B>, sent: u64, playout: Duration) -> Vec<Metric> {
    let log = ended
        .shared
        .as_ref()
        .and_then(|shared| shared.delays.as_ref());
    let (delays, late) = log.map_or_else(Default::default, |log| (log.delays.clone(), log.late));
    let arrived = delays.count();
    let endless = playout == Duration::from_nanos(u64::MAX);
    vec![
        Metric::count("media_packets", sent),
        Metric::count("media_received", arrived),
        Metric::maybe("delay_mean_s", delays.mean()),
        Metric::maybe("delay_sd_s", delays.sd()),
        Metric::maybe("delay_p50_s", delays.quantile(0.5)),
        Metric::maybe("delay_p90_s", delays.quantile(0.9)),
        Metric::maybe("delay_p95_s", delays.quantile(0.95)),
        Metric::maybe("delay_p99_s", delays.quantile(0.99)),
        Metric::maybe("delay_max_s", delays.max()),
        Metric::maybe("playout_s", (!endless).then(|| playout.as_secs_f64())),
        Metric::real("late_share", late as f64 / sent as f64),
        Metric::real(
            "missing_share",
            (sent - arrived.min(sent)) as f64 / sent as f64,
        ),
    ]
}

/// How the flows would be rated as conversations. What is late is lost, and what
/// is in time waits for its playout; the packet's own length comes on top.
fn conversation_metrics<A, B>(
    ended: &Ended<A, B>,
    workload: &MediaWorkload,
    sent: u64,
    playout: Duration,
) -> Vec<Metric> {
    let log = ended
        .shared
        .as_ref()
        .and_then(|shared| shared.delays.as_ref());
    let in_time = log.map_or(0, |log| log.delays.count() - log.late);
    let loss = (sent - in_time.min(sent)) as f64 / sent as f64;
    let delay = (playout + workload.interval()).as_secs_f64();
    let rated = workload.codec.map(|codec| rating(codec, delay, loss));
    vec![
        Metric::maybe("rating_r", rated),
        Metric::maybe("mos", rated.map(mean_opinion_score)),
    ]
}

/// What every such run has.
fn finish<A, B>(spec: &RunSpec, ended: Ended<A, B>, mut metrics: Vec<Metric>) -> RunResult {
    metrics.extend(message_metrics(spec.duration(), &ended));
    let mut distributions = Vec::new();
    if let Some(shared) = &ended.shared {
        let [near, far] = shared.figures;
        let both = near.plus(far);
        let timeouts = ended.counters.timeouts;
        let events = timeouts + both.fast_recoveries;
        let cwnd = ended.cwnd.mean(ended.end);
        metrics.extend([
            Metric::count("fast_recoveries", both.fast_recoveries),
            Metric::real("timeout_share", timeouts as f64 / events as f64),
            Metric::count("refused_messages", both.refused),
            Metric::count("dropped_messages", both.dropped),
            Metric::maybe(
                "cwnd_mean_segments",
                cwnd.map(|bytes| bytes / f64::from(near.mss_bytes)),
            ),
        ]);
        if let Some(log) = shared
            .delays
            .as_ref()
            .filter(|_| spec.collect.distributions)
        {
            distributions.push(log.delays.distribution("delay_s"));
        }
    }
    metrics.extend(level_metrics(&ended));
    metrics.extend(shared_metrics(ended.shared.as_ref()));
    RunResult {
        run: spec.run.clone(),
        complete: ended.complete,
        metrics,
        distributions,
        messages: ended.messages,
        transactions: Vec::new(),
        windows: ended.windows,
        flows: ended.flows,
    }
}
