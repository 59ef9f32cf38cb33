//! Messages that are given up (RFC 3758, RFC 7496; with I-DATA RFC 8260, section
//! 2.3.1).

mod common;

use common::{End, Pair, losing};
use headway_sansio::{Duration, Payload, Time};
use headway_sctp::{
    Abandoned, AssociationState, Chunk, Config, Event, ForwardTsn, Message, MessageId, Mid, Packet,
    Policy, Reliability, SendError, Skipped, SkippedMid, SkippedSsn, Ssn, Tsn,
};

fn config() -> Config {
    Config {
        partial_reliability: true,
        initial_tsn: Some(Tsn(100)),
        ..Config::default()
    }
}

fn mixed() -> Config {
    Config {
        interleaving: true,
        ..config()
    }
}

const ONCE: Reliability = Reliability::Retransmissions(0);

fn send(pair: &mut Pair, stream: u16, bytes: u32, reliability: Reliability) -> MessageId {
    send_as(pair, stream, false, bytes, reliability)
}

fn send_as(
    pair: &mut Pair,
    stream: u16,
    unordered: bool,
    bytes: u32,
    reliability: Reliability,
) -> MessageId {
    let message = Message {
        stream,
        unordered,
        reliability,
        payload: Payload::Sized(bytes),
        ..Message::default()
    };
    let now = pair.now;
    let id = pair.a.send(now, message).unwrap();
    pair.drain();
    id
}

/// Loses the chunks of A with these TSNs, each as often as named.
fn lose(pair: &mut Pair, tsns: &[u32]) {
    let mut left = tsns.to_vec();
    pair.wire = losing(move |end, _, packet| {
        end == End::A
            && packet.chunks.iter().any(|chunk| match chunk {
                Chunk::Data(data) => left
                    .iter()
                    .position(|&tsn| Tsn(tsn) == data.tsn)
                    .map(|place| left.remove(place))
                    .is_some(),
                _ => false,
            })
    });
}

fn forwards(pair: &Pair) -> Vec<(Time, ForwardTsn)> {
    let mut all = Vec::new();
    for (at, end, packet) in &pair.log {
        for chunk in &packet.chunks {
            if let Chunk::ForwardTsn(forward) = chunk {
                assert_eq!(*end, End::A);
                all.push((*at, (**forward).clone()));
            }
        }
    }
    all
}

/// Message, whether some of it was sent, and when it was given up.
fn given_up(pair: &Pair) -> Vec<(u64, bool, Time)> {
    let of = |(at, _, event): &(Time, End, Event)| match event {
        Event::Abandoned { message, sent, .. } => Some((message.0, *sent, *at)),
        _ => None,
    };
    pair.events.iter().filter_map(of).collect()
}

fn ssns(list: &[(u16, u16)]) -> Skipped {
    let entry = |&(stream, ssn): &(u16, u16)| SkippedSsn {
        stream,
        ssn: Ssn(ssn),
    };
    Skipped::Ssns(list.iter().map(entry).collect())
}

/// How often a TSN was sent.
fn times_sent(pair: &Pair, tsn: u32) -> usize {
    let data = pair.data(End::A);
    data.iter()
        .filter(|(_, chunk)| chunk.tsn == Tsn(tsn))
        .count()
}

fn count(unsent: u64, sent: u64) -> Abandoned {
    Abandoned { unsent, sent }
}

#[test]
fn rfc_3758_section_3_3_it_takes_both_sides() {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        for interleaving in [false, true] {
            let with = |partial_reliability| Config {
                partial_reliability,
                interleaving,
                ..Config::default()
            };
            let mut pair = Pair::new(with(a), with(b));
            pair.encoded = true;
            pair.run_ms(1000);
            for end in [End::A, End::B] {
                assert_eq!(pair.end(end).is_partially_reliable(), a && b);
            }
            // A lost message is given up, or retransmitted as any other.
            let first = pair.data(End::A).len();
            pair.wire = losing(move |end, _, packet| {
                end == End::A && first == 0 && common::has_data(packet)
            });
            send(&mut pair, 0, 100, ONCE);
            pair.wire = common::perfect();
            pair.run_ms(10_000);
            assert_eq!(given_up(&pair).len(), usize::from(a && b));
            assert_eq!(pair.received(End::B).len(), usize::from(!(a && b)));
            assert_eq!(!forwards(&pair).is_empty(), a && b);
        }
    }
}

#[test]
fn rfc_7496_section_3_1_a_lost_message_is_not_sent_again() {
    let mut pair = Pair::established(config());
    lose(&mut pair, &[101]);
    for _ in 0..6 {
        send(&mut pair, 3, 100, ONCE);
        pair.run_ms(5);
    }
    let cwnd = pair.a.cwnd_bytes();
    pair.run_ms(500);
    assert_eq!(times_sent(&pair, 101), 1);
    assert_eq!(given_up(&pair).len(), 1);
    assert_eq!((given_up(&pair)[0].0, given_up(&pair)[0].1), (1, true));
    let (_, forward) = &forwards(&pair)[0];
    assert_eq!(
        (forward.cumulative_tsn, &forward.skipped),
        (Tsn(101), &ssns(&[(3, 1)]))
    );
    // Those that waited for it come once FORWARD-TSN is there, in order.
    let received: Vec<_> = pair.received(End::B).iter().map(|m| m.ssn.0).collect();
    assert_eq!(received, [0, 2, 3, 4, 5]);
    assert_eq!(pair.a.buffered_bytes(), 0);
    assert_eq!(pair.b.held_bytes(), 0);
    // Rule F5: the loss is a sign of congestion all the same.
    assert_eq!(pair.a.stats().fast_recoveries, 1);
    assert!(pair.a.ssthresh_bytes() < u32::MAX && cwnd > 0);
    assert_eq!(pair.a.stats().retransmissions(), 0);
    assert_eq!(pair.a.abandoned(None, None), count(0, 1));
    assert_eq!(
        pair.a.abandoned(Some(3), Some(Policy::Retransmissions)),
        count(0, 1)
    );
    assert_eq!(pair.a.abandoned(Some(2), None), count(0, 0));
    assert_eq!(pair.a.abandoned(None, Some(Policy::Lifetime)), count(0, 0));
    assert_eq!(pair.a.stats().messages_abandoned, count(0, 1));
}

#[test]
fn rfc_7496_section_3_1_so_many_retransmissions_and_no_more() {
    for limit in [1, 2] {
        let mut pair = Pair::established(config());
        lose(&mut pair, &[100; 5]);
        send(&mut pair, 0, 100, Reliability::Retransmissions(limit));
        pair.run_ms(60_000);
        assert_eq!(times_sent(&pair, 100), limit as usize + 1);
        assert_eq!(given_up(&pair).len(), 1);
        // 1 s, 2 s, 4 s: each time T3-rtx expires.
        assert_eq!(
            given_up(&pair)[0].2.as_nanos(),
            (1 << (limit + 1)) * 1_000_000_000
        );
        assert_eq!(pair.b.stats().forwards_received, 1);
    }
}

#[test]
fn a_message_that_comes_in_time_is_not_given_up() {
    for reliability in [
        Reliability::Retransmissions(1),
        Reliability::Lifetime(Duration::from_secs(5)),
        Reliability::Priority(9),
    ] {
        let mut pair = Pair::established(config());
        lose(&mut pair, &[100]);
        send(&mut pair, 0, 100, reliability);
        pair.run_ms(60_000);
        assert_eq!(pair.received(End::B).len(), 1);
        assert!(given_up(&pair).is_empty() && forwards(&pair).is_empty());
    }
}

#[test]
fn rfc_3758_section_4_1_a_lifetime_ends_at_the_next_retransmission() {
    let mut pair = Pair::established(config());
    lose(&mut pair, &[100, 100, 100]);
    let start = pair.now;
    send(
        &mut pair,
        0,
        100,
        Reliability::Lifetime(Duration::from_millis(1_500)),
    );
    pair.run_ms(60_000);
    // T3-rtx expires after 1 s, when the message still lives, and 2 s later.
    assert_eq!(times_sent(&pair, 100), 2);
    let (_, sent, at) = given_up(&pair)[0];
    assert!(sent);
    assert_eq!(at.since(start), Duration::from_secs(3));
    assert_eq!(pair.a.abandoned(None, Some(Policy::Lifetime)), count(0, 1));
}

#[test]
fn rfc_3758_section_4_1_rule_tr3_what_expires_unsent_gets_no_tsn() {
    for partial_reliability in [false, true] {
        let mut pair = Pair::established(Config {
            partial_reliability,
            ..config()
        });
        // More than the window, so that the rest waits.
        let before = pair.now;
        for _ in 0..20 {
            send(&mut pair, 0, 1000, Reliability::Full);
        }
        let life = Duration::from_millis(7);
        for stream in [1, 2] {
            send(&mut pair, stream, 1000, Reliability::Lifetime(life));
        }
        assert_eq!(pair.a.poll_timeout(), Some(before + life));
        pair.run_ms(5_000);
        let expected = [(20, false, before + life), (21, false, before + life)];
        assert_eq!(given_up(&pair), expected);
        assert_eq!(pair.received(End::B).len(), 20);
        assert!(forwards(&pair).is_empty());
        assert_eq!(
            pair.a.abandoned(Some(1), Some(Policy::Lifetime)),
            count(1, 0)
        );
        assert_eq!(pair.a.buffered_bytes(), 0);
    }
}

#[test]
fn expired_messages_make_room_for_new_ones() {
    let mut pair = Pair::established(Config {
        send_buffer_bytes: 20_000,
        ..config()
    });
    for _ in 0..20 {
        send(
            &mut pair,
            0,
            1000,
            Reliability::Lifetime(Duration::from_millis(5)),
        );
    }
    let another = || Message {
        payload: Payload::Sized(12_000),
        ..Message::default()
    };
    let now = pair.now;
    assert_eq!(pair.a.send(now, another()), Err(SendError::BufferFull));
    // Those under way stay.
    let under_way = pair.a.buffered_bytes() - pair.a.unsent_bytes();
    let now = now + Duration::from_millis(6);
    pair.now = now;
    assert!(pair.a.send(now, another()).is_ok());
    assert_eq!(pair.a.buffered_bytes(), under_way + 12_000);
}

#[test]
fn rfc_3758_rule_a3_all_of_a_message_is_given_up() {
    for settings in [config(), mixed()] {
        let interleaving = settings.interleaving;
        let mut pair = Pair::established(settings);
        // The second of three pieces is lost.
        lose(&mut pair, &[101]);
        send(&mut pair, 2, 4000, ONCE);
        send(&mut pair, 2, 100, ONCE);
        pair.run_ms(3000);
        assert_eq!(given_up(&pair).len(), 1);
        let (_, forward) = &forwards(&pair)[0];
        assert_eq!(forward.cumulative_tsn, Tsn(102));
        let expected = if interleaving {
            Skipped::Mids(vec![SkippedMid {
                stream: 2,
                unordered: false,
                mid: Mid(0),
            }])
        } else {
            ssns(&[(2, 0)])
        };
        assert_eq!(forward.skipped, expected);
        assert_eq!(pair.b.partial_bytes(), 0);
        let received: Vec<_> = pair.received(End::B).iter().map(|m| m.mid.0).collect();
        assert_eq!(received, [1]);
        assert_eq!(pair.a.buffered_bytes(), 0);
    }
}

#[test]
fn the_rest_of_a_message_is_never_sent() {
    for settings in [config(), mixed()] {
        let mut pair = Pair::established(Config {
            send_buffer_bytes: 1 << 20,
            ..settings
        });
        // It expires while its pieces are going out, none of which is lost.
        let life = Duration::from_millis(100);
        send(&mut pair, 2, 300_000, Reliability::Lifetime(life));
        send(&mut pair, 2, 100, Reliability::Full);
        pair.run_ms(3000);
        assert_eq!(given_up(&pair).len(), 1);
        assert!(given_up(&pair)[0].1);
        let sent: usize = pair.data(End::A).iter().map(|(_, c)| c.payload.len()).sum();
        assert!((10_000..100_000).contains(&sent), "{sent}");
        // The end of it has a TSN that never goes out, so that the peer learns of it.
        let last = pair.data(End::A).last().unwrap().1.tsn;
        let (_, forward) = forwards(&pair).pop().unwrap();
        assert_eq!(forward.cumulative_tsn, last.previous());
        assert_eq!(times_sent(&pair, last.previous().0), 0);
        assert_eq!(pair.b.partial_bytes(), 0);
        assert_eq!(pair.received(End::B).len(), 1);
        assert_eq!(pair.a.state(), AssociationState::Established);
        assert_eq!(pair.a.buffered_bytes(), 0);
        assert_eq!(pair.a.flight_bytes(), 0);
    }
}

#[test]
fn without_agreement_a_message_begun_is_finished() {
    let mut pair = Pair::established(Config::default());
    let life = Duration::from_millis(100);
    send(&mut pair, 2, 200_000, Reliability::Lifetime(life));
    send(&mut pair, 2, 10_000, Reliability::Lifetime(life));
    pair.run_ms(10_000);
    assert_eq!(pair.received(End::B).len(), 1);
    let gone: Vec<_> = given_up(&pair)
        .iter()
        .map(|gone| (gone.0, gone.1))
        .collect();
    assert_eq!(gone, [(1, false)]);
}

#[test]
fn rfc_7496_section_3_2_low_priority_makes_room_for_high() {
    for sent_too in [false, true] {
        let mut pair = Pair::established(Config {
            send_buffer_bytes: 10_000,
            partial_reliability: sent_too,
            ..Config::default()
        });
        let message = |bytes, priority| Message {
            payload: Payload::Sized(bytes),
            reliability: Reliability::Priority(priority),
            ..Message::default()
        };
        let now = pair.now;
        // Three chunks of the first go out, and none is acknowledged yet.
        for (bytes, priority) in [(4_000, 9), (3_000, 5), (2_000, 7), (1_000, 7)] {
            pair.a.send(now, message(bytes, priority)).unwrap();
            while pair.a.poll_transmit(now).is_some() {}
        }
        // Of its own priority nothing goes, and nothing where it does not suffice.
        assert_eq!(
            pair.a.send(now, message(2_000, 9)),
            Err(SendError::BufferFull)
        );
        let result = pair.a.send(now, message(4_000, 6));
        assert_eq!(result.is_ok(), sent_too);
        if sent_too {
            // The lowest goes first, though it was sent.
            assert_eq!(pair.a.buffered_bytes(), 10_000);
            let victims = pair.a.poll_event();
            assert!(matches!(
                victims,
                Some(Event::Abandoned {
                    message: MessageId(0),
                    sent: true,
                    ..
                })
            ));
        }
        let result = pair.a.send(now, message(2_500, 6));
        assert!(result.is_ok());
        let mut gone = Vec::new();
        while let Some(event) = pair.a.poll_event() {
            if let Event::Abandoned {
                message,
                sent,
                policy,
                ..
            } = event
            {
                assert!(!sent && policy == Policy::Priority);
                gone.push(message.0);
            }
        }
        // Of equals the newest first.
        assert_eq!(gone, [3, 2]);
        // A reliable message ranks above all.
        assert!(pair.a.send(now, message(3_000, 4)).is_ok());
        let reliable = Message {
            payload: Payload::Sized(3_000),
            ..Message::default()
        };
        assert!(pair.a.send(now, reliable).is_ok());
        assert_eq!(pair.a.stats().messages_abandoned.sent, u64::from(sent_too));
    }
}

/// RFC 3758, section 3.5: 103 and 104 are given up, 105 is lost and reliable, 106
/// has arrived.
#[test]
fn rfc_3758_section_3_5_the_point_moves_over_what_was_given_up() {
    let mut pair = Pair::established(config());
    for _ in 100..=102 {
        send(&mut pair, 0, 50, Reliability::Full);
        pair.run_ms(100);
    }
    lose(&mut pair, &[103, 104, 105]);
    for reliability in [ONCE, ONCE, Reliability::Full] {
        send(&mut pair, 0, 50, reliability);
    }
    for _ in 0..4 {
        send(&mut pair, 1, 50, Reliability::Full);
        pair.run_ms(1);
    }
    pair.run_ms(200);
    let (_, told) = &forwards(&pair)[0];
    assert_eq!(told.cumulative_tsn, Tsn(104));
    assert_eq!(told.skipped, ssns(&[(0, 4)]));
    assert_eq!((times_sent(&pair, 104), times_sent(&pair, 105)), (1, 2));
    pair.run_ms(1_000);
    assert_eq!(pair.received(End::B).len(), 8);
    assert_eq!(pair.sacks(End::B).pop().unwrap().1.cumulative_tsn, Tsn(109));
}

/// RFC 3758, section 3.6: 103 and 106 are missing, and FORWARD-TSN names 103.
#[test]
fn rfc_3758_section_3_6_the_receiver_goes_on_behind_what_it_skips() {
    let mut pair = Pair::established(config());
    lose(&mut pair, &[103; 9]);
    for tsn in 100..=107 {
        if tsn == 106 {
            lose(&mut pair, &[106; 9]);
        }
        send(&mut pair, tsn % 2, 50, Reliability::Full);
    }
    pair.run_ms(30);
    inject(
        &mut pair,
        ForwardTsn {
            cumulative_tsn: Tsn(103),
            skipped: ssns(&[(1, 1)]),
        },
    );
    let (_, sack) = pair.sacks(End::B).pop().unwrap();
    assert_eq!(sack.cumulative_tsn, Tsn(105));
    assert_eq!((sack.gaps[0].start, sack.gaps[0].end), (2, 2));
    // Of stream 1 what was held comes, 105 and 107.
    let of_stream = |stream| {
        let all = pair.received(End::B);
        let ssns = all.iter().filter(|m| m.stream == stream).map(|m| m.ssn.0);
        ssns.collect::<Vec<_>>()
    };
    assert_eq!(of_stream(1), [0, 2, 3]);
    assert_eq!(of_stream(0), [0, 1, 2]);
}

#[test]
fn a_lost_forward_tsn_is_told_again() {
    let mut pair = Pair::established(config());
    let mut lost = 0;
    let mut first = true;
    pair.wire = losing(move |end, _, packet| {
        let forward = packet
            .chunks
            .iter()
            .any(|c| matches!(c, Chunk::ForwardTsn(_)));
        let data = common::has_data(packet) && core::mem::take(&mut first);
        let loses = end == End::A && (data || forward && lost < 2);
        lost += u32::from(loses && forward);
        loses
    });
    send(&mut pair, 0, 100, ONCE);
    pair.run_ms(20_000);
    let told: Vec<_> = forwards(&pair)
        .iter()
        .map(|(at, _)| at.as_nanos() / 1_000_000)
        .collect();
    // T3-rtx of the chunk, then of FORWARD-TSN, backed off (rules A5 and C5).
    assert_eq!(told, [2_000, 4_000, 8_000]);
    assert_eq!(pair.a.stats().timeouts, 3);
    assert_eq!(pair.a.path(0).unwrap().errors, 0, "the answer to it counts");
    // Nothing is left to do but heartbeats.
    assert!(pair.a.poll_timeout().unwrap() > pair.now + Duration::from_secs(1));
    send(&mut pair, 0, 100, Reliability::Full);
    pair.run_ms(1000);
    assert_eq!(pair.received(End::B).len(), 1);
}

#[test]
fn the_association_fails_where_forward_tsn_is_never_answered() {
    let mut pair = Pair::established(config());
    pair.wire = losing(|_, _, _| true);
    send(&mut pair, 0, 100, ONCE);
    pair.run_for(Duration::from_secs(2_000));
    assert_eq!(pair.a.state(), AssociationState::Closed);
}

#[test]
fn rfc_3758_section_3_2_forward_tsn_is_silent_on_unordered_messages() {
    for settings in [config(), mixed()] {
        let interleaving = settings.interleaving;
        let mut pair = Pair::established(settings);
        lose(&mut pair, &[100, 101]);
        send_as(&mut pair, 4, true, 100, ONCE);
        send_as(&mut pair, 5, false, 100, ONCE);
        pair.run_ms(5_000);
        let (_, forward) = &forwards(&pair)[0];
        assert_eq!(forward.cumulative_tsn, Tsn(101));
        let expected = if interleaving {
            let entry = |stream, unordered| SkippedMid {
                stream,
                unordered,
                mid: Mid(0),
            };
            Skipped::Mids(vec![entry(4, true), entry(5, false)])
        } else {
            ssns(&[(5, 0)])
        };
        assert_eq!(forward.skipped, expected);
    }
}

#[test]
fn rfc_3758_rule_c4_a_stream_is_named_once_and_the_chunk_fits_a_packet() {
    let mut pair = Pair::established(Config {
        mtu_bytes: 120,
        outbound_streams: 64,
        inbound_streams: 64,
        initial_cwnd_bytes: 100_000,
        max_burst: 0,
        ..config()
    });
    // 60 streams take 248 bytes, and a packet has 88.
    pair.wire = losing(|end, _, packet| end == End::A && common::has_data(packet));
    for _ in 0..2 {
        for stream in 0..60 {
            send(&mut pair, stream, 10, ONCE);
        }
    }
    pair.run_ms(1_010);
    pair.wire = common::perfect();
    pair.run_ms(20_000);
    assert_eq!(given_up(&pair).len(), 120);
    for (_, end, packet) in &pair.log {
        assert!(*end == End::B || packet.size_bytes() <= 100, "{packet:?}");
    }
    let told = forwards(&pair);
    assert_eq!(told.last().unwrap().1.cumulative_tsn, Tsn(219));
    for (_, forward) in &told {
        let Skipped::Ssns(entries) = &forward.skipped else {
            panic!("{forward:?}")
        };
        assert!(entries.is_sorted_by(|a, b| a.stream < b.stream));
    }
    assert_eq!(pair.sacks(End::B).pop().unwrap().1.cumulative_tsn, Tsn(219));
    assert_eq!(
        pair.a.stats().timeouts,
        1,
        "the parts follow each other at once"
    );
    send(&mut pair, 7, 10, Reliability::Full);
    pair.run_ms(1_000);
    assert_eq!(pair.received(End::B).pop().unwrap().ssn, Ssn(2));
}

/// A FORWARD-TSN in the name of A.
fn inject(pair: &mut Pair, forward: ForwardTsn) {
    let tag = pair
        .log
        .iter()
        .find(|(_, end, _)| *end == End::A)
        .map(|(_, _, packet)| packet.verification_tag)
        .unwrap();
    let packet = Packet {
        source_port: 1000,
        destination_port: 2000,
        verification_tag: tag,
        chunks: [Chunk::ForwardTsn(Box::new(forward))].into_iter().collect(),
    };
    pair.inject(End::A, packet);
}

#[test]
fn rfc_3758_section_3_6_an_old_forward_tsn_is_answered_and_changes_nothing() {
    let mut pair = Pair::established(config());
    for _ in 0..4 {
        send(&mut pair, 0, 100, Reliability::Full);
        pair.run_ms(500);
    }
    let before = pair.sacks(End::B).len();
    inject(
        &mut pair,
        ForwardTsn {
            cumulative_tsn: Tsn(101),
            skipped: ssns(&[(0, 60)]),
        },
    );
    let sacks = pair.sacks(End::B);
    assert_eq!(sacks.len(), before + 1, "at once");
    assert_eq!(sacks[before].1.cumulative_tsn, Tsn(103));
    send(&mut pair, 0, 100, Reliability::Full);
    pair.run_ms(500);
    assert_eq!(pair.received(End::B).len(), 5);
}

#[test]
fn rfc_3758_section_3_6_what_was_skipped_and_comes_late_is_a_duplicate() {
    let mut pair = Pair::established(config());
    let mut held = false;
    // The second packet is late, so that it is given up before it arrives.
    pair.wire = Box::new(move |end, _, packet| {
        let second = packet
            .chunks
            .iter()
            .any(|c| matches!(c, Chunk::Data(data) if data.tsn == Tsn(101)));
        let late = end == End::A && second && !core::mem::replace(&mut held, second);
        vec![if late {
            Duration::from_millis(400)
        } else {
            common::DELAY
        }]
    });
    for _ in 0..6 {
        send(&mut pair, 0, 100, ONCE);
        pair.run_ms(5);
    }
    pair.run_ms(1000);
    assert_eq!(given_up(&pair).len(), 1);
    assert_eq!(pair.received(End::B).len(), 5);
    assert_eq!(pair.b.stats().duplicates_received, 1);
    assert_eq!(pair.a.stats().duplicates_reported, 1);
}

#[test]
fn rfc_3758_section_3_3_1_who_does_not_offer_it_does_not_know_it() {
    let mut pair = Pair::established(Config::default());
    let told = ForwardTsn {
        cumulative_tsn: Tsn(101),
        skipped: ssns(&[]),
    };
    send(&mut pair, 0, 100, Reliability::Full);
    inject(&mut pair, told);
    assert_eq!(pair.b.stats().chunks_unrecognized, 1);
    assert_eq!(pair.b.stats().errors_sent, 1);
    pair.run_ms(500);
    assert_eq!(pair.received(End::B).len(), 1);
}

#[test]
fn rfc_8260_section_2_3_1_each_goes_with_its_kind_of_data() {
    let mids = Skipped::Mids(Vec::new());
    for (settings, skipped) in [(config(), mids), (mixed(), ssns(&[]))] {
        let mut pair = Pair::established(settings);
        send(&mut pair, 0, 100, Reliability::Full);
        let forward = ForwardTsn {
            cumulative_tsn: Tsn(101),
            skipped,
        };
        inject(&mut pair, forward);
        assert_eq!(pair.b.state(), AssociationState::Closed);
    }
}

#[test]
fn a_forward_tsn_that_lies_does_no_harm() {
    // What the peer sends in earnest lies behind the first point then; the second is so far
    // ahead that it lies behind itself.
    for (point, delivered) in [(0x3fff_0000, 1), (0x7fff_0000, 2)] {
        let mut pair = Pair::established(config());
        send(&mut pair, 0, 100, Reliability::Full);
        pair.run_ms(100);
        let forward = ForwardTsn {
            cumulative_tsn: Tsn(point),
            skipped: ssns(&[(63, 30_000), (64, 1), (65_535, 1), (0, 7), (0, 7)]),
        };
        inject(&mut pair, forward);
        assert_eq!(pair.b.state(), AssociationState::Established);
        pair.run_ms(10_000);
        send(&mut pair, 0, 100, Reliability::Full);
        pair.run_ms(1_000);
        assert_eq!(pair.received(End::B).len(), delivered);
    }
}

#[test]
fn a_message_that_came_in_parts_is_broken_off() {
    for settings in [config(), mixed()] {
        let a = Config {
            send_buffer_bytes: 1 << 20,
            ..settings
        };
        let b = Config {
            receive_buffer_bytes: 20_000,
            partial_delivery: true,
            ..a.clone()
        };
        let mut pair = Pair::new(a, b);
        pair.run_ms(1000);
        let life = Duration::from_millis(400);
        send(&mut pair, 2, 500_000, Reliability::Lifetime(life));
        send(&mut pair, 2, 100, Reliability::Full);
        pair.run_ms(3_000);
        let parts = pair.b.stats().parts_received;
        assert!(parts > 2, "{parts}");
        let broken = Event::PartAbandoned {
            stream: 2,
            mid: Mid(0),
            unordered: false,
        };
        assert!(pair.has_event(End::B, &broken));
        assert_eq!(pair.received(End::B).len(), 1);
        assert_eq!(pair.b.partial_bytes() + pair.b.held_bytes(), 0);
    }
}

#[test]
fn a_shutdown_waits_until_the_peer_has_skipped_what_was_given_up() {
    let mut pair = Pair::established(config());
    lose(&mut pair, &[101]);
    send(&mut pair, 0, 100, Reliability::Full);
    send(&mut pair, 0, 100, ONCE);
    let now = pair.now;
    pair.a.shutdown(now);
    pair.drain();
    pair.run_ms(10_000);
    for end in [End::A, End::B] {
        assert!(pair.has_event(end, &Event::ShutdownComplete), "{end:?}");
    }
    assert_eq!(given_up(&pair).len(), 1);
}

#[test]
fn a_shutdown_goes_on_where_the_last_message_expires_unsent() {
    let mut pair = Pair::established(Config {
        nagle: true,
        ..config()
    });
    // Nagle holds the second back; the answer to the first never comes.
    lose(&mut pair, &[100]);
    send(&mut pair, 0, 100, ONCE);
    send(
        &mut pair,
        0,
        100,
        Reliability::Lifetime(Duration::from_millis(50)),
    );
    let now = pair.now;
    pair.a.shutdown(now);
    pair.drain();
    pair.run_ms(10_000);
    assert_eq!(given_up(&pair).len(), 2);
    assert!(pair.has_event(End::A, &Event::ShutdownComplete));
}

#[test]
fn rule_f5_a_message_given_up_under_way_still_tells_of_congestion() {
    let mut pair = Pair::established(Config {
        send_buffer_bytes: 1 << 20,
        ..config()
    });
    // It expires at 10 ms, after its first flight of three chunks, of which the
    // first is lost; others follow that show it.
    pair.wire = losing(|end, _, packet| {
        end == End::A
            && packet.chunks.iter().any(|chunk| match chunk {
                Chunk::Data(data) => data.tsn == Tsn(100),
                chunk => matches!(chunk, Chunk::ForwardTsn(_)),
            })
    });
    send(
        &mut pair,
        0,
        20_000,
        Reliability::Lifetime(Duration::from_millis(10)),
    );
    pair.run_ms(15);
    assert_eq!(given_up(&pair).len(), 1);
    for _ in 0..6 {
        send(&mut pair, 1, 100, Reliability::Full);
        pair.run_ms(5);
    }
    pair.run_ms(200);
    assert_eq!(pair.a.stats().fast_recoveries, 1);
    assert_eq!(times_sent(&pair, 100), 1);
}
