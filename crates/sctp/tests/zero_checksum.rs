//! Packets without a checksum, where what carries them finds errors (RFC 9653).

mod common;

use bytes::Bytes;
use common::names;
use common::world::World;
use headway_sctp::{Chunk, Config, Packet, ParseError};

/// SCTP over DTLS (RFC 9653, section 8.2).
const DTLS: u32 = 1;

fn config(method: Option<u32>) -> Config {
    Config {
        zero_checksum_method: method,
        ..Config::default()
    }
}

/// Two ends with these methods talk and part; says for each packet what it carries
/// and whether it may go without a checksum.
fn run(methods: [Option<u32>; 2]) -> Vec<(String, bool)> {
    let mut world = World::new(&config(methods[0]), &[&[1], &[2]]);
    let host = std::sync::Arc::new(headway_sctp::Host::new(vec![headway_sansio::Address(2)]));
    let other = std::sync::Arc::new(config(methods[1]));
    world.ends[1] = headway_sctp::Endpoint::new(other, host, [2; 32]);
    let [client, server] = world.connect(0, 1, &[2]);
    for (end, id) in [(0, client), (1, server)] {
        world.send(end, id, 0, 3_000);
    }
    world.run_ms(1_000);
    let mut all: Vec<(String, bool)> = Vec::new();
    for (_, datagram) in &world.log {
        let end = usize::from(datagram.source.0 == 2);
        let omits = world.ends[end].omits_checksum(datagram);
        all.push((names(&datagram.body), omits));
        check_wire(&datagram.body, omits);
    }
    world.with(0, client, |now, association| association.abort(now));
    all
}

/// The wire form, with and without the checksum.
fn check_wire(packet: &Packet, omits: bool) {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    packet.encode(&mut with);
    packet.encode_without_checksum(&mut without);
    assert_eq!(without[8..12], [0; 4]);
    assert_eq!((&with[..8], &with[12..]), (&without[..8], &without[12..]));
    let (with, without) = (Bytes::from(with), Bytes::from(without));
    // One that has a checksum is read either way.
    assert_eq!(
        Packet::decode_with_zero_checksum(&with),
        Packet::decode(&with)
    );
    assert_eq!(Packet::decode(&without), Err(ParseError::Checksum));
    let init = matches!(packet.chunks[0], Chunk::Init(_));
    let read = Packet::decode_with_zero_checksum(&without);
    assert_eq!(read.is_ok(), !init);
    assert!(!(omits && init));
    // A wrong checksum that is not zero is an error.
    let mut spoilt = with.to_vec();
    spoilt[8] ^= 1;
    let spoilt = Packet::decode_with_zero_checksum(&spoilt.into());
    assert_eq!(spoilt, Err(ParseError::Checksum));
}

#[test]
fn both_sides_with_the_same_method_omit_it_once_they_know_each_other() {
    let packets = run([Some(DTLS), Some(DTLS)]);
    for (what, omits) in &packets {
        let first = ["INIT", "INIT ACK", "COOKIE ECHO"];
        let handshake = first.iter().any(|name| what.starts_with(name));
        assert_eq!(*omits, !handshake, "{what}");
    }
    for kind in ["COOKIE ECHO", "DATA", "SACK", "COOKIE ACK"] {
        assert!(
            packets.iter().any(|(what, _)| what.contains(kind)),
            "{kind}"
        );
    }
}

#[test]
fn no_packet_omits_it_where_the_sides_differ() {
    for methods in [
        [None, None],
        [Some(DTLS), None],
        [None, Some(DTLS)],
        [Some(DTLS), Some(7)],
    ] {
        let packets = run(methods);
        assert!(packets.iter().all(|(_, omits)| !omits), "{methods:?}");
    }
}

#[test]
fn the_parameter_is_in_init_and_init_ack_only_where_it_is_wanted() {
    for method in [None, Some(DTLS)] {
        let mut world = World::new(&config(method), &[&[1], &[2]]);
        world.connect(0, 1, &[2]);
        let mut found = 0;
        for (_, datagram) in &world.log {
            if let Chunk::Init(init) | Chunk::InitAck(init) = &datagram.body.chunks[0] {
                for parameter in init.parameters.iter().filter(|p| p.kind == 0x8001) {
                    assert_eq!(parameter.value[..], DTLS.to_be_bytes());
                    found += 1;
                }
            }
        }
        assert_eq!(found, if method.is_some() { 2 } else { 0 });
    }
}

#[test]
fn answers_to_strangers_have_a_checksum() {
    let mut world = World::new(&config(Some(DTLS)), &[&[1], &[2]]);
    let [client, _] = world.connect(0, 1, &[2]);
    world.send(0, client, 0, 100);
    world.run_ms(500);
    let data = world.log.iter().rfind(|(_, d)| names(&d.body) == "DATA");
    let mut data = data.unwrap().1.clone();
    // From a port that the server has not heard of.
    data.body.source_port = 4_242;
    world.log.clear();
    world.inject(data);
    let (_, answer) = &world.log[0];
    assert_eq!(names(&answer.body), "ABORT");
    assert!(!world.ends[1].omits_checksum(answer));
}
