//! Sections 3.2, 3.3.10, 8.1, 8.3, 8.4 and 8.5: what is wrong, and what is said of it.

use bytes::Bytes;
use headway_sansio::Duration;
use headway_sctp::{AssociationState, Cause, Chunk, Config, Event, LostReason, Packet};

use crate::rig::{PORTS, Rig, TAG, config, data};

fn unknown(kind: u8) -> Chunk {
    Chunk::Unknown {
        kind,
        flags: 5,
        value: Bytes::from_static(b"abcd"),
    }
}

fn heartbeat_of(rig: &Rig) -> Bytes {
    let beat = rig.chunks().into_iter().find_map(|chunk| match chunk {
        Chunk::Heartbeat(info) => Some(info),
        _ => None,
    });
    beat.expect("a heartbeat was sent")
}

#[test]
fn section_3_2_unknown_chunk_00_ends_the_packet_silently() {
    let mut rig = Rig::established(config());
    rig.deliver_all(vec![unknown(0x3e), Chunk::Data(data(0))]);
    assert_eq!((rig.take_story(), rig.lengths()), (vec![], vec![]));
}

#[test]
fn section_3_2_unknown_chunk_01_ends_the_packet_with_a_report() {
    let mut rig = Rig::established(config());
    rig.deliver_all(vec![unknown(0x7e), Chunk::Data(data(0))]);
    assert_eq!(rig.causes(), [Cause::UNRECOGNIZED_CHUNK]);
    assert!(rig.lengths().is_empty());
}

#[test]
fn section_3_2_unknown_chunk_10_is_skipped_silently() {
    let mut rig = Rig::established(config());
    rig.deliver_all(vec![unknown(0xbe), Chunk::Data(data(0))]);
    assert!(rig.causes().is_empty());
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn section_3_2_unknown_chunk_11_is_skipped_with_a_report() {
    let mut rig = Rig::established(config());
    rig.deliver_all(vec![unknown(0xfe), Chunk::Data(data(0))]);
    assert_eq!(rig.causes(), [Cause::UNRECOGNIZED_CHUNK]);
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn section_3_3_10_6_the_report_brings_the_chunk_back() {
    let mut rig = Rig::established(config());
    rig.deliver(unknown(0xfe));
    let Chunk::Error(causes) = &rig.chunks()[0] else {
        panic!()
    };
    assert_eq!(causes[0].information[..], *b"\xfe\x05\x00\x08abcd");
}

#[test]
fn section_3_3_10_an_error_is_told_and_ends_nothing() {
    let mut rig = Rig::established(config());
    let causes = vec![Cause::with(Cause::INVALID_STREAM, vec![0, 9, 0, 0])];
    rig.deliver(Chunk::Error(causes.clone()));
    assert!(rig.heard(&Event::PeerReported { causes }));
    assert_eq!(rig.end.state(), AssociationState::Established);
    assert_eq!(rig.take_story(), [""; 0]);
}

#[test]
fn section_3_3_7_an_abort_tells_its_causes() {
    let mut rig = Rig::established(config());
    let causes = vec![Cause::with(Cause::USER_ABORT, &b"enough"[..])];
    rig.deliver(Chunk::Abort {
        reflected_tag: false,
        causes: causes.clone(),
    });
    assert!(rig.heard(&Event::Aborted { causes }));
    assert_eq!(rig.take_story(), [""; 0]);
}

#[test]
fn section_8_5_another_tag_is_dropped() {
    let mut rig = Rig::established(config());
    for tag in [0, rig.tag ^ 1, TAG] {
        rig.arrive(rig.packet(tag, vec![Chunk::Data(data(0))]));
    }
    assert_eq!((rig.take_story(), rig.lengths()), (vec![], vec![]));
    assert_eq!(rig.end.stats().packets_discarded, 3);
}

#[test]
fn section_8_4_other_ports_are_dropped() {
    let mut rig = Rig::established(config());
    let good = rig.packet(rig.tag, vec![Chunk::Data(data(0))]);
    let packets = [
        Packet {
            source_port: PORTS.1 + 1,
            ..good.clone()
        },
        Packet {
            destination_port: PORTS.0 + 1,
            ..good
        },
    ];
    for packet in packets {
        rig.arrive(packet);
    }
    assert!(rig.lengths().is_empty());
}

#[test]
fn section_8_4_an_address_that_is_not_the_peer_s_is_not_heard() {
    let mut rig = Rig::established(config());
    rig.arrive_from(77, rig.packet(rig.tag, vec![Chunk::Data(data(0))]));
    assert!(rig.lengths().is_empty());
}

#[test]
fn section_8_3_a_heartbeat_comes_back_as_it_is() {
    let mut rig = Rig::established(config());
    let info = Bytes::from_static(b"\x00\x01\x00\x09hello");
    rig.deliver(Chunk::Heartbeat(info.clone()));
    assert_eq!(rig.chunks(), [Chunk::HeartbeatAck(info)]);
}

#[test]
fn section_8_3_a_heartbeat_is_answered_on_the_path_on_which_it_came() {
    let mut rig = Rig::established_with(config(), &[1, 2], &[10, 11]);
    rig.forget();
    let beat = Chunk::Heartbeat(Bytes::from_static(b"\x00\x01\x00\x04"));
    rig.arrive_from(11, rig.packet(rig.tag, vec![beat]));
    let sent: Vec<u64> = (0..2)
        .map(|n| rig.end.path(n).unwrap().stats.packets_sent)
        .collect();
    assert!(
        rig.chunks()
            .iter()
            .any(|c| matches!(c, Chunk::HeartbeatAck(_)))
    );
    assert!(sent[1] >= 1);
}

#[test]
fn section_8_3_an_idle_path_is_asked_after_hb_interval_and_rto() {
    let mut rig = Rig::established(config());
    // 30 s, and 1 s more or less a half.
    rig.wait(30_499);
    assert!(rig.take_story().is_empty());
    rig.wait(1_001);
    assert_eq!(rig.take_story(), ["HEARTBEAT"]);
}

#[test]
fn section_8_3_the_answer_measures_the_round_trip() {
    let mut rig = Rig::established(config());
    rig.wait(31_500);
    let sent_at = rig.sent[0].at;
    let info = heartbeat_of(&rig);
    rig.wait(200);
    let elapsed = rig.now.since(sent_at);
    rig.deliver(Chunk::HeartbeatAck(info));
    // An eighth of it, after the handshake's zero.
    assert_eq!(rig.end.srtt(), Some(elapsed / 8));
    assert_eq!(rig.end.path(0).unwrap().stats.heartbeats_answered, 1);
}

#[test]
fn section_8_3_an_answer_to_no_question_counts_for_nothing() {
    let mut rig = Rig::established(config());
    rig.wait(31_500);
    let mut forged = heartbeat_of(&rig).to_vec();
    forged[5] ^= 1;
    rig.deliver(Chunk::HeartbeatAck(forged.into()));
    rig.deliver(Chunk::HeartbeatAck(Bytes::from_static(b"x")));
    assert_eq!(rig.end.path(0).unwrap().stats.heartbeats_answered, 0);
}

#[test]
fn section_8_3_hb_interval_of_zero_means_none() {
    let mut rig = Rig::established(Config {
        heartbeat_interval: Duration::ZERO,
        ..config()
    });
    rig.wait(10_000_000);
    assert_eq!(rig.take_story(), [""; 0]);
}

#[test]
fn section_8_3_the_user_turns_heartbeats_off_and_on() {
    let mut rig = Rig::established(config());
    rig.end.set_heartbeat(rig.now, 0, false);
    rig.wait(1_000_000);
    assert_eq!(rig.take_story(), [""; 0]);
    rig.end.set_heartbeat(rig.now, 0, true);
    rig.wait(31_500);
    assert_eq!(rig.take_story(), ["HEARTBEAT"]);
}

#[test]
fn section_8_3_d_the_user_asks_for_a_heartbeat_now() {
    let mut rig = Rig::established(config());
    rig.end.request_heartbeat(rig.now, 0);
    rig.drain();
    assert_eq!(rig.take_story(), ["HEARTBEAT"]);
}

#[test]
fn section_8_3_data_in_time_makes_heartbeats_needless() {
    let mut rig = Rig::established(config());
    for n in 1..=20 {
        rig.send(100);
        rig.ack(n);
        rig.wait(10_000);
    }
    assert!(!rig.story().iter().any(|story| story.contains("HEARTBEAT")));
}

#[test]
fn section_8_1_association_max_retrans() {
    let mut rig = Rig::established(Config {
        association_max_retransmits: 4,
        ..config()
    });
    rig.send(100);
    rig.forget();
    // T3-rtx at 1, 3, 7, 15 and 31 s; with the fifth the peer is given up.
    rig.wait(30_999);
    assert_eq!(rig.end.state(), AssociationState::Established);
    rig.wait(1);
    let lost = Event::ConnectionLost {
        reason: LostReason::PeerUnreachable,
    };
    assert!(rig.heard(&lost));
    assert_eq!(rig.take_tsns(), [0; 4]);
}

#[test]
fn section_8_1_an_answer_clears_the_count() {
    let mut rig = Rig::established(Config {
        association_max_retransmits: 2,
        ..config()
    });
    for n in 1..=10 {
        rig.send(100);
        rig.wait(3_500);
        rig.ack(n);
        assert_eq!(rig.end.path(0).unwrap().errors, 0);
    }
    assert_eq!(rig.end.state(), AssociationState::Established);
}

#[test]
fn section_8_1_heartbeats_count_as_well() {
    let mut rig = Rig::established(Config {
        association_max_retransmits: 2,
        ..config()
    });
    rig.wait(500_000);
    let lost = Event::ConnectionLost {
        reason: LostReason::PeerUnreachable,
    };
    assert!(rig.heard(&lost));
}

#[test]
fn rfc_4820_padding_says_nothing() {
    let mut rig = Rig::established(config());
    rig.deliver_all(vec![Chunk::Pad(100), Chunk::Data(data(0))]);
    assert_eq!(rig.lengths(), [100]);
    assert!(rig.causes().is_empty());
}
