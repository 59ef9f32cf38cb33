//! Nanoseconds for each packet through the simulator, with nothing in the nodes.
//!
//! Two nodes keep a window of packets in flight over a link in each direction;
//! each packet that arrives is answered by one. So a packet is one offer to a
//! link, one event, and one call of a machine. A third figure adds a timer that
//! each packet moves, as a retransmission timer is moved.
//!
//! `cargo run --release -p headway-sim --example ns_per_packet`
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the one place of this crate that measures real time"
)]

use std::time::Instant;

use headway_path::{
    DrdAbove, DrdReading, Link, LinkConfig, LossConfig, LossGenerator, PathConfig, QueueConfig,
};
use headway_sansio::{Address, Datagram, Duration, Machine, Seed, Time};
use headway_sim::Network;

/// The size of a body that carries a few chunks in place.
type Body = [u64; 8];

struct Echo {
    own: Address,
    peer: Address,
    owed: u32,
    timer: Option<Duration>,
    due: Option<Time>,
    timeouts: u64,
}

impl Machine for Echo {
    type Input = Datagram<Body>;
    type Output = Datagram<Body>;

    fn handle_input(&mut self, now: Time, _: Datagram<Body>) {
        self.owed += 1;
        self.due = self.timer.map(|after| now + after);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.due.is_some_and(|due| due <= now) {
            // The packets under way were lost: start a new window.
            self.timeouts += 1;
            self.owed += 16;
            self.due = self.timer.map(|after| now + after);
        }
    }

    fn poll_output(&mut self) -> Option<Datagram<Body>> {
        self.owed = self.owed.checked_sub(1)?;
        Some(Datagram {
            source: self.own,
            destination: self.peer,
            size_bytes: 500,
            body: [u64::from(self.owed); 8],
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.due
    }
}

fn measure(name: &str, link: &LinkConfig, timer: Option<Duration>, virtual_time: Duration) {
    let mut best = f64::INFINITY;
    let mut packets = 0;
    for _ in 0..5 {
        let mut network = Network::new(());
        let (a, b) = (Address(1), Address(2));
        let node = |own, peer, owed| Echo {
            own,
            peer,
            owed,
            timer,
            due: timer.map(|after| Time::ZERO + after),
            timeouts: 0,
        };
        let left = network.add_node(node(a, b, 16));
        let right = network.add_node(node(b, a, 16));
        network.add_address(left, a).expect("the address is free");
        network.add_address(right, b).expect("the address is free");
        network.add_link(left, right, Link::new(link, Seed::new(1)));
        network.add_link(right, left, Link::new(link, Seed::new(2)));
        network.route_shortest();

        let start = Instant::now();
        network
            .run_until(Time::ZERO + virtual_time)
            .expect("the topology is whole");
        let nanos = start.elapsed().as_nanos() as f64;
        packets = network.packets_emitted();
        best = best.min(nanos / packets as f64);
    }
    println!("{name:40} {packets:>9} packets {best:7.1} ns per packet (best of 5)");
}

/// The link alone, without a network around it.
fn measure_offers(name: &str, config: &LinkConfig) {
    const OFFERS: u64 = 2_000_000;
    let mut best = f64::INFINITY;
    let mut sum = 0;
    for _ in 0..5 {
        let mut link = Link::new(config, Seed::new(1));
        let start = Instant::now();
        for n in 0..OFFERS {
            let offer = link.offer(Time::from_nanos(n * 1_500_000), 500);
            sum ^= offer.verdict.would_arrive().as_nanos();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / OFFERS as f64);
    }
    println!("{name:40} {OFFERS:>9} offers  {best:7.1} ns per offer  (best of 5) [{sum:x}]");
}

fn main() {
    let plain = PathConfig::with_delay(Duration::from_millis(20)).forward();
    let mut paced = plain.clone();
    paced.rate_bps = Some(10_000_000);
    let mut lossy = plain.clone();
    lossy.loss = LossConfig::Bernoulli {
        rate: 0.02,
        correlation: 0.8,
        generator: LossGenerator::Markov,
    };
    lossy.queue = QueueConfig::Drd {
        min_pkts: 10,
        max_pkts: 20,
        reading: DrdReading::DelayLine,
        above: DrdAbove::All,
    };
    let mut copula = plain.clone();
    copula.loss = LossConfig::Bernoulli {
        rate: 0.02,
        correlation: 0.8,
        generator: LossGenerator::Copula,
    };

    measure_offers("link: delay", &plain);
    measure_offers("link: delay, rate", &paced);
    measure_offers("link: delay, markov loss, drd", &lossy);
    measure_offers("link: delay, copula loss", &copula);

    let long = Duration::from_secs(600);
    let rto = Some(Duration::from_millis(100));
    measure("sim: delay", &plain, None, long);
    measure("sim: delay, rate", &paced, None, long);
    measure("sim: delay, timer moved by each packet", &plain, rto, long);
    measure("sim: markov loss, drd, timer", &lossy, rto, long);
}
