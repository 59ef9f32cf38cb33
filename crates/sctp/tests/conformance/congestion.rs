//! Sections 6.1 and 7.2: how much may be under way.

use headway_sansio::Duration;
use headway_sctp::{Chunk, Config};

use crate::rig::{Rig, config, sack};

/// PMDCS of a path of 1500 bytes.
const UNIT: u32 = 1_468;

/// A window of 30 packets from the start.
fn wide() -> Config {
    Config {
        initial_cwnd_bytes: 30 * UNIT,
        max_burst: 0,
        ..config()
    }
}

/// As much to send as the window lets through.
fn busy(config: Config) -> Rig {
    let mut rig = Rig::established(config);
    for _ in 0..150 {
        rig.send(1_452);
    }
    rig
}

/// Acknowledges everything that is under way, `step` packets at a time.
fn ack_all(rig: &mut Rig, step: u32) {
    let sent = rig.end.stats().data_chunks_sent as u32;
    let mut done = sent - rig.end.flight_bytes() / UNIT;
    while done < sent {
        done = (done + step).min(sent);
        rig.ack(done);
    }
}

#[test]
fn section_7_2_1_the_first_window() {
    for (mtu, window) in [(1_500, 4_404), (576, 4 * 544), (9_000, 2 * 8_968)] {
        let rig = Rig::established(Config {
            mtu_bytes: mtu,
            ..config()
        });
        assert_eq!(rig.end.cwnd_bytes(), window, "{mtu}");
        assert_eq!(rig.end.ssthresh_bytes(), u32::MAX);
    }
}

#[test]
fn section_6_1_rule_b_the_window_is_passed_by_less_than_a_packet() {
    let rig = busy(config());
    // Three packets make 4404 bytes, exactly the window.
    assert_eq!(rig.end.flight_bytes(), 3 * UNIT);
    let mut rig = Rig::established(config());
    for _ in 0..10 {
        rig.send(1_000);
    }
    // After four chunks of 1016 the flight is below 4404, and so a fifth goes.
    assert_eq!(rig.take_tsns().len(), 5);
}

#[test]
fn section_7_2_1_slow_start_by_one_packet_for_each_sack() {
    let mut rig = busy(config());
    rig.ack(2);
    assert_eq!(rig.end.cwnd_bytes(), 4_404 + UNIT);
    rig.ack(3);
    assert_eq!(rig.end.cwnd_bytes(), 4_404 + 2 * UNIT);
}

#[test]
fn section_7_2_1_slow_start_by_what_is_acknowledged_where_that_is_less() {
    let mut rig = Rig::established(config());
    for _ in 0..150 {
        rig.send(500);
    }
    rig.ack(1);
    assert_eq!(rig.end.cwnd_bytes(), 4_404 + 516);
}

#[test]
fn section_7_2_1_no_growth_while_the_window_is_not_full() {
    let mut rig = Rig::established(config());
    for n in 1..=20 {
        rig.send(1_000);
        rig.ack(n);
    }
    assert_eq!(rig.end.cwnd_bytes(), 4_404);
}

#[test]
fn section_7_2_1_acknowledgements_beyond_a_gap_let_it_grow_too() {
    let mut rig = busy(config());
    rig.deliver(sack(0, &[(2, 2)]));
    assert_eq!(rig.end.cwnd_bytes(), 4_404 + UNIT);
}

#[test]
fn section_7_2_1_an_idle_path_loses_half_in_each_rto() {
    let mut rig = busy(config());
    for _ in 0..4 {
        ack_all(&mut rig, 1);
    }
    let before = rig.end.cwnd_bytes();
    assert!(before > 12 * UNIT, "{before}");
    while rig.end.buffered_bytes() > 0 {
        ack_all(&mut rig, 1);
    }
    let grown = rig.end.cwnd_bytes();
    rig.wait(1_000);
    rig.send(100);
    assert_eq!(rig.end.cwnd_bytes(), (grown / 2).max(4 * UNIT));
    // And never below four packets.
    let sent = rig.end.stats().data_chunks_sent as u32;
    rig.ack(sent);
    rig.wait(60_000);
    rig.send(100);
    assert_eq!(rig.end.cwnd_bytes(), 4 * UNIT);
}

#[test]
fn section_7_2_2_avoidance_by_one_packet_for_each_window() {
    let mut rig = busy(Config {
        max_burst: 0,
        ..config()
    });
    // A loss sets ssthresh to four packets.
    for last in 2..=3 {
        rig.deliver(sack(0, &[(2, last)]));
    }
    rig.deliver(sack(0, &[(2, 4)]));
    assert_eq!(rig.end.ssthresh_bytes(), 4 * UNIT);
    // Out of fast recovery, and then window by window.
    ack_all(&mut rig, 100);
    let mut windows = vec![rig.end.cwnd_bytes()];
    for _ in 0..4 {
        ack_all(&mut rig, 100);
        windows.push(rig.end.cwnd_bytes());
    }
    for pair in windows.windows(2) {
        assert!(pair[1] - pair[0] <= UNIT, "{windows:?}");
    }
    assert!(windows[4] > windows[0], "{windows:?}");
}

#[test]
fn section_7_2_3_a_timeout_leaves_one_packet() {
    let mut rig = busy(config());
    ack_all(&mut rig, 1);
    ack_all(&mut rig, 1);
    let before = rig.end.cwnd_bytes();
    rig.wait(1_000);
    assert_eq!(rig.end.cwnd_bytes(), UNIT);
    assert_eq!(rig.end.ssthresh_bytes(), (before / 2).max(4 * UNIT));
}

#[test]
fn section_7_2_3_missing_reports_halve_the_window() {
    let mut rig = busy(wide());
    for last in 2..=4 {
        rig.deliver(sack(0, &[(2, last)]));
    }
    // It had grown a little with each SACK before.
    let (cwnd, ssthresh) = (rig.end.cwnd_bytes(), rig.end.ssthresh_bytes());
    assert_eq!(cwnd, ssthresh);
    assert!((15 * UNIT..=17 * UNIT).contains(&cwnd), "{cwnd}");
}

#[test]
fn section_7_2_4_one_cut_for_each_window() {
    let mut rig = busy(wide());
    // Chunks 0, 4 and 8 are lost.
    rig.deliver(sack(0, &[(2, 4)]));
    rig.deliver(sack(0, &[(2, 4), (6, 7)]));
    rig.deliver(sack(0, &[(2, 4), (6, 8)]));
    let cut = rig.end.cwnd_bytes();
    for last in 10..=20 {
        rig.deliver(sack(0, &[(2, 4), (6, 8), (10, last)]));
    }
    assert_eq!(rig.end.cwnd_bytes(), cut);
    assert_eq!(rig.end.stats().fast_recoveries, 1);
}

#[test]
fn section_7_2_4_no_growth_in_fast_recovery() {
    let mut rig = busy(wide());
    for last in 2..=4 {
        rig.deliver(sack(0, &[(2, last)]));
    }
    let cut = rig.end.cwnd_bytes();
    for last in 5..=25 {
        rig.deliver(sack(0, &[(2, last)]));
    }
    assert_eq!(rig.end.cwnd_bytes(), cut);
    // It ends with the last TSN that was outstanding when it began.
    rig.ack(29);
    assert_eq!(rig.end.cwnd_bytes(), cut);
}

#[test]
fn section_7_2_4_step_3_one_packet_whatever_the_window_says() {
    let mut rig = busy(wide());
    rig.sent.clear();
    for last in 2..=3 {
        rig.deliver(sack(0, &[(2, last)]));
    }
    rig.sent.clear();
    rig.deliver(sack(0, &[(2, 4)]));
    assert!(rig.end.flight_bytes() > rig.end.cwnd_bytes());
    assert_eq!(rig.take_tsns(), [0]);
}

#[test]
fn section_6_1_rule_d_no_more_than_max_burst_at_once() {
    let mut rig = Rig::established(Config {
        initial_cwnd_bytes: 50 * UNIT,
        ..config()
    });
    for _ in 0..30 {
        rig.end
            .send(
                rig.now,
                headway_sctp::Message {
                    payload: headway_sansio::Payload::Sized(1_452),
                    ..headway_sctp::Message::default()
                },
            )
            .unwrap();
    }
    rig.drain();
    assert_eq!(rig.take_tsns().len(), 4);
    rig.ack(4);
    assert_eq!(rig.take_tsns().len(), 4);
}

#[test]
fn section_7_3_a_narrower_path_makes_smaller_packets() {
    let mut rig = Rig::established(config());
    let own = rig.peer[0];
    let tag = crate::rig::TAG;
    assert!(rig.end.packet_too_big(rig.now, own, tag, 1_000));
    rig.send(5_000);
    assert!(rig.sent.iter().all(|sent| sent.packet.size_bytes() <= 980));
    // One that does not quote the tag is not believed.
    assert!(!rig.end.packet_too_big(rig.now, own, tag ^ 1, 600));
}

#[test]
fn section_7_2_cwnd_counts_chunks_with_their_headers() {
    let mut rig = Rig::established(config());
    rig.send(1);
    assert_eq!(rig.end.flight_bytes(), 20);
    rig.deliver(Chunk::Sack(crate::rig::sack_of(1, &[], 100_000)));
    assert_eq!(rig.end.flight_bytes(), 0);
    assert_eq!(rig.end.rto(), Duration::from_secs(1));
}
