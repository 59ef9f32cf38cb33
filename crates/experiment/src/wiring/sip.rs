//! SIP signalling between two proxies, over any transport.

use headway_apps::sip::{SipAnswerer, SipCaller, SipId, SipWorkload, answer_signal_delay};
use headway_apps::{MessageId, Peer};
use headway_path::LinkCounters;
use headway_sansio::Duration;

use super::carrier::Carrier;
use super::pair::{Ended, run_pair};
use super::run::RunError;
use super::sctp;
use super::watch::Trace;
use crate::attribution::Totals;
use crate::results::{Distribution, MessageSample, Metric, RunResult, TransactionSample, quantile};
use crate::spec::{RunSpec, TransportSpec};

/// Runs the workload over the transport of the spec.
pub(super) fn run(spec: &RunSpec, workload: &SipWorkload) -> Result<RunResult, RunError> {
    let arrivals = spec.seed.stream("caller.arrivals");
    let caller = SipCaller::new(workload, spec.duration(), arrivals, Peer::default());
    let apps = (caller, SipAnswerer::new(workload));
    match &spec.transport {
        TransportSpec::Sctp(transport) => {
            let (ends, traces) = sctp::ends(spec, transport, workload.content)?;
            Ok(Finished {
                spec,
                ended: run_pair(spec, apps, ends, traces)?,
            }
            .into_result())
        }
    }
}

/// A run that has ended, before its metrics are taken.
struct Finished<'a, C: Carrier> {
    spec: &'a RunSpec,
    ended: Ended<SipCaller, SipAnswerer, C>,
}

impl<C: Carrier> Finished<'_, C> {
    fn into_result(self) -> RunResult {
        let calls = self.transactions();
        let mut metrics = call_metrics(&calls);
        metrics.extend(self.message_metrics());
        metrics.extend(self.level_metrics());
        let collect = self.spec.collect;
        let distributions = if collect.distributions {
            vec![Distribution::of(
                "psd_s",
                &sorted_seconds(calls.iter().filter_map(|c| c.psd)),
            )]
        } else {
            Vec::new()
        };
        let (run, complete) = (self.spec.run.clone(), self.ended.complete);
        RunResult {
            run,
            complete,
            metrics,
            distributions,
            messages: if collect.messages {
                self.into_messages()
            } else {
                Vec::new()
            },
            transactions: if collect.transactions {
                calls
            } else {
                Vec::new()
            },
        }
    }

    fn into_messages(self) -> Vec<MessageSample> {
        let Ended {
            traces,
            caller,
            answerer,
            ..
        } = self.ended;
        // The hosts share the traces; with them gone the rows can be taken out.
        drop((caller, answerer));
        let Some(traces) = std::rc::Rc::into_inner(traces) else {
            return Vec::new();
        };
        let mut messages: Vec<MessageSample> = [true, false]
            .into_iter()
            .zip(traces.into_inner().directions)
            .flat_map(|(forward, trace)| {
                trace
                    .into_rows()
                    .into_iter()
                    .map(move |row| MessageSample { forward, row })
            })
            .collect();
        messages.sort_by_key(|m| (m.row.handed_over, m.row.id));
        messages
    }

    /// A row for each call, by number.
    fn transactions(&self) -> Vec<TransactionSample> {
        let answers = self.ended.answerer.app.calls();
        let mut calls: Vec<TransactionSample> = (0..)
            .zip(self.ended.caller.app.calls())
            .map(|(number, call)| TransactionSample {
                call: number,
                started: call.started,
                psd: call.post_selection_delay(),
                asd: answers
                    .get(number as usize)
                    .and_then(|answer| answer_signal_delay(call, answer)),
                clean: call.ringing.is_some(),
            })
            .collect();
        for id in &self.ended.traces.borrow().lost_first {
            let call = SipId::decode(MessageId(*id)).map(|id| id.call as usize);
            if let Some(call) = call.and_then(|call| calls.get_mut(call)) {
                call.clean = false;
            }
        }
        calls
    }

    fn message_metrics(&self) -> Vec<Metric> {
        let mut totals = Totals::default();
        for trace in &self.ended.traces.borrow().directions {
            totals.merge(trace.totals());
        }
        let Ended {
            caller, answerer, ..
        } = &self.ended;
        let counters = caller.carrier.counters().plus(answerer.carrier.counters());
        let mean = |nanos: u128| seconds(nanos) / totals.delivered as f64;
        let delay = totals.sums.delay();
        let share = |nanos: u128| nanos as f64 / delay as f64;
        let retransmissions = counters.fast_retransmissions + counters.timed_retransmissions;
        let duplicates = counters.duplicates;
        let lost_again = retransmissions as f64 - duplicates as f64;
        vec![
            Metric::real("message_delay_mean_s", mean(delay)),
            Metric::real("sender_wait_mean_s", mean(totals.sums.sender_wait)),
            Metric::real("network_mean_s", mean(totals.sums.network)),
            Metric::real("recovery_mean_s", mean(totals.sums.recovery)),
            Metric::real("hol_blocking_mean_s", mean(totals.sums.hol_blocking)),
            Metric::real("sender_wait_share", share(totals.sums.sender_wait)),
            Metric::real("network_share", share(totals.sums.network)),
            Metric::real("recovery_share", share(totals.sums.recovery)),
            Metric::real("hol_blocking_share", share(totals.sums.hol_blocking)),
            Metric::count("messages", totals.delivered),
            Metric::count("hol_blocked_messages", totals.hol_blocked),
            Metric::count(
                "data_chunks",
                totals.first_transmissions + totals.retransmissions,
            ),
            Metric::count("retransmissions", retransmissions),
            Metric::count("fast_retransmissions", counters.fast_retransmissions),
            Metric::count("timed_retransmissions", counters.timed_retransmissions),
            Metric::count("needless_retransmissions", totals.needless_retransmissions),
            Metric::count("duplicates", duplicates),
            Metric::count("timeouts", counters.timeouts),
            Metric::count("lost_chunks", totals.lost_chunks),
            Metric::real(
                "effective_loss",
                lost_again / totals.first_transmissions as f64,
            ),
            Metric::real(
                "offered_bps",
                totals.handed_over_bytes as f64 * 8.0 / self.spec.duration().as_secs_f64(),
            ),
        ]
    }

    fn level_metrics(&self) -> Vec<Metric> {
        let Ended {
            caller,
            answerer,
            links,
            end,
            events,
            ..
        } = &self.ended;
        let both = |of: fn(&LinkCounters) -> u64| links.iter().map(of).sum::<u64>();
        let (cwnd, end) = (caller.carrier.cwnd(), *end);
        let held = [caller.carrier.held(), answerer.carrier.held()];
        let held_mean: Option<f64> = held.iter().map(|gauge| gauge.mean(end)).sum();
        vec![
            Metric::count("packets", both(|l| l.packets_offered)),
            Metric::count("packets_lost_wire", both(|l| l.packets_lost_wire)),
            Metric::count("packets_lost_queue", both(|l| l.packets_lost_queue)),
            Metric::count("bytes_on_wire", both(|l| l.bytes_offered)),
            Metric::maybe("cwnd_mean_bytes", cwnd.mean(end)),
            Metric::count("cwnd_max_bytes", cwnd.max()),
            Metric::maybe("hol_held_bytes_mean", held_mean),
            Metric::count(
                "hol_held_bytes_max",
                held.iter().map(|gauge| gauge.max()).max().unwrap_or(0),
            ),
            Metric::count("associations_lost", u64::from(caller.dead || answerer.dead)),
            Metric::real("virtual_s", end.as_secs_f64()),
            Metric::count("events", *events),
        ]
    }
}

fn seconds(nanos: u128) -> f64 {
    nanos as f64 / 1e9
}

fn sorted_seconds(durations: impl Iterator<Item = Duration>) -> Vec<f64> {
    let mut nanos: Vec<u64> = durations.map(Duration::as_nanos).collect();
    nanos.sort_unstable();
    nanos.into_iter().map(|n| n as f64 / 1e9).collect()
}

/// Mean and sample standard deviation; undefined for fewer than one and two values.
fn mean_and_sd(values: &[f64]) -> (Option<f64>, Option<f64>) {
    if values.is_empty() {
        return (None, None);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (
        Some(mean),
        (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()),
    )
}

fn call_metrics(calls: &[TransactionSample]) -> Vec<Metric> {
    let psd = sorted_seconds(calls.iter().filter_map(|c| c.psd));
    let asd = sorted_seconds(calls.iter().filter_map(|c| c.asd));
    let clean = sorted_seconds(calls.iter().filter(|c| c.clean).filter_map(|c| c.psd));
    let (psd_mean, psd_sd) = mean_and_sd(&psd);
    let (clean_mean, clean_sd) = mean_and_sd(&clean);
    vec![
        Metric::count("calls", calls.len() as u64),
        Metric::count("answered", psd.len() as u64),
        Metric::maybe("psd_mean_s", psd_mean),
        Metric::maybe("psd_sd_s", psd_sd),
        Metric::maybe("psd_p50_s", quantile(&psd, 0.5)),
        Metric::maybe("psd_p90_s", quantile(&psd, 0.9)),
        Metric::maybe("psd_p95_s", quantile(&psd, 0.95)),
        Metric::maybe("psd_p99_s", quantile(&psd, 0.99)),
        Metric::maybe("psd_max_s", psd.last().copied()),
        Metric::maybe("asd_mean_s", mean_and_sd(&asd).0),
        Metric::maybe("asd_p95_s", quantile(&asd, 0.95)),
        Metric::count("clean_calls", clean.len() as u64),
        Metric::maybe("psd_clean_mean_s", clean_mean),
        Metric::maybe("psd_clean_sd_s", clean_sd),
    ]
}
