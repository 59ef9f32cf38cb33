//! How long one packet takes: a minute of signalling, both ends counted.
//!
//! 4800 messages (a request and its answer, 40 calls/s for 60 s) of 225 bytes go
//! over a path of 20 ms with 2 % loss. The wire is two queues, so nearly all of
//! the time is the associations' own.
//!
//! `cargo run --release -p headway-sctp --example speed`
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this program measures real time"
)]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use headway_sansio::{Chance, Duration, Payload, RandomStream, Seed, Time};
use headway_sctp::{Association, Config, Event, Message, Packet};

const DELAY: Duration = Duration::from_millis(20);

struct Run {
    ends: [Association; 2],
    /// Packets on their way to the end of the same index.
    wires: [VecDeque<(Time, Packet)>; 2],
    random: RandomStream,
    loss: Chance,
    answers: u64,
}

impl Run {
    fn new(config: &Arc<Config>, seed: u64, loss: f64) -> Self {
        let seed = Seed::new(seed);
        let a = Association::connect(Time::ZERO, config.clone(), seed.stream("a"), 1, 2);
        let b = Association::listen(config.clone(), seed.stream("b"), 2);
        Self {
            ends: [a, b],
            wires: [VecDeque::new(), VecDeque::new()],
            random: seed.stream("loss"),
            loss: Chance::new(loss),
            answers: 0,
        }
    }

    fn message(unordered: bool) -> Message {
        Message {
            stream: 0,
            ppid: 0,
            unordered,
            payload: Payload::Sized(225),
            ..Message::default()
        }
    }

    fn drain(&mut self, now: Time, end: usize, unordered: bool) {
        while let Some(event) = self.ends[end].poll_event() {
            if let Event::Message(_) = event {
                if end == 1 {
                    self.ends[1]
                        .send(now, Self::message(unordered))
                        .expect("room");
                } else {
                    self.answers += 1;
                }
            }
        }
        while let Some(packet) = self.ends[end].poll_transmit(now) {
            if !self.random.happens(self.loss) {
                self.wires[1 - end].push_back((now + DELAY, packet));
            }
        }
    }

    fn minute(&mut self, seed: u64, unordered: bool) {
        let mut source = Seed::new(seed).stream("calls");
        let mut call = Time::ZERO + Duration::from_secs(1);
        let mut calls = 0;
        self.drain(Time::ZERO, 0, unordered);
        while self.answers < 2400 {
            let mut next = if calls < 2400 { call } else { Time::FAR_FUTURE };
            let mut what = 4;
            for end in 0..2 {
                let timer = self.ends[end].poll_timeout().unwrap_or(Time::FAR_FUTURE);
                let packet = self.wires[end]
                    .front()
                    .map_or(Time::FAR_FUTURE, |(at, _)| *at);
                for (at, kind) in [(packet, end), (timer, 2 + end)] {
                    if at < next {
                        (next, what) = (at, kind);
                    }
                }
            }
            let end = match what {
                4 => {
                    calls += 1;
                    call += source.exponential_duration(Duration::from_millis(25));
                    self.ends[0]
                        .send(next, Self::message(unordered))
                        .expect("room");
                    0
                }
                0 | 1 => {
                    let (_, packet) = self.wires[what].pop_front().expect("a packet is due");
                    self.ends[what].handle_input(next, packet);
                    what
                }
                _ => {
                    self.ends[what - 2].handle_timeout(next);
                    what - 2
                }
            };
            self.drain(next, end, unordered);
        }
    }
}

fn main() {
    for (name, unordered) in [("ordered", false), ("unordered", true)] {
        let config = Arc::new(Config::default());
        let mut times = Vec::new();
        let mut packets = 0;
        for seed in 0..200 {
            let mut run = Run::new(&config, seed, 0.02);
            let begin = Instant::now();
            run.minute(seed, unordered);
            let nanos = begin.elapsed().as_nanos() as u64;
            packets = run
                .ends
                .iter()
                .map(|end| end.stats().packets_sent)
                .sum::<u64>();
            times.push((nanos / packets, nanos));
        }
        times.sort_unstable();
        let (per_packet, run) = times[times.len() / 2];
        println!(
            "{name}: {per_packet} ns per packet, {:.2} ms for 4800 messages (median of {}; \
             last run {packets} packets)",
            run as f64 / 1e6,
            times.len()
        );
    }
}
