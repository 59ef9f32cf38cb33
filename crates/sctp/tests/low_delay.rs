//! Recovery with little delay: RFC 8985 (losses by time, tail loss probes),
//! RFC 5827 (early retransmit), RFC 7053 (the I bit), and a low RTO.

mod common;

use common::{End, Pair, has_data, losing};
use headway_sansio::{Duration, Time};
use headway_sctp::{Chunk, Config, IdleDecay, Tsn};

fn ms(time: Time) -> u64 {
    time.as_nanos() / 1_000_000
}

fn timed() -> Config {
    Config {
        time_loss_detection: true,
        ..Config::default()
    }
}

fn probing() -> Config {
    Config {
        tail_loss_probe: true,
        ..timed()
    }
}

/// A round trip is known (40 ms, twice), the SACK of the last message is in, and
/// the DATA packets of A with these places from now on are lost.
fn ready(config: Config, places: &'static [usize]) -> (Pair, u64) {
    let mut pair = Pair::established(config);
    for _ in 0..2 {
        pair.send(End::A, 0, false, 100);
        pair.send(End::A, 0, false, 100);
        pair.run_ms(1_000);
    }
    pair.log.clear();
    pair.events.clear();
    let mut count = 0;
    pair.wire = losing(move |end, _, packet| {
        let data = end == End::A && has_data(packet);
        count += usize::from(data);
        data && places.contains(&(count - 1))
    });
    let zero = ms(pair.now);
    (pair, zero)
}

/// When DATA went out, in ms from the beginning, and its place in the order of TSNs.
fn sent(pair: &Pair, zero: u64) -> Vec<(u64, u32)> {
    let data = pair.data(End::A);
    let first = data[0].1.tsn;
    data.iter()
        .map(|(at, chunk)| (ms(*at) - zero, chunk.tsn.distance_from(first)))
        .collect()
}

#[test]
fn rfc_8985_6_2_a_chunk_is_lost_once_a_later_one_has_arrived() {
    let (mut pair, zero) = ready(timed(), &[0]);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(25);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    // The second, sent at 25, is acknowledged at 65: 25 ms is more than the
    // reordering window of 10 ms.
    assert_eq!(sent(&pair, zero), [(0, 0), (25, 1), (65, 0)]);
    assert_eq!(pair.received(End::B).len(), 2);
}

#[test]
fn rfc_8985_6_2_the_reordering_window_is_a_quarter_of_the_least_round_trip() {
    let (mut pair, zero) = ready(timed(), &[0]);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(4);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    // Acknowledged at 44; the first could come until 50.
    assert_eq!(sent(&pair, zero), [(0, 0), (4, 1), (50, 0)]);
}

#[test]
fn rfc_8985_6_2_reordering_within_the_window_costs_nothing() {
    let (mut pair, _) = ready(timed(), &[]);
    let mut count = 0;
    pair.wire = Box::new(move |end, _, packet| {
        let late = end == End::A && has_data(packet) && count == 0;
        count += u32::from(end == End::A && has_data(packet));
        vec![Duration::from_millis(if late { 29 } else { 20 })]
    });
    pair.send(End::A, 0, false, 100);
    pair.run_ms(4);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    assert_eq!(pair.a.stats().retransmissions(), 0);
    assert_eq!(pair.received(End::B).len(), 2);
}

#[test]
fn rfc_8985_6_2_three_chunks_beyond_the_gap_close_the_window() {
    let (mut pair, zero) = ready(timed(), &[0]);
    for _ in 0..4 {
        pair.send(End::A, 0, false, 100);
        pair.run_ms(1);
    }
    pair.run_ms(500);
    // No reordering was ever seen: the third SACK, at 43, decides.
    let again: Vec<u64> = sent(&pair, zero)[4..].iter().map(|(at, _)| *at).collect();
    assert_eq!(again, [43]);
}

#[test]
fn rfc_8985_9_1_a_lost_retransmission_is_found() {
    let (mut pair, zero) = ready(timed(), &[0, 3]);
    for _ in 0..6 {
        pair.send(End::A, 0, false, 100);
        pair.run_ms(25);
    }
    pair.run_ms(500);
    // 65: the second chunk, sent at 25, is acknowledged, and the first goes again,
    // which is lost too. 115: a chunk sent at 75, after that, is acknowledged.
    let first: Vec<u64> = sent(&pair, zero)
        .iter()
        .filter(|(_, place)| *place == 0)
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(first, [0, 65, 115]);
    assert_eq!(pair.a.stats().timeouts, 0);
    assert_eq!(pair.received(End::B).len(), 6);
}

#[test]
fn rfc_8985_9_3_a_lost_retransmission_is_a_second_sign_of_congestion() {
    let config = Config {
        initial_cwnd_bytes: 40_000,
        ssthresh_floor_mtus: 1,
        idle_decay: IdleDecay::Never,
        ..timed()
    };
    let run = |lost: &'static [usize]| {
        let (mut pair, _) = ready(config.clone(), lost);
        for _ in 0..6 {
            pair.send(End::A, 0, false, 100);
            pair.run_ms(25);
        }
        pair.run_ms(200);
        pair.a.cwnd_bytes()
    };
    let (once, twice) = (run(&[0]), run(&[0, 3]));
    assert_eq!((once, twice), (20_000, 10_000));
}

#[test]
fn rfc_8985_6_3_a_timeout_takes_only_what_is_old_for_lost() {
    let (mut pair, _) = ready(timed(), &[]);
    pair.wire = losing(|_, _, _| true);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(990);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(20);
    // T3-rtx expired at 1000; the second chunk is 10 ms old.
    assert_eq!(pair.a.stats().timed_retransmissions, 1);
    assert_eq!(pair.a.flight_bytes(), 2 * 116);
}

#[test]
fn rfc_8985_7_2_the_probe_goes_after_two_round_trips() {
    let (mut pair, zero) = ready(probing(), &[1]);
    pair.send(End::A, 0, false, 100);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    // The end of the flight is lost. The SACK of the first, alone, is delayed; two
    // are outstanding, so the probe does not allow for that: 80 ms.
    assert_eq!(sent(&pair, zero), [(0, 0), (0, 1), (80, 1)]);
    assert_eq!(pair.a.stats().probe_retransmissions, 1);
    assert_eq!(pair.received(End::B).len(), 2);
}

#[test]
fn rfc_8985_7_2_a_single_chunk_gets_the_time_of_a_delayed_sack() {
    let (mut pair, zero) = ready(probing(), &[0]);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(900);
    assert_eq!(sent(&pair, zero), [(0, 0), (280, 0)]);
    // And where that comes, no probe goes.
    let (mut pair, zero) = ready(probing(), &[]);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(900);
    assert_eq!(sent(&pair, zero), [(0, 0)]);
}

#[test]
fn rfc_8985_7_2_the_probe_comes_no_later_than_t3() {
    let config = Config {
        rto_min: Duration::from_millis(1),
        rto_margin_min: Duration::from_millis(150),
        ..probing()
    };
    let (mut pair, zero) = ready(config, &[0]);
    let before = pair.a.stats().loss_probes;
    pair.send(End::A, 0, false, 100);
    pair.run_ms(900);
    assert_eq!(sent(&pair, zero), [(0, 0), (190, 0)]);
    let probes = pair.a.stats().loss_probes - before;
    assert_eq!((pair.a.stats().timeouts, probes), (0, 1));
}

#[test]
fn rfc_8985_7_3_new_data_is_the_better_probe() {
    let config = Config {
        initial_cwnd_bytes: 1_400,
        ..probing()
    };
    let (mut pair, zero) = ready(config, &[0]);
    // cwnd is full with one chunk, and another waits.
    pair.send(End::A, 0, false, 1_400);
    pair.send(End::A, 0, false, 1_400);
    pair.run_ms(900);
    assert_eq!(sent(&pair, zero), [(0, 0), (280, 1), (320, 0)]);
    assert_eq!(pair.a.stats().probe_retransmissions, 0);
    assert_eq!(pair.received(End::B).len(), 2);
}

#[test]
fn rfc_8985_7_3_there_is_one_probe_at_a_time_and_t3_is_the_last_resort() {
    let (mut pair, zero) = ready(probing(), &[0, 1]);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(3_000);
    // Probe at 280, which is lost too; T3-rtx runs anew from there.
    assert_eq!(sent(&pair, zero), [(0, 0), (280, 0), (1_280, 0)]);
    assert_eq!(
        (pair.a.stats().timeouts, pair.a.stats().loss_probes),
        (1, 1)
    );
}

#[test]
fn rfc_8985_7_4_2_a_loss_that_the_probe_repaired_is_a_sign_of_congestion() {
    let config = Config {
        initial_cwnd_bytes: 40_000,
        idle_decay: IdleDecay::Never,
        ..probing()
    };
    let after = |lost: &'static [usize]| {
        let (mut pair, _) = ready(config.clone(), lost);
        pair.send(End::A, 0, false, 100);
        pair.send(End::A, 0, false, 100);
        pair.run_ms(300);
        // Something sent later must be acknowledged for the judgement.
        pair.send(End::A, 0, false, 100);
        pair.send(End::A, 0, false, 100);
        pair.run_ms(300);
        pair.a.cwnd_bytes()
    };
    assert_eq!((after(&[1]), after(&[])), (20_000, 40_000));
}

#[test]
fn rfc_8985_7_4_2_a_needless_probe_is_not() {
    let config = Config {
        initial_cwnd_bytes: 40_000,
        idle_decay: IdleDecay::Never,
        ..probing()
    };
    let (mut pair, _) = ready(config, &[]);
    // The first SACK is lost.
    let mut lost = false;
    pair.wire = losing(move |end, _, packet| {
        let sack = matches!(packet.chunks[0], Chunk::Sack(_));
        let hit = end == End::B && sack && !lost;
        lost |= hit;
        hit
    });
    let before = pair.a.cwnd_bytes();
    for _ in 0..2 {
        pair.send(End::A, 0, false, 100);
        pair.send(End::A, 0, false, 100);
        pair.run_ms(300);
    }
    assert_eq!(pair.a.stats().probe_retransmissions, 1);
    assert_eq!(pair.b.stats().duplicates_received, 1);
    assert_eq!(pair.a.cwnd_bytes(), before);
}

#[test]
fn rfc_5827_two_outstanding_need_one_report() {
    let config = Config {
        early_retransmit: true,
        ..Config::default()
    };
    let (mut pair, zero) = ready(config, &[0]);
    pair.send(End::A, 0, false, 100);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    assert_eq!(sent(&pair, zero), [(0, 0), (0, 1), (40, 0)]);
}

#[test]
fn rfc_5827_three_outstanding_need_both_others_to_have_arrived() {
    let config = Config {
        early_retransmit: true,
        ..Config::default()
    };
    let (mut pair, zero) = ready(config, &[0]);
    for _ in 0..3 {
        pair.send(End::A, 0, false, 100);
        pair.run_ms(5);
    }
    pair.run_ms(500);
    assert_eq!(sent(&pair, zero)[3..], [(50, 0)]);
}

#[test]
fn rfc_5827_four_outstanding_go_by_the_plain_rule() {
    let config = Config {
        early_retransmit: true,
        ..Config::default()
    };
    let (mut pair, zero) = ready(config, &[0, 1]);
    for _ in 0..4 {
        pair.send(End::A, 0, false, 100);
    }
    pair.run_ms(500);
    // Two of four are missing, and two reports are not three.
    assert_eq!(sent(&pair, zero).len(), 4);
}

#[test]
fn a_low_rto_leaves_room_for_a_delayed_sack() {
    let config = Config {
        rto_min: Duration::from_millis(1),
        rto_margin_min: Duration::from_millis(200),
        ..Config::default()
    };
    let (mut pair, zero) = ready(config, &[0]);
    assert_eq!(pair.a.rto(), Duration::from_millis(240));
    pair.send(End::A, 0, false, 100);
    pair.run_ms(700);
    assert_eq!(sent(&pair, zero), [(0, 0), (240, 0)]);
}

fn asking(pair: &Pair) -> Vec<bool> {
    let data = pair.data(End::A);
    data.iter().map(|(_, chunk)| chunk.immediate).collect()
}

fn i_bit() -> Config {
    Config {
        immediate_sack_on_burst_end: true,
        ..Config::default()
    }
}

#[test]
fn rfc_7053_the_last_packet_of_a_burst_asks() {
    let (mut pair, _) = ready(i_bit(), &[]);
    pair.send(End::A, 0, false, 4_000);
    assert_eq!(asking(&pair), [false, false, true]);
    // One message at a time, close to each other: SACKs come of themselves.
    pair.log.clear();
    for _ in 0..4 {
        pair.run_ms(50);
        pair.send(End::A, 0, false, 100);
    }
    assert_eq!(asking(&pair), [false; 4]);
}

#[test]
fn rfc_7053_a_rare_message_asks() {
    let (mut pair, _) = ready(i_bit(), &[]);
    for _ in 0..3 {
        pair.send(End::A, 0, false, 100);
        pair.run_ms(500);
    }
    assert_eq!(asking(&pair), [true; 3]);
    // Its SACK comes after a round trip and not 200 ms later.
    let sacks = pair.sacks(End::B).len();
    assert_eq!(sacks, 3);
    assert_eq!(pair.a.srtt(), Some(Duration::from_millis(40)));
}

#[test]
fn rfc_7053_what_fills_a_window_asks() {
    let config = Config {
        initial_cwnd_bytes: 2_000,
        ..i_bit()
    };
    let (mut pair, _) = ready(config, &[]);
    for _ in 0..4 {
        pair.send(End::A, 0, false, 1_400);
    }
    let asking = asking(&pair);
    assert_eq!(
        asking,
        [true, true],
        "the first is rare, the second fills cwnd"
    );
}

#[test]
fn rfc_7053_the_last_chunk_before_the_end_asks() {
    let config = Config {
        initial_cwnd_bytes: 1_400,
        sack_every: 100,
        ..i_bit()
    };
    let (mut pair, _) = ready(config, &[]);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(10);
    pair.log.clear();
    pair.wire = losing(|end, _, _| end == End::B);
    pair.send(End::A, 0, false, 100);
    let now = pair.now;
    pair.a.shutdown(now);
    pair.drain();
    assert_eq!(asking(&pair), [false], "it had gone before the user asked");
}

#[test]
fn low_delay_recovers_a_lost_tail_without_t3() {
    let config = Config::profile("low-delay").unwrap();
    let (mut pair, zero) = ready(config, &[0]);
    pair.send(End::A, 0, false, 100);
    pair.run_ms(900);
    // A rare message asks for its SACK, so the probe need not allow for a delay.
    assert_eq!(sent(&pair, zero), [(0, 0), (80, 0)]);
    assert_eq!(pair.a.stats().timeouts, 0);
}

#[test]
fn low_delay_survives_the_wrap_of_tsns() {
    let config = Config {
        initial_tsn: Some(Tsn(u32::MAX - 6)),
        ..Config::profile("low-delay").unwrap()
    };
    let (mut pair, _) = ready(config, &[0, 4, 7]);
    for _ in 0..10 {
        pair.send(End::A, 0, false, 100);
        pair.run_ms(15);
    }
    pair.run_ms(1_000);
    assert_eq!(pair.received(End::B).len(), 10);
    assert_eq!(pair.a.stats().timeouts, 0);
}
