//! What holds for every link, whatever its settings and its traffic.

use headway_path::{
    DrdAbove, DrdReading, DropCause, DuplicateConfig, Link, LinkConfig, LossConfig, LossGenerator,
    PathConfig, QueueConfig, ReorderConfig, Verdict,
};
use headway_sansio::{Duration, Seed, Time};
use proptest::prelude::*;

fn loss() -> impl Strategy<Value = LossConfig> {
    let share = || 0.0..=1.0_f64;
    prop_oneof![
        Just(LossConfig::Lossless {}),
        (share(), 0.0..0.95_f64, any::<bool>()).prop_map(|(rate, correlation, markov)| {
            LossConfig::Bernoulli {
                rate,
                correlation,
                generator: if markov {
                    LossGenerator::Markov
                } else {
                    LossGenerator::Copula
                },
            }
        }),
        (share(), share(), share(), share()).prop_map(|(a, b, c, d)| LossConfig::GilbertElliott {
            good_to_bad: a,
            bad_to_good: b,
            loss_good: c,
            loss_bad: d,
        }),
        prop::collection::vec(0..=1_u8, 1..20).prop_map(|lost| LossConfig::Trace { lost }),
    ]
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    prop_oneof![
        Just(QueueConfig::Unlimited {}),
        (1..50_u32).prop_map(|limit_pkts| QueueConfig::DropTailPackets { limit_pkts }),
        (1..50_000_u64, any::<bool>()).prop_map(|(limit_bytes, overshoot)| {
            QueueConfig::DropTailBytes {
                limit_bytes,
                overshoot,
            }
        }),
        (0..20_u32, 1..20_u32, any::<bool>(), any::<bool>()).prop_map(
            |(min_pkts, more, line, all)| QueueConfig::Drd {
                min_pkts,
                max_pkts: min_pkts + more,
                reading: if line {
                    DrdReading::DelayLine
                } else {
                    DrdReading::Server
                },
                above: if all { DrdAbove::All } else { DrdAbove::Same },
            }
        ),
    ]
}

prop_compose! {
    fn config()(
        delay_ns in 0..100_000_000_u64,
        rate_bps in 10_000..1_000_000_000_u64,
        loss in loss(),
        queue in queue(),
        (late, extra_delay_ns) in (0.0..=1.0_f64, 0..50_000_000_u64),
        twice in 0.0..=1.0_f64,
    ) -> LinkConfig {
        let mut link = PathConfig::with_delay(Duration::from_nanos(delay_ns)).forward();
        link.rate_bps = Some(rate_bps);
        link.loss = loss;
        link.queue = queue;
        link.reorder = ReorderConfig { probability: late, extra_delay_ns };
        link.duplicate = DuplicateConfig { probability: twice };
        link
    }
}

/// Gaps between packets and their sizes.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0..5_000_000_u64, 1..2000_u32), 1..300)
}

proptest! {
    #[test]
    fn nothing_is_made_or_missed(config in config(), traffic in traffic(), seed: u64) {
        prop_assert_eq!(config.validate(), Ok(()));
        let mut link = Link::new(&config, Seed::new(seed));
        let mut now = Time::ZERO;
        let (mut delivered, mut lost, mut refused, mut copies) = (0, 0, 0, 0);
        for &(gap, size) in &traffic {
            now += Duration::from_nanos(gap);
            let foreseen = link.peek(now, size);
            let held = link.queue_packets(now);
            let offer = link.offer(now, size);
            // Never sooner than propagation and serialisation, and what peek
            // says unless it is held back.
            let least = now + link.delay()
                + Duration::of_transmission(size.into(), config.rate_bps.unwrap());
            let would = offer.verdict.would_arrive();
            prop_assert!(foreseen >= least && would >= foreseen);
            let extra = Duration::from_nanos(config.reorder.extra_delay_ns);
            prop_assert!(would == foreseen || would == foreseen + extra);
            match offer.verdict {
                Verdict::Delivered { at } => {
                    delivered += 1;
                    prop_assert!(offer.duplicate.is_none_or(|copy| copy >= at));
                    copies += u64::from(offer.duplicate.is_some());
                }
                Verdict::Dropped { cause, .. } => {
                    prop_assert_eq!(offer.duplicate, None);
                    match cause {
                        DropCause::Loss => lost += 1,
                        DropCause::Queue => {
                            refused += 1;
                            prop_assert_eq!(link.queue_packets(now), held);
                        }
                    }
                }
            }
            match config.queue {
                QueueConfig::DropTailPackets { limit_pkts } => {
                    prop_assert!(link.queue_packets(now) <= limit_pkts);
                }
                QueueConfig::Drd { max_pkts, above: DrdAbove::All, .. } => {
                    prop_assert!(link.queue_packets(now) <= max_pkts + 1);
                }
                _ => {}
            }
        }
        let c = link.counters();
        prop_assert_eq!(c.packets_offered, traffic.len() as u64);
        prop_assert_eq!(c.packets_offered, delivered + lost + refused);
        prop_assert_eq!(c.packets_delivered, delivered);
        prop_assert_eq!(c.packets_lost_wire, lost);
        prop_assert_eq!(c.packets_lost_queue, refused);
        prop_assert_eq!(c.packets_duplicated, copies);
        prop_assert!(c.bytes_delivered <= c.bytes_offered);
        if let QueueConfig::DropTailBytes { limit_bytes, overshoot } = config.queue {
            let over = if overshoot { 1999 } else { 0 };
            prop_assert!(c.queue_max_bytes <= limit_bytes + over);
        }
    }

    #[test]
    fn without_reordering_none_overtakes(config in config(), traffic in traffic(), seed: u64) {
        let mut config = config;
        config.reorder = ReorderConfig::default();
        let mut link = Link::new(&config, Seed::new(seed));
        let (mut now, mut last) = (Time::ZERO, Time::ZERO);
        for (gap, size) in traffic {
            now += Duration::from_nanos(gap);
            if let Verdict::Delivered { at } = link.offer(now, size).verdict {
                prop_assert!(at >= last);
                last = at;
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_link(config in config(), traffic in traffic(), seed: u64) {
        let mut links = [0, 1].map(|_| Link::new(&config, Seed::new(seed)));
        let mut now = Time::ZERO;
        for (gap, size) in traffic {
            now += Duration::from_nanos(gap);
            let [a, b] = links.each_mut().map(|link| link.offer(now, size));
            prop_assert_eq!(a, b);
        }
    }
}
