//! Two live associations, the network between them in the hands of the fuzzer.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Duration, Payload, Seed, Time};
use headway_sctp::{Association, Config, Event, Message, Packet, Reliability, Scheduler};

/// Packets kept in flight in each direction; more are dropped, as a network would.
const MAX_IN_FLIGHT: usize = 64;

struct Side {
    association: Association,
    /// Packets on their way from this side.
    outbox: VecDeque<Packet>,
    /// The tag that this side puts into its packets, once seen.
    tag: u32,
}

struct Duel {
    now: Time,
    sides: [Side; 2],
}

const RECEIVE_BUFFER_BYTES: u32 = 1 << 14;

const SCHEDULERS: [Scheduler; 6] = [
    Scheduler::FirstCome,
    Scheduler::RoundRobin,
    Scheduler::RoundRobinPacket,
    Scheduler::Priority,
    Scheduler::FairBandwidth,
    Scheduler::WeightedFair,
];

/// The first byte chooses the profile by its low three bits, I-DATA by the fourth,
/// partial reliability and delivery in parts by the fifth, and the scheduler by the
/// rest.
fn config(choice: u8) -> Config {
    let profiles = headway_sctp::PROFILES;
    let profile = profiles[usize::from(choice & 7) % profiles.len()];
    let mut config = Config::profile(profile).expect("a listed profile");
    config.interleaving = choice & 8 != 0;
    config.partial_reliability = choice & 16 != 0;
    config.partial_delivery = choice & 16 != 0;
    if choice >> 5 > 0 {
        config.scheduler = scheduler(choice >> 5);
    }
    config.outbound_streams = 4;
    config.send_buffer_bytes = 1 << 16;
    config.receive_buffer_bytes = RECEIVE_BUFFER_BYTES;
    config
}

fn scheduler(choice: u8) -> Scheduler {
    SCHEDULERS[usize::from(choice) % SCHEDULERS.len()]
}

/// Reads `data` as a script: messages handed over, packets delivered, dropped,
/// repeated, swapped or damaged, forged packets with the right tag, time. Both
/// ends must survive it, name no timeout in the past, and hold no more than
/// their buffers allow.
///
/// # Panics
/// Where they do not.
pub fn sctp_association(data: &[u8]) {
    let config = Arc::new(config(data.first().copied().unwrap_or(0)));
    let seed = Seed::new(1);
    let side = |association| Side {
        association,
        outbox: VecDeque::new(),
        tag: 0,
    };
    let mut duel = Duel {
        now: Time::ZERO,
        sides: [
            side(Association::connect(
                Time::ZERO,
                Arc::clone(&config),
                seed.stream("a"),
                5000,
                5001,
            )),
            side(Association::listen(config, seed.stream("b"), 5001)),
        ],
    };
    duel.drain(0);
    duel.drain(1);
    let mut script = Script(data.get(1..).unwrap_or(&[]));
    while let Some(op) = script.byte() {
        duel.play(op, &mut script);
    }
}

impl Duel {
    /// One step of the script: the low bit chooses the side, the rest the deed.
    fn play(&mut self, op: u8, script: &mut Script<'_>) {
        let side = usize::from(op & 1);
        match (op >> 1) & 15 {
            0..=4 => self.deliver(side),
            5 => drop(self.sides[side].outbox.pop_front()),
            6 => {
                if let Some(packet) = self.sides[side].outbox.front().cloned() {
                    self.sides[side].outbox.push_back(packet);
                }
            }
            7 => {
                let outbox = &mut self.sides[side].outbox;
                if let Some(packet) = outbox.pop_front() {
                    outbox.push_back(packet);
                }
            }
            8 => self.damage(side, script),
            9 | 10 => self.forge(side, script),
            11 | 12 => self.send(side, script),
            13 => self.wait(script),
            14 => self.wait_for_timer(),
            _ if op >> 5 == 7 => self.sides[side].association.shutdown(self.now),
            _ if op >> 5 == 6 => self.sides[side].association.abort(self.now),
            _ if op >> 5 == 5 => {
                let choice = script.byte().unwrap_or(0);
                let association = &mut self.sides[side].association;
                association.set_scheduler(scheduler(choice));
                association.set_stream_priority(u16::from(choice & 3), u16::from(choice >> 4));
                association.set_stream_weight(u16::from(choice & 3), u16::from(choice >> 4));
            }
            _ => self.wait_for_timer(),
        }
        self.drain(side);
        self.drain(1 - side);
    }

    fn deliver(&mut self, from: usize) {
        if let Some(packet) = self.sides[from].outbox.pop_front() {
            self.sides[1 - from]
                .association
                .handle_input(self.now, packet);
        }
    }

    /// Flips a byte of a packet and lets the codec and the receiver judge.
    fn damage(&mut self, from: usize, script: &mut Script<'_>) {
        let (Some(packet), Some(place), Some(value)) = (
            self.sides[from].outbox.pop_front(),
            script.byte(),
            script.byte(),
        ) else {
            return;
        };
        let mut wire = Vec::new();
        packet.encode(&mut wire);
        let place = usize::from(place) % wire.len();
        wire[place] ^= value;
        self.receive(from, wire);
    }

    /// A packet out of the script itself, with the tag and ports that the
    /// receiver expects, so that it gets past the door.
    fn forge(&mut self, from: usize, script: &mut Script<'_>) {
        let length = usize::from(script.byte().unwrap_or(0)) % 96;
        let chunks = script.take(length);
        let ports: [u16; 2] = if from == 0 {
            [5000, 5001]
        } else {
            [5001, 5000]
        };
        let mut wire = Vec::with_capacity(12 + chunks.len());
        wire.extend_from_slice(&ports[0].to_be_bytes());
        wire.extend_from_slice(&ports[1].to_be_bytes());
        wire.extend_from_slice(&self.sides[from].tag.to_be_bytes());
        wire.extend_from_slice(&[0; 4]);
        wire.extend_from_slice(chunks);
        self.receive(from, wire);
    }

    /// The checksum is put right, so that what is behind it is tested.
    fn receive(&mut self, from: usize, mut wire: Vec<u8>) {
        crate::seal(&mut wire);
        if let Ok(packet) = Packet::decode(&Bytes::from(wire)) {
            self.sides[1 - from]
                .association
                .handle_input(self.now, packet);
        }
    }

    fn send(&mut self, side: usize, script: &mut Script<'_>) {
        let (a, b) = (script.byte().unwrap_or(0), script.byte().unwrap_or(0));
        let bytes = (u32::from(a) << 4).max(1);
        let message = Message {
            stream: u16::from(b & 7),
            ppid: 0,
            unordered: b & 128 != 0,
            reliability: match (b >> 3) & 3 {
                0 => Reliability::Full,
                1 => Reliability::Retransmissions(u32::from((b >> 5) & 3)),
                2 => Reliability::Lifetime(Duration::from_millis(u64::from(b & 96))),
                _ => Reliability::Priority(u32::from((b >> 5) & 3)),
            },
            payload: Payload::Sized(bytes),
            ..Message::default()
        };
        // Refusals are part of the contract.
        let _ = self.sides[side].association.send(self.now, message);
    }

    fn wait(&mut self, script: &mut Script<'_>) {
        self.now += Duration::from_millis(u64::from(script.byte().unwrap_or(0)));
        self.timers();
    }

    fn wait_for_timer(&mut self) {
        let next = self
            .sides
            .iter()
            .filter_map(|s| s.association.poll_timeout())
            .min();
        if let Some(at) = next {
            self.now = self.now.max(at);
            self.timers();
        }
    }

    fn timers(&mut self) {
        for side in &mut self.sides {
            if side
                .association
                .poll_timeout()
                .is_some_and(|at| at <= self.now)
            {
                side.association.handle_timeout(self.now);
                let next = side.association.poll_timeout();
                assert!(next.is_none_or(|at| at > self.now), "a timeout in the past");
            }
        }
    }

    fn drain(&mut self, side: usize) {
        let now = self.now;
        let Side {
            association,
            outbox,
            tag,
        } = &mut self.sides[side];
        while let Some(event) = association.poll_event() {
            match event {
                Event::Message(received) => assert!(!received.payload.is_empty()),
                Event::Part(part) => assert!(!part.payload.is_empty()),
                _ => {}
            }
        }
        while let Some(packet) = association.poll_transmit(now) {
            if packet.verification_tag != 0 {
                *tag = packet.verification_tag;
            }
            if outbox.len() < MAX_IN_FLIGHT {
                outbox.push_back(packet);
            }
        }
        // What fills a gap may come in beyond the buffer, so that a long message can
        // be finished, and a chunk begun below the limit goes beyond it.
        let held = association.held_bytes() + association.partial_bytes();
        assert!(held <= 2 * RECEIVE_BUFFER_BYTES + 1500, "{held}");
        assert!(association.buffered_bytes() <= 1 << 16);
    }
}

struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        head
    }
}
