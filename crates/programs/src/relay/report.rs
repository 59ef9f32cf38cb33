//! What a relay prints at its end.

use std::fmt::Write as _;

use serde::Serialize;

use super::lateness::LatenessReport;
use super::path::DirectionCounters;
use super::radio::StationReport;

/// Everything that was counted.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) listen: String,
    pub(super) target: String,
    pub(super) seed: u64,
    pub(super) duration_s: f64,
    pub(super) clients: u64,
    pub(super) clients_forgotten: u64,
    pub(super) forward: DirectionReport,
    pub(super) reverse: DirectionReport,
    /// By the index of the station; only with an 802.11b cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stations: Option<Vec<StationReport>>,
    /// Datagrams that the relay did not put on the path, or not behind it.
    pub(super) outside: OutsideReport,
}

/// One direction of the path.
#[derive(Debug, Serialize)]
pub(super) struct DirectionReport {
    packets_offered: u64,
    bytes_offered: u64,
    packets_delivered: u64,
    bytes_delivered: u64,
    packets_lost_wire: u64,
    packets_lost_queue: u64,
    packets_lost_memory: u64,
    packets_duplicated: u64,
    packets_held_back: u64,
    queue_max_pkts: u32,
    queue_max_bytes: u64,
    lateness: LatenessReport,
}

/// What never was the path's business.
#[derive(Debug, Serialize)]
pub(super) struct OutsideReport {
    /// Thrown away by the kernel because the relay was too slow.
    pub(super) overflowed: u64,
    /// Not taken by the kernel.
    pub(super) unsent: u64,
    /// Reports that the target or a client was not there.
    pub(super) unreachable: u64,
    /// Of clients for which there was no socket.
    pub(super) refused: u64,
    /// Of clients that were forgotten meanwhile.
    pub(super) orphaned: u64,
}

impl From<DirectionCounters> for DirectionReport {
    fn from(counters: DirectionCounters) -> Self {
        let link = counters.link;
        Self {
            packets_offered: link.packets_offered,
            bytes_offered: link.bytes_offered,
            packets_delivered: link.packets_delivered,
            bytes_delivered: link.bytes_delivered,
            packets_lost_wire: link.packets_lost_wire,
            packets_lost_queue: link.packets_lost_queue,
            packets_lost_memory: counters.lost_memory,
            packets_duplicated: link.packets_duplicated,
            packets_held_back: link.packets_held_back,
            queue_max_pkts: link.queue_max_pkts,
            queue_max_bytes: link.queue_max_bytes,
            lateness: counters.lateness.report(),
        }
    }
}

impl Report {
    /// The report for people.
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "{} -> {}, seed {}, {:.1} s, {} client{}\n\n{:28}{:>14}{:>14}\n",
            self.listen,
            self.target,
            self.seed,
            self.duration_s,
            self.clients,
            if self.clients == 1 { "" } else { "s" },
            "",
            "forward",
            "reverse",
        );
        let (f, r) = (&self.forward, &self.reverse);
        let share = |part: u64, of: u64| {
            let share = if of == 0 {
                0.0
            } else {
                part as f64 / of as f64
            };
            format!("{:.3} %", 100.0 * share)
        };
        let micros = |seconds: f64| format!("{:.0} us", 1e6 * seconds);
        let percent = |share: f64| format!("{:.3} %", 100.0 * share);
        let offered = |d: &DirectionReport| d.packets_offered + d.packets_lost_memory;
        type Cell<'a> = Box<dyn Fn(&DirectionReport) -> String + 'a>;
        let rows: [(&str, Cell<'_>); 15] = [
            ("packets offered", Box::new(|d| offered(d).to_string())),
            ("bytes offered", Box::new(|d| d.bytes_offered.to_string())),
            (
                "packets delivered",
                Box::new(|d| d.packets_delivered.to_string()),
            ),
            (
                "bytes delivered",
                Box::new(|d| d.bytes_delivered.to_string()),
            ),
            (
                "lost on the wire",
                Box::new(|d| d.packets_lost_wire.to_string()),
            ),
            (
                "  share",
                Box::new(|d| share(d.packets_lost_wire, d.packets_offered)),
            ),
            (
                "refused by the queue",
                Box::new(|d| d.packets_lost_queue.to_string()),
            ),
            (
                "refused for want of memory",
                Box::new(|d| d.packets_lost_memory.to_string()),
            ),
            ("duplicated", Box::new(|d| d.packets_duplicated.to_string())),
            ("held back", Box::new(|d| d.packets_held_back.to_string())),
            (
                "longest queue, packets",
                Box::new(|d| d.queue_max_pkts.to_string()),
            ),
            (
                "left late by, mean",
                Box::new(|d| micros(d.lateness.mean_s)),
            ),
            ("  at most", Box::new(|d| micros(d.lateness.max_s))),
            (
                "  by more than 100 us",
                Box::new(|d| percent(d.lateness.over_100_us)),
            ),
            (
                "  by more than 1 ms",
                Box::new(|d| percent(d.lateness.over_1_ms)),
            ),
        ];
        for (name, cell) in rows {
            line(
                &mut text,
                format_args!("{name:28}{:>14}{:>14}", cell(f), cell(r)),
            );
        }
        self.stations_table(&mut text);
        let o = &self.outside;
        for (name, count) in [
            ("thrown away by the kernel, unread", o.overflowed),
            ("not taken by the kernel", o.unsent),
            ("nobody there (ICMP)", o.unreachable),
            ("of clients without a socket", o.refused),
            ("for clients forgotten meanwhile", o.orphaned),
        ] {
            if count > 0 {
                line(&mut text, format_args!("outside the path: {name}: {count}"));
            }
        }
        text
    }

    fn stations_table(&self, text: &mut String) {
        let Some(stations) = &self.stations else {
            return;
        };
        line(
            text,
            format_args!(
                "\n{:8}{:>9}{:>10}{:>8}{:>8}{:>8}{:>9}{:>11}{:>9}{:>9}",
                "station",
                "offered",
                "delivered",
                "queue",
                "retry",
                "tries",
                "retries",
                "collisions",
                "channel",
                "air, s"
            ),
        );
        for (index, s) in stations.iter().enumerate() {
            line(
                text,
                format_args!(
                    "{index:<8}{:>9}{:>10}{:>8}{:>8}{:>8}{:>9}{:>11}{:>9}{:>9.3}",
                    s.offered,
                    s.delivered,
                    s.dropped_queue,
                    s.dropped_retry,
                    s.tries,
                    s.retries,
                    s.collisions,
                    s.channel_errors,
                    s.air_s
                ),
            );
        }
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{arguments}");
}
