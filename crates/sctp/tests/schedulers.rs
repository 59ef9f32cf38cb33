//! The schedulers of RFC 8260, section 3, on the wire.

mod common;

use common::{End, Pair};
use headway_sansio::{Duration, Payload};
use headway_sctp::{Chunk, Config, Message, Scheduler};

fn established(scheduler: Scheduler, interleaving: bool) -> Pair {
    Pair::established(Config {
        scheduler,
        interleaving,
        send_buffer_bytes: 1 << 20,
        ..Config::default()
    })
}

/// Hands messages over in one go.
fn send_all(pair: &mut Pair, messages: impl IntoIterator<Item = (u16, u32)>) {
    for (stream, bytes) in messages {
        let message = Message {
            stream,
            payload: Payload::Sized(bytes),
            ..Message::default()
        };
        let now = pair.now;
        pair.a.send(now, message).unwrap();
    }
    pair.drain();
}

fn streams_delivered(pair: &Pair) -> Vec<u16> {
    pair.received(End::B).iter().map(|m| m.stream).collect()
}

/// Bytes of each of four streams among the first `total` that were sent.
fn shares(pair: &Pair, total: usize) -> [usize; 4] {
    let mut shares = [0; 4];
    for (_, chunk) in pair.data(End::A) {
        if shares.iter().sum::<usize>() < total {
            shares[usize::from(chunk.stream)] += chunk.payload.len();
        }
    }
    shares
}

#[test]
fn first_come_first_served() {
    for interleaving in [false, true] {
        let mut pair = established(Scheduler::FirstCome, interleaving);
        let messages = [(2, 30_000), (0, 10), (2, 10), (1, 5_000), (0, 10)];
        send_all(&mut pair, messages);
        pair.run_ms(5000);
        assert_eq!(streams_delivered(&pair), messages.map(|m| m.0));
    }
}

#[test]
fn round_robin_by_messages_or_chunks() {
    for interleaving in [false, true] {
        let mut pair = established(Scheduler::RoundRobin, interleaving);
        // Streams with long and short messages.
        let long = (0..20).map(|_| (0, 10_000));
        let short = (0..200).map(|_| (1, 1_000));
        send_all(&mut pair, long.chain(short));
        pair.run_ms(10_000);
        let sent = shares(&pair, 110_000);
        let ratio = sent[0] as f64 / sent[1] as f64;
        // 10 kB for each 1 kB; or 1448 B for each 1000 B.
        let expected = if interleaving { 1.43 } else { 10.0 };
        assert!((ratio / expected - 1.0).abs() < 0.1, "{sent:?}");
    }
}

#[test]
fn a_packet_carries_one_stream() {
    for interleaving in [false, true] {
        let mut pair = established(Scheduler::RoundRobinPacket, interleaving);
        let messages = (0..300).map(|i| (i % 3, 100 + 10 * u32::from(i % 7)));
        send_all(&mut pair, messages);
        pair.run_ms(10_000);
        assert_eq!(pair.received(End::B).len(), 300);
        let mut before = None;
        for (_, end, packet) in &pair.log {
            let mut streams: Vec<u16> = packet
                .chunks
                .iter()
                .filter_map(|chunk| match chunk {
                    Chunk::Data(data) if *end == End::A => Some(data.stream),
                    _ => None,
                })
                .collect();
            if streams.is_empty() {
                continue;
            }
            assert!(streams.len() > 3, "messages share packets: {streams:?}");
            streams.dedup();
            assert_eq!(streams.len(), 1);
            assert_ne!(before, Some(streams[0]), "the next packet is another's");
            before = Some(streams[0]);
            if pair.data(End::A).len() > 250 {
                break;
            }
        }
    }
}

#[test]
fn high_priority_does_not_wait_for_low() {
    for interleaving in [false, true] {
        let mut pair = established(Scheduler::Priority, interleaving);
        pair.a.set_stream_priority(1, 10);
        pair.a.set_stream_priority(2, 20);
        send_all(&mut pair, [(2, 100_000), (2, 100_000), (1, 100_000)]);
        pair.run_ms(30);
        send_all(&mut pair, [(0, 100)]);
        pair.run_ms(10_000);
        // With DATA the message that is under way comes first.
        let expected = if interleaving {
            [0, 1, 2, 2]
        } else {
            [1, 0, 2, 2]
        };
        assert_eq!(streams_delivered(&pair), expected);
    }
}

#[test]
fn fair_bandwidth_is_fair_by_bytes() {
    for interleaving in [false, true] {
        let mut pair = established(Scheduler::FairBandwidth, interleaving);
        let sizes = [50, 400, 1_400, 9_000];
        let messages = (0..4u16).flat_map(|stream| {
            let size = sizes[usize::from(stream)];
            (0..150_000 / size).map(move |_| (stream, size))
        });
        send_all(&mut pair, messages);
        pair.run_ms(20_000);
        // The first message went out before there were others.
        let sent = shares(&pair, 400_000);
        for bytes in sent {
            assert!(bytes.abs_diff(100_000) < 10_000, "{sent:?}");
        }
    }
}

#[test]
fn weights_share_the_capacity() {
    for interleaving in [false, true] {
        let mut pair = established(Scheduler::WeightedFair, interleaving);
        for (stream, weight) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
            pair.a.set_stream_weight(stream, weight);
        }
        assert_eq!(pair.a.stream_priority_and_weight(2), (0, 3));
        send_all(&mut pair, (0..1200).map(|i| (i % 4, 700)));
        pair.run_ms(20_000);
        let sent = shares(&pair, 400_000);
        for (bytes, weight) in sent.iter().zip([1, 2, 3, 4]) {
            assert!(bytes.abs_diff(40_000 * weight) < 4_000, "{sent:?}");
        }
    }
}

#[test]
fn weights_change_while_messages_wait() {
    let mut pair = established(Scheduler::WeightedFair, true);
    send_all(&mut pair, (0..1000).map(|i| (i % 2, 700)));
    pair.run_ms(200);
    let before = pair.data(End::A).len();
    pair.a.set_stream_weight(1, 9);
    pair.run_ms(200);
    let mut later = pair.data(End::A).split_off(before);
    later.truncate(200);
    let count = |stream| later.iter().filter(|(_, c)| c.stream == stream).count();
    assert!(later.len() > 100);
    assert!(count(1) > 8 * count(0), "{} {}", count(0), count(1));
}

#[test]
fn the_scheduler_changes_while_messages_wait() {
    let mut pair = established(Scheduler::FirstCome, false);
    send_all(
        &mut pair,
        (0..4).flat_map(|s| (0..20).map(move |_| (s, 2_000))),
    );
    assert_eq!(pair.a.scheduler(), Scheduler::FirstCome);
    pair.a.set_scheduler(Scheduler::RoundRobin);
    pair.run_for(Duration::from_secs(20));
    let order = streams_delivered(&pair);
    assert_eq!(order.len(), 80);
    // What had gone out by then is of the first stream.
    assert_eq!(&order[..2], [0, 0]);
    let rest: Vec<u16> = order.into_iter().skip_while(|&s| s == 0).collect();
    assert_eq!(&rest[..6], [1, 2, 3, 0, 1, 2]);
}
