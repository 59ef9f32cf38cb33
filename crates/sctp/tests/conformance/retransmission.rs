//! Sections 6.1, 6.2.1, 6.3 and 7.2.4: what is sent again, and when.

use headway_sansio::Duration;
use headway_sctp::{Chunk, Config, Sack, Tsn};

use crate::rig::{OWN, Rig, config, sack, sack_of};

/// So many chunks of 1000 bytes are under way, each in its packet.
fn flight(count: u32) -> Rig {
    let mut rig = Rig::established(Config {
        initial_cwnd_bytes: 20_000,
        max_burst: 0,
        ..config()
    });
    for _ in 0..count {
        rig.send(1_000);
    }
    assert_eq!(rig.take_tsns().len() as u32, count);
    rig
}

fn ms(rig: &Rig) -> u64 {
    rig.end.rto().as_nanos() / 1_000_000
}

#[test]
fn section_6_3_1_c1_rto_initial_until_there_is_a_measurement() {
    let mut rig = Rig::connecting(Config {
        rto_initial: Duration::from_secs(3),
        ..config()
    });
    rig.sent.clear();
    rig.wait(2_999);
    assert!(rig.take_story().is_empty());
    rig.wait(1);
    assert_eq!(rig.take_story(), ["INIT"]);
}

#[test]
fn section_6_3_1_c2_the_first_measurement() {
    let mut rig = Rig::connecting(config());
    rig.wait(600);
    rig.deliver(rig.init_ack());
    // SRTT = 600 ms, RTTVAR = 300 ms.
    assert_eq!(rig.end.srtt(), Some(Duration::from_millis(600)));
    assert_eq!(ms(&rig), 1_800);
}

#[test]
fn section_6_3_1_c3_later_measurements() {
    let mut rig = Rig::connecting(config());
    rig.wait(600);
    rig.deliver(rig.init_ack());
    rig.wait(800);
    rig.deliver(Chunk::CookieAck);
    // RTTVAR = 3/4 * 300 + 1/4 * 200 = 275, SRTT = 7/8 * 600 + 1/8 * 800 = 625.
    assert_eq!(rig.end.srtt(), Some(Duration::from_millis(625)));
    assert_eq!(ms(&rig), 625 + 4 * 275);
}

#[test]
fn section_6_3_1_c5_what_was_sent_twice_is_not_measured() {
    let mut rig = flight(1);
    let before = rig.end.srtt();
    rig.wait(1_500);
    assert_eq!(rig.take_tsns(), [0]);
    rig.ack(1);
    assert_eq!(rig.end.srtt(), before);
}

#[test]
fn section_6_3_1_c6_never_below_rto_min() {
    let mut rig = flight(1);
    rig.wait(10);
    rig.ack(1);
    assert_eq!(ms(&rig), 1_000);
}

#[test]
fn section_6_3_1_c7_never_above_rto_max() {
    let mut rig = Rig::established(Config {
        rto_max: Duration::from_secs(5),
        association_max_retransmits: 100,
        path_max_retransmits: 100,
        ..config()
    });
    rig.send(100);
    rig.wait(40_000);
    assert_eq!(ms(&rig), 5_000);
}

#[test]
fn section_6_3_1_one_measurement_for_each_round_trip() {
    let mut rig = flight(1);
    rig.wait(100);
    rig.send(1_000);
    rig.wait(300);
    // The first chunk was timed, 400 ms; the second was not.
    rig.ack(2);
    let srtt = rig.end.srtt().unwrap().as_nanos() / 1_000_000;
    assert_eq!(srtt, 50, "400 / 8, after the handshake's zero");
}

#[test]
fn section_6_3_2_r1_sending_starts_the_timer() {
    let mut rig = Rig::established(Config {
        heartbeat_interval: Duration::ZERO,
        ..config()
    });
    assert_eq!(rig.end.poll_timeout(), None);
    rig.send(100);
    assert_eq!(
        rig.end.poll_timeout(),
        Some(rig.now + Duration::from_secs(1))
    );
}

#[test]
fn section_6_3_2_r1_a_second_chunk_does_not_restart_it() {
    let mut rig = flight(1);
    rig.wait(700);
    rig.send(1_000);
    rig.sent.clear();
    rig.wait(300);
    assert!(!rig.take_tsns().is_empty());
}

#[test]
fn section_6_3_2_r2_all_acknowledged_stops_it() {
    let mut rig = flight(3);
    rig.ack(3);
    rig.wait(20_000);
    assert!(rig.take_tsns().is_empty());
}

#[test]
fn section_6_3_2_r3_the_earliest_acknowledged_restarts_it() {
    let mut rig = flight(3);
    rig.wait(700);
    rig.ack(1);
    rig.wait(990);
    assert!(rig.take_tsns().is_empty());
    rig.wait(10);
    assert_eq!(rig.take_tsns()[0], 1);
}

#[test]
fn section_6_3_2_r3_a_later_one_acknowledged_does_not() {
    let mut rig = flight(3);
    rig.wait(700);
    rig.deliver(sack(0, &[(2, 2)]));
    rig.wait(300);
    assert_eq!(rig.take_tsns()[0], 0);
}

#[test]
fn section_6_3_2_r4_it_starts_again_for_what_the_peer_dropped() {
    let mut rig = flight(2);
    rig.deliver(sack(1, &[]));
    rig.send(1_000);
    rig.deliver(sack(1, &[(2, 2)]));
    rig.sent.clear();
    // The peer reneges on the second and third.
    rig.deliver(sack(1, &[]));
    rig.wait(1_000);
    assert_eq!(rig.take_tsns()[0], 1);
}

#[test]
fn section_6_3_3_e1_to_e3_one_packet_of_the_earliest() {
    let mut rig = flight(5);
    rig.wait(1_000);
    assert_eq!(rig.take_tsns(), [0]);
    assert_eq!((ms(&rig), rig.end.cwnd_bytes()), (2_000, 1_468));
    // The others wait for the answer.
    rig.wait(1_900);
    assert!(rig.take_tsns().is_empty());
}

#[test]
fn section_6_3_3_e3_as_many_chunks_as_fit_go_together() {
    let mut rig = Rig::established(config());
    for _ in 0..6 {
        rig.send(300);
    }
    rig.sent.clear();
    rig.wait(1_000);
    assert_eq!(rig.story().len(), 1);
    assert_eq!(rig.take_tsns(), [0, 1, 2, 3]);
}

#[test]
fn section_6_3_3_what_was_marked_follows_the_answer() {
    let mut rig = flight(5);
    rig.wait(1_000);
    rig.sent.clear();
    rig.ack(1);
    // The window is one packet of full size still, as it was not filled; a second one
    // of these may begin below it.
    assert_eq!(rig.take_tsns(), [1, 2]);
    // That filled it, and so it has grown.
    rig.ack(2);
    assert_eq!(rig.take_tsns(), [3, 4]);
}

#[test]
fn section_6_3_3_what_is_reported_beyond_the_gap_is_not_sent_again() {
    let mut rig = flight(4);
    rig.deliver(sack(0, &[(2, 3)]));
    rig.wait(1_000);
    assert_eq!(rig.take_tsns(), [0]);
    rig.ack(3);
    assert_eq!(rig.take_tsns(), [3]);
}

#[test]
fn section_6_3_3_rto_doubles_each_time() {
    let mut rig = flight(1);
    let start = rig.now;
    rig.wait(16_000);
    let times: Vec<u64> = rig
        .sent
        .iter()
        .map(|sent| sent.at.since(start).as_nanos() / 1_000_000)
        .collect();
    assert_eq!(times, [1_000, 3_000, 7_000, 15_000]);
}

#[test]
fn section_6_3_3_a_measurement_brings_the_rto_back() {
    let mut rig = flight(1);
    rig.wait(3_500);
    rig.ack(1);
    assert_eq!(ms(&rig), 4_000);
    rig.send(1_000);
    rig.wait(100);
    rig.ack(2);
    assert_eq!(ms(&rig), 1_000);
}

#[test]
fn section_6_1_rule_c_retransmissions_go_before_new_data() {
    let mut rig = flight(3);
    rig.wait(1_000);
    for _ in 0..3 {
        rig.send(1_000);
    }
    rig.sent.clear();
    rig.ack(1);
    assert_eq!(rig.take_tsns()[0], 1);
}

#[test]
fn section_7_2_4_the_third_report_retransmits() {
    let mut rig = flight(6);
    rig.deliver(sack(0, &[(2, 2)]));
    rig.deliver(sack(0, &[(2, 3)]));
    assert!(rig.take_tsns().is_empty());
    rig.deliver(sack(0, &[(2, 4)]));
    assert_eq!(rig.take_tsns(), [0]);
    assert_eq!(rig.end.stats().fast_retransmissions, 1);
}

#[test]
fn section_7_2_4_htna_only_what_lies_below_the_highest_newly_acknowledged() {
    let mut rig = flight(6);
    // Chunks 0 and 3 are missing; of the reports only those count for 3 that tell
    // of something new above it.
    rig.deliver(sack(0, &[(5, 5)]));
    rig.deliver(sack(0, &[(2, 2), (5, 5)]));
    rig.deliver(sack(0, &[(2, 3), (5, 5)]));
    assert_eq!(rig.take_tsns(), [0]);
}

#[test]
fn section_7_2_4_repeated_sacks_report_nothing_new() {
    let mut rig = flight(4);
    for _ in 0..5 {
        rig.deliver(sack(0, &[(2, 2)]));
    }
    assert!(rig.take_tsns().is_empty());
}

#[test]
fn section_7_2_4_step_5_a_chunk_is_fast_retransmitted_once() {
    let mut rig = flight(12);
    for last in 2..=4 {
        rig.deliver(sack(0, &[(2, last)]));
    }
    assert_eq!(rig.take_tsns(), [0]);
    for last in 5..=12 {
        rig.deliver(sack(0, &[(2, last)]));
    }
    assert!(rig.take_tsns().is_empty());
    // Only T3-rtx helps.
    rig.wait(1_000);
    assert_eq!(rig.take_tsns(), [0]);
}

#[test]
fn section_7_2_4_step_4_the_timer_restarts_with_the_lowest() {
    let mut rig = flight(6);
    rig.wait(700);
    for last in 2..=4 {
        rig.deliver(sack(0, &[(2, last)]));
    }
    rig.sent.clear();
    rig.wait(999);
    assert!(rig.take_tsns().is_empty());
    rig.wait(1);
    assert_eq!(rig.take_tsns()[0], 0);
}

#[test]
fn section_6_2_1_rule_d_i_an_older_cumulative_tsn_is_dropped() {
    let mut rig = flight(3);
    rig.ack(2);
    let window = rig.end.peer_window_bytes();
    rig.deliver(Chunk::Sack(sack_of(1, &[], 5)));
    assert_eq!(rig.end.peer_window_bytes(), window);
    assert_eq!(rig.end.stats().sacks_discarded, 1);
}

#[test]
fn section_6_2_1_rule_d_ii_the_window_is_what_is_announced_less_what_is_under_way() {
    let mut rig = flight(3);
    rig.deliver(Chunk::Sack(sack_of(1, &[], 10_000)));
    assert_eq!(rig.end.peer_window_bytes(), 8_000);
    rig.deliver(Chunk::Sack(sack_of(1, &[(2, 2)], 10_000)));
    assert_eq!(rig.end.peer_window_bytes(), 9_000);
}

#[test]
fn section_6_2_1_rule_d_iii_a_chunk_that_is_no_longer_reported_is_under_way() {
    let mut rig = flight(3);
    rig.deliver(sack(0, &[(2, 3)]));
    assert_eq!(rig.end.flight_bytes(), 1_016);
    rig.deliver(sack(0, &[]));
    assert_eq!(rig.end.flight_bytes(), 3 * 1_016);
}

#[test]
fn section_6_2_1_nothing_beyond_what_was_sent() {
    let mut rig = flight(1);
    rig.deliver(Chunk::Sack(Sack {
        cumulative_tsn: Tsn(OWN.0 + 5),
        ..sack_of(0, &[], 100_000)
    }));
    assert_eq!(rig.end.flight_bytes(), 1_016);
}

#[test]
fn section_6_1_rule_a_a_closed_window_is_probed_with_one_chunk() {
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::Sack(sack_of(0, &[], 0)));
    for _ in 0..3 {
        rig.send(1_000);
    }
    assert!(rig.take_tsns().is_empty());
    rig.wait(1_000);
    assert_eq!(rig.take_tsns(), [0]);
    // The answer shows that the peer is there, however often.
    for _ in 0..30 {
        rig.deliver(Chunk::Sack(sack_of(0, &[], 0)));
        rig.wait(60_000);
    }
    assert_eq!(rig.end.path(0).unwrap().errors, 1);
}

#[test]
fn section_6_1_rule_a_one_chunk_may_pass_a_window_that_is_too_small() {
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::Sack(sack_of(0, &[], 500)));
    rig.send(1_000);
    assert!(rig.take_tsns().is_empty());
    rig.send(100);
    rig.wait(1_000);
    assert_eq!(rig.take_tsns(), [0]);
}
