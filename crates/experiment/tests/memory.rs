//! Memory does not grow with simulated time unless samples are kept.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "a child process learns from its environment what to run"
)]

mod common;

use std::process::Command;

use common::spec;
use headway_experiment::run;
use serde_json::{Value as Json, json};

/// What a child process is told: which run, and for how many seconds.
const TOLD: &str = "HEADWAY_MEMORY_RUN";
const SECONDS: u64 = 200;
const TIMES: u64 = 10;
/// What the peak may differ by: the tail of delays that a longer run meets, of
/// which a histogram takes note, and the allocator's rounding.
const MOST_KIB: u64 = 1024;

/// Media flows that lose packets, with bulk transfers, web users and short
/// messages beside them.
fn long(transport: &str, seconds: u64, samples: bool) -> Json {
    let transport = match transport {
        "udp" => json!({ "kind": "udp" }),
        "sctp" => json!({ "kind": "sctp" }),
        kind => json!({ "kind": kind, "profile": "linux-2.6.17", "tcp": { "nagle": "off" } }),
    };
    json!({
        "duration_ns": seconds * 1_000_000_000,
        "workload": { "kind": "media", "flows": 2 },
        "transport": transport,
        "path": {
            "rate_bps": 3_000_000,
            "queue": { "kind": "drop-tail-packets", "limit_pkts": 30 },
            "loss": { "rate": 0.01 },
        },
        "competing": {
            "settle_ns": 1_000_000_000,
            "bulk": { "flows": 2 }, "web": {}, "messages": {},
        },
        "collect": { "messages": samples, "transactions": samples, "windows": samples },
    })
}

/// In a child process: runs, and prints the greatest resident size in KiB.
#[test]
fn child() {
    let Ok(told) = std::env::var(TOLD) else {
        return;
    };
    let mut words = told.split(' ');
    let (Some(transport), Some(seconds), Some(samples)) =
        (words.next(), words.next(), words.next())
    else {
        panic!("{told}");
    };
    let seconds = seconds.parse().expect("seconds");
    let result = run(&spec(long(transport, seconds, samples == "true"))).expect("it runs");
    assert!(result.complete);
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("peak {}", peak.expect("the greatest size").trim());
}

/// The greatest resident size of a run in KiB.
fn peak(transport: &str, seconds: u64, samples: bool) -> u64 {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["--exact", "child", "--nocapture"])
        .env(TOLD, format!("{transport} {seconds} {samples}"))
        .output()
        .expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let told = text.lines().find_map(|line| {
        let (_, told) = line.split_once("peak ")?;
        told.strip_suffix(" kB")?.trim().parse().ok()
    });
    told.unwrap_or_else(|| panic!("no size in {text}"))
}

#[test]
fn ten_times_the_time_takes_no_more_memory() {
    for transport in ["tcp", "tcp-parallel", "tcp-split", "udp", "sctp"] {
        let short = peak(transport, SECONDS, false);
        let long = peak(transport, SECONDS * TIMES, false);
        assert!(
            long <= short + MOST_KIB,
            "{transport}: {short} KiB for {SECONDS} s, {long} KiB for {TIMES} times that"
        );
    }
}

/// The measure sees what a run keeps.
#[test]
fn samples_take_memory() {
    let without = peak("tcp", SECONDS * TIMES, false);
    let with = peak("tcp", SECONDS * TIMES, true);
    // 200,000 packets, more than 64 bytes each.
    assert!(with > without + 8 * MOST_KIB, "{without} and {with} KiB");
}
