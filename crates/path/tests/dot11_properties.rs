//! What holds for every cell, whatever the settings and the traffic.

mod dot11_support;

use std::collections::BTreeMap;

use dot11_support::{Bench, us};
use headway_path::dot11::{
    CellConfig, ErrorConfig, FrameDrop, HearingConfig, JitterConfig, JitterPer, Output, Preamble,
    Rate, RetryCount, Snr, SnrConfig, SourceConfig, Station, StationConfig,
};
use proptest::prelude::*;

fn rate() -> impl Strategy<Value = Rate> {
    prop::sample::select(Rate::ALL.to_vec())
}

fn station(index: usize, count: usize) -> impl Strategy<Value = StationConfig> {
    let to = u16::try_from((index + 1) % count).unwrap();
    let source = prop_oneof![
        3 => Just(None),
        1 => (50_u32..1_500, 1_000_000_u64..50_000_000).prop_map(move |(size_bytes, interval_ns)| {
            Some(SourceConfig::Cbr { to, size_bytes, interval_ns, start_ns: None })
        }),
        1 => (50_u32..1_500).prop_map(move |size_bytes| {
            Some(SourceConfig::Saturated { to, size_bytes })
        }),
    ];
    (
        rate(),
        0_u32..9,
        0_u32..5,
        prop::option::of(0_u32..1_500),
        prop::option::of(0_u32..6),
        source,
    )
        .prop_map(
            |(rate_bps, short, long, rts, queue_pkts, source)| StationConfig {
                rate_bps,
                retry_limit: Some(short),
                long_retry_limit: Some(long),
                rts_threshold_bytes: rts,
                queue_pkts,
                source,
            },
        )
}

fn hearing(count: usize) -> impl Strategy<Value = HearingConfig> {
    prop_oneof![
        Just(HearingConfig::All {}),
        // Five of six pairs hear each other.
        prop::collection::vec(prop::collection::vec(0_u8..6, count), count).prop_map(|rows| {
            let heard = rows
                .iter()
                .map(|row| row.iter().map(|&x| x > 0).collect())
                .collect();
            HearingConfig::Matrix { heard }
        }),
    ]
}

fn cell() -> impl Strategy<Value = CellConfig> {
    (2_usize..6)
        .prop_flat_map(|count| {
            let stations: Vec<_> = (0..count).map(|i| station(i, count)).collect();
            let link = (0..count, 0..count, -5.0_f64..20.0);
            (
                stations,
                hearing(count),
                prop::collection::vec(link, 0..4),
                any::<bool>(),
                any::<bool>(),
                prop::option::of(1.0_f64..15.0),
                prop::option::of(0.0_f64..30.0),
                (
                    0.0_f64..4.0,
                    prop::sample::select(vec![
                        JitterPer::Try,
                        JitterPer::Message,
                        JitterPer::Transaction,
                    ]),
                ),
                0_u64..20_000,
            )
        })
        .prop_map(
            |(stations, hearing, links, short, tries, capture_db, snr_db, jitter, sense_ns)| {
                let mut config = CellConfig {
                    stations,
                    hearing,
                    preamble: if short {
                        Preamble::Short
                    } else {
                        Preamble::Long
                    },
                    retry_count: if tries {
                        RetryCount::Tries
                    } else {
                        RetryCount::Retries
                    },
                    capture_db,
                    snr_db,
                    errors: ErrorConfig::Textbook { offset_db: 3.0 },
                    jitter: JitterConfig {
                        sigma_db: jitter.0,
                        per: jitter.1,
                    },
                    ..CellConfig::default()
                };
                config.timing.sense_ns = sense_ns;
                let links: BTreeMap<_, _> =
                    links.into_iter().map(|(f, t, db)| ((f, t), db)).collect();
                config.links = links
                    .into_iter()
                    .map(|((from, to), snr_db)| SnrConfig {
                        from: u16::try_from(from).unwrap(),
                        to: u16::try_from(to).unwrap(),
                        snr: Snr::Constant { snr_db },
                    })
                    .collect();
                config
            },
        )
}

/// Pauses in microseconds, sender, receiver, length.
type Traffic = Vec<(u64, u16, u16, u32)>;

fn traffic() -> impl Strategy<Value = Traffic> {
    let pause = prop_oneof![Just(0), 0_u64..300, 0_u64..30_000];
    prop::collection::vec((pause, 0_u16..6, 0_u16..6, 0_u32..2_000), 0..60)
}

fn run(config: &CellConfig, traffic: &Traffic, seed: u64) -> Bench {
    let mut bench = Bench::with_seed(config, seed);
    let mut at = 0;
    for &(pause, from, to, size_bytes) in traffic {
        at += pause;
        bench.run_to(us(at));
        bench.cell.begin_transaction(bench.now);
        bench.send(Station(from), Station(to), size_bytes);
    }
    if config.stations.iter().all(|s| s.source.is_none()) {
        bench.finish();
    } else {
        bench.run_to(us(at + 300_000));
    }
    bench
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_datagram_has_one_end(config in cell(), traffic in traffic(), seed: u64) {
        let bench = run(&config, &traffic, seed);
        let count = config.stations.len();
        let mut ends = vec![0_u32; traffic.len()];
        for output in &bench.outputs {
            let (Output::Delivered { datagram, .. } | Output::Dropped { datagram, .. }) = output;
            ends[datagram.body as usize] += 1;
        }
        prop_assert!(ends.iter().all(|&n| n <= 1), "{:?}", ends);
        let ended = ends.iter().sum::<u32>() as usize;
        if config.stations.iter().all(|s| s.source.is_none()) {
            prop_assert_eq!(ended, traffic.len());
        }

        let mut held = 0;
        let mut known = 0;
        for i in 0..count {
            let c = bench.counters(Station(u16::try_from(i).unwrap()));
            let through = c.delivered + c.dropped_queue + c.dropped_retry;
            prop_assert!(through <= c.offered);
            let source = c.source;
            let made = source.delivered + source.dropped_queue + source.dropped_retry;
            prop_assert!(made <= source.offered);
            let here = bench.cell.held_pkts(Station(u16::try_from(i).unwrap())) as u64;
            // A frame that has arrived is held until its ACK or its last try.
            let open = c.offered - through + source.offered - made;
            prop_assert!(open == here || open + 1 == here, "{} {}", open, here);
            held += c.offered - through;
            known += c.offered;
            prop_assert!(c.retries <= c.tries && c.rts <= c.tries);
            prop_assert!(c.collisions + c.channel_errors <= 2 * c.tries);
        }
        let strangers = traffic.iter().filter(|t| usize::from(t.1) >= count).count() as u64;
        prop_assert_eq!(known + strangers, traffic.len() as u64);
        prop_assert_eq!(held, (traffic.len() - ended) as u64);
    }

    #[test]
    fn journeys_are_in_order(config in cell(), traffic in traffic(), seed: u64) {
        let bench = run(&config, &traffic, seed);
        let mut last = BTreeMap::new();
        for output in &bench.outputs {
            let (from, journey) = match output {
                Output::Delivered { from, to, datagram, journey } => {
                    if let Some(before) = last.insert((*from, *to), datagram.body) {
                        prop_assert!(before < datagram.body, "{} after {}", datagram.body, before);
                    }
                    let rate = config.stations[usize::from(from.0)].rate_bps;
                    let shortest = rate.nanos(datagram.size_bytes + 36) + 96_000;
                    prop_assert!(journey.access_and_air().as_nanos() >= shortest);
                    prop_assert!(journey.tries >= 1);
                    (*from, journey)
                }
                Output::Dropped { from, cause, journey, .. } => {
                    match cause {
                        FrameDrop::RetryLimit => prop_assert!(journey.tries >= 1),
                        FrameDrop::QueueFull => prop_assert!(journey.would_arrive > journey.end),
                        FrameDrop::NoSuchStation => prop_assert_eq!(journey.tries, 0),
                        FrameDrop::TakenForDuplicate => prop_assert!(false, "too few frames"),
                    }
                    (*from, journey)
                }
            };
            prop_assert!(journey.handed <= journey.head);
            prop_assert!(journey.head <= journey.first_try_end);
            prop_assert!(journey.first_try_end <= journey.end);
            prop_assert!(journey.end <= journey.would_arrive);
            if let Some(station) = config.stations.get(usize::from(from.0)) {
                let most = station.retry_limit.unwrap() + station.long_retry_limit.unwrap() + 1;
                prop_assert!(journey.tries <= most, "{} of {}", journey.tries, most);
            }
        }
    }

    #[test]
    fn the_channel_is_busy_while_somebody_sends(config in cell(), traffic in traffic(), seed: u64) {
        let bench = run(&config, &traffic, seed);
        let air: Vec<u64> = (0..config.stations.len())
            .map(|i| bench.counters(Station(u16::try_from(i).unwrap())).air.as_nanos())
            .collect();
        let busy = bench.cell.busy(bench.now).as_nanos();
        // The longest frame of the strategies: RTS excluded, 2036 bytes at 1 Mb/s.
        let on_air = 192_000 + 2_036 * 8_000;
        prop_assert!(busy <= bench.now.as_nanos());
        prop_assert!(busy <= air.iter().sum::<u64>());
        prop_assert!(busy + on_air >= air.iter().copied().max().unwrap());
        let share = bench.cell.busy_share(bench.now);
        prop_assert!((0.0..=1.0).contains(&share));
    }

    #[test]
    fn the_same_seed_gives_the_same_cell(config in cell(), traffic in traffic(), seed: u64) {
        let [one, two] = [(); 2].map(|()| run(&config, &traffic, seed));
        // As text, because NaN does not equal itself.
        prop_assert_eq!(format!("{:?}", one.outputs), format!("{:?}", two.outputs));
        for i in 0..config.stations.len() {
            let station = Station(u16::try_from(i).unwrap());
            prop_assert_eq!(one.counters(station), two.counters(station));
        }
    }
}
