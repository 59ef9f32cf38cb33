//! Media flows, and flows that share their path with others.

mod common;

use common::{bytes, count, real, result, spec};
use headway_experiment::results::{FlowKind, FlowSample, RunResult};
use headway_experiment::{RunSpec, run};
use headway_sim::parallel_map;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// One voice flow without loss over 50 ms; `change` is laid over it.
fn voice(change: Json) -> RunResult {
    let mut base = json!({
        "workload": { "kind": "media" },
        "transport": { "kind": "tcp", "profile": "model-seed4" },
        "path": { "one_way_delay_ns": 50_000_000, "loss": { "kind": "none" } },
    });
    common::lay_over(&mut base, change);
    result(base)
}

#[test]
fn a_flow_over_every_transport() {
    for kind in ["sctp", "udp", "tcp", "tcp-parallel", "tcp-split"] {
        let transport = if kind.starts_with("tcp") {
            json!({ "kind": kind, "profile": "linux-6", "tcp": { "nagle": "off" } })
        } else {
            json!({ "kind": kind })
        };
        let result = voice(json!({ "transport": transport }));
        assert!(result.complete, "{kind}");
        assert_eq!(count(&result, "media_packets"), 500, "{kind}");
        assert_eq!(count(&result, "media_received"), 500, "{kind}");
        assert_eq!(count(&result, "out_of_order_messages"), 0, "{kind}");
        assert_eq!(real(&result, "delay_max_s"), 0.05, "{kind}");
        assert_eq!(real(&result, "late_share"), 0.0, "{kind}");
        // One way is silent over UDP.
        if kind != "udp" {
            assert_eq!(real(&result, "flow_rtt_mean_s"), 0.1, "{kind}");
        }
    }
}

#[test]
fn a_lost_packet_is_lost_over_udp_and_late_over_tcp() {
    // The 101st packet of the forward direction.
    let mut lost = vec![0; 10_000];
    lost[100] = 1;
    let loss = json!({ "loss": { "kind": "trace", "lost": lost }, "reverse": { "loss": { "kind": "none" } } });
    let udp = voice(json!({ "transport": { "kind": "udp" }, "path": loss }));
    assert_eq!(count(&udp, "media_received"), 499);
    assert!((real(&udp, "missing_share") - 1.0 / 500.0).abs() < 1e-12);
    let tcp = voice(json!({ "path": loss, "workload": { "playout_ns": 60_000_000 } }));
    assert_eq!(count(&tcp, "media_received"), 500);
    // Found with the third packet after it, repaired a round trip later: 60 ms
    // and 100 ms and the way itself; those sent meanwhile wait for it.
    assert!((real(&tcp, "delay_max_s") - 0.21).abs() < 1e-9);
    // Those sent less than 150 ms after the lost one are late, and what the
    // halved window then holds back.
    let late = real(&tcp, "late_share") * 500.0;
    assert!((8.0..20.0).contains(&late), "{late}");
    assert_eq!(real(&tcp, "playout_s"), 0.06);
}

#[test]
fn the_advised_playout_is_one_fast_retransmission() {
    assert_eq!(real(&voice(json!({})), "playout_s"), 0.21);
}

#[test]
fn a_conversation_is_rated() {
    let rated = |loss: f64| {
        let path = json!({ "loss": { "kind": "bernoulli", "rate": loss } });
        let workload = json!({ "codec": "g711-plc", "playout_ns": 50_000_000 });
        let transport = json!({ "kind": "udp" });
        let result = voice(json!({ "path": path, "workload": workload, "transport": transport }));
        (real(&result, "rating_r"), real(&result, "mos"))
    };
    let (clean, score) = rated(0.0);
    // 70 ms from mouth to ear.
    assert!(
        (88.0..93.2).contains(&clean) && score > 4.2,
        "{clean} {score}"
    );
    let (lossy, worse) = rated(0.05);
    assert!(lossy < clean - 10.0 && worse < score, "{lossy} {worse}");
    let unrated = voice(json!({}));
    let r = unrated
        .metrics
        .iter()
        .find(|m| m.name == "rating_r")
        .unwrap();
    assert_eq!(r.value, headway_experiment::results::Value::Real(None));
}

#[test]
fn fillers_keep_the_window_and_do_not_count() {
    let of = |filler: Json| {
        let silence = json!({ "filler_interval_ns": filler });
        voice(json!({ "duration_ns": 60_000_000_000_u64, "workload": { "silence": silence } }))
    };
    let (without, with) = (of(Json::Null), of(json!(33_000_000)));
    assert!(count(&without, "media_packets") < 2000);
    assert!(count(&with, "messages") > count(&with, "media_packets") + 500);
    assert_eq!(
        count(&with, "media_received"),
        count(&with, "media_packets")
    );
}

/// Three packets in a round trip keep fast retransmission at work: they are the
/// duplicate ACKs for the last packet of a talk spurt (seed 4, section 8.2).
#[test]
fn three_packets_a_round_trip_in_silence_spare_timeouts() {
    let rtt = 100_000_000;
    let of = |filler: Json| {
        let silence = json!({ "filler_interval_ns": filler });
        voice(json!({
            "duration_ns": 600_000_000_000_u64,
            "workload": { "silence": silence },
            "path": { "loss": { "kind": "bernoulli", "rate": 0.01 }, "reverse": { "loss": { "kind": "none" } } },
        }))
    };
    let (without, with) = (of(Json::Null), of(json!(rtt / 3)));
    // Talk spurts of 1 s: some 230 of them, 1 % of which lose one of their last
    // three packets.
    assert!(count(&without, "timeouts") >= 3);
    assert!(count(&with, "timeouts") * 2 < count(&without, "timeouts"));
    let share = |result| real(result, "timeout_share");
    assert!(share(&with) < share(&without) / 2.0);
    // Never fewer than three packets in a round trip, both ways of the voice.
    let mut times: Vec<u64> = with
        .messages
        .iter()
        .map(|m| m.row.handed_over.as_nanos())
        .collect();
    times.sort_unstable();
    assert!(times.windows(4).all(|w| w[3] - w[0] <= rtt + 20_000_000));
}

#[test]
fn a_recording_is_sent_again() {
    let messages = json!([
        [0, 100, false],
        [5_000_000, 300, true],
        [5_000_000, 200, true],
        [900_000_000, 50, false]
    ]);
    let result = result(json!({
        "workload": { "kind": "trace", "messages": messages, "playout_ns": 30_000_000 },
        "path": { "loss": { "kind": "none" } },
        "transport": { "kind": "tcp", "tcp": { "nagle": "off" } },
    }));
    assert!(result.complete);
    assert_eq!(count(&result, "media_received"), 4);
    let sizes: Vec<(u32, bool)> = result
        .messages
        .iter()
        .map(|m| (m.row.size_bytes, m.forward))
        .collect();
    assert_eq!(sizes, [(100, true), (300, false), (200, false), (50, true)]);
    assert_eq!(real(&result, "delay_max_s"), 0.02);
}

/// Voice beside bulk transfers at 10 Mb/s.
fn beside(change: Json) -> Json {
    let mut base = json!({
        "workload": { "kind": "media" },
        "transport": { "kind": "tcp", "profile": "linux-2.6.17", "tcp": { "nagle": "off" } },
        "path": {
            "one_way_delay_ns": 20_000_000, "rate_bps": 10_000_000, "loss": { "kind": "none" },
            "queue": { "kind": "drop-tail-packets", "limit_pkts": 60 },
        },
        "competing": {
            "settle_ns": 5_000_000_000_u64,
            "bulk": { "flows": 6, "receive_window_bytes": 65_536, "stack": { "profile": "linux-2.6.17" } },
        },
    });
    common::lay_over(&mut base, change);
    base
}

#[test]
fn bulk_transfers_fill_the_bottleneck_and_share_it() {
    let result = result(beside(json!({})));
    assert!(result.complete);
    let goodput = real(&result, "bulk_goodput_bps");
    assert!((9.0e6..10.0e6).contains(&goodput), "{goodput}");
    assert!(real(&result, "bulk_jain") > 0.9);
    assert!(real(&result, "background_loss_share") > 0.001);
    // 40 ms of the path, up to 72 ms of a full queue.
    let rtt = real(&result, "background_rtt_mean_s");
    assert!((0.06..0.115).contains(&rtt), "{rtt}");
    assert!((real(&result, "flow_rtt_mean_s") - rtt).abs() < 0.02);
    let lost = count(&result, "packets_lost_queue");
    assert!(lost > 0 && count(&result, "packets_lost_wire") == 0);
}

#[test]
fn windows_and_flows_on_request() {
    let change = json!({ "workload": { "flows": 2 }, "collect": { "windows": true } });
    let result = result(beside(change));
    // The window over time: its mean is that of the metrics.
    let of = |flow, forward| {
        let mine = result.windows.iter();
        mine.filter(move |w| w.flow == flow && w.forward == forward)
            .collect::<Vec<_>>()
    };
    let first = of(0, true);
    assert!(first.len() > 10 && !of(1, true).is_empty());
    assert!(first.is_sorted_by(|a, b| a.at <= b.at && a.cwnd_bytes != b.cwnd_bytes));
    let begin = first[0].at.as_secs_f64();
    assert!((5.0..5.3).contains(&begin), "{begin}");
    let end = real(&result, "virtual_s");
    let ends = first[1..].iter().map(|w| w.at.as_secs_f64()).chain([end]);
    let sum: f64 = first
        .iter()
        .zip(ends)
        .map(|(w, until)| w.cwnd_bytes as f64 * (until - w.at.as_secs_f64()))
        .sum();
    let mean = real(&result, "cwnd_mean_bytes");
    assert!((sum / (end - begin) / mean - 1.0).abs() < 1e-6);
    let most = first.iter().map(|w| w.cwnd_bytes).max();
    assert_eq!(most, Some(count(&result, "cwnd_max_bytes")));

    // Loss, round trip and goodput of each flow add up to the metrics of all.
    let kind = |kind| result.flows.iter().filter(move |f| f.kind == kind);
    let study: Vec<_> = kind(FlowKind::Study).collect();
    let bulk: Vec<_> = kind(FlowKind::Bulk).collect();
    assert_eq!((study.len(), bulk.len(), result.flows.len()), (2, 6, 8));
    assert_eq!(
        bulk.iter().map(|f| f.flow).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5]
    );
    let loss = |flows: &[&FlowSample]| {
        let sum = |of: fn(&FlowSample) -> u64| flows.iter().map(|f| of(f)).sum::<u64>();
        sum(|f| f.packets_lost) as f64 / sum(|f| f.packets) as f64
    };
    assert!((loss(&study) - real(&result, "flow_loss_share")).abs() < 1e-12);
    assert!((loss(&bulk) - real(&result, "background_loss_share")).abs() < 1e-12);
    for flow in &result.flows {
        let rtt = flow.round_trip.unwrap().as_secs_f64();
        assert!((0.06..0.115).contains(&rtt), "{rtt}");
    }
    let goodput: Vec<f64> = bulk.iter().map(|f| f.goodput_bps.unwrap()).collect();
    let sum: f64 = goodput.iter().sum();
    assert!((sum / real(&result, "bulk_goodput_bps") - 1.0).abs() < 1e-12);
    let squares: f64 = goodput.iter().map(|x| x * x).sum();
    assert!((sum * sum / 6.0 / squares - real(&result, "bulk_jain")).abs() < 1e-12);
    assert!(study.iter().all(|f| f.goodput_bps.is_none()));

    let without = common::result(beside(json!({})));
    assert!(without.windows.is_empty() && without.flows.is_empty());
}

#[test]
fn flows_come_when_the_others_have_settled() {
    let first = |settle: u64| {
        let result = result(beside(json!({ "competing": { "settle_ns": settle } })));
        result.messages[0].row.handed_over.as_secs_f64()
    };
    assert!(first(0) < 0.2);
    assert!((5.0..5.3).contains(&first(5_000_000_000)));
}

#[test]
fn what_a_receive_window_bounds() {
    let goodput = |window: u64| {
        let bulk = json!({ "flows": 1, "receive_window_bytes": window });
        real(
            &result(beside(json!({ "competing": { "bulk": bulk } }))),
            "bulk_goodput_bps",
        )
    };
    // One window a round trip: 14,600 bytes in 40 ms and 12 ms of serialisation.
    let small = goodput(14_600);
    assert!((2.0e6..3.0e6).contains(&small), "{small}");
    assert!(goodput(65_536) > 2.0 * small);
}

#[test]
fn in_reverse_only_acknowledgements_compete() {
    let loss = |direction: &str| {
        let bulk = json!({ "direction": direction });
        real(
            &result(beside(json!({ "competing": { "bulk": bulk } }))),
            "flow_loss_share",
        )
    };
    assert!(loss("forward") > 0.0);
    assert_eq!(loss("reverse"), 0.0);
}

#[test]
fn both_readings_of_random_drop() {
    let of = |queue: Json, rate: Json| {
        result(json!({
            "workload": { "kind": "sip", "call_rate": 40.0 },
            "transport": { "kind": "sctp", "delivery": "unordered" },
            "path": {
                "one_way_delay_ns": 20_000_000, "rate_bps": rate, "loss": { "kind": "none" },
                "queue": queue,
            },
            "competing": { "settle_ns": 2_000_000_000, "bulk": {
                "flows": 2, "receive_window_bytes": 65_536, "stack": { "profile": "linux-2.6.11" },
            } },
        }))
    };
    for (reading, rate) in [("delay-line", Json::Null), ("server", json!(5_000_000))] {
        let queue = json!({ "kind": "drd", "min_pkts": 10, "max_pkts": 20, "reading": reading });
        let result = of(queue, rate);
        assert!(result.complete, "{reading}");
        assert!(real(&result, "flow_loss_share") > 0.005, "{reading}");
        assert!(real(&result, "background_loss_share") > 0.005, "{reading}");
        assert_eq!(
            count(&result, "calls"),
            count(&result, "answered"),
            "{reading}"
        );
    }
}

#[test]
fn web_sessions_come_and_go() {
    for connections in ["session", "page", "object"] {
        let result = result(json!({
            "duration_ns": 60_000_000_000_u64,
            "workload": { "kind": "sip", "call_rate": 20.0 },
            "transport": { "kind": "sctp" },
            "path": { "loss": { "kind": "bernoulli", "rate": 0.01 } },
            "competing": { "settle_ns": 30_000_000_000_u64, "web": {
                "users": { "session_rate": 2.0, "connections": connections },
                "stack": { "profile": "linux-2.6.11" },
            } },
        }));
        assert!(result.complete, "{connections}");
        // Two sessions a second of three pages, within a few on the border.
        let pages = count(&result, "web_pages");
        assert!((340..=380).contains(&pages), "{connections}: {pages}");
        assert!((115..=125).contains(&count(&result, "web_sessions")));
        let page = real(&result, "web_page_mean_s");
        assert!((0.1..2.0).contains(&page), "{connections}: {page}");
    }
}

#[test]
fn short_messages_keep_their_rate() {
    let messages = json!({ "flows": 20 });
    let result = result(json!({
        "workload": { "kind": "media" },
        "path": { "rate_bps": 10_000_000, "loss": { "kind": "none" } },
        "competing": { "settle_ns": 1_000_000_000, "messages": messages },
    }));
    // 20 flows of 20 messages a second: 512 bytes and 40 of headers each.
    let carried = count(&result, "bytes_on_wire") as f64 / 10.0;
    let offered = 20.0 * 20.0 * 552.0;
    assert!(
        carried > offered && carried < 1.4 * offered,
        "{carried} for {offered}"
    );
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let specs: Vec<RunSpec> = (0..6)
        .map(|i| {
            let web = json!({ "users": { "session_rate": 5.0 } });
            let seed = format!("{i:016x}");
            spec(beside(json!({ "seed": seed, "duration_ns": 3_000_000_000_u64, "competing": { "web": web } })))
        })
        .collect();
    let with = |jobs: usize| {
        let results = parallel_map(jobs, &specs, &false.into(), |_, _| {}, |s| run(s).unwrap());
        let bytes = results.into_iter().map(|r| bytes(&r.unwrap()));
        bytes.collect::<Vec<_>>()
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn the_first_flow_is_the_same_however_many_there_are() {
    let first = |flows: u32| {
        let result = voice(json!({ "workload": { "flows": flows } }));
        let row = |m: &&headway_experiment::results::MessageSample| m.row.id >> 48 == 0;
        let times: Vec<_> = result
            .messages
            .iter()
            .filter(row)
            .map(|m| m.row.handed_over)
            .collect();
        times
    };
    assert_eq!(first(1).len(), 500);
    assert_eq!(first(1), first(4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Over UDP a packet comes once or never, as the path says, and its delay is
    /// the network's.
    #[test]
    fn every_datagram_once_or_never(
        flows in 1_u32..4,
        payload in 1_u32..1400,
        loss in 0.0..0.3_f64,
        duplicate in 0.0..0.3_f64,
        reorder in 0.0..0.3_f64,
        limit in 5_u32..60,
        bulk in 0_u32..4,
        both in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let result = result(json!({
            "seed": format!("{seed:016x}"),
            "duration_ns": 3_000_000_000_u64,
            "workload": {
                "kind": "media", "flows": flows, "payload_bytes": payload,
                "direction": if both { "both" } else { "forward" },
            },
            "transport": { "kind": "udp" },
            "path": {
                "rate_bps": 10_000_000,
                "queue": { "kind": "drop-tail-packets", "limit_pkts": limit },
                "loss": { "rate": loss },
                "duplicate": { "probability": duplicate },
                "reorder": { "probability": reorder, "extra_delay_ns": 25_000_000 },
            },
            "competing": { "settle_ns": 1_000_000_000, "bulk": { "flows": bulk } },
        }));
        prop_assert!(result.complete);
        let sent = count(&result, "media_packets");
        let ways = if both { 2 } else { 1 };
        prop_assert_eq!(sent, u64::from(flows) * 150 * ways);
        prop_assert_eq!(count(&result, "media_received") + count(&result, "lost_chunks"), sent);
        let mut ids: Vec<u64> = result.messages.iter().map(|m| m.row.id).collect();
        prop_assert_eq!(ids.len() as u64, count(&result, "media_received"));
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), result.messages.len());
        for sample in &result.messages {
            prop_assert_eq!(sample.row.parts.delay(), sample.row.delay);
            prop_assert_eq!(sample.row.parts.network, sample.row.delay);
        }
    }

    /// Every packet once and in order over every reliable transport, with a delay
    /// that adds up, in a crowd and with a path that loses, doubles and reorders.
    #[test]
    fn every_packet_once_in_a_crowd(
        kind in prop::sample::select(vec!["sctp", "tcp", "tcp-parallel", "tcp-split"]),
        profile in prop::sample::select(vec!["model-seed4", "linux-2.6.17", "freebsd-6.1", "linux-6"]),
        flows in 1_u32..4,
        payload in 1_u32..3000,
        loss in 0.0..0.1_f64,
        duplicate in 0.0..0.2_f64,
        reorder in 0.0..0.2_f64,
        limit in 5_u32..60,
        bulk in 0_u32..4,
        both in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let transport = if kind == "sctp" {
            json!({ "kind": kind, "sctp": { "association_max_retransmits": 100 } })
        } else {
            json!({ "kind": kind, "profile": profile, "tcp": { "max_retransmissions": 0 } })
        };
        let result = result(json!({
            "seed": format!("{seed:016x}"),
            "duration_ns": 3_000_000_000_u64,
            "drain_ns": 20_000_000_000_000_u64,
            "workload": {
                "kind": "media", "flows": flows, "payload_bytes": payload,
                "direction": if both { "both" } else { "forward" },
            },
            "transport": transport,
            "path": {
                "rate_bps": 10_000_000,
                "queue": { "kind": "drop-tail-packets", "limit_pkts": limit },
                "loss": { "rate": loss },
                "duplicate": { "probability": duplicate },
                "reorder": { "probability": reorder, "extra_delay_ns": 15_000_000 },
            },
            "competing": { "settle_ns": 1_000_000_000, "bulk": {
                "flows": bulk, "stack": { "profile": profile },
            } },
        }));
        prop_assert!(result.complete);
        prop_assert_eq!(count(&result, "media_received"), count(&result, "media_packets"));
        prop_assert_eq!(count(&result, "out_of_order_messages"), 0);
        let mut ids: Vec<u64> = result.messages.iter().map(|m| m.row.id).collect();
        prop_assert_eq!(ids.len() as u64, count(&result, "messages"));
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), result.messages.len());
        for sample in &result.messages {
            prop_assert_eq!(sample.row.parts.delay(), sample.row.delay);
        }
    }
}
