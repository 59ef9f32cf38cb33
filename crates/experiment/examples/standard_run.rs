//! The standard run again and again: for a profiler.
//!
//! `cargo run --release -p headway-experiment --example standard_run -- 100`

use headway_experiment::{RunSpec, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let times: u32 = std::env::args()
        .nth(1)
        .map_or(Ok(10), |text| text.parse())?;
    let spec = RunSpec::from_json(
        r#"{
            "version": 1,
            "run": { "id": "standard", "point": 0, "replication": 0 },
            "seed": "00000000000007d7",
            "duration_ns": 60000000000,
            "workload": { "kind": "sip", "call_rate": 40.0 },
            "transport": { "kind": "sctp", "delivery": "unordered" },
            "path": {
                "one_way_delay_ns": 20000000,
                "loss": { "kind": "bernoulli", "rate": 0.02 }
            }
        }"#,
    )?;
    for _ in 0..times {
        let result = run(&spec)?;
        assert!(result.complete);
    }
    Ok(())
}
