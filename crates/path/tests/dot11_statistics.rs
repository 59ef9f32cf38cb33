//! What many frames do together.

mod dot11_support;

use dot11_support::{A, B, Bench, C, link, losing, plain_errors, saturated, stations, us};
use headway_path::dot11::{
    CellConfig, HearingConfig, JitterConfig, JitterPer, Output, Snr, SnrConfig, Station, TracePoint,
};

/// Five standard deviations of a share `p` over `n` trials.
fn five_sigma(p: f64, n: f64) -> f64 {
    5.0 * (p * (1.0 - p) / n).sqrt()
}

/// Independent tries with error probability q: a datagram is lost with
/// probability q^(r+1), and needs (1 - q^(r+1)) / (1 - q) tries in the mean.
#[test]
fn retries_are_independent_tries() {
    const N: u32 = 20_000;
    let n = f64::from(N);
    for q in [0.1, 0.35, 0.9] {
        for r in [0, 1, 2, 4, 8] {
            let mut config = stations(2);
            config.stations[0].retry_limit = Some(r);
            config.stations[0].queue_pkts = None;
            config.errors = plain_errors();
            config.control_errors = false;
            config.links = vec![link(A, B, losing(q))];
            let mut bench = Bench::new(&config);
            for _ in 0..N {
                bench.send(A, B, 64);
            }
            bench.finish();
            let expected = q.powi(i32::try_from(r).unwrap() + 1);
            let lost = bench.dropped() as f64 / n;
            assert!(
                (lost - expected).abs() <= five_sigma(expected, n) + 0.5 / n,
                "q = {q}, r = {r}: {lost} for {expected}"
            );
            let tries = bench.counters(A).tries as f64 / n;
            let mean = (1.0 - expected) / (1.0 - q);
            // No count of tries has a deviation above r + 1.
            let slack = 5.0 * f64::from(r + 1) / n.sqrt();
            assert!((tries - mean).abs() <= slack, "q = {q}, r = {r}: {tries}");
        }
    }
}

/// How long a draw of the jitter lasts decides whether retries help. Half of
/// all draws lie below the threshold of the table.
#[test]
fn jitter_by_try_message_and_transaction() {
    const N: u32 = 4_000;
    let lost = |per| {
        let mut config = stations(2);
        config.stations[0].retry_limit = Some(1);
        config.errors = plain_errors();
        config.control_errors = false;
        config.jitter = JitterConfig { sigma_db: 2.0, per };
        config.links = vec![link(A, B, 5.0)];
        let mut bench = Bench::new(&config);
        let mut pairs_split = 0;
        for _ in 0..N / 2 {
            bench.cell.begin_transaction(bench.now);
            let before = bench.dropped();
            bench.send(A, B, 64);
            bench.send(A, B, 64);
            bench.finish();
            pairs_split += u32::from(bench.dropped() - before == 1);
        }
        (
            bench.dropped() as f64 / f64::from(N),
            f64::from(pairs_split) / f64::from(N / 2),
        )
    };
    let near = |x: f64, p: f64| (x - p).abs() < five_sigma(p, f64::from(N / 2)) + 0.01;
    let (share, split) = lost(JitterPer::Try);
    assert!(near(share, 0.25) && near(split, 0.375), "{share} {split}");
    let (share, split) = lost(JitterPer::Message);
    assert!(near(share, 0.5) && near(split, 0.5), "{share} {split}");
    let (share, split) = lost(JitterPer::Transaction);
    // The table falls from 1 to 0 within 0.02 dB: next to no pair is split.
    assert!(near(share, 0.5) && split < 0.02, "{share} {split}");
}

/// The SNR in a record is the one that the frame met.
#[test]
fn records_carry_the_snr() {
    let mut config = stations(2);
    config.stations[0].queue_pkts = None;
    config.errors = plain_errors();
    config.control_errors = false;
    config.jitter = JitterConfig {
        sigma_db: 2.0,
        per: JitterPer::Try,
    };
    config.links = vec![link(A, B, 20.0)];
    let mut bench = Bench::new(&config);
    for _ in 0..4_000 {
        bench.send(A, B, 64);
    }
    bench.finish();
    let snrs: Vec<f64> = bench
        .outputs
        .iter()
        .map(|output| match output {
            Output::Delivered { journey, .. } => journey.snr_db,
            Output::Dropped { .. } => panic!("15 dB above the threshold"),
        })
        .collect();
    let mean = snrs.iter().sum::<f64>() / 4_000.0;
    let sd = (snrs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4_000.0).sqrt();
    assert!(
        (mean - 20.0).abs() < 0.16 && (sd - 2.0).abs() < 0.12,
        "{mean} {sd}"
    );
}

/// Walking out of the cell: a trace, and the two directions apart.
#[test]
fn traces_and_asymmetry() {
    let mut config = stations(2);
    config.errors = plain_errors();
    config.control_errors = false;
    config.stations[0].retry_limit = Some(0);
    config.snr_db = Some(50.0);
    let points = [(0, 9.0), (1_000_000_000, 1.0)];
    config.links = vec![SnrConfig {
        from: 0,
        to: 1,
        snr: Snr::Trace {
            points: points
                .map(|(at_ns, snr_db)| TracePoint { at_ns, snr_db })
                .to_vec(),
            linear: true,
        },
    }];
    let mut bench = Bench::new(&config);
    for k in 0..100 {
        bench.run_to(us(10_000 * k));
        bench.send(A, B, 64);
        bench.run_to(us(10_000 * k + 5_000));
        bench.send(B, A, 64);
    }
    bench.finish();
    // 5 dB are reached at 0.5 s.
    let last_up = bench
        .arrivals()
        .into_iter()
        .filter(|(body, _)| body % 2 == 0)
        .map(|(_, at)| at)
        .max();
    assert!(
        last_up > Some(us(480_000)) && last_up < Some(us(502_000)),
        "{last_up:?}"
    );
    let down = bench
        .arrivals()
        .iter()
        .filter(|(body, _)| body % 2 == 1)
        .count();
    assert_eq!(down, 100);
    assert_eq!(bench.cell.snr_db(us(250_000), A, B), Some(7.0));
}

fn two_senders(hidden: bool, rts: bool) -> CellConfig {
    let mut config = stations(3);
    for i in 0..2 {
        config.stations[i].source = saturated(C, 1028);
        config.stations[i].rts_threshold_bytes = rts.then_some(0);
    }
    if hidden {
        config.hearing = HearingConfig::Hidden {
            pairs: vec![[0, 1]],
        };
    }
    config
}

/// Share of tries that collide, and frames a second.
fn collisions_and_rate(config: &CellConfig) -> (f64, f64) {
    let mut bench = Bench::new(config);
    bench.run_to(us(100_000_000));
    let (a, b) = (bench.counters(A), bench.counters(B));
    (
        (a.collisions + b.collisions) as f64 / (a.tries + b.tries) as f64,
        (a.source.delivered + b.source.delivered) as f64 / 100.0,
    )
}

#[test]
fn hidden_stations_collide_and_rts_helps() {
    let (p_heard, heard) = collisions_and_rate(&two_senders(false, false));
    let (p_hidden, hidden) = collisions_and_rate(&two_senders(true, false));
    let (p_rts, rts) = collisions_and_rate(&two_senders(true, true));
    // With carrier sense some 6 % collide; without it, a frame is safe only if
    // the other station is silent for two frame times.
    assert!((0.03..0.08).contains(&p_heard), "{p_heard}");
    assert!(
        p_hidden > 0.5 && hidden < 0.6 * heard,
        "{p_hidden} {hidden} {heard}"
    );
    assert!(
        p_rts < p_hidden && rts > 1.3 * hidden,
        "{p_rts} {rts} {hidden}"
    );
}

/// Of two frames at once the much stronger one survives where capture is on.
#[test]
fn capture_spares_the_stronger() {
    let mut config = two_senders(true, false);
    config.links = vec![link(A, C, 40.0), link(B, C, 25.0)];
    let share = |capture_db| {
        let mut bench = Bench::new(&CellConfig {
            capture_db,
            ..config.clone()
        });
        bench.run_to(us(100_000_000));
        [A, B].map(|s| {
            let counters = bench.counters(s);
            counters.collisions as f64 / counters.tries as f64
        })
    };
    let [a, b] = share(None);
    assert!(a > 0.5 && b > 0.5, "{a} {b}");
    let [a, b] = share(Some(10.0));
    assert!(a < 0.01 && b > 0.5, "{a} {b}");
    let [a, b] = share(Some(20.0));
    assert!(a > 0.5 && b > 0.5, "{a} {b}");
}

/// Stations that run on different slot grids collide only because carrier sense
/// takes time.
#[test]
fn carrier_sense_takes_time() {
    const D: Station = Station(3);
    let collisions = |sense_ns| {
        let mut config = stations(4);
        config.stations[0].source = saturated(C, 500);
        config.stations[1].source = saturated(D, 500);
        config.timing.sense_ns = sense_ns;
        config.errors = plain_errors();
        config.snr_db = Some(50.0);
        // B decodes nothing of the others' exchanges, so after them it waits for
        // EIFS, 314 us more than A: no whole number of slots.
        config.links = vec![link(A, B, 0.0), link(C, B, 0.0)];
        let mut bench = Bench::new(&config);
        bench.run_to(us(100_000_000));
        bench.counters(A).collisions + bench.counters(B).collisions
    };
    let (at_once, late) = (collisions(0), collisions(15_000));
    assert!(late > at_once + 100, "{at_once} {late}");
}

/// Jain's index of what five equal stations carry.
#[test]
fn equal_stations_share_equally() {
    let mut config = stations(6);
    for sender in &mut config.stations[..5] {
        sender.source = saturated(Station(5), 1028);
    }
    let mut bench = Bench::new(&config);
    bench.run_to(us(300_000_000));
    let shares: Vec<f64> = (0..5)
        .map(|i| bench.counters(Station(i)).source.delivered as f64)
        .collect();
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    let jain = sum * sum / (5.0 * squares);
    assert!(jain > 0.999, "{jain} {shares:?}");
}
