//! What holds for every chain of links, whatever they do to packets.

mod common;

use std::collections::BTreeMap;

use common::{Host, Log, Seen, link};
use headway_path::{LinkConfig, LossConfig, LossGenerator, PathConfig, QueueConfig};
use headway_sansio::{Address, Duration, Time};
use headway_sim::{Network, Outcome};
use proptest::prelude::*;

prop_compose! {
    fn config()(
        delay_ns in 0..50_000_000_u64,
        rate_bps in prop::option::of(100_000..100_000_000_u64),
        rate in 0.0..0.5_f64,
        correlation in prop_oneof![Just(0.0), Just(0.5), Just(0.8)],
        limit_pkts in 1..20_u32,
        (late, extra_delay_ns) in (0.0..0.3_f64, 0..20_000_000_u64),
        twice in 0.0..0.3_f64,
    ) -> LinkConfig {
        let mut link = PathConfig::with_delay(Duration::from_nanos(delay_ns)).forward();
        link.rate_bps = rate_bps;
        link.loss = LossConfig::Bernoulli { rate, correlation, generator: LossGenerator::Markov };
        if rate_bps.is_some() {
            link.queue = QueueConfig::DropTailPackets { limit_pkts };
        }
        link.reorder.probability = late;
        link.reorder.extra_delay_ns = extra_delay_ns;
        link.duplicate.probability = twice;
        link
    }
}

/// A host, as many routers as there are links less one, and a host.
fn run(chain: &[LinkConfig], gaps: &[u64], seed: u64) -> (Network<Host, Log>, Outcome) {
    let mut sender = Host::new(1);
    let mut at = Time::ZERO;
    for (n, gap) in gaps.iter().enumerate() {
        at += Duration::from_nanos(*gap);
        sender = sender.sends(at, 2, n as u32);
    }
    let mut network = Network::new(Log::default());
    let mut last = network.add_node(sender);
    network.add_address(last, Address(1)).unwrap();
    for (n, config) in chain.iter().enumerate() {
        let next = if n + 1 < chain.len() {
            network.add_router()
        } else {
            network.add_node(Host::new(2))
        };
        network.add_link(last, next, link(config, seed + n as u64));
        last = next;
    }
    network.add_address(last, Address(2)).unwrap();
    network.route_shortest();
    let outcome = network.run_until(Time::FAR_FUTURE).unwrap();
    (network, outcome)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn each_packet_has_one_fate_and_one_time(
        chain in prop::collection::vec(config(), 1..4),
        gaps in prop::collection::vec(0..5_000_000_u64, 1..100),
        seed in 0..1_000_000_u64,
    ) {
        let (network, outcome) = run(&chain, &gaps, seed);
        prop_assert_eq!(outcome, Outcome::Idle);
        let propagation: u64 = chain.iter().map(|c| c.one_way_delay_ns).sum();
        // For each packet: when it was sent, when it would arrive, its fates.
        let mut sent = BTreeMap::new();
        let mut would: BTreeMap<u64, u64> = BTreeMap::new();
        let mut ended: BTreeMap<u64, Option<u64>> = BTreeMap::new();
        for seen in &network.observer().seen {
            match *seen {
                Seen::Sent(at, _, packet) => {
                    prop_assert_eq!(sent.insert(packet, at), None);
                }
                // A copy is as old as its original.
                Seen::Copied(_, packet, copy) => {
                    let at = sent[&packet];
                    prop_assert_eq!(sent.insert(copy, at), None);
                }
                Seen::WouldArrive(_, packet, at) => {
                    prop_assert!(at >= sent[&packet] + propagation);
                    prop_assert_eq!(would.insert(packet, at), None);
                }
                Seen::Arrived(at, _, packet) => {
                    prop_assert_eq!(would.get(&packet), Some(&at));
                    prop_assert_eq!(ended.insert(packet, Some(at)), None);
                }
                Seen::Lost(_, _, packet, _) => {
                    prop_assert_eq!(ended.insert(packet, None), None);
                }
                other => prop_assert!(false, "{:?} in a chain of routers", other),
            }
        }
        prop_assert_eq!(sent.len() as u64, network.packets_emitted());
        prop_assert!(sent.keys().eq(would.keys()) && sent.keys().eq(ended.keys()));
    }

    #[test]
    fn a_run_is_a_function_of_its_seed(
        chain in prop::collection::vec(config(), 1..4),
        gaps in prop::collection::vec(0..5_000_000_u64, 1..50),
        seed in 0..1_000_000_u64,
    ) {
        let (first, _) = run(&chain, &gaps, seed);
        let (second, _) = run(&chain, &gaps, seed);
        prop_assert_eq!(&first.observer().seen, &second.observer().seen);
        prop_assert_eq!(first.events_handled(), second.events_handled());
    }
}
