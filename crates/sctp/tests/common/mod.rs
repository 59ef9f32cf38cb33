//! Two associations under a virtual clock, joined by two wires that lose, delay,
//! duplicate and reorder as a test asks.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its own part"
)]

pub mod stranger;
pub mod weather;
pub mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Duration, Payload, Seed, Time};
use headway_sctp::{
    Association, AssociationState, Chunk, Config, DataChunk, Event, Message, Packet, Received, Sack,
};

/// One of the two ends, and the direction that leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    A,
    B,
}

impl End {
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// What a wire does with one packet: one delay for each copy that arrives.
pub type Fate = Vec<Duration>;

/// Decides on each packet: who sent it, how many it sent before, and the packet.
pub type Wire = Box<dyn FnMut(End, usize, &Packet) -> Fate>;

pub struct Pair {
    pub now: Time,
    pub a: Association,
    pub b: Association,
    pub wire: Wire,
    /// Every packet sent: when, by whom, what.
    pub log: Vec<(Time, End, Packet)>,
    pub events: Vec<(Time, End, Event)>,
    /// Packets go through the codec.
    pub encoded: bool,
    flying: BTreeMap<(Time, u64), (End, Packet)>,
    count: u64,
    sent: [usize; 2],
}

pub const DELAY: Duration = Duration::from_millis(20);

pub fn perfect() -> Wire {
    Box::new(|_, _, _| vec![DELAY])
}

/// Loses the packets for which `lost` says so.
pub fn losing(mut lost: impl FnMut(End, usize, &Packet) -> bool + 'static) -> Wire {
    Box::new(move |end, n, packet| {
        if lost(end, n, packet) {
            vec![]
        } else {
            vec![DELAY]
        }
    })
}

pub fn seed() -> Seed {
    Seed::new(4960)
}

impl Pair {
    /// A connects to B, which listens.
    pub fn new(a: Config, b: Config) -> Self {
        Self::with_wire(a, b, perfect())
    }

    pub fn with_wire(a: Config, b: Config, wire: Wire) -> Self {
        let (seed, now) = (seed(), Time::ZERO);
        let mut pair = Self {
            now,
            a: Association::connect(now, Arc::new(a), seed.stream("a"), 1000, 2000),
            b: Association::listen(Arc::new(b), seed.stream("b"), 2000),
            wire,
            log: Vec::new(),
            events: Vec::new(),
            encoded: false,
            flying: BTreeMap::new(),
            count: 0,
            sent: [0; 2],
        };
        pair.drain();
        pair
    }

    /// Both up, a second after the beginning, nothing under way.
    pub fn established(config: Config) -> Self {
        let mut pair = Self::new(config.clone(), config);
        pair.run_until(Time::from_nanos(1_000_000_000));
        assert_eq!(pair.a.state(), AssociationState::Established);
        assert_eq!(pair.b.state(), AssociationState::Established);
        pair.log.clear();
        pair.events.clear();
        pair.sent = [0; 2];
        pair
    }

    pub fn end(&mut self, end: End) -> &mut Association {
        match end {
            End::A => &mut self.a,
            End::B => &mut self.b,
        }
    }

    /// Takes everything out of both ends.
    pub fn drain(&mut self) {
        for end in [End::A, End::B] {
            let now = self.now;
            while let Some(event) = self.end(end).poll_event() {
                self.events.push((now, end, event));
            }
            while let Some(packet) = self.end(end).poll_transmit(now) {
                self.launch(end, packet);
            }
            self.end(end).check_books().unwrap();
        }
    }

    fn launch(&mut self, end: End, packet: Packet) {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        assert_eq!(bytes.len() as u32, packet.size_bytes(), "{packet:?}");
        let index = usize::from(end == End::B);
        let fate = (self.wire)(end, self.sent[index], &packet);
        self.sent[index] += 1;
        self.log.push((self.now, end, packet.clone()));
        let packet = if self.encoded {
            Packet::decode(&Bytes::from(bytes)).unwrap()
        } else {
            packet
        };
        for delay in fate {
            self.count += 1;
            self.flying
                .insert((self.now + delay, self.count), (end, packet.clone()));
        }
    }

    /// Puts a packet on the wire in the name of one end.
    pub fn inject(&mut self, from: End, packet: Packet) {
        let now = self.now;
        self.end(from.other()).handle_input(now, packet);
        self.drain();
    }

    /// When something happens next.
    pub fn next(&self) -> Option<Time> {
        let arrival = self.flying.keys().next().map(|key| key.0);
        [arrival, self.a.poll_timeout(), self.b.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Lets the next thing happen.
    pub fn step(&mut self) -> bool {
        let Some(next) = self.next() else {
            return false;
        };
        assert!(next >= self.now, "time runs forwards");
        self.now = next;
        if self.flying.keys().next().is_some_and(|key| key.0 == next) {
            let (_, (from, packet)) = self.flying.pop_first().unwrap();
            self.end(from.other()).handle_input(next, packet);
        } else {
            for end in [End::A, End::B] {
                self.end(end).handle_timeout(next);
            }
            self.drain();
            for end in [End::A, End::B] {
                let due = self.end(end).poll_timeout();
                assert!(due.is_none_or(|due| due > next), "{end:?} is stuck");
            }
        }
        self.drain();
        true
    }

    pub fn run_until(&mut self, end: Time) {
        while self.next().is_some_and(|next| next <= end) {
            self.step();
        }
        self.now = end;
    }

    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    pub fn run_ms(&mut self, ms: u64) {
        self.run_for(Duration::from_millis(ms));
    }

    pub fn send(&mut self, end: End, stream: u16, unordered: bool, bytes: u32) {
        let message = Message {
            stream,
            ppid: 0,
            unordered,
            payload: Payload::Sized(bytes),
            ..Message::default()
        };
        let now = self.now;
        self.end(end).send(now, message).unwrap();
        self.drain();
    }

    /// Sends `count` messages of one packet each, 10 ms apart.
    pub fn send_spaced(&mut self, end: End, count: usize, bytes: u32) {
        for _ in 0..count {
            self.send(end, 0, false, bytes);
            self.run_ms(10);
        }
    }

    pub fn received(&self, end: End) -> Vec<Received> {
        let of = |(_, at, event): &(Time, End, Event)| match event {
            Event::Message(message) if *at == end => Some(message.clone()),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    pub fn has_event(&self, end: End, wanted: &Event) -> bool {
        self.events
            .iter()
            .any(|(_, at, event)| *at == end && event == wanted)
    }

    /// The DATA chunks that an end sent: when, and what.
    pub fn data(&self, end: End) -> Vec<(Time, DataChunk)> {
        let mut all = Vec::new();
        for (time, from, packet) in &self.log {
            for chunk in &packet.chunks {
                if let Chunk::Data(data) = chunk
                    && *from == end
                {
                    all.push((*time, data.clone()));
                }
            }
        }
        all
    }

    /// The SACKs that an end sent.
    pub fn sacks(&self, end: End) -> Vec<(Time, Sack)> {
        let mut all = Vec::new();
        for (time, from, packet) in &self.log {
            for chunk in &packet.chunks {
                if let Chunk::Sack(sack) = chunk
                    && *from == end
                {
                    all.push((*time, sack.clone()));
                }
            }
        }
        all
    }

    /// Names of the chunks of each packet, with the sender.
    pub fn story(&self) -> Vec<String> {
        self.log
            .iter()
            .map(|(_, end, packet)| format!("{end:?}: {}", names(packet)))
            .collect()
    }
}

pub fn names(packet: &Packet) -> String {
    packet
        .chunks
        .iter()
        .map(name)
        .collect::<Vec<_>>()
        .join(" + ")
}

fn name(chunk: &Chunk) -> &'static str {
    match chunk {
        Chunk::Data(data) if data.interleaving.is_some() => "I-DATA",
        Chunk::Data(_) => "DATA",
        Chunk::Init(_) => "INIT",
        Chunk::InitAck(_) => "INIT ACK",
        Chunk::Sack(_) => "SACK",
        Chunk::Heartbeat(_) => "HEARTBEAT",
        Chunk::HeartbeatAck(_) => "HEARTBEAT ACK",
        Chunk::Abort { .. } => "ABORT",
        Chunk::Shutdown { .. } => "SHUTDOWN",
        Chunk::ShutdownAck => "SHUTDOWN ACK",
        Chunk::Error(_) => "ERROR",
        Chunk::CookieEcho(_) => "COOKIE ECHO",
        Chunk::CookieAck => "COOKIE ACK",
        Chunk::ShutdownComplete { .. } => "SHUTDOWN COMPLETE",
        Chunk::Reconfig(_) => "RE-CONFIG",
        Chunk::Pad(_) => "PAD",
        Chunk::ForwardTsn(forward) => match forward.skipped {
            headway_sctp::Skipped::Ssns(_) => "FORWARD-TSN",
            headway_sctp::Skipped::Mids(_) => "I-FORWARD-TSN",
        },
        Chunk::Unknown { .. } => "?",
    }
}

pub fn has_data(packet: &Packet) -> bool {
    packet
        .chunks
        .iter()
        .any(|chunk| matches!(chunk, Chunk::Data(_)))
}
