//! Sections 3.3.4, 6.2 and 6.4 to 6.9: what arrives, and what is said of it.

use headway_sansio::{Duration, Payload};
use headway_sctp::{Cause, Chunk, Config, DataChunk, Event, GapBlock, Ssn, Tsn};

use crate::rig::{Rig, TSN, config, data};

fn rig() -> Rig {
    let mut rig = Rig::established(config());
    // The first packet with DATA is acknowledged at once; that is behind us.
    rig.deliver(Chunk::Data(data(0)));
    rig.forget();
    rig
}

fn piece(n: u32, begin: bool, end: bool, ssn: u16) -> Chunk {
    Chunk::Data(DataChunk {
        begin,
        end,
        ssn: Ssn(ssn),
        ..data(n)
    })
}

fn on(n: u32, stream: u16, ssn: u16) -> Chunk {
    Chunk::Data(DataChunk {
        stream,
        ssn: Ssn(ssn),
        payload: Payload::Sized(n + 1),
        ..data(n)
    })
}

#[test]
fn section_6_2_the_first_data_is_acknowledged_at_once() {
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::Data(data(0)));
    assert_eq!(rig.story(), ["SACK"]);
    let sack = &rig.sacks()[0];
    assert_eq!(sack.cumulative_tsn, TSN);
    assert!(sack.gaps.is_empty() && sack.duplicates.is_empty());
}

#[test]
fn section_6_2_one_packet_waits_for_another_or_200_ms() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(data(1)));
    assert_eq!(rig.take_story(), [""; 0]);
    rig.wait(199);
    assert_eq!(rig.take_story(), [""; 0]);
    rig.wait(1);
    assert_eq!(rig.take_story(), ["SACK"]);
    rig.deliver(Chunk::Data(data(2)));
    rig.deliver(Chunk::Data(data(3)));
    assert_eq!(rig.sacks()[0].cumulative_tsn, TSN.plus(3));
}

#[test]
fn section_6_2_packets_count_and_not_chunks() {
    let mut rig = rig();
    rig.deliver_all((1..5).map(|n| Chunk::Data(data(n))).collect());
    assert_eq!(rig.take_story(), [""; 0]);
}

#[test]
fn section_6_2_never_later_than_500_ms() {
    let config = Config {
        sack_delay: Duration::from_millis(501),
        ..config()
    };
    assert!(config.check().is_err());
}

#[test]
fn section_6_7_a_gap_is_reported_at_once_and_with_every_packet() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(data(2)));
    rig.deliver(Chunk::Data(data(4)));
    rig.deliver(Chunk::Data(data(5)));
    assert_eq!(rig.story(), ["SACK"; 3]);
    let sack = rig.sacks().pop().unwrap();
    assert_eq!(sack.cumulative_tsn, TSN);
    let block = |start, end| GapBlock { start, end };
    assert_eq!(sack.gaps[..], [block(2, 2), block(4, 5)]);
}

#[test]
fn section_6_7_the_packet_that_closes_the_gap_is_acknowledged_at_once() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(data(2)));
    rig.sent.clear();
    rig.deliver(Chunk::Data(data(1)));
    let sacks = rig.sacks();
    assert_eq!(sacks[0].cumulative_tsn, TSN.plus(2));
    assert!(sacks[0].gaps.is_empty());
}

#[test]
fn section_6_2_duplicates_are_reported_at_once_and_once() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(data(0)));
    rig.deliver_all(vec![Chunk::Data(data(0)), Chunk::Data(data(0))]);
    let sacks = rig.sacks();
    assert_eq!(sacks[0].duplicates[..], [TSN]);
    assert_eq!(sacks[1].duplicates[..], [TSN, TSN]);
    // What was told is not told again.
    rig.sent.clear();
    rig.deliver(Chunk::Data(data(1)));
    rig.deliver(Chunk::Data(data(2)));
    assert!(rig.sacks()[0].duplicates.is_empty());
    assert_eq!(rig.lengths().len(), 2);
}

#[test]
fn section_6_2_duplicates_beyond_a_gap_are_duplicates() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(data(2)));
    rig.deliver(Chunk::Data(data(2)));
    assert_eq!(rig.sacks()[1].duplicates[..], [TSN.plus(2)]);
    assert_eq!(rig.end.stats().duplicates_received, 1);
}

#[test]
fn section_3_3_1_the_i_bit_asks_for_a_sack_without_delay() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(DataChunk {
        immediate: true,
        ..data(1)
    }));
    assert_eq!(rig.take_story(), ["SACK"]);
}

/// 1,000 bytes.
fn big(n: u32) -> Chunk {
    Chunk::Data(DataChunk {
        payload: Payload::Sized(1_000),
        ..data(n)
    })
}

#[test]
fn section_6_2_a_rwnd_tells_what_is_unread() {
    let mut rig = Rig::established(Config {
        receive_buffer_bytes: 10_000,
        ..config()
    });
    rig.deaf = true;
    rig.deliver(big(0));
    rig.deliver(big(1));
    rig.deliver(big(2));
    let windows: Vec<u32> = rig.sacks().iter().map(|sack| sack.a_rwnd).collect();
    assert_eq!(windows, [9_000, 7_000]);
    // What waits beyond a gap takes room as well.
    rig.deliver(big(4));
    assert_eq!(rig.sacks().pop().unwrap().a_rwnd, 6_000);
}

#[test]
fn section_6_2_a_window_that_opens_is_told() {
    let mut rig = Rig::established(Config {
        receive_buffer_bytes: 5_000,
        ..config()
    });
    rig.deaf = true;
    for n in 0..5 {
        rig.deliver(big(n));
    }
    rig.wait(300);
    assert_eq!(rig.sacks().pop().unwrap().a_rwnd, 0);
    rig.sent.clear();
    rig.deaf = false;
    rig.drain();
    assert_eq!(rig.sacks()[0].a_rwnd, 5_000);
}

#[test]
fn section_6_2_without_room_new_data_is_dropped_and_gaps_are_filled() {
    let mut rig = Rig::established(Config {
        receive_buffer_bytes: 3_000,
        ..config()
    });
    rig.deaf = true;
    for n in [0, 2, 3] {
        rig.deliver(big(n));
    }
    // Full: what lies beyond is dropped, with a SACK at once.
    rig.sent.clear();
    rig.deliver(big(5));
    assert_eq!(rig.end.stats().data_chunks_dropped, 1);
    assert_eq!(rig.story(), ["SACK"]);
    // What fills the gap is taken in place of the furthest.
    rig.deliver(big(1));
    assert_eq!(rig.end.stats().data_chunks_reneged, 1);
    let sack = rig.sacks().pop().unwrap();
    assert_eq!((sack.cumulative_tsn, sack.gaps.len()), (TSN.plus(2), 0));
}

#[test]
fn section_6_5_data_for_a_stream_that_does_not_exist() {
    let mut rig = rig();
    rig.deliver(on(1, 10, 0));
    assert_eq!(rig.causes(), [Cause::INVALID_STREAM]);
    let error = rig.chunks().into_iter().find_map(|chunk| match chunk {
        Chunk::Error(causes) => Some(causes[0].information.clone()),
        _ => None,
    });
    assert_eq!(error.unwrap()[..], [0, 10, 0, 0]);
    // It is acknowledged all the same, and not delivered.
    rig.sent.clear();
    rig.deliver(Chunk::Data(data(2)));
    assert_eq!(rig.sacks()[0].cumulative_tsn, TSN.plus(2));
}

#[test]
fn section_6_5_order_holds_within_a_stream() {
    let mut rig = rig();
    // Stream 1 misses its first message, stream 2 misses nothing.
    rig.deliver(on(2, 1, 1));
    rig.deliver(on(3, 2, 0));
    assert_eq!(rig.lengths(), [4]);
    rig.deliver(on(1, 1, 0));
    assert_eq!(rig.lengths(), [4, 2, 3]);
}

#[test]
fn section_6_6_unordered_data_passes_by() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(DataChunk {
        unordered: true,
        payload: Payload::Sized(7),
        ..data(5)
    }));
    assert_eq!(rig.lengths(), [7]);
}

#[test]
fn section_6_6_sequence_numbers_of_a_stream_wrap() {
    let mut rig = Rig::established(config());
    for n in 0..65_540u32 {
        rig.deliver(Chunk::Data(DataChunk {
            ssn: Ssn(n as u16),
            ..data(n)
        }));
        rig.sent.clear();
    }
    assert_eq!(rig.lengths().len(), 65_540);
}

#[test]
fn section_6_9_fragments_become_a_message_in_any_order() {
    let mut rig = rig();
    rig.deliver(piece(3, false, true, 1));
    rig.deliver(piece(1, true, false, 1));
    assert_eq!(rig.lengths(), [0usize; 0]);
    rig.deliver(piece(2, false, false, 1));
    assert_eq!(rig.lengths(), [300]);
}

#[test]
fn section_6_9_the_end_of_a_message_without_its_beginning_waits() {
    let mut rig = rig();
    rig.deliver(piece(1, true, false, 1));
    rig.deliver(piece(3, true, true, 2));
    assert_eq!(rig.lengths(), [0usize; 0]);
    rig.deliver(piece(2, false, true, 1));
    assert_eq!(rig.lengths(), [200, 100]);
}

#[test]
fn section_6_9_a_message_within_a_message_breaks_the_rules() {
    let mut rig = rig();
    rig.deliver(piece(1, true, false, 1));
    rig.deliver(piece(2, true, false, 2));
    assert_eq!(rig.causes(), [Cause::PROTOCOL_VIOLATION]);
}

#[test]
fn section_6_2_data_without_content_aborts() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(DataChunk {
        payload: Payload::Sized(0),
        ..data(1)
    }));
    assert_eq!(rig.causes(), [Cause::NO_USER_DATA]);
    let Chunk::Abort { causes, .. } = &rig.chunks()[0] else {
        panic!()
    };
    assert_eq!(causes[0].information[..], TSN.next().0.to_be_bytes());
}

#[test]
fn section_6_1_a_waiting_sack_travels_with_data() {
    let mut rig = rig();
    rig.deliver(Chunk::Data(data(1)));
    rig.send(100);
    assert_eq!(rig.story(), ["SACK + DATA"]);
}

#[test]
fn section_6_10_chunks_are_bundled_up_to_the_mtu() {
    let mut rig = Rig::established(config());
    // Behind a closed window small messages gather.
    rig.deliver(Chunk::Sack(crate::rig::sack_of(0, &[], 0)));
    for _ in 0..40 {
        rig.send(100);
    }
    rig.forget();
    rig.deliver(crate::rig::sack(0, &[]));
    let first = &rig.sent[0].packet;
    assert!(first.size_bytes() <= 1_480);
    // 1480 bytes less 12, in chunks of 116.
    assert_eq!(first.chunks.len(), 12);
}

#[test]
fn section_1_6_tsns_wrap() {
    let mut rig = Rig::connecting(config());
    let mut init = rig.peer_init();
    init.initial_tsn = Tsn(u32::MAX);
    init.parameters.push(crate::rig::cookie());
    rig.deliver(Chunk::InitAck(Box::new(init)));
    rig.deliver(Chunk::CookieAck);
    rig.forget();
    for (n, tsn) in [u32::MAX, 0, 1].into_iter().enumerate() {
        rig.deliver(Chunk::Data(DataChunk {
            tsn: Tsn(tsn),
            ssn: Ssn(n as u16),
            ..data(0)
        }));
    }
    assert_eq!(rig.lengths().len(), 3);
    assert_eq!(rig.sacks().pop().unwrap().cumulative_tsn, Tsn(1));
    assert!(
        !rig.events
            .iter()
            .any(|e| matches!(e, Event::ConnectionLost { .. }))
    );
}
