//! A peer that knows the tag and says anything at all: no panic, no endless work,
//! no unbounded memory.

use crate::common::{End, Pair};
use headway_sansio::{Duration, Payload};
use headway_sctp::{
    AssociationState, Chunk, Config, DataChunk, GapBlock, Message, Packet, Sack, Ssn, Trace, Tsn,
};
use proptest::prelude::*;

/// A chunk with numbers relative to what the association expects.
#[derive(Clone, Debug)]
enum Lie {
    Data {
        offset: i32,
        stream: u16,
        ssn: u16,
        flags: [bool; 4],
        bytes: u32,
    },
    Sack {
        offset: i32,
        a_rwnd: u32,
        gaps: Vec<(u16, u16)>,
        duplicates: Vec<u32>,
    },
    Shutdown {
        offset: i32,
    },
    Other(u8),
    /// The user sends.
    Send {
        bytes: u32,
    },
    /// Time passes.
    Wait {
        ms: u64,
    },
}

fn offset() -> impl Strategy<Value = i32> {
    prop_oneof![8 => -3i32..12, 1 => any::<i32>(), 1 => 65_530i32..65_540]
}

fn lie() -> impl Strategy<Value = Lie> {
    let gap = prop_oneof![4 => (0u16..12, 0u16..12), 1 => any::<(u16, u16)>()];
    let gaps = proptest::collection::vec(gap, 0..5);
    let duplicates = proptest::collection::vec(any::<u32>(), 0..3);
    let a_rwnd = prop_oneof![Just(0), Just(500), Just(100_000), any::<u32>()];
    let stream = prop_oneof![4 => 0u16..3, 1 => 60u16..70];
    let ssn = prop_oneof![4 => 0u16..6, 1 => any::<u16>()];
    let bytes = prop_oneof![1 => Just(0u32), 9 => 1u32..2000];
    prop_oneof![
        6 => (offset(), stream, ssn, any::<[bool; 4]>(), bytes).prop_map(
            |(offset, stream, ssn, flags, bytes)| Lie::Data { offset, stream, ssn, flags, bytes }
        ),
        6 => (offset(), a_rwnd, gaps, duplicates).prop_map(
            |(offset, a_rwnd, gaps, duplicates)| Lie::Sack { offset, a_rwnd, gaps, duplicates }
        ),
        1 => offset().prop_map(|offset| Lie::Shutdown { offset }),
        1 => (0u8..9).prop_map(Lie::Other),
        4 => (1u32..5000).prop_map(|bytes| Lie::Send { bytes }),
        3 => (0u64..3000).prop_map(|ms| Lie::Wait { ms }),
    ]
}

fn other(kind: u8) -> Chunk {
    let bytes = bytes::Bytes::from_static(&[0, 1, 0, 7, 9]);
    match kind {
        0 => Chunk::Heartbeat(bytes),
        1 => Chunk::HeartbeatAck(bytes),
        2 => Chunk::ShutdownAck,
        3 => Chunk::ShutdownComplete {
            reflected_tag: false,
        },
        4 => Chunk::CookieAck,
        5 => Chunk::CookieEcho(bytes),
        6 => Chunk::Error(vec![headway_sctp::Cause::new(
            headway_sctp::Cause::STALE_COOKIE,
        )]),
        7 => Chunk::Unknown {
            kind: 0xff,
            flags: 0,
            value: bytes,
        },
        _ => Chunk::Abort {
            reflected_tag: false,
            causes: vec![],
        },
    }
}

/// What A expects of B: its tag, B's next TSN and the next of its own.
struct Known {
    tag: u32,
    theirs: Tsn,
    ours: Tsn,
}

fn chunk(lie: &Lie, known: &Known) -> Option<Chunk> {
    let near = |tsn: Tsn, offset: i32| tsn.plus(offset as u32);
    Some(match lie {
        Lie::Data {
            offset,
            stream,
            ssn,
            flags,
            bytes,
        } => Chunk::Data(DataChunk {
            tsn: near(known.theirs, *offset),
            stream: *stream,
            ssn: Ssn(*ssn),
            ppid: 0,
            unordered: flags[0],
            begin: flags[1],
            end: flags[2],
            immediate: flags[3],
            interleaving: None,
            payload: Payload::Sized(*bytes),
            trace: Trace::default(),
        }),
        Lie::Sack {
            offset,
            a_rwnd,
            gaps,
            duplicates,
        } => Chunk::Sack(Sack {
            cumulative_tsn: near(known.ours, *offset),
            a_rwnd: *a_rwnd,
            gaps: gaps
                .iter()
                .map(|&(start, end)| GapBlock { start, end })
                .collect(),
            duplicates: duplicates.iter().copied().map(Tsn).collect(),
        }),
        Lie::Shutdown { offset } => Chunk::Shutdown {
            cumulative_tsn: near(known.ours, *offset),
        },
        Lie::Other(kind) => other(*kind),
        Lie::Send { .. } | Lie::Wait { .. } => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_a_peer_says_is_a_danger(
        profile in prop::sample::select(headway_sctp::PROFILES.to_vec()),
        lies in proptest::collection::vec(lie(), 1..60),
    ) {
        let config = Config {
            receive_buffer_bytes: 10_000,
            initial_tsn: Some(Tsn(u32::MAX - 4)),
            ..Config::profile(profile).unwrap()
        };
        let mut pair = Pair::new(config.clone(), config.clone());
        pair.run_ms(1000);
        let tag = pair.log.iter().rfind(|(_, end, _)| *end == End::B).unwrap().2.verification_tag;
        let mut known = Known { tag, theirs: Tsn(u32::MAX - 4), ours: Tsn(u32::MAX - 5) };
        pair.wire = crate::common::losing(|_, _, _| true);
        for lie in &lies {
            match lie {
                Lie::Send { bytes } => {
                    let payload = Payload::Sized(*bytes);
                    let now = pair.now;
                    // It may refuse; it may not panic.
                    let _ = pair.a.send(
                        now, Message { stream: 0, ppid: 0, unordered: false, payload, ..Message::default() },
                    );
                    pair.drain();
                }
                Lie::Wait { ms } => pair.run_for(Duration::from_millis(*ms)),
                _ => {
                    let chunks = chunk(lie, &known).into_iter().collect();
                    let packet = Packet {
                        source_port: 2000,
                        destination_port: 1000,
                        verification_tag: known.tag,
                        chunks,
                    };
                    pair.inject(End::B, packet);
                }
            }
            if let Some((_, sack)) = pair.sacks(End::A).last() {
                known.theirs = sack.cumulative_tsn.next();
            }
            let held = pair.a.held_bytes() + pair.a.partial_bytes() + pair.a.unread_bytes();
            prop_assert!(held <= 2 * config.receive_buffer_bytes + 2000, "{}", held);
            if pair.a.flight_bytes() > 0 && pair.a.state() != AssociationState::Closed {
                prop_assert!(pair.a.poll_timeout().is_some(), "data under way and no timer");
            }
        }
        // Left alone, it comes to an end or waits for its user; it does not spin.
        let before = pair.log.len();
        pair.run_for(Duration::from_secs(2_000));
        prop_assert!(pair.log.len() - before < 500, "{} packets", pair.log.len() - before);
    }
}
