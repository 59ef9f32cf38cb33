//! Single exchanges, to the microsecond.

mod dot11_support;

use dot11_support::{A, B, Bench, C, link, losing, plain_errors, saturated, stations, us};
use headway_path::dot11::{
    Cell, CellConfig, FrameDrop, HearingConfig, Output, Preamble, Rate, RetryCount, SourceConfig,
};
use headway_sansio::{Duration, Machine, Seed};

/// When a lone datagram of this length arrives, from its handing over.
fn one_way_us(config: &CellConfig, size_bytes: u32) -> u64 {
    let mut bench = Bench::new(config);
    bench.run_to(us(1_000_000));
    bench.send(A, B, size_bytes);
    bench.finish();
    let nanos = bench.arrivals()[0].1.since(us(1_000_000)).as_nanos();
    assert_eq!(nanos % 1_000, 0);
    nanos / 1_000
}

/// Air times of the project's sources: 900, 500 and 1000 bytes in UDP and IP at
/// 1 Mb/s with the long preamble. In a cell long idle there is no wait.
#[test]
fn air_times_at_1_mbps() {
    let sizes = [928, 528, 1028];
    assert_eq!(
        sizes.map(|size| one_way_us(&stations(2), size)),
        [7904, 4704, 8704]
    );
}

#[test]
fn preambles_and_rates() {
    let with = |rate, preamble| {
        let mut config = stations(2);
        config.preamble = preamble;
        config.stations[0].rate_bps = rate;
        // 1100 bits of datagram and overhead make whole microseconds at 5.5 and 11.
        one_way_us(&config, 1_100 - 36)
    };
    use Preamble::{Long, Short};
    use Rate::{Mbps1, Mbps2, Mbps5_5, Mbps11};
    assert_eq!(with(Mbps1, Long), 192 + 8800);
    // Never a short preamble at 1 Mb/s.
    assert_eq!(with(Mbps1, Short), 192 + 8800);
    assert_eq!(with(Mbps2, Long), 192 + 4400);
    assert_eq!(with(Mbps2, Short), 96 + 4400);
    assert_eq!(with(Mbps5_5, Short), 96 + 1600);
    assert_eq!(with(Mbps11, Short), 96 + 800);
}

/// ACK at 1 Mb/s: 304 us, 10 us after the data; the next frame follows after
/// DIFS and a whole number of slots.
#[test]
fn the_next_frame_follows_after_ack_difs_and_back_off() {
    let mut seen = [false; 32];
    for seed in 0..400 {
        let mut bench = Bench::with_seed(&stations(2), seed);
        bench.run_to(us(1_000));
        bench.send(A, B, 928);
        bench.send(A, B, 928);
        bench.finish();
        let [(0, first), (1, second)] = bench.arrivals()[..] else {
            panic!("{:?}", bench.outputs)
        };
        let gap = second.since(first).as_nanos() - (10 + 304 + 50 + 7904) * 1_000;
        assert_eq!(gap % 20_000, 0);
        seen[usize::try_from(gap / 20_000).unwrap()] = true;
    }
    assert_eq!(seen, [true; 32]);
}

/// 1000 bytes of UDP payload: a cycle of 9378 us, 106.6 frames a second.
#[test]
fn a_lone_saturated_sender_keeps_the_cycle() {
    let mut config = stations(2);
    config.stations[0].source = saturated(B, 1028);
    let mut bench = Bench::new(&config);
    bench.run_to(us(1_000_000_000));
    let counters = bench.counters(A);
    let per_second = counters.source.delivered as f64 / 1e3;
    // The mean of 106,600 draws from 0..=31 slots is off by 0.6 us at most
    // (1 standard deviation), 0.006 %.
    assert!((per_second - 106.63).abs() < 0.03, "{per_second}");
    let busy = bench.cell.busy_share(us(1_000_000_000));
    assert!((busy - (8704.0 + 304.0) / 9378.0).abs() < 0.001, "{busy}");
    // Nothing overlaps, so the channel is busy for as long as the two send,
    // less what is left of a frame on the air now.
    let left = counters.air + bench.counters(B).air - bench.cell.busy(bench.now);
    assert!(left <= Duration::from_micros(8704), "{left:?}");
}

/// 125 packets a second are more than the channel carries at 1 Mb/s.
#[test]
fn a_cbr_source_saturates_1_mbps() {
    let mut config = stations(2);
    config.stations[0].source = Some(SourceConfig::Cbr {
        to: 1,
        size_bytes: 1028,
        interval_ns: 8_000_000,
        start_ns: Some(0),
    });
    let mut bench = Bench::new(&config);
    bench.run_to(us(100_000_000));
    let source = bench.counters(A).source;
    let held = bench.cell.held_pkts(A) as u64;
    assert!((10_650..=10_675).contains(&source.delivered), "{source:?}");
    assert!((100..=101).contains(&held), "{held}");
    assert_eq!(
        source.offered,
        source.delivered + source.dropped_queue + held
    );
    // All of 125 a second are made, but for those since the queue was last looked at.
    assert!((12_498..=12_501).contains(&source.offered), "{source:?}");
    // Slower than the channel: nothing waits, nothing is dropped.
    config.stations[0].source = Some(SourceConfig::Cbr {
        to: 1,
        size_bytes: 1028,
        interval_ns: 20_000_000,
        start_ns: Some(0),
    });
    let mut bench = Bench::new(&config);
    bench.run_to(us(99_999_000));
    let source = bench.counters(A).source;
    assert_eq!((source.offered, source.delivered), (5_000, 5_000));
}

/// The source's own frames and handed-over datagrams share one queue in the
/// order of their coming.
#[test]
fn own_traffic_and_datagrams_keep_their_order() {
    let mut config = stations(2);
    config.stations[0].source = Some(SourceConfig::Cbr {
        to: 1,
        size_bytes: 1028,
        interval_ns: 100_000_000,
        start_ns: Some(0),
    });
    config.stations[0].queue_pkts = None;
    let mut bench = Bench::new(&config);
    bench.run_to(us(300_001));
    // Its own fourth frame is on the air; ours has to wait for it.
    bench.send(A, B, 100);
    bench.run_to(us(350_000));
    let arrival = bench.arrivals()[0].1;
    assert!(arrival > us(300_000 + 8704 + 314), "{arrival:?}");
    assert_eq!(bench.counters(A).source.delivered, 4);
}

#[test]
fn both_readings_of_the_retry_limit() {
    for (count, limit, tries) in [
        (RetryCount::Retries, 0, 1),
        (RetryCount::Retries, 2, 3),
        (RetryCount::Retries, 8, 9),
        (RetryCount::Tries, 0, 1),
        (RetryCount::Tries, 2, 2),
        (RetryCount::Tries, 8, 8),
    ] {
        let mut config = stations(2);
        config.retry_count = count;
        config.stations[0].retry_limit = Some(limit);
        config.errors = plain_errors();
        config.links = vec![link(A, B, 0.0)];
        let mut bench = Bench::new(&config);
        bench.send(A, B, 928);
        bench.finish();
        let [Output::Dropped { cause, journey, .. }] = &bench.outputs[..] else {
            panic!("{:?}", bench.outputs)
        };
        assert_eq!(*cause, FrameDrop::RetryLimit);
        assert_eq!(journey.tries, tries, "{count:?} {limit}");
        let counters = bench.counters(A);
        assert_eq!(counters.tries, u64::from(tries));
        assert_eq!(counters.retries, u64::from(tries) - 1);
        assert_eq!(counters.channel_errors, u64::from(tries));
        // The first try: DIFS from the start of time, then the air time.
        assert_eq!(journey.first_try_end, us(50 + 7904));
        assert_eq!(journey.would_arrive, journey.end);
        assert!(journey.end >= journey.first_try_end);
        assert_eq!(journey.end == journey.first_try_end, tries == 1);
    }
}

/// After a failure: 222 us without an ACK, up to the next slot boundary, and a
/// back-off from twice the window, that is 0 to 63 slots.
#[test]
fn retries_wait_for_the_timeout_and_double_the_window() {
    let mut config = stations(2);
    config.stations[0].retry_limit = Some(1);
    config.stations[0].queue_pkts = None;
    config.errors = plain_errors();
    config.links = vec![link(A, B, 0.0)];
    let mut bench = Bench::new(&config);
    for _ in 0..3_000 {
        bench.send(A, B, 64);
    }
    bench.finish();
    let mut seen = [false; 64];
    for output in &bench.outputs {
        let Output::Dropped { journey, .. } = output else {
            panic!("{output:?}")
        };
        // 50 + 9 slots is the first boundary after 222 us; then 992 us of air.
        let slots = journey.retry_time().as_nanos() - (230 + 992) * 1_000;
        assert_eq!(slots % 20_000, 0);
        seen[usize::try_from(slots / 20_000).unwrap()] = true;
    }
    assert_eq!(seen, [true; 64]);
}

#[test]
fn the_queue_has_a_limit_and_says_when_a_refused_datagram_would_have_come() {
    let mut config = stations(2);
    config.stations[0].queue_pkts = Some(3);
    let mut bench = Bench::new(&config);
    bench.run_to(us(1_000));
    for _ in 0..6 {
        bench.send(A, B, 928);
    }
    let refused: Vec<u32> = bench
        .outputs
        .iter()
        .map(|output| match output {
            Output::Dropped {
                cause: FrameDrop::QueueFull,
                datagram,
                journey,
                ..
            } => {
                // Four before it and itself: DIFS, 15.5 slots and air each, and
                // SIFS and ACK between them.
                let expected = 5 * (50 + 310 + 7904) + 4 * (10 + 304);
                assert_eq!(journey.would_arrive, us(1_000 + expected));
                assert_eq!(journey.end, us(1_000));
                datagram.body
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(refused, [4, 5]);
    bench.finish();
    let bodies: Vec<u32> = bench.arrivals().iter().map(|a| a.0).collect();
    assert_eq!(bodies, [0, 1, 2, 3]);
    let counters = bench.counters(A);
    assert_eq!(
        (counters.offered, counters.delivered, counters.dropped_queue),
        (6, 4, 2)
    );
}

#[test]
fn a_datagram_to_nobody_is_handed_back() {
    let mut bench = Bench::new(&stations(2));
    for (from, to) in [(A, A), (A, C), (C, A)] {
        bench.send(from, to, 100);
    }
    let all_back = bench.outputs.iter().all(|output| {
        matches!(
            output,
            Output::Dropped {
                cause: FrameDrop::NoSuchStation,
                ..
            }
        )
    });
    assert!(all_back && bench.outputs.len() == 3, "{:?}", bench.outputs);
}

/// A station that could decode nothing waits for EIFS after the ACK, one that
/// could for DIFS: 314 us apart, which is no whole number of slots.
#[test]
fn eifs_after_a_frame_received_in_error() {
    let access_after_ack = |deaf: bool| {
        let mut config = stations(3);
        config.errors = plain_errors();
        config.snr_db = Some(50.0);
        if deaf {
            config.links = vec![link(A, C, 0.0), link(B, C, 0.0)];
        }
        let mut bench = Bench::new(&config);
        bench.run_to(us(1_000));
        bench.send(A, B, 928);
        bench.run_to(us(2_000));
        bench.send(C, B, 928);
        bench.finish();
        let ack_over = us(1_000 + 7904 + 10 + 304);
        let arrival = bench.arrivals()[1].1;
        arrival.since(ack_over).as_nanos() / 1_000 - 7904
    };
    let (heard, deaf) = (access_after_ack(false), access_after_ack(true));
    assert_eq!(deaf - heard, 314);
    assert_eq!((heard - 50) % 20, 0);
}

/// The reservation in a data frame keeps a station silent that hears the sender
/// but not the ACK.
#[test]
fn the_reservation_protects_an_ack_that_is_not_heard() {
    let mut config = stations(3);
    config.hearing = HearingConfig::Matrix {
        heard: vec![
            vec![false, true, true],
            vec![true, false, false],
            vec![true, true, false],
        ],
    };
    let mut bench = Bench::new(&config);
    bench.run_to(us(1_000));
    bench.send(A, B, 928);
    // Between the data and the end of their ACK.
    bench.run_to(us(1_000 + 7904 + 100));
    bench.send(C, B, 928);
    bench.finish();
    let begin = bench.arrivals()[1].1 - Duration::from_micros(7904);
    assert!(begin >= us(1_000 + 7904 + 10 + 304 + 50), "{begin:?}");
    assert_eq!(bench.counters(A).tries, 1);
}

#[test]
fn rts_and_cts_come_before_long_frames_only() {
    let mut config = stations(2);
    config.stations[0].rts_threshold_bytes = Some(500);
    let mut bench = Bench::new(&config);
    bench.run_to(us(1_000));
    bench.send(A, B, 928);
    bench.run_to(us(100_000));
    bench.send(A, B, 464);
    bench.finish();
    let [(0, long), (1, short)] = bench.arrivals()[..] else {
        panic!("{:?}", bench.outputs)
    };
    // RTS 352 us, CTS 304 us, both followed by SIFS.
    assert_eq!(long, us(1_000 + 352 + 10 + 304 + 10 + 7904));
    assert_eq!(short, us(100_000 + 192 + 4000));
    assert_eq!(bench.counters(A).rts, 1);
}

/// RTS failures count against the short limit, data after a CTS against the
/// long one (IEEE 802.11-1999, section 9.2.5.3).
#[test]
fn short_and_long_retry_limits() {
    let tries = |control_errors: bool| {
        let mut config = stations(2);
        config.stations[0].rts_threshold_bytes = Some(0);
        config.errors = plain_errors();
        config.control_errors = control_errors;
        config.links = vec![link(A, B, 0.0)];
        let mut bench = Bench::new(&config);
        bench.send(A, B, 928);
        bench.finish();
        assert_eq!(bench.dropped(), 1);
        bench.counters(A).tries
    };
    assert_eq!((tries(true), tries(false)), (8, 5));
}

/// A lost ACK makes the sender repeat; the receiver acknowledges the repetition
/// and hands up nothing.
#[test]
fn a_lost_ack_repeats_the_frame_but_not_the_datagram() {
    let mut config = stations(2);
    config.errors = plain_errors();
    config.snr_db = Some(50.0);
    config.links = vec![link(B, A, 0.0)];
    let mut bench = Bench::new(&config);
    bench.send(A, B, 928);
    bench.finish();
    assert_eq!(bench.arrivals(), [(0, us(50 + 7904))]);
    assert_eq!(bench.dropped(), 0);
    let (a, b) = (bench.counters(A), bench.counters(B));
    assert_eq!(
        (a.tries, a.answers_lost, a.delivered_unacknowledged),
        (8, 8, 1)
    );
    assert_eq!((b.duplicates, a.channel_errors), (7, 0));

    config.links = vec![link(B, A, losing(0.5))];
    config.stations[0].queue_pkts = None;
    let mut bench = Bench::new(&config);
    for _ in 0..2_000 {
        bench.send(A, B, 200);
    }
    bench.finish();
    let bodies: Vec<u32> = bench.arrivals().iter().map(|a| a.0).collect();
    assert_eq!(bodies, (0..2_000).collect::<Vec<_>>());
    assert!(bench.counters(B).duplicates > 1_000);
}

/// 12 bits of sequence number: after 4096 frames the filter may err.
#[test]
fn a_frame_with_the_number_of_the_last_one_is_taken_for_it() {
    let mut config = stations(3);
    config.errors = plain_errors();
    config.snr_db = Some(50.0);
    config.stations[0].queue_pkts = None;
    let mut bench = Bench::new(&config);
    bench.send(A, B, 100);
    for _ in 0..4_095 {
        bench.send(A, C, 100);
    }
    bench.finish();
    assert_eq!(bench.arrivals().len(), 4_096);
    bench.cell.set_snr(bench.now, A, B, 0.0);
    bench.send(A, B, 100);
    while bench.counters(A).channel_errors == 0 {
        bench.run_to(bench.cell.poll_timeout().unwrap());
    }
    bench.cell.set_snr(bench.now, A, B, 50.0);
    bench.finish();
    let last = bench.outputs.last().unwrap();
    let taken = matches!(
        last,
        Output::Dropped {
            cause: FrameDrop::TakenForDuplicate,
            ..
        }
    );
    assert!(taken, "{last:?}");
}

/// A late driver changes nothing: what was due happens at its own time.
#[test]
fn a_late_driver_gets_the_same_results() {
    let mut config = stations(3);
    config.errors = plain_errors();
    config.snr_db = Some(losing(0.3));
    config.stations[2].source = saturated(A, 500);
    let run = |step_us: u64| {
        let mut bench = Bench::new(&config);
        for k in 0..100 {
            bench.run_to(us(30_000 * k));
            bench.send(A, B, 928);
        }
        let mut at = bench.now;
        while at < us(4_000_000) {
            at += Duration::from_micros(step_us);
            bench.cell.handle_timeout(at);
        }
        while let Some(output) = bench.cell.poll_output() {
            bench.outputs.push(output);
        }
        format!("{:?}", bench.outputs)
    };
    assert_eq!(run(1), run(400_000));
    let cell: Cell<u32> = Cell::new(&stations(2), Seed::new(1)).unwrap();
    assert_eq!(cell.poll_timeout(), None);
}
