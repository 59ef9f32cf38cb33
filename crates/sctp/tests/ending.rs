//! RFC 9260, sections 8 and 9: watching the peer, and the end.

mod common;

use common::{End, Pair, losing, names};
use headway_sansio::{Duration, Time};
use headway_sctp::{
    AssociationState, Chunk, Config, Event, LostReason, Message, Packet, SendError, Tsn,
};

fn shutdown(pair: &mut Pair, end: End) {
    let now = pair.now;
    pair.end(end).shutdown(now);
    pair.drain();
}

#[test]
fn section_9_2_graceful_shutdown() {
    let mut pair = Pair::established(Config::default());
    shutdown(&mut pair, End::A);
    assert_eq!(pair.a.state(), AssociationState::ShutdownSent);
    pair.run_ms(1000);
    assert_eq!(
        pair.story(),
        ["A: SHUTDOWN", "B: SHUTDOWN ACK", "A: SHUTDOWN COMPLETE"]
    );
    for end in [End::A, End::B] {
        assert!(pair.has_event(end, &Event::ShutdownComplete));
        assert_eq!(pair.end(end).state(), AssociationState::Closed);
        assert_eq!(pair.end(end).poll_timeout(), None);
    }
    assert!(pair.has_event(End::B, &Event::PeerShutdown));
}

#[test]
fn section_9_2_outstanding_messages_come_first() {
    let mut pair = Pair::established(Config::default());
    pair.wire = losing(|end, n, _| end == End::A && n == 0);
    for _ in 0..20 {
        pair.send(End::A, 0, false, 1000);
        pair.send(End::B, 0, false, 1000);
    }
    shutdown(&mut pair, End::A);
    assert_eq!(pair.a.state(), AssociationState::ShutdownPending);
    let payload = headway_sansio::Payload::Sized(1);
    let message = Message {
        stream: 0,
        ppid: 0,
        unordered: false,
        payload,
        ..Message::default()
    };
    assert_eq!(pair.a.send(pair.now, message), Err(SendError::Closing));
    pair.run_ms(60_000);
    assert_eq!(
        (pair.received(End::A).len(), pair.received(End::B).len()),
        (20, 20)
    );
    assert!(pair.has_event(End::A, &Event::ShutdownComplete));
    assert!(pair.has_event(End::B, &Event::ShutdownComplete));
}

#[test]
fn section_9_2_a_shutdown_acknowledges_data() {
    // All of A's SACKs are lost, but its SHUTDOWN acknowledges B's messages.
    let mut pair = Pair::established(Config::default());
    pair.wire = losing(|end, _, packet| {
        end == End::A
            && packet
                .chunks
                .iter()
                .all(|chunk| matches!(chunk, Chunk::Sack(_)))
    });
    pair.send(End::B, 0, false, 100);
    pair.run_ms(100);
    assert!(pair.b.flight_bytes() > 0);
    shutdown(&mut pair, End::A);
    pair.run_ms(100);
    assert!(pair.has_event(End::B, &Event::ShutdownComplete));
    assert_eq!(pair.b.stats().timeouts, 0);
}

#[test]
fn section_9_2_data_in_shutdown_sent_is_answered_with_shutdown() {
    let mut pair = Pair::established(Config::default());
    for _ in 0..12 {
        pair.send(End::B, 0, false, 1400);
    }
    shutdown(&mut pair, End::A);
    pair.run_ms(2_000);
    let story = pair.story();
    assert!(
        story.iter().filter(|line| *line == "A: SHUTDOWN").count() > 3,
        "{story:?}"
    );
    assert_eq!(pair.received(End::A).len(), 12);
    assert!(pair.has_event(End::A, &Event::ShutdownComplete));
}

#[test]
fn section_9_2_both_sides_at_once() {
    let mut pair = Pair::established(Config::default());
    shutdown(&mut pair, End::A);
    shutdown(&mut pair, End::B);
    pair.run_ms(5_000);
    for end in [End::A, End::B] {
        assert!(pair.has_event(end, &Event::ShutdownComplete));
    }
}

#[test]
fn section_9_2_each_packet_of_the_exchange_may_be_lost() {
    for lost in ["SHUTDOWN", "SHUTDOWN ACK", "SHUTDOWN COMPLETE"] {
        let mut pair = Pair::established(Config::default());
        let mut first = true;
        pair.wire = losing(move |_, _, packet| {
            let hit = first && names(packet) == lost;
            first &= !hit;
            hit
        });
        shutdown(&mut pair, End::A);
        pair.run_ms(10_000);
        for end in [End::A, End::B] {
            assert!(
                pair.has_event(end, &Event::ShutdownComplete),
                "{lost} lost, {end:?}"
            );
        }
    }
}

#[test]
fn section_9_2_an_unanswered_shutdown_ends_too() {
    let config = Config {
        association_max_retransmits: 3,
        ..Config::default()
    };
    let mut pair = Pair::established(config);
    pair.wire = losing(|_, _, _| true);
    shutdown(&mut pair, End::A);
    pair.run_ms(100_000);
    let shutdowns = pair
        .story()
        .iter()
        .filter(|line| *line == "A: SHUTDOWN")
        .count();
    assert_eq!(shutdowns, 4);
    let lost = Event::ConnectionLost {
        reason: LostReason::PeerUnreachable,
    };
    assert!(pair.has_event(End::A, &lost));
}

#[test]
fn section_9_2_the_guard_timer_bounds_the_whole() {
    let config = Config {
        shutdown_guard: Duration::from_secs(5),
        ..Config::default()
    };
    let mut pair = Pair::established(config);
    pair.wire = losing(|_, _, _| true);
    shutdown(&mut pair, End::A);
    pair.run_ms(5_500);
    let lost = Event::ConnectionLost {
        reason: LostReason::ShutdownTimeout,
    };
    assert!(pair.has_event(End::A, &lost));
    assert_eq!(names(&pair.log.last().unwrap().2), "ABORT");
}

#[test]
fn section_9_1_abort() {
    let mut pair = Pair::established(Config::default());
    let now = pair.now;
    pair.b.abort(now);
    pair.drain();
    pair.run_ms(100);
    let lost = Event::ConnectionLost {
        reason: LostReason::UserAbort,
    };
    assert!(pair.has_event(End::B, &lost));
    let aborted =
        |event: &Event| matches!(event, Event::Aborted { causes } if causes[0].code == 12);
    assert!(
        pair.events
            .iter()
            .any(|(_, end, event)| *end == End::A && aborted(event))
    );
    assert_eq!(pair.story(), ["B: ABORT"]);
}

#[test]
fn section_8_4_packets_without_an_association() {
    let mut pair = Pair::established(Config::default());
    pair.send(End::A, 0, false, 100);
    let data = pair.log[0].2.clone();
    let now = pair.now;
    pair.b.abort(now);
    pair.drain();
    pair.log.clear();
    let with = |chunk: Chunk| Packet {
        chunks: [chunk].into_iter().collect(),
        ..data.clone()
    };
    let mut answer = |packet: Packet| {
        let before = pair.log.len();
        let tag = packet.verification_tag;
        pair.inject(End::A, packet);
        pair.log
            .get(before)
            .map(|(_, _, p)| (p.chunks[0].clone(), p.verification_tag == tag))
    };
    let abort = Chunk::Abort {
        reflected_tag: true,
        causes: vec![],
    };
    assert_eq!(answer(data.clone()), Some((abort.clone(), true)));
    let complete = Chunk::ShutdownComplete {
        reflected_tag: true,
    };
    assert_eq!(
        answer(with(Chunk::ShutdownAck)),
        Some((complete.clone(), true))
    );
    assert_eq!(answer(with(abort)), None);
    assert_eq!(answer(with(complete)), None);
    assert_eq!(answer(with(Chunk::CookieAck)), None);
    let shutdown = Chunk::Shutdown {
        cumulative_tsn: Tsn(1),
    };
    assert!(answer(with(shutdown)).is_some());
}

#[test]
fn section_8_3_idle_paths_are_probed() {
    let mut pair = Pair::established(Config::default());
    pair.run_ms(200_000);
    // 30 s and an RTO of 1 s, spread by half: six or seven in 200 s, each way.
    for end in [End::A, End::B] {
        let sent = pair.end(end).stats().heartbeats_sent;
        assert!((6..=7).contains(&sent), "{sent}");
    }
    assert!(pair.story().contains(&"B: HEARTBEAT ACK".to_owned()));
    assert_eq!(
        pair.b.srtt(),
        Some(Duration::from_millis(40)),
        "heartbeats measure"
    );
}

#[test]
fn section_8_3_traffic_makes_heartbeats_needless_and_zero_turns_them_off() {
    let mut pair = Pair::established(Config::default());
    for _ in 0..100 {
        pair.send(End::A, 0, false, 100);
        pair.run_ms(1000);
    }
    assert_eq!(pair.a.stats().heartbeats_sent, 0);
    let config = Config {
        heartbeat_interval: Duration::ZERO,
        ..Config::default()
    };
    let mut pair = Pair::established(config);
    pair.run_ms(500_000);
    assert_eq!(pair.story(), [""; 0]);
}

#[test]
fn section_8_2_a_silent_peer_is_noticed() {
    let config = Config {
        association_max_retransmits: 8,
        ..Config::default()
    };
    let mut pair = Pair::established(config);
    pair.wire = losing(|end, _, _| end == End::A);
    pair.run_ms(10_000_000);
    let times = |wanted: &Event| -> Option<Time> {
        pair.events
            .iter()
            .find(|(_, end, e)| *end == End::A && e == wanted)
            .map(|(t, ..)| *t)
    };
    let inactive = times(&Event::PathInactive { path: 0 }).unwrap();
    let lost = times(&Event::ConnectionLost {
        reason: LostReason::PeerUnreachable,
    })
    .unwrap();
    assert!(inactive < lost);
    assert_eq!(pair.a.stats().heartbeats_sent, 9);
}

#[test]
fn section_8_2_a_path_that_answers_again_is_active_again() {
    let mut pair = Pair::established(Config::default());
    pair.wire = losing(|_, n, _| n < 7);
    pair.run_ms(3_000_000);
    assert!(pair.has_event(End::A, &Event::PathInactive { path: 0 }));
    assert!(pair.has_event(End::A, &Event::PathActive { path: 0 }));
    assert_eq!(pair.a.state(), AssociationState::Established);
}

#[test]
fn section_3_2_unknown_chunks_go_by_their_high_bits() {
    let mut pair = Pair::established(Config::default());
    pair.send(End::A, 0, false, 100);
    let data = pair.log[0].2.clone();
    pair.run_ms(100);
    pair.log.clear();
    for (kind, reported, goes_on) in [
        (0x3f, false, false),
        (0x7f, true, false),
        (0xbf, false, true),
        (0xff, true, true),
    ] {
        let duplicates = pair.b.stats().duplicates_received;
        let mut packet = data.clone();
        let value = bytes::Bytes::from_static(&[1, 2, 3]);
        packet.chunks.insert(
            0,
            Chunk::Unknown {
                kind,
                flags: 0,
                value,
            },
        );
        let before = pair.log.len();
        pair.inject(End::A, packet);
        let answers: Vec<&Packet> = pair.log[before..].iter().map(|(_, _, p)| p).collect();
        let errors = answers
            .iter()
            .flat_map(|p| &p.chunks)
            .filter_map(|chunk| match chunk {
                Chunk::Error(causes) => Some((causes[0].code, causes[0].information.clone())),
                _ => None,
            });
        let errors: Vec<_> = errors.collect();
        let expected = reported.then(|| (6, bytes::Bytes::from(vec![kind, 0, 0, 7, 1, 2, 3, 0])));
        assert_eq!(errors, expected.into_iter().collect::<Vec<_>>());
        assert_eq!(
            pair.b.stats().duplicates_received - duplicates,
            u64::from(goes_on)
        );
    }
}

#[test]
fn section_9_2_a_shutdown_with_a_stray_number_is_answered() {
    // Everything is acknowledged, and the peer's SHUTDOWN acknowledges a number
    // far below all that was ever sent, as pion 1.11 does.
    let mut pair = Pair::established(Config::default());
    pair.send(End::B, 0, false, 100);
    pair.run_ms(1000);
    assert_eq!(pair.b.flight_bytes(), 0);
    let is_shutdown = |chunk: &Chunk| matches!(chunk, Chunk::Shutdown { .. });
    pair.wire = losing(move |_, _, packet| packet.chunks.iter().any(is_shutdown));
    shutdown(&mut pair, End::A);
    let (_, _, mut stray) = pair.log.pop().unwrap();
    for chunk in &mut stray.chunks {
        if let Chunk::Shutdown { cumulative_tsn } = chunk {
            *cumulative_tsn = Tsn(cumulative_tsn.0.wrapping_sub(100_000_000));
        }
    }
    let now = pair.now;
    pair.b.handle_input(now, stray);
    pair.drain();
    pair.run_ms(1000);
    assert!(pair.has_event(End::A, &Event::ShutdownComplete));
    assert!(pair.has_event(End::B, &Event::ShutdownComplete));
}
