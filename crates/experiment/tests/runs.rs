//! Whole runs: what must hold for every one of them.

mod support;

use std::fmt::Write as _;

use headway_experiment::{RunSpec, run};
use headway_sim::parallel_map;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use support::{assert_table, bytes, count, figures, lay_over, real};

/// A run of ten seconds; `change` is laid over it.
fn spec(change: Json) -> RunSpec {
    let mut text = json!({
        "version": 1,
        "run": { "id": "p0000-r00", "point": 0, "replication": 0 },
        "seed": "00000000000007d7",
        "duration_ns": 10_000_000_000_u64,
        "workload": { "kind": "sip", "call_rate": 40.0 },
        "transport": { "kind": "sctp" },
        "path": {
            "one_way_delay_ns": 20_000_000,
            "loss": { "kind": "bernoulli", "rate": 0.05 },
        },
        "collect": { "messages": true, "transactions": true, "distributions": true },
    });
    lay_over(&mut text, change);
    RunSpec::from_json(&text.to_string()).expect("a spec that can be run")
}

#[test]
fn the_wire_codec_changes_nothing() {
    for delivery in ["ordered", "streams", "unordered"] {
        let change = json!({ "transport": { "delivery": delivery } });
        let structured = run(&spec(change.clone())).unwrap();
        let mut encoded = change;
        lay_over(&mut encoded, json!({ "path": { "wire": "encoded" } }));
        assert_eq!(
            bytes(&structured),
            bytes(&run(&spec(encoded)).unwrap()),
            "{delivery}"
        );
    }
}

#[test]
fn full_content_changes_nothing() {
    for flow in ["invite-ringing", "full"] {
        let sizes = json!({ "workload": {
            "flow": flow, "invite_bytes": 500, "ringing_bytes": 400, "ok_bytes": 500,
            "ack_bytes": 400, "bye_bytes": 400,
        } });
        let by_size = run(&spec(sizes.clone())).unwrap();
        let mut full = sizes;
        lay_over(&mut full, json!({ "workload": { "content": "full" } }));
        let parsed = run(&spec(full)).unwrap();
        assert!(parsed.complete);
        assert_eq!(bytes(&by_size), bytes(&parsed), "{flow}");
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let specs: Vec<RunSpec> = (0..16)
        .map(|i| spec(json!({ "seed": format!("{i:016x}"), "duration_ns": 3_000_000_000_u64 })))
        .collect();
    let with = |jobs: usize| {
        let results = parallel_map(jobs, &specs, &false.into(), |_, _| {}, |s| run(s).unwrap());
        results
            .into_iter()
            .map(|r| bytes(&r.unwrap()))
            .collect::<Vec<_>>()
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(8));
}

#[test]
fn transports_at_one_point_see_the_same_arrivals() {
    let started = |delivery: &str| {
        let result = run(&spec(json!({ "transport": { "delivery": delivery } }))).unwrap();
        let first = result.transactions[0].started;
        result
            .transactions
            .iter()
            .map(|t| t.started.since(first))
            .collect::<Vec<_>>()
    };
    assert_eq!(started("ordered"), started("unordered"));
}

#[test]
fn without_loss_every_delay_is_the_network_s() {
    let result = run(&spec(json!({ "path": { "loss": { "rate": 0.0 } } }))).unwrap();
    for sample in &result.messages {
        assert_eq!(sample.row.parts.network.as_nanos(), 20_000_000);
        assert_eq!(sample.row.delay.as_nanos(), 20_000_000);
    }
    assert_eq!(count(&result, "retransmissions"), 0);
    assert_eq!(count(&result, "clean_calls"), count(&result, "calls"));
    assert!((real(&result, "psd_p95_s") - 0.04).abs() < 1e-12);
}

#[test]
fn ordered_delivery_waits_and_unordered_does_not() {
    let blocked = |delivery: &str| {
        let result = run(&spec(json!({ "transport": { "delivery": delivery } }))).unwrap();
        count(&result, "hol_blocked_messages")
    };
    assert!(blocked("ordered") > 50);
    assert_eq!(blocked("unordered"), 0);
    assert!(blocked("streams") < blocked("ordered"));
}

#[test]
fn a_path_that_lets_nothing_through_ends_the_run() {
    let result = run(&spec(json!({ "path": { "loss": { "rate": 1.0 } } }))).unwrap();
    assert!(!result.complete);
    assert_eq!(count(&result, "calls"), 0);
}

/// The first ten packets of each direction are lost: longer than a handshake
/// with eight retransmissions of INIT lasts.
#[test]
fn a_failed_handshake_is_tried_again() {
    let mut lost = vec![1; 10];
    lost.extend([0; 100_000]);
    let result = run(&spec(
        json!({ "path": { "loss": { "kind": "trace", "lost": lost} } }),
    ));
    let result = result.unwrap();
    assert!(result.complete);
    assert!(count(&result, "calls") > 300);
}

/// Integers, so that a change of behaviour shows as a change of this table.
#[test]
fn a_table_of_runs() {
    let mut table = String::from(
        "profile        delivery   loss | calls p50_us p95_us | retrans fast timed needless | t-out blocked\n",
    );
    for profile in ["rfc9260", "lksctp-2.6.11", "lksctp-2.6.18", "freebsd-6.1"] {
        for (delivery, loss) in [
            ("ordered", 0.02),
            ("ordered", 0.08),
            ("unordered", 0.02),
            ("unordered", 0.08),
        ] {
            let result = run(&spec(json!({
                "duration_ns": 60_000_000_000_u64,
                "transport": { "delivery": delivery, "profile": profile },
                "path": { "loss": { "rate": loss } },
            })))
            .unwrap();
            write!(table, "{profile:14} {delivery:9} {:4} ", loss * 100.0).unwrap();
            table += &figures(&result, 6, false);
        }
    }
    assert_table(&table, include_str!("snapshots/runs.txt"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Nothing lost, nothing twice, nothing out of its order, and the parts sum
    /// to the delay, whatever the path does.
    #[test]
    fn every_message_once_with_a_delay_that_adds_up(
        loss in 0.0..0.3_f64,
        duplicate in 0.0..0.3_f64,
        reorder in 0.0..0.3_f64,
        extra_ms in 1_u64..60,
        delivery in prop::sample::select(vec!["ordered", "streams", "unordered"]),
        profile in prop::sample::select(vec!["rfc9260", "lksctp-2.6.11", "lksctp-2.6.18", "freebsd-6.1"]),
        invite in 1_u32..4000,
        seed in any::<u64>(),
    ) {
        let result = run(&spec(json!({
            "seed": format!("{seed:016x}"),
            "duration_ns": 4_000_000_000_u64,
            // Retransmission after retransmission at 30 % loss each way takes its time.
            "drain_ns": 20_000_000_000_000_u64,
            "workload": { "invite_bytes": invite },
            "transport": {
                "delivery": delivery, "profile": profile,
                "sctp": { "association_max_retransmits": 100 },
            },
            "path": {
                "loss": { "rate": loss },
                "duplicate": { "probability": duplicate },
                "reorder": { "probability": reorder, "extra_delay_ns": extra_ms * 1_000_000 },
            },
        }))).unwrap();
        prop_assert!(result.complete);
        prop_assert_eq!(count(&result, "answered"), count(&result, "calls"));
        prop_assert_eq!(result.messages.len() as u64, 2 * count(&result, "calls"));
        let mut ids: Vec<u64> = result.messages.iter().map(|m| m.row.id).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), result.messages.len());
        for sample in &result.messages {
            prop_assert_eq!(sample.row.parts.delay(), sample.row.delay);
        }
        // Ordered delivery is one stream; "streams" takes the calls round over 16.
        let streams = match delivery { "ordered" => 1, "streams" => 16, _ => 0 };
        for stream in 0..streams {
            for forward in [true, false] {
                let delivered: Vec<_> = result.messages.iter()
                    .filter(|m| m.forward == forward && (m.row.id >> 4) % streams == stream)
                    .map(|m| m.row.handed_over + m.row.delay)
                    .collect();
                prop_assert!(delivered.is_sorted());
            }
        }
    }
}
