//! How long four standard runs take on one core: SIP over SCTP with losses (the
//! standard run of `standard_run.rs`), a voice flow over TCP with losses, six bulk
//! transfers at a bottleneck, and video beside bulk transfers.
//!
//! `cargo run --release -p headway-experiment --example standard_runs [NAME [RUNS]]`
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "this program measures real time"
)]

use std::time::Instant;

use headway_experiment::results::Value;
use headway_experiment::{RunSpec, run};
use serde_json::{Value as Json, json};

fn specs() -> Vec<(&'static str, Json)> {
    let off = json!({ "nagle": "off" });
    let tcp = json!({ "kind": "tcp", "profile": "linux-2.6.17", "tcp": off });
    let bulk = |flows: u32, window: u64| {
        json!({ "settle_ns": 0, "bulk": {
            "flows": flows, "receive_window_bytes": window,
            "stack": { "profile": "linux-2.6.17" },
        } })
    };
    vec![
        (
            "SIP",
            json!({
                "duration_ns": 60_000_000_000_u64,
                "workload": { "kind": "sip", "call_rate": 40.0 },
                "transport": { "kind": "sctp", "delivery": "unordered" },
                "path": { "one_way_delay_ns": 20_000_000, "loss": { "kind": "bernoulli", "rate": 0.02 } },
            }),
        ),
        (
            "S1",
            json!({
                "duration_ns": 300_000_000_000_u64,
                "workload": { "kind": "media", "payload_bytes": 160 },
                "transport": tcp,
                "path": { "one_way_delay_ns": 50_000_000, "loss": { "kind": "bernoulli", "rate": 0.01 } },
            }),
        ),
        (
            "S3",
            json!({
                "duration_ns": 60_000_000_000_u64,
                "workload": { "kind": "media", "payload_bytes": 1, "interval_ns": 1_000_000_000 },
                "transport": tcp,
                "path": {
                    "one_way_delay_ns": 20_000_000, "rate_bps": 10_000_000,
                    "queue": { "kind": "drop-tail-packets", "limit_pkts": 60 },
                },
                "competing": bulk(6, 65_536),
            }),
        ),
        (
            "S4",
            json!({
                "duration_ns": 300_000_000_000_u64,
                "workload": { "kind": "media", "payload_bytes": 1434, "flows": 5 },
                "transport": tcp,
                "path": {
                    "one_way_delay_ns": 50_000_000, "rate_bps": 30_000_000,
                    "queue": { "kind": "drop-tail-packets", "limit_pkts": 100 },
                },
                "competing": bulk(5, 1 << 20),
            }),
        ),
    ]
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (only, runs) = (args.next(), args.next().and_then(|n| n.parse().ok()));
    for (name, mut spec) in specs() {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        spec["version"] = json!(1);
        spec["run"] = json!({ "id": name, "point": 0, "replication": 0 });
        spec["seed"] = json!("00000000000007d7");
        let spec = RunSpec::from_json(&spec.to_string()).expect("a spec that can be run");
        let mut times = Vec::new();
        let mut last = None;
        for _ in 0..runs.unwrap_or(5) {
            let begin = Instant::now();
            last = Some(run(&spec).expect("it runs"));
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "{name}: least {:.2} ms, median {:.2} ms of {} runs",
            times[0],
            times[times.len() / 2],
            times.len()
        );
        for metric in last.into_iter().flat_map(|result| result.metrics) {
            match metric.value {
                Value::Count(n) => println!("    {} {n}", metric.name),
                Value::Real(x) => println!("    {} {x:?}", metric.name),
            }
        }
    }
}
