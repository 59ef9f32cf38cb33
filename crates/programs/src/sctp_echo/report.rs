//! What both sides print at their end.

use std::fmt::Write as _;

use headway_net::sctp::{
    AssociationError, Endpoint, EndpointStats, NetworkStats, PathReport, Stats,
};
use serde_json::{Map, Value, json};

use super::args::ConnectArgs;
use super::client::Outcome;
use super::ledger::Tally;
use super::server::Served;
use crate::failure::Failure;
use crate::sip::delays::Delays;

/// Paths that the table shows one by one; more associations have too many.
const MOST_PATHS: usize = 16;

/// The client's figures.
pub(super) struct ClientReport {
    heading: String,
    count: u64,
    tally: Tally,
    echoed_bytes_s: f64,
    seconds: f64,
    round_trips: Delays,
    handshakes: Delays,
    ends: Vec<(String, u64)>,
    bad_ends: u64,
    interleaving: u64,
    partial_reliability: u64,
    counts: Vec<Count>,
    paths: Vec<PathReport>,
    network: NetworkStats,
}

/// A counter with its key and its name.
type Count = (&'static str, &'static str, u64);

impl ClientReport {
    pub(super) fn new(
        args: &ConnectArgs,
        endpoint: &Endpoint,
        outcomes: Vec<Outcome>,
        round_trips: Delays,
        seconds: f64,
    ) -> Self {
        let target = args.target();
        let mut report = Self {
            heading: format!(
                "SCTP port {} of {} over {}",
                target.port,
                args.below.show(&target.addresses),
                args.below.name()
            ),
            count: args.messages_in_all().unwrap_or(u64::MAX),
            tally: Tally::default(),
            echoed_bytes_s: 0.0,
            seconds,
            round_trips,
            handshakes: Delays::default(),
            ends: Vec::new(),
            bad_ends: 0,
            interleaving: 0,
            partial_reliability: 0,
            counts: counts(&Stats::default()),
            paths: Vec::new(),
            network: endpoint.network_stats(),
        };
        for outcome in outcomes {
            report.add(outcome);
        }
        let share = report.tally.echoed as f64 / (report.tally.sent.max(1)) as f64;
        report.echoed_bytes_s = report.tally.sent_bytes as f64 * share / seconds;
        report
    }

    fn add(&mut self, outcome: Outcome) {
        if let Some(ledger) = outcome.ledger {
            self.tally.add(&ledger.tally);
        }
        if let Some(seconds) = outcome.handshake_s {
            self.handshakes
                .add(headway_sansio::Duration::from_secs_f64(seconds));
        }
        self.bad_ends += u64::from(!outcome.ended_well);
        self.interleaving += u64::from(outcome.interleaving);
        self.partial_reliability += u64::from(outcome.partial_reliability);
        match self.ends.iter_mut().find(|(end, _)| *end == outcome.end) {
            Some((_, count)) => *count += 1,
            None => self.ends.push((outcome.end, 1)),
        }
        for (total, (_, _, count)) in self.counts.iter_mut().zip(counts(&outcome.stats)) {
            total.2 += count;
        }
        self.paths.extend(outcome.paths);
    }

    /// # Errors
    /// Where not everything came back right or an association ended badly.
    pub(super) fn verdict(&self) -> Result<(), Failure> {
        if !self.tally.is_right(self.count) {
            let Tally {
                echoed,
                out_of_order,
                altered,
                unexpected,
                given_up,
                ..
            } = self.tally;
            let right = echoed.saturating_sub(out_of_order + altered);
            return Err(Failure::Result(format!(
                "{right} of {} messages came back right, {given_up} were given up, \
                 {unexpected} others came; {}",
                self.count,
                self.said()
            )));
        }
        if self.bad_ends > 0 {
            return Err(Failure::Result(format!("the end: {}", self.said())));
        }
        Ok(())
    }

    /// How the associations ended.
    fn said(&self) -> String {
        let ends = self.ends.iter().map(|(end, count)| match count {
            1 => end.clone(),
            _ => format!("{end} ({count} times)"),
        });
        ends.collect::<Vec<_>>().join("; ")
    }

    /// # Errors
    /// Where the figures cannot be written as JSON.
    pub(super) fn print(&self, json: bool) -> Result<(), Failure> {
        if json {
            return print_json(&self.json());
        }
        print!("{}", self.table());
        Ok(())
    }

    fn json(&self) -> Value {
        let mut report = Map::new();
        report.insert("messages".to_owned(), self.count.into());
        if let Value::Object(tally) = json!(self.tally) {
            report.extend(tally);
        }
        report.insert("missing".to_owned(), self.tally.missing().into());
        report.insert("interleaving".to_owned(), self.interleaving.into());
        report.insert(
            "partial_reliability".to_owned(),
            self.partial_reliability.into(),
        );
        report.insert("right".to_owned(), self.verdict().is_ok().into());
        report.insert("duration_s".to_owned(), self.seconds.into());
        report.insert("echoed_bytes_per_s".to_owned(), self.echoed_bytes_s.into());
        self.round_trips.put(&mut report, "round_trip");
        self.handshakes.put(&mut report, "handshake");
        report.insert(
            "ends".to_owned(),
            self.ends
                .iter()
                .map(|(end, count)| (end.clone(), (*count).into()))
                .collect::<Map<_, Value>>()
                .into(),
        );
        let stats = self.counts.iter();
        let stats: Map<_, Value> = stats
            .map(|(key, _, count)| ((*key).to_owned(), (*count).into()))
            .collect();
        report.insert("stats".to_owned(), stats.into());
        report.insert(
            "paths".to_owned(),
            self.paths.iter().map(path_json).collect(),
        );
        report.insert("network".to_owned(), network_json(&self.network));
        report.into()
    }

    fn table(&self) -> String {
        let mut text = format!("{}, {:.1} s\n\n", self.heading, self.seconds);
        let Tally {
            sent,
            echoed,
            out_of_order,
            altered,
            unexpected,
            given_up,
            resets,
            peer_resets,
            ..
        } = self.tally;
        for (name, count) in [
            ("messages sent", sent),
            ("came back", echoed),
            ("  out of order", out_of_order),
            ("  with another PPID or flag", altered),
            ("given up", given_up),
            ("missing", self.tally.missing()),
            ("not expected", unexpected),
            ("times the streams were reset", resets),
            ("resets by the peer", peer_resets),
            ("associations with I-DATA", self.interleaving),
            ("  with partial reliability", self.partial_reliability),
        ] {
            line(&mut text, format_args!("{name:32}{count:>12}"));
        }
        line(
            &mut text,
            format_args!(
                "{:32}{:>12.0}",
                "bytes echoed per second", self.echoed_bytes_s
            ),
        );
        line(&mut text, format_args!("{:32}{:>12}", "end", self.said()));
        let names = ["mean", "sd", "p50", "p90", "p95", "p99", "max"];
        let names = names.map(|name| format!("{name:>10}")).concat();
        line(
            &mut text,
            format_args!("\n{:16}{:>10}{names}", "in milliseconds", "count"),
        );
        for (name, delays) in [
            ("round trip", &self.round_trips),
            ("handshake", &self.handshakes),
        ] {
            let figures = delays.figures().map(|(_, value)| {
                let shown = value.map(|value| format!("{:.3}", 1e3 * value));
                format!("{:>10}", shown.as_deref().unwrap_or("-"))
            });
            let figures = figures.concat();
            line(
                &mut text,
                format_args!("{name:16}{:>10}{figures}", delays.count()),
            );
        }
        text.push('\n');
        for (_, name, count) in &self.counts {
            line(&mut text, format_args!("{name:32}{count:>12}"));
        }
        self.path_table(&mut text);
        text
    }

    fn path_table(&self, text: &mut String) {
        let head = [
            "state", "srtt ms", "rto ms", "cwnd", "mtu", "packets", "data", "again",
        ];
        let head = head.map(|name| format!("{name:>10}")).concat();
        line(text, format_args!("\n{:40}{head}", "path"));
        for path in self.paths.iter().take(MOST_PATHS) {
            let status = &path.status;
            let mark = if path.primary { "*" } else { "" };
            let srtt = status.srtt.map_or("-".to_owned(), |srtt| {
                format!("{:.3}", 1e3 * srtt.as_secs_f64())
            });
            line(
                text,
                format_args!(
                    "{:40}{:>10}{srtt:>10}{:>10.1}{:>10}{:>10}{:>10}{:>10}{:>10}",
                    format!("{} -> {}{mark}", path.local, path.remote),
                    format!("{:?}", status.state).to_lowercase(),
                    1e3 * status.rto.as_secs_f64(),
                    status.cwnd_bytes,
                    status.mtu_bytes,
                    status.stats.packets_sent,
                    status.stats.data_chunks_sent,
                    status.stats.retransmissions,
                ),
            );
        }
        if let Some(more) = self.paths.len().checked_sub(MOST_PATHS + 1) {
            line(text, format_args!("and {} more", more + 1));
        }
    }
}

/// The server's figures.
#[derive(Default)]
pub(super) struct ServerReport {
    pub(super) associations: u64,
    shut_down: u64,
    aborted: u64,
    lost: u64,
    /// Associations that had not ended.
    pub(super) open: u64,
    messages: u64,
    bytes: u64,
    seconds: f64,
    endpoint: EndpointStats,
    network: NetworkStats,
}

impl Served {
    /// One line on how it went.
    pub(super) fn line(&self) -> String {
        let peer = self.peer.map_or("?".to_owned(), |peer| peer.to_string());
        let end = match &self.end {
            Ok(()) => "shut down".to_owned(),
            Err(error) => error.to_string(),
        };
        format!(
            "{peer}: {} messages, {} bytes; {end}",
            self.messages, self.bytes
        )
    }
}

impl ServerReport {
    pub(super) fn add(&mut self, served: &Served) {
        self.associations += 1;
        self.messages += served.messages;
        self.bytes += served.bytes;
        match &served.end {
            Ok(()) => self.shut_down += 1,
            Err(AssociationError::Aborted(_)) => self.aborted += 1,
            Err(_) => self.lost += 1,
        }
    }

    pub(super) fn finish(&mut self, endpoint: &Endpoint, seconds: f64) {
        self.seconds = seconds;
        self.endpoint = endpoint.stats();
        self.network = endpoint.network_stats();
    }

    fn counts(&self) -> [Count; 12] {
        [
            ("associations", "associations that ended", self.associations),
            ("shut_down", "  shut down", self.shut_down),
            ("aborted", "  aborted by the peer", self.aborted),
            ("lost", "  given up by this side", self.lost),
            ("open", "associations open at the end", self.open),
            ("messages", "messages echoed", self.messages),
            ("bytes", "bytes of them", self.bytes),
            (
                "inits_answered",
                "INITs answered",
                self.endpoint.inits_answered,
            ),
            (
                "inits_over_limit",
                "INITs beyond the limit",
                self.endpoint.inits_over_limit,
            ),
            (
                "cookies_accepted",
                "cookies accepted",
                self.endpoint.cookies_accepted,
            ),
            (
                "cookies_refused",
                "cookies refused",
                self.endpoint.cookies_refused,
            ),
            (
                "out_of_the_blue",
                "packets for nobody",
                self.endpoint.out_of_the_blue,
            ),
        ]
    }

    /// # Errors
    /// Where the figures cannot be written as JSON.
    pub(super) fn print(&self, json: bool) -> Result<(), Failure> {
        if json {
            let counts = self.counts().into_iter();
            let mut report: Map<_, Value> = counts
                .map(|(key, _, n)| (key.to_owned(), n.into()))
                .collect();
            report.insert("duration_s".to_owned(), self.seconds.into());
            report.insert("network".to_owned(), network_json(&self.network));
            return print_json(&report.into());
        }
        for (_, name, count) in self.counts() {
            println!("{name:32}{count:>12}");
        }
        Ok(())
    }
}

/// The counters that say most, with their names.
fn counts(stats: &Stats) -> Vec<Count> {
    vec![
        ("packets_sent", "packets sent", stats.packets_sent),
        (
            "packets_received",
            "packets received",
            stats.packets_received,
        ),
        (
            "data_chunks_sent",
            "DATA chunks sent",
            stats.data_chunks_sent,
        ),
        (
            "data_chunks_received",
            "DATA chunks received",
            stats.data_chunks_received,
        ),
        (
            "fast_retransmissions",
            "fast retransmissions",
            stats.fast_retransmissions,
        ),
        (
            "timed_retransmissions",
            "retransmissions after T3",
            stats.timed_retransmissions,
        ),
        ("timeouts", "timeouts (T3)", stats.timeouts),
        (
            "duplicates_received",
            "duplicates received",
            stats.duplicates_received,
        ),
        ("window_probes", "window probes", stats.window_probes),
        (
            "given_up_unsent",
            "given up before sending",
            stats.messages_abandoned.unsent,
        ),
        (
            "given_up_sent",
            "given up after sending",
            stats.messages_abandoned.sent,
        ),
        ("forwards_sent", "FORWARD-TSNs sent", stats.forwards_sent),
        ("heartbeats_sent", "heartbeats sent", stats.heartbeats_sent),
    ]
}

fn path_json(path: &PathReport) -> Value {
    let status = &path.status;
    json!({
        "local": path.local.to_string(),
        "remote": path.remote.to_string(),
        "primary": path.primary,
        "carries_data": status.carries_data,
        "state": format!("{:?}", status.state).to_lowercase(),
        "srtt_s": status.srtt.map(|srtt| srtt.as_secs_f64()),
        "rto_s": status.rto.as_secs_f64(),
        "cwnd_bytes": status.cwnd_bytes,
        "mtu_bytes": status.mtu_bytes,
        "errors": status.errors,
        "packets_sent": status.stats.packets_sent,
        "packets_received": status.stats.packets_received,
        "bytes_sent": status.stats.bytes_sent,
        "data_chunks_sent": status.stats.data_chunks_sent,
        "retransmissions": status.stats.retransmissions,
        "timeouts": status.stats.timeouts,
        "heartbeats_sent": status.stats.heartbeats_sent,
        "heartbeats_answered": status.stats.heartbeats_answered,
    })
}

fn network_json(network: &NetworkStats) -> Value {
    json!({
        "datagrams_sent": network.datagrams.sent,
        "datagrams_received": network.datagrams.received,
        "overflowed": network.datagrams.overflowed,
        "unsent": network.datagrams.unsent,
        "malformed": network.malformed,
        "zero_checksums_sent": network.zero_checksums_sent,
        "zero_checksums_received": network.zero_checksums_received,
        "ports_learnt": network.ports_learnt,
        "certificates_refused": network.certificates_refused,
    })
}

fn print_json(value: &Value) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|error| Failure::System(error.to_string()))?;
    println!("{text}");
    Ok(())
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{arguments}");
}
