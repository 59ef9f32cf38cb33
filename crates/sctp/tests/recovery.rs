//! RFC 9260, sections 6.3 and 7.2: losses, timers and the congestion window.

mod common;

use common::{End, Pair, has_data, losing};
use headway_sansio::{Duration, Payload, Time};
use headway_sctp::{
    AssociationState, Chunk, Config, CwndWhenLimited, DataChunk, Event, FastRetransmitAmount,
    GapBlock, LostReason, Message, Packet, RepeatFastRetransmit, Sack, TimeoutRearm, Tsn,
};

fn ms(time: Time) -> u64 {
    time.as_nanos() / 1_000_000
}

/// When A sent the chunk of this place among all TSNs, in ms after `zero`.
fn sent_at(pair: &Pair, zero: u64, place: u32) -> Vec<u64> {
    let data = pair.data(End::A);
    let first = data[0].1.tsn;
    let of = |chunk: &DataChunk| chunk.tsn == first.plus(place);
    data.iter()
        .filter(|(_, c)| of(c))
        .map(|(time, _)| ms(*time) - zero)
        .collect()
}

/// A pair whose wire loses the DATA chunks of A with these places, the first time.
fn pair_losing(config: Config, places: &'static [u32]) -> (Pair, u64) {
    pair_losing_times(config, places, 1)
}

fn pair_losing_times(config: Config, places: &'static [u32], times: usize) -> (Pair, u64) {
    let mut pair = Pair::established(config);
    let mut first = None;
    let mut lost = vec![0; places.len()];
    pair.wire = losing(move |end, _, packet| {
        let Some(tsn) = packet.chunks.iter().find_map(|chunk| match chunk {
            Chunk::Data(data) if end == End::A => Some(data.tsn),
            _ => None,
        }) else {
            return false;
        };
        let place = tsn.distance_from(*first.get_or_insert(tsn));
        let Some(index) = places.iter().position(|&p| p == place) else {
            return false;
        };
        lost[index] += 1;
        lost[index] <= times
    });
    let zero = ms(pair.now);
    (pair, zero)
}

/// A SACK of B, made by hand.
fn sack(pair: &Pair, cumulative: Tsn, gaps: &[(u16, u16)]) -> Packet {
    let gaps = gaps
        .iter()
        .map(|&(start, end)| GapBlock { start, end })
        .collect();
    let sack = Sack {
        cumulative_tsn: cumulative,
        a_rwnd: 100_000,
        gaps,
        duplicates: Default::default(),
    };
    let tag = pair
        .log
        .iter()
        .find(|(_, _, p)| has_data(p))
        .map(|(_, end, packet)| {
            assert_eq!(*end, End::A);
            packet.verification_tag
        });
    assert!(tag.is_some());
    let chunks = [Chunk::Sack(sack)].into_iter().collect();
    Packet {
        source_port: 2000,
        destination_port: 1000,
        verification_tag: pair_tag(pair),
        chunks,
    }
}

/// The tag that A expects: any packet of B carries it.
fn pair_tag(pair: &Pair) -> u32 {
    let of_b =
        |(_, end, packet): &&(Time, End, Packet)| *end == End::B && packet.destination_port == 1000;
    pair.log
        .iter()
        .find(of_b)
        .map(|(_, _, packet)| packet.verification_tag)
        .unwrap()
}

/// A has sent `count` chunks, one packet each, and hears nothing but what the
/// test injects. Gives the TSN of the first that is outstanding.
fn silent(config: Config, count: usize) -> (Pair, Tsn) {
    let mut pair = Pair::established(config);
    // One exchange first, so that B's tag is on record.
    pair.send(End::A, 0, false, 100);
    pair.run_ms(500);
    pair.wire = losing(|_, _, _| true);
    let before = pair.data(End::A).len();
    for _ in 0..count {
        pair.send(End::A, 0, false, 100);
    }
    let first = pair.data(End::A)[before - 1].1.tsn.next();
    (pair, first)
}

fn retransmitted(pair: &Pair) -> Vec<Tsn> {
    let data = pair.data(End::A);
    data.iter()
        .filter(|(_, c)| c.trace.retransmission)
        .map(|(_, c)| c.tsn)
        .collect()
}

#[test]
fn section_7_2_4_three_missing_reports() {
    let (mut pair, zero) = pair_losing(Config::default(), &[3]);
    pair.send_spaced(End::A, 10, 200);
    pair.run_ms(500);
    // Sent at 30 ms; chunks 4, 5, 6 report it missing; the third report is back
    // 40 ms after 60 ms.
    assert_eq!(sent_at(&pair, zero, 3), [30, 100]);
    let stats = pair.a.stats();
    assert_eq!(
        (stats.fast_retransmissions, stats.timed_retransmissions),
        (1, 0)
    );
    assert_eq!((stats.fast_recoveries, stats.timeouts), (1, 0));
    // The window was 4404 and the floor is four packets.
    assert_eq!((pair.a.cwnd_bytes(), pair.a.ssthresh_bytes()), (5872, 5872));
}

#[test]
fn rfc_2960_asked_for_four_reports() {
    let config = Config {
        missing_report_threshold: 4,
        ..Config::default()
    };
    let (mut pair, zero) = pair_losing(config, &[3]);
    pair.send_spaced(End::A, 10, 200);
    pair.run_ms(500);
    assert_eq!(sent_at(&pair, zero, 3), [30, 110]);
}

#[test]
fn section_7_2_4_reports_count_only_below_the_highest_newly_acknowledged() {
    let (mut pair, first) = silent(Config::default(), 6);
    let point = first.previous();
    // 1 and 3 missing. The report of 2 says nothing of 3, which lies above it.
    let reports: [&[(u16, u16)]; 4] = [
        &[(2, 2)],
        &[(2, 2), (4, 4)],
        &[(2, 2), (4, 5)],
        &[(2, 2), (4, 6)],
    ];
    for (n, gaps) in reports.iter().enumerate() {
        let packet = sack(&pair, point, gaps);
        pair.inject(End::B, packet);
        let expected: &[Tsn] = match n {
            0 | 1 => &[],
            2 => &[first],
            _ => &[first, first.plus(2)],
        };
        // The third report of chunk 3 falls into the recovery that chunk 1 began:
        // it is marked, and sent as far as cwnd allows.
        assert_eq!(retransmitted(&pair), expected, "after report {n}");
    }
    assert_eq!(pair.a.stats().fast_recoveries, 1);
}

#[test]
fn section_7_2_4_the_same_report_twice_counts_once() {
    let (mut pair, first) = silent(Config::default(), 4);
    for _ in 0..5 {
        let packet = sack(&pair, first.previous(), &[(2, 4)]);
        pair.inject(End::B, packet);
    }
    assert!(retransmitted(&pair).is_empty());
}

#[test]
fn section_7_2_4_in_recovery_progress_counts_for_all_gaps() {
    let (mut pair, first) = silent(Config::default(), 9);
    let point = first.previous();
    for gaps in [[(2, 2)], [(2, 3)], [(2, 4)]] {
        let packet = sack(&pair, point, &gaps);
        pair.inject(End::B, packet);
    }
    assert_eq!(retransmitted(&pair), [first]);
    // Chunks 6 and 7 are missing, 8 is there. The last two SACKs acknowledge
    // nothing beyond the gap, but they advance the cumulative TSN.
    for (cumulative, gap) in [(3, 5), (4, 4), (5, 3)] {
        let packet = sack(&pair, first.plus(cumulative), &[(gap, gap)]);
        pair.inject(End::B, packet);
    }
    assert_eq!(retransmitted(&pair), [first, first.plus(6), first.plus(7)]);
}

#[test]
fn section_7_2_4_step_5_never_the_same_chunk_twice() {
    let (mut pair, zero) = pair_losing_times(Config::default(), &[3], 2);
    pair.send_spaced(End::A, 30, 200);
    pair.run_ms(3000);
    // The fast retransmission at 100 ms is lost as well: T3-rtx repairs it. The
    // timer was restarted with the retransmission of the lowest TSN.
    assert_eq!(sent_at(&pair, zero, 3), [30, 100, 1100]);
    assert_eq!(
        (pair.a.stats().timeouts, pair.a.stats().fast_retransmissions),
        (1, 1)
    );
    assert_eq!(pair.received(End::B).len(), 30);
}

#[test]
fn lksctp_2_6_11_repeats_after_as_many_reports_again() {
    let config = Config::profile("lksctp-2.6.11").unwrap();
    let (mut pair, zero) = pair_losing_times(config, &[3], 0);
    // Nothing is lost but the retransmission is far from needed: chunk 3 is late.
    let mut late = true;
    pair.wire = Box::new(move |end, n, packet| {
        let first = end == End::A && n == 3 && has_data(packet) && late;
        late &= !first;
        vec![if first {
            Duration::from_millis(220)
        } else {
            common::DELAY
        }]
    });
    for _ in 0..30 {
        pair.send(End::A, 0, false, 200);
        pair.run_ms(5);
    }
    pair.run_ms(1000);
    // Four reports (of chunks 4 to 7) are in at 75 ms; then four more, of chunks 8
    // to 11, at 95 ms, although the first retransmission has not even arrived.
    let times = sent_at(&pair, zero, 3);
    assert_eq!(times[..3], [15, 75, 95]);
    assert_eq!(pair.b.stats().duplicates_received, times.len() as u64 - 1);
}

#[test]
fn lksctp_2_6_18_does_not_repeat() {
    let config = Config::profile("lksctp-2.6.18").unwrap();
    let (mut pair, zero) = pair_losing_times(config, &[3], 2);
    pair.send_spaced(End::A, 30, 200);
    pair.run_ms(3000);
    assert_eq!(sent_at(&pair, zero, 3)[..2], [30, 100]);
    assert_eq!(
        (pair.a.stats().fast_retransmissions, pair.a.stats().timeouts),
        (1, 1)
    );
}

#[test]
fn multiple_fast_retransmit_waits_for_what_was_sent_after() {
    let config = Config {
        repeat_fast_retransmit: RepeatFastRetransmit::Qualified,
        ..Config::default()
    };
    let (mut pair, zero) = pair_losing_times(config, &[3], 2);
    pair.send_spaced(End::A, 30, 200);
    pair.run_ms(1000);
    // Resent at 100 ms, when chunk 10 is the next to go. Chunks 10, 11 and 12 are
    // sent at 100, 110 and 120 ms; their reports are back 40 ms later.
    assert_eq!(sent_at(&pair, zero, 3), [30, 100, 160]);
    assert_eq!(pair.a.stats().timeouts, 0);
}

#[test]
fn section_7_2_4_one_cut_for_each_recovery() {
    for (fast_recovery, cuts) in [(true, 1), (false, 3)] {
        let config = Config {
            fast_recovery,
            initial_cwnd_bytes: 40_000,
            ..Config::default()
        };
        let (mut pair, _) = pair_losing(config, &[3, 5, 7]);
        pair.send_spaced(End::A, 20, 200);
        pair.run_ms(800);
        assert_eq!(
            pair.a.stats().fast_recoveries,
            cuts,
            "fast recovery {fast_recovery}"
        );
        assert_eq!(
            pair.a.cwnd_bytes(),
            if fast_recovery { 20_000 } else { 5_872 }
        );
        assert_eq!(pair.received(End::B).len(), 20);
    }
}

#[test]
fn section_7_2_4_step_3_one_packet_whatever_cwnd_says() {
    for (amount, at_once) in [
        (FastRetransmitAmount::OnePacket, 1),
        (FastRetransmitAmount::AllMarked, 3),
    ] {
        let config = Config {
            fast_retransmit_amount: amount,
            initial_cwnd_bytes: 20_000,
            max_burst: 0,
            ..Config::default()
        };
        let mut pair = Pair::established(config);
        pair.send(End::A, 0, false, 1400);
        pair.run_ms(500);
        pair.wire = losing(|_, _, _| true);
        let before = pair.data(End::A).len();
        for _ in 0..14 {
            pair.send(End::A, 0, false, 1400);
        }
        let first = pair.data(End::A)[before].1.tsn;
        // The first three are missing, and the window is full even when halved.
        for gaps in [[(4, 4)], [(4, 5)], [(4, 6)]] {
            let packet = sack(&pair, first.previous(), &gaps);
            pair.inject(End::B, packet);
        }
        assert!(pair.a.flight_bytes() > pair.a.cwnd_bytes() - 1468);
        let after = retransmitted(&pair);
        assert_eq!(after.len(), at_once, "{amount:?}");
    }
}

#[test]
fn section_6_3_3_timeouts_double_up_to_the_limit() {
    let config = Config {
        association_max_retransmits: 8,
        rto_max: Duration::from_secs(20),
        heartbeat_interval: Duration::ZERO,
        ..Config::default()
    };
    let (mut pair, _) = silent(config, 1);
    let zero = ms(pair.data(End::A).last().unwrap().0);
    pair.run_ms(1_000_000);
    let all = pair.data(End::A);
    let times: Vec<u64> = all[1..]
        .iter()
        .map(|(t, _)| (ms(*t) - zero) / 1000)
        .collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 51, 71, 91]);
    let lost = Event::ConnectionLost {
        reason: LostReason::PeerUnreachable,
    };
    assert!(pair.has_event(End::A, &lost));
    assert!(pair.has_event(End::A, &Event::PathInactive { path: 0 }));
    assert_eq!(pair.a.state(), AssociationState::Closed);
}

#[test]
fn lksctp_rearms_with_the_undoubled_rto() {
    let config = Config {
        timeout_rearm: TimeoutRearm::Undoubled,
        ..Config::default()
    };
    let (mut pair, _) = silent(config, 1);
    let zero = ms(pair.data(End::A).last().unwrap().0);
    pair.run_ms(10_000);
    let all = pair.data(End::A);
    let times: Vec<u64> = all[1..]
        .iter()
        .map(|(t, _)| (ms(*t) - zero) / 1000)
        .collect();
    // Waits of 1, 1, 2, 4 s.
    assert_eq!(times, [0, 1, 2, 4, 8]);
}

#[test]
fn section_7_2_3_one_packet_until_something_is_acknowledged() {
    for one_packet in [true, false] {
        let config = Config {
            timeout_one_packet: one_packet,
            ..Config::default()
        };
        let (mut pair, first) = silent(config, 2);
        pair.run_ms(1_100);
        assert_eq!(pair.a.stats().timeouts, 1);
        // Both went in one packet; cwnd has room for more, and the user has more.
        assert_eq!(retransmitted(&pair), [first, first.plus(1)]);
        assert_eq!((pair.a.cwnd_bytes(), pair.a.ssthresh_bytes()), (1468, 5872));
        let before = pair.data(End::A).len();
        pair.send(End::A, 0, false, 100);
        assert_eq!(pair.data(End::A).len() - before, usize::from(!one_packet));
        let packet = sack(&pair, first, &[]);
        pair.inject(End::B, packet);
        assert_eq!(
            pair.data(End::A).len() - before,
            1,
            "acknowledged: it goes on"
        );
    }
}

#[test]
fn section_6_3_1_karn_measures_no_retransmitted_chunk() {
    let (mut pair, _) = pair_losing(Config::default(), &[0]);
    let srtt = pair.a.srtt();
    pair.send(End::A, 0, false, 100);
    pair.run_ms(1_500);
    assert_eq!((pair.a.stats().timeouts, pair.a.flight_bytes()), (1, 0));
    // It was acknowledged, but says nothing of the round trip; the backed-off RTO
    // stays until there is a new measurement.
    assert_eq!(
        (pair.a.srtt(), pair.a.rto()),
        (srtt, Duration::from_secs(2))
    );
    pair.send(End::A, 0, false, 100);
    pair.run_ms(1000);
    assert_eq!(pair.a.rto(), Duration::from_secs(1));
}

#[test]
fn section_6_3_2_r3_the_timer_restarts_when_the_earliest_is_acknowledged() {
    let (mut pair, first) = silent(Config::default(), 2);
    pair.run_ms(600);
    let packet = sack(&pair, first, &[]);
    pair.inject(End::B, packet);
    pair.run_ms(900);
    assert_eq!(pair.a.stats().timeouts, 0);
    pair.run_ms(200);
    assert_eq!(pair.a.stats().timeouts, 1);
    assert_eq!(retransmitted(&pair), [first.plus(1)]);
}

#[test]
fn section_6_2_1_old_and_impossible_sacks_are_dropped() {
    let (mut pair, first) = silent(Config::default(), 3);
    let packet = sack(&pair, first.plus(1), &[]);
    pair.inject(End::B, packet);
    for cumulative in [first, first.previous(), first.plus(3), first.plus(1 << 30)] {
        let packet = sack(&pair, cumulative, &[(1, 65_535)]);
        pair.inject(End::B, packet);
    }
    assert_eq!(pair.a.stats().sacks_discarded, 4);
    assert_eq!(pair.a.flight_bytes(), 116);
}

#[test]
fn section_6_2_1_a_chunk_that_the_peer_drops_again_is_under_way_again() {
    let (mut pair, first) = silent(Config::default(), 3);
    let point = first.previous();
    let packet = sack(&pair, point, &[(2, 3)]);
    pair.inject(End::B, packet);
    assert_eq!(pair.a.flight_bytes(), 116);
    let packet = sack(&pair, point, &[]);
    pair.inject(End::B, packet);
    assert_eq!(pair.a.flight_bytes(), 3 * 116);
    pair.wire = common::perfect();
    pair.run_ms(5_000);
    assert_eq!((pair.a.flight_bytes(), pair.received(End::B).len()), (0, 4));
}

#[test]
fn section_6_1_rule_b_cwnd_is_passed_by_one_packet_at_most() {
    let (mut pair, _) = silent(Config::default(), 0);
    let before = pair.data(End::A).len();
    for _ in 0..10 {
        pair.send(End::A, 0, false, 1400);
    }
    // 4404 bytes hold three chunks of 1416 and begin a fourth.
    assert_eq!(pair.data(End::A).len() - before, 4);
    assert!(pair.a.flight_bytes() < pair.a.cwnd_bytes() + 1468);
}

#[test]
fn section_6_1_rule_d_bursts_are_limited() {
    for (max_burst, expected) in [(4, 5), (2, 3), (0, 30)] {
        let config = Config {
            max_burst,
            initial_cwnd_bytes: 100_000,
            ..Config::default()
        };
        let (mut pair, _) = silent(config, 0);
        let before = pair.data(End::A).len();
        let now = pair.now;
        for _ in 0..30 {
            let payload = Payload::Sized(1400);
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
        // A packet begun below the limit is filled, so one more than the formula.
        assert_eq!(pair.data(End::A).len() - before, expected);
    }
}

#[test]
fn section_7_2_1_cwnd_grows_only_when_it_is_full() {
    for (rule, grows) in [
        (CwndWhenLimited::Keep, false),
        (CwndWhenLimited::Grow, true),
    ] {
        let config = Config {
            cwnd_when_limited: rule,
            ..Config::default()
        };
        let mut pair = Pair::established(config);
        pair.send_spaced(End::A, 20, 200);
        pair.run_ms(500);
        assert_eq!(pair.a.cwnd_bytes() > 4404, grows);
    }
    let mut pair = Pair::established(Config::default());
    for _ in 0..20 {
        pair.send(End::A, 0, false, 1400);
    }
    pair.run_ms(500);
    assert!(pair.a.cwnd_bytes() > 10_000, "a full window opens");
}

#[test]
fn bundles_fill_the_packet_after_a_wait() {
    let (mut pair, _) = silent(Config::default(), 0);
    for _ in 0..4 {
        pair.send(End::A, 0, false, 1400);
    }
    for _ in 0..12 {
        pair.send(End::A, 0, false, 200);
    }
    pair.wire = common::perfect();
    pair.run_ms(5_000);
    let most = pair
        .log
        .iter()
        .map(|(_, _, p)| {
            p.chunks
                .iter()
                .filter(|c| matches!(c, Chunk::Data(_)))
                .count()
        })
        .max();
    // 1468 bytes take six chunks of 216.
    assert_eq!(most, Some(6));
    assert_eq!(pair.received(End::B).len(), 17);
}

#[test]
fn nagle_gathers_small_messages_while_data_is_outstanding() {
    for (nagle, packets) in [(true, 2), (false, 10)] {
        let mut pair = Pair::established(Config {
            nagle,
            ..Config::default()
        });
        for _ in 0..10 {
            pair.send(End::A, 0, false, 100);
        }
        pair.run_ms(2_000);
        let with_data = pair
            .log
            .iter()
            .filter(|(_, end, p)| *end == End::A && has_data(p))
            .count();
        assert_eq!(with_data, packets);
        assert_eq!(pair.received(End::B).len(), 10);
    }
}
