//! RFC 9260, section 5: setting an association up.

mod common;

use common::{End, Pair, has_data, losing, names, perfect};
use headway_sansio::{Duration, Time};
use headway_sctp::{AssociationState, Chunk, Config, Event, LostReason};

#[test]
fn section_5_1_four_way_handshake() {
    let mut pair = Pair::new(Config::default(), Config::default());
    pair.run_ms(1000);
    assert_eq!(
        pair.story(),
        ["A: INIT", "B: INIT ACK", "A: COOKIE ECHO", "B: COOKIE ACK"]
    );
    for end in [End::A, End::B] {
        let connected = Event::Connected {
            outbound_streams: 64,
            inbound_streams: 64,
        };
        assert!(pair.has_event(end, &connected));
    }
    // INIT goes with tag zero, INIT ACK with the tag of the INIT.
    let tags: Vec<u32> = pair
        .log
        .iter()
        .map(|(_, _, p)| p.verification_tag)
        .collect();
    let Chunk::Init(init) = &pair.log[0].2.chunks[0] else {
        panic!()
    };
    let Chunk::InitAck(ack) = &pair.log[1].2.chunks[0] else {
        panic!()
    };
    let expected = [0, init.initiate_tag, ack.initiate_tag, init.initiate_tag];
    assert_eq!(tags, expected);
    assert_eq!(pair.a.srtt(), Some(Duration::from_millis(40)));
}

#[test]
fn section_5_1_1_streams_are_the_lesser_of_both() {
    let a = Config {
        outbound_streams: 10,
        inbound_streams: 3,
        ..Config::default()
    };
    let b = Config {
        outbound_streams: 5,
        inbound_streams: 7,
        ..Config::default()
    };
    let mut pair = Pair::new(a, b);
    pair.run_ms(1000);
    let at_a = Event::Connected {
        outbound_streams: 7,
        inbound_streams: 3,
    };
    let at_b = Event::Connected {
        outbound_streams: 3,
        inbound_streams: 7,
    };
    assert!(pair.has_event(End::A, &at_a) && pair.has_event(End::B, &at_b));
}

#[test]
fn section_5_1_init_and_cookie_echo_are_repeated_with_doubling() {
    let wire = losing(|end, n, _| end == End::A && n < 3 || end == End::B && n == 1);
    let mut pair = Pair::with_wire(Config::default(), Config::default(), wire);
    pair.run_ms(60_000);
    assert_eq!(pair.a.state(), AssociationState::Established);
    let inits: Vec<u64> = pair
        .log
        .iter()
        .filter(|(_, _, p)| names(p) == "INIT")
        .map(|(t, _, _)| t.as_nanos() / 1_000_000)
        .collect();
    assert_eq!(inits, [0, 1000, 3000, 7000]);
    let echoes = pair
        .log
        .iter()
        .filter(|(_, _, p)| names(p) == "COOKIE ECHO")
        .count();
    assert_eq!(echoes, 2);
}

#[test]
fn section_5_1_4_gives_up_after_max_init_retransmits() {
    let config = Config {
        init_max_retransmits: 3,
        ..Config::default()
    };
    let mut pair = Pair::with_wire(config.clone(), config, losing(|_, _, _| true));
    pair.run_ms(100_000);
    assert_eq!(pair.story().len(), 4);
    let lost = Event::ConnectionLost {
        reason: LostReason::HandshakeTimeout,
    };
    assert!(pair.has_event(End::A, &lost));
    assert_eq!(pair.a.state(), AssociationState::Closed);
    assert_eq!(pair.a.poll_timeout(), None);
}

#[test]
fn section_5_1_3_inits_leave_no_state() {
    let mut pair = Pair::with_wire(Config::default(), Config::default(), losing(|_, _, _| true));
    let init = pair.log[0].2.clone();
    for _ in 0..100 {
        pair.inject(End::A, init.clone());
    }
    assert_eq!(pair.b.state(), AssociationState::Listen);
    assert_eq!(pair.b.poll_timeout(), None);
    assert_eq!(
        pair.log
            .iter()
            .filter(|(_, _, p)| names(p) == "INIT ACK")
            .count(),
        100
    );
}

#[test]
fn section_5_1_5_a_changed_cookie_is_discarded_silently() {
    let wire = losing(|_, _, p| names(p) == "COOKIE ECHO");
    let mut pair = Pair::with_wire(Config::default(), Config::default(), wire);
    pair.run_ms(100);
    let mut forged = pair.log.last().unwrap().2.clone();
    let Chunk::CookieEcho(cookie) = &mut forged.chunks[0] else {
        panic!()
    };
    let mut bytes = cookie.to_vec();
    bytes[20] ^= 1;
    *cookie = bytes.into();
    let before = pair.log.len();
    pair.inject(End::A, forged);
    assert_eq!(
        (pair.log.len(), pair.b.state()),
        (before, AssociationState::Listen)
    );
}

#[test]
fn section_5_2_6_a_stale_cookie_starts_the_handshake_again() {
    let config = Config {
        cookie_lifetime: Duration::from_millis(500),
        ..Config::default()
    };
    // The first COOKIE ECHO takes a second.
    let mut slow = true;
    let wire = Box::new(move |_: End, _: usize, p: &headway_sctp::Packet| {
        let late = slow && names(p) == "COOKIE ECHO";
        slow &= !late;
        vec![Duration::from_millis(if late { 900 } else { 20 })]
    });
    let mut pair = Pair::with_wire(config.clone(), config, wire);
    pair.run_ms(950);
    assert_eq!(pair.b.state(), AssociationState::Listen);
    pair.run_ms(10_000);
    assert!(
        pair.story().contains(&"B: ERROR".to_owned()),
        "{:?}",
        pair.story()
    );
    assert_eq!(pair.a.state(), AssociationState::Established);
    assert_eq!(pair.b.state(), AssociationState::Established);
}

#[test]
fn section_5_2_6_data_that_went_with_a_stale_cookie_goes_again() {
    let config = Config {
        cookie_lifetime: Duration::from_millis(500),
        ..Config::default()
    };
    // T1 and T3-rtx expire, and what they send again comes too late.
    let mut first = true;
    let wire = Box::new(move |_: End, _: usize, p: &headway_sctp::Packet| {
        let lost = first && names(p).starts_with("COOKIE ECHO");
        first &= !lost;
        if lost {
            vec![]
        } else {
            vec![Duration::from_millis(20)]
        }
    });
    let mut pair = Pair::with_wire(config.clone(), config, wire);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(20_000);
    assert!(
        pair.story().contains(&"B: ERROR".to_owned()),
        "{:?}",
        pair.story()
    );
    assert_eq!(pair.received(End::B).len(), 1, "{:?}", pair.story());
}

#[test]
fn section_5_2_4_action_d_a_lost_cookie_ack_is_sent_again() {
    let wire = losing(|_, n, p| n == 1 && names(p) == "COOKIE ACK");
    let mut pair = Pair::with_wire(Config::default(), Config::default(), wire);
    pair.run_ms(10_000);
    assert_eq!(pair.a.state(), AssociationState::Established);
    let connected = pair
        .events
        .iter()
        .filter(|(_, _, e)| matches!(e, Event::Connected { .. }));
    assert_eq!(connected.count(), 2, "each side is told once");
}

#[test]
fn section_5_2_4_action_a_a_peer_that_lost_its_state_begins_anew() {
    let mut pair = Pair::established(Config::default());
    pair.send(End::B, 0, false, 100);
    pair.run_ms(500);
    let now = pair.now;
    let seed = common::seed();
    let config = std::sync::Arc::new(Config::default());
    pair.a = headway_sctp::Association::connect(now, config, seed.stream("again"), 1000, 2000);
    pair.drain();
    pair.run_ms(500);
    assert_eq!(pair.a.state(), AssociationState::Established);
    assert!(pair.has_event(End::B, &Event::Restarted));
    pair.send(End::A, 0, false, 100);
    pair.send(End::B, 0, false, 100);
    pair.run_ms(500);
    assert_eq!(
        (pair.received(End::A).len(), pair.received(End::B).len()),
        (2, 1)
    );
}

#[test]
fn section_5_2_1_both_sides_connect_at_once() {
    let mut pair = Pair::new(Config::default(), Config::default());
    let config = std::sync::Arc::new(Config::default());
    pair.b = headway_sctp::Association::connect(
        Time::ZERO,
        config,
        common::seed().stream("b"),
        2000,
        1000,
    );
    pair.drain();
    pair.run_ms(5_000);
    for end in [End::A, End::B] {
        assert_eq!(pair.end(end).state(), AssociationState::Established);
        pair.send(end, 0, false, 100);
        pair.send(end, 0, false, 100);
    }
    pair.run_ms(1_000);
    assert_eq!(
        (pair.received(End::A).len(), pair.received(End::B).len()),
        (2, 2)
    );
}

#[test]
fn messages_wait_for_the_association() {
    let mut pair = Pair::with_wire(Config::default(), Config::default(), perfect());
    for _ in 0..3 {
        pair.send(End::A, 5, false, 300);
        pair.send(End::B, 6, true, 300);
    }
    assert!(!pair.log.iter().any(|(_, _, p)| has_data(p)));
    pair.run_ms(1_000);
    assert_eq!(
        (pair.received(End::A).len(), pair.received(End::B).len()),
        (3, 3)
    );
    // COOKIE ECHO and COOKIE ACK lead their packets, and DATA may follow in them
    // (sections 5.1.4 and 5.1.5, steps 6 and 7).
    let expected = [
        "A: INIT",
        "B: INIT ACK",
        "A: COOKIE ECHO + DATA + DATA + DATA",
        "B: COOKIE ACK + SACK + DATA + DATA + DATA",
        "A: SACK",
    ];
    assert_eq!(pair.story(), expected);
}

#[test]
fn section_8_5_packets_with_a_wrong_tag_are_discarded() {
    let mut pair = Pair::established(Config::default());
    pair.send(End::A, 0, false, 100);
    let mut packet = pair.log[0].2.clone();
    packet.verification_tag ^= 1;
    let discarded = pair.b.stats().packets_discarded;
    pair.inject(End::A, packet.clone());
    packet.chunks = [Chunk::Abort {
        reflected_tag: false,
        causes: vec![],
    }]
    .into_iter()
    .collect();
    pair.inject(End::A, packet.clone());
    packet.chunks[0] = Chunk::Abort {
        reflected_tag: true,
        causes: vec![],
    };
    pair.inject(End::A, packet);
    assert_eq!(pair.b.stats().packets_discarded, discarded + 3);
    assert_eq!(pair.b.state(), AssociationState::Established);
    assert!(pair.received(End::B).is_empty());
}
