//! Section 9: the end, in every state and from both sides.

use headway_sansio::Duration;
use headway_sctp::{AssociationState, Cause, Chunk, Config, Event, LostReason, Message, SendError};

use crate::rig::{Rig, TAG, TSN, config, data, sack, shutdown};

fn complete(rig: &Rig) -> bool {
    rig.heard(&Event::ShutdownComplete) && rig.end.state() == AssociationState::Closed
}

fn refuses_messages(rig: &mut Rig) -> bool {
    let message = Message {
        stream: 0,
        ppid: 0,
        unordered: false,
        payload: headway_sansio::Payload::Sized(1),
        ..Message::default()
    };
    rig.end.send(rig.now, message) == Err(SendError::Closing)
}

fn pending() -> Rig {
    let mut rig = Rig::established(config());
    rig.send(100);
    rig.shutdown();
    assert_eq!(rig.end.state(), AssociationState::ShutdownPending);
    rig.forget();
    rig
}

fn shutdown_sent() -> Rig {
    let mut rig = Rig::established(config());
    rig.shutdown();
    assert_eq!(rig.end.state(), AssociationState::ShutdownSent);
    rig.forget();
    rig
}

fn received() -> Rig {
    let mut rig = Rig::established(config());
    rig.send(100);
    rig.deliver(shutdown(0));
    assert_eq!(rig.end.state(), AssociationState::ShutdownReceived);
    rig.forget();
    rig
}

fn ack_sent() -> Rig {
    let mut rig = Rig::established(config());
    rig.deliver(shutdown(0));
    assert_eq!(rig.end.state(), AssociationState::ShutdownAckSent);
    rig.forget();
    rig
}

#[test]
fn section_9_2_shutdown_waits_for_what_is_outstanding() {
    let mut rig = pending();
    assert!(refuses_messages(&mut rig));
    assert_eq!(rig.take_story(), [""; 0]);
    rig.ack(1);
    assert_eq!(rig.take_story(), ["SHUTDOWN"]);
    assert_eq!(rig.end.state(), AssociationState::ShutdownSent);
}

#[test]
fn section_9_2_shutdown_names_the_last_tsn_in_sequence() {
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::Data(data(0)));
    rig.deliver(Chunk::Data(data(1)));
    rig.forget();
    rig.shutdown();
    let expected = Chunk::Shutdown {
        cumulative_tsn: TSN.next(),
    };
    assert_eq!(rig.chunks(), [expected]);
}

#[test]
fn section_9_2_gaps_are_told_in_a_sack_beside_the_shutdown() {
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::Data(data(0)));
    rig.deliver(Chunk::Data(data(2)));
    rig.forget();
    rig.shutdown();
    assert_eq!(rig.take_story(), ["SHUTDOWN + SACK"]);
}

#[test]
fn section_9_2_shutdown_ack_is_answered_with_shutdown_complete() {
    let mut rig = shutdown_sent();
    rig.deliver(Chunk::ShutdownAck);
    let expected = Chunk::ShutdownComplete {
        reflected_tag: false,
    };
    assert_eq!(rig.chunks(), [expected]);
    assert_eq!(rig.sent[0].packet.verification_tag, TAG);
    assert!(complete(&rig));
    assert_eq!(rig.end.poll_timeout(), None);
}

#[test]
fn section_9_2_shutdown_complete_ends_shutdown_ack_sent() {
    let mut rig = ack_sent();
    rig.deliver(Chunk::ShutdownComplete {
        reflected_tag: false,
    });
    assert_eq!(rig.take_story(), [""; 0]);
    assert!(complete(&rig));
}

#[test]
fn section_8_5_1_rule_c_shutdown_complete_with_the_reflected_tag() {
    let mut rig = ack_sent();
    let reflected = Chunk::ShutdownComplete {
        reflected_tag: true,
    };
    // With the own tag and the T bit it is not accepted, with the peer's tag it is.
    rig.deliver(reflected.clone());
    assert_eq!(rig.end.state(), AssociationState::ShutdownAckSent);
    rig.arrive(rig.packet(TAG, vec![reflected]));
    assert!(complete(&rig));
}

#[test]
fn section_8_5_1_rule_c_shutdown_complete_is_ignored_in_all_other_states() {
    let complete = Chunk::ShutdownComplete {
        reflected_tag: false,
    };
    let rigs = [
        Rig::connecting(config()),
        Rig::cookie_echoed(config()),
        Rig::established(config()),
        pending(),
        shutdown_sent(),
        received(),
    ];
    for mut rig in rigs {
        let state = rig.end.state();
        rig.forget();
        rig.deliver(complete.clone());
        assert_eq!((rig.end.state(), rig.events.len()), (state, 0));
    }
}

#[test]
fn section_9_2_a_shutdown_acknowledges() {
    let mut rig = Rig::established(config());
    for _ in 0..3 {
        rig.send(100);
    }
    rig.forget();
    rig.deliver(shutdown(2));
    assert_eq!(rig.end.state(), AssociationState::ShutdownReceived);
    assert_eq!(rig.end.buffered_bytes(), 100);
    rig.deliver(shutdown(3));
    assert_eq!(rig.take_story(), ["SHUTDOWN ACK"]);
    assert_eq!(rig.end.state(), AssociationState::ShutdownAckSent);
}

#[test]
fn section_9_2_shutdown_received_goes_on_sending_what_waits() {
    let mut rig = Rig::established(config());
    for _ in 0..10 {
        rig.send(1_400);
    }
    let first = rig.take_tsns().len() as u32;
    assert!(first < 10);
    rig.deliver(shutdown(0));
    assert!(refuses_messages(&mut rig));
    assert!(rig.heard(&Event::PeerShutdown));
    rig.ack(first);
    let more = rig.take_tsns();
    assert!(!more.is_empty());
    assert_eq!(more[0], first);
    // And retransmitting what is lost.
    rig.wait(1_001);
    assert_eq!(rig.take_tsns()[0], first);
}

#[test]
fn section_9_2_shutdown_received_ignores_the_user_s_shutdown() {
    let mut rig = received();
    rig.shutdown();
    assert_eq!(rig.end.state(), AssociationState::ShutdownReceived);
    assert_eq!(rig.take_story(), [""; 0]);
}

#[test]
fn section_9_2_shutdown_received_still_answers_shutdowns() {
    let mut rig = received();
    rig.deliver(shutdown(0));
    assert_eq!(rig.end.state(), AssociationState::ShutdownReceived);
    rig.deliver(shutdown(1));
    assert_eq!(rig.take_story(), ["SHUTDOWN ACK"]);
}

#[test]
fn section_9_2_in_shutdown_pending_the_peer_s_shutdown_comes_first() {
    let mut rig = pending();
    rig.deliver(shutdown(0));
    assert_eq!(rig.end.state(), AssociationState::ShutdownReceived);
    rig.ack(1);
    assert_eq!(rig.take_story(), ["SHUTDOWN ACK"]);
}

#[test]
fn section_9_2_shutdowns_that_cross() {
    let mut rig = shutdown_sent();
    rig.deliver(shutdown(0));
    assert_eq!(rig.take_story(), ["SHUTDOWN ACK"]);
    assert_eq!(rig.end.state(), AssociationState::ShutdownAckSent);
    // Both have sent SHUTDOWN ACK.
    rig.deliver(Chunk::ShutdownAck);
    assert_eq!(rig.take_story(), ["SHUTDOWN COMPLETE"]);
    assert!(complete(&rig));
}

#[test]
fn section_9_2_each_packet_with_data_is_answered_with_shutdown() {
    let mut rig = shutdown_sent();
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!(rig.take_story(), ["SHUTDOWN"]);
    assert_eq!(rig.lengths(), [100]);
    // Where a SHUTDOWN cannot say it all, a SACK goes with it.
    rig.deliver(Chunk::Data(data(2)));
    assert_eq!(rig.take_story(), ["SHUTDOWN + SACK"]);
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!(rig.take_story(), ["SHUTDOWN + SACK"]);
}

#[test]
fn section_9_2_data_restarts_t2() {
    let mut rig = shutdown_sent();
    for n in 0..20 {
        rig.wait(900);
        rig.deliver(Chunk::Data(data(n)));
        assert_eq!(rig.take_story(), ["SHUTDOWN"], "the timer never expires");
    }
}

#[test]
fn section_9_2_any_packet_of_the_peer_clears_the_count_of_t2() {
    let limited = Config {
        association_max_retransmits: 3,
        ..config()
    };
    let mut rig = Rig::established(limited);
    rig.shutdown();
    // Left alone it would give up 15 s after the beginning.
    for _ in 0..20 {
        rig.wait(3_500);
        rig.deliver(sack(0, &[]));
        assert_eq!(rig.end.state(), AssociationState::ShutdownSent);
    }
}

#[test]
fn section_9_2_t2_repeats_shutdown_with_the_newest_tsn() {
    let mut rig = shutdown_sent();
    rig.wait(1_001);
    assert_eq!(rig.take_story(), ["SHUTDOWN"]);
    rig.deliver(Chunk::Data(data(0)));
    rig.forget();
    rig.wait(60_000);
    let Chunk::Shutdown { cumulative_tsn } = rig.chunks()[0] else {
        panic!()
    };
    assert_eq!(cumulative_tsn, TSN);
}

#[test]
fn section_9_2_t2_doubles_and_gives_up() {
    let limited = Config {
        association_max_retransmits: 3,
        ..config()
    };
    let mut rig = Rig::established(limited);
    let begin = rig.now;
    rig.shutdown();
    rig.wait(100_000);
    let times: Vec<u64> = rig
        .sent
        .iter()
        .map(|sent| sent.at.since(begin).as_nanos() / 1_000_000)
        .collect();
    assert_eq!(times, [0, 1_000, 3_000, 7_000]);
    let lost = Event::ConnectionLost {
        reason: LostReason::PeerUnreachable,
    };
    assert!(rig.heard(&lost));
}

#[test]
fn section_9_2_t2_repeats_shutdown_ack() {
    let mut rig = ack_sent();
    rig.wait(3_500);
    assert_eq!(rig.take_story(), ["SHUTDOWN ACK", "SHUTDOWN ACK"]);
    // The peer's SHUTDOWN, sent again because ours was lost, is answered too.
    rig.deliver(shutdown(0));
    assert_eq!(rig.take_story(), ["SHUTDOWN ACK"]);
}

#[test]
fn section_9_2_t5_bounds_the_whole() {
    let guarded = Config {
        shutdown_guard: Duration::from_secs(5),
        ..config()
    };
    let mut rig = Rig::established(guarded);
    rig.send(100);
    rig.shutdown();
    for _ in 0..20 {
        rig.wait(300);
        rig.deliver(sack(0, &[]));
    }
    assert_eq!(rig.story().last().unwrap(), "ABORT");
    let lost = Event::ConnectionLost {
        reason: LostReason::ShutdownTimeout,
    };
    assert!(rig.heard(&lost));
}

#[test]
fn section_9_2_shutdown_chunks_before_the_association_is_up_are_ignored() {
    for mut rig in [Rig::connecting(config()), Rig::cookie_echoed(config())] {
        let state = rig.end.state();
        rig.forget();
        rig.deliver(shutdown(0));
        assert_eq!((rig.end.state(), rig.take_story()), (state, vec![]));
    }
}

#[test]
fn section_9_2_shutdown_ack_before_the_association_is_up() {
    // The peer still ends an older association: it gets SHUTDOWN COMPLETE with its
    // own tag reflected, and the handshake goes on.
    for mut rig in [Rig::connecting(config()), Rig::cookie_echoed(config())] {
        let state = rig.end.state();
        rig.forget();
        rig.arrive(rig.packet(0x1234, vec![Chunk::ShutdownAck]));
        let expected = Chunk::ShutdownComplete {
            reflected_tag: true,
        };
        assert_eq!(rig.chunks(), [expected]);
        assert_eq!(rig.sent[0].packet.verification_tag, 0x1234);
        assert_eq!(rig.end.state(), state);
    }
}

#[test]
fn section_9_2_shutdown_ack_in_established_is_ignored() {
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::ShutdownAck);
    assert_eq!(rig.take_story(), [""; 0]);
    assert_eq!(rig.end.state(), AssociationState::Established);
}

#[test]
fn section_9_2_data_after_shutdown_received_is_not_taken() {
    let mut rig = received();
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!(rig.lengths(), [0; 0]);
}

#[test]
fn section_9_2_shutdown_before_the_handshake_is_done_gives_up() {
    let mut rig = Rig::cookie_echoed(config());
    rig.forget();
    rig.shutdown();
    assert_eq!(rig.take_story(), ["ABORT"]);
    assert_eq!(rig.end.state(), AssociationState::Closed);
    let mut rig = Rig::listening(config());
    rig.shutdown();
    assert_eq!(rig.end.state(), AssociationState::Closed);
}

#[test]
fn section_9_1_abort_carries_the_user_s_reason_and_no_data() {
    let mut rig = Rig::established(config());
    for _ in 0..10 {
        rig.send(1_400);
    }
    rig.forget();
    rig.end.abort_because(rig.now, "no more".into());
    rig.drain();
    let expected = Chunk::Abort {
        reflected_tag: false,
        causes: vec![Cause::with(Cause::USER_ABORT, "no more")],
    };
    assert_eq!(rig.chunks(), [expected]);
    assert_eq!(rig.sent[0].packet.verification_tag, TAG);
    assert_eq!(rig.end.poll_timeout(), None);
    let lost = Event::ConnectionLost {
        reason: LostReason::UserAbort,
    };
    assert!(rig.heard(&lost));
}

#[test]
fn section_9_1_an_abort_is_not_answered_and_ends_every_state() {
    let rigs = [
        Rig::connecting(config()),
        Rig::cookie_echoed(config()),
        Rig::established(config()),
        pending(),
        shutdown_sent(),
        received(),
        ack_sent(),
    ];
    for mut rig in rigs {
        rig.forget();
        let causes = vec![Cause::with(Cause::USER_ABORT, "so there")];
        rig.deliver(Chunk::Abort {
            reflected_tag: false,
            causes: causes.clone(),
        });
        assert_eq!(rig.take_story(), [""; 0]);
        assert_eq!(rig.events, [Event::Aborted { causes }]);
        assert_eq!(rig.end.state(), AssociationState::Closed);
        assert_eq!(rig.end.poll_timeout(), None);
    }
}

#[test]
fn section_8_5_1_rule_b_whose_tag_an_abort_may_carry() {
    let abort = |reflected_tag| Chunk::Abort {
        reflected_tag,
        causes: vec![],
    };
    // Tag, T bit, accepted.
    let own = Rig::established(config()).tag;
    let cases = [
        (own, false, true),
        (own, true, false),
        (TAG, true, true),
        (TAG, false, false),
        (0, false, false),
        (1, true, false),
    ];
    for (tag, reflected, accepted) in cases {
        let mut rig = Rig::established(config());
        let packet = rig.packet(tag, vec![abort(reflected)]);
        rig.arrive(packet);
        let closed = rig.end.state() == AssociationState::Closed;
        assert_eq!(closed, accepted, "{reflected}");
    }
}

#[test]
fn section_9_1_what_comes_after_the_abort_in_its_packet_is_ignored() {
    let mut rig = Rig::established(config());
    let abort = Chunk::Abort {
        reflected_tag: false,
        causes: vec![],
    };
    rig.deliver_all(vec![abort, Chunk::Data(data(0))]);
    assert_eq!(rig.lengths(), [0; 0]);
    assert_eq!(rig.take_story(), [""; 0]);
}
