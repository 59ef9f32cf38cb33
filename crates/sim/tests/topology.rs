//! Routers, elements, ghosts over several hops, and broken topologies.

mod common;

use common::{Host, Log, MS, Seen, delay, link, lossy, ms};
use headway_path::{DropCause, LinkConfig};
use headway_sansio::{Address, Time};
use headway_sim::{LinkId, Network, NodeId, Outcome, SimError};

/// Host 1, a router (or an element), host 2; the links there, and 20 ms back.
fn chain(
    left: Host,
    element: Option<Host>,
    first: &LinkConfig,
    second: &LinkConfig,
) -> (Network<Host, Log>, [NodeId; 3], [LinkId; 2]) {
    let mut network = Network::new(Log::default());
    let a = network.add_node(left);
    let middle = match element {
        Some(machine) => network.add_element(machine),
        None => network.add_router(),
    };
    let b = network.add_node(Host::new(2));
    network.add_address(a, Address(1)).unwrap();
    network.add_address(b, Address(2)).unwrap();
    let links = [
        network.add_link(a, middle, link(first, 1)),
        network.add_link(middle, b, link(second, 2)),
    ];
    network.add_link(b, middle, link(&delay(20), 3));
    network.add_link(middle, a, link(&delay(20), 4));
    network.route_shortest();
    (network, [a, middle, b], links)
}

#[test]
fn a_router_passes_datagrams_on() {
    let (mut network, [_, _, b], _) =
        chain(Host::new(1).sends(ms(1), 2, 5), None, &delay(10), &delay(7));
    network.run_until(Time::FAR_FUTURE).unwrap();
    assert_eq!(network.machine(b).heard, [(ms(18), 5)]);
    assert_eq!(
        network.observer().seen,
        [
            Seen::Sent(MS, 0, 0),
            // Known when the last link takes it.
            Seen::WouldArrive(11 * MS, 0, 18 * MS),
            Seen::Arrived(18 * MS, 2, 0),
        ]
    );
}

#[test]
fn a_ghost_waits_in_the_queues_it_meets_and_takes_no_place() {
    // The first link loses the first of three packets; the second serialises
    // for 1 ms each. The ghost comes first, so it finds the server idle; the two
    // others are served as if it had not been there.
    let mut second = delay(7);
    second.rate_bps = Some(8_000_000);
    let sender = Host::new(1)
        .sends(ms(1), 2, 0)
        .sends(ms(1), 2, 1)
        .sends(ms(1), 2, 2);
    let (mut network, [_, _, b], [_, server]) =
        chain(sender, None, &lossy(10, &[1, 0, 0]), &second);
    network.run_until(Time::FAR_FUTURE).unwrap();
    assert_eq!(network.machine(b).heard, [(ms(19), 1), (ms(20), 2)]);
    assert_eq!(network.link(server).counters().packets_offered, 2);
    let seen = &network.observer().seen;
    assert_eq!(
        seen[3..],
        [
            Seen::Sent(MS, 0, 2),
            // Datagrams come before ghosts at equal times, so the ghost sees
            // both in the queue: 3 ms of service.
            Seen::WouldArrive(11 * MS, 1, 19 * MS),
            Seen::WouldArrive(11 * MS, 2, 20 * MS),
            Seen::WouldArrive(11 * MS, 0, 21 * MS),
            Seen::Arrived(19 * MS, 2, 1),
            Seen::Arrived(20 * MS, 2, 2),
        ]
    );
    assert_eq!(seen[1], Seen::Lost(MS, 0, 0, DropCause::Loss));
}

#[test]
fn a_loss_on_the_second_link_needs_no_ghost() {
    let (mut network, ..) = chain(
        Host::new(1).sends(ms(1), 2, 5),
        None,
        &delay(10),
        &lossy(7, &[1]),
    );
    network.run_until(Time::FAR_FUTURE).unwrap();
    assert_eq!(
        network.observer().seen,
        [
            Seen::Sent(MS, 0, 0),
            Seen::Lost(11 * MS, 1, 0, DropCause::Loss),
            Seen::WouldArrive(11 * MS, 0, 18 * MS),
        ]
    );
    assert_eq!(network.events_handled(), 2);
}

#[test]
fn a_ghost_crosses_three_links() {
    let mut network = Network::new(Log::default());
    let a = network.add_node(Host::new(1).sends(ms(0), 2, 5));
    let (r, s) = (network.add_router(), network.add_router());
    let b = network.add_node(Host::new(2));
    network.add_address(a, Address(1)).unwrap();
    network.add_address(b, Address(2)).unwrap();
    network.add_link(a, r, link(&lossy(10, &[1]), 1));
    network.add_link(r, s, link(&delay(5), 2));
    network.add_link(s, b, link(&delay(3), 3));
    network.route_shortest();
    assert_eq!(network.run_until(Time::FAR_FUTURE), Ok(Outcome::Idle));
    let last = network.observer().seen.last().copied();
    assert_eq!(last, Some(Seen::WouldArrive(15 * MS, 0, 18 * MS)));
    assert!(network.machine(b).heard.is_empty());
}

#[test]
fn an_element_gets_what_passes_and_ghosts_end_there() {
    // The element is a host that hears datagrams for others and keeps them.
    let sender = Host::new(1).sends(ms(1), 2, 0).sends(ms(2), 2, 1);
    let relay = Host::new(1).sends(ms(50), 2, 9);
    let (mut network, [_, middle, b], _) =
        chain(sender, Some(relay), &lossy(10, &[1, 0]), &delay(7));
    network.run_until(Time::FAR_FUTURE).unwrap();
    assert_eq!(network.machine(middle).heard, [(ms(12), 1)]);
    assert_eq!(network.machine(b).heard, [(ms(57), 9)]);
    assert_eq!(
        network.observer().seen,
        [
            Seen::Sent(MS, 0, 0),
            Seen::Lost(MS, 0, 0, DropCause::Loss),
            Seen::Sent(2 * MS, 0, 1),
            Seen::Stranded(11 * MS, 1, 0),
            Seen::Transit(12 * MS, 1, 1),
            // It speaks with address 1, which is not its own.
            Seen::Relayed(50 * MS, 1, 2),
            Seen::WouldArrive(50 * MS, 2, 57 * MS),
            Seen::Arrived(57 * MS, 2, 2),
        ]
    );
}

#[test]
fn a_node_with_two_addresses_is_reached_over_either_link() {
    let mut network = Network::new(Log::default());
    let a = network.add_node(Host::new(1).sends(ms(0), 2, 5).sends(ms(0), 3, 6));
    let b = network.add_node(Host::new(2));
    network.add_address(a, Address(1)).unwrap();
    network.add_address(b, Address(2)).unwrap();
    network.add_address(b, Address(3)).unwrap();
    let near = network.add_link(a, b, link(&delay(10), 1));
    let far = network.add_link(a, b, link(&delay(40), 2));
    network.set_default_route(a, near).unwrap();
    network.add_route(a, Address(3), far).unwrap();
    network.run_until(Time::FAR_FUTURE).unwrap();
    assert_eq!(network.machine(b).heard, [(ms(10), 5), (ms(40), 6)]);
}

#[test]
fn broken_topologies_are_errors() {
    let mut network = Network::new(());
    let a = network.add_node(Host::new(1).sends(ms(0), 2, 5));
    let router = network.add_router();
    let one = Address(1);
    assert_eq!(
        network.add_address(router, one),
        Err(SimError::AddressOfRouter(router, one))
    );
    assert_eq!(network.add_address(a, one), Ok(()));
    assert_eq!(
        network.add_address(a, one),
        Err(SimError::AddressTaken(one))
    );
    let large = Address(1 << 16);
    assert_eq!(
        network.add_address(a, large),
        Err(SimError::AddressTooLarge(large))
    );
    let there = network.add_link(a, router, link(&delay(1), 1));
    let back = network.add_link(router, a, link(&delay(1), 2));
    assert_eq!(
        network.add_route(a, one, back),
        Err(SimError::RouteFromElsewhere(a, back))
    );
    let nowhere = network.clone().run_until(Time::FAR_FUTURE);
    assert_eq!(nowhere, Err(SimError::NoRoute(a, Address(2))));
    network.set_default_route(a, there).unwrap();
    network.set_default_route(router, back).unwrap();
    let circle = network.run_until(Time::FAR_FUTURE);
    assert!(matches!(circle, Err(SimError::RoutingLoop(_, Address(2)))));
}
