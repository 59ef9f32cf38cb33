//! Messages that are given up beside others that must arrive: late pieces of the ones, and
//! streams that begin anew with the others.

use headway_sansio::Payload;
use headway_sctp::{
    Chunk, Config, DataChunk, Event, ForwardTsn, GapBlock, Interleaving, Message, Mid, Parameter,
    Reliability, Skipped, SkippedMid, Ssn,
};

use crate::common::{End, Pair, losing, names};
use crate::rig::{Rig, TSN, config, cookie, data};

fn settings(interleaving: bool) -> Config {
    Config {
        interleaving,
        partial_reliability: true,
        reconfiguration: true,
        ..config()
    }
}

/// Both know I-DATA and I-FORWARD-TSN (RFC 8260, section 2.2.1: types 64 and 194).
fn rig() -> Rig {
    let mut rig = Rig::connecting(settings(true));
    let mut init = rig.peer_init();
    let parameter = |kind, value: &[u8]| Parameter {
        kind,
        value: value.to_vec().into(),
    };
    init.parameters = vec![
        cookie(),
        parameter(0x8008, &[64, 192, 194]),
        parameter(0xc000, &[]),
    ];
    rig.deliver(Chunk::InitAck(Box::new(init)));
    rig.deliver(Chunk::CookieAck);
    rig.forget();
    rig
}

/// The peer's `n`-th chunk, a piece of 100 bytes in the middle of an unordered message.
fn piece(n: u32, stream: u16, mid: u32, fsn: u32) -> DataChunk {
    DataChunk {
        stream,
        ssn: Ssn(0),
        unordered: true,
        begin: fsn == 0,
        end: false,
        interleaving: Some(Interleaving { mid: Mid(mid), fsn }),
        ..data(n)
    }
}

/// A whole message in one chunk.
fn whole(chunk: DataChunk) -> Chunk {
    Chunk::Data(DataChunk { end: true, ..chunk })
}

/// The peer's first `n` chunks count as received, and unordered messages of stream 0 up to
/// this one are skipped.
fn forward(n: u32, mid: u32) -> Chunk {
    Chunk::ForwardTsn(Box::new(ForwardTsn {
        cumulative_tsn: TSN.plus(n).previous(),
        skipped: Skipped::Mids(vec![SkippedMid {
            stream: 0,
            unordered: true,
            mid: Mid(mid),
        }]),
    }))
}

/// RFC 3758, section 3.6: what was given up counts as received; RFC 8260, section 2.3.1:
/// whatever of the message is there is thrown away. A piece that comes after that is no
/// beginning of another message.
#[test]
fn rfc_8260_section_2_3_1_a_late_piece_of_a_skipped_unordered_message_takes_no_window() {
    let mut rig = rig();
    // Streams take turns: 0 and 3 are of the message that is given up, 2 of another that is
    // not and is lost, so that the point stays before it.
    rig.deliver(Chunk::Data(piece(0, 0, 7, 0)));
    rig.deliver(forward(2, 7));
    let buffer = settings(true).receive_buffer_bytes;
    assert_eq!((rig.end.held_bytes(), rig.end.partial_bytes()), (0, 0));
    rig.forget();
    rig.deliver(Chunk::Data(piece(3, 0, 7, 2)));
    // It is acknowledged beyond the gap, and the window is whole.
    let sacks = rig.sacks();
    let [sack] = sacks.as_slice() else {
        panic!("{sacks:?}")
    };
    assert_eq!(sack.cumulative_tsn, TSN.plus(1));
    assert_eq!(sack.gaps.as_slice(), [GapBlock { start: 2, end: 2 }]);
    assert_eq!(sack.a_rwnd, buffer);
    assert_eq!((rig.end.held_bytes(), rig.end.partial_bytes()), (0, 0));

    // So is one with the last piece; an older message of the stream is over as well.
    for late in [piece(4, 0, 7, 3), piece(5, 0, 6, 1)] {
        rig.deliver(whole(late));
    }
    assert_eq!((rig.end.held_bytes(), rig.end.partial_bytes()), (0, 0));
    assert!(rig.events.is_empty(), "{:?}", rig.events);

    // The next unordered message of the stream, and an ordered one of the same number, are
    // none of it; the lost one comes at last and closes the gap.
    rig.deliver(whole(piece(6, 0, 8, 0)));
    rig.deliver(whole(DataChunk {
        unordered: false,
        ..piece(7, 0, 0, 0)
    }));
    rig.deliver(whole(piece(2, 1, 0, 0)));
    assert_eq!(rig.lengths(), [100, 100, 100]);
    rig.wait(300);
    let last = rig.sacks().pop().expect("a SACK");
    assert_eq!((last.cumulative_tsn, last.a_rwnd), (TSN.plus(7), buffer));
    assert!(last.gaps.is_empty());
}

/// RFC 6525, section 5.2.2: a side that has come to the last TSN before a reset begins the
/// stream anew. A FORWARD-TSN that passes over that point would name, for the messages given
/// up before it, numbers that now mean messages of the new life.
#[test]
fn rfc_6525_section_5_2_2_a_reset_among_given_up_messages_loses_no_reliable_one() {
    for interleaving in [false, true] {
        let mut pair = Pair::established(Config {
            outbound_streams: 4,
            inbound_streams: 4,
            ..settings(interleaving)
        });
        let send = |pair: &mut Pair, stream: u16, bytes: u32, reliability: Reliability| {
            let message = Message {
                stream,
                reliability,
                payload: Payload::Sized(bytes),
                ..Message::default()
            };
            pair.a.send(pair.now, message).unwrap();
            pair.drain();
        };
        let once = Reliability::Retransmissions(0);
        // What A hears first is of no use to it: the message on stream 1 arrives, the peer
        // comes to the reset and does it, and A knows of neither when both messages are
        // given up.
        let mut silent = true;
        pair.wire = losing(move |end, _, packet| {
            silent &= !names(packet).contains("FORWARD");
            let of_two = |chunk: &Chunk| matches!(chunk, Chunk::Data(data) if data.stream == 2);
            match end {
                End::A => packet.chunks.iter().any(of_two),
                End::B => silent,
            }
        });
        send(&mut pair, 1, 11, once);
        pair.run_ms(50);
        let now = pair.now;
        pair.a.reset_outgoing_streams(now, &[1]).unwrap();
        pair.drain();
        pair.run_ms(50);
        assert!(pair.has_event(End::B, &Event::IncomingReset { streams: vec![1] }));
        send(&mut pair, 2, 22, once);
        pair.run_ms(20_000);
        let given_up = |(_, _, event): &&(_, _, Event)| matches!(event, Event::Abandoned { .. });
        assert_eq!(pair.events.iter().filter(given_up).count(), 2);

        // The first message of the new life has the number that the given-up one had.
        send(&mut pair, 1, 33, Reliability::Full);
        pair.run_ms(5_000);
        let came = pair.received(End::B);
        let came: Vec<_> = came.iter().map(|m| (m.stream, m.payload.len())).collect();
        assert_eq!(came, [(1, 11), (1, 33)], "I-DATA: {interleaving}");
    }
}
