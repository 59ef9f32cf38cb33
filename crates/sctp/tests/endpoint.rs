//! Many associations at one endpoint: finding them, beginning them without
//! keeping state, and turning away what is for none of them.

mod common;

use common::names;
use common::world::{World, datagram};
use headway_sansio::{Address, Datagram, Duration};
use headway_sctp::{
    AssociationState, Cause, Chunk, Config, ConnectError, EndpointEvent, Event, Init, LostReason,
    Packet, Tsn,
};

fn init(tag: u32) -> Packet {
    Packet {
        source_port: 1000,
        destination_port: 7,
        verification_tag: 0,
        chunks: std::iter::once(Chunk::Init(Box::new(Init {
            initiate_tag: tag,
            a_rwnd: 100_000,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(1),
            parameters: vec![],
        })))
        .collect(),
    }
}

fn with_chunk(like: &Packet, chunk: Chunk) -> Packet {
    Packet {
        chunks: std::iter::once(chunk).collect(),
        ..like.clone()
    }
}

/// The last packet whose chunks have this name.
fn last(world: &World, name: &str) -> Datagram<Packet> {
    let (_, found) = world
        .log
        .iter()
        .rfind(|(_, d)| names(&d.body) == name)
        .unwrap();
    found.clone()
}

fn causes(packet: &Packet) -> Vec<u16> {
    packet
        .chunks
        .iter()
        .flat_map(|chunk| match chunk {
            Chunk::Abort { causes, .. } | Chunk::Error(causes) => causes.clone(),
            _ => vec![],
        })
        .map(|cause| cause.code)
        .collect()
}

#[test]
fn many_associations_do_not_mix() {
    let homes: Vec<Vec<u32>> = (1..=20).map(|n| vec![n]).collect();
    let homes: Vec<&[u32]> = homes.iter().map(Vec::as_slice).collect();
    let mut world = World::new(&Config::default(), &homes);
    world.ends[0].listen(7);
    let mut calls = Vec::new();
    for end in 1..20 {
        for port in [1000, 1001] {
            let id = world.ends[end].connect(world.now, port, 7, &[Address(1)]);
            calls.push((end, id.unwrap()));
        }
    }
    world.run_ms(1_000);
    assert_eq!(world.ends[0].association_count(), 38);
    for (n, &(end, id)) in calls.iter().enumerate() {
        world.send(end, id, 0, 100 + n as u32);
    }
    world.run_ms(1_000);
    let mut lengths: Vec<usize> = world
        .incoming(0)
        .into_iter()
        .map(|id| {
            let received = world.received(0, id);
            assert_eq!(received.len(), 1);
            received[0].payload.len()
        })
        .collect();
    lengths.sort_unstable();
    assert_eq!(lengths, (100..138).collect::<Vec<_>>());
    for (end, id) in calls {
        world.with(end, id, |now, association| association.shutdown(now));
    }
    world.run_ms(1_000);
    for end in &world.ends {
        assert_eq!((end.association_count(), end.poll_timeout()), (0, None));
    }
    let gone = |(_, _, event): &&(_, _, EndpointEvent)| matches!(event, EndpointEvent::Gone(_));
    assert_eq!(world.events.iter().filter(gone).count(), 2 * 38);
}

#[test]
fn section_5_1_3_inits_leave_no_state() {
    let mut world = World::new(&Config::default(), &[&[1]]);
    world.ends[0].listen(7);
    for n in 0..10_000 {
        world.inject(datagram(1_000 + n, 1, init(n + 1)));
    }
    let stats = *world.ends[0].stats();
    assert_eq!(stats.inits_answered, 10_000);
    assert_eq!(world.ends[0].association_count(), 0);
    assert_eq!(world.ends[0].poll_timeout(), None);
    assert!(world.events.is_empty());
}

#[test]
fn section_3_3_2_senseless_inits() {
    let mut world = World::new(&Config::default(), &[&[1]]);
    world.ends[0].listen(7);
    // A tag of zero is dropped without a word.
    world.inject(datagram(2, 1, init(0)));
    assert!(world.log.is_empty());
    // No streams, or a window below 1500 bytes: ABORT to the tag of the INIT.
    let spoilt: [fn(&mut Init); 3] = [
        |init| init.outbound_streams = 0,
        |init| init.inbound_streams = 0,
        |init| init.a_rwnd = 1499,
    ];
    for spoil in spoilt {
        let mut packet = init(5);
        let Chunk::Init(content) = &mut packet.chunks[0] else {
            panic!()
        };
        spoil(content);
        world.inject(datagram(2, 1, packet));
        let answer = last(&world, "ABORT").body;
        assert_eq!(answer.verification_tag, 5);
        assert_eq!(causes(&answer), [Cause::INVALID_PARAMETER]);
    }
    // An INIT is alone in its packet and goes with a tag of zero.
    let before = world.log.len();
    let mut bundled = init(5);
    bundled.chunks.push(Chunk::CookieAck);
    world.inject(datagram(2, 1, bundled));
    let tagged = Packet {
        verification_tag: 9,
        ..init(5)
    };
    world.inject(datagram(2, 1, tagged));
    assert_eq!(world.log.len(), before);
}

#[test]
fn section_5_1_5_cookies_must_fit_their_packets() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    world.weather = Box::new(|_, d| {
        if names(&d.body) == "COOKIE ECHO" {
            vec![]
        } else {
            vec![common::DELAY]
        }
    });
    world.ends[0].listen(7);
    world.ends[1]
        .connect(world.now, 1000, 7, &[Address(1)])
        .unwrap();
    world.run_ms(100);
    let echo = last(&world, "COOKIE ECHO");
    let mut refused = 0;
    let change = |change: fn(&mut Packet)| {
        let mut changed = echo.clone();
        change(&mut changed.body);
        changed
    };
    let spoilt = [
        change(|p| p.verification_tag ^= 1),
        change(|p| p.source_port ^= 1),
        change(|p| p.destination_port ^= 1),
        change(|p| p.chunks[0] = Chunk::CookieEcho(bytes::Bytes::from_static(&[1; 84]))),
        change(|p| p.chunks[0] = Chunk::CookieEcho(bytes::Bytes::new())),
    ];
    for datagram in spoilt {
        world.inject(datagram);
        refused += 1;
        assert_eq!(world.ends[0].association_count(), 0);
        assert_eq!(world.ends[0].stats().cookies_refused, refused);
    }
    world.inject(echo);
    assert_eq!(world.ends[0].association_count(), 1);
}

#[test]
fn section_5_1_5_step_4_a_stale_cookie_is_reported_and_the_next_lives_longer() {
    let config = Config {
        cookie_lifetime: Duration::from_millis(500),
        ..Config::default()
    };
    let mut world = World::new(&config, &[&[1], &[2]]);
    let mut slow = 1;
    world.weather = Box::new(move |_, d| {
        let late = slow > 0 && names(&d.body) == "COOKIE ECHO";
        slow -= u32::from(late);
        vec![Duration::from_millis(if late { 700 } else { 20 })]
    });
    world.ends[0].listen(7);
    let id = world.ends[1]
        .connect(world.now, 1000, 7, &[Address(1)])
        .unwrap();
    world.run_ms(740);
    let error = last(&world, "ERROR").body;
    let Chunk::Error(found) = &error.chunks[0] else {
        panic!()
    };
    assert_eq!(found[0].code, Cause::STALE_COOKIE);
    // The cookie was made 20 ms after the INIT, and came at 740: 220 ms too late.
    assert_eq!(found[0].information[..], 220_000u32.to_be_bytes());
    assert_eq!(
        (
            world.ends[0].association_count(),
            world.ends[0].stats().cookies_stale
        ),
        (0, 1)
    );
    world.run_ms(5_000);
    // Section 5.2.6: the next INIT asks for the time that the exchange took, and a second.
    let again = last(&world, "INIT").body;
    let Chunk::Init(again) = &again.chunks[0] else {
        panic!()
    };
    let wish: Vec<_> = again.parameters.iter().filter(|p| p.kind == 9).collect();
    assert_eq!(wish[0].value[..], 1_720u32.to_be_bytes());
    assert_eq!(
        world.ends[1].association(id).unwrap().state(),
        AssociationState::Established
    );
}

#[test]
fn section_5_1_3_keys_change_and_cookies_of_the_last_one_are_good() {
    let config = Config {
        cookie_key_lifetime: Duration::from_secs(100),
        ..Config::default()
    };
    let mut world = World::new(&config, &[&[1]]);
    world.ends[0].listen(7);
    let cookie = |world: &mut World, from: u32| {
        world.inject(datagram(from, 1, init(from)));
        let ack = last(world, "INIT ACK").body;
        let Chunk::InitAck(content) = &ack.chunks[0] else {
            panic!()
        };
        let echo = Packet {
            verification_tag: content.initiate_tag,
            ..with_chunk(
                &init(from),
                Chunk::CookieEcho(content.cookie().unwrap().clone()),
            )
        };
        datagram(from, 1, echo)
    };
    let first = cookie(&mut world, 2);
    world.run_ms(59_000);
    let second = cookie(&mut world, 3);
    world.run_ms(42_000);
    // A new key signs now; the second cookie, 42 s old, was signed with the old one.
    let third = cookie(&mut world, 4);
    world.inject(second);
    world.inject(third);
    assert_eq!(world.ends[0].stats().cookies_accepted, 2);
    // The first is 101 s old: genuine, but stale.
    world.inject(first.clone());
    assert_eq!(world.ends[0].stats().cookies_stale, 1);
    // And one key later it is as good as forged.
    world.run_ms(101_000);
    cookie(&mut world, 5);
    let refused = world.ends[0].stats().cookies_refused;
    world.inject(first);
    assert_eq!(world.ends[0].stats().cookies_refused, refused + 1);
}

#[test]
fn a_replayed_cookie_brings_nothing_back() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    let [client, server] = world.connect(1, 0, &[1]);
    let echo = last(&world, "COOKIE ECHO");
    // While the association lives, it is answered and changes nothing (action D).
    world.inject(echo.clone());
    assert_eq!(names(&world.log.last().unwrap().1.body), "COOKIE ACK");
    assert_eq!(world.ends[0].association_count(), 1);
    world.with(1, client, |now, association| association.shutdown(now));
    world.run_ms(1_000);
    assert!(world.told(0, server).contains(&Event::ShutdownComplete));
    world.inject(echo);
    assert_eq!(world.ends[0].association_count(), 0);
    assert_eq!(world.ends[0].stats().cookies_refused, 1);
}

#[test]
fn section_5_2_1_both_ends_connect_at_once() {
    // With the same ports at both ends, and with INITs that cross.
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    let a = world.ends[0]
        .connect(world.now, 7, 7, &[Address(2)])
        .unwrap();
    let b = world.ends[1]
        .connect(world.now, 7, 7, &[Address(1)])
        .unwrap();
    world.run_ms(5_000);
    for (end, id) in [(0, a), (1, b)] {
        assert_eq!(world.ends[end].association_count(), 1);
        let connected = |event: &&Event| matches!(event, Event::Connected { .. });
        assert_eq!(world.told(end, id).iter().filter(connected).count(), 1);
        world.send(end, id, 0, 100);
    }
    world.run_ms(1_000);
    assert_eq!(
        (world.received(0, a).len(), world.received(1, b).len()),
        (1, 1)
    );
}

#[test]
fn section_5_2_4_1_a_peer_that_restarts_keeps_its_place() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    let [_, server] = world.connect(1, 0, &[1]);
    // The client's machine forgets everything.
    let config = std::sync::Arc::new(Config::default());
    let host = std::sync::Arc::new(headway_sctp::Host::new(vec![Address(2)]));
    world.ends[1] = headway_sctp::Endpoint::new(config, host, [9; 32]);
    let id = world.ends[1]
        .connect(world.now, 1000, 7, &[Address(1)])
        .unwrap();
    world.run_ms(1_000);
    assert!(world.told(0, server).contains(&Event::Restarted));
    assert_eq!(world.ends[0].association_count(), 1);
    world.send(1, id, 0, 100);
    world.send(0, server, 0, 100);
    world.run_ms(1_000);
    assert_eq!(
        (world.received(0, server).len(), world.received(1, id).len()),
        (1, 1)
    );
}

#[test]
fn section_5_2_2_a_restart_may_not_bring_new_addresses() {
    let mut world = World::new(&Config::default(), &[&[1], &[2, 3, 4]]);
    let [_, server] = world.connect(1, 0, &[1]);
    world.run_ms(1_000);
    let mut packet = init(77);
    let Chunk::Init(content) = &mut packet.chunks[0] else {
        panic!()
    };
    let address = |n: u8| headway_sctp::Parameter {
        kind: 5,
        value: vec![0, 0, 0, n].into(),
    };
    content.parameters = vec![address(2), address(99)];
    world.inject(datagram(2, 1, packet));
    let answer = last(&world, "ABORT").body;
    assert_eq!(answer.verification_tag, 77);
    assert_eq!(causes(&answer), [Cause::RESTART_WITH_NEW_ADDRESSES]);
    let Chunk::Abort { causes, .. } = &answer.chunks[0] else {
        panic!()
    };
    // The cause lists the address that is new, and no other.
    assert_eq!(causes[0].information[..], [0, 5, 0, 8, 0, 0, 0, 99]);
    let state = world.ends[0].association(server).unwrap().state();
    assert_eq!(state, AssociationState::Established);
}

#[test]
fn section_5_1_2_rule_d_any_address_of_an_init_names_the_association() {
    let mut world = World::new(&Config::default(), &[&[1], &[2, 3]]);
    world.connect(1, 0, &[1]);
    world.run_ms(1_000);
    let mut packet = init(77);
    let Chunk::Init(content) = &mut packet.chunks[0] else {
        panic!()
    };
    content.parameters = vec![headway_sctp::Parameter {
        kind: 5,
        value: vec![0, 0, 0, 3].into(),
    }];
    // It comes from an address that nobody knows, but lists one that is in use.
    world.inject(datagram(50, 1, packet));
    assert_eq!(
        causes(&last(&world, "ABORT").body),
        [Cause::RESTART_WITH_NEW_ADDRESSES]
    );
}

#[test]
fn section_8_4_out_of_the_blue() {
    let mut world = World::new(&Config::default(), &[&[1]]);
    let stranger = Packet {
        verification_tag: 3,
        ..with_chunk(&init(1), Chunk::CookieAck)
    };
    let mut answer = |packet: Packet| {
        let before = world.log.len();
        world.inject(datagram(2, 1, packet));
        world.log.get(before).map(|(_, d)| {
            assert_eq!((d.source, d.destination), (Address(1), Address(2)));
            assert_eq!((d.body.source_port, d.body.destination_port), (7, 1000));
            (d.body.chunks[0].clone(), d.body.verification_tag)
        })
    };
    let abort = |reflected_tag| Chunk::Abort {
        reflected_tag,
        causes: vec![],
    };
    let complete = |reflected_tag| Chunk::ShutdownComplete { reflected_tag };
    // Rule 2: ABORT is never answered.
    assert_eq!(answer(with_chunk(&stranger, abort(false))), None);
    // Rule 3: nobody listens on this port.
    assert_eq!(answer(init(44)), Some((abort(false), 44)));
    // Rule 4: a cookie that is not good is dropped.
    let echo = Chunk::CookieEcho(bytes::Bytes::from_static(&[0; 84]));
    assert_eq!(answer(with_chunk(&stranger, echo)), None);
    // Rule 5.
    assert_eq!(
        answer(with_chunk(&stranger, Chunk::ShutdownAck)),
        Some((complete(true), 3))
    );
    // Rule 6.
    assert_eq!(answer(with_chunk(&stranger, complete(false))), None);
    // Rule 7.
    assert_eq!(answer(stranger.clone()), None);
    let stale = Chunk::Error(vec![Cause::new(Cause::STALE_COOKIE)]);
    assert_eq!(answer(with_chunk(&stranger, stale)), None);
    // Rule 8: everything else.
    let other = Chunk::Error(vec![Cause::new(Cause::INVALID_STREAM)]);
    for chunk in [
        other,
        Chunk::Heartbeat(bytes::Bytes::new()),
        Chunk::Shutdown {
            cumulative_tsn: Tsn(1),
        },
    ] {
        assert_eq!(answer(with_chunk(&stranger, chunk)), Some((abort(true), 3)));
    }
    // Section 8.5.1, rule A: with a tag of zero only an INIT may come.
    let untagged = Packet {
        verification_tag: 0,
        ..with_chunk(&stranger, Chunk::ShutdownAck)
    };
    assert_eq!(answer(untagged), None);
}

#[test]
fn section_8_5_1_rule_b_an_abort_with_the_reflected_tag_finds_its_association() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    let [client, _] = world.connect(1, 0, &[1]);
    world.send(1, client, 0, 100);
    let data = last(&world, "DATA");
    // The server's machine restarts and knows nothing of the association.
    let config = std::sync::Arc::new(Config::default());
    let host = std::sync::Arc::new(headway_sctp::Host::new(vec![Address(1)]));
    world.ends[0] = headway_sctp::Endpoint::new(config, host, [9; 32]);
    world.run_ms(100);
    let abort = last(&world, "ABORT").body;
    assert_eq!(abort.verification_tag, data.body.verification_tag);
    assert!(
        world
            .told(1, client)
            .iter()
            .any(|event| matches!(event, Event::Aborted { .. }))
    );
    assert_eq!(world.ends[1].association_count(), 0);
}

#[test]
fn section_3_3_10_4_a_full_endpoint_refuses() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    world.ends[0].limit_associations(1);
    world.connect(1, 0, &[1]);
    world.ends[1].limit_associations(2);
    let id = world.ends[1]
        .connect(world.now, 1001, 7, &[Address(1)])
        .unwrap();
    world.run_ms(100);
    let told = world.told(1, id);
    assert!(
        matches!(&told[..], [Event::Aborted { causes }] if causes[0].code == Cause::OUT_OF_RESOURCE),
        "{told:?}"
    );
    let third = world.ends[1].connect(world.now, 1002, 7, &[Address(1)]);
    assert!(third.is_ok(), "the refused one has left its place");
    let fourth = world.ends[1].connect(world.now, 1003, 7, &[Address(1)]);
    assert_eq!(fourth, Err(ConnectError::Full));
}

#[test]
fn ports_are_found_where_none_is_named() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    world.ends[0].listen(7);
    let now = world.now;
    let ids: Vec<_> = (0..3)
        .map(|_| world.ends[1].connect(now, 0, 7, &[Address(1)]).unwrap())
        .collect();
    let mut ports: Vec<u16> = ids
        .iter()
        .map(|&id| world.ends[1].association(id).unwrap().ports().0)
        .collect();
    ports.dedup();
    assert_eq!(ports.len(), 3);
    assert!(ports.iter().all(|&port| port >= 49_152));
    assert_eq!(
        world.ends[1].connect(now, 0, 7, &[]),
        Err(ConnectError::NoAddress)
    );
    let taken = world.ends[1].connect(now, ports[0], 7, &[Address(1)]);
    assert_eq!(taken, Err(ConnectError::Exists));
    assert_eq!(world.ends[1].associations().count(), 3);
}

#[test]
fn section_10_messages_of_routers_are_believed_with_the_right_tag_only() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    let [client, _] = world.connect(1, 0, &[1]);
    let tag = last(&world, "COOKIE ECHO").body.verification_tag;
    let now = world.now;
    let mut too_big = |remote, ports, tag, mtu| {
        world.ends[1].packet_too_big(now, Address(remote), ports, tag, mtu)
    };
    assert!(!too_big(1, (1000, 7), tag ^ 1, 1_000));
    assert!(!too_big(1, (1000, 7), 0, 1_000));
    assert!(!too_big(3, (1000, 7), tag, 1_000));
    assert!(!too_big(1, (1001, 7), tag, 1_000));
    assert!(too_big(1, (1000, 7), tag, 1_000));
    world.send(1, client, 0, 5_000);
    world.run_ms(1_000);
    let longest = world.log.iter().map(|(_, d)| d.size_bytes).max().unwrap();
    assert_eq!(longest, 1_000);
    let unreachable = |_, association: &mut headway_sctp::Association| {
        (
            association.protocol_unreachable(tag ^ 1),
            association.protocol_unreachable(tag),
        )
    };
    assert_eq!(world.with(1, client, unreachable), (false, true));
    let lost = Event::ConnectionLost {
        reason: LostReason::PeerUnreachable,
    };
    assert!(world.told(1, client).contains(&lost));
}

#[test]
fn an_association_that_is_over_has_no_name() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    let [client, _] = world.connect(1, 0, &[1]);
    assert!(!world.ends[1].is_incoming(client));
    world.with(1, client, |now, association| association.abort(now));
    world.run_ms(100);
    let now = world.now;
    assert!(world.ends[1].association(client).is_none());
    assert!(world.ends[1].with(now, client, |_| ()).is_none());
    // Its place is taken by another, which has another name.
    let next = world.ends[1].connect(now, 1000, 7, &[Address(1)]).unwrap();
    assert_ne!(next, client);
    assert!(world.ends[1].association(client).is_none());
}

/// A book that forgets a number, as a bounded table does in a flood of strangers, and
/// knows the same address by another number afterwards.
#[derive(Debug)]
struct Forgetful;

impl headway_sctp::AddressBook for Forgetful {
    fn ip(&self, address: Address) -> Option<std::net::IpAddr> {
        let last = match address.0 {
            1 => 1,
            // The client's old number is forgotten; these are two hosts.
            20 => 2,
            30 => 3,
            _ => return None,
        };
        Some([10, 0, 0, last].into())
    }

    fn address(&self, _: std::net::IpAddr, _: Address) -> Option<Address> {
        None
    }
}

/// Where an address is known until the INIT has been answered.
#[derive(Debug, Default)]
struct Table(std::sync::atomic::AtomicBool);

impl headway_sctp::AddressBook for Table {
    fn ip(&self, address: Address) -> Option<std::net::IpAddr> {
        let flooded = self.0.load(std::sync::atomic::Ordering::Relaxed);
        if address.0 == 2 && !flooded {
            return Some([10, 0, 0, 2].into());
        }
        headway_sctp::AddressBook::ip(&Forgetful, address)
    }

    fn address(&self, _: std::net::IpAddr, _: Address) -> Option<Address> {
        None
    }
}

#[test]
fn a_caller_whose_number_is_forgotten_is_known_by_its_ip_address() {
    // Comes back from the same IP address under a new number; from another one; from
    // one that the INIT listed, but did not come from.
    for (from, listed, taken) in [(20, None, true), (30, None, false), (30, Some(3), false)] {
        let table = std::sync::Arc::new(Table::default());
        let host = std::sync::Arc::new(headway_sctp::Host {
            addresses: vec![Address(1)],
            book: table.clone(),
        });
        let config = std::sync::Arc::new(Config::default());
        let mut server = headway_sctp::Endpoint::new(config, host, [1; 32]);
        server.listen(7);
        let now = headway_sansio::Time::ZERO + Duration::from_secs(1);
        let mut asks = init(5);
        if let (Some(n), Chunk::Init(content)) = (listed, &mut asks.chunks[0]) {
            content.parameters = vec![headway_sctp::Parameter {
                kind: 5,
                value: vec![10, 0, 0, n].into(),
            }];
        }
        server.handle_input(now, datagram(2, 1, asks.clone()));
        let ack = server.poll_transmit().unwrap().body;
        let Chunk::InitAck(content) = &ack.chunks[0] else {
            panic!()
        };
        table.0.store(true, std::sync::atomic::Ordering::Relaxed);
        let echo = Packet {
            verification_tag: content.initiate_tag,
            ..with_chunk(&asks, Chunk::CookieEcho(content.cookie().unwrap().clone()))
        };
        server.handle_input(now, datagram(from, 1, echo));
        let id = server.associations().next().unwrap();
        let first = server.association(id).unwrap().path(0).unwrap().remote;
        // Where it is not known again, the association is with the number that the
        // INIT had, and nobody is reached: not even one whose address was borrowed.
        assert_eq!(
            first,
            Address(if taken { 20 } else { 2 }),
            "{from} {listed:?}"
        );
        let answer = server.poll_transmit().unwrap();
        assert_eq!(answer.destination, first);
    }
}
