//! Sections 3.3.2, 3.3.3, 5.1, 5.3 and 5.4: how an association comes into being.

use bytes::Bytes;
use headway_sctp::{
    AssociationState, Cause, Chunk, Config, Event, Init, LostReason, Packet, Parameter, Tsn,
};

use crate::rig::{OWN, PORTS, Rig, TAG, TSN, address, config, cookie, data};

fn ack_with(rig: &Rig, change: impl FnOnce(&mut Init)) -> Chunk {
    let mut init = rig.peer_init();
    init.parameters.push(cookie());
    change(&mut init);
    Chunk::InitAck(Box::new(init))
}

fn init_with(rig: &Rig, change: impl FnOnce(&mut Init)) -> Chunk {
    let mut init = rig.peer_init();
    change(&mut init);
    Chunk::Init(Box::new(init))
}

fn parameter(kind: u16, value: &'static [u8]) -> Parameter {
    Parameter {
        kind,
        value: Bytes::from_static(value),
    }
}

/// The only chunk sent since the last look, as INIT or INIT ACK.
fn sent_init(rig: &Rig) -> Init {
    match &rig.chunks()[..] {
        [Chunk::Init(init) | Chunk::InitAck(init)] => (**init).clone(),
        other => panic!("{other:?}"),
    }
}

/// The cookie with which a listening association answers the peer's INIT, and the tag.
fn welcomed(rig: &mut Rig, init: Chunk) -> (u32, Bytes) {
    rig.sent.clear();
    rig.arrive(rig.packet(0, vec![init]));
    let ack = sent_init(rig);
    rig.sent.clear();
    (ack.initiate_tag, ack.cookie().unwrap().clone())
}

fn welcomed_plainly(rig: &mut Rig) -> (u32, Bytes) {
    let init = rig.init();
    welcomed(rig, init)
}

fn listening_with(init: impl FnOnce(&mut Init)) -> Rig {
    let mut rig = Rig::listening(config());
    let chunk = init_with(&rig, init);
    let (tag, cookie) = welcomed(&mut rig, chunk);
    rig.tag = tag;
    rig.deliver(Chunk::CookieEcho(cookie));
    rig
}

#[test]
fn section_5_1_a_init_goes_alone_with_a_tag_of_zero() {
    let rig = Rig::connecting(config());
    assert_eq!(rig.story(), ["INIT"]);
    let packet = &rig.sent[0].packet;
    assert_eq!(packet.verification_tag, 0);
    assert_eq!((packet.source_port, packet.destination_port), PORTS);
    let init = sent_init(&rig);
    assert_ne!(init.initiate_tag, 0);
    assert_eq!((init.initial_tsn, init.a_rwnd), (OWN, 256 * 1024));
    assert_eq!((init.outbound_streams, init.inbound_streams), (64, 64));
}

#[test]
fn section_5_1_b_init_ack_carries_a_cookie_and_the_peer_s_tag() {
    let mut rig = Rig::listening(config());
    rig.arrive(rig.packet(0, vec![rig.init()]));
    assert_eq!(rig.story(), ["INIT ACK"]);
    assert_eq!(rig.sent[0].packet.verification_tag, TAG);
    let ack = sent_init(&rig);
    assert!(ack.cookie().is_some() && ack.initiate_tag != 0);
    // No state is kept, and no timer runs.
    assert_eq!(rig.end.state(), AssociationState::Listen);
    assert_eq!(rig.end.poll_timeout(), None);
}

#[test]
fn section_5_1_c_the_cookie_goes_back_unchanged() {
    let mut rig = Rig::connecting(config());
    rig.sent.clear();
    rig.deliver(rig.init_ack());
    assert_eq!(rig.chunks(), [Chunk::CookieEcho(cookie().value)]);
    assert_eq!(rig.sent[0].packet.verification_tag, TAG);
}

#[test]
fn section_5_1_d_cookie_ack_comes_first() {
    let mut rig = Rig::listening(config());
    let (tag, cookie) = welcomed_plainly(&mut rig);
    rig.tag = tag;
    rig.deliver_all(vec![Chunk::CookieEcho(cookie), Chunk::Data(data(0))]);
    assert_eq!(rig.story(), ["COOKIE ACK + SACK"]);
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn section_5_1_e_cookie_ack_establishes() {
    let mut rig = Rig::cookie_echoed(config());
    rig.deliver(Chunk::CookieAck);
    assert_eq!(rig.end.state(), AssociationState::Established);
    let connected = Event::Connected {
        outbound_streams: 10,
        inbound_streams: 10,
    };
    assert!(rig.heard(&connected));
}

#[test]
fn section_5_1_data_travels_behind_the_cookie() {
    let mut rig = Rig::connecting(config());
    rig.send(100);
    assert_eq!(rig.take_story(), ["INIT"]);
    rig.deliver(rig.init_ack());
    assert_eq!(rig.story(), ["COOKIE ECHO + DATA"]);
    // Nothing else before COOKIE ACK.
    rig.send(100);
    assert_eq!(rig.story().len(), 1);
    rig.deliver(Chunk::CookieAck);
    assert_eq!(rig.tsns(), [0, 1]);
}

#[test]
fn section_5_1_1_streams_are_the_lesser_of_both() {
    for (theirs_out, theirs_in, expected) in
        [(10, 10, (10, 10)), (1, 2, (2, 1)), (999, 999, (64, 64))]
    {
        let mut rig = Rig::connecting(config());
        rig.deliver(ack_with(&rig, |init| {
            init.outbound_streams = theirs_out;
            init.inbound_streams = theirs_in;
        }));
        rig.deliver(Chunk::CookieAck);
        assert_eq!(rig.end.streams(), expected);
    }
}

#[test]
fn section_5_1_1_messages_for_streams_that_the_peer_does_not_take_are_dropped() {
    let mut rig = Rig::connecting(config());
    rig.send_on(20, 100);
    rig.send_on(3, 100);
    rig.deliver(rig.init_ack());
    rig.deliver(Chunk::CookieAck);
    assert_eq!(rig.tsns(), [0]);
    assert_eq!(rig.end.buffered_bytes(), 100);
}

#[test]
fn section_5_1_2_addresses_of_the_init_ack_are_the_peer_s() {
    let mut rig = Rig::connecting(config());
    rig.deliver(ack_with(&rig, |init| {
        init.parameters
            .extend([address(10), address(11), address(12)]);
    }));
    let remotes: Vec<u32> = (0..rig.end.path_count())
        .map(|path| rig.end.path(path).unwrap().remote.0)
        .collect();
    assert_eq!(remotes, [10, 11, 12]);
}

#[test]
fn section_5_1_2_rule_a_without_addresses_the_source_is_the_only_one() {
    let rig = Rig::established(config());
    assert_eq!(rig.end.path_count(), 1);
    assert_eq!(rig.end.path(0).unwrap().remote.0, 10);
}

#[test]
fn section_5_1_2_a_host_name_is_refused() {
    let name = || parameter(11, b"peer.example\0");
    let mut rig = Rig::listening(config());
    let init = init_with(&rig, |init| init.parameters.push(name()));
    rig.arrive(rig.packet(0, vec![init]));
    assert_eq!(rig.take_story(), ["ABORT"]);
    let mut rig = Rig::connecting(config());
    rig.sent.clear();
    rig.deliver(ack_with(&rig, |init| init.parameters.push(name())));
    assert_eq!(rig.causes(), [Cause::UNRESOLVABLE_ADDRESS]);
    assert_eq!(rig.end.state(), AssociationState::Closed);
}

#[test]
fn section_3_3_3_init_ack_without_a_cookie_is_an_error() {
    let mut rig = Rig::connecting(config());
    rig.sent.clear();
    rig.deliver(Chunk::InitAck(Box::new(rig.peer_init())));
    assert_eq!(rig.causes(), [Cause::MISSING_PARAMETER]);
    let Chunk::Abort { causes, .. } = &rig.chunks()[0] else {
        panic!()
    };
    // One parameter is missing: number 7.
    assert_eq!(causes[0].information[..], [0, 0, 0, 1, 0, 7]);
}

#[test]
fn section_3_3_3_init_ack_with_impossible_values_aborts() {
    let spoilt: [fn(&mut Init); 3] = [
        |init| init.outbound_streams = 0,
        |init| init.inbound_streams = 0,
        |init| init.a_rwnd = 1_499,
    ];
    for spoil in spoilt {
        let mut rig = Rig::connecting(config());
        rig.sent.clear();
        rig.deliver(ack_with(&rig, spoil));
        assert_eq!(rig.causes(), [Cause::INVALID_PARAMETER]);
        assert_eq!(rig.sent[0].packet.verification_tag, TAG);
    }
}

#[test]
fn section_3_3_3_init_ack_with_a_tag_of_zero_ends_it_silently() {
    let mut rig = Rig::connecting(config());
    rig.sent.clear();
    rig.deliver(ack_with(&rig, |init| init.initiate_tag = 0));
    assert_eq!(rig.take_story(), [""; 0]);
    let lost = Event::ConnectionLost {
        reason: LostReason::ProtocolViolation,
    };
    assert!(rig.heard(&lost));
}

#[test]
fn section_3_2_1_unknown_parameters_of_an_init_go_by_their_high_bits() {
    // Kind, whether it is reported, whether what follows is read.
    for (kind, reported, goes_on) in [
        (0x3ff0, false, false),
        (0x7ff0, true, false),
        (0xbff0, false, true),
        (0xfff0, true, true),
    ] {
        let mut rig = Rig::listening(config());
        let init = init_with(&rig, |init| {
            init.parameters = vec![parameter(kind, b"what"), address(11)];
        });
        rig.arrive(rig.packet(0, vec![init.clone()]));
        let ack = sent_init(&rig);
        let reports: Vec<_> = ack.parameters.iter().filter(|p| p.kind == 8).collect();
        assert_eq!(reports.len(), usize::from(reported), "{kind:x}");
        if reported {
            let [a, b] = u16::to_be_bytes(kind);
            assert_eq!(reports[0].value[..], [&[a, b, 0, 8], &b"what"[..]].concat());
        }
        let (tag, cookie) = welcomed(&mut rig, init);
        rig.tag = tag;
        rig.deliver(Chunk::CookieEcho(cookie));
        assert_eq!(rig.end.path_count(), 1 + usize::from(goes_on), "{kind:x}");
    }
}

#[test]
fn section_3_2_1_unknown_parameters_of_an_init_ack_are_reported_behind_the_cookie() {
    let mut rig = Rig::connecting(config());
    rig.sent.clear();
    rig.deliver(ack_with(&rig, |init| {
        init.parameters.push(parameter(0xfff0, b"what"));
    }));
    assert_eq!(rig.story(), ["COOKIE ECHO + ERROR"]);
    assert_eq!(rig.causes(), [Cause::UNRECOGNIZED_PARAMETERS]);
}

#[test]
fn section_3_3_2_init_is_alone_in_its_packet() {
    let mut rig = Rig::listening(config());
    rig.arrive(rig.packet(0, vec![rig.init(), Chunk::CookieAck]));
    assert_eq!(rig.take_story(), [""; 0]);
    rig.arrive(rig.packet(9, vec![rig.init()]));
    assert_eq!(rig.take_story(), [""; 0]);
}

#[test]
fn section_4_t1_init_repeats_the_same_init_and_doubles() {
    let mut rig = Rig::connecting(config());
    rig.wait(8_000);
    let times: Vec<u64> = rig
        .sent
        .iter()
        .map(|s| s.at.as_nanos() / 1_000_000)
        .collect();
    assert_eq!(times, [1_000, 2_000, 4_000, 8_000]);
    let chunks = rig.chunks();
    assert!(chunks.iter().all(|chunk| *chunk == chunks[0]));
}

#[test]
fn section_4_max_init_retransmits_of_init() {
    let mut rig = Rig::connecting(Config {
        init_max_retransmits: 2,
        ..config()
    });
    rig.wait(60_000);
    assert_eq!(rig.take_story(), ["INIT"; 3]);
    let lost = Event::ConnectionLost {
        reason: LostReason::HandshakeTimeout,
    };
    assert!(rig.heard(&lost));
    assert_eq!(rig.end.poll_timeout(), None);
}

#[test]
fn section_4_t1_cookie_repeats_the_cookie_and_gives_up() {
    let mut rig = Rig::cookie_echoed(Config {
        init_max_retransmits: 2,
        ..config()
    });
    rig.wait(60_000);
    let story = rig.take_story();
    assert_eq!(story[story.len() - 2..], ["COOKIE ECHO"; 2]);
    assert_eq!(rig.end.state(), AssociationState::Closed);
}

#[test]
fn section_5_1_5_step_1_a_cookie_of_somebody_else_is_dropped() {
    let mut rig = Rig::listening(config());
    let (tag, sealed) = welcomed_plainly(&mut rig);
    rig.tag = tag;
    for other in [Bytes::from_static(b"nonsense"), Bytes::new()] {
        rig.deliver(Chunk::CookieEcho(other));
    }
    let mut changed = sealed.to_vec();
    changed[20] ^= 1;
    rig.deliver(Chunk::CookieEcho(changed.into()));
    assert_eq!(rig.end.state(), AssociationState::Listen);
    assert_eq!(rig.take_story(), [""; 0]);
    rig.deliver(Chunk::CookieEcho(sealed));
    assert_eq!(rig.end.state(), AssociationState::Established);
}

#[test]
fn section_5_1_5_step_3_ports_and_tag_must_be_those_of_the_cookie() {
    let mut rig = Rig::listening(config());
    let (tag, sealed) = welcomed_plainly(&mut rig);
    let good = rig.packet(tag, vec![Chunk::CookieEcho(sealed)]);
    let spoilt = [
        Packet {
            verification_tag: tag ^ 1,
            ..good.clone()
        },
        Packet {
            source_port: PORTS.1 + 1,
            ..good.clone()
        },
    ];
    for packet in spoilt {
        rig.arrive(packet);
        assert_eq!(rig.end.state(), AssociationState::Listen);
    }
    rig.arrive(good);
    assert_eq!(rig.end.state(), AssociationState::Established);
}

#[test]
fn section_5_1_5_step_4_a_stale_cookie_is_reported() {
    let mut rig = Rig::listening(config());
    let (tag, sealed) = welcomed_plainly(&mut rig);
    rig.tag = tag;
    rig.wait(60_002);
    rig.deliver(Chunk::CookieEcho(sealed));
    assert_eq!(rig.causes(), [Cause::STALE_COOKIE]);
    let Chunk::Error(causes) = &rig.chunks()[0] else {
        panic!()
    };
    // By how many microseconds.
    assert_eq!(causes[0].information[..], 2_000u32.to_be_bytes());
    assert_eq!(rig.end.state(), AssociationState::Listen);
}

#[test]
fn section_5_2_6_the_cookie_preservative_lengthens_its_life() {
    let mut rig = Rig::listening(config());
    // Five seconds more.
    let init = init_with(&rig, |init| {
        init.parameters.push(parameter(9, &[0, 0, 0x13, 0x88]))
    });
    let (tag, sealed) = welcomed(&mut rig, init);
    rig.tag = tag;
    rig.wait(64_900);
    rig.deliver(Chunk::CookieEcho(sealed));
    assert_eq!(rig.end.state(), AssociationState::Established);
}

#[test]
fn section_5_3_1_every_init_ack_has_another_tag() {
    let mut rig = Rig::listening(config());
    let mut tags: Vec<u32> = (0..50).map(|_| welcomed_plainly(&mut rig).0).collect();
    tags.sort_unstable();
    tags.dedup();
    assert_eq!(tags.len(), 50);
    assert!(!tags.contains(&0));
}

#[test]
fn section_5_4_rule_1_the_address_of_the_init_ack_is_confirmed_and_others_are_not() {
    let mut rig = listening_with(|init| init.parameters = vec![address(10), address(11)]);
    let state = |rig: &Rig, path| rig.end.path(path).unwrap().state;
    assert_eq!(state(&rig, 0), headway_sctp::PathState::Active);
    assert_eq!(state(&rig, 1), headway_sctp::PathState::Unconfirmed);
    // Each is asked for its proof at once.
    let beats = rig.chunks().into_iter().filter_map(|chunk| match chunk {
        Chunk::Heartbeat(info) => Some(info),
        _ => None,
    });
    let info = beats.last().unwrap();
    rig.arrive_from(11, rig.packet(rig.tag, vec![Chunk::HeartbeatAck(info)]));
    assert_eq!(state(&rig, 1), headway_sctp::PathState::Active);
    assert!(rig.heard(&Event::PathConfirmed { path: 1 }));
}

#[test]
fn section_5_4_an_unconfirmed_address_gets_no_data() {
    let mut rig = listening_with(|init| init.parameters = vec![address(10), address(11)]);
    rig.forget();
    assert!(!rig.end.set_primary_path(1));
    rig.send(100);
    rig.wait(1_100);
    // The first transmission and what T3-rtx repeats: both on the confirmed path.
    assert_eq!(rig.tsns(), [0, 0]);
    assert_eq!(rig.end.path(1).unwrap().stats.data_chunks_sent, 0);
    assert_eq!(rig.end.path(1).unwrap().stats.retransmissions, 0);
}

#[test]
fn section_6_data_before_the_association_is_up_is_not_taken() {
    let mut rig = Rig::connecting(config());
    rig.sent.clear();
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!((rig.take_story(), rig.lengths()), (vec![], vec![]));
    rig.deliver(rig.init_ack());
    rig.deliver(Chunk::CookieAck);
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!(rig.lengths(), [100]);
    assert_eq!(
        rig.sacks().last().map(|sack| sack.cumulative_tsn),
        Some(TSN)
    );
    assert_ne!(TSN, Tsn(0));
}
