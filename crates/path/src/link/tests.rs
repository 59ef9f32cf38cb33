use super::*;
use crate::config::{
    DrdAbove, DrdReading, DuplicateConfig, LossConfig, LossGenerator, QueueConfig, ReorderConfig,
};
use crate::path_config::PathConfig;

const MS: u64 = 1_000_000;

fn config(rate_bps: Option<u64>) -> LinkConfig {
    let mut config = PathConfig::with_delay(Duration::from_millis(20)).forward();
    config.rate_bps = rate_bps;
    config
}

fn link(config: &LinkConfig) -> Link {
    config.validate().expect("settings of a test are valid");
    Link::new(config, Seed::new(9))
}

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn arrival(link: &mut Link, now: u64, size: u32) -> u64 {
    match link.offer(at(now), size).verdict {
        Verdict::Delivered { at } => at.as_nanos(),
        dropped => panic!("{dropped:?}"),
    }
}

#[test]
fn propagation_alone_is_exact() {
    let mut link = link(&config(None));
    assert_eq!(arrival(&mut link, 3, 1500), 20 * MS + 3);
    assert_eq!(arrival(&mut link, 3, 40), 20 * MS + 3);
    assert_eq!(link.queue_packets(at(3)), 0);
}

#[test]
fn serialisation_is_exact_and_rounded_up() {
    // 1500 B at 10 Mb/s: 1.2 ms. Three at once wait for one another; a later one
    // finds the server idle.
    let mut fast = link(&config(Some(10_000_000)));
    let arrivals = [0, 0, 0, 50 * MS].map(|now| arrival(&mut fast, now, 1500));
    assert_eq!(
        arrivals,
        [21_200_000, 22_400_000, 23_600_000, 50 * MS + 21_200_000]
    );
    // 1 B at 3 bit/s: 8/3 s, rounded up.
    let mut slow = link(&config(Some(3)));
    assert_eq!(arrival(&mut slow, 0, 1), 2_666_666_667 + 20 * MS);
}

#[test]
fn drop_tail_refuses_and_would_have_taken() {
    let mut config = config(Some(8_000_000));
    config.queue = QueueConfig::DropTailPackets { limit_pkts: 2 };
    let mut link = link(&config);
    // 1000 B take 1 ms. One in service and one waiting; the third is refused.
    let verdicts = [0, 0, 0, MS - 1, MS].map(|now| link.offer(at(now), 1000).verdict);
    let delivered = |ms| Verdict::Delivered { at: at(ms * MS) };
    let refused = |ms| Verdict::Dropped {
        cause: DropCause::Queue,
        would_arrive: at(ms * MS),
    };
    // What was refused took no time on the link.
    assert_eq!(
        verdicts,
        [
            delivered(21),
            delivered(22),
            refused(23),
            refused(23),
            delivered(23)
        ]
    );
    let counters = link.counters();
    assert_eq!(
        (counters.packets_offered, counters.packets_delivered),
        (5, 3)
    );
    assert_eq!(counters.packets_lost_queue, 2);
    assert_eq!(
        (counters.queue_max_pkts, counters.queue_max_bytes),
        (2, 2000)
    );
}

#[test]
fn a_packet_lost_on_the_wire_takes_its_place_and_time() {
    let mut config = config(Some(8_000_000));
    config.loss = LossConfig::Trace { lost: vec![1, 0] };
    let mut link = link(&config);
    assert_eq!(
        link.offer(at(0), 1000).verdict,
        Verdict::Dropped {
            cause: DropCause::Loss,
            would_arrive: at(21 * MS)
        }
    );
    assert_eq!(arrival(&mut link, 0, 1000), 22 * MS);
    assert_eq!(link.counters().packets_lost_wire, 1);
}

#[test]
fn the_delay_line_fills_a_queue_without_a_rate() {
    let mut config = config(None);
    config.queue = QueueConfig::Drd {
        min_pkts: 10,
        max_pkts: 20,
        reading: DrdReading::DelayLine,
        above: DrdAbove::All,
    };
    let mut link = link(&config);
    // One packet a millisecond keeps 20 in the delay line where nothing drops.
    for n in 0..11 {
        assert_eq!(arrival(&mut link, n * MS, 500), (20 + n) * MS);
    }
    // The twelfth finds 11 and is the first that may be dropped. Under a steady
    // stream of two packets a millisecond the line never holds more than 21.
    for n in 22..4000_u64 {
        link.offer(at(n * MS / 2), 500);
        assert!(link.queue_packets(at(n * MS / 2)) <= 21);
    }
    let counters = link.counters();
    assert!(counters.packets_lost_queue > 1000 && counters.packets_delivered > 1000);
    assert!(counters.queue_max_pkts > 12 && counters.queue_max_pkts <= 21);
}

#[test]
fn reordering_lets_packets_overtake() {
    let mut config = config(None);
    config.reorder = ReorderConfig {
        probability: 0.3,
        extra_delay_ns: 5 * MS,
    };
    let mut link = link(&config);
    let arrivals: Vec<u64> = (0..10_000)
        .map(|n| arrival(&mut link, n * MS, 100))
        .collect();
    let late = (0..10_000_u64)
        .filter(|&n| arrivals[n as usize] == (n + 25) * MS)
        .count();
    let regular = (0..10_000_u64)
        .filter(|&n| arrivals[n as usize] == (n + 20) * MS)
        .count();
    assert_eq!(late + regular, 10_000);
    assert_eq!(late as u64, link.counters().packets_held_back);
    // Binomial, standard deviation 46.
    assert!((2770..=3230).contains(&late), "{late}");
    assert!(arrivals.windows(2).any(|w| w[1] < w[0]));
}

#[test]
fn duplicates_follow_their_packet() {
    let mut config = config(None);
    config.duplicate = DuplicateConfig { probability: 0.1 };
    config.loss = LossConfig::Bernoulli {
        rate: 0.2,
        correlation: 0.0,
        generator: LossGenerator::Markov,
    };
    let mut link = link(&config);
    let mut copies = 0;
    for n in 0..10_000 {
        let offer = link.offer(at(n), 100);
        if let Some(copy) = offer.duplicate {
            assert_eq!(offer.verdict, Verdict::Delivered { at: copy });
            copies += 1;
        }
    }
    // 0.8 * 0.1 of 10,000, standard deviation 27.
    assert!((665..=935).contains(&copies), "{copies}");
    assert_eq!(link.counters().packets_duplicated, copies);
}

#[test]
fn peeking_takes_no_place_and_draws_nothing() {
    let mut config = config(Some(8_000_000));
    config.loss = LossConfig::Bernoulli {
        rate: 0.5,
        correlation: 0.0,
        generator: LossGenerator::Markov,
    };
    let (mut peeked, mut other) = (link(&config), link(&config));
    for n in 0..100 {
        let foreseen = peeked.peek(at(n * 1000), 700);
        let offer = peeked.offer(at(n * 1000), 700);
        assert_eq!(offer.verdict.would_arrive(), foreseen);
        assert_eq!(offer, other.offer(at(n * 1000), 700));
    }
}

/// The same packets are lost on the wire whatever the other elements do.
#[test]
fn elements_do_not_shift_one_another() {
    let lost = |change: fn(&mut LinkConfig)| -> Vec<u64> {
        let mut config = config(Some(8_000_000));
        config.loss = LossConfig::Bernoulli {
            rate: 0.05,
            correlation: 0.5,
            generator: LossGenerator::Markov,
        };
        change(&mut config);
        let mut link = link(&config);
        (0..2000)
            .filter(|n| {
                let verdict = link.offer(at(n * MS), 100).verdict;
                matches!(
                    verdict,
                    Verdict::Dropped {
                        cause: DropCause::Loss,
                        ..
                    }
                )
            })
            .collect()
    };
    let plain = lost(|_| {});
    assert!(!plain.is_empty());
    assert_eq!(plain, lost(|c| c.reorder.probability = 0.3));
    assert_eq!(plain, lost(|c| c.duplicate.probability = 0.3));
    assert_eq!(plain, lost(|c| c.one_way_delay_ns *= 3));
    // Where the queue takes a packet first, the fates of the others stand.
    let queued = lost(|c| {
        c.queue = QueueConfig::Drd {
            min_pkts: 1,
            max_pkts: 30,
            reading: DrdReading::DelayLine,
            above: DrdAbove::All,
        };
    });
    assert!(queued.len() < plain.len() && queued.iter().all(|n| plain.contains(n)));
}

/// Integers in a table: a diff shows what a change did.
#[test]
fn snapshot_of_a_busy_link() {
    let mut config = config(Some(1_000_000));
    config.loss = LossConfig::Bernoulli {
        rate: 0.08,
        correlation: 0.5,
        generator: LossGenerator::Markov,
    };
    config.queue = QueueConfig::Drd {
        min_pkts: 5,
        max_pkts: 10,
        reading: DrdReading::Server,
        above: DrdAbove::All,
    };
    config.reorder = ReorderConfig {
        probability: 0.05,
        extra_delay_ns: 3 * MS,
    };
    config.duplicate = DuplicateConfig { probability: 0.02 };
    let mut link = link(&config);
    let (mut arrivals, mut copies) = (0, 0);
    for n in 0..5000_u64 {
        let offer = link.offer(at(n * 4 * MS + n % 7 * 1000), 200 + (n % 13) as u32 * 60);
        arrivals ^= offer
            .verdict
            .would_arrive()
            .as_nanos()
            .rotate_left((n % 64) as u32);
        copies ^= offer.duplicate.map_or(0, Time::as_nanos);
    }
    let c = *link.counters();
    let table = [
        c.packets_offered,
        c.bytes_offered,
        c.packets_delivered,
        c.bytes_delivered,
        c.packets_lost_wire,
        c.packets_lost_queue,
        c.packets_duplicated,
        c.packets_held_back,
        u64::from(c.queue_max_pkts),
        c.queue_max_bytes,
        arrivals,
        copies,
    ];
    assert_eq!(table, BUSY);
}
const BUSY: [u64; 12] = [
    5000,
    2_798_800,
    4067,
    2_295_940,
    371,
    562,
    79,
    255,
    10,
    5680,
    10_388_447_554_342_385_199,
    31_049_323_632,
];
