//! Whatever the network does, each message arrives once, whole and in order.

mod common;

use common::weather::{Weather, weather};
use common::{End, Pair};
use headway_sansio::{Duration, Payload, Time};
use headway_sctp::{
    AssociationState, Config, CwndWhenLimited, Event, Message, Received, RepeatFastRetransmit,
    Scheduler, Tsn,
};
use proptest::prelude::*;

fn configs() -> impl Strategy<Value = Config> {
    let profile = prop::sample::select(headway_sctp::PROFILES.to_vec());
    let tsn = prop::sample::select(vec![None, Some(Tsn(u32::MAX - 5)), Some(Tsn(0x7fff_fff0))]);
    let knobs = (any::<bool>(), any::<bool>(), any::<bool>(), 600u32..1600);
    (
        profile,
        tsn,
        knobs,
        prop::sample::select(vec![20_000u32, 100_000]),
    )
        .prop_map(
            |(profile, initial_tsn, (nagle, round_robin, grow, mtu), buffer)| Config {
                initial_tsn,
                nagle,
                mtu_bytes: mtu,
                scheduler: if round_robin {
                    Scheduler::RoundRobin
                } else {
                    Scheduler::FirstCome
                },
                cwnd_when_limited: if grow {
                    CwndWhenLimited::Grow
                } else {
                    CwndWhenLimited::Keep
                },
                receive_buffer_bytes: buffer,
                // A whole plan may wait behind losses: 80 messages of 12,000 bytes.
                send_buffer_bytes: 1_000_000,
                // A run of 30 % loss would rightly be given up after ten losses in a row.
                association_max_retransmits: 100,
                path_max_retransmits: 100,
                init_max_retransmits: 100,
                shutdown_guard: Duration::ZERO,
                outbound_streams: 8,
                rto_max: Duration::from_secs(5),
                ..Config::profile(profile).unwrap()
            },
        )
}

/// One message to send: after how many milliseconds, by whom, stream, order, size.
type Planned = (u64, bool, u16, bool, u32);

fn plan() -> impl Strategy<Value = Vec<Planned>> {
    let size = prop_oneof![8 => 1u32..700, 1 => 1400u32..1500, 1 => 1500u32..12_000];
    proptest::collection::vec(
        (0u64..30, any::<bool>(), 0u16..8, any::<bool>(), size),
        1..80,
    )
}

fn payload(index: usize, bytes: u32, sized: bool) -> Payload {
    if sized {
        Payload::Sized(bytes)
    } else {
        Payload::from(
            (0..bytes)
                .map(|i| (i as usize * 7 + index * 13) as u8)
                .collect::<Vec<_>>(),
        )
    }
}

/// Sends what is planned and shuts down; gives the pair after its end.
fn run(config: &Config, weather: &Weather, plan: &[Planned], sized: bool, encoded: bool) -> Pair {
    let mut pair = Pair::with_wire(config.clone(), config.clone(), weather.wire());
    pair.encoded = encoded;
    for (index, &(wait, from_b, stream, unordered, bytes)) in plan.iter().enumerate() {
        pair.run_ms(wait);
        let end = if from_b { End::B } else { End::A };
        let payload = payload(index, bytes, sized);
        let message = Message {
            stream,
            ppid: index as u32,
            unordered,
            payload,
            ..Message::default()
        };
        let now = pair.now;
        pair.end(end).send(now, message).unwrap();
        pair.drain();
    }
    while pair.b.state() == AssociationState::Listen {
        assert!(pair.step());
    }
    while pair.a.state() != AssociationState::Established {
        assert!(pair.step());
    }
    // B must be through with its messages: a shutdown stops new ones only, but
    // also what is still in the queue of the other side is sent.
    let now = pair.now;
    pair.a.shutdown(now);
    pair.drain();
    let limit = Time::ZERO + Duration::from_secs(3_000);
    while pair.step() {
        assert!(pair.now < limit, "no end: {:?} {:?}", pair.a, pair.b);
    }
    pair
}

fn check(pair: &Pair, plan: &[Planned], sized: bool) -> Result<(), TestCaseError> {
    for end in [End::A, End::B] {
        prop_assert!(
            pair.has_event(end, &Event::ShutdownComplete) || end == End::B,
            "{:?} {:?}",
            pair.a.state(),
            pair.b.state()
        );
        let received = pair.received(end);
        let mut seen = vec![false; plan.len()];
        for message in &received {
            let index = message.ppid as usize;
            prop_assert!(
                !core::mem::replace(&mut seen[index], true),
                "{} twice",
                index
            );
            let (_, _, stream, unordered, bytes) = plan[index];
            prop_assert_eq!((message.stream, message.unordered), (stream, unordered));
            prop_assert_eq!(&message.payload, &payload(index, bytes, sized));
        }
        let missing = plan
            .iter()
            .zip(&seen)
            .filter(|((_, from_b, ..), seen)| (*from_b == (end == End::A)) != **seen);
        prop_assert_eq!(missing.count(), 0);
        in_order(&received)?;
    }
    Ok(())
}

fn in_order(received: &[Received]) -> Result<(), TestCaseError> {
    for stream in 0..8 {
        let order: Vec<u32> = received
            .iter()
            .filter(|m| m.stream == stream && !m.unordered)
            .map(|m| m.ppid)
            .collect();
        prop_assert!(order.is_sorted(), "stream {}: {:?}", stream, order);
    }
    Ok(())
}

/// All that happened, without the notes that a decoded packet lacks.
fn behaviour(pair: &Pair) -> Vec<(Time, usize, u32)> {
    pair.log
        .iter()
        .map(|(t, end, p)| (*t, usize::from(*end == End::B), p.size_bytes()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn each_message_once_whole_and_in_order(
        config in configs(), weather in weather(0.3, 0.3), plan in plan(), sized: bool, encoded: bool,
    ) {
        // Payload comes out of the codec as bytes.
        let sized = sized && !encoded;
        let pair = run(&config, &weather, &plan, sized, encoded);
        check(&pair, &plan, sized)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn structured_and_encoded_packets_behave_alike(
        config in configs(), weather in weather(0.3, 0.3), plan in plan(),
    ) {
        let structured = run(&config, &weather, &plan, true, false);
        let encoded = run(&config, &weather, &plan, true, true);
        prop_assert_eq!(behaviour(&structured), behaviour(&encoded));
        prop_assert_eq!(structured.a.stats(), encoded.a.stats());
        prop_assert_eq!(structured.b.stats(), encoded.b.stats());
    }

    #[test]
    fn equal_seeds_give_equal_runs(config in configs(), weather in weather(0.3, 0.3), plan in plan()) {
        let first = run(&config, &weather, &plan, true, false);
        let second = run(&config, &weather, &plan, true, false);
        prop_assert_eq!(first.log, second.log);
    }
}

#[test]
fn repeated_fast_retransmission_of_either_kind_ends() {
    for repeat in [
        RepeatFastRetransmit::Qualified,
        RepeatFastRetransmit::Unqualified,
    ] {
        let config = Config {
            repeat_fast_retransmit: repeat,
            ..Config::default()
        };
        let weather = Weather {
            seed: 3,
            loss: 0.3,
            duplication: 0.0,
            reordering: 0.3,
        };
        let plan: Vec<Planned> = (0..400).map(|i| (5, i % 2 == 0, 0, false, 300)).collect();
        let config = Config {
            association_max_retransmits: 100,
            ..config
        };
        let pair = run(&config, &weather, &plan, true, false);
        check(&pair, &plan, true).unwrap();
        assert!(
            pair.a.stats().fast_retransmissions > 20,
            "{:?}",
            pair.a.stats()
        );
    }
}
