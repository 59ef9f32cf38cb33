//! Tests that look inside: the scoreboard's counters after every step, and
//! arbitrary segments.

use std::collections::VecDeque;

use headway_sansio::{Chance, Seed};
use proptest::prelude::*;

use super::*;
use crate::config::Profile;
use crate::segment::{Flags, Options, SackBlock, Timestamps};

fn two(config: &Config) -> (Connection, Connection) {
    let seed = Seed::new(5);
    let client = Connection::connect(Time::ZERO, config.clone(), &mut seed.stream("a"), 1, 2);
    let server = Connection::listen(Time::ZERO, config.clone(), &mut seed.stream("b"), 2);
    (client, server)
}

fn established(config: &Config) -> (Connection, Connection) {
    let (mut a, mut b) = two(config);
    for _ in 0..3 {
        while let Some(s) = a.poll_transmit() {
            b.handle_input(Time::ZERO, &s);
        }
        while let Some(s) = b.poll_transmit() {
            a.handle_input(Time::ZERO, &s);
        }
    }
    assert_eq!(
        (a.state(), b.state()),
        (State::Established, State::Established)
    );
    (a, b)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn counters_stay_true_under_loss_and_disorder(
        profile in prop::sample::select(Profile::ALL.to_vec()),
        seed in any::<u64>(),
        loss in 0.0..0.3_f64,
        piece in 50_u32..3000,
    ) {
        let mut config = profile.config();
        config.send_buffer_bytes = 1 << 20;
        config.max_retransmissions = 0;
        let (mut a, mut b) = established(&config);
        let mut random = Seed::new(seed).stream("wire");
        let mut wire: VecDeque<(bool, Segment)> = VecDeque::new();
        let mut now = Time::ZERO;
        for turn in 0..400 {
            now += Duration::from_millis(5);
            if turn < 200 {
                a.write(now, Payload::Sized(piece));
            }
            for (from_a, c) in [(true, &mut a), (false, &mut b)] {
                if c.poll_timeout().is_some_and(|t| t <= now) {
                    c.handle_timeout(now);
                }
                while let Some(s) = c.poll_transmit() {
                    if !random.happens(Chance::new(loss)) {
                        wire.push_back((from_a, s));
                    }
                }
                c.read(now, usize::MAX);
            }
            for _ in 0..random.below(1 + wire.len() as u64) {
                // Mostly the first, sometimes a later one.
                let skip = random.below(4) * random.below(2);
                let at = (skip as usize).min(wire.len().saturating_sub(1));
                let Some((from_a, s)) = wire.remove(at) else { break };
                if from_a {
                    b.handle_input(now, &s);
                } else {
                    a.handle_input(now, &s);
                    a.check_books().unwrap();
                    prop_assert!(a.sender.una <= a.sender.next);
                    prop_assert!(a.sender.window.cwnd >= a.sender.window.full);
                }
                while let Some(s) = a.poll_transmit() {
                    wire.push_back((true, s));
                    a.check_books().unwrap();
                }
            }
        }
    }

    #[test]
    fn arbitrary_segments_do_no_harm(
        profile in prop::sample::select(Profile::ALL.to_vec()),
        // Near the numbers in use, so that much of it is looked at.
        segments in prop::collection::vec(
            (
                any::<u8>(), -3000_i32..3000, -3000_i32..3000, any::<u16>(), 0_u32..3000,
                prop::collection::vec((-5000_i32..5000, -100_i32..3000), 0..4),
                any::<Option<(u32, u32)>>(), 0_u64..2000,
            ),
            1..60,
        ),
        open in any::<bool>(),
    ) {
        let mut config = profile.config();
        config.send_buffer_bytes = 1 << 20;
        let (mut c, _) = if open { established(&config) } else { two(&config) };
        let mut now = Time::ZERO;
        for (flags, seq, ack, window, len, blocks, times, wait_ms) in segments {
            now += Duration::from_millis(wait_ms);
            if c.poll_timeout().is_some_and(|t| t <= now) {
                c.handle_timeout(now);
            }
            c.write(now, Payload::Sized(1000));
            let at = |base: SeqNumber, by: i32| base.plus(by.cast_unsigned());
            let una = c.first_sent.at(c.sender.una);
            let mut options = Options {
                timestamps: times.map(|(value, echo)| Timestamps { value, echo }),
                ..Options::default()
            };
            for (start, len) in blocks {
                options.sack.push(SackBlock {
                    start: at(una, start),
                    end: at(una, start + len),
                });
            }
            let segment = Segment {
                source_port: 2,
                destination_port: 1,
                seq: at(c.first_received.at(c.receiver.next()), seq),
                ack: at(una, ack),
                // Few resets, or there is little to see.
                flags: if len % 16 == 0 { Flags(flags) } else { Flags(flags & !0x04 | 0x10) },
                window,
                options,
                payload: Payload::Sized(len),
                offset: 0,
                retransmission: false,
            };
            c.handle_input(now, &segment);
            let mut sent = 0;
            while c.poll_transmit().is_some() {
                sent += 1;
                prop_assert!(sent < 10_000, "it comes to an end");
            }
            while c.poll_event().is_some() {}
            c.read(now, usize::MAX);
            c.check_books().unwrap();
        }
    }
}

#[test]
fn a_forged_reset_is_questioned() {
    let (mut a, _) = established(&Config::default());
    let next = a.first_received;
    let mut reset = a.bare(Flags::RST);
    (reset.source_port, reset.destination_port) = (2, 1);
    reset.seq = next.plus(1);
    a.handle_input(Time::ZERO, &reset);
    assert_eq!(a.state(), State::Established);
    let challenge = a.poll_transmit().unwrap();
    assert_eq!(challenge.flags, Flags::ACK);
    reset.seq = next;
    a.handle_input(Time::ZERO, &reset);
    assert_eq!(a.state(), State::Closed);
}
