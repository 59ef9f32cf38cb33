//! Messages over the crate `dcsctp`, the second SCTP of the laboratory.

mod common;

use std::fmt::Write as _;

use common::{assert_table, bytes, count, figures, lay_over, result, spec};
use headway_experiment::{RunSpec, run};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let change = |seed: &str| {
        json!({
            "seed": seed,
            "transport": { "kind": "dcsctp", "delivery": "streams" },
        })
    };
    // Another run on the same thread lies between, and another thread has a
    // generator of its own.
    let first = bytes(&result(change("0000000000000001")));
    let other = bytes(&result(change("0000000000000002")));
    let again = bytes(&result(change("0000000000000001")));
    let elsewhere = std::thread::spawn(move || bytes(&result(change("0000000000000001"))));
    assert_eq!(first, again);
    assert_eq!(first, elsewhere.join().unwrap());
    assert_ne!(first, other);
}

#[test]
fn without_loss_every_delay_is_the_network_s() {
    for delivery in ["ordered", "streams", "unordered"] {
        let result = result(json!({
            "transport": { "kind": "dcsctp", "delivery": delivery },
            "path": { "loss": { "kind": "none" } },
        }));
        assert!(result.complete && !result.messages.is_empty());
        for sample in &result.messages {
            assert_eq!(sample.row.parts.network.as_nanos(), 20_000_000);
            assert_eq!(sample.row.delay.as_nanos(), 20_000_000);
        }
        assert_eq!(count(&result, "retransmissions"), 0);
    }
}

#[test]
fn it_sees_the_arrivals_that_ours_sees() {
    let started = |kind: &str| {
        let result = result(json!({ "transport": { "kind": kind } }));
        let first = result.transactions[0].started;
        let times = result.transactions.iter();
        times.map(|t| t.started.since(first)).collect::<Vec<_>>()
    };
    assert_eq!(started("dcsctp"), started("sctp"));
}

#[test]
fn full_content_changes_nothing() {
    let sizes = json!({
        "workload": {
            "flow": "full", "invite_bytes": 2500, "ringing_bytes": 400, "ok_bytes": 500,
            "ack_bytes": 400, "bye_bytes": 400,
        },
        "transport": { "kind": "dcsctp", "delivery": "unordered" },
    });
    let by_size = result(sizes.clone());
    let mut full = sizes;
    lay_over(&mut full, json!({ "workload": { "content": "full" } }));
    let parsed = result(full);
    assert!(parsed.complete && count(&parsed, "calls") > 300);
    assert_eq!(bytes(&by_size), bytes(&parsed));
}

#[test]
fn order_blocks_and_streams_block_less() {
    let blocked = |delivery: &str| {
        let transport = json!({ "kind": "dcsctp", "delivery": delivery });
        let result = result(json!({ "transport": transport }));
        assert!(result.complete);
        (
            count(&result, "hol_blocked_messages"),
            count(&result, "hol_held_bytes_max"),
        )
    };
    let (ordered, held) = blocked("ordered");
    let (streams, _) = blocked("streams");
    assert!(streams < ordered / 2, "{streams} of streams, {ordered}");
    assert!(held > 225);
    assert_eq!(blocked("unordered"), (0, 0));
}

#[test]
fn options_reach_the_stack() {
    let chunks = |mtu_bytes: u32| {
        let result = result(json!({
            "workload": { "invite_bytes": 2000 },
            "transport": { "kind": "dcsctp", "dcsctp": { "mtu_bytes": mtu_bytes } },
            "path": { "loss": { "kind": "none" } },
        }));
        (count(&result, "data_chunks"), count(&result, "calls"))
    };
    // An INVITE of 2000 bytes in pieces of 572 or of 1172, and a 180.
    for (mtu_bytes, pieces) in [(600, 4), (1200, 2)] {
        let (chunks, calls) = chunks(mtu_bytes);
        let least = calls * (pieces + 1);
        // Now and then a SACK takes some room of a packet, and a piece is cut smaller.
        let few = least / 50;
        assert!((least..=least + few).contains(&chunks), "{chunks} {least}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_its_key() {
    let read = |transport: &str, invite: u32| {
        RunSpec::from_json(&format!(
            r#"{{"version":1,"run":{{"id":"a","point":0,"replication":0}},
            "seed":"0000000000000001","duration_ns":1,
            "workload":{{"kind":"sip","invite_bytes":{invite}}},
            "transport":{transport},"path":{{"one_way_delay_ns":1}}}}"#
        ))
    };
    for (options, key) in [
        (r#"{"mtu_bytes":100}"#, "transport.dcsctp.mtu_bytes"),
        (r#"{"max_burst":0}"#, "transport.dcsctp.max_burst"),
        (r#"{"cwnd_mtus_min":0}"#, "transport.dcsctp.cwnd_mtus_min"),
        (
            r#"{"rto_min_ns":2000000000,"rto_max_ns":1000000000}"#,
            "transport.dcsctp.rto_min_ns",
        ),
        (r#"{"send_buffer_bytes":100}"#, "transport.kind"),
    ] {
        let transport = format!(r#"{{"kind":"dcsctp","dcsctp":{options}}}"#);
        let error = read(&transport, 225).unwrap_err();
        assert_eq!(error.key, key, "{options}: {error}");
    }
    let no_streams = r#"{"kind":"dcsctp","streams":0}"#;
    assert_eq!(read(no_streams, 225).unwrap_err().key, "transport.streams");
    assert!(read(r#"{"kind":"dcsctp"}"#, 225).is_ok());
}

/// Integers, so that a change of behaviour shows as a change of this table.
#[test]
fn a_table_of_runs() {
    let mut table = String::from(
        "delivery  loss | calls p50_us  p95_us | retrans fast timed needless dup | t-out blocked\n",
    );
    for delivery in ["ordered", "streams", "unordered"] {
        for loss in [0.02, 0.08] {
            let result = result(json!({
                "duration_ns": 60_000_000_000_u64,
                "transport": { "kind": "dcsctp", "delivery": delivery },
                "path": { "loss": { "rate": loss } },
            }));
            write!(table, "{delivery:9} {:4} ", loss * 100.0).unwrap();
            table += &figures(&result, 7, true);
        }
    }
    assert_table(&table, include_str!("snapshots/dcsctp.txt"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Nothing lost, nothing twice, in order where an order is promised, and the
    /// parts sum to the delay, whatever the path does.
    #[test]
    fn every_message_once_with_a_delay_that_adds_up(
        loss in 0.0..0.2_f64,
        duplicate in 0.0..0.3_f64,
        reorder in 0.0..0.3_f64,
        extra_ms in 1_u64..60,
        delivery in prop::sample::select(vec!["ordered", "streams", "unordered"]),
        invite in 1_u32..4000,
        seed in any::<u64>(),
    ) {
        let result = run(&spec(json!({
            "seed": format!("{seed:016x}"),
            "duration_ns": 4_000_000_000_u64,
            // Retransmission after retransmission takes its time.
            "drain_ns": 20_000_000_000_000_u64,
            "workload": { "invite_bytes": invite },
            "transport": {
                "kind": "dcsctp", "delivery": delivery,
                "dcsctp": { "max_retransmissions": 100 },
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
        let causes = count(&result, "fast_retransmissions")
            + count(&result, "timed_retransmissions");
        prop_assert_eq!(causes, count(&result, "retransmissions"));
        for forward in [true, false] {
            let delivered: Vec<_> = result.messages.iter()
                .filter(|m| m.forward == forward)
                .map(|m| m.row.handed_over + m.row.delay)
                .collect();
            prop_assert!(delivery != "ordered" || delivered.is_sorted());
        }
    }
}
