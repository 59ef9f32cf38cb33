//! Whatever the network does, with every extension: each message arrives once, whole
//! and in order, or is reported as given up.

mod common;

use std::collections::BTreeMap;

use common::weather::{Weather, weather};
use common::{End, Pair};
use headway_sansio::{Duration, Payload, Time};
use headway_sctp::{
    AssociationState, Config, Event, Message, Mid, Part, Reliability, Scheduler, SendError, Tsn,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn configs() -> impl Strategy<Value = Config> {
    (
        prop::sample::select(headway_sctp::PROFILES.to_vec()),
        prop::sample::select(vec![None, Some(Tsn(u32::MAX - 5)), Some(Tsn(0x7fff_fff0))]),
        prop::sample::select(Scheduler::ALL.to_vec()),
        (any::<bool>(), any::<bool>(), any::<bool>()),
        600u32..1600,
        prop::sample::select(vec![20_000u32, 100_000, 400_000]),
    )
        .prop_map(
            |(profile, initial_tsn, scheduler, (interleaving, partial, nagle), mtu, buffer)| {
                Config {
                    initial_tsn,
                    scheduler,
                    interleaving,
                    partial_reliability: partial,
                    partial_delivery: true,
                    nagle,
                    mtu_bytes: mtu,
                    receive_buffer_bytes: buffer,
                    send_buffer_bytes: 500_000,
                    association_max_retransmits: 100,
                    path_max_retransmits: 100,
                    init_max_retransmits: 100,
                    shutdown_guard: Duration::ZERO,
                    outbound_streams: 8,
                    inbound_streams: 8,
                    rto_max: Duration::from_secs(5),
                    ..Config::profile(profile).unwrap()
                }
            },
        )
}

fn reliability() -> impl Strategy<Value = Reliability> {
    prop_oneof![
        4 => Just(Reliability::Full),
        2 => (1u64..3_000).prop_map(|ms| Reliability::Lifetime(Duration::from_millis(ms))),
        2 => (0u32..4).prop_map(Reliability::Retransmissions),
        2 => (0u32..4).prop_map(Reliability::Priority),
    ]
}

/// What a user does next.
#[derive(Clone, Debug)]
enum Deed {
    Send {
        stream: u16,
        unordered: bool,
        bytes: u32,
        reliability: Reliability,
        immediate_sack: bool,
    },
    Schedule(Scheduler),
    Priority(u16, u16),
    Weight(u16, u16),
}

fn deed() -> impl Strategy<Value = Deed> {
    let bytes = prop_oneof![
        6 => 1u32..700,
        1 => 1400u32..1500,
        2 => 1500u32..20_000,
        1 => 20_000u32..=200_000,
    ];
    let send = (0u16..8, any::<bool>(), bytes, reliability(), any::<bool>());
    prop_oneof![
        12 => send.prop_map(|(stream, unordered, bytes, reliability, immediate_sack)| Deed::Send {
            stream, unordered, bytes, reliability, immediate_sack,
        }),
        1 => prop::sample::select(Scheduler::ALL.to_vec()).prop_map(Deed::Schedule),
        1 => (0u16..8, 0u16..4).prop_map(|(stream, value)| Deed::Priority(stream, value)),
        1 => (0u16..8, 0u16..6).prop_map(|(stream, value)| Deed::Weight(stream, value)),
    ]
}

/// After how many milliseconds, by whom, what.
type Planned = (u64, bool, Deed);

fn plan() -> impl Strategy<Value = Vec<Planned>> {
    proptest::collection::vec((0u64..40, any::<bool>(), deed()), 1..60)
}

fn payload(index: usize, bytes: u32, sized: bool) -> Payload {
    if sized {
        Payload::Sized(bytes)
    } else {
        let byte = |i: u32| (i as usize * 7 + i as usize / 253 + index * 13) as u8;
        Payload::from((0..bytes).map(byte).collect::<Vec<_>>())
    }
}

/// What `send` took of one end: the place in the plan, by message number.
type Taken = [Vec<usize>; 2];

fn run(config: &Config, weather: &Weather, plan: &[Planned], sized: bool) -> (Pair, Taken) {
    let mut pair = Pair::with_wire(config.clone(), config.clone(), weather.wire());
    pair.encoded = !sized;
    let mut taken: Taken = [Vec::new(), Vec::new()];
    for (index, (wait, from_b, deed)) in plan.iter().enumerate() {
        pair.run_ms(*wait);
        let now = pair.now;
        let end = pair.end(if *from_b { End::B } else { End::A });
        match *deed {
            Deed::Send {
                stream,
                unordered,
                bytes,
                reliability,
                immediate_sack,
            } => {
                let message = Message {
                    stream,
                    ppid: index as u32,
                    unordered,
                    reliability,
                    immediate_sack,
                    payload: payload(index, bytes, sized),
                };
                match end.send(now, message) {
                    Ok(id) => {
                        let list = &mut taken[usize::from(*from_b)];
                        assert_eq!(id.0, list.len() as u64);
                        list.push(index);
                    }
                    Err(error) => assert_eq!(error, SendError::BufferFull),
                }
            }
            Deed::Schedule(scheduler) => end.set_scheduler(scheduler),
            Deed::Priority(stream, priority) => end.set_stream_priority(stream, priority),
            Deed::Weight(stream, weight) => end.set_stream_weight(stream, weight),
        }
        pair.drain();
        assert!(pair.a.buffered_bytes().max(pair.b.buffered_bytes()) <= 500_000);
    }
    while pair.b.state() == AssociationState::Listen
        || pair.a.state() != AssociationState::Established
    {
        assert!(pair.step());
    }
    let now = pair.now;
    pair.a.shutdown(now);
    pair.drain();
    let limit = Time::ZERO + Duration::from_secs(50_000);
    while pair.step() {
        assert!(pair.now < limit, "no end: {:?} {:?}", pair.a, pair.b);
    }
    (pair, taken)
}

/// What one end got of the messages of the other.
#[derive(Default)]
struct Heard {
    /// Messages that came whole or in all their parts, by place in the plan.
    whole: Vec<usize>,
    /// Messages that come in parts just now.
    open: BTreeMap<(u16, bool, u32), (usize, u64)>,
    /// The last ordered message of each stream.
    last: BTreeMap<u16, usize>,
}

impl Heard {
    /// An ordered message begins or comes whole.
    fn in_order(&mut self, stream: u16, index: usize) -> Result<(), TestCaseError> {
        let waits = self
            .open
            .keys()
            .any(|&(of, unordered, _)| of == stream && !unordered);
        prop_assert!(!waits, "{} overtakes on stream {}", index, stream);
        if let Some(last) = self.last.insert(stream, index) {
            prop_assert!(
                last < index,
                "{} after {} on stream {}",
                index,
                last,
                stream
            );
        }
        Ok(())
    }

    fn part(&mut self, part: &Part, plan: &[Planned], sized: bool) -> Result<(), TestCaseError> {
        let Part {
            stream,
            mid: Mid(mid),
            unordered,
            offset_bytes,
            payload: bytes,
            end,
            ppid,
        } = part;
        let key = (*stream, *unordered, *mid);
        let index = *ppid as usize;
        if *offset_bytes == 0 {
            if !unordered {
                self.in_order(*stream, index)?;
            }
            prop_assert!(self.open.insert(key, (index, 0)).is_none());
        }
        let Some((of, so_far)) = self.open.get_mut(&key) else {
            return Err(TestCaseError::fail(format!("a part of nothing: {part:?}")));
        };
        prop_assert_eq!((*of, *so_far), (index, *offset_bytes));
        *so_far += bytes.len() as u64;
        let so_far = *so_far;
        let total = length(plan, index);
        prop_assert_eq!(*end, so_far == u64::from(total));
        prop_assert!(so_far <= u64::from(total));
        let mut expected = payload(index, total, sized);
        let _ = expected.split_to(*offset_bytes as usize);
        prop_assert_eq!(bytes, &expected.split_to(bytes.len()));
        if *end {
            self.open.remove(&key);
            self.whole.push(index);
        }
        Ok(())
    }
}

fn length(plan: &[Planned], index: usize) -> u32 {
    match plan[index].2 {
        Deed::Send { bytes, .. } => bytes,
        _ => 0,
    }
}

fn check(pair: &Pair, taken: &Taken, plan: &[Planned], sized: bool) -> Result<(), TestCaseError> {
    for end in [End::A, End::B] {
        let mut heard = Heard::default();
        for (_, _, event) in pair.events.iter().filter(|(_, at, _)| *at == end) {
            match event {
                Event::Message(message) => {
                    let index = message.ppid as usize;
                    let Deed::Send {
                        stream,
                        unordered,
                        bytes,
                        ..
                    } = plan[index].2
                    else {
                        return Err(TestCaseError::fail("a message that was not sent"));
                    };
                    prop_assert_eq!((message.stream, message.unordered), (stream, unordered));
                    prop_assert_eq!(&message.payload, &payload(index, bytes, sized));
                    if !unordered {
                        heard.in_order(stream, index)?;
                    }
                    heard.whole.push(index);
                }
                Event::Part(part) => heard.part(part, plan, sized)?,
                Event::PartAbandoned {
                    stream,
                    mid,
                    unordered,
                } => {
                    let open = heard.open.remove(&(*stream, *unordered, mid.0));
                    prop_assert!(open.is_some(), "nothing was open");
                }
                _ => {}
            }
        }
        let ours = &taken[usize::from(end == End::A)];
        let gone: Vec<usize> = pair
            .events
            .iter()
            .filter_map(|(_, at, event)| match event {
                Event::Abandoned { message, .. } if *at != end => Some(ours[message.0 as usize]),
                _ => None,
            })
            .collect();
        once(&heard.whole)?;
        once(&gone)?;
        for index in &heard.whole {
            prop_assert!(ours.contains(index), "{} was refused", index);
        }
        let lost = ours
            .iter()
            .find(|index| !heard.whole.contains(index) && !gone.contains(index));
        prop_assert_eq!(lost, None, "lost without a word");
        for index in gone {
            let reliable = matches!(
                plan[index].2,
                Deed::Send {
                    reliability: Reliability::Full,
                    ..
                }
            );
            prop_assert!(!reliable, "{} was reliable", index);
        }
        prop_assert!(heard.open.is_empty(), "left open");
        let held = match end {
            End::A => &pair.a,
            End::B => &pair.b,
        };
        prop_assert_eq!((held.held_bytes(), held.partial_bytes()), (0, 0));
        prop_assert_eq!((held.buffered_bytes(), held.flight_bytes()), (0, 0));
    }
    Ok(())
}

fn once(list: &[usize]) -> Result<(), TestCaseError> {
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    prop_assert_eq!(sorted.len(), list.len(), "twice: {:?}", list);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_lost_twice_torn_or_out_of_order(
        config in configs(), weather in weather(0.2, 0.2), plan in plan(), sized: bool,
    ) {
        let (pair, taken) = run(&config, &weather, &plan, sized);
        check(&pair, &taken, &plan, sized)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn equal_seeds_give_equal_runs(config in configs(), weather in weather(0.2, 0.2), plan in plan()) {
        let (first, _) = run(&config, &weather, &plan, true);
        let (second, _) = run(&config, &weather, &plan, true);
        prop_assert_eq!(first.log, second.log);
    }
}

/// The properties above hold of something: their cases reach every mechanism.
#[test]
fn the_cases_reach_what_they_are_about() {
    let mut runner = TestRunner::deterministic();
    let cases = (configs(), weather(0.2, 0.2), plan());
    let mut reached: BTreeMap<&str, u64> = BTreeMap::new();
    for _ in 0..150 {
        let (config, weather, plan) = cases.new_tree(&mut runner).unwrap().current();
        let (pair, _) = run(&config, &weather, &plan, true);
        for end in [&pair.a, &pair.b] {
            let stats = end.stats();
            let mixed = if config.interleaving {
                "mixed"
            } else {
                "plain"
            };
            for (name, count) in [
                ("parts", stats.parts_received),
                ("given up unsent", stats.messages_abandoned.unsent),
                ("given up after sending", stats.messages_abandoned.sent),
                ("timeouts", stats.timeouts),
                ("fast retransmissions", stats.fast_retransmissions),
                (mixed, stats.forwards_received),
            ] {
                *reached.entry(name).or_default() += count;
            }
        }
        let broken = |event: &Event| matches!(event, Event::PartAbandoned { .. });
        let broken = pair.events.iter().filter(|(_, _, event)| broken(event));
        *reached.entry("broken off").or_default() += broken.count() as u64;
    }
    assert!(reached.values().all(|&count| count > 0), "{reached:?}");
    println!("{reached:?}");
}
