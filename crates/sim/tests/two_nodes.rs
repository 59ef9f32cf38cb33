//! One link each way: times, timers, order, and what the observer is told.

mod common;

use common::{Host, Log, MS, Seen, delay, link, lossy, ms, pair};
use headway_path::DropCause;
use headway_sansio::{Address, Datagram, Machine, Time};
use headway_sim::{Network, Outcome, SimError};

#[test]
fn an_exchange_takes_two_delays_and_its_serialisation() {
    let mut there = delay(20);
    // 1000 B take 1 ms.
    there.rate_bps = Some(8_000_000);
    let sender = Host::new(1).sends(ms(5), 2, 7).sends(ms(5), 2, 8);
    let mut receiver = Host::new(2);
    receiver.answers = true;
    let (mut network, left, right) = pair(sender, receiver, &there, &delay(30));
    assert_eq!(network.run_until(Time::FAR_FUTURE), Ok(Outcome::Idle));
    assert_eq!(network.machine(right).heard, [(ms(26), 7), (ms(27), 8)]);
    assert_eq!(
        network.machine(left).heard,
        [(ms(56), 1007), (ms(57), 1008)]
    );
    assert_eq!(network.now(), ms(57));
    assert!(network.is_idle());
    assert_eq!(network.packets_emitted(), 4);
}

#[test]
fn a_loss_on_the_last_link_is_told_at_once_without_an_event() {
    let sender = Host::new(1).sends(ms(5), 2, 1).sends(ms(6), 2, 2);
    let (mut network, ..) = pair(sender, Host::new(2), &lossy(20, &[1, 0]), &delay(20));
    assert_eq!(network.run_until(Time::FAR_FUTURE), Ok(Outcome::Idle));
    assert_eq!(
        network.observer().seen,
        [
            Seen::Sent(5 * MS, 0, 0),
            Seen::Lost(5 * MS, 0, 0, DropCause::Loss),
            Seen::WouldArrive(5 * MS, 0, 25 * MS),
            Seen::Sent(6 * MS, 0, 1),
            Seen::WouldArrive(6 * MS, 1, 26 * MS),
            Seen::Arrived(26 * MS, 1, 1),
        ]
    );
    assert_eq!(network.observer().offers, 2);
    // Two timers and one arrival.
    assert_eq!(network.events_handled(), 3);
}

#[test]
fn a_copy_is_a_packet_of_its_own() {
    let mut there = delay(20);
    there.duplicate.probability = 1.0;
    let sender = Host::new(1).sends(ms(5), 2, 9);
    let (mut network, _, right) = pair(sender, Host::new(2), &there, &delay(20));
    network.run_until(Time::FAR_FUTURE).unwrap();
    assert_eq!(network.machine(right).heard, [(ms(25), 9), (ms(25), 9)]);
    assert_eq!(
        network.observer().seen,
        [
            Seen::Sent(5 * MS, 0, 0),
            Seen::WouldArrive(5 * MS, 0, 25 * MS),
            Seen::Copied(5 * MS, 0, 1),
            Seen::WouldArrive(5 * MS, 1, 25 * MS),
            Seen::Arrived(25 * MS, 1, 0),
            Seen::Arrived(25 * MS, 1, 1),
        ]
    );
}

#[test]
fn what_arrives_comes_before_timers_of_the_same_time() {
    // The receiver's own timer was set long before the datagram was sent.
    let sender = Host::new(1).sends(ms(5), 2, 1);
    let receiver = Host::new(2).sends(ms(25), 1, 2);
    let (mut network, ..) = pair(sender, receiver, &delay(20), &delay(20));
    network.run_until(ms(25)).unwrap();
    let seen = &network.observer().seen;
    let arrived = seen.iter().position(|s| *s == Seen::Arrived(25 * MS, 1, 0));
    let sent = seen.iter().position(|s| *s == Seen::Sent(25 * MS, 1, 1));
    assert!(arrived.unwrap() < sent.unwrap(), "{seen:?}");
}

#[test]
fn a_run_stops_at_its_deadline_and_goes_on_from_there() {
    let sender = Host::new(1).sends(ms(5), 2, 1).sends(ms(50), 2, 2);
    let (mut network, left, right) = pair(sender, Host::new(2), &delay(20), &delay(20));
    assert_eq!(network.run_until(ms(24)), Ok(Outcome::Deadline));
    assert_eq!(
        (network.now(), network.machine(right).heard.len()),
        (ms(24), 0)
    );
    // An event at the deadline still happens.
    assert_eq!(network.run_until(ms(25)), Ok(Outcome::Deadline));
    assert_eq!(network.machine(right).heard, [(ms(25), 1)]);
    // The caller may act on a machine between runs.
    let acted = network.with_machine(left, |now, host| {
        host.say(Address(2), 77);
        now
    });
    assert_eq!(acted, Ok(ms(25)));
    let stopped = network.run_while(Time::FAR_FUTURE, |n| n.machine(right).heard.len() < 2);
    assert_eq!(stopped, Ok(Outcome::Stopped));
    assert_eq!(network.machine(right).heard[1], (ms(45), 77));
    assert_eq!(network.run_until(Time::FAR_FUTURE), Ok(Outcome::Idle));
    assert_eq!(network.machine(right).heard[2], (ms(70), 2));
    let (hosts, log): (Vec<Host>, Log) = network.into_parts();
    assert_eq!((hosts.len(), log.offers), (2, 3));
}

#[test]
fn a_node_may_talk_to_itself() {
    let host = Host::new(1).sends(ms(3), 1, 4);
    let mut network = Network::new(Log::default());
    let node = network.add_node(host);
    network.add_address(node, Address(1)).unwrap();
    network.run_until(Time::FAR_FUTURE).unwrap();
    assert_eq!(network.machine(node).heard, [(ms(3), 4)]);
}

/// Moves its one timer further with every datagram; the timer is never due
/// while datagrams come.
struct Restless {
    due: Option<Time>,
    inputs: u32,
    calls: u32,
    early_calls: u32,
}

impl Machine for Restless {
    type Input = Datagram<u32>;
    type Output = Datagram<u32>;
    fn handle_input(&mut self, now: Time, _: Datagram<u32>) {
        self.inputs += 1;
        self.due = Some(now + headway_sansio::Duration::from_millis(100));
    }
    fn handle_timeout(&mut self, now: Time) {
        self.calls += 1;
        match self.due {
            Some(due) if due <= now => self.due = None,
            _ => self.early_calls += 1,
        }
    }
    fn poll_output(&mut self) -> Option<Datagram<u32>> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        self.due
    }
}

enum Either {
    Host(Host),
    Restless(Restless),
}

impl Machine for Either {
    type Input = Datagram<u32>;
    type Output = Datagram<u32>;
    fn handle_input(&mut self, now: Time, datagram: Datagram<u32>) {
        match self {
            Self::Host(m) => m.handle_input(now, datagram),
            Self::Restless(m) => m.handle_input(now, datagram),
        }
    }
    fn handle_timeout(&mut self, now: Time) {
        match self {
            Self::Host(m) => m.handle_timeout(now),
            Self::Restless(m) => m.handle_timeout(now),
        }
    }
    fn poll_output(&mut self) -> Option<Datagram<u32>> {
        match self {
            Self::Host(m) => m.poll_output(),
            Self::Restless(m) => m.poll_output(),
        }
    }
    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Host(m) => m.poll_timeout(),
            Self::Restless(m) => m.poll_timeout(),
        }
    }
}

#[test]
fn moving_a_timer_makes_no_event_and_it_still_rings_on_time() {
    let mut sender = Host::new(1);
    for n in 0..1000 {
        sender = sender.sends(ms(n), 2, n as u32);
    }
    let mut network = Network::new(());
    let left = network.add_node(Either::Host(sender));
    let right = network.add_node(Either::Restless(Restless {
        due: None,
        inputs: 0,
        calls: 0,
        early_calls: 0,
    }));
    network.add_address(left, Address(1)).unwrap();
    network.add_address(right, Address(2)).unwrap();
    network.add_link(left, right, link(&delay(20), 1));
    network.route_shortest();
    network.run_until(Time::FAR_FUTURE).unwrap();
    let Either::Restless(restless) = network.machine(right) else {
        panic!("the second node is restless");
    };
    assert_eq!((restless.inputs, restless.calls), (1000, 1));
    assert_eq!(restless.early_calls, 0);
    // The last datagram arrives at 1019 ms.
    assert_eq!(network.now(), ms(1119));
    // 1000 sends, 1000 arrivals, and a wake every 100 ms instead of 1000.
    assert!(
        network.events_handled() <= 2012,
        "{}",
        network.events_handled()
    );
}

/// Breaks rule 4 of the machine contract: its timer is always due.
struct Stuck;

impl Machine for Stuck {
    type Input = Datagram<u32>;
    type Output = Datagram<u32>;
    fn handle_input(&mut self, _: Time, _: Datagram<u32>) {}
    fn handle_timeout(&mut self, _: Time) {}
    fn poll_output(&mut self) -> Option<Datagram<u32>> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        Some(ms(3))
    }
}

#[test]
fn a_timer_that_stays_due_is_an_error() {
    let mut network = Network::new(());
    let node = network.add_node(Stuck);
    let stuck = Err(SimError::StuckTimer(node, ms(3)));
    assert_eq!(network.run_until(Time::FAR_FUTURE), stuck);
}

#[test]
fn an_exchange_that_takes_no_time_is_an_error() {
    let mut left = Host::new(1).sends(ms(1), 2, 0);
    left.answers = true;
    let mut right = Host::new(2);
    right.answers = true;
    // Numbers grow by 1000 with each answer and must not wrap before the guard acts.
    let (mut network, ..) = pair(left, right, &delay(0), &delay(0));
    let outcome = network.run_until(Time::FAR_FUTURE);
    assert_eq!(outcome, Err(SimError::StuckTime(ms(1))));
}
