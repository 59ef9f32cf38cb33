//! SIP over UDP, SCTP and TCP, over links and at the edge of a radio cell.

mod support;

use headway_experiment::results::RunResult;
use headway_experiment::{RunSpec, run};
use headway_sim::parallel_map;
use serde_json::{Value as Json, json};
use support::{bytes, count, lay_over, real, undefined};

/// Forty transactions over UDP at the edge of a cell; `change` is laid over it.
fn spec(change: Json) -> RunSpec {
    let mut text = json!({
        "version": 1,
        "run": { "id": "p0000-r00", "point": 0, "replication": 0 },
        "seed": "00000000000007d7",
        "duration_ns": 20_000_000_000_000_u64,
        "workload": { "kind": "sip-transactions", "transactions": 40 },
        "transport": { "kind": "udp" },
        "path": {
            "kind": "dot11", "snr_db": 6.0, "retry_limit": 2,
            "errors": { "kind": "textbook", "offset_db": 8.5 },
            "jitter": { "sigma_db": 1.7, "per": "try" },
        },
        "collect": { "messages": true, "transactions": true, "distributions": true },
    });
    lay_over(&mut text, change);
    RunSpec::from_json(&text.to_string()).expect("a spec that can be run")
}

fn at(result: &RunResult, names: &[&str]) -> Vec<u64> {
    names.iter().map(|name| count(result, name)).collect()
}

/// The parts sum to the delay and nothing is delivered twice.
fn assert_delays_add_up(result: &RunResult) {
    let mut ids: Vec<u64> = result.messages.iter().map(|m| m.row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), result.messages.len());
    for sample in &result.messages {
        assert_eq!(sample.row.parts.delay(), sample.row.delay);
    }
}

/// Overlays for each path and transport that the workloads run over.
fn everywhere() -> Vec<Json> {
    let links = json!({ "kind": "links", "one_way_delay_ns": 20_000_000, "rate_bps": 1_000_000,
        "loss": { "kind": "bernoulli", "rate": 0.1 },
        "duplicate": { "probability": 0.1 },
        "reorder": { "probability": 0.1, "extra_delay_ns": 30_000_000 } });
    let weak = json!({ "retry_limit": 0, "snr_db": 5.0, "symmetric": true });
    let loaded = json!({ "snr_db": 6.0, "background": { "traffic": "cbr" },
        "voice": { "interval_ns": 50_000_000 } });
    let transports = [
        json!({ "kind": "udp" }),
        json!({ "kind": "sctp", "delivery": "unordered" }),
        json!({ "kind": "tcp", "profile": "linux-6" }),
    ];
    [links, weak, loaded]
        .into_iter()
        .flat_map(|path| {
            let over = |transport: &Json| json!({ "path": path.clone(), "transport": transport });
            transports.iter().map(over).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn parts_sum_to_the_delay_everywhere() {
    for change in everywhere() {
        let result = run(&spec(change.clone())).unwrap();
        assert!(result.complete, "{change}");
        assert_eq!(count(&result, "transactions"), 40);
        assert_eq!(
            count(&result, "succeeded") + count(&result, "failed"),
            count(&result, "transactions")
        );
        assert_delays_add_up(&result);
    }
}

#[test]
fn calls_of_seed_0_run_over_udp_and_through_a_cell() {
    let sip = json!({ "kind": "sip", "flow": "full", "call_rate": 5.0,
        "ring_time_ns": 100_000_000, "talk_time_ns": 100_000_000 });
    for mut change in everywhere() {
        lay_over(
            &mut change,
            json!({ "duration_ns": 20_000_000_000_u64, "workload": sip.clone() }),
        );
        let result = run(&spec(change.clone())).unwrap();
        assert!(result.complete, "{change}");
        assert_delays_add_up(&result);
        let [calls, failed] = ["calls", "failed_calls"].map(|name| count(&result, name));
        let finished = result.transactions.iter().filter(|t| t.asd.is_some());
        assert!(finished.count() as u64 + failed >= calls, "{change}");
        let udp = change["transport"]["kind"] == "udp";
        // SIP repeats its INVITE over UDP only, and only where something is lost.
        let lossy = change["path"]["background"].is_null();
        assert_eq!(count(&result, "invites") > calls, udp && lossy, "{change}");
    }
}

#[test]
fn a_lost_copy_is_not_delivered_and_the_next_one_recovers() {
    let result = run(&spec(json!({
        "workload": { "transactions": 1 },
        "path": { "kind": "links", "one_way_delay_ns": 20_000_000,
            "reverse": { "loss": { "kind": "trace", "lost": [1, 1, 1, 1, 0, 0] } } },
    })))
    .unwrap();
    // 100 and 200 lost at 20 ms, both lost again after the repeated INVITE at
    // 520 ms; at 1.52 s the first that comes is the 100 or the 200.
    assert_eq!(at(&result, &["invites", "oks", "succeeded"]), [3, 3, 1]);
    assert_eq!(at(&result, &["lost_tryings", "lost_oks"]), [2, 2]);
    assert_eq!(at(&result, &["lost_invites", "lost_acks"]), [0, 0]);
    let delay = result.transactions[0].delay.unwrap();
    assert_eq!(delay.as_nanos(), 1_540_000_000);
    // No message waits for another or is recovered by the transport.
    for sample in &result.messages {
        assert_eq!(sample.row.parts.network.as_nanos(), 20_000_000);
        assert_eq!(sample.row.delay.as_nanos(), 20_000_000);
    }
    assert_eq!(count(&result, "retransmissions"), 0);
    assert_eq!(real(&result, "f3_share"), 1.0);
    assert!(undefined(&result, "td_plain_mean_s"));
}

#[test]
fn where_nothing_comes_through_every_transaction_fails() {
    let result = run(&spec(json!({ "path": { "snr_db": -20.0 } }))).unwrap();
    assert!(result.complete);
    assert_eq!(
        at(&result, &["transactions", "failed", "failed_no_answer"]),
        [40; 3]
    );
    // Seven INVITEs and eleven 200s each.
    assert_eq!(at(&result, &["invites", "oks"]), [280, 440]);
    assert!(undefined(&result, "f1_share") && undefined(&result, "td_mean_s"));
    assert_eq!(real(&result, "f1_of_all_share"), 0.0);
    for row in &result.transactions {
        assert_eq!(row.gave_up.unwrap().as_nanos(), 32_000_000_000);
    }
    assert!(result.distributions[0].quantiles.is_empty());
}

#[test]
fn a_good_cell_takes_as_long_as_its_frames() {
    let result = run(&spec(json!({ "path": { "snr_db": 32.0 } }))).unwrap();
    assert_eq!(at(&result, &["succeeded", "plain_transactions"]), [40, 40]);
    assert_eq!(
        at(
            &result,
            &["downlink_retries", "uplink_retries", "lost_chunks"]
        ),
        [0; 3]
    );
    // Three frames of 900 B at 1 Mb/s (7.904 ms), two ACKs (0.304 ms), their
    // inter-frame spaces, and two back-offs of 0 to 620 us before the 100 and
    // the 200.
    let least = 3.0 * 7.904 + 2.0 * (0.304 + 0.010 + 0.050);
    let mean = real(&result, "td_mean_s") * 1e3;
    assert!((least..least + 1.24).contains(&mean), "{mean} ms");
    assert_eq!(real(&result, "reported_snr_mean_db"), 32.0);
    let counts = result.distributions[0].counts.as_ref().unwrap();
    assert_eq!(counts, &[40]);
}

#[test]
fn only_the_downlink_is_weak_unless_the_cell_is_symmetric() {
    let weak = json!({ "snr_db": 5.0, "retry_limit": 0 });
    let asymmetric = run(&spec(json!({ "path": weak.clone() }))).unwrap();
    assert_eq!(at(&asymmetric, &["lost_invites", "lost_acks"]), [0, 0]);
    assert!(count(&asymmetric, "lost_oks") > 5);
    let mut change = json!({ "path": weak });
    lay_over(&mut change, json!({ "path": { "symmetric": true } }));
    let symmetric = run(&spec(change)).unwrap();
    assert!(count(&symmetric, "lost_invites") > 5 && count(&symmetric, "lost_acks") > 2);
}

#[test]
fn an_snr_may_be_drawn_for_each_transaction_or_follow_a_trace() {
    let quiet = json!({ "jitter": { "sigma_db": 0.0 }, "retry_limit": 0, "snr_db": 5.0 });
    let with = |change: Json| {
        let mut path = quiet.clone();
        lay_over(&mut path, change);
        run(&spec(json!({ "path": path }))).unwrap()
    };
    // One mean for all tries of a transaction: most go through at once or never.
    let drawn = with(json!({ "snr_sigma_db": 6.0 }));
    assert!(real(&drawn, "f1_share") > 0.8 && count(&drawn, "failed") > 3);
    // Forty transactions begin within a minute; the last meet a dead channel.
    let walk = with(json!({ "snr_trace": [[0.0, 20.0], [20.0, 20.0], [30.0, -20.0]] }));
    let ends = |row: &&headway_experiment::results::TransactionSample| row.delay.is_none();
    assert!(walk.transactions[..8].iter().all(|row| row.delay.is_some()));
    assert!(walk.transactions[25..].iter().all(|row| ends(&row)));
    // The cell's own jitter per transaction is drawn anew with each, too.
    let jitter = with(json!({ "jitter": { "sigma_db": 6.0, "per": "transaction" } }));
    assert!(real(&jitter, "f1_share") > 0.8 && count(&jitter, "failed") > 3);
    assert_ne!(bytes(&jitter), bytes(&drawn));
}

#[test]
fn background_and_voice_are_counted() {
    let result = run(&spec(json!({
        "path": { "snr_db": 32.0,
            "background": { "traffic": "cbr", "downlink_gain_db": 6.0 },
            "voice": { "interval_ns": 100_000_000 } },
    })))
    .unwrap();
    let seconds = real(&result, "virtual_s");
    let offered = count(&result, "background_pkts") as f64 / seconds;
    assert!((124.0..=126.0).contains(&offered), "{offered}");
    assert!(real(&result, "busy_share") > 0.9);
    assert!(count(&result, "background_dropped_queue_pkts") > 100);
    let voice = count(&result, "voice_pkts") as f64 / seconds;
    assert!((9.8..=10.1).contains(&voice), "{voice}");
    // 236 B at 1 Mb/s and nothing lost, but the channel is busy most of the time.
    assert_eq!(real(&result, "voice_lost_share"), 0.0);
    assert!(real(&result, "voice_delay_mean_s") > 0.004);
    assert_eq!(at(&result, &["plain_transactions"]), [40]);
}

#[test]
fn full_content_changes_nothing_at_the_edge() {
    for change in [
        json!({}),
        json!({ "path": { "background": { "traffic": "cbr" } } }),
    ] {
        let by_size = run(&spec(change.clone())).unwrap();
        let mut full = change;
        lay_over(&mut full, json!({ "workload": { "content": "full" } }));
        assert_eq!(bytes(&by_size), bytes(&run(&spec(full)).unwrap()));
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads_at_the_edge() {
    let specs: Vec<RunSpec> = (0..8)
        .map(|i| {
            spec(json!({ "seed": format!("{i:016x}"),
                "path": { "snr_db": 4.0, "background": { "traffic": "cbr" } } }))
        })
        .collect();
    let with = |jobs: usize| {
        let results = parallel_map(jobs, &specs, &false.into(), |_, _| {}, |s| run(s).unwrap());
        results
            .into_iter()
            .map(|r| bytes(&r.unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn wrong_values_name_their_key() {
    let error = |change: Json| {
        let mut text = json!({
            "version": 1, "run": { "id": "x", "point": 0, "replication": 0 },
            "seed": "0000000000000001", "duration_ns": 1, "workload": { "kind": "sip-transactions" },
            "transport": { "kind": "udp" }, "path": { "kind": "dot11", "snr_db": 6.0 },
        });
        lay_over(&mut text, change);
        RunSpec::from_json(&text.to_string())
            .unwrap_err()
            .to_string()
    };
    for (change, expected) in [
        (
            json!({ "path": { "kind": "dot12" } }),
            "path: kind: \"dot12\" is unknown",
        ),
        (
            json!({ "path": { "snr": 6.0 } }),
            "path: snr: unknown field",
        ),
        (
            json!({ "path": { "rate_bps": 3_000_000 } }),
            "path: rate_bps: 3000000 b/s is no rate",
        ),
        (
            json!({ "path": { "snr_sigma_db": -1.0 } }),
            "path.snr_sigma_db: ",
        ),
        (
            json!({ "path": { "snr_sigma_db": 1.0, "snr_trace": [[0.0, 1.0]] } }),
            "path.snr_sigma_db: ",
        ),
        (
            json!({ "path": { "background": { "traffic": "cbr", "size_bytes": 2_000 } } }),
            "path.background.size_bytes: 2000 bytes",
        ),
        (
            json!({ "path": { "errors": { "kind": "table", "points": [] } } }),
            "path.errors.points: ",
        ),
        (
            json!({ "path": { "voice": { "interval_ns": 0 } } }),
            "path.voice.interval_ns: ",
        ),
        (
            json!({ "workload": { "ok_bytes": 1_473 } }),
            "transport.kind: udp carries messages of up to 1472 bytes",
        ),
        (
            json!({ "workload": { "transactions": 0 } }),
            "workload.transactions: ",
        ),
        (
            json!({ "transport": { "kind": "udp", "x": 1 } }),
            "transport: unknown field",
        ),
    ] {
        let found = error(change.clone());
        assert!(found.starts_with(expected), "{change}: {found}");
    }
}

/// Integers, so that a change of behaviour shows as a change of this table.
#[test]
fn a_table_of_runs_at_the_edge() {
    use std::fmt::Write as _;
    let mut table = String::from(
        "transport load  snr r | ok fail plain | mean_us p95_us | invites oks lost | tries retries busy_ms\n",
    );
    for (transport, load, snr_db, r) in [
        ("udp", "none", 4.0, 0),
        ("udp", "none", 4.0, 2),
        ("udp", "none", 7.0, 0),
        ("udp", "cbr", 4.0, 0),
        ("udp", "cbr", 4.0, 4),
        ("udp", "cbr", 7.0, 2),
        ("sctp", "none", 5.0, 2),
        ("sctp", "cbr", 6.0, 4),
        ("tcp", "none", 5.0, 2),
        ("tcp", "cbr", 6.0, 4),
    ] {
        let carrier = match transport {
            "sctp" => json!({ "kind": "sctp", "delivery": "unordered" }),
            kind => json!({ "kind": kind }),
        };
        let result = run(&spec(json!({
            "transport": carrier,
            "path": { "snr_db": snr_db, "retry_limit": r, "background": { "traffic": load } },
        })))
        .unwrap();
        let n = |name| count(&result, name);
        let us = |name| (real(&result, name) * 1e6).round() as u64;
        writeln!(
            table,
            "{transport:9} {load:4} {snr_db:4} {r} | {:2} {:4} {:5} | {:7} {:6} | {:7} {:3} {:4} | {:5} {:7} {:7}",
            n("succeeded"),
            n("failed"),
            n("plain_transactions"),
            us("td_mean_s"),
            us("td_p95_s"),
            n("invites"),
            n("oks"),
            n("lost_chunks"),
            n("downlink_tries"),
            n("downlink_retries"),
            (real(&result, "busy_share") * real(&result, "virtual_s") * 1e3).round() as u64,
        )
        .unwrap();
    }
    let expected = include_str!("snapshots/radio.txt");
    assert!(
        table == expected,
        "the table of runs has changed; it is now:\n{table}"
    );
}
