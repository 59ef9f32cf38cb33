//! Two live associations, the network between them in the hands of the fuzzer.

mod ledger;
mod streams;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Duration, Seed, Time};
use headway_sctp::{
    Association, AssociationState, Config, Event, Packet, ReconfigRequest, Reliability,
};

use crate::knobs::{RECEIVE_BUFFER_BYTES, SEND_BUFFER_BYTES, config, scheduler};
use crate::script::Script;
use ledger::Ledger;
use streams::Standing;

/// Packets kept in flight in each direction; more are dropped, as a network would.
const MAX_IN_FLIGHT: usize = 64;
/// The ports of the two sides.
const PORTS: [u16; 2] = [5000, 5001];
/// How long everything may take to arrive once the network works.
const PATIENCE: Duration = Duration::from_secs(3600);

struct Side {
    association: Association,
    /// Packets on their way from this side.
    outbox: VecDeque<Packet>,
    /// The tag that this side puts into its packets, once seen.
    tag: u32,
    standing: Standing,
    /// What this side has handed over.
    ledger: Ledger,
    /// Changes of streams that this side has asked for, and how many were answered.
    asked: u64,
    answered: u64,
    /// It was told of the end of the association, and of a graceful one.
    ended: bool,
    graceful: bool,
}

struct Duel {
    now: Time,
    sides: [Side; 2],
    script_may: Powers,
}

/// What the script may do.
#[derive(Clone, Copy)]
struct Powers {
    /// Either side offers RFC 6525, and the script uses it.
    reconfigure: bool,
    /// It forges packets, and damages them so that their checksums still match.
    /// Without that nothing may be lost.
    forge: bool,
    /// Messages have lengths alone.
    sized: bool,
}

/// What the second byte says: its two low bits which side offers RFC 6525, the third
/// that the network is honest, the next two how many streams there may be, then
/// whether the path's MTU is probed, and whether messages have lengths alone.
fn side(data: &[u8], index: usize) -> Config {
    let mut config = config(data.first().copied().unwrap_or(0));
    let choice = data.get(1).copied().unwrap_or(0);
    config.reconfiguration = choice >> index & 1 != 0;
    config.most_streams = [2048, 8, 64, u16::MAX][usize::from(choice >> 3 & 3)];
    config.mtu_discovery = choice & 32 != 0;
    config
}

/// Reads `data` as a script: messages handed over, packets delivered, dropped,
/// repeated, swapped or damaged, forged packets with the right tag, streams reset and
/// added, time. Both ends must survive it, name no timeout in the past, and hold no
/// more than their buffers allow. Where nothing was forged, all messages that were
/// not given up arrive in the end, once, whole and in the order of their streams,
/// numbered from zero after each reset; and every request is answered.
///
/// # Panics
/// Where that does not hold.
pub fn sctp_association(data: &[u8]) {
    let choice = data.get(1).copied().unwrap_or(0);
    let seed = Seed::new(1);
    let side_of = |association| Side {
        association,
        outbox: VecDeque::new(),
        tag: 0,
        standing: Standing::default(),
        ledger: Ledger::default(),
        asked: 0,
        answered: 0,
        ended: false,
        graceful: false,
    };
    let client = Association::connect(
        Time::ZERO,
        Arc::new(side(data, 0)),
        seed.stream("a"),
        PORTS[0],
        PORTS[1],
    );
    let server = Association::listen(Arc::new(side(data, 1)), seed.stream("b"), PORTS[1]);
    let mut duel = Duel {
        now: Time::ZERO,
        sides: [side_of(client), side_of(server)],
        script_may: Powers {
            reconfigure: choice & 3 != 0,
            forge: choice & 4 == 0,
            sized: choice & 64 != 0,
        },
    };
    duel.drain(0);
    duel.drain(1);
    let mut script = Script(data.get(2..).unwrap_or(&[]));
    while let Some(op) = script.byte() {
        duel.play(op, &mut script);
    }
    if !duel.script_may.forge {
        duel.finish();
    }
}

impl Duel {
    /// One step of the script: the low bit chooses the side, the rest the deed.
    fn play(&mut self, op: u8, script: &mut Script<'_>) {
        let side = usize::from(op & 1);
        match (op >> 1) & 15 {
            4 if self.script_may.reconfigure => self.ask(side, script),
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
            14 => drop(self.wait_for_timer()),
            _ if op >> 5 == 7 => self.sides[side].association.shutdown(self.now),
            _ if op >> 5 == 6 => self.sides[side].association.abort(self.now),
            _ if op >> 5 == 5 => {
                let choice = script.choice();
                let association = &mut self.sides[side].association;
                association.set_scheduler(scheduler(choice));
                association.set_stream_priority(u16::from(choice & 3), u16::from(choice >> 4));
                association.set_stream_weight(u16::from(choice & 3), u16::from(choice >> 4));
            }
            _ if op >> 5 == 4 && self.script_may.reconfigure => self.forge_reconfig(side, script),
            _ => drop(self.wait_for_timer()),
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
        let length = usize::from(script.choice()) % 96;
        let chunks = script.take(length);
        let mut wire = Vec::with_capacity(12 + chunks.len());
        wire.extend_from_slice(&PORTS[from].to_be_bytes());
        wire.extend_from_slice(&PORTS[1 - from].to_be_bytes());
        wire.extend_from_slice(&self.sides[from].tag.to_be_bytes());
        wire.extend_from_slice(&[0; 4]);
        wire.extend_from_slice(chunks);
        self.receive(from, wire);
    }

    /// The checksum is put right, so that what is behind it is tested. An honest
    /// network only loses what it damages.
    fn receive(&mut self, from: usize, mut wire: Vec<u8>) {
        if !self.script_may.forge {
            return;
        }
        crate::seal(&mut wire);
        if let Ok(packet) = Packet::decode(&Bytes::from(wire)) {
            self.sides[1 - from]
                .association
                .handle_input(self.now, packet);
        }
    }

    fn send(&mut self, side: usize, script: &mut Script<'_>) {
        let (a, b) = (script.choice(), script.choice());
        let bytes = (u32::from(a) << 4).max(1);
        let reliability = match (b >> 3) & 3 {
            0 => Reliability::Full,
            1 => Reliability::Retransmissions(u32::from((b >> 5) & 3)),
            2 => Reliability::Lifetime(Duration::from_millis(u64::from(b & 96))),
            _ => Reliability::Priority(u32::from((b >> 5) & 3)),
        };
        let Side {
            association,
            ledger,
            ..
        } = &mut self.sides[side];
        let sized = self.script_may.sized;
        let message = ledger.message(u16::from(b & 7), b & 128 != 0, bytes, sized, reliability);
        // Refusals are part of the contract.
        if association.send(self.now, message.clone()).is_ok() {
            ledger.accepted(&message);
        }
    }

    fn wait(&mut self, script: &mut Script<'_>) {
        self.now += Duration::from_millis(u64::from(script.choice()));
        self.timers();
    }

    /// Goes on to the next timeout, if there is any.
    fn wait_for_timer(&mut self) -> bool {
        let next = self
            .sides
            .iter()
            .filter_map(|s| s.association.poll_timeout())
            .min();
        if let Some(at) = next {
            self.now = self.now.max(at);
            self.timers();
        }
        next.is_some()
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
        while let Some(event) = self.sides[side].association.poll_event() {
            self.hear(side, &event);
        }
        let Side {
            association,
            outbox,
            tag,
            standing,
            ..
        } = &mut self.sides[side];
        while let Some(packet) = association.poll_transmit(self.now) {
            if packet.verification_tag != 0 {
                *tag = packet.verification_tag;
            }
            standing.note(&packet);
            if outbox.len() < MAX_IN_FLIGHT {
                outbox.push_back(packet);
            }
        }
        // What fills a gap may come in beyond the buffer, so that a long message can
        // be finished, and a chunk begun below the limit goes beyond it.
        let held = association.held_bytes() + association.partial_bytes();
        assert!(held <= 2 * RECEIVE_BUFFER_BYTES + 1500, "{held}");
        assert!(association.buffered_bytes() <= SEND_BUFFER_BYTES);
        association.check_books().unwrap();
    }

    /// Something happened to a side.
    fn hear(&mut self, side: usize, event: &Event) {
        let honest = !self.script_may.forge;
        // What this side hands over, and what it hears of.
        let [first, second] = &mut self.sides;
        let (this, peer) = if side == 0 {
            (first, second)
        } else {
            (second, first)
        };
        match event {
            Event::Message(message) => assert!(!message.payload.is_empty()),
            Event::Part(part) => assert!(!part.payload.is_empty()),
            Event::ConnectionLost { .. } | Event::Aborted { .. } => this.ended = true,
            Event::ShutdownComplete => {
                this.ended = true;
                this.graceful = true;
            }
            _ => {}
        }
        if !honest {
            return;
        }
        match event {
            Event::Message(message) => peer.ledger.hear(message),
            Event::Part(part) => peer.ledger.hear_part(part),
            &Event::PartAbandoned {
                stream,
                mid,
                unordered,
            } => peer.ledger.cut_short(stream, mid, unordered),
            &Event::Abandoned { message, sent, .. } => this.ledger.abandoned(message.0, sent),
            Event::IncomingReset { streams } => peer.ledger.restart(streams),
            Event::NumbersReset => peer.ledger.restart(&[]),
            Event::Reconfigured { request, result } => {
                this.answered += 1;
                if *request == ReconfigRequest::ResetNumbers && result.is_success() {
                    peer.ledger.restart(&[]);
                }
            }
            Event::Restarted => panic!("nobody began anew"),
            _ => {}
        }
    }

    /// The network works from now on, until all has arrived or either side is gone.
    fn finish(&mut self) {
        let end = self.now + PATIENCE;
        while !self.is_over() {
            assert!(
                self.now < end,
                "stuck: missing {:?}, asked {:?}, answered {:?}, in {:?}",
                [0, 1].map(|n: usize| self.sides[n].ledger.missing()),
                [0, 1].map(|n: usize| self.sides[n].asked),
                [0, 1].map(|n: usize| self.sides[n].answered),
                [0, 1].map(|n: usize| self.sides[n].association.state()),
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
        // Who ends an association gracefully has brought everything across.
        if self.sides.iter().any(|side| side.graceful) {
            let missing = [0, 1].map(|n: usize| self.sides[n].ledger.missing());
            assert!(
                missing.iter().all(Vec::is_empty),
                "ended without {missing:?}"
            );
        }
    }

    fn is_over(&self) -> bool {
        let complete = self.sides.iter().all(|side| side.ledger.is_complete());
        let of = |side: &Side| side.association.state();
        let closed = self
            .sides
            .iter()
            .any(|side| side.ended || of(side) == AssociationState::Closed);
        let established = self
            .sides
            .iter()
            .all(|side| of(side) == AssociationState::Established);
        let answered = self.sides.iter().all(|side| side.answered >= side.asked);
        closed || complete && established && answered
    }
}
