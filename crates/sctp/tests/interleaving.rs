//! I-DATA (RFC 8260, section 2) and messages that come in parts (RFC 9260,
//! section 6.9).

mod common;

use common::{End, Pair, losing};
use headway_sansio::{Duration, Payload};
use headway_sctp::{
    AssociationState, Cause, Chunk, Config, DataChunk, Event, Interleaving, LostReason, Message,
    MessageId, Mid, Packet, Part, Scheduler, Ssn, Trace, Tsn,
};

fn config() -> Config {
    Config {
        interleaving: true,
        ..Config::default()
    }
}

fn bytes(length: usize, seed: usize) -> Payload {
    let bytes: Vec<u8> = (0..length)
        .map(|i| (i * 7 + i / 251 + seed) as u8)
        .collect();
    bytes.into()
}

fn send(pair: &mut Pair, from: End, stream: u16, unordered: bool, payload: Payload) -> MessageId {
    let message = Message {
        stream,
        unordered,
        payload,
        ..Message::default()
    };
    let now = pair.now;
    let id = pair.end(from).send(now, message).unwrap();
    pair.drain();
    id
}

/// A chunk that B might have sent next.
fn chunk(pair: &Pair, interleaving: Option<Interleaving>) -> Packet {
    let (tag, tsn) = from_b(pair);
    Packet {
        source_port: 2000,
        destination_port: 1000,
        verification_tag: tag,
        chunks: [Chunk::Data(DataChunk {
            tsn,
            stream: 0,
            ssn: Ssn(0),
            ppid: 0,
            unordered: false,
            begin: true,
            end: true,
            immediate: false,
            interleaving,
            payload: Payload::Sized(10),
            trace: Trace::default(),
        })]
        .into_iter()
        .collect(),
    }
}

/// The tag that B puts into its packets, and the TSN that it gives next.
fn from_b(pair: &Pair) -> (u32, Tsn) {
    let (_, tsn) = pair
        .data(End::B)
        .last()
        .map(|(at, chunk)| (*at, chunk.tsn.next()))
        .unwrap();
    let packets = pair.log.iter().filter(|(_, end, _)| *end == End::B);
    (packets.last().unwrap().2.verification_tag, tsn)
}

const WHOLE: Option<Interleaving> = Some(Interleaving {
    mid: Mid(1),
    fsn: 0,
});

#[test]
fn section_2_2_1_i_data_is_used_where_both_sides_offer_it() {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let with = |interleaving| Config {
            interleaving,
            ..Config::default()
        };
        let mut pair = Pair::new(with(a), with(b));
        pair.encoded = true;
        pair.run_ms(1000);
        pair.send(End::A, 3, false, 100);
        pair.send(End::B, 4, false, 100);
        pair.run_ms(1000);
        for end in [End::A, End::B] {
            assert_eq!(pair.received(end).len(), 1);
            assert_eq!(pair.data(end)[0].1.interleaving.is_some(), a && b);
            assert_eq!(pair.end(end).is_interleaving(), a && b);
        }
    }
}

#[test]
fn section_2_1_numbers_of_messages_and_pieces() {
    let mut pair = Pair::established(config());
    pair.send(End::A, 5, false, 3000);
    pair.send(End::A, 5, true, 10);
    pair.send(End::A, 5, false, 10);
    pair.run_ms(1000);
    let sent: Vec<_> = pair
        .data(End::A)
        .iter()
        .map(|(_, c)| {
            let Interleaving { mid, fsn } = c.interleaving.unwrap();
            (mid.0, fsn, c.begin, c.end, c.payload.len())
        })
        .collect();
    let expected = [
        (0, 0, true, false, 1448),
        (0, 1, false, false, 1448),
        (0, 2, false, true, 104),
        (0, 0, true, true, 10),
        (1, 0, true, true, 10),
    ];
    assert_eq!(sent, expected);
    let received = pair.received(End::B);
    let mids: Vec<_> = received
        .iter()
        .map(|m| (m.unordered, m.mid.0, m.ssn.0))
        .collect();
    assert_eq!(mids, [(false, 0, 0), (true, 0, 0), (false, 1, 1)]);
}

#[test]
fn section_2_2_3_data_is_a_violation_where_i_data_was_agreed_on() {
    let mut pair = Pair::established(config());
    pair.send(End::B, 0, false, 10);
    pair.run_ms(300);
    let packet = chunk(&pair, None);
    pair.inject(End::B, packet);
    let lost = Event::ConnectionLost {
        reason: LostReason::ProtocolViolation,
    };
    assert!(pair.has_event(End::A, &lost));
    pair.run_ms(100);
    assert_eq!(pair.b.state(), AssociationState::Closed);
}

#[test]
fn section_2_2_3_i_data_is_a_violation_where_it_was_not_agreed_on() {
    let mut pair = Pair::new(config(), Config::default());
    pair.run_ms(1000);
    pair.send(End::B, 0, false, 10);
    pair.run_ms(300);
    let packet = chunk(&pair, WHOLE);
    pair.inject(End::B, packet);
    assert_eq!(pair.a.state(), AssociationState::Closed);
    // One that does not offer it does not know it: type 64 is reported, and the
    // rest of the packet is left (RFC 9260, section 3.2).
    let mut pair = Pair::established(Config::default());
    pair.send(End::B, 0, false, 10);
    pair.run_ms(300);
    let packet = chunk(&pair, WHOLE);
    pair.inject(End::B, packet);
    assert_eq!(pair.a.state(), AssociationState::Established);
    let reported = pair.log.iter().any(|(_, _, packet)| {
        packet.chunks.iter().any(|chunk| match chunk {
            Chunk::Error(causes) => causes[0].code == Cause::UNRECOGNIZED_CHUNK,
            _ => false,
        })
    });
    assert!(reported);
}

#[test]
fn a_short_message_passes_a_long_one_on_another_stream() {
    for interleaving in [false, true] {
        let mut pair = Pair::established(Config {
            interleaving,
            scheduler: Scheduler::RoundRobin,
            ..Config::default()
        });
        pair.send(End::A, 0, false, 200_000);
        pair.run_ms(50);
        pair.send(End::A, 1, false, 100);
        pair.run_ms(10_000);
        let order: Vec<_> = pair.received(End::B).iter().map(|m| m.stream).collect();
        let expected = if interleaving { [1, 0] } else { [0, 1] };
        assert_eq!(order, expected);
    }
}

#[test]
fn section_2_2_2_messages_of_one_stream_never_mix() {
    let mut pair = Pair::established(Config {
        scheduler: Scheduler::FairBandwidth,
        ..config()
    });
    for (stream, unordered) in [(0, false), (0, true), (1, false), (0, false), (1, true)] {
        pair.send(End::A, stream, unordered, 20_000);
    }
    pair.run_ms(10_000);
    assert_eq!(pair.received(End::B).len(), 5);
    let data = pair.data(End::A);
    let mixed = data
        .windows(2)
        .any(|pair| pair[0].1.stream != pair[1].1.stream && !pair[0].1.end);
    assert!(mixed, "streams take turns");
    for stream in 0..2 {
        let of_stream = data.iter().filter(|(_, chunk)| chunk.stream == stream);
        let ids: Vec<_> = of_stream.map(|(_, chunk)| chunk.trace.message).collect();
        assert!(ids.is_sorted(), "{ids:?}");
    }
}

#[test]
fn pieces_of_several_messages_come_through_losses() {
    let mut n = 0;
    let wire = losing(move |end, _, packet| {
        n += u32::from(end == End::A && common::has_data(packet));
        end == End::A && n % 7 == 3
    });
    for scheduler in [Scheduler::RoundRobin, Scheduler::WeightedFair] {
        let config = Config {
            scheduler,
            ..config()
        };
        let mut pair = Pair::established(config);
        pair.encoded = true;
        let sent: Vec<_> = (0..6).map(|i| bytes(1 << (10 + i), i)).collect();
        for (stream, payload) in (0..).zip(&sent) {
            send(&mut pair, End::A, stream, stream % 2 == 1, payload.clone());
        }
        pair.run_ms(30_000);
        let received = pair.received(End::B);
        assert_eq!(received.len(), 6);
        for message in received {
            assert_eq!(message.payload, sent[usize::from(message.stream)]);
        }
    }
    let mut pair = Pair::with_wire(config(), config(), wire);
    pair.run_ms(5_000);
    for stream in 0..4 {
        pair.send(End::A, stream, false, 50_000);
    }
    pair.run_ms(60_000);
    assert_eq!(pair.received(End::B).len(), 4);
    assert!(pair.a.stats().retransmissions() > 0);
}

#[test]
fn pieces_that_contradict_each_other_end_the_association() {
    // Number, begins, ends.
    type Said = (u32, bool, bool);
    let cases: [&[Said]; 5] = [
        // The same piece twice, under two TSNs.
        &[(1, false, false), (1, false, false)],
        // Two beginnings.
        &[(0, true, false), (0, true, false)],
        // A piece beyond the end.
        &[(2, false, true), (3, false, false)],
        // An end before a piece that is there.
        &[(4, false, false), (3, false, true)],
        // Number zero that does not begin.
        &[(0, false, false)],
    ];
    for case in cases {
        let mut pair = Pair::established(config());
        pair.send(End::B, 0, false, 10);
        pair.run_ms(300);
        for (index, &(fsn, begin, end)) in (0..).zip(case) {
            let mut packet = chunk(&pair, Some(Interleaving { mid: Mid(1), fsn }));
            if let Chunk::Data(data) = &mut packet.chunks[0] {
                data.tsn = data.tsn.plus(index);
                (data.begin, data.end) = (begin, end);
            }
            pair.inject(End::B, packet);
        }
        assert_eq!(pair.a.state(), AssociationState::Closed, "{case:?}");
        // The first message, and nothing of the other.
        assert_eq!(pair.received(End::A).len(), 1);
    }
}

/// What came in parts, put together: stream and bytes of each message.
fn parts(pair: &Pair) -> Vec<(u16, Vec<u8>)> {
    let mut open: Vec<((u16, bool, Mid), Vec<u8>)> = Vec::new();
    let mut whole = Vec::new();
    for (_, at, event) in &pair.events {
        let Event::Part(part) = event else { continue };
        assert_eq!(*at, End::B);
        let Part {
            stream,
            mid,
            unordered,
            offset_bytes,
            payload,
            end,
            ..
        } = part;
        let key = (*stream, *unordered, *mid);
        let place = open.iter().position(|(of, _)| *of == key);
        let place = place.unwrap_or_else(|| {
            open.push((key, Vec::new()));
            open.len() - 1
        });
        assert_eq!(*offset_bytes, open[place].1.len() as u64);
        open[place].1.extend(payload.as_bytes().unwrap());
        if *end {
            let (_, bytes) = open.remove(place);
            whole.push((*stream, bytes));
        }
    }
    assert!(open.is_empty());
    whole
}

#[test]
fn section_6_9_a_message_far_longer_than_the_receive_buffer_comes_in_parts() {
    for interleaving in [false, true] {
        for unordered in [false, true] {
            let a = Config {
                interleaving,
                send_buffer_bytes: 2_000_000,
                ..Config::default()
            };
            let b = Config {
                receive_buffer_bytes: 50_000,
                partial_delivery: true,
                ..a.clone()
            };
            let mut pair = Pair::new(a, b);
            pair.run_ms(1000);
            let payload = bytes(1_000_000, 3);
            send(&mut pair, End::A, 2, unordered, payload.clone());
            send(&mut pair, End::A, 2, false, bytes(10, 1));
            pair.run_ms(20_000);
            let whole = parts(&pair);
            assert_eq!(whole.len(), 1, "{interleaving} {unordered}");
            assert_eq!(whole[0].0, 2);
            assert_eq!(payload.as_bytes(), Some(&whole[0].1[..]));
            // The next of the stream follows; it was held while the first was open.
            assert_eq!(pair.received(End::B).len(), 1);
            assert!(matches!(
                pair.events.last(),
                Some((_, End::B, Event::Message(_)))
            ));
            assert_eq!(pair.b.stats().messages_received, 2);
            assert_eq!(
                pair.a.stats().timeouts,
                0,
                "the window never closes for good"
            );
        }
    }
}

#[test]
fn a_message_that_fits_comes_whole() {
    for interleaving in [false, true] {
        let mut pair = Pair::established(Config {
            interleaving,
            partial_delivery: true,
            ..Config::default()
        });
        pair.send(End::A, 0, false, 200_000);
        pair.run_ms(20_000);
        assert_eq!(pair.received(End::B).len(), 1);
        assert_eq!(pair.b.stats().parts_received, 0);
    }
}

#[test]
fn messages_that_fill_the_buffer_together_do_not_block_each_other() {
    // Each fits, but not all of them; with I-DATA they come at the same time.
    let a = Config {
        scheduler: Scheduler::RoundRobin,
        ..config()
    };
    let b = Config {
        receive_buffer_bytes: 40_000,
        partial_delivery: true,
        ..a.clone()
    };
    let mut pair = Pair::new(a, b);
    pair.run_ms(1000);
    for stream in 0..8 {
        send(&mut pair, End::A, stream, false, bytes(30_000, 0));
    }
    pair.run_ms(20_000);
    let whole = parts(&pair);
    assert!(!whole.is_empty());
    assert!(
        whole
            .iter()
            .all(|(_, got)| bytes(30_000, 0).as_bytes() == Some(got))
    );
    assert_eq!(whole.len() + pair.received(End::B).len(), 8);
}

#[test]
fn losses_beneath_a_message_in_parts() {
    let mut random = headway_sansio::Seed::new(7).stream("loss");
    let loss = headway_sansio::Chance::new(0.05);
    let a = Config {
        scheduler: Scheduler::FairBandwidth,
        send_buffer_bytes: 1_000_000,
        ..config()
    };
    let b = Config {
        receive_buffer_bytes: 30_000,
        partial_delivery: true,
        ..a.clone()
    };
    let wire = losing(move |_, _, _| random.happens(loss));
    let mut pair = Pair::with_wire(a, b, wire);
    pair.run_ms(10_000);
    for stream in 0..4 {
        send(&mut pair, End::A, stream, stream == 3, bytes(150_000, 0));
    }
    pair.run_for(Duration::from_secs(600));
    let whole = parts(&pair);
    assert_eq!(whole.len() + pair.received(End::B).len(), 4);
    assert!(
        whole
            .iter()
            .all(|(_, got)| bytes(150_000, 0).as_bytes() == Some(got))
    );
}

#[test]
fn without_parts_a_message_longer_than_twice_the_buffer_ends_the_association() {
    let a = Config::default();
    let b = Config {
        receive_buffer_bytes: 10_000,
        ..Config::default()
    };
    let mut pair = Pair::new(a, b);
    pair.run_ms(1000);
    pair.send(End::A, 0, false, 100_000);
    pair.run_for(Duration::from_secs(3_000));
    assert_eq!(pair.a.state(), AssociationState::Closed);
    assert_eq!(pair.b.state(), AssociationState::Closed);
}

#[test]
fn rfc_7053_the_user_asks_for_a_sack_at_once() {
    let mut pair = Pair::established(Config::default());
    let mut send = |immediate_sack, bytes| {
        // An odd packet in a row of two: its SACK would wait.
        let message = Message {
            immediate_sack,
            payload: Payload::Sized(bytes),
            ..Message::default()
        };
        let now = pair.now;
        pair.a.send(now, message).unwrap();
        pair.drain();
        pair.run_ms(1000);
        let (sent, chunk) = pair.data(End::A).pop().unwrap();
        let (acknowledged, _) = pair.sacks(End::B).pop().unwrap();
        (
            chunk.immediate,
            acknowledged.since(sent).as_nanos() / 1_000_000,
        )
    };
    // The very first packet is acknowledged at once anyway.
    assert_eq!(send(false, 10), (false, 20));
    assert_eq!(send(false, 10), (false, 220));
    assert_eq!(send(true, 10), (true, 20));
    // The last chunk of a message asks, and it alone.
    assert_eq!(send(true, 4000), (true, 20));
    let asking = pair
        .data(End::A)
        .iter()
        .filter(|(_, c)| c.immediate)
        .count();
    assert_eq!(asking, 2);
}
