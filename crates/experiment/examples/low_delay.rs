//! What recovery with little delay brings, one mechanism at a time: ordered
//! signalling over a lossy path.
//!
//! `cargo run --release -p headway-experiment --example low_delay [replications]`

use headway_experiment::results::Value;
use headway_experiment::{RunSpec, run};
use serde_json::{Value as Json, json};

/// Label, profile, knobs.
fn variants() -> Vec<(&'static str, &'static str, Json)> {
    vec![
        ("rfc9260", "rfc9260", json!({})),
        (
            "time loss detection",
            "rfc9260",
            json!({ "time_loss_detection": true }),
        ),
        (
            "tail loss probe",
            "rfc9260",
            json!({ "tail_loss_probe": true }),
        ),
        (
            "early retransmit",
            "rfc9260",
            json!({ "early_retransmit": true }),
        ),
        (
            "low RTO",
            "rfc9260",
            json!({ "rto_min_ns": 1_000_000, "rto_margin_min_ns": 200_000_000 }),
        ),
        (
            "I bit",
            "rfc9260",
            json!({ "immediate_sack_on_burst_end": true }),
        ),
        ("low-delay", "low-delay", json!({})),
    ]
}

struct Means {
    runs: u32,
    values: Vec<f64>,
}

const COLUMNS: [&str; 8] = [
    "psd_p95_s",
    "psd_mean_s",
    "message_delay_mean_s",
    "hol_blocking_mean_s",
    "packets",
    "retransmissions",
    "needless_retransmissions",
    "messages",
];

fn measure(profile: &str, knobs: &Json, path: &Json, delivery: &str, replications: u64) -> Means {
    let mut means = Means {
        runs: 0,
        values: vec![0.0; COLUMNS.len()],
    };
    for seed in 0..replications {
        let spec = json!({
            "version": 1,
            "run": { "id": "r", "point": 0, "replication": seed },
            "seed": format!("{:016x}", 2006 + seed),
            "duration_ns": 60_000_000_000_u64,
            "workload": { "kind": "sip", "call_rate": 40.0 },
            "transport": {
                "kind": "sctp", "delivery": delivery, "profile": profile, "sctp": knobs,
            },
            "path": path,
        });
        let spec = RunSpec::from_json(&spec.to_string()).expect("a spec that can be run");
        let result = run(&spec).expect("it runs");
        if !result.complete {
            continue;
        }
        means.runs += 1;
        for (sum, column) in means.values.iter_mut().zip(COLUMNS) {
            let metric = result.metrics.iter().find(|metric| metric.name == column);
            *sum += match metric.expect("a column").value {
                Value::Count(n) => n as f64,
                Value::Real(x) => x.unwrap_or(0.0),
            };
        }
    }
    for sum in &mut means.values {
        *sum /= f64::from(means.runs.max(1));
    }
    means
}

fn main() {
    let replications = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(10);
    let loss = |rate: f64, reorder: f64| {
        json!({
            "one_way_delay_ns": 20_000_000,
            "loss": { "kind": "bernoulli", "rate": rate },
            "reorder": { "probability": reorder, "extra_delay_ns": 10_000_000 },
        })
    };
    let mut paths = Vec::new();
    for rate in [0.02, 0.04, 0.08] {
        paths.push((format!("loss {} %", rate * 100.0), loss(rate, 0.0)));
    }
    for rate in [0.0, 0.04] {
        let name = format!("loss {} %, 10 % reordered", rate * 100.0);
        paths.push((name, loss(rate, 0.1)));
    }
    for (name, path) in paths {
        println!("\n{name}, ordered, 20 ms, 40 calls/s, {replications} runs");
        println!(
            "{:<22} {:>8} {:>8} {:>8} {:>8} {:>9} {:>7} {:>9}",
            "", "p95 ms", "mean ms", "msg ms", "HOL ms", "packets", "rtx", "needless"
        );
        let mut base = None;
        for (label, profile, knobs) in variants() {
            let means = measure(profile, &knobs, &path, "ordered", replications);
            let value = &means.values;
            let packets = *base.get_or_insert(value[4]);
            println!(
                "{label:<22} {:>8.1} {:>8.1} {:>8.1} {:>8.2} {:>+8.2}% {:>7.1} {:>8.3}%{}",
                value[0] * 1e3,
                value[1] * 1e3,
                value[2] * 1e3,
                value[3] * 1e3,
                (value[4] / packets - 1.0) * 100.0,
                value[5],
                value[6] / value[7] * 100.0,
                if u64::from(means.runs) < replications {
                    " *"
                } else {
                    ""
                },
            );
        }
    }
}
