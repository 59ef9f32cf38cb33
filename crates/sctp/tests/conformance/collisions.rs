//! Section 5.2: setup chunks that come unexpected, and Table 12 row by row.

use bytes::Bytes;
use headway_sansio::Address;
use headway_sctp::{AssociationState, Cause, Chunk, Config, Event, Init, Packet};

use crate::rig::{OWN, PORTS, Rig, TAG, TSN, address, config, data};

/// The answer to an INIT of the peer with this tag, and the cookie in it.
fn cookie_for(rig: &mut Rig, tag: u32) -> (Init, Bytes) {
    let init = Init {
        initiate_tag: tag,
        ..rig.peer_init()
    };
    rig.sent.clear();
    rig.arrive(rig.packet(0, vec![Chunk::Init(Box::new(init))]));
    let sent = rig.sent.remove(0);
    assert_eq!(sent.packet.verification_tag, tag);
    let Chunk::InitAck(ack) = &sent.packet.chunks[0] else {
        panic!("{sent:?}")
    };
    let cookie = ack.cookie().unwrap().clone();
    ((**ack).clone(), cookie)
}

/// COOKIE ECHO with the tag that the association gave itself in its INIT ACK.
fn echo(rig: &mut Rig, tag: u32, cookie: Bytes) {
    rig.sent.clear();
    rig.arrive(rig.packet(tag, vec![Chunk::CookieEcho(cookie)]));
}

fn connected(rig: &Rig) -> usize {
    let is = |event: &&Event| matches!(event, Event::Connected { .. });
    rig.events.iter().filter(is).count()
}

#[test]
fn section_5_2_1_init_in_cookie_wait_is_answered_with_the_same_tag() {
    let mut rig = Rig::connecting(config());
    let (ack, _) = cookie_for(&mut rig, TAG);
    assert_eq!((ack.initiate_tag, ack.initial_tsn), (rig.tag, OWN));
    assert_eq!(rig.end.state(), AssociationState::CookieWait);
}

#[test]
fn section_5_2_1_init_in_cookie_echoed_is_answered_with_the_same_tag() {
    let mut rig = Rig::cookie_echoed(config());
    let (ack, _) = cookie_for(&mut rig, TAG);
    assert_eq!((ack.initiate_tag, ack.initial_tsn), (rig.tag, OWN));
    assert_eq!(rig.end.state(), AssociationState::CookieEchoed);
}

#[test]
fn section_5_2_1_t1_runs_on_when_inits_cross() {
    let mut rig = Rig::connecting(config());
    rig.wait(600);
    cookie_for(&mut rig, TAG);
    rig.wait(500);
    assert_eq!(rig.take_story(), ["INIT"]);
}

#[test]
fn section_5_2_1_new_addresses_in_cookie_echoed_are_refused() {
    let mut rig = Rig::cookie_echoed(config());
    rig.sent.clear();
    let mut init = rig.peer_init();
    init.parameters = vec![address(10), address(11)];
    rig.arrive(rig.packet(0, vec![Chunk::Init(Box::new(init))]));
    assert_eq!(rig.causes(), [Cause::RESTART_WITH_NEW_ADDRESSES]);
    assert_eq!(rig.sent[0].packet.verification_tag, TAG);
    assert_eq!(rig.end.state(), AssociationState::CookieEchoed);
}

#[test]
fn section_5_2_2_init_in_established_is_answered_with_a_new_tag() {
    let mut rig = Rig::established(config());
    let (ack, _) = cookie_for(&mut rig, 77);
    assert_ne!(ack.initiate_tag, rig.tag);
    assert_eq!(rig.end.state(), AssociationState::Established);
    // Nothing has changed: DATA with the old tag is taken as before.
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn section_5_2_2_init_in_every_state_of_shutdown_but_the_last() {
    // SHUTDOWN-PENDING.
    let mut rig = Rig::established(config());
    rig.send(100);
    rig.shutdown();
    cookie_for(&mut rig, 77);
    assert_eq!(rig.end.state(), AssociationState::ShutdownPending);
    // SHUTDOWN-SENT.
    rig.ack(1);
    cookie_for(&mut rig, 77);
    assert_eq!(rig.end.state(), AssociationState::ShutdownSent);
    // SHUTDOWN-RECEIVED.
    let mut rig = Rig::established(config());
    rig.send(100);
    rig.deliver(crate::rig::shutdown(0));
    cookie_for(&mut rig, 77);
    assert_eq!(rig.end.state(), AssociationState::ShutdownReceived);
}

#[test]
fn section_9_2_init_in_shutdown_ack_sent_gets_shutdown_ack_again() {
    let mut rig = Rig::established(config());
    rig.deliver(crate::rig::shutdown(0));
    assert_eq!(rig.end.state(), AssociationState::ShutdownAckSent);
    rig.sent.clear();
    rig.arrive(rig.packet(0, vec![rig.init()]));
    assert_eq!(rig.take_story(), ["SHUTDOWN ACK"]);
}

#[test]
fn section_5_2_2_init_in_closed_is_out_of_the_blue() {
    let mut rig = Rig::established(config());
    rig.end.abort(rig.now);
    rig.drain();
    rig.forget();
    rig.arrive(rig.packet(0, vec![rig.init()]));
    assert_eq!(rig.take_story(), ["ABORT"]);
}

#[test]
fn section_5_2_3_init_ack_counts_in_cookie_wait_only() {
    let mut rig = Rig::cookie_echoed(config());
    rig.sent.clear();
    let other = Init {
        initiate_tag: 99,
        ..rig.peer_init()
    };
    rig.deliver(Chunk::InitAck(Box::new(other)));
    assert_eq!(rig.take_story(), [""; 0]);
    rig.deliver(Chunk::CookieAck);
    rig.send(100);
    assert_eq!(rig.sent[0].packet.verification_tag, TAG);
    rig.forget();
    rig.deliver(rig.init_ack());
    assert_eq!((rig.take_story(), rig.events.len()), (vec![], 0));
}

#[test]
fn section_5_2_5_cookie_ack_counts_in_cookie_echoed_only() {
    let mut rig = Rig::connecting(config());
    rig.sent.clear();
    rig.deliver(Chunk::CookieAck);
    assert_eq!(rig.end.state(), AssociationState::CookieWait);
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::CookieAck);
    assert_eq!((rig.take_story(), rig.events.len()), (vec![], 0));
}

// Table 12. X: the tag does not match; M: it does; 0: it is unknown.

#[test]
fn section_5_2_4_table_row_1_x_x_m_m_is_a_restart() {
    let mut rig = Rig::established(config());
    rig.send(100);
    let (ack, cookie) = cookie_for(&mut rig, 77);
    rig.events.clear();
    echo(&mut rig, ack.initiate_tag, cookie);
    assert_eq!(rig.events[0], Event::Restarted);
    assert_eq!(rig.end.state(), AssociationState::Established);
    assert_eq!(rig.take_story(), ["COOKIE ACK"]);
    // All numbers begin anew, with the tags of the new handshake.
    rig.send(100);
    assert_eq!(rig.sent[0].packet.verification_tag, 77);
    assert_eq!(rig.take_tsns(), [0]);
    rig.tag = ack.initiate_tag;
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn section_5_2_4_action_a_resets_congestion_control() {
    let mut rig = Rig::established(config());
    for n in 0..4 {
        for _ in 0..10 {
            rig.send(1_400);
        }
        let sent = rig.end.stats().data_chunks_sent as u32;
        rig.ack(sent);
        assert!(n == 0 || rig.end.cwnd_bytes() > 4404);
    }
    let (ack, cookie) = cookie_for(&mut rig, 77);
    echo(&mut rig, ack.initiate_tag, cookie);
    assert_eq!(rig.end.cwnd_bytes(), 4404);
    assert_eq!(rig.end.flight_bytes(), 0);
}

#[test]
fn section_5_2_4_action_a_in_shutdown_ack_sent_is_refused() {
    let mut rig = Rig::established(config());
    let (ack, cookie) = cookie_for(&mut rig, 77);
    rig.deliver(crate::rig::shutdown(0));
    assert_eq!(rig.end.state(), AssociationState::ShutdownAckSent);
    echo(&mut rig, ack.initiate_tag, cookie);
    assert_eq!(rig.story(), ["SHUTDOWN ACK + ERROR"]);
    assert_eq!(rig.causes(), [Cause::COOKIE_WHILE_SHUTTING_DOWN]);
    assert_eq!(rig.end.state(), AssociationState::ShutdownAckSent);
}

#[test]
fn section_5_2_4_table_row_2_m_x_is_a_collision() {
    // Both sides sent INIT; the peer has answered ours, and then, having forgotten
    // that, sent an INIT of its own with another tag.
    let mut rig = Rig::cookie_echoed(config());
    let (ack, cookie) = cookie_for(&mut rig, 77);
    assert_eq!(ack.initiate_tag, rig.tag);
    let own = rig.tag;
    echo(&mut rig, own, cookie);
    assert_eq!(rig.take_story(), ["COOKIE ACK"]);
    assert_eq!(
        (rig.end.state(), connected(&rig)),
        (AssociationState::Established, 1)
    );
    rig.send(100);
    assert_eq!(
        rig.sent[0].packet.verification_tag, 77,
        "the peer's new tag"
    );
    // T1-cookie is stopped.
    rig.sent.clear();
    rig.ack(1);
    rig.wait(10_000);
    assert_eq!(rig.take_story(), [""; 0]);
}

#[test]
fn section_5_2_4_table_row_2_in_established_updates_the_tag() {
    let mut rig = Rig::cookie_echoed(config());
    let (_, cookie) = cookie_for(&mut rig, 77);
    rig.deliver(Chunk::CookieAck);
    let own = rig.tag;
    echo(&mut rig, own, cookie);
    assert_eq!(rig.take_story(), ["COOKIE ACK"]);
    assert_eq!(connected(&rig), 1);
    rig.send(100);
    assert_eq!(rig.sent[0].packet.verification_tag, 77);
}

#[test]
fn section_5_2_4_table_row_3_m_0_is_a_collision() {
    // INITs crossed; the peer's cookie comes back before its INIT ACK.
    let mut rig = Rig::connecting(config());
    let (_, cookie) = cookie_for(&mut rig, TAG);
    let own = rig.tag;
    echo(&mut rig, own, cookie);
    assert_eq!(rig.take_story(), ["COOKIE ACK"]);
    assert_eq!(rig.end.state(), AssociationState::Established);
    rig.send(100);
    assert_eq!(rig.sent[0].packet.verification_tag, TAG);
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn section_5_2_4_table_row_4_x_m_0_0_is_a_late_cookie() {
    // The association answered an INIT while it listened; before the cookie came
    // back it began itself, with another tag, and the peer kept its own.
    let mut earlier = Rig::listening(config());
    let (ack, cookie) = cookie_for(&mut earlier, TAG);
    let mut rig = earlier;
    // The cookie sets up an association with the tag of the first INIT ACK.
    let (second, newer) = cookie_for(&mut rig, TAG);
    assert_ne!(ack.initiate_tag, second.initiate_tag);
    echo(&mut rig, second.initiate_tag, newer);
    assert_eq!(rig.end.state(), AssociationState::Established);
    rig.forget();
    // The first cookie names another local tag, the same peer's tag and no tie tags.
    echo(&mut rig, ack.initiate_tag, cookie);
    assert_eq!((rig.take_story(), rig.events.len()), (vec![], 0));
    rig.send(100);
    assert_eq!(rig.sent[0].packet.verification_tag, TAG);
}

#[test]
fn section_5_2_4_table_row_5_m_m_in_cookie_echoed_establishes() {
    // INITs crossed, and with them the answers.
    let mut rig = Rig::connecting(config());
    let (_, cookie) = cookie_for(&mut rig, TAG);
    rig.deliver(rig.init_ack());
    assert_eq!(rig.end.state(), AssociationState::CookieEchoed);
    let own = rig.tag;
    echo(&mut rig, own, cookie);
    assert_eq!(rig.take_story(), ["COOKIE ACK"]);
    assert_eq!(connected(&rig), 1);
    // The peer's own COOKIE ACK comes later and changes nothing.
    rig.deliver(Chunk::CookieAck);
    assert_eq!(connected(&rig), 1);
    rig.wait(10_000);
    assert_eq!(rig.take_story(), [""; 0], "T1-cookie is stopped");
}

/// A peer was called at 10 and 11, and DATA is under way to 10 beside COOKIE ECHO. Its own
/// INIT came from `calling` alone, and now its cookie comes back.
fn crossed_with_data(calling: u32) -> Rig {
    let mut rig = Rig::connecting_to(config(), &[1, 2], &[10, 11]);
    rig.send(100);
    rig.send(200);
    rig.peer = vec![Address(calling)];
    let (_, cookie) = cookie_for(&mut rig, TAG);
    rig.peer = vec![Address(10), Address(11)];
    rig.deliver(rig.init_ack_with_addresses());
    assert_eq!(rig.take_story(), ["COOKIE ECHO + DATA + DATA"]);
    let flight = |n| rig.end.path(n).unwrap().flight_bytes;
    assert!(flight(0) > 0 && flight(1) == 0);
    let own = rig.tag;
    echo(&mut rig, own, cookie);
    assert_eq!(rig.end.state(), AssociationState::Established);
    rig.peer = vec![Address(calling)];
    rig
}

#[test]
fn section_5_2_4_data_under_way_counts_on_a_path_that_the_cookie_leaves() {
    for calling in [10, 11] {
        let mut rig = crossed_with_data(calling);
        let left = rig.end.path(0).unwrap();
        assert_eq!(left.remote, Address(calling));
        assert!(left.flight_bytes > 0);
        assert!(rig.end.path(1).is_none(), "the other address is gone");
        rig.forget();
        // T3-rtx runs for it, and what it sends goes to the address that is left.
        rig.wait(1_000);
        assert_eq!(rig.take_tsns(), [0, 1], "to {calling}");
        rig.ack(2);
        let left = rig.end.path(0).unwrap();
        assert_eq!((left.flight_bytes, left.errors), (0, 0));
        rig.wait(10_000);
        assert_eq!(rig.take_tsns(), [0; 0], "T3-rtx is stopped");
    }
}

#[test]
fn section_5_2_4_table_row_5_m_m_in_established_is_acknowledged_again() {
    let mut rig = Rig::listening(config());
    let (ack, cookie) = cookie_for(&mut rig, TAG);
    echo(&mut rig, ack.initiate_tag, cookie.clone());
    assert_eq!(rig.take_story(), ["COOKIE ACK"]);
    rig.tag = ack.initiate_tag;
    rig.deliver(Chunk::Data(data(0)));
    echo(&mut rig, ack.initiate_tag, cookie);
    assert_eq!(rig.take_story(), ["COOKIE ACK"]);
    assert_eq!(connected(&rig), 1);
    rig.deliver(Chunk::Data(data(1)));
    assert_eq!(rig.lengths(), [100, 100]);
}

#[test]
fn section_5_2_4_cases_that_the_table_does_not_show_are_discarded() {
    // X, X without tie tags: a cookie made for another association.
    let mut rig = Rig::listening(config());
    let (first, old) = cookie_for(&mut rig, 77);
    let (second, cookie) = cookie_for(&mut rig, TAG);
    echo(&mut rig, second.initiate_tag, cookie);
    rig.forget();
    echo(&mut rig, first.initiate_tag, old);
    assert_eq!((rig.take_story(), rig.events.len()), (vec![], 0));
    assert_eq!(rig.end.state(), AssociationState::Established);
}

#[test]
fn section_5_2_4_step_3_a_stale_cookie_of_another_association_is_reported() {
    let mut rig = Rig::established(config());
    let (ack, cookie) = cookie_for(&mut rig, 77);
    rig.wait(60_001);
    rig.forget();
    echo(&mut rig, ack.initiate_tag, cookie);
    assert_eq!(rig.story(), ["ERROR"]);
    assert_eq!(rig.causes(), [Cause::STALE_COOKIE]);
    assert_eq!(rig.sent[0].packet.verification_tag, 77);
    assert!(!rig.heard(&Event::Restarted));
}

#[test]
fn section_5_2_4_step_3_the_association_s_own_cookie_is_good_however_old() {
    let mut rig = Rig::listening(Config {
        heartbeat_interval: headway_sansio::Duration::ZERO,
        ..config()
    });
    let (ack, cookie) = cookie_for(&mut rig, TAG);
    echo(&mut rig, ack.initiate_tag, cookie.clone());
    rig.wait(1_000_000);
    echo(&mut rig, ack.initiate_tag, cookie);
    assert_eq!(rig.take_story(), ["COOKIE ACK"]);
}

#[test]
fn section_5_2_4_step_2_a_forged_cookie_is_dropped_silently() {
    let mut rig = Rig::established(config());
    let (ack, cookie) = cookie_for(&mut rig, 77);
    let mut forged = cookie.to_vec();
    forged[9] ^= 1;
    echo(&mut rig, ack.initiate_tag, forged.into());
    assert_eq!((rig.take_story(), rig.events.len()), (vec![], 0));
}

#[test]
fn section_5_2_4_1_a_restart_in_four_packets() {
    // Z, which knows of the association, is under test; A has forgotten it.
    let mut rig = Rig::established(config());
    let (ack, cookie) = cookie_for(&mut rig, 0xa);
    rig.sent.clear();
    let first = data(0);
    let packet = Packet {
        source_port: PORTS.1,
        destination_port: PORTS.0,
        verification_tag: ack.initiate_tag,
        chunks: vec![Chunk::CookieEcho(cookie), Chunk::Data(first)].into(),
    };
    rig.arrive(packet);
    assert_eq!(rig.story(), ["COOKIE ACK + SACK"]);
    assert_eq!(rig.sacks()[0].cumulative_tsn, TSN);
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn section_5_2_6_a_stale_cookie_error_counts_in_cookie_echoed_only() {
    let stale = Chunk::Error(vec![Cause::with(Cause::STALE_COOKIE, vec![0, 0, 0, 9])]);
    let mut rig = Rig::cookie_echoed(config());
    rig.sent.clear();
    rig.wait(100);
    rig.deliver(stale.clone());
    assert_eq!(rig.end.state(), AssociationState::CookieWait);
    let Chunk::Init(init) = &rig.sent[0].packet.chunks[0] else {
        panic!()
    };
    // The measured round trip and a second more (third alternative).
    assert_eq!(init.parameters[0].kind, 9);
    assert_eq!(init.parameters[0].value[..], 1_100u32.to_be_bytes());
    assert_eq!(init.initiate_tag, rig.tag);
    let mut rig = Rig::established(config());
    rig.deliver(stale);
    assert_eq!(rig.end.state(), AssociationState::Established);
    assert_eq!(rig.take_story(), [""; 0]);
}
