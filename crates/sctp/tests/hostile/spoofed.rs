//! Somebody who sees nothing and knows no tag, between two ends that talk.

use crate::common::names;
use crate::common::world::{World, datagram};
use bytes::Bytes;
use headway_sansio::{Address, Duration, Seed};
use headway_sctp::{
    AssociationId, AssociationState, Cause, Chunk, Config, DataChunk, Endpoint, Init, Packet,
    Parameter, Sack, Ssn, Trace, Tsn,
};

struct Talk {
    world: World,
    ids: [AssociationId; 2],
}

impl Talk {
    /// A client at addresses 2 and 3, a server at 1 and 4.
    fn new(config: &Config) -> Self {
        let mut world = World::new(config, &[&[1, 4], &[2, 3]]);
        let [client, server] = world.connect(1, 0, &[1, 4]);
        world.log.clear();
        world.events.clear();
        Self {
            world,
            ids: [server, client],
        }
    }

    /// Messages go both ways, as if nothing had happened.
    fn lives(&mut self) {
        let counts = |talk: &Self| [0, 1].map(|end| talk.world.received(end, talk.ids[end]).len());
        let before = counts(self);
        for end in [0, 1] {
            self.world.send(end, self.ids[end], 0, 5_000);
        }
        self.world.run_ms(5_000);
        assert_eq!(counts(self), before.map(|n| n + 1));
        for end in [0, 1] {
            assert_eq!(self.world.ends[end].association_count(), 1);
            let association = self.world.ends[end].association(self.ids[end]).unwrap();
            assert_eq!(association.state(), AssociationState::Established);
        }
    }
}

/// From the client's port to the server's.
fn packet(tag: u32, chunk: Chunk) -> Packet {
    Packet {
        source_port: 1000,
        destination_port: 7,
        verification_tag: tag,
        chunks: std::iter::once(chunk).collect(),
    }
}

fn init(tag: u32, parameters: Vec<Parameter>) -> Chunk {
    Chunk::Init(Box::new(Init {
        initiate_tag: tag,
        a_rwnd: 100_000,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        parameters,
    }))
}

fn every_kind() -> Vec<Chunk> {
    let bytes = Bytes::from_static(&[0, 1, 0, 7, 9]);
    vec![
        Chunk::Data(DataChunk {
            tsn: Tsn(1),
            stream: 0,
            ssn: Ssn(0),
            ppid: 0,
            unordered: true,
            begin: true,
            end: true,
            immediate: true,
            interleaving: None,
            payload: headway_sansio::Payload::Sized(10),
            trace: Trace::default(),
        }),
        Chunk::Sack(Sack {
            cumulative_tsn: Tsn(1),
            a_rwnd: 0,
            gaps: Default::default(),
            duplicates: Default::default(),
        }),
        Chunk::Heartbeat(bytes.clone()),
        Chunk::HeartbeatAck(bytes.clone()),
        Chunk::Abort {
            reflected_tag: false,
            causes: vec![],
        },
        Chunk::Abort {
            reflected_tag: true,
            causes: vec![],
        },
        Chunk::Shutdown {
            cumulative_tsn: Tsn(1),
        },
        Chunk::ShutdownAck,
        Chunk::ShutdownComplete {
            reflected_tag: false,
        },
        Chunk::ShutdownComplete {
            reflected_tag: true,
        },
        Chunk::Error(vec![Cause::new(Cause::STALE_COOKIE)]),
        Chunk::CookieEcho(bytes.clone()),
        Chunk::CookieAck,
        Chunk::Reconfig(vec![]),
        Chunk::Unknown {
            kind: 0xff,
            flags: 0,
            value: bytes,
        },
        init(5, vec![]),
    ]
}

#[test]
fn nothing_with_a_wrong_tag_touches_an_association() {
    let mut talk = Talk::new(&Config::default());
    let mut random = Seed::new(1).stream("tags");
    for round in 0..500 {
        // Zero, small numbers, and whatever a guess may bring.
        let tag = if round < 3 {
            round
        } else {
            random.bits() as u32
        };
        for chunk in every_kind() {
            for from in [2, 3, 99] {
                talk.world
                    .inject(datagram(from, 1, packet(tag, chunk.clone())));
            }
        }
    }
    assert!(talk.world.events.is_empty(), "{:?}", talk.world.events[0]);
    talk.lives();
}

#[test]
fn spoofed_aborts_without_the_tag_end_nothing() {
    let mut talk = Talk::new(&Config::default());
    talk.world.send(0, talk.ids[0], 0, 10);
    talk.world.send(1, talk.ids[1], 0, 10);
    talk.world.run_ms(500);
    let tag_of = |talk: &Talk, from: u32| {
        let mut log = talk.world.log.iter();
        let found = log.rfind(|(_, d)| d.source == Address(from)).unwrap();
        found.1.body.verification_tag
    };
    // The tags that the server and the client expect.
    let (servers, clients) = (tag_of(&talk, 2), tag_of(&talk, 1));
    let abort = |reflected_tag| Chunk::Abort {
        reflected_tag,
        causes: vec![],
    };
    // Section 8.5.1, rule B: the own tag with the T bit, or the peer's without
    // it, are as wrong as any other; and so is the right one on other ports.
    for (tag, reflected) in [(servers, true), (clients, false), (0, false), (0, true)] {
        talk.world
            .inject(datagram(2, 1, packet(tag, abort(reflected))));
    }
    let elsewhere = Packet {
        source_port: 1001,
        ..packet(servers, abort(false))
    };
    talk.world.inject(datagram(2, 1, elsewhere));
    talk.lives();
}

#[test]
fn a_cookie_with_any_bit_changed_is_worthless() {
    let mut world = World::new(&Config::default(), &[&[1], &[2]]);
    world.ends[0].listen(7);
    world.weather = Box::new(|_, d| {
        if names(&d.body) == "COOKIE ECHO" {
            vec![]
        } else {
            vec![Duration::from_millis(20)]
        }
    });
    world.ends[1]
        .connect(world.now, 1000, 7, &[Address(1)])
        .unwrap();
    world.run_ms(100);
    let echo = world
        .log
        .iter()
        .find(|(_, d)| names(&d.body) == "COOKIE ECHO");
    let echo = echo.unwrap().1.clone();
    let Chunk::CookieEcho(cookie) = &echo.body.chunks[0] else {
        panic!()
    };
    let cookie = cookie.to_vec();
    for bit in 0..8 * cookie.len() {
        let mut forged = cookie.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let mut datagram = echo.clone();
        datagram.body.chunks[0] = Chunk::CookieEcho(forged.into());
        world.inject(datagram);
    }
    for length in 0..cookie.len() {
        let mut datagram = echo.clone();
        datagram.body.chunks[0] = Chunk::CookieEcho(cookie[..length].to_vec().into());
        world.inject(datagram);
    }
    assert_eq!(world.ends[0].association_count(), 0);
    let refused = world.ends[0].stats().cookies_refused;
    assert_eq!(refused as usize, 9 * cookie.len());
    world.inject(echo);
    assert_eq!(world.ends[0].association_count(), 1);
}

#[test]
fn a_cookie_replayed_from_elsewhere_moves_nothing() {
    let mut world = World::new(&Config::default(), &[&[1, 4], &[2, 3]]);
    let [client, server] = world.connect(1, 0, &[1, 4]);
    let echo = world
        .log
        .iter()
        .find(|(_, d)| names(&d.body) == "COOKIE ECHO");
    let mut echo = echo.unwrap().1.clone();
    let mut talk = Talk {
        world,
        ids: [server, client],
    };
    for from in 100..200 {
        echo.source = Address(from);
        talk.world.inject(echo.clone());
    }
    let association = talk.world.ends[0].association(server).unwrap();
    assert_eq!(association.path_count(), 2);
    talk.lives();
    let strangers = |d: &Address| d.0 >= 100;
    assert!(
        !talk
            .world
            .log
            .iter()
            .any(|(_, d)| strangers(&d.destination))
    );
    // The association ends, and the cookie with it, though its life is not over.
    talk.world
        .with(1, client, |now, association| association.shutdown(now));
    talk.world.run_ms(1_000);
    for from in 100..200 {
        echo.source = Address(from);
        talk.world.inject(echo.clone());
    }
    assert_eq!(talk.world.ends[0].association_count(), 0);
    // A minute later it is stale as well, and two hours later its key is gone.
    for ms in [61_000, 7_200_000] {
        talk.world.run_ms(ms);
        talk.world.inject(echo.clone());
        assert_eq!(talk.world.ends[0].association_count(), 0);
    }
}

#[test]
fn inits_in_the_peer_s_name_change_nothing() {
    let mut talk = Talk::new(&Config::default());
    for tag in 1..=2_000 {
        talk.world
            .inject(datagram(2, 1, packet(0, init(tag, vec![]))));
    }
    let stats = talk.world.ends[0].stats();
    assert_eq!(talk.world.ends[0].association_count(), 1);
    assert!(stats.packets_received >= 2_000);
    talk.lives();
}

#[test]
fn an_init_brings_no_answer_much_longer_than_itself() {
    let address = |n: u32| Parameter {
        kind: 5,
        value: n.to_be_bytes().to_vec().into(),
    };
    let unknown = |_| Parameter {
        kind: 0xffff,
        value: Bytes::new(),
    };
    let mut world = World::new(&Config::default(), &[&[1, 4]]);
    world.ends[0].listen(7);
    for count in [0, 1, 10, 100, 1_000, 7_000] {
        for parameters in [
            (0..count).map(address).collect::<Vec<_>>(),
            (0..count).map(unknown).collect(),
        ] {
            let asked = datagram(9, 1, packet(0, init(5, parameters)));
            world.log.clear();
            world.inject(asked.clone());
            let (_, answer) = &world.log[0];
            assert_eq!(names(&answer.body), "INIT ACK");
            // The cookie and its seal, two addresses; and then less than twice
            // what was said, up to a packet.
            assert!(answer.size_bytes <= 1_500, "{count}: {}", answer.size_bytes);
            let most = 200 + 2 * asked.size_bytes;
            assert!(answer.size_bytes < most, "{count}: {}", answer.size_bytes);
        }
    }
}

#[test]
fn heartbeat_acks_that_nobody_asked_for_prove_nothing() {
    // Address 3 of the client does not answer, so it stays unconfirmed; the
    // client, which knows the tag, claims that it does.
    let mut world = World::new(&Config::default(), &[&[1], &[2, 3]]);
    world.weather = Box::new(|_, d| {
        if d.destination == Address(3) {
            vec![]
        } else {
            vec![Duration::from_millis(20)]
        }
    });
    let [_, server] = world.connect(1, 0, &[1]);
    let tag = world
        .log
        .iter()
        .rfind(|(_, d)| d.source == Address(2))
        .unwrap();
    let tag = tag.1.body.verification_tag;
    let mut random = Seed::new(1).stream("nonces");
    for _ in 0..1_000 {
        let mut info = vec![0, 1, 0, 20];
        info.extend_from_slice(&random.bits().to_be_bytes());
        info.extend_from_slice(&random.bits().to_be_bytes());
        let ack = packet(tag, Chunk::HeartbeatAck(info.into()));
        world.inject(datagram(3, 1, ack));
    }
    let association = world.ends[0].association(server).unwrap();
    let path = (0..2).filter_map(|n| association.path(n));
    let unproven = path.filter(|p| p.state == headway_sctp::PathState::Unconfirmed);
    assert_eq!(unproven.count(), 1);
    world.send(0, server, 0, 100);
    world.run_ms(500);
    let data = world
        .log
        .iter()
        .filter(|(_, d)| names(&d.body).contains("DATA"));
    assert!(data.clone().count() > 0);
    assert!(data.clone().all(|(_, d)| d.destination == Address(2)));
}

#[test]
fn an_endpoint_that_never_reads_keeps_a_bounded_number_of_answers() {
    let config = std::sync::Arc::new(Config::default());
    let host = std::sync::Arc::new(headway_sctp::Host::new(vec![Address(1)]));
    let mut end = Endpoint::new(config, host, [1; 32]);
    end.listen(7);
    let now = headway_sansio::Time::ZERO;
    for tag in 1..=20_000 {
        end.handle_input(now, datagram(tag, 1, packet(0, init(tag, vec![]))));
        end.handle_input(now, datagram(tag, 1, packet(tag, Chunk::ShutdownAck)));
    }
    let mut answers = 0;
    while end.poll_transmit().is_some() {
        answers += 1;
    }
    assert_eq!(answers, 4_096);
}
