//! Runs on several threads give what one thread gives.

mod common;

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{Host, delay, link, ms};
use headway_path::{LossConfig, LossGenerator};
use headway_sansio::{Address, Duration, Seed, Time};
use headway_sim::{Network, parallel_map};

/// One run with everything random: what arrived when, as numbers.
fn run(seed: u64) -> Vec<(u64, u32)> {
    let mut arrivals = Seed::new(seed).stream("arrivals");
    let mut sender = Host::new(1);
    let mut at = Time::ZERO;
    for n in 0..500 {
        at += arrivals.exponential_duration(Duration::from_millis(25));
        sender = sender.sends(at, 2, n);
    }
    let mut receiver = Host::new(2);
    receiver.answers = true;
    let mut config = delay(20);
    config.rate_bps = Some(1_000_000);
    config.loss = LossConfig::Bernoulli {
        rate: 0.05,
        correlation: 0.5,
        generator: LossGenerator::Copula,
    };
    config.reorder.probability = 0.1;
    config.reorder.extra_delay_ns = 30_000_000;
    config.duplicate.probability = 0.05;
    let mut network = Network::new(());
    let left = network.add_node(sender);
    let right = network.add_node(receiver);
    network.add_address(left, Address(1)).unwrap();
    network.add_address(right, Address(2)).unwrap();
    network.add_link(left, right, link(&config, seed));
    network.add_link(right, left, link(&config, seed + 1000));
    network.route_shortest();
    network.run_until(Time::FAR_FUTURE).unwrap();
    let heard = |node| network.machine(node).heard.clone();
    let both = heard(right).into_iter().chain(heard(left));
    both.map(|(at, n)| (at.as_nanos(), n)).collect()
}

#[test]
fn one_two_and_eight_threads_give_the_same() {
    let seeds: Vec<u64> = (0..64).collect();
    let alone: Vec<_> = seeds.iter().map(|&s| run(s)).collect();
    // The runs differ, or the comparison would show nothing.
    assert!(alone.windows(2).all(|w| w[0] != w[1] && w[0].len() > 700));
    for jobs in [0, 1, 2, 8] {
        let told = AtomicUsize::new(0);
        let results = parallel_map(
            jobs,
            &seeds,
            &AtomicBool::new(false),
            |done, of| {
                assert!(done <= of && of == 64);
                told.fetch_add(1, Ordering::Relaxed);
            },
            |&seed| run(seed),
        );
        let results: Vec<_> = results.into_iter().map(Option::unwrap).collect();
        assert_eq!(results, alone, "{jobs} jobs");
        assert_eq!(told.into_inner(), 64);
    }
}

#[test]
fn a_cancelled_map_keeps_what_is_done() {
    let items: Vec<u32> = (0..1000).collect();
    let cancel = AtomicBool::new(false);
    let stop_at_ten = |done, _| {
        if done == 10 {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    // On one thread, where nothing else is under way when the flag is set.
    let results = parallel_map(1, &items, &cancel, stop_at_ten, |&n| n * 2);
    let expected: Vec<_> = (0..1000).map(|n| (n < 10).then_some(n * 2)).collect();
    assert_eq!(results, expected);
    let none = parallel_map(2, &items, &cancel, |_, _| (), |&n| n);
    assert!(none.iter().all(Option::is_none));
}

#[test]
fn a_panic_stops_the_others_and_comes_out() {
    let items: Vec<u32> = (0..100_000).collect();
    let done = AtomicUsize::new(0);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        parallel_map(
            2,
            &items,
            &AtomicBool::new(false),
            |_, _| (),
            |&n| {
                assert!(n != 5, "item five");
                done.fetch_add(1, Ordering::Relaxed);
                (0..500).fold(n, |x, y| x.wrapping_mul(31) ^ y)
            },
        )
    }));
    assert!(outcome.is_err());
    assert!(done.into_inner() < 100_000);
}

#[test]
fn a_network_crosses_threads() {
    fn is_send<T: Send>(_: &T) {}
    let network: Network<Host> = Network::new(());
    is_send(&network);
    assert_eq!(network.now(), ms(0));
}
