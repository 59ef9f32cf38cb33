//! RFC 9260, section 6: DATA and its acknowledgement.

mod common;

use common::{End, Pair, has_data, losing, names};
use headway_sansio::{Duration, Payload, Time};
use headway_sctp::{
    Chunk, Config, Event, GapBlock, LostReason, Message, Packet, SackBundling, SendError, Ssn, Tsn,
};

fn ms(time: Time) -> u64 {
    time.as_nanos() / 1_000_000
}

/// A pair that is up, and the time zero of the test.
fn pair() -> (Pair, u64) {
    let pair = Pair::established(Config::default());
    let zero = ms(pair.now);
    (pair, zero)
}

/// When B sent its SACKs, in milliseconds after `zero`.
fn sack_times(pair: &Pair, zero: u64) -> Vec<u64> {
    pair.sacks(End::B)
        .iter()
        .map(|(time, _)| ms(*time) - zero)
        .collect()
}

#[test]
fn section_6_2_second_packet_and_delay() {
    let (mut pair, zero) = pair();
    // The first DATA of an association is acknowledged at once.
    pair.send(End::A, 0, false, 100);
    pair.run_ms(1000);
    assert_eq!(sack_times(&pair, zero), [20]);
    // One packet alone waits for 200 ms.
    pair.send(End::A, 0, false, 100);
    pair.run_ms(1000);
    assert_eq!(sack_times(&pair, zero)[1..], [1220]);
    // The second packet makes the SACK due.
    pair.send(End::A, 0, false, 100);
    pair.run_ms(50);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(950);
    assert_eq!(sack_times(&pair, zero)[2..], [2070]);
}

#[test]
fn section_6_2_second_packet_not_second_chunk() {
    let (mut pair, zero) = pair();
    pair.send(End::A, 0, false, 100);
    pair.run_ms(1000);
    let before = pair.sacks(End::B).len();
    // Two chunks in one packet.
    let now = pair.now;
    for _ in 0..2 {
        let payload = Payload::Sized(100);
        pair.a
            .send(
                now,
                Message {
                    stream: 0,
                    ppid: 0,
                    unordered: false,
                    payload,
                    ..Message::default()
                },
            )
            .unwrap();
    }
    pair.drain();
    pair.run_ms(1000);
    assert_eq!(
        names(&pair.log.iter().rfind(|(_, _, p)| has_data(p)).unwrap().2),
        "DATA + DATA"
    );
    assert_eq!(sack_times(&pair, zero)[before..], [1220]);
}

#[test]
fn section_6_2_sack_every_and_delay_are_knobs() {
    let delay = Duration::from_millis(50);
    let mut pair = Pair::established(Config {
        sack_every: 3,
        sack_delay: delay,
        ..Config::default()
    });
    let zero = ms(pair.now);
    for _ in 0..6 {
        pair.send(End::A, 0, false, 100);
        pair.run_ms(10);
    }
    pair.run_ms(500);
    // The first, the third after it, and the rest by the timer: 50 ms after 60.
    assert_eq!(sack_times(&pair, zero), [20, 50, 110]);
}

#[test]
fn section_6_7_gaps_are_reported_at_once_until_closed() {
    let (mut pair, zero) = pair();
    pair.wire = losing(|end, n, _| end == End::A && n == 1);
    pair.send_spaced(End::A, 5, 100);
    pair.run_ms(18);
    // Packets 0, 2, 3, 4 arrive at 20, 40, 50, 60 ms: each is acknowledged.
    assert_eq!(sack_times(&pair, zero), [20, 40, 50, 60]);
    let (_, sack) = pair.sacks(End::B).pop().unwrap();
    assert_eq!(sack.gaps[..], [GapBlock { start: 2, end: 4 }]);
    assert_eq!(sack.a_rwnd, 256 * 1024 - 300);
    assert_eq!(pair.b.held_bytes(), 300);
    pair.run_ms(1000);
    // The retransmission closes the gap and is acknowledged at once, too.
    let (_, sack) = pair.sacks(End::B).pop().unwrap();
    assert!(sack.gaps.is_empty());
    assert_eq!((pair.b.held_bytes(), pair.received(End::B).len()), (0, 5));
}

#[test]
fn section_6_2_duplicates_are_reported_at_once() {
    let (mut pair, zero) = pair();
    pair.wire = Box::new(|end, n, _| {
        let copy = Duration::from_millis(5);
        if end == End::A && n == 1 {
            vec![common::DELAY, common::DELAY + copy]
        } else {
            vec![common::DELAY]
        }
    });
    pair.send_spaced(End::A, 2, 100);
    pair.run_ms(500);
    let tsn = pair.data(End::A)[1].1.tsn;
    assert_eq!(sack_times(&pair, zero), [20, 35]);
    assert_eq!(pair.sacks(End::B)[1].1.duplicates[..], [tsn]);
    assert_eq!(pair.b.stats().duplicates_received, 1);
    assert_eq!(pair.a.stats().duplicates_reported, 1);
    assert_eq!(pair.received(End::B).len(), 2);
}

#[test]
fn section_6_1_a_waiting_sack_travels_with_data() {
    for (bundling, expected) in [
        (SackBundling::Always, "SACK + DATA"),
        (SackBundling::WhileUnread, "DATA"),
    ] {
        let config = Config {
            sack_bundling: bundling,
            ..Config::default()
        };
        let mut pair = Pair::established(config);
        pair.send(End::A, 0, false, 100);
        pair.run_ms(500);
        pair.send(End::A, 0, false, 100);
        pair.run_ms(30);
        pair.send(End::B, 0, false, 100);
        assert_eq!(names(&pair.log.last().unwrap().2), expected);
    }
}

#[test]
fn section_3_3_1_the_i_bit_asks_for_a_sack_at_once() {
    let (mut pair, _) = pair();
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    let mut packet = pair.log[0].2.clone();
    let Chunk::Data(data) = &mut packet.chunks[0] else {
        panic!()
    };
    data.tsn = data.tsn.next();
    data.ssn = data.ssn.next();
    data.immediate = true;
    let before = pair.sacks(End::B).len();
    pair.inject(End::A, packet);
    assert_eq!(pair.sacks(End::B).len(), before + 1);
}

#[test]
fn section_6_6_order_holds_within_a_stream_only() {
    let (mut pair, _) = pair();
    pair.wire = losing(|end, n, _| end == End::A && n == 0);
    for (stream, unordered) in [(1, false), (1, false), (2, false), (1, true), (2, false)] {
        pair.send(End::A, stream, unordered, 100);
    }
    pair.run_ms(25);
    let arrived: Vec<(u16, bool)> = pair
        .received(End::B)
        .iter()
        .map(|m| (m.stream, m.unordered))
        .collect();
    assert_eq!(arrived, [(2, false), (1, true), (2, false)]);
    assert_eq!(pair.b.held_bytes(), 100);
    pair.run_ms(2000);
    let stream_1: Vec<Ssn> = pair
        .received(End::B)
        .iter()
        .filter(|m| m.stream == 1 && !m.unordered)
        .map(|m| m.ssn)
        .collect();
    assert_eq!(stream_1, [Ssn(0), Ssn(1)]);
    let last = pair.received(End::B).pop().unwrap();
    assert!(
        last.complete_at < pair.events.last().unwrap().0,
        "it waited for the one before"
    );
}

#[test]
fn section_6_9_long_messages_are_cut_and_put_together() {
    let (mut pair, _) = pair();
    let bytes: Vec<u8> = (0..10_000u32).map(|i| (i * i) as u8).collect();
    let now = pair.now;
    let payload = Payload::from(bytes.clone());
    pair.a
        .send(
            now,
            Message {
                stream: 3,
                ppid: 77,
                unordered: false,
                payload,
                ..Message::default()
            },
        )
        .unwrap();
    pair.drain();
    pair.run_ms(2000);
    let sent = pair.data(End::A);
    let lengths: Vec<usize> = sent.iter().map(|(_, d)| d.payload.len()).collect();
    assert_eq!(lengths, [1452, 1452, 1452, 1452, 1452, 1452, 1288]);
    let flags: Vec<(bool, bool)> = sent.iter().map(|(_, d)| (d.begin, d.end)).collect();
    assert_eq!(
        (flags[0], flags[1], flags[6]),
        ((true, false), (false, false), (false, true))
    );
    assert!(pair.log.iter().all(|(_, _, p)| p.size_bytes() + 20 <= 1500));
    let message = pair.received(End::B).pop().unwrap();
    assert_eq!(message.payload.as_bytes(), Some(&bytes[..]));
    assert_eq!((message.ppid, message.stream), (77, 3));
    assert_eq!(
        (message.first_tsn, message.last_tsn),
        (sent[0].1.tsn, sent[6].1.tsn)
    );
}

#[test]
fn sequence_numbers_wrap() {
    let config = Config {
        initial_tsn: Some(Tsn(u32::MAX - 2)),
        ..Config::default()
    };
    let mut pair = Pair::established(config);
    pair.wire = losing(|end, n, _| end == End::A && n % 7 == 3);
    pair.send_spaced(End::A, 40, 100);
    pair.run_ms(20_000);
    assert_eq!(pair.received(End::B).len(), 40);
    let tsns: Vec<u32> = pair
        .received(End::B)
        .iter()
        .map(|m| m.first_tsn.0)
        .collect();
    assert_eq!(tsns[..5], [u32::MAX - 2, u32::MAX - 1, u32::MAX, 0, 1]);
}

#[test]
fn section_6_5_a_stream_that_does_not_exist_is_reported() {
    let (mut pair, _) = pair();
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    let mut packet = pair.log[0].2.clone();
    let Chunk::Data(data) = &mut packet.chunks[0] else {
        panic!()
    };
    data.tsn = data.tsn.next();
    data.stream = 64;
    let tsn = data.tsn;
    pair.inject(End::A, packet);
    pair.run_ms(300);
    let error = pair
        .log
        .iter()
        .find(|(_, _, p)| names(p).contains("ERROR"))
        .unwrap();
    let Chunk::Error(causes) = &error.2.chunks[0] else {
        panic!()
    };
    assert_eq!(
        (causes[0].code, &causes[0].information[..]),
        (1, &[0, 64, 0, 0][..])
    );
    // It is acknowledged all the same, and not delivered.
    let sacked = pair
        .sacks(End::B)
        .iter()
        .any(|(_, sack)| sack.cumulative_tsn == tsn);
    assert!(sacked && pair.received(End::B).len() == 1);
}

#[test]
fn section_6_2_empty_data_aborts() {
    let (mut pair, _) = pair();
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    let mut packet = pair.log[0].2.clone();
    let Chunk::Data(data) = &mut packet.chunks[0] else {
        panic!()
    };
    data.payload = Payload::Sized(0);
    pair.inject(End::A, packet);
    let lost = Event::ConnectionLost {
        reason: LostReason::ProtocolViolation,
    };
    assert!(pair.has_event(End::B, &lost));
    pair.run_ms(100);
    assert!(pair.events.iter().any(|(_, end, event)| *end == End::A
        && matches!(event, Event::Aborted { causes } if causes[0].code == 9)));
}

#[test]
fn send_refuses_what_cannot_go() {
    let config = Config {
        send_buffer_bytes: 1000,
        ..Config::default()
    };
    let mut pair = Pair::established(config);
    let now = pair.now;
    let mut send = |stream, bytes| {
        let payload = Payload::Sized(bytes);
        pair.a.send(
            now,
            Message {
                stream,
                ppid: 0,
                unordered: false,
                payload,
                ..Message::default()
            },
        )
    };
    assert_eq!(send(0, 0), Err(SendError::Empty));
    assert_eq!(send(64, 1), Err(SendError::InvalidStream));
    assert_eq!(send(0, 1001), Err(SendError::TooLong));
    assert!(send(0, 600).is_ok());
    assert_eq!(send(0, 600), Err(SendError::BufferFull));
    pair.drain();
    pair.run_ms(500);
    assert_eq!(pair.a.buffered_bytes(), 0);
    assert!(
        pair.a
            .send(
                pair.now,
                Message {
                    stream: 0,
                    ppid: 0,
                    unordered: false,
                    payload: Payload::Sized(600),
                    ..Message::default()
                }
            )
            .is_ok()
    );
}

/// B does not read: its window closes.
fn closed_window() -> Pair {
    let a = Config::default();
    let b = Config {
        receive_buffer_bytes: 3000,
        ..Config::default()
    };
    let mut pair = Pair::new(a, b);
    pair.run_ms(1000);
    pair
}

/// Runs for a while without taking events out of B.
fn run_unread(pair: &mut Pair, from: &mut Vec<(Time, Packet)>, until: Time) {
    // A works with B through its own queue here, because `Pair` reads events.
    loop {
        let packet = from.iter().map(|(at, _)| *at).min();
        let timers = [pair.a.poll_timeout(), pair.b.poll_timeout()]
            .into_iter()
            .flatten()
            .min();
        let Some(next) = packet
            .into_iter()
            .chain(timers)
            .min()
            .filter(|&next| next <= until)
        else {
            break;
        };
        pair.now = next;
        if let Some(at) = from.iter().position(|(at, _)| *at == next) {
            let (_, packet) = from.remove(at);
            if packet.destination_port == 2000 {
                pair.b.handle_input(next, packet);
            } else {
                pair.a.handle_input(next, packet);
            }
        } else {
            pair.a.handle_timeout(next);
            pair.b.handle_timeout(next);
        }
        collect(pair, from);
    }
    pair.now = until;
}

fn collect(pair: &mut Pair, flying: &mut Vec<(Time, Packet)>) {
    let now = pair.now;
    while let Some(packet) = pair.a.poll_transmit(now) {
        pair.log.push((now, End::A, packet.clone()));
        flying.push((now + common::DELAY, packet));
    }
    while let Some(packet) = pair.b.poll_transmit(now) {
        pair.log.push((now, End::B, packet.clone()));
        flying.push((now + common::DELAY, packet));
    }
}

#[test]
fn section_6_1_rule_a_a_closed_window_is_probed() {
    let mut pair = closed_window();
    pair.log.clear();
    let mut flying = Vec::new();
    let now = pair.now;
    for _ in 0..10 {
        let payload = Payload::Sized(500);
        pair.a
            .send(
                now,
                Message {
                    stream: 0,
                    ppid: 0,
                    unordered: false,
                    payload,
                    ..Message::default()
                },
            )
            .unwrap();
    }
    collect(&mut pair, &mut flying);
    let end = pair.now + Duration::from_secs(100);
    run_unread(&mut pair, &mut flying, end);
    // Six messages fill the buffer; the seventh goes as a probe, again and again,
    // and the peer's answers keep the association alive.
    assert_eq!(pair.b.unread_bytes(), 3000);
    let last = pair.sacks(End::B).pop().unwrap().1;
    assert_eq!(last.a_rwnd, 0);
    let probes: Vec<u64> = pair.data(End::A)[6..]
        .iter()
        .map(|(t, _)| ms(*t) / 1000)
        .collect();
    assert!(probes.len() > 4, "{probes:?}");
    let gaps: Vec<u64> = probes.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.is_sorted(), "intervals grow: {gaps:?}");
    assert_eq!(pair.a.stats().window_probes, 1);
    assert!(pair.b.stats().data_chunks_dropped >= 4);
    assert!(pair.a.cwnd_bytes() >= 4404, "probing leaves cwnd alone");
    // B reads: the window opens with a SACK of its own, and all arrives.
    let opened_at = pair.now;
    pair.drain();
    assert_eq!(
        pair.sacks(End::B).pop().unwrap(),
        (
            opened_at,
            headway_sctp::Sack {
                a_rwnd: 3000,
                ..last
            }
        )
    );
    // The probe was thrown away: it goes again at once, not after its timer.
    pair.run_ms(1_000);
    assert_eq!(pair.received(End::B).len(), 10);
}

#[test]
fn a_message_longer_than_the_receive_buffer_gets_through() {
    let mut pair = closed_window();
    pair.send(End::A, 0, false, 5000);
    pair.run_ms(200_000);
    assert_eq!(pair.received(End::B).len(), 1);
}
