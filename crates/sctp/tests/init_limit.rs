//! The limit on INITs: what it lets in, what it costs those who mean it, and what it
//! leaves alone.

mod common;

use std::sync::Arc;

use bytes::Bytes;
use common::world::{DELAY, World};
use headway_sansio::{Address, Duration, RandomStream, Seed, Time};
use headway_sctp::{
    AssociationState, Chunk, Config, Endpoint, EndpointStats, Host, InitLimit, Packet,
};

const SERVER: u32 = 1;

fn limited(per_second: u32, burst: u32) -> Config {
    Config {
        init_limit: Some(InitLimit { per_second, burst }),
        ..Config::default()
    }
}

fn server(config: Config) -> Endpoint {
    let host = Arc::new(Host::new(vec![Address(SERVER)]));
    let mut server = Endpoint::new(Arc::new(config), host, [9; 32]);
    server.listen(7);
    server
}

fn stranger(random: &mut RandomStream) -> headway_sansio::Datagram<Packet> {
    common::stranger::stranger(random, Address(SERVER), 7)
}

fn bytes(packet: &Packet) -> Bytes {
    let mut bytes = Vec::new();
    packet.encode(&mut bytes);
    bytes.into()
}

/// How many answers go out.
fn answers(server: &mut Endpoint) -> u64 {
    std::iter::from_fn(|| server.poll_transmit()).count() as u64
}

/// INITs at equal distances. Says how many were answered.
fn flood(server: &mut Endpoint, from: Time, count: u64, apart: Duration) -> u64 {
    let mut random = Seed::new(3).stream("flood");
    let mut answered = 0;
    for n in 0..count {
        let now = from + Duration::from_nanos(n * apart.as_nanos());
        server.handle_input(now, stranger(&mut random));
        answered += answers(server);
    }
    answered
}

fn refused(stats: &EndpointStats) -> (u64, u64) {
    (stats.inits_over_limit, stats.packets_discarded)
}

#[test]
fn over_time_a_burst_and_the_rate_come_in_and_the_rest_is_counted() {
    let start = Time::ZERO + Duration::from_secs(5);
    let apart = Duration::from_micros(100);
    // Ten seconds at ten thousand a second, the last moment left out.
    for (per_second, burst) in [(1_000, 50), (1, 1), (777, 3), (10_000, 1), (50_000, 10)] {
        let mut server = server(limited(per_second, burst));
        let answered = flood(&mut server, start, 100_000, apart);
        let expected = (u64::from(burst) + 10 * u64::from(per_second)).min(100_000);
        assert!(
            (expected - 1..=expected).contains(&answered),
            "{answered} of {expected} at {per_second}/s"
        );
        let stats = *server.stats();
        assert_eq!(stats.inits_answered, answered);
        assert_eq!(refused(&stats), (100_000 - answered, 100_000 - answered));
        assert_eq!(stats.packets_received, 100_000);
        assert_eq!(
            (server.association_count(), server.poll_timeout()),
            (0, None)
        );
    }
}

#[test]
fn without_a_limit_there_is_none() {
    let config = Config {
        init_limit: None,
        ..Config::default()
    };
    let mut server = server(config);
    // All in one moment.
    let answered = flood(&mut server, Time::ZERO, 50_000, Duration::ZERO);
    assert_eq!(answered, 50_000);
    assert_eq!(refused(server.stats()), (0, 0));
    let mut random = Seed::new(4).stream("flood");
    for _ in 0..50_000 {
        let init = bytes(&stranger(&mut random).body);
        assert!(server.admits(Time::ZERO, &init));
    }
}

#[test]
fn the_default_limit_leaves_ten_thousand_in_a_moment_alone() {
    let mut server = server(Config::default());
    let answered = flood(&mut server, Time::ZERO, 10_001, Duration::ZERO);
    assert_eq!((answered, server.stats().inits_over_limit), (10_000, 1));
}

#[test]
fn a_driver_that_asks_first_lets_the_same_in() {
    let mut asked = server(limited(1_000, 20));
    let mut unasked = server(limited(1_000, 20));
    let mut random = Seed::new(5).stream("flood");
    let mut now = Time::ZERO;
    let (mut decoded, mut batch) = (0, Vec::new());
    for n in 0..20_000 {
        now += random.exponential_duration(Duration::from_micros(200));
        let init = stranger(&mut random);
        unasked.handle_input(now, init.clone());
        // As from a system call that brings several: all are looked at before any is
        // decoded.
        if asked.admits(now, &bytes(&init.body)) {
            batch.push(init);
        }
        if n % 32 == 31 {
            decoded += batch.len();
            batch
                .drain(..)
                .for_each(|init| asked.handle_input(now, init));
        }
        assert_eq!(
            asked.stats().inits_over_limit,
            unasked.stats().inits_over_limit
        );
    }
    assert_eq!(decoded as u64, asked.stats().inits_answered);
    assert_eq!(asked.stats(), unasked.stats());
    assert!(asked.stats().inits_over_limit > 10_000);
    let (sent, also_sent) = (answers(&mut asked), answers(&mut unasked));
    assert_eq!(sent, also_sent);
}

#[test]
fn only_what_begins_with_an_init_is_refused_unread() {
    let mut server = server(limited(1, 1));
    let mut random = Seed::new(6).stream("flood");
    let init = bytes(&stranger(&mut random).body);
    assert!(server.admits(Time::ZERO, &init));
    assert!(!server.admits(Time::ZERO, &init));
    // What is damaged is not looked at either.
    let mut damaged = init.to_vec();
    damaged[9] ^= 1;
    assert!(!server.admits(Time::ZERO, &damaged));
    assert!(!server.admits(Time::ZERO, &init[..13]));
    assert_eq!(refused(server.stats()), (3, 3));
    for length in 0..13 {
        assert!(server.admits(Time::ZERO, &init[..length]));
    }
    for kind in (0..=255).filter(|kind| *kind != 1) {
        let mut other = init.to_vec();
        other[12] = kind;
        assert!(server.admits(Time::ZERO, &other), "chunk of type {kind}");
    }
    assert_eq!(refused(server.stats()), (3, 3));
}

#[test]
fn who_begins_associations_is_not_limited() {
    const SERVERS: u32 = 50;
    let homes: Vec<[u32; 1]> = (1..=1 + SERVERS).map(|n| [n]).collect();
    let homes: Vec<&[u32]> = homes.iter().map(<[u32; 1]>::as_slice).collect();
    let mut world = World::new(&limited(1, 1), &homes);
    let calls: Vec<_> = (1..=SERVERS)
        .map(|n| {
            world.ends[n as usize].listen(7);
            let peer = [Address(1 + n)];
            world.ends[0].connect(world.now, 0, 7, &peer).unwrap()
        })
        .collect();
    world.run_ms(100);
    for call in calls {
        let state = world.ends[0].association(call).map(|a| a.state());
        assert_eq!(state, Some(AssociationState::Established));
    }
}

#[test]
fn an_association_goes_on_while_inits_are_refused() {
    let mut world = World::new(&limited(10, 1), &[&[SERVER], &[2]]);
    let [call, answered] = world.connect(1, 0, &[SERVER]);
    let mut random = Seed::new(7).stream("flood");
    for n in 0..100 {
        for _ in 0..100 {
            world.inject(stranger(&mut random));
        }
        world.send(1, call, 0, 400 + n);
        world.run_ms(10);
    }
    world.run_ms(1_000);
    assert_eq!(world.received(0, answered).len(), 100);
    let stats = world.ends[1].association(call).unwrap().stats();
    assert_eq!((stats.timeouts, stats.fast_retransmissions), (0, 0));
    let stats = world.ends[0].stats();
    // The INIT of the association was the first one.
    assert!(stats.inits_answered <= 1 + 1 + 10);
    assert_eq!(stats.inits_answered + stats.inits_over_limit, 10_001);
}

/// A server, a flood of so many INITs a second for as long as clients may try, and a
/// hundred clients. Gives how many of them are in, and the INITs of each.
fn clients_in_a_flood(config: &Config, per_second: f64) -> (World, Vec<usize>) {
    const CLIENTS: u32 = 100;
    let homes: Vec<[u32; 1]> = (1..=1 + CLIENTS).map(|n| [n]).collect();
    let homes: Vec<&[u32]> = homes.iter().map(<[u32; 1]>::as_slice).collect();
    let mut world = World::new(config, &homes);
    world.ends[0].listen(7);
    // Tokens come at fixed distances and INITs are sent whole seconds apart: what makes
    // each try a new one is jitter that is longer than those distances, as it is in any
    // network where they are of 10 us.
    let mut jitter = Seed::new(8).stream("jitter");
    world.weather = Box::new(move |_, _| vec![DELAY + jitter.exponential_duration(DELAY * 5)]);
    let mut random = Seed::new(8).stream("flood");
    let mut due: Vec<Time> = (0..CLIENTS)
        .map(|_| world.now + Duration::from_secs_f64(5.0 + random.uniform()))
        .collect();
    // 1 + 2 + 4 + ... + 32 + 3 * 60 seconds of T1-init.
    let end = world.now + Duration::from_secs(6 + 63 + 3 * 60 + 1);
    let gap = Duration::from_secs_f64(1.0 / per_second);
    while world.now < end {
        let next = world.now + random.exponential_duration(gap);
        for (n, at) in due.iter_mut().enumerate() {
            if *at <= next {
                world.run_until(*at);
                *at = Time::FAR_FUTURE;
                let peer = [Address(SERVER)];
                world.ends[1 + n].connect(world.now, 0, 7, &peer).unwrap();
            }
        }
        world.run_until(next);
        world.inject(stranger(&mut random));
    }
    let inits = (2..2 + CLIENTS)
        .map(|client| {
            let is_init = |packet: &Packet| matches!(packet.chunks[0], Chunk::Init(_));
            let of = |d: &headway_sansio::Datagram<Packet>| d.source == Address(client);
            let sent = world.log.iter().filter(|(_, d)| of(d) && is_init(&d.body));
            sent.count()
        })
        .collect();
    (world, inits)
}

#[test]
fn clients_get_in_as_often_as_the_flood_leaves_room() {
    // Ten times the limit: each INIT comes in with a probability of a tenth, and there
    // are nine of each client (Max.Init.Retransmits: 8): 1 - 0.9^9 = 61 % get in.
    let config = limited(20, 20);
    let (mut world, inits) = clients_in_a_flood(&config, 200.0);
    let calls: Vec<_> = world.incoming(0);
    assert!(
        (45..=77).contains(&calls.len()),
        "{} of 100 got in",
        calls.len()
    );
    assert!(inits.iter().all(|&n| (1..=9).contains(&n)));
    // Some needed all of them and some one, and who is in is served.
    let most = inits.iter().filter(|&&n| n > 1).count();
    assert!(most > 70, "{most} of 100 were refused at first");
    assert_eq!(world.ends[0].association_count(), calls.len());
    for end in 1..=100 {
        let up = world.ends[end].associations().next();
        if let Some(call) = up {
            world.send(end, call, 0, 300);
        }
    }
    world.run_ms(1_000);
    for call in calls {
        assert_eq!(world.received(0, call).len(), 1);
    }
    // The flood is answered no faster than the limit says.
    let stats = world.ends[0].stats();
    let seconds = 6 + 63 + 3 * 60 + 1;
    assert!(stats.inits_answered <= 20 + 20 * seconds);
    assert!(stats.inits_over_limit > 150 * seconds);
}

#[test]
fn a_flood_below_the_limit_delays_nobody() {
    let (world, inits) = clients_in_a_flood(&limited(200, 100), 20.0);
    assert_eq!(world.incoming(0).len(), 100);
    assert_eq!(inits, [1; 100]);
    assert_eq!(world.ends[0].stats().inits_over_limit, 0);
}

#[test]
fn a_flood_that_ends_has_kept_nobody_out_for_good() {
    let mut world = World::new(&limited(100, 10), &[&[SERVER], &[2]]);
    world.ends[0].listen(7);
    let mut random = Seed::new(10).stream("flood");
    let call = world.ends[1].connect(world.now, 0, 7, &[Address(SERVER)]);
    world.run_ms(15);
    // Its INIT comes 5 ms after the flood, and the next token after 10 ms.
    for _ in 0..1_000 {
        world.inject(stranger(&mut random));
    }
    world.run_ms(900);
    assert_eq!(world.incoming(0), []);
    assert_eq!(world.ends[0].stats().inits_over_limit, 1_001 - 10);
    // T1-init expires after a second.
    world.run_ms(200);
    assert_eq!(world.incoming(0).len(), 1);
    let state = world.ends[1].association(call.unwrap()).map(|a| a.state());
    assert_eq!(state, Some(AssociationState::Established));
}
