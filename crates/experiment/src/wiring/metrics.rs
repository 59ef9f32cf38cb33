//! Metrics that every workload has, and the statistics behind others.

use headway_path::LinkCounters;
use headway_path::dot11::StationCounters;
use headway_sansio::Duration;

use super::pair::Ended;
use super::radio::{RadioReport, VoiceSeen};
use crate::attribution::Totals;
use crate::results::{Metric, quantile};

/// Durations in seconds, ascending.
pub(super) struct Sorted(Vec<f64>);

impl Sorted {
    pub(super) fn of(durations: impl Iterator<Item = Duration>) -> Self {
        let mut nanos: Vec<u64> = durations.map(Duration::as_nanos).collect();
        nanos.sort_unstable();
        Self(nanos.into_iter().map(|n| n as f64 / 1e9).collect())
    }

    /// Of durations that are in order already.
    pub(super) fn of_sorted(durations: impl Iterator<Item = Duration>) -> Self {
        let seconds = durations.map(|duration| duration.as_nanos() as f64 / 1e9);
        Self(seconds.collect())
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.0
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    pub(super) fn max(&self) -> Option<f64> {
        self.0.last().copied()
    }

    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        quantile(&self.0, q)
    }

    /// Mean and sample standard deviation; undefined for fewer than one and two
    /// values.
    pub(super) fn mean_and_sd(&self) -> (Option<f64>, Option<f64>) {
        let values = &self.0;
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
}

/// Delays of messages, their parts, and what the transport counted. The messages
/// were offered within `offered_for`.
pub(super) fn message_metrics<A, B>(offered_for: Duration, ended: &Ended<A, B>) -> Vec<Metric> {
    let mut totals = Totals::default();
    for direction in &ended.totals {
        totals.merge(direction);
    }
    let counters = ended.counters;
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
            totals.handed_over_bytes as f64 * 8.0 / offered_for.as_secs_f64(),
        ),
    ]
}

/// What crossed the path, levels over time, and the run itself.
pub(super) fn level_metrics<A, B>(ended: &Ended<A, B>) -> Vec<Metric> {
    let both = |of: fn(&LinkCounters) -> u64| ended.links.iter().map(of).sum::<u64>();
    let end = ended.end;
    let held_mean: Option<f64> = ended.held.iter().map(|gauge| gauge.mean(end)).sum();
    let held_max = ended.held.iter().map(|gauge| gauge.max()).max();
    vec![
        Metric::count("packets", both(|l| l.packets_offered)),
        Metric::count("packets_lost_wire", both(|l| l.packets_lost_wire)),
        Metric::count("packets_lost_queue", both(|l| l.packets_lost_queue)),
        Metric::count("bytes_on_wire", both(|l| l.bytes_offered)),
        Metric::maybe("cwnd_mean_bytes", ended.cwnd.mean(end)),
        Metric::count("cwnd_max_bytes", ended.cwnd.max()),
        Metric::maybe("hol_held_bytes_mean", held_mean),
        Metric::count("hol_held_bytes_max", held_max.unwrap_or(0)),
        Metric::count("associations_lost", u64::from(ended.dead)),
        Metric::real("virtual_s", end.as_secs_f64()),
        Metric::count("events", ended.events),
    ]
}

/// What a cell counted; nothing on a path of another kind.
pub(super) fn radio_metrics(radio: Option<&RadioReport>) -> Vec<Metric> {
    let Some(radio) = radio else {
        return Vec::new();
    };
    let RadioReport {
        client,
        server,
        background,
        ..
    } = radio;
    let dropped = |c: &StationCounters| c.dropped_queue + c.dropped_retry;
    let mut metrics = vec![
        Metric::count("uplink_tries", client.tries),
        Metric::count("uplink_retries", client.retries),
        Metric::count("uplink_collisions", client.collisions),
        Metric::count("uplink_channel_errors", client.channel_errors),
        Metric::count("uplink_dropped_pkts", dropped(client)),
        Metric::count("downlink_tries", server.tries),
        Metric::count("downlink_retries", server.retries),
        Metric::count("downlink_collisions", server.collisions),
        Metric::count("downlink_channel_errors", server.channel_errors),
        Metric::count("downlink_dropped_pkts", dropped(server)),
        Metric::real("client_air_s", client.air.as_secs_f64()),
        Metric::real("server_air_s", server.air.as_secs_f64()),
        Metric::real("background_air_s", radio.background_air.as_secs_f64()),
        Metric::count("background_pkts", background.offered),
        Metric::count("background_delivered_pkts", background.delivered),
        Metric::count("background_dropped_queue_pkts", background.dropped_queue),
        Metric::count("background_dropped_retry_pkts", background.dropped_retry),
        Metric::real("busy_share", radio.busy_share),
        Metric::real("reported_snr_mean_db", radio.reported_snr_db),
    ];
    metrics.extend(voice_metrics(radio.voice.as_ref()));
    metrics
}

fn voice_metrics(voice: Option<&VoiceSeen>) -> Vec<Metric> {
    let delays = Sorted::of(voice.into_iter().flat_map(|v| v.delays.iter().copied()));
    let (packets, lost) = voice.map_or((0, 0), |v| (v.packets, v.lost));
    let queue_wait = voice.map_or(0, |v| v.queue_wait);
    vec![
        Metric::count("voice_pkts", packets),
        Metric::real("voice_lost_share", lost as f64 / packets as f64),
        Metric::maybe("voice_delay_mean_s", delays.mean_and_sd().0),
        Metric::maybe("voice_delay_p50_s", delays.quantile(0.5)),
        Metric::maybe("voice_delay_p95_s", delays.quantile(0.95)),
        Metric::maybe("voice_delay_p99_s", delays.quantile(0.99)),
        Metric::real(
            "voice_queue_wait_mean_s",
            seconds(queue_wait) / delays.count() as f64,
        ),
    ]
}

fn seconds(nanos: u128) -> f64 {
    nanos as f64 / 1e9
}
