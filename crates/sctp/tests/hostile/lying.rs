//! A peer that knows the tag and does not keep to the rules.

use crate::rig::{OWN, Rig, config, data, sack, sack_of};
use headway_sansio::Payload;
use headway_sctp::{AssociationState, Chunk, Config, DataChunk, GapBlock, Sack, Ssn, Tsn};

/// Everything that waits gets through once the peer behaves.
fn recovers(rig: &mut Rig) {
    assert_eq!(rig.end.state(), AssociationState::Established);
    for _ in 0..200 {
        let sent = rig.end.stats().data_chunks_sent as u32;
        rig.ack(sent);
        if rig.end.buffered_bytes() == 0 {
            break;
        }
        rig.wait(1_000);
    }
    assert_eq!((rig.end.buffered_bytes(), rig.end.flight_bytes()), (0, 0));
    rig.send(100);
    let sent = rig.end.stats().data_chunks_sent as u32;
    rig.ack(sent);
    assert_eq!(rig.end.buffered_bytes(), 0);
}

#[test]
fn overlapping_tsns_are_taken_once() {
    let mut rig = Rig::established(config());
    let with = |n: u32, begin, end, bytes| {
        Chunk::Data(DataChunk {
            begin,
            end,
            payload: Payload::Sized(bytes),
            ..data(n)
        })
    };
    rig.deliver(with(0, true, true, 100));
    // The same number with other content, as a piece and as a whole.
    for (begin, end) in [(true, true), (true, false), (false, true), (false, false)] {
        rig.deliver(with(0, begin, end, 777));
    }
    assert_eq!(rig.lengths(), [100]);
    assert_eq!(rig.end.stats().duplicates_received, 4);
    // Beyond a gap as well: what came first counts.
    rig.deliver(with(2, true, true, 30));
    rig.deliver(with(2, true, false, 40));
    rig.deliver(with(1, true, true, 20));
    assert_eq!(rig.lengths(), [100, 20, 30]);
    assert_eq!(rig.end.partial_bytes() + rig.end.held_bytes(), 0);
    recovers(&mut rig);
}

#[test]
fn a_place_in_a_stream_that_is_taken_delivers_nothing_twice() {
    let mut rig = Rig::established(config());
    let with = |n: u32, ssn, bytes| {
        Chunk::Data(DataChunk {
            ssn: Ssn(ssn),
            payload: Payload::Sized(bytes),
            ..data(n)
        })
    };
    for n in 0..100 {
        // New numbers, and always the same two places: the first and a later one.
        rig.deliver(with(n, if n % 2 == 0 { 0 } else { 5 }, 10 + n));
    }
    assert_eq!(rig.lengths(), [10]);
    assert_eq!(rig.end.held_bytes(), 11, "one message waits in place 5");
    recovers(&mut rig);
}

#[test]
fn absurd_gap_blocks_do_no_harm() {
    let mut rig = Rig::established(config());
    for _ in 0..8 {
        rig.send(1_000);
    }
    let blocks: [&[(u16, u16)]; 9] = [
        &[(0, 0)],
        &[(5, 2)],
        &[(1, 1)],
        &[(0, 65_535)],
        &[(65_535, 65_535)],
        &[(60_000, 3)],
        &[(2, 2), (2, 2), (2, 2)],
        &[(3, 4), (2, 3), (4, 2)],
        &[(9, 1_000), (2_000, 3_000)],
    ];
    for gaps in blocks {
        rig.deliver(sack(0, gaps));
        assert!(rig.end.flight_bytes() <= 8 * 1_016, "{gaps:?}");
        rig.wait(50);
    }
    // As many as a packet holds.
    let many = (0..16_000).map(|n| GapBlock {
        start: n * 4 + 2,
        end: n * 4 + 3,
    });
    rig.deliver(Chunk::Sack(Sack {
        gaps: many.collect(),
        ..sack_of(0, &[], 100_000)
    }));
    recovers(&mut rig);
}

#[test]
fn sacks_for_what_was_never_sent_are_not_believed() {
    let mut rig = Rig::established(config());
    rig.send(1_000);
    let flight = rig.end.flight_bytes();
    for beyond in [1, 2, 1_000, 1 << 30, u32::MAX / 2] {
        rig.deliver(Chunk::Sack(Sack {
            cumulative_tsn: OWN.plus(beyond),
            ..sack_of(0, &[], 1_000_000)
        }));
    }
    // Nor are those that take back what was acknowledged.
    for before in [2u32, 100, 1 << 30] {
        rig.deliver(Chunk::Sack(Sack {
            cumulative_tsn: Tsn(OWN.0.wrapping_sub(before)),
            ..sack_of(0, &[], 0)
        }));
    }
    assert_eq!(rig.end.flight_bytes(), flight);
    assert_eq!(rig.end.stats().sacks_discarded, 8);
    recovers(&mut rig);
}

#[test]
fn what_was_acknowledged_beyond_a_gap_may_be_taken_back_for_ever() {
    let mut rig = Rig::established(config());
    for _ in 0..4 {
        rig.send(1_000);
    }
    for _ in 0..500 {
        rig.deliver(sack(0, &[(2, 4)]));
        rig.deliver(sack(0, &[]));
    }
    assert!(rig.end.flight_bytes() <= 4 * 1_016);
    recovers(&mut rig);
}

#[test]
fn a_window_that_stays_closed_is_probed_and_no_more() {
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::Sack(sack_of(0, &[], 0)));
    for _ in 0..50 {
        rig.send(1_000);
    }
    rig.sent.clear();
    // An hour in which the peer answers each probe with a closed window.
    let mut probes = 0;
    for _ in 0..3_600 {
        rig.wait(1_000);
        if !rig.sent.is_empty() {
            probes += rig.take_tsns().len();
            rig.deliver(Chunk::Sack(sack_of(0, &[], 0)));
        }
    }
    // The interval doubles up to RTO.Max, a minute.
    assert!((55..75).contains(&probes), "{probes}");
    assert_eq!(rig.end.state(), AssociationState::Established);
    rig.deliver(Chunk::Sack(sack_of(0, &[], 100_000)));
    recovers(&mut rig);
}

#[test]
fn a_window_that_shrinks_below_what_is_under_way() {
    let mut rig = Rig::established(config());
    for _ in 0..3 {
        rig.send(1_000);
    }
    for a_rwnd in [2_000, 1_000, 10, 0] {
        rig.deliver(Chunk::Sack(sack_of(0, &[], a_rwnd)));
        assert_eq!(rig.end.peer_window_bytes(), 0);
    }
    // Nothing new goes out; what is under way does so again (section 6.1, rule A).
    rig.sent.clear();
    rig.send(1_000);
    assert!(rig.take_tsns().is_empty());
    rig.wait(1_100);
    assert!(rig.take_tsns().iter().all(|&n| n < 3));
    rig.deliver(Chunk::Sack(sack_of(3, &[], 100_000)));
    recovers(&mut rig);
}

#[test]
fn a_huge_window_buys_nothing_beyond_cwnd() {
    let mut rig = Rig::established(config());
    rig.deliver(Chunk::Sack(sack_of(0, &[], u32::MAX)));
    for _ in 0..200 {
        rig.send(1_000);
    }
    assert!(rig.end.flight_bytes() <= rig.end.cwnd_bytes() + 1_016);
    rig.deliver(Chunk::Sack(sack_of(1, &[], u32::MAX)));
    assert!(rig.end.flight_bytes() <= rig.end.cwnd_bytes() + 1_016);
    recovers(&mut rig);
}

#[test]
fn every_other_chunk_for_ever_fills_no_memory() {
    let config = Config {
        receive_buffer_bytes: 20_000,
        ..config()
    };
    for (begin, end) in [(true, true), (true, false), (false, false)] {
        let mut rig = Rig::established(config.clone());
        // The first is never sent, so nothing can be delivered.
        for n in 1..30_000 {
            rig.deliver(Chunk::Data(DataChunk {
                begin,
                end,
                payload: Payload::Sized(1),
                ..data(2 * n)
            }));
            let held = rig.end.held_bytes() + rig.end.partial_bytes();
            assert!(held <= 20_000 / 32 + 1, "{held}");
            rig.sent.clear();
        }
        assert_eq!(rig.end.state(), AssociationState::Established);
    }
}

#[test]
fn questions_without_end_get_a_bounded_number_of_answers() {
    let mut rig = Rig::established(config());
    // Thousands of heartbeats and unknown chunks in one packet.
    let mut chunks = vec![Chunk::Heartbeat(vec![0, 1, 0, 5, 7].into()); 3_000];
    chunks.extend((0..3_000).map(|_| Chunk::Unknown {
        kind: 0xff,
        flags: 0,
        value: vec![1; 4].into(),
    }));
    rig.sent.clear();
    rig.deliver_all(chunks);
    assert_eq!(rig.chunks().len(), 64);
    recovers(&mut rig);
}
