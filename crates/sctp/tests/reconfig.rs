//! Streams that begin anew or are added while the association lives (RFC 6525),
//! between two ends, with DATA and with I-DATA.

mod common;

use common::names;
use common::world::World;
use headway_sansio::{Address, Chance, Duration, Payload, Seed};
use headway_sctp::{
    AssociationId, Chunk, Config, Event, LostReason, Message, ReconfigError, ReconfigRequest,
    ReconfigResult, SendError,
};

fn config(interleaving: bool) -> Config {
    Config {
        reconfiguration: true,
        interleaving,
        outbound_streams: 4,
        inbound_streams: 4,
        ..Config::default()
    }
}

struct Duo {
    world: World,
    ids: [AssociationId; 2],
}

impl Duo {
    fn new(config: &Config) -> Self {
        let mut world = World::new(config, &[&[1], &[2]]);
        let ids = world.connect(0, 1, &[2]);
        world.log.clear();
        world.events.clear();
        Self { world, ids }
    }

    /// Both with and without I-DATA.
    fn each(test: impl Fn(Self)) {
        for interleaving in [false, true] {
            test(Self::new(&config(interleaving)));
        }
    }

    fn ask(
        &mut self,
        end: usize,
        what: impl FnOnce(
            &mut headway_sctp::Association,
            headway_sansio::Time,
        ) -> Result<(), ReconfigError>,
    ) {
        let id = self.ids[end];
        self.world
            .with(end, id, |now, association| what(association, now))
            .unwrap();
    }

    fn send(&mut self, end: usize, stream: u16, bytes: u32) {
        self.world.send(end, self.ids[end], stream, bytes);
    }

    /// Stream, place in it and length of what an end received.
    fn heard(&self, end: usize) -> Vec<(u16, u32, usize)> {
        let received = self.world.received(end, self.ids[end]);
        let one = |m: &headway_sctp::Received| (m.stream, m.mid.0, m.payload.len());
        received.iter().map(one).collect()
    }

    fn told(&self, end: usize) -> Vec<Event> {
        let mut told = self.world.told(end, self.ids[end]);
        told.retain(|event| !matches!(event, Event::Message(_)));
        told
    }

    fn lose(&mut self, lost: impl Fn(&str) -> bool + 'static, mut times: u32) {
        self.world.weather = Box::new(move |_, d| {
            if times > 0 && lost(&names(&d.body)) {
                times -= 1;
                vec![]
            } else {
                vec![common::world::DELAY]
            }
        });
    }

    fn count(&self, from: u32, name: &str) -> usize {
        let of = |d: &headway_sansio::Datagram<headway_sctp::Packet>| {
            d.source == Address(from) && names(&d.body).contains(name)
        };
        self.world.log.iter().filter(|(_, d)| of(d)).count()
    }
}

fn done(request: ReconfigRequest, result: ReconfigResult) -> Event {
    Event::Reconfigured { request, result }
}

#[test]
fn section_5_1_2_outgoing_streams_begin_anew() {
    Duo::each(|mut duo| {
        for bytes in 1..=3 {
            duo.send(0, 1, bytes);
            duo.send(0, 2, bytes);
        }
        duo.ask(0, |a, now| a.reset_outgoing_streams(now, &[1]));
        for bytes in 4..=5 {
            duo.send(0, 1, bytes);
            duo.send(0, 2, bytes);
        }
        duo.world.run_ms(1_000);
        let of = |stream| {
            let heard = duo.heard(1).into_iter().filter(move |m| m.0 == stream);
            heard.map(|m| (m.1, m.2)).collect::<Vec<_>>()
        };
        // Stream 1 counts from zero again behind the reset, stream 2 goes on.
        assert_eq!(of(1), [(0, 1), (1, 2), (2, 3), (0, 4), (1, 5)]);
        assert_eq!(of(2), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
        let request = ReconfigRequest::ResetOutgoing(vec![1]);
        assert_eq!(duo.told(0), [done(request, ReconfigResult::Performed)]);
        assert_eq!(duo.told(1), [Event::IncomingReset { streams: vec![1] }]);
    });
}

#[test]
fn section_5_1_2_all_streams_where_none_is_named() {
    Duo::each(|mut duo| {
        for stream in 0..4 {
            duo.send(0, stream, 10);
        }
        duo.ask(0, |a, now| a.reset_outgoing_streams(now, &[]));
        for stream in 0..4 {
            duo.send(0, stream, 20);
        }
        duo.world.run_ms(1_000);
        let mut heard = duo.heard(1);
        heard.sort_unstable();
        let expected: Vec<_> = (0..4).flat_map(|s| [(s, 0, 10), (s, 0, 20)]).collect();
        assert_eq!(heard, expected);
        assert_eq!(duo.told(1), [Event::IncomingReset { streams: vec![] }]);
    });
}

#[test]
fn section_5_1_3_the_peer_s_streams_begin_anew_on_request() {
    Duo::each(|mut duo| {
        duo.send(1, 3, 10);
        duo.send(1, 0, 10);
        duo.world.run_ms(300);
        duo.ask(0, |a, now| a.reset_incoming_streams(now, &[3]));
        duo.world.run_ms(300);
        duo.send(1, 3, 20);
        duo.send(1, 0, 20);
        duo.world.run_ms(300);
        assert_eq!(
            duo.heard(0),
            [(3, 0, 10), (0, 0, 10), (3, 0, 20), (0, 1, 20)]
        );
        let asked = ReconfigRequest::ResetIncoming(vec![3]);
        let answered = ReconfigRequest::ResetOutgoing(vec![3]);
        // The peer's request is the answer to this one (rule E1).
        assert_eq!(
            duo.told(0),
            [
                done(asked, ReconfigResult::Performed),
                Event::IncomingReset { streams: vec![3] }
            ]
        );
        assert_eq!(duo.told(1), [done(answered, ReconfigResult::Performed)]);
        assert_eq!(
            (duo.count(1, "RE-CONFIG"), duo.count(2, "RE-CONFIG")),
            (2, 1)
        );
    });
}

#[test]
fn section_5_1_4_all_numbers_begin_anew() {
    Duo::each(|mut duo| {
        for bytes in 1..=5 {
            duo.send(0, 0, 1_000 * bytes);
            duo.send(1, 0, 1_000 * bytes);
        }
        duo.ask(0, |a, now| a.reset_numbers(now));
        for bytes in 6..=8 {
            duo.send(0, 0, 1_000 * bytes);
            duo.send(1, 0, 1_000 * bytes);
        }
        duo.world.run_ms(3_000);
        let lengths = |end: usize| {
            duo.heard(end)
                .iter()
                .map(|m| m.2 / 1_000)
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(0), (1..=8).collect::<Vec<_>>());
        assert_eq!(lengths(1), (1..=8).collect::<Vec<_>>());
        // What came after counts from zero; the peer's messages were all handed over
        // before it knew.
        assert_eq!(duo.heard(1)[5].1, 0);
        assert_eq!(duo.heard(0).last().unwrap().1, 7);
        for end in [0, 1] {
            duo.send(end, 3, 10);
            duo.send(end, 0, 10);
        }
        duo.world.run_ms(1_000);
        assert_eq!(duo.heard(1)[8..], [(3, 0, 10), (0, 3, 10)]);
        assert_eq!(duo.heard(0)[8..], [(3, 0, 10), (0, 0, 10)]);
        assert_eq!(
            duo.told(0),
            [done(
                ReconfigRequest::ResetNumbers,
                ReconfigResult::Performed
            )]
        );
        assert_eq!(duo.told(1), [Event::NumbersReset]);
        // The TSNs of the side that asked leap by half their space (rule G1).
        let tsns: Vec<u32> = duo
            .world
            .received(1, duo.ids[1])
            .iter()
            .map(|m| m.first_tsn.0)
            .collect();
        assert!(tsns[5].wrapping_sub(tsns[4]) >= 1 << 31);
        let stats = duo.world.ends[0].association(duo.ids[0]).unwrap().stats();
        assert_eq!(stats.retransmissions(), 0);
    });
}

#[test]
fn section_5_1_4_not_twice_within_30_seconds() {
    let mut duo = Duo::new(&config(false));
    let start = duo.world.now;
    duo.ask(0, |a, now| a.reset_numbers(now));
    duo.world.run_ms(100);
    duo.ask(0, |a, now| a.reset_numbers(now));
    duo.world.run_ms(60_000);
    let sent: Vec<_> = duo
        .world
        .log
        .iter()
        .filter(|(_, d)| d.source == Address(1) && names(&d.body).contains("RE-CONFIG"))
        .map(|(at, _)| at.since(start))
        .collect();
    // 30 s after the first was answered.
    let second = Duration::from_secs(30) + Duration::from_millis(40);
    assert_eq!(sent, [Duration::ZERO, second]);
    assert_eq!(duo.told(1), [Event::NumbersReset, Event::NumbersReset]);
}

#[test]
fn section_5_1_5_streams_are_added() {
    Duo::each(|mut duo| {
        let message = || Message {
            stream: 5,
            payload: Payload::Sized(10),
            ..Message::default()
        };
        let id = duo.ids[0];
        let send = |duo: &mut Duo| duo.world.with(0, id, |now, a| a.send(now, message()));
        assert_eq!(send(&mut duo), Err(SendError::InvalidStream));
        duo.ask(0, |a, now| a.add_outgoing_streams(now, 2));
        // Not before the peer has agreed.
        assert_eq!(send(&mut duo), Err(SendError::InvalidStream));
        duo.world.run_ms(200);
        assert!(send(&mut duo).is_ok());
        duo.world.run_ms(200);
        assert_eq!(duo.heard(1), [(5, 0, 10)]);
        let changed = |outbound_streams, inbound_streams| Event::StreamsChanged {
            outbound_streams,
            inbound_streams,
        };
        assert_eq!(duo.told(1), [changed(4, 6)]);
        let request = ReconfigRequest::AddOutgoing(2);
        assert_eq!(
            duo.told(0),
            [changed(6, 4), done(request, ReconfigResult::Performed)]
        );
    });
}

#[test]
fn section_5_1_6_the_peer_adds_streams_on_request() {
    Duo::each(|mut duo| {
        duo.ask(0, |a, now| a.add_incoming_streams(now, 3));
        duo.world.run_ms(300);
        duo.send(1, 6, 10);
        duo.world.run_ms(200);
        assert_eq!(duo.heard(0), [(6, 0, 10)]);
        let streams = |end: usize| {
            let association = duo.world.ends[end].association(duo.ids[end]);
            association.unwrap().streams()
        };
        assert_eq!((streams(0), streams(1)), ((4, 7), (7, 4)));
    });
}

#[test]
fn section_5_2_5_more_than_the_limit_is_denied() {
    let mut duo = Duo::new(&Config {
        most_streams: 6,
        ..config(false)
    });
    duo.ask(0, |a, now| a.add_outgoing_streams(now, 3));
    duo.ask(0, |a, now| a.add_incoming_streams(now, 3));
    duo.ask(0, |a, now| a.add_outgoing_streams(now, 2));
    duo.world.run_ms(1_000);
    let told: Vec<Event> = duo.told(0);
    let out = ReconfigRequest::AddOutgoing;
    assert_eq!(told[0], done(out(3), ReconfigResult::Denied));
    assert_eq!(
        told[1],
        done(ReconfigRequest::AddIncoming(3), ReconfigResult::Denied)
    );
    assert_eq!(told[3], done(out(2), ReconfigResult::Performed));
}

#[test]
fn section_5_1_1_a_lost_request_is_sent_again() {
    Duo::each(|mut duo| {
        duo.send(0, 1, 10);
        duo.world.run_ms(300);
        duo.lose(|name| name.contains("RE-CONFIG"), 2);
        let start = duo.world.now;
        duo.ask(0, |a, now| a.reset_outgoing_streams(now, &[1]));
        duo.send(0, 1, 20);
        duo.world.run_ms(5_000);
        let sent: Vec<_> = duo
            .world
            .log
            .iter()
            .filter(|(_, d)| d.source == Address(1) && names(&d.body).contains("RE-CONFIG"))
            .map(|(at, d)| (at.since(start).as_secs_f64(), d.body.chunks[0].clone()))
            .collect();
        // After an RTO of 1 s, and after another twice as long; always the same.
        let times: Vec<f64> = sent.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [0.0, 1.0, 3.0]);
        assert!(sent.iter().all(|(_, chunk)| *chunk == sent[0].1));
        assert_eq!(duo.heard(1), [(1, 0, 10), (1, 0, 20)]);
        assert_eq!(duo.told(1).len(), 1);
    });
}

#[test]
fn section_5_2_1_a_lost_response_is_given_again_and_nothing_done_twice() {
    Duo::each(|mut duo| {
        duo.send(0, 1, 10);
        duo.world.run_ms(300);
        // The first RE-CONFIG gets through, its answer does not.
        let mut seen = 0;
        duo.world.weather = Box::new(move |_, d| {
            seen += u32::from(names(&d.body).contains("RE-CONFIG"));
            if seen == 2 && d.source == Address(2) {
                seen += 1;
                return vec![];
            }
            vec![common::world::DELAY]
        });
        duo.ask(0, |a, now| a.reset_outgoing_streams(now, &[1]));
        duo.send(0, 1, 20);
        duo.ask(0, |a, now| a.add_outgoing_streams(now, 1));
        duo.world.run_ms(5_000);
        assert_eq!(duo.heard(1), [(1, 0, 10), (1, 0, 20)]);
        let told = duo.told(1);
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0], Event::IncomingReset { streams: vec![1] });
        assert_eq!(duo.told(0).len(), 3);
    });
}

#[test]
fn section_5_2_2_a_reset_waits_for_outstanding_data() {
    Duo::each(|mut duo| {
        // The last message before the reset is lost; the request comes first.
        duo.send(0, 1, 10);
        duo.world.run_ms(300);
        duo.lose(|name| name.contains("DATA"), 1);
        duo.send(0, 1, 20);
        duo.ask(0, |a, now| a.reset_outgoing_streams(now, &[1]));
        duo.send(0, 1, 30);
        duo.world.run_ms(300);
        assert_eq!(duo.heard(1), [(1, 0, 10)]);
        let results: Vec<u32> = duo
            .world
            .log
            .iter()
            .filter(|(_, d)| d.source == Address(2))
            .flat_map(|(_, d)| d.body.chunks.to_vec())
            .filter_map(|chunk| match chunk {
                Chunk::Reconfig(parameters) => {
                    let code = parameters[0].value[4..8].try_into().unwrap();
                    Some(u32::from_be_bytes(code))
                }
                _ => None,
            })
            .collect();
        assert_eq!(results, [6], "in progress");
        assert_eq!(duo.told(1), []);
        duo.world.run_ms(3_000);
        assert_eq!(duo.heard(1), [(1, 0, 10), (1, 1, 20), (1, 0, 30)]);
        assert_eq!(duo.told(0).len(), 1);
        // In progress is no error of the path or the peer (rule H2).
        let association = duo.world.ends[0].association(duo.ids[0]).unwrap();
        assert_eq!(association.path(0).unwrap().errors, 0);
    });
}

#[test]
fn a_side_that_does_not_offer_it_is_not_asked() {
    for (ours, theirs) in [(true, false), (false, true), (false, false)] {
        let with = |reconfiguration| Config {
            reconfiguration,
            ..Config::default()
        };
        let mut world = World::new(&with(ours), &[&[1], &[2]]);
        let host = std::sync::Arc::new(headway_sctp::Host::new(vec![Address(2)]));
        let other = std::sync::Arc::new(with(theirs));
        world.ends[1] = headway_sctp::Endpoint::new(other, host, [2; 32]);
        let [client, server] = world.connect(0, 1, &[2]);
        for (end, id) in [(0, client), (1, server)] {
            let asked = world.with(end, id, |now, a| {
                [
                    a.reset_outgoing_streams(now, &[0]),
                    a.reset_incoming_streams(now, &[]),
                    a.reset_numbers(now),
                    a.add_outgoing_streams(now, 1),
                    a.add_incoming_streams(now, 1),
                ]
            });
            assert_eq!(asked, [Err(ReconfigError::NotAgreed); 5]);
        }
    }
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let mut duo = Duo::new(&config(false));
    let asked = duo.world.with(0, duo.ids[0], |now, a| {
        [
            a.reset_outgoing_streams(now, &[1, 4]),
            a.reset_incoming_streams(now, &[4]),
            a.add_outgoing_streams(now, 0),
            a.add_outgoing_streams(now, u16::MAX),
            a.add_incoming_streams(now, u16::MAX - 3),
            a.reset_outgoing_streams(now, &[1, 2]),
            a.reset_outgoing_streams(now, &[2, 3]),
            a.reset_numbers(now),
        ]
    });
    use ReconfigError::{Busy, InvalidStream, StreamCount};
    assert_eq!(asked[..2], [Err(InvalidStream); 2]);
    assert_eq!(asked[2..5], [Err(StreamCount); 3]);
    assert_eq!(asked[5..], [Ok(()), Err(Busy), Err(Busy)]);
    duo.world.with(0, duo.ids[0], |now, a| a.shutdown(now));
    let late = duo
        .world
        .with(0, duo.ids[0], |now, a| a.add_outgoing_streams(now, 1));
    assert_eq!(late, Err(ReconfigError::NotEstablished));
}

#[test]
fn section_5_1_1_a_peer_that_never_answers_is_given_up() {
    let mut duo = Duo::new(&Config {
        association_max_retransmits: 3,
        ..config(false)
    });
    let id = duo.ids[0];
    duo.lose(|_| true, u32::MAX);
    duo.ask(0, |a, now| a.reset_outgoing_streams(now, &[1]));
    duo.world.run_ms(20_000);
    let lost = Event::ConnectionLost {
        reason: LostReason::PeerUnreachable,
    };
    assert_eq!(duo.world.told(0, id).last(), Some(&lost));
}

#[test]
fn a_shutdown_sends_first_what_waits_for_a_reset() {
    Duo::each(|mut duo| {
        duo.send(0, 1, 10);
        duo.ask(0, |a, now| a.reset_outgoing_streams(now, &[1]));
        duo.send(0, 1, 20);
        duo.world.with(0, duo.ids[0], |now, a| a.shutdown(now));
        duo.world.run_ms(5_000);
        assert_eq!(duo.heard(1), [(1, 0, 10), (1, 0, 20)]);
        for end in [0, 1] {
            assert_eq!(duo.told(end).last(), Some(&Event::ShutdownComplete));
        }
    });
}

#[test]
fn both_sides_ask_at_the_same_time() {
    Duo::each(|mut duo| {
        for end in [0, 1] {
            duo.send(end, 1, 10);
        }
        duo.world.run_ms(300);
        for end in [0, 1] {
            duo.ask(end, |a, now| a.reset_outgoing_streams(now, &[1]));
            duo.ask(end, |a, now| a.reset_incoming_streams(now, &[1]));
            duo.ask(end, |a, now| a.add_outgoing_streams(now, 1));
        }
        for end in [0, 1] {
            duo.send(end, 1, 20);
        }
        duo.world.run_ms(10_000);
        for end in [0, 1] {
            let heard: Vec<usize> = duo.heard(end).iter().map(|m| m.2).collect();
            assert_eq!(heard, [10, 20]);
            let association = duo.world.ends[end].association(duo.ids[end]).unwrap();
            assert_eq!(association.streams(), (5, 5));
            let finished = |event: &&Event| matches!(event, Event::Reconfigured { .. });
            let told = duo.told(end);
            assert!(told.iter().filter(finished).count() >= 3, "{told:?}");
        }
        // All numbers, both at once: one may be refused, and nothing is lost.
        for end in [0, 1] {
            duo.ask(end, |a, now| a.reset_numbers(now));
            duo.send(end, 0, 30);
        }
        duo.world.run_ms(60_000);
        for end in [0, 1] {
            assert_eq!(duo.heard(end).last().unwrap().2, 30);
            duo.send(end, 0, 40);
        }
        duo.world.run_ms(3_000);
        for end in [0, 1] {
            assert_eq!(duo.heard(end).last().unwrap().2, 40);
        }
    });
}

#[test]
fn resets_under_loss_keep_every_message_and_its_order() {
    for seed in 0..40 {
        let mut duo = Duo::new(&Config {
            rto_min: Duration::from_millis(200),
            association_max_retransmits: 50,
            path_max_retransmits: 50,
            ..config(seed % 2 == 1)
        });
        let mut random = Seed::new(seed).stream("reset");
        let mut fate = Seed::new(seed).stream("loss");
        let loss = Chance::new(0.15);
        duo.world.weather = Box::new(move |_, _| {
            if fate.happens(loss) {
                return vec![];
            }
            vec![Duration::from_millis(15 + fate.below(10))]
        });
        // The length of a message is its number, so that all can be told apart.
        let mut sent = [[0u32; 4]; 2];
        for _ in 0..120 {
            let end = random.below(2) as usize;
            let stream = random.below(4) as u16;
            match random.below(12) {
                0 => {
                    let id = duo.ids[end];
                    let _ = duo.world.with(end, id, |now, a| match random.below(4) {
                        0 => a.reset_outgoing_streams(now, &[]),
                        1 => a.reset_incoming_streams(now, &[stream]),
                        2 => a.reset_numbers(now),
                        _ => a.reset_outgoing_streams(now, &[stream]),
                    });
                }
                1..=8 => {
                    let count = &mut sent[end][usize::from(stream)];
                    *count += 1;
                    let bytes = *count;
                    duo.send(end, stream, bytes);
                }
                _ => duo.world.run_ms(random.below(300)),
            }
        }
        duo.world.run_ms(400_000);
        for end in [0, 1] {
            let mut heard = [0u32; 4];
            for (stream, _, bytes) in duo.heard(1 - end) {
                heard[usize::from(stream)] += 1;
                assert_eq!(bytes as u32, heard[usize::from(stream)], "seed {seed}");
            }
            assert_eq!(heard, sent[end], "seed {seed}");
        }
    }
}
