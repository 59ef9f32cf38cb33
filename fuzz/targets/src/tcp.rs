//! Two live TCP connections, the network between them in the hands of the fuzzer.

use std::collections::VecDeque;

use bytes::Bytes;
use headway_sansio::{Duration, Payload, Seed, Time};
use headway_tcp::{Checksum, Connection, Event, Profile, Segment, State};

use crate::script::Script;

/// Segments kept in flight in each direction; more are dropped, as a network would.
const MAX_IN_FLIGHT: usize = 64;
const RECEIVE_BUFFER_BYTES: u64 = 1 << 14;
const SEND_BUFFER_BYTES: u64 = 1 << 15;
/// The ports of the two sides.
const PORTS: [u16; 2] = [5000, 5001];
/// How long everything may take to arrive once the network works.
const PATIENCE: Duration = Duration::from_secs(3600);

struct Side {
    connection: Connection,
    /// Segments on their way from this side.
    outbox: VecDeque<Segment>,
    /// Sequence number after the last segment sent.
    next: u32,
    /// Bytes of the peer's stream that were read.
    read: u64,
    /// The peer has ended its stream.
    peer_closed: bool,
    /// Bytes are read as they come.
    reads: bool,
}

struct Duel {
    now: Time,
    sides: [Side; 2],
    /// The script damages and forges segments. Without that nothing may be lost.
    forges: bool,
}

/// What a side writes at a place in its stream.
fn content(side: usize, offset: u64) -> u8 {
    let mixed = (offset + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 + side as u64);
    (mixed >> 56) as u8
}

/// Reads `data` as a script: bytes written and read, segments delivered, dropped,
/// repeated, swapped, damaged or forged, time. Both ends must survive it, name no
/// timeout in the past, and hold no more than their buffers allow. Where nothing was
/// forged, both streams arrive in the end as they were written.
///
/// # Panics
/// Where that does not hold.
pub fn tcp_connection(data: &[u8]) {
    let mut script = Script(data);
    // The low three bits of the first byte choose the profile, the fourth an honest
    // network.
    let choice = script.choice();
    let profile = Profile::ALL[usize::from(choice & 7) % Profile::ALL.len()];
    let mut config = profile.config();
    config.receive_buffer_bytes = RECEIVE_BUFFER_BYTES;
    config.send_buffer_bytes = SEND_BUFFER_BYTES;
    let side_of = |connection| Side {
        connection,
        outbox: VecDeque::new(),
        next: 0,
        read: 0,
        peer_closed: false,
        reads: true,
    };
    let seed = Seed::new(1);
    let (mut a, mut b) = (seed.stream("a"), seed.stream("b"));
    let client = Connection::connect(Time::ZERO, config.clone(), &mut a, PORTS[0], PORTS[1]);
    let server = Connection::listen(Time::ZERO, config, &mut b, PORTS[1]);
    let mut duel = Duel {
        now: Time::ZERO,
        sides: [side_of(client), side_of(server)],
        forges: choice & 8 == 0,
    };
    duel.drain(0);
    duel.drain(1);
    while let Some(op) = script.byte() {
        duel.play(op, &mut script);
    }
    if !duel.forges {
        duel.finish();
    }
}

impl Duel {
    /// One step of the script: the low bit chooses the side, the rest the deed.
    fn play(&mut self, op: u8, script: &mut Script<'_>) {
        let side = usize::from(op & 1);
        let outbox = &mut self.sides[side].outbox;
        match (op >> 1) & 15 {
            0..=4 => self.deliver(side),
            5 => drop(outbox.pop_front()),
            6 => outbox.extend(outbox.front().cloned()),
            7 => {
                if let Some(segment) = outbox.pop_front() {
                    outbox.push_back(segment);
                }
            }
            8 => self.damage(side, script),
            9 | 10 => self.forge(side, script),
            11 | 12 => self.write(side, u64::from(script.choice()) << 4),
            13 => {
                self.now += Duration::from_millis(u64::from(script.choice()));
                self.timers();
            }
            14 => drop(self.wait_for_timer()),
            _ => match op >> 5 {
                7 => self.sides[side].connection.close(self.now),
                6 => self.sides[side].connection.abort(self.now),
                5 => self.sides[side].reads = false,
                4 => self.sides[side].reads = true,
                _ => self.write(side, u64::from(script.choice()) << 8),
            },
        }
        self.drain(side);
        self.drain(1 - side);
    }

    fn deliver(&mut self, from: usize) {
        if let Some(segment) = self.sides[from].outbox.pop_front() {
            let to = &mut self.sides[1 - from].connection;
            to.handle_input(self.now, &segment);
        }
    }

    /// Lets the codec and the receiver judge bytes. An honest network loses what it
    /// damages.
    fn receive(&mut self, from: usize, wire: Bytes) {
        if self.forges
            && let Ok(segment) = Segment::decode(&wire, Checksum::None)
        {
            let to = &mut self.sides[1 - from].connection;
            to.handle_input(self.now, &segment);
        }
    }

    fn damage(&mut self, from: usize, script: &mut Script<'_>) {
        let (place, value) = (script.choice(), script.choice());
        if let Some(segment) = self.sides[from].outbox.pop_front() {
            let mut wire = segment.encode(Checksum::None).to_vec();
            let place = usize::from(place) % wire.len();
            wire[place] ^= value;
            self.receive(from, wire.into());
        }
    }

    /// A segment out of the script itself, with numbers near those that the receiver
    /// expects.
    fn forge(&mut self, from: usize, script: &mut Script<'_>) {
        let [flags, scale, seq, ack, window, lengths] = [(); 6].map(|()| script.choice());
        let near = |base: u32, by: u8, scale: u8| {
            let by = i32::from(by as i8) << [0, 5, 10, 24][usize::from(scale & 3)];
            base.wrapping_add_signed(by)
        };
        let options = script.take(usize::from(lengths & 15) % 11 * 4);
        let payload = script.take(usize::from(lengths >> 4));
        let mut wire = Vec::with_capacity(20 + options.len() + payload.len());
        wire.extend_from_slice(&PORTS[from].to_be_bytes());
        wire.extend_from_slice(&PORTS[1 - from].to_be_bytes());
        wire.extend_from_slice(&near(self.sides[from].next, seq, scale).to_be_bytes());
        wire.extend_from_slice(&near(self.sides[1 - from].next, ack, scale >> 2).to_be_bytes());
        wire.push((5 + options.len().div_ceil(4) as u8) << 4);
        wire.extend_from_slice(&[flags, window, window, 0, 0, 0, 0]);
        wire.extend_from_slice(options);
        wire.resize(wire.len().next_multiple_of(4), 0);
        wire.extend_from_slice(payload);
        self.receive(from, wire.into());
    }

    fn write(&mut self, index: usize, bytes: u64) {
        let side = &mut self.sides[index];
        let start = side.connection.written_offset();
        let content: Vec<u8> = (start..start + bytes).map(|o| content(index, o)).collect();
        side.connection.write(self.now, Payload::from(content));
    }

    /// Goes on to the next timeout, if there is any.
    fn wait_for_timer(&mut self) -> bool {
        let due = self
            .sides
            .iter()
            .filter_map(|s| s.connection.poll_timeout());
        let next = due.min();
        if let Some(at) = next {
            self.now = self.now.max(at);
            self.timers();
        }
        next.is_some()
    }

    fn timers(&mut self) {
        for side in &mut self.sides {
            let due = side.connection.poll_timeout();
            if due.is_some_and(|at| at <= self.now) {
                side.connection.handle_timeout(self.now);
                let next = side.connection.poll_timeout();
                assert!(next.is_none_or(|at| at > self.now), "a timeout in the past");
            }
        }
    }

    fn drain(&mut self, index: usize) {
        self.transmit(index);
        if self.sides[index].reads {
            self.read(index);
            self.transmit(index);
        }
        let written = self.sides[1 - index].connection.written_offset();
        let side = &mut self.sides[index];
        while let Some(event) = side.connection.poll_event() {
            if event == Event::PeerClosed {
                side.peer_closed = true;
                if !self.forges {
                    assert_eq!(side.connection.received_offset(), written);
                }
            }
        }
        let held: u64 = side
            .connection
            .out_of_order_ranges()
            .map(|range| range.end - range.start)
            .sum();
        let held = held + side.connection.readable_bytes();
        assert!(held <= RECEIVE_BUFFER_BYTES, "{held}");
        assert!(side.connection.buffered_bytes() <= SEND_BUFFER_BYTES);
        side.connection.check_books().unwrap();
    }

    fn transmit(&mut self, index: usize) {
        let side = &mut self.sides[index];
        while let Some(segment) = side.connection.poll_transmit() {
            side.next = segment.seq.plus(segment.sequence_length()).0;
            if side.outbox.len() < MAX_IN_FLIGHT {
                side.outbox.push_back(segment);
            }
        }
    }

    fn read(&mut self, index: usize) {
        let side = &mut self.sides[index];
        loop {
            let payload = side.connection.read(self.now, usize::MAX);
            if payload.is_empty() {
                return;
            }
            if !self.forges {
                let bytes = payload.as_bytes().expect("bytes travel");
                let offset = side.read;
                for (at, &byte) in (offset..).zip(bytes) {
                    assert_eq!(byte, content(1 - index, at), "byte {at} is not the peer's");
                }
            }
            side.read += payload.len() as u64;
        }
    }

    /// The network works from now on, until all has arrived or either side is gone.
    fn finish(&mut self) {
        let end = self.now + PATIENCE;
        for index in [0, 1] {
            self.sides[index].reads = true;
            self.drain(index);
        }
        while !self.is_over() {
            assert!(
                self.now < end,
                "stuck: read {:?}, written {:?}, in {:?}",
                [0, 1].map(|n: usize| self.sides[1 - n].read),
                [0, 1].map(|n: usize| self.sides[n].connection.written_offset()),
                [0, 1].map(|n: usize| self.sides[n].connection.state()),
            );
            if self.sides.iter().all(|side| side.outbox.is_empty()) {
                if !self.wait_for_timer() {
                    // Nothing would ever happen again.
                    self.now = end;
                }
            } else {
                self.now += Duration::from_millis(5);
                self.timers();
            }
            for from in [0, 1] {
                for _ in 0..self.sides[from].outbox.len() {
                    self.deliver(from);
                }
            }
            self.drain(0);
            self.drain(1);
        }
        for index in [0, 1] {
            if self.sides[index].peer_closed {
                let written = self.sides[1 - index].connection.written_offset();
                assert_eq!(self.sides[index].read, written, "closed with bytes missing");
            }
        }
    }

    fn is_over(&self) -> bool {
        let gone = |side: &Side| side.connection.state() == State::Closed;
        let complete = [0, 1]
            .iter()
            .all(|&n: &usize| self.sides[1 - n].read == self.sides[n].connection.written_offset());
        complete || self.sides.iter().any(gone)
    }
}
