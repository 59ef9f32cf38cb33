use bytes::Bytes;
use headway_sansio::Payload;
use proptest::prelude::*;

use super::*;
use crate::{Mid, Ssn, Tsn};

fn bytes(most: usize) -> impl Strategy<Value = Bytes> {
    proptest::collection::vec(any::<u8>(), 0..most).prop_map(Bytes::from)
}

fn causes() -> impl Strategy<Value = Vec<Cause>> {
    let cause =
        (any::<u16>(), bytes(20)).prop_map(|(code, information)| Cause { code, information });
    proptest::collection::vec(cause, 0..4)
}

fn init() -> impl Strategy<Value = Box<Init>> {
    let parameter = (any::<u16>(), bytes(50)).prop_map(|(kind, value)| Parameter { kind, value });
    let numbers = (
        any::<u32>(),
        any::<u32>(),
        any::<u16>(),
        any::<u16>(),
        any::<u32>(),
    );
    (numbers, proptest::collection::vec(parameter, 0..5)).prop_map(|(n, parameters)| {
        Box::new(Init {
            initiate_tag: n.0,
            a_rwnd: n.1,
            outbound_streams: n.2,
            inbound_streams: n.3,
            initial_tsn: Tsn(n.4),
            parameters,
        })
    })
}

fn data() -> impl Strategy<Value = DataChunk> {
    let numbers = (any::<u32>(), any::<u16>(), any::<u16>(), any::<u32>());
    (numbers, any::<[bool; 4]>(), bytes(60)).prop_map(|(n, flags, payload)| DataChunk {
        tsn: Tsn(n.0),
        stream: n.1,
        ssn: Ssn(n.2),
        ppid: n.3,
        unordered: flags[0],
        begin: flags[1],
        end: flags[2],
        immediate: flags[3],
        interleaving: None,
        payload: Payload::Bytes(payload),
        trace: Trace::default(),
    })
}

fn interleaved() -> impl Strategy<Value = DataChunk> {
    (data(), any::<(u32, u32)>()).prop_map(|(chunk, (mid, fsn))| DataChunk {
        ssn: Ssn(0),
        ppid: if chunk.begin { chunk.ppid } else { 0 },
        interleaving: Some(Interleaving {
            mid: Mid(mid),
            fsn: if chunk.begin { 0 } else { fsn },
        }),
        ..chunk
    })
}

fn forward() -> impl Strategy<Value = Box<ForwardTsn>> {
    let ssns = proptest::collection::vec(any::<(u16, u16)>(), 0..9).prop_map(|all| {
        let one = |(stream, ssn)| SkippedSsn {
            stream,
            ssn: Ssn(ssn),
        };
        Skipped::Ssns(all.into_iter().map(one).collect())
    });
    let mids = proptest::collection::vec(any::<(u16, bool, u32)>(), 0..9).prop_map(|all| {
        let one = |(stream, unordered, mid)| SkippedMid {
            stream,
            unordered,
            mid: Mid(mid),
        };
        Skipped::Mids(all.into_iter().map(one).collect())
    });
    (any::<u32>(), prop_oneof![ssns, mids]).prop_map(|(tsn, skipped)| {
        Box::new(ForwardTsn {
            cumulative_tsn: Tsn(tsn),
            skipped,
        })
    })
}

fn sack() -> impl Strategy<Value = Sack> {
    let gaps = proptest::collection::vec(any::<(u16, u16)>(), 0..9);
    let duplicates = proptest::collection::vec(any::<u32>(), 0..9);
    (any::<u32>(), any::<u32>(), gaps, duplicates).prop_map(|(tsn, a_rwnd, gaps, duplicates)| {
        Sack {
            cumulative_tsn: Tsn(tsn),
            a_rwnd,
            gaps: gaps
                .into_iter()
                .map(|(start, end)| GapBlock { start, end })
                .collect(),
            duplicates: duplicates.into_iter().map(Tsn).collect(),
        }
    })
}

fn chunk() -> impl Strategy<Value = Chunk> {
    let unknown = (any::<u8>(), any::<u8>(), bytes(30))
        .prop_filter("a type of this stack", |(kind, ..)| {
            ![64, 130, 132, 192, 194].contains(kind) && (*kind > 14 || (12..14).contains(kind))
        })
        .prop_map(|(kind, flags, value)| Chunk::Unknown { kind, flags, value });
    prop_oneof![
        data().prop_map(Chunk::Data),
        init().prop_map(Chunk::Init),
        init().prop_map(Chunk::InitAck),
        sack().prop_map(Chunk::Sack),
        bytes(30).prop_map(Chunk::Heartbeat),
        bytes(30).prop_map(Chunk::HeartbeatAck),
        (any::<bool>(), causes()).prop_map(|(reflected_tag, causes)| Chunk::Abort {
            reflected_tag,
            causes
        }),
        any::<u32>().prop_map(|tsn| Chunk::Shutdown {
            cumulative_tsn: Tsn(tsn)
        }),
        Just(Chunk::ShutdownAck),
        causes().prop_map(Chunk::Error),
        bytes(120).prop_map(Chunk::CookieEcho),
        Just(Chunk::CookieAck),
        any::<bool>().prop_map(|reflected_tag| Chunk::ShutdownComplete { reflected_tag }),
        interleaved().prop_map(Chunk::Data),
        forward().prop_map(Chunk::ForwardTsn),
        init().prop_map(|init| Chunk::Reconfig(init.parameters)),
        (0u16..50).prop_map(Chunk::Pad),
        unknown,
    ]
}

fn packet() -> impl Strategy<Value = Packet> {
    let chunks = proptest::collection::vec(chunk(), 1..5);
    (any::<u16>(), any::<u16>(), any::<u32>(), chunks).prop_map(|(from, to, tag, chunks)| Packet {
        source_port: from,
        destination_port: to,
        verification_tag: tag,
        chunks: chunks.into(),
    })
}

/// Puts the right checksum into a datagram, so that the parser reads on.
fn seal(datagram: &mut [u8]) {
    if datagram.len() >= 12 {
        datagram[8..12].fill(0);
        let checksum = crc32c::crc32c(datagram).to_le_bytes();
        datagram[8..12].copy_from_slice(&checksum);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(packet in packet()) {
        let mut out = vec![0xaa; 3];
        packet.encode(&mut out);
        let datagram = Bytes::from(out).slice(3..);
        prop_assert_eq!(datagram.len() as u32, packet.size_bytes());
        prop_assert_eq!(Packet::decode(&datagram), Ok(packet));
    }

    #[test]
    fn random_bytes_are_no_danger(mut datagram in proptest::collection::vec(any::<u8>(), 0..200)) {
        seal(&mut datagram);
        let _ = Packet::decode(&datagram.into());
    }

    /// Whatever the parser takes, the writer writes and the parser reads the same.
    #[test]
    fn changed_packets_are_no_danger(
        packet in packet(), changes in proptest::collection::vec(any::<(u16, u8)>(), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut datagram = Vec::new();
        packet.encode(&mut datagram);
        for (at, value) in changes {
            let at = usize::from(at) % datagram.len();
            datagram[at] = value;
        }
        datagram.truncate(datagram.len() - cut.index(8));
        seal(&mut datagram);
        if let Ok(read) = Packet::decode(&datagram.into()) {
            let mut again = Vec::new();
            read.encode(&mut again);
            prop_assert_eq!(again.len() as u32, read.size_bytes());
            prop_assert_eq!(Packet::decode(&again.into()), Ok(read));
        }
    }

    #[test]
    fn one_changed_bit_is_noticed(packet in packet(), at in any::<prop::sample::Index>()) {
        let mut datagram = Vec::new();
        packet.encode(&mut datagram);
        let bit = at.index(8 * datagram.len());
        datagram[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(Packet::decode(&datagram.into()), Err(ParseError::Checksum));
    }
}

/// A packet taken apart by hand: port 7 to 9, tag 1, a SACK and a DATA chunk of
/// three bytes with U, B and E set.
#[test]
fn a_packet_byte_by_byte() {
    let packet = Packet {
        source_port: 7,
        destination_port: 9,
        verification_tag: 1,
        chunks: [
            Chunk::Sack(Sack {
                cumulative_tsn: Tsn(5),
                a_rwnd: 256,
                gaps: [GapBlock { start: 2, end: 3 }].into_iter().collect(),
                duplicates: [Tsn(4)].into_iter().collect(),
            }),
            Chunk::Data(DataChunk {
                tsn: Tsn(0x0102_0304),
                stream: 6,
                ssn: Ssn(0),
                ppid: 8,
                unordered: true,
                begin: true,
                end: true,
                immediate: false,
                interleaving: None,
                payload: Payload::from(b"abc".to_vec()),
                trace: Trace::default(),
            }),
        ]
        .into_iter()
        .collect(),
    };
    let mut out = Vec::new();
    packet.encode(&mut out);
    assert_eq!(out[..8], [0, 7, 0, 9, 0, 0, 0, 1]);
    #[rustfmt::skip]
    let chunks = [
        3, 0, 0, 24, 0, 0, 0, 5, 0, 0, 1, 0, 0, 1, 0, 1, 0, 2, 0, 3, 0, 0, 0, 4,
        0, 7, 0, 19, 1, 2, 3, 4, 0, 6, 0, 0, 0, 0, 0, 8, b'a', b'b', b'c', 0,
    ];
    assert_eq!(out[12..], chunks);
}

#[test]
fn lengths_that_lie_are_errors() {
    let sealed = |chunk: &[u8]| {
        let mut datagram = vec![0; 12];
        datagram.extend_from_slice(chunk);
        seal(&mut datagram);
        Packet::decode(&datagram.into())
    };
    assert_eq!(sealed(&[]), Err(ParseError::Empty));
    assert_eq!(sealed(&[11, 0, 0]), Err(ParseError::Truncated));
    assert_eq!(sealed(&[11, 0, 0, 3]), Err(ParseError::ChunkLength));
    assert_eq!(sealed(&[11, 0, 0, 8, 0, 0, 0]), Err(ParseError::Truncated));
    // A SACK that promises more blocks than it holds.
    let promise = [3, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 1, 255, 255, 255, 255];
    assert_eq!(sealed(&promise), Err(ParseError::Truncated));
    // A cause that is shorter than its own header.
    assert_eq!(
        sealed(&[9, 0, 0, 8, 0, 1, 0, 3]),
        Err(ParseError::ParameterLength)
    );
    assert_eq!(
        Packet::decode(&Bytes::from_static(&[0; 11])),
        Err(ParseError::Truncated)
    );
}
