//! Millions of messages through a network that loses, doubles, delays, reorders,
//! spoils and cuts, over two paths with failovers: each is delivered once, whole, and
//! in order within its stream, or the program ends with what went wrong.
//!
//! `cargo run --release -p headway-sctp --example chaos -- [MESSAGES [SEED]]`
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this program measures real time"
)]

#[path = "../tests/common/chaos.rs"]
mod chaos;

use std::time::Instant;

use chaos::{Report, Weather, run};
use headway_sctp::Config;

/// The most memory that this process has had, in kilobytes; zero where the system does
/// not tell.
fn most_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: u64| {
        let given = arguments.next();
        given.map_or(otherwise, |n| n.parse().expect("a number"))
    };
    let (messages, seed) = (number(10_000_000), number(1));
    let quick = Config {
        potentially_failed_max_retransmits: Some(0),
        ..Config::default()
    };
    let interleaved = Config {
        interleaving: true,
        ..quick.clone()
    };
    let begin = Instant::now();
    let mut delivered = 0;
    for (name, config) in [("DATA", quick), ("I-DATA", interleaved)] {
        // Half of them with each kind of chunk, and half of those each way.
        let report = run(&config, Weather::FOUL, seed, messages.div_ceil(4));
        show(name, &report);
        delivered += report.delivered;
    }
    assert!(delivered >= messages);
    println!(
        "{delivered} messages, none lost, twice, torn or out of order; {:.1} s, {:.1} MB at most",
        begin.elapsed().as_secs_f64(),
        most_memory_kb() as f64 / 1024.0,
    );
}

fn show(name: &str, report: &Report) {
    let share = |count: u64| 100.0 * count as f64 / report.packets as f64;
    println!(
        "{name}: {} messages ({} unordered) of {} bytes in all, {:.0} s of virtual time",
        report.delivered, report.unordered, report.bytes, report.virtual_s,
    );
    println!(
        "  {} packets: {:.1} % lost, {:.1} % into outages, {:.1} % doubled, {:.1} % spoilt, \
         {:.1} % overtaken",
        report.packets,
        share(report.lost),
        share(report.cut),
        share(report.doubled),
        share(report.spoilt),
        share(report.overtaken),
    );
    println!(
        "  {} outages, {} failovers, {} retransmissions, {} duplicates received",
        report.outages, report.failovers, report.retransmissions, report.duplicates,
    );
}
