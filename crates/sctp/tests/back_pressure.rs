//! A user who takes no messages: the peer's window closes, is probed, and opens again
//! (RFC 9260, sections 6.1, rule A, and 6.2).

mod common;

use common::world::World;
use headway_sansio::Time;
use headway_sctp::{AssociationId, AssociationState, Chunk, Config, EndpointEvent, Event};

const BUFFER: u32 = 64 * 1024;

/// A world in which the server takes no messages of its one association.
fn held(config: Config) -> (World, [AssociationId; 2]) {
    let config = Config {
        receive_buffer_bytes: BUFFER,
        ..config
    };
    let mut world = World::new(&config, &[&[1], &[2]]);
    let ids = world.connect(0, 1, &[2]);
    hold(&mut world, ids[1], true);
    (world, ids)
}

fn hold(world: &mut World, id: AssociationId, held: bool) {
    let now = world.now;
    world.ends[1].hold(now, id, held);
    world.drain();
}

/// Hands so many messages of one size over, one on each stream in turn, as the send
/// buffer takes them, and lets time pass.
fn send(world: &mut World, id: AssociationId, messages: u32, bytes: u32) {
    for number in 0..messages {
        world.send(0, id, number as u16 % 4, bytes);
    }
    world.run_ms(5_000);
}

/// When SACKs went out, and the window in each.
fn windows(world: &World) -> Vec<(Time, u32)> {
    let mut windows = Vec::new();
    for (at, datagram) in &world.log {
        for chunk in &datagram.body.chunks {
            if let (Chunk::Sack(sack), 2) = (chunk, datagram.source.0) {
                windows.push((*at, sack.a_rwnd));
            }
        }
    }
    windows
}

#[test]
fn who_takes_nothing_closes_the_window_and_who_takes_again_opens_it() {
    let (mut world, [near, far]) = held(Config::default());
    send(&mut world, near, 80, 3_000);
    assert!(world.received(1, far).is_empty());
    let at = |world: &World, end: usize, id| {
        let association = world.ends[end].association(id).expect("it lives");
        let kept = association.unread_bytes() + association.partial_bytes();
        (*association.stats(), kept)
    };
    // What fits is there, and the peer knows that nothing more does.
    let (_, kept) = at(&world, 1, far);
    assert!((BUFFER - 1_500..=BUFFER + 1_500).contains(&kept), "{kept}");
    assert!(
        windows(&world)
            .last()
            .is_some_and(|(_, window)| *window < 1_500)
    );

    // It asks again and again, for as long as it takes, at intervals that grow until
    // a heartbeat brings a new RTO.
    world.run_ms(3_600_000);
    let (sent, _) = at(&world, 0, near);
    assert!(sent.window_probes >= 1, "{sent:?}");
    assert!((60..600).contains(&sent.timeouts), "{sent:?}");
    assert_eq!(at(&world, 1, far).1, kept);
    assert!(world.received(1, far).is_empty());

    // Taking them is told at once, not by the next probe.
    let before = world.log.len();
    hold(&mut world, far, false);
    let (at_once, first) = &world.log[before];
    let Some(Chunk::Sack(sack)) = first.body.chunks.first() else {
        panic!("{first:?}");
    };
    assert_eq!(*at_once, world.now);
    // All but a message that is not whole yet.
    assert!(sack.a_rwnd > BUFFER - 3_000, "{sack:?}");
    world.run_ms(2_000);
    let received = world.received(1, far);
    assert_eq!(received.len(), 80);
    for stream in 0..4 {
        let of = received.iter().filter(|message| message.stream == stream);
        let numbers: Vec<u16> = of.map(|message| message.ssn.0).collect();
        assert_eq!(numbers, (0..20).collect::<Vec<u16>>());
    }
    world.with(0, near, |now, association| association.shutdown(now));
    world.run_ms(1_000);
    assert_eq!(world.told(1, far).last(), Some(&Event::ShutdownComplete));
}

#[test]
fn a_user_who_stops_and_goes_loses_nothing() {
    let (mut world, [near, far]) = held(Config::default());
    send(&mut world, near, 80, 3_000);
    for turn in 0..200 {
        hold(&mut world, far, turn % 2 == 1);
        world.run_ms(7);
    }
    hold(&mut world, far, false);
    world.run_ms(60_000);
    assert_eq!(world.received(1, far).len(), 80);
}

#[test]
fn very_short_messages_close_it_too() {
    let (mut world, [near, far]) = held(Config::default());
    send(&mut world, near, 20_000, 1);
    let unread = world.ends[1]
        .association(far)
        .expect("it lives")
        .unread_bytes();
    assert!(unread <= BUFFER / 32, "{unread}");
    assert!(
        windows(&world)
            .last()
            .is_some_and(|(_, window)| *window < 1_500)
    );
    world.run_ms(3_600_000);
    let state = world.ends[0].association(near).map(|a| a.state());
    assert_eq!(state, Some(AssociationState::Established));
    hold(&mut world, far, false);
    world.run_ms(60_000);
    assert_eq!(world.received(1, far).len(), 20_000);
}

#[test]
fn what_else_happens_is_told_ahead_of_messages() {
    let (mut world, [near, far]) = held(Config::default());
    send(&mut world, near, 5, 1_000);
    world.with(0, near, |now, association| association.abort(now));
    world.run_ms(100);
    let told = world.told(1, far);
    assert!(
        matches!(told.last(), Some(Event::Aborted { .. })),
        "{told:?}"
    );
    assert!(world.received(1, far).is_empty());
    // It stays until its messages are taken.
    let gone = |world: &World| {
        let mut events = world.events.iter();
        events.any(|(_, end, event)| *end == 1 && *event == EndpointEvent::Gone(far))
    };
    assert!(!gone(&world));
    hold(&mut world, far, false);
    assert_eq!(world.received(1, far).len(), 5);
    assert!(gone(&world));
}

#[test]
fn a_peer_that_begins_anew_finds_what_is_unread_in_the_way() {
    let (mut world, [near, far]) = held(Config::default());
    send(&mut world, near, 10, 3_000);
    let unread = |world: &World| world.ends[1].association(far).map(|a| a.unread_bytes());
    assert_eq!(unread(&world), Some(30_000));
    // Another life on the same ports.
    let config = std::sync::Arc::new(Config::default());
    let host = std::sync::Arc::new(headway_sctp::Host::new(vec![headway_sansio::Address(1)]));
    world.ends[0] = headway_sctp::Endpoint::new(config, host, [9; 32]);
    let anew = world.ends[0].connect(world.now, 1000, 7, &[headway_sansio::Address(2)]);
    world.run_ms(1_000);
    assert!(world.told(1, far).contains(&Event::Restarted));
    send(&mut world, anew.unwrap(), 10, 3_000);
    assert_eq!(unread(&world), Some(60_000));
    hold(&mut world, far, false);
    world.run_ms(1_000);
    assert_eq!(
        (world.received(1, far).len(), unread(&world)),
        (20, Some(0))
    );
}
