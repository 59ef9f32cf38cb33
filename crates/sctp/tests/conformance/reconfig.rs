//! RFC 6525: what a peer made by hand asks for, and what it is told.

use headway_sctp::{
    Cause, Chunk, Config, DataChunk, Event, ForwardTsn, Parameter, Skipped, Ssn, Tsn,
};

use crate::rig::{OWN, Rig, TSN, config, cookie, data};

fn rig() -> Rig {
    rig_of(Config {
        reconfiguration: true,
        ..config()
    })
}

/// Both know RE-CONFIG.
fn rig_of(config: Config) -> Rig {
    let mut rig = Rig::connecting(config);
    let mut init = rig.peer_init();
    init.parameters = vec![cookie(), parameter(0x8008, &[130])];
    rig.deliver(Chunk::InitAck(Box::new(init)));
    rig.deliver(Chunk::CookieAck);
    rig.forget();
    rig
}

fn parameter(kind: u16, value: &[u8]) -> Parameter {
    Parameter {
        kind,
        value: value.to_vec().into(),
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The peer's streams begin anew; `n`: its request's place; so many chunks were sent.
fn outgoing(n: u32, chunks: u32, streams: &[u16]) -> Parameter {
    let last = TSN.plus(chunks).previous();
    let mut value = words(&[TSN.0 + n, OWN.0 - 1, last.0]);
    value.extend(streams.iter().flat_map(|s| s.to_be_bytes()));
    parameter(13, &value)
}

fn ask(rig: &mut Rig, parameters: Vec<Parameter>) {
    rig.sent.clear();
    rig.deliver(Chunk::Reconfig(parameters));
}

/// The results in the responses sent since the last look, with their numbers.
fn results(rig: &Rig) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for chunk in rig.chunks() {
        if let Chunk::Reconfig(parameters) = chunk {
            for parameter in parameters.iter().filter(|p| p.kind == 16) {
                let word = |at: usize| {
                    let bytes = parameter.value[at..at + 4].try_into().unwrap();
                    u32::from_be_bytes(bytes)
                };
                found.push((word(0).wrapping_sub(TSN.0), word(4)));
            }
        }
    }
    found
}

/// The request sent since the last look.
fn request(rig: &Rig) -> Parameter {
    let found = rig.chunks().into_iter().find_map(|chunk| match chunk {
        Chunk::Reconfig(parameters) => parameters.iter().find(|p| p.kind != 16).cloned(),
        _ => None,
    });
    found.expect("a request was sent")
}

fn answer(rig: &mut Rig, number: u32, result: u32) {
    rig.sent.clear();
    let response = parameter(16, &words(&[number, result]));
    rig.deliver(Chunk::Reconfig(vec![response]));
}

fn on(n: u32, ssn: u16) -> Chunk {
    Chunk::Data(DataChunk {
        ssn: Ssn(ssn),
        payload: headway_sansio::Payload::Sized(n + 1),
        ..data(n)
    })
}

#[test]
fn rfc_6525_section_5_1_1_the_extension_is_announced_where_it_is_wanted() {
    for wanted in [false, true] {
        let rig = Rig::connecting(Config {
            reconfiguration: wanted,
            ..config()
        });
        let Chunk::Init(init) = &rig.chunks()[0] else {
            panic!()
        };
        let announced = init
            .parameters
            .iter()
            .any(|p| p.kind == 0x8008 && p.value.contains(&130));
        assert_eq!(announced, wanted);
    }
}

#[test]
fn rfc_6525_section_5_2_1_unknown_where_it_was_not_agreed() {
    let mut rig = Rig::established(config());
    rig.deliver_all(vec![
        Chunk::Reconfig(vec![outgoing(0, 0, &[])]),
        Chunk::Data(data(0)),
    ]);
    // Type 130: skipped without a report.
    assert!(rig.causes().is_empty() && results(&rig).is_empty());
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn rfc_6525_section_5_2_2_the_peer_s_streams_begin_anew() {
    let mut rig = rig();
    rig.deliver(on(0, 0));
    rig.deliver(on(1, 1));
    ask(&mut rig, vec![outgoing(0, 2, &[0])]);
    assert_eq!(results(&rig), [(0, 1)]);
    // With a SACK (section 5.2.1).
    assert_eq!(rig.story(), ["RE-CONFIG + SACK"]);
    assert!(rig.heard(&Event::IncomingReset { streams: vec![0] }));
    rig.deliver(on(2, 0));
    assert_eq!(rig.lengths(), [1, 2, 3]);
}

#[test]
fn rfc_6525_section_5_2_2_e2_a_reset_waits_for_the_last_tsn() {
    let mut rig = rig();
    rig.deliver(on(0, 0));
    ask(&mut rig, vec![outgoing(0, 2, &[0])]);
    assert_eq!(results(&rig), [(0, 6)]);
    // What belongs to the new life waits; a message of another stream does not.
    rig.deliver(on(2, 0));
    rig.deliver(Chunk::Data(DataChunk {
        stream: 1,
        payload: headway_sansio::Payload::Sized(77),
        ..data(3)
    }));
    assert_eq!(rig.lengths(), [1]);
    rig.sent.clear();
    rig.deliver(on(1, 1));
    assert_eq!(results(&rig), [(0, 1)]);
    rig.wait(300);
    assert_eq!(rig.lengths()[..3], [1, 2, 3]);
    assert_eq!(rig.sacks().pop().unwrap().cumulative_tsn, TSN.plus(3));
}

#[test]
fn rfc_6525_section_5_2_1_a_request_that_comes_again_gets_the_same_answer() {
    let mut rig = rig();
    rig.deliver(on(0, 0));
    ask(&mut rig, vec![outgoing(0, 1, &[0])]);
    rig.deliver(on(1, 0));
    for _ in 0..3 {
        ask(&mut rig, vec![outgoing(0, 1, &[0])]);
        assert_eq!(results(&rig), [(0, 1)]);
    }
    // It was done once: the stream goes on.
    rig.deliver(on(2, 1));
    assert_eq!(rig.lengths(), [1, 2, 3]);
}

#[test]
fn rfc_6525_section_4_4_another_number_is_a_bad_one() {
    let mut rig = rig();
    for n in [1, 7, u32::MAX] {
        let mut request = outgoing(0, 0, &[]).value.to_vec();
        request[..4].copy_from_slice(&TSN.0.wrapping_add(n).to_be_bytes());
        ask(&mut rig, vec![parameter(13, &request)]);
        assert_eq!(results(&rig), [(n, 5)]);
    }
    ask(&mut rig, vec![outgoing(0, 0, &[])]);
    assert_eq!(results(&rig), [(0, 1)]);
}

#[test]
fn rfc_6525_section_4_4_a_stream_that_does_not_exist_is_wrong() {
    let mut rig = rig();
    ask(&mut rig, vec![outgoing(0, 0, &[3, 10])]);
    assert_eq!(results(&rig), [(0, 3)]);
    ask(
        &mut rig,
        vec![parameter(14, &[words(&[TSN.0 + 1]), vec![0, 99]].concat())],
    );
    assert_eq!(results(&rig), [(1, 3)]);
}

#[test]
fn rfc_6525_section_3_1_combinations_that_are_not_allowed() {
    let add = |n: u32| parameter(17, &[words(&[TSN.0 + n]), vec![0, 1, 0, 0]].concat());
    let nonsense = vec![
        vec![],
        vec![outgoing(0, 0, &[]), add(1)],
        vec![add(0), add(1), add(2)],
        vec![parameter(13, &[1, 2, 3])],
        vec![parameter(99, &[0; 8])],
    ];
    for parameters in nonsense {
        let mut rig = rig();
        ask(&mut rig, parameters);
        assert_eq!(rig.causes(), [Cause::PROTOCOL_VIOLATION]);
        assert!(results(&rig).is_empty());
    }
}

#[test]
fn rfc_6525_section_5_1_2_the_request_names_the_last_tsn_and_the_streams() {
    let mut rig = rig();
    rig.send(100);
    rig.send(100);
    rig.sent.clear();
    rig.end.reset_outgoing_streams(rig.now, &[0, 3]).unwrap();
    rig.drain();
    let expected = [words(&[OWN.0, TSN.0 - 1, OWN.0 + 1]), vec![0, 0, 0, 3]].concat();
    assert_eq!(request(&rig), parameter(13, &expected));
}

#[test]
fn rfc_6525_section_5_1_2_a1_new_messages_wait_for_the_answer() {
    let mut rig = rig();
    rig.send(100);
    rig.end.reset_outgoing_streams(rig.now, &[0]).unwrap();
    rig.drain();
    rig.sent.clear();
    rig.send(100);
    rig.send_on(1, 100);
    // The other stream is not concerned.
    assert_eq!(rig.take_tsns(), [1]);
    answer(&mut rig, OWN.0, 1);
    let ssns: Vec<u16> = rig
        .chunks()
        .iter()
        .filter_map(|chunk| match chunk {
            Chunk::Data(data) => Some(data.ssn.0),
            _ => None,
        })
        .collect();
    assert_eq!(ssns, [0]);
}

#[test]
fn rfc_6525_section_5_2_7_h3_a_refusal_changes_nothing() {
    let mut rig = rig();
    rig.send(100);
    rig.end.reset_outgoing_streams(rig.now, &[0]).unwrap();
    rig.send(100);
    answer(&mut rig, OWN.0, 2);
    let Some(Chunk::Data(data)) = rig.chunks().pop() else {
        panic!()
    };
    assert_eq!((data.ssn, data.tsn), (Ssn(1), Tsn(OWN.0 + 1)));
}

#[test]
fn rfc_6525_section_5_2_7_h1_another_number_answers_nothing() {
    let mut rig = rig();
    rig.end.reset_outgoing_streams(rig.now, &[0]).unwrap();
    rig.drain();
    answer(&mut rig, OWN.0 + 1, 1);
    answer(&mut rig, OWN.0 - 1, 1);
    assert!(rig.events.is_empty());
    rig.wait(1_000);
    assert_eq!(rig.take_story(), ["RE-CONFIG"]);
}

#[test]
fn rfc_6525_section_5_2_7_h2_in_progress_is_no_error() {
    let mut rig = rig();
    rig.end.reset_outgoing_streams(rig.now, &[0]).unwrap();
    rig.drain();
    for _ in 0..20 {
        answer(&mut rig, OWN.0, 6);
        rig.wait(61_000);
        assert!(rig.story().iter().any(|story| story.contains("RE-CONFIG")));
    }
    assert_eq!(rig.end.state(), headway_sctp::AssociationState::Established);
}

#[test]
fn rfc_6525_section_5_1_1_one_request_at_a_time() {
    let mut rig = rig();
    rig.end.add_outgoing_streams(rig.now, 1).unwrap();
    rig.end.add_incoming_streams(rig.now, 2).unwrap();
    rig.drain();
    assert_eq!(rig.story(), ["RE-CONFIG"]);
    assert_eq!(request(&rig).kind, 17);
    answer(&mut rig, OWN.0, 1);
    let second = request(&rig);
    assert_eq!(
        (second.kind, &second.value[..4]),
        (18, &(OWN.0 + 1).to_be_bytes()[..])
    );
}

#[test]
fn rfc_6525_section_5_2_3_an_incoming_reset_is_answered_with_an_outgoing_one() {
    let mut rig = rig();
    rig.send(100);
    ask(
        &mut rig,
        vec![parameter(14, &[words(&[TSN.0]), vec![0, 0]].concat())],
    );
    let expected = [words(&[OWN.0, TSN.0, OWN.0]), vec![0, 0]].concat();
    assert_eq!(request(&rig), parameter(13, &expected));
}

#[test]
fn rfc_6525_section_5_2_4_all_numbers() {
    let mut rig = rig();
    rig.deliver(on(0, 0));
    rig.send(100);
    // Not before what is under way is acknowledged.
    ask(&mut rig, vec![parameter(15, &words(&[TSN.0]))]);
    assert_eq!(results(&rig), [(0, 6)]);
    rig.sent.clear();
    rig.ack(1);
    assert_eq!(results(&rig), [(0, 1)]);
    let response = rig.chunks().into_iter().find_map(|chunk| match chunk {
        Chunk::Reconfig(parameters) => Some(parameters[0].value.clone()),
        _ => None,
    });
    let response = response.unwrap();
    // Rule G1: the smallest TSN not acknowledged, and half the space.
    assert_eq!(
        response[12..],
        (TSN.0 + 1).wrapping_add(1 << 31).to_be_bytes()
    );
    let own = u32::from_be_bytes(response[8..12].try_into().unwrap());
    rig.sent.clear();
    rig.send(100);
    let Some(Chunk::Data(data)) = rig.chunks().pop() else {
        panic!()
    };
    assert_eq!((data.tsn, data.ssn), (Tsn(own), Ssn(0)));
    // The peer goes on from the number that it was given.
    let next = DataChunk {
        tsn: Tsn((TSN.0 + 1).wrapping_add(1 << 31)),
        payload: headway_sansio::Payload::Sized(55),
        ..crate::rig::data(0)
    };
    rig.deliver(Chunk::Data(next));
    assert_eq!(rig.lengths(), [1, 55]);
}

/// A FORWARD-TSN of before comes late, when the TSNs have begun anew: it moves nobody.
#[test]
fn rfc_6525_section_5_2_4_g1_a_late_forward_tsn_lies_behind() {
    let mut rig = Rig::connecting(Config {
        reconfiguration: true,
        partial_reliability: true,
        ..config()
    });
    let mut init = rig.peer_init();
    let knows = parameter(0x8008, &[130, 192]);
    init.parameters = vec![cookie(), knows, parameter(0xc000, &[])];
    rig.deliver(Chunk::InitAck(Box::new(init)));
    rig.deliver(Chunk::CookieAck);
    let forward = |n: u32| {
        Chunk::ForwardTsn(Box::new(ForwardTsn {
            cumulative_tsn: TSN.plus(n).previous(),
            skipped: Skipped::Ssns(vec![]),
        }))
    };
    rig.deliver(forward(2));
    rig.deliver(forward(3));
    ask(&mut rig, vec![parameter(15, &words(&[TSN.0]))]);
    assert_eq!(results(&rig), [(0, 1)]);
    let anew = TSN.plus(3).plus(1 << 31);
    for late in [2, 3] {
        rig.sent.clear();
        rig.deliver(forward(late));
        rig.wait(200);
        let sacks = rig.sacks();
        assert_eq!(
            sacks.last().expect("a SACK").cumulative_tsn,
            anew.previous()
        );
    }
    rig.events.clear();
    rig.deliver(Chunk::Data(DataChunk {
        tsn: anew,
        ..data(0)
    }));
    assert_eq!(rig.lengths(), [100]);
}

#[test]
fn rfc_6525_section_5_2_5_streams_that_the_peer_adds() {
    let mut rig = rig_of(Config {
        reconfiguration: true,
        most_streams: 15,
        ..config()
    });
    let add =
        |n: u32, count: u8| parameter(17, &[words(&[TSN.0 + n]), vec![0, count, 0, 0]].concat());
    ask(&mut rig, vec![add(0, 5)]);
    assert_eq!(results(&rig), [(0, 1)]);
    ask(&mut rig, vec![add(1, 1)]);
    assert_eq!(results(&rig), [(1, 2)]);
    assert_eq!(rig.end.streams().1, 15);
}
