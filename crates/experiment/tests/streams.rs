//! Messages over TCP, whole and in pieces, over one connection and several.

mod common;

use std::fmt::Write as _;

use common::{assert_table, bytes, count, figures, lay_over, real, result, spec};
use headway_experiment::{RunSpec, run};
use proptest::prelude::*;
use serde_json::json;

const PROFILES: [&str; 6] = [
    "rfc",
    "model-seed4",
    "linux-2.6.11",
    "linux-2.6.17",
    "freebsd-6.1",
    "linux-6",
];

#[test]
fn the_wire_codec_changes_nothing() {
    for transport in [
        json!({ "kind": "tcp", "profile": "linux-2.6.11" }),
        json!({ "kind": "tcp-parallel", "connections": 3, "profile": "linux-6" }),
        json!({ "kind": "tcp-split", "pieces": 3 }),
    ] {
        let change = json!({ "transport": transport });
        let structured = result(change.clone());
        let mut encoded = change;
        lay_over(&mut encoded, json!({ "path": { "wire": "encoded" } }));
        assert!(structured.complete);
        assert_eq!(bytes(&structured), bytes(&result(encoded)), "{transport}");
    }
}

#[test]
fn full_content_changes_nothing() {
    for frame_bytes in [0, 2, 4] {
        let sizes = json!({
            "workload": {
                "flow": "full", "invite_bytes": 500, "ringing_bytes": 400, "ok_bytes": 500,
                "ack_bytes": 400, "bye_bytes": 400,
            },
            "transport": { "frame_bytes": frame_bytes, "tcp": { "mss_bytes": 300 } },
        });
        let by_size = result(sizes.clone());
        let mut full = sizes;
        lay_over(&mut full, json!({ "workload": { "content": "full" } }));
        let parsed = result(full);
        assert!(parsed.complete);
        assert!(count(&parsed, "calls") > 300);
        assert_eq!(bytes(&by_size), bytes(&parsed), "{frame_bytes}");
    }
}

#[test]
fn without_loss_every_delay_is_the_network_s() {
    let nothing = json!({ "kind": "none" });
    let result = result(json!({
        "transport": { "tcp": { "nagle": "off" } }, "path": { "loss": nothing },
    }));
    for sample in &result.messages {
        assert_eq!(sample.row.parts.network.as_nanos(), 20_000_000);
        assert_eq!(sample.row.delay.as_nanos(), 20_000_000);
    }
    assert_eq!(count(&result, "retransmissions"), 0);
    assert!((real(&result, "psd_p95_s") - 0.04).abs() < 1e-12);
}

#[test]
fn nagle_shows_as_wait_at_the_sender() {
    let wait = |nagle: &str| {
        let loss = json!({ "kind": "none" });
        let transport = json!({ "tcp": { "nagle": nagle } });
        let result = result(json!({ "transport": transport, "path": { "loss": loss } }));
        real(&result, "sender_wait_mean_s")
    };
    assert_eq!(wait("off"), 0.0);
    // At 40 calls/s a message is always on its way.
    assert!(wait("on") > 0.005);
}

#[test]
fn transports_at_one_point_see_the_same_arrivals() {
    let started = |transport: serde_json::Value| {
        let result = result(json!({ "transport": transport }));
        let first = result.transactions[0].started;
        let times = result.transactions.iter();
        times.map(|t| t.started.since(first)).collect::<Vec<_>>()
    };
    let tcp = started(json!({ "kind": "tcp" }));
    assert_eq!(tcp, started(json!({ "kind": "sctp" })));
    assert_eq!(tcp, started(json!({ "kind": "tcp-parallel" })));
}

#[test]
fn messages_beyond_a_gap_need_not_wait() {
    let blocked = |out_of_order: bool| {
        let result = result(json!({ "transport": { "out_of_order": out_of_order } }));
        assert!(result.complete);
        real(&result, "hol_blocking_mean_s")
    };
    assert!(blocked(false) > 0.002);
    assert_eq!(blocked(true), 0.0);
}

#[test]
fn several_connections_block_less_unless_put_in_order_again() {
    let blocked = |transport| {
        count(
            &result(json!({ "transport": transport })),
            "hol_blocked_messages",
        )
    };
    let one = blocked(json!({ "kind": "tcp" }));
    let five = blocked(json!({ "kind": "tcp-parallel", "connections": 5, "resequence": false }));
    let again = blocked(json!({ "kind": "tcp-parallel", "connections": 5 }));
    assert!(five < one / 2, "{five} of five, {one} of one");
    assert!(again > five);
}

#[test]
fn a_full_buffer_makes_messages_wait_or_go() {
    let of = |transport| {
        let mut change = json!({
            "workload": { "kind": "media", "payload_bytes": 1434 },
            "transport": { "tcp": { "nagle": "off", "send_buffer_bytes": 6000 } },
        });
        lay_over(&mut change, json!({ "transport": transport }));
        let result = result(change);
        assert!(result.complete);
        result
    };
    let waits = of(json!({ "when_full": "wait" }));
    assert_eq!(
        count(&waits, "media_received"),
        count(&waits, "media_packets")
    );
    let refuses = of(json!({ "when_full": "drop" }));
    let refused = count(&refuses, "refused_messages");
    assert!(refused > 0);
    let arrived = count(&refuses, "media_received");
    assert_eq!(count(&refuses, "media_packets"), arrived + refused);
    assert!(real(&refuses, "delay_p95_s") < real(&waits, "delay_p95_s"));
    // Dropping at the sender what would come late anyway.
    let drops = of(json!({ "tcp": { "send_buffer_bytes": 1_000_000 }, "drop_above_bytes": 3000 }));
    assert!(count(&drops, "dropped_messages") > 0);
    assert_eq!(count(&drops, "refused_messages"), 0);
    let missing = real(&drops, "missing_share");
    let dropped = count(&drops, "dropped_messages") as f64;
    assert!((missing - dropped / count(&drops, "media_packets") as f64).abs() < 1e-12);
}

#[test]
fn what_makes_no_sense_is_refused_by_its_key() {
    let base = |transport: &str, workload: &str| {
        format!(
            r#"{{"version":1,"run":{{"id":"a","point":0,"replication":0}},
            "seed":"0000000000000001","duration_ns":1,"workload":{workload},
            "transport":{transport},"path":{{"one_way_delay_ns":1}}}}"#
        )
    };
    let sip = r#"{"kind":"sip"}"#;
    let full = r#"{"kind":"sip","content":"full","invite_bytes":500,"ringing_bytes":400}"#;
    for (transport, workload, key) in [
        (
            r#"{"kind":"tcp","connections":2}"#,
            sip,
            "transport.connections",
        ),
        (r#"{"kind":"tcp","pieces":2}"#, sip, "transport.pieces"),
        (
            r#"{"kind":"tcp-split","connections":2}"#,
            sip,
            "transport.connections",
        ),
        (
            r#"{"kind":"tcp","profile":"linux-3"}"#,
            sip,
            "transport.profile",
        ),
        (
            r#"{"kind":"tcp","frame_bytes":3}"#,
            sip,
            "transport.frame_bytes",
        ),
        (
            r#"{"kind":"tcp-parallel","connections":0}"#,
            sip,
            "transport.connections",
        ),
        (r#"{"kind":"tcp-parallel"}"#, full, "transport.kind"),
    ] {
        let error = RunSpec::from_json(&base(transport, workload)).unwrap_err();
        assert_eq!(error.key, key, "{transport}: {error}");
    }
    assert!(RunSpec::from_json(&base(r#"{"kind":"tcp"}"#, full)).is_ok());
}

/// Integers, so that a change of behaviour shows as a change of this table.
#[test]
fn a_table_of_runs() {
    let mut table = String::from(
        "transport       profile       loss | calls p50_us  p95_us | retrans fast timed needless | t-out blocked\n",
    );
    for kind in ["tcp", "tcp-parallel", "tcp-split"] {
        for profile in PROFILES {
            for loss in [0.02, 0.08] {
                let transport =
                    json!({ "kind": kind, "profile": profile, "tcp": { "nagle": "off" } });
                let result = result(json!({
                    "duration_ns": 60_000_000_000_u64,
                    "transport": transport,
                    "path": { "loss": { "rate": loss } },
                }));
                write!(table, "{kind:15} {profile:12} {:5} ", loss * 100.0).unwrap();
                table += &figures(&result, 7, false);
            }
        }
    }
    assert_table(&table, include_str!("snapshots/streams.txt"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Nothing lost, nothing twice, nothing out of its order where an order is
    /// promised, and the parts sum to the delay, whatever the path does.
    #[test]
    fn every_message_once_with_a_delay_that_adds_up(
        loss in 0.0..0.2_f64,
        duplicate in 0.0..0.3_f64,
        reorder in 0.0..0.3_f64,
        extra_ms in 1_u64..60,
        profile in prop::sample::select(PROFILES.to_vec()),
        connections in 1_u16..6,
        pieces in 1_u16..5,
        gap_ms in 0_u64..30,
        schedule in prop::sample::select(vec!["round-robin", "shortest-queue"]),
        (resequence, out_of_order) in any::<(bool, bool)>(),
        buffer in prop::sample::select(vec![2_000_u64, 20_000, 1 << 20]),
        invite in 1_u32..4000,
        frame in prop::sample::select(vec![0, 2, 4]),
        seed in any::<u64>(),
    ) {
        let result = run(&spec(json!({
            "seed": format!("{seed:016x}"),
            "duration_ns": 4_000_000_000_u64,
            // Retransmission after retransmission takes its time.
            "drain_ns": 20_000_000_000_000_u64,
            "workload": { "invite_bytes": invite },
            "transport": {
                "kind": "tcp-parallel", "profile": profile,
                "connections": connections, "pieces": pieces,
                "piece_gap_ns": gap_ms * 1_000_000, "schedule": schedule,
                "resequence": resequence, "out_of_order": out_of_order, "frame_bytes": frame,
                "tcp": { "send_buffer_bytes": buffer, "max_retransmissions": 0 },
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
        let promised = !out_of_order && (resequence || (connections == 1 && pieces == 1));
        for forward in [true, false] {
            let delivered: Vec<_> = result.messages.iter()
                .filter(|m| m.forward == forward)
                .map(|m| m.row.handed_over + m.row.delay)
                .collect();
            prop_assert!(!promised || delivered.is_sorted());
        }
    }
}
