//! A scripted host and a log of what crosses the network.
#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::VecDeque;

use headway_path::{DropCause, Link, LinkConfig, LossConfig, Offer, PathConfig};
use headway_sansio::{Address, Datagram, Duration, Machine, Seed, Time};
use headway_sim::{LinkId, Network, NodeId, Observer, PacketId};

pub(crate) const MS: u64 = 1_000_000;

pub(crate) const fn ms(n: u64) -> Time {
    Time::from_nanos(n * MS)
}

/// Sends numbered datagrams at given times and logs what arrives; answers with
/// `answers` where that is set.
#[derive(Default, Clone, Debug)]
pub(crate) struct Host {
    pub(crate) own: Address,
    pub(crate) schedule: VecDeque<(Time, Address, u32)>,
    pub(crate) answers: bool,
    pub(crate) heard: Vec<(Time, u32)>,
    pub(crate) wakes: u32,
    ready: VecDeque<Datagram<u32>>,
}

impl Host {
    pub(crate) fn new(own: u32) -> Self {
        Self {
            own: Address(own),
            ..Self::default()
        }
    }

    /// Will send number `n` to `to` at `at`; to be called in the order of time.
    pub(crate) fn sends(mut self, at: Time, to: u32, n: u32) -> Self {
        self.schedule.push_back((at, Address(to), n));
        self
    }

    pub(crate) fn say(&mut self, to: Address, n: u32) {
        self.ready.push_back(Datagram {
            source: self.own,
            destination: to,
            size_bytes: 1000,
            body: n,
        });
    }
}

impl Machine for Host {
    type Input = Datagram<u32>;
    type Output = Datagram<u32>;

    fn handle_input(&mut self, now: Time, datagram: Datagram<u32>) {
        self.heard.push((now, datagram.body));
        if self.answers {
            self.say(datagram.source, datagram.body + 1000);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.wakes += 1;
        while let Some(&(at, to, n)) = self.schedule.front()
            && at <= now
        {
            self.schedule.pop_front();
            self.say(to, n);
        }
    }

    fn poll_output(&mut self) -> Option<Datagram<u32>> {
        self.ready.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.schedule.front().map(|&(at, ..)| at)
    }
}

/// One line of the log: milliseconds must divide the times evenly to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    Sent(u64, usize, u64),
    Lost(u64, usize, u64, DropCause),
    Copied(u64, u64, u64),
    WouldArrive(u64, u64, u64),
    Arrived(u64, usize, u64),
    Transit(u64, usize, u64),
    Relayed(u64, usize, u64),
    Stranded(u64, usize, u64),
}

#[derive(Default, Clone, Debug)]
pub(crate) struct Log {
    pub(crate) seen: Vec<Seen>,
    pub(crate) offers: u32,
}

fn number(packet: PacketId) -> u64 {
    packet.index() as u64
}

impl Observer<u32> for Log {
    fn on_sent(&mut self, now: Time, node: NodeId, packet: PacketId, _: &Datagram<u32>) {
        let line = Seen::Sent(now.as_nanos(), node.index(), number(packet));
        self.seen.push(line);
    }
    fn on_offered(&mut self, _: Time, _: LinkId, _: PacketId, _: &Datagram<u32>, _: &Offer) {
        self.offers += 1;
    }
    fn on_lost(
        &mut self,
        now: Time,
        link: LinkId,
        packet: PacketId,
        _: &Datagram<u32>,
        cause: DropCause,
    ) {
        let line = Seen::Lost(now.as_nanos(), link.index(), number(packet), cause);
        self.seen.push(line);
    }
    fn on_duplicated(
        &mut self,
        now: Time,
        _: LinkId,
        packet: PacketId,
        copy: PacketId,
        _: &Datagram<u32>,
    ) {
        let line = Seen::Copied(now.as_nanos(), number(packet), number(copy));
        self.seen.push(line);
    }
    fn on_would_arrive(&mut self, now: Time, packet: PacketId, _: &Datagram<u32>, at: Time) {
        let line = Seen::WouldArrive(now.as_nanos(), number(packet), at.as_nanos());
        self.seen.push(line);
    }
    fn on_arrived(&mut self, now: Time, node: NodeId, packet: PacketId, _: &Datagram<u32>) {
        let line = Seen::Arrived(now.as_nanos(), node.index(), number(packet));
        self.seen.push(line);
    }
    fn on_transit(&mut self, now: Time, node: NodeId, packet: PacketId, _: &Datagram<u32>) {
        let line = Seen::Transit(now.as_nanos(), node.index(), number(packet));
        self.seen.push(line);
    }
    fn on_relayed(&mut self, now: Time, node: NodeId, packet: PacketId, _: &Datagram<u32>) {
        let line = Seen::Relayed(now.as_nanos(), node.index(), number(packet));
        self.seen.push(line);
    }
    fn on_ghost_stranded(&mut self, now: Time, node: NodeId, packet: PacketId, _: &Datagram<u32>) {
        let line = Seen::Stranded(now.as_nanos(), node.index(), number(packet));
        self.seen.push(line);
    }
}

pub(crate) fn delay(millis: u64) -> LinkConfig {
    PathConfig::with_delay(Duration::from_millis(millis)).forward()
}

/// A delay and a loss trace.
pub(crate) fn lossy(millis: u64, lost: &[u8]) -> LinkConfig {
    let mut config = delay(millis);
    config.loss = LossConfig::Trace {
        lost: lost.to_vec(),
    };
    config
}

pub(crate) fn link(config: &LinkConfig, seed: u64) -> Link {
    config.validate().expect("settings of a test are valid");
    Link::new(config, Seed::new(seed))
}

/// Two hosts with addresses 1 and 2 and a link each way.
pub(crate) fn pair(
    left: Host,
    right: Host,
    there: &LinkConfig,
    back: &LinkConfig,
) -> (Network<Host, Log>, NodeId, NodeId) {
    let mut network = Network::new(Log::default());
    let (left_address, right_address) = (left.own, right.own);
    let left = network.add_node(left);
    let right = network.add_node(right);
    network.add_address(left, left_address).unwrap();
    network.add_address(right, right_address).unwrap();
    network.add_link(left, right, link(there, 1));
    network.add_link(right, left, link(back, 2));
    network.route_shortest();
    (network, left, right)
}
