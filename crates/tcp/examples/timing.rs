//! How long the machine takes for a segment: one bulk flow over a link of 30
//! Mb/s with a drop-tail queue of 100 packets, and one of small writes, without
//! a simulator around them.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "this program measures real time"
)]

use std::collections::VecDeque;
use std::time::Instant;

use headway_sansio::{Duration, Payload, Seed, Time};
use headway_tcp::{Config, Connection, Profile, Segment};

struct Run {
    now: Time,
    client: Connection,
    server: Connection,
    forth: VecDeque<(Time, Segment)>,
    back: VecDeque<(Time, Segment)>,
    free_at: Time,
    lost: u64,
    segments: u64,
}

const ONE_WAY: Duration = Duration::from_millis(50);
const RATE: u64 = 30_000_000;
const QUEUE: u64 = 100;

impl Run {
    fn drain(&mut self) {
        while let Some(segment) = self.client.poll_transmit() {
            self.segments += 1;
            let bytes = u64::from(segment.size_bytes()) + 20;
            let waiting = self.free_at.since(self.now).as_nanos() * RATE / 8_000_000_000 / 1500;
            if waiting > QUEUE {
                self.lost += 1;
                continue;
            }
            self.free_at = self.free_at.max(self.now) + Duration::of_transmission(bytes, RATE);
            self.forth.push_back((self.free_at + ONE_WAY, segment));
        }
        while let Some(segment) = self.server.poll_transmit() {
            self.segments += 1;
            self.back.push_back((self.now + ONE_WAY, segment));
        }
        while self.server.poll_event().is_some() {}
        while self.client.poll_event().is_some() {}
        while !self.server.read(self.now, usize::MAX).is_empty() {}
    }

    fn step(&mut self, until: Time) {
        let front = |q: &VecDeque<(Time, Segment)>| q.front().map(|x| x.0);
        let at = [
            front(&self.forth),
            front(&self.back),
            self.client.poll_timeout(),
            self.server.poll_timeout(),
        ];
        let at = at.into_iter().flatten().min();
        if at.is_none_or(|at| at > until) {
            self.now = until;
            return;
        }
        self.now = at.unwrap_or(until);
        if front(&self.forth).is_some_and(|t| t <= self.now) {
            let (_, segment) = self.forth.pop_front().expect("there is one");
            self.server.handle_input(self.now, &segment);
        } else if front(&self.back).is_some_and(|t| t <= self.now) {
            let (_, segment) = self.back.pop_front().expect("there is one");
            self.client.handle_input(self.now, &segment);
        } else {
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
        }
        self.drain();
    }
}

fn measure(name: &str, config: &Config, write_every: Option<Duration>) {
    let seed = Seed::new(1);
    let now = Time::ZERO;
    let mut run = Run {
        now,
        client: Connection::connect(now, config.clone(), &mut seed.stream("c"), 1, 2),
        server: Connection::listen(now, config.clone(), &mut seed.stream("s"), 2),
        forth: VecDeque::new(),
        back: VecDeque::new(),
        free_at: now,
        lost: 0,
        segments: 0,
    };
    run.drain();
    let began = Instant::now();
    let end = Time::ZERO + Duration::from_secs(300);
    let mut next_write = Time::ZERO + Duration::from_millis(200);
    while run.now < end {
        match write_every {
            None if run.client.buffered_bytes() < 1 << 30 => {
                let now = run.now;
                run.client.write(now, Payload::Sized(1 << 31));
                run.drain();
            }
            Some(every) if run.now >= next_write => {
                let now = run.now;
                run.client.write(now, Payload::Sized(1434));
                next_write += every;
                run.drain();
            }
            _ => {}
        }
        run.step(if write_every.is_some() {
            next_write
        } else {
            end
        });
    }
    let nanos = began.elapsed().as_nanos();
    let segments = u128::from(run.segments.max(1));
    println!(
        "{name:24} {:>8} segments, {:>5} lost, {:>4} retransmitted, {:>6.1} ms, {:>4} ns a segment",
        run.segments,
        run.lost,
        run.client.stats().retransmissions,
        nanos as f64 / 1e6,
        nanos / segments,
    );
}

fn main() {
    for profile in Profile::ALL {
        let mut config = profile.config();
        config.send_buffer_bytes = u64::MAX;
        config.receive_buffer_bytes = 4 << 20;
        measure(&format!("{} bulk", profile.name()), &config, None);
    }
    let mut config = Profile::Linux2617.config();
    config.send_buffer_bytes = 1 << 20;
    config.nagle = headway_tcp::Nagle::Off;
    measure("video", &config, Some(Duration::from_millis(20)));
}
