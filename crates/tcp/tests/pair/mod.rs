//! Two connections and a virtual wire between them.
#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::BTreeMap;

use headway_sansio::{Duration, Payload, Seed, Time};
use headway_tcp::{Config, Connection, Event, Segment, State};

/// What the wire does with one segment.
pub(crate) enum Fate {
    Deliver,
    Drop,
    /// Arrives so much later.
    Late(Duration),
    /// Arrives twice, the second time so much later.
    Twice(Duration),
}

/// Which way a segment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// From the connection that opened.
    Forth,
    Back,
}

type Wire = Box<dyn FnMut(Way, &Segment) -> Fate>;

pub(crate) struct Pair {
    pub(crate) now: Time,
    pub(crate) client: Connection,
    pub(crate) server: Connection,
    pub(crate) one_way: Duration,
    /// Bits per second of the wire forth; `None` is unlimited.
    pub(crate) rate_bps: Option<u64>,
    free_at: Time,
    flying: BTreeMap<(Time, u64), (Way, Segment)>,
    serial: u64,
    fate: Wire,
    /// Data sent forth: time, offset, length, retransmission.
    pub(crate) sent: Vec<(Time, u64, u32, bool)>,
    /// ACKs without data that came back: time, acknowledgement offset, SACK
    /// blocks.
    pub(crate) acks: u64,
    pub(crate) to_server: Vec<Payload>,
    pub(crate) to_client: Vec<Payload>,
    pub(crate) server_events: Vec<Event>,
    pub(crate) client_events: Vec<Event>,
    /// Segments that were encoded and decoded on the way.
    pub(crate) encode: bool,
    pub(crate) keep: bool,
    /// Whether the server's application reads.
    pub(crate) reads: bool,
}

impl Pair {
    pub(crate) fn new(client: Config, server: Config, one_way: Duration) -> Self {
        let seed = Seed::new(4);
        let now = Time::ZERO;
        let client = Connection::connect(now, client, &mut seed.stream("client"), 40000, 5060);
        let server = Connection::listen(now, server, &mut seed.stream("server"), 5060);
        Self {
            now,
            client,
            server,
            one_way,
            rate_bps: None,
            free_at: now,
            flying: BTreeMap::new(),
            serial: 0,
            fate: Box::new(|_, _| Fate::Deliver),
            sent: Vec::new(),
            acks: 0,
            to_server: Vec::new(),
            to_client: Vec::new(),
            server_events: Vec::new(),
            client_events: Vec::new(),
            encode: false,
            keep: true,
            reads: true,
        }
    }

    pub(crate) fn with_fate(mut self, fate: impl FnMut(Way, &Segment) -> Fate + 'static) -> Self {
        self.fate = Box::new(fate);
        self
    }

    pub(crate) fn set_fate(&mut self, fate: impl FnMut(Way, &Segment) -> Fate + 'static) {
        self.fate = Box::new(fate);
    }

    /// Loses the given first transmissions of the client's data, by the number
    /// of the segment counted from zero, and nothing else.
    pub(crate) fn lose(mut self, numbers: &'static [u64]) -> Self {
        let mut count = 0;
        self.fate = Box::new(move |way, segment| {
            if way == Way::Back || segment.payload.is_empty() || segment.retransmission {
                return Fate::Deliver;
            }
            count += 1;
            if numbers.contains(&(count - 1)) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        self
    }

    pub(crate) fn connected(mut self) -> Self {
        while self.client.state() != State::Established || self.server.state() != State::Established
        {
            assert!(self.step(), "the handshake comes to an end");
        }
        self
    }

    pub(crate) fn write(&mut self, payload: Payload) -> usize {
        let taken = self.client.write(self.now, payload);
        self.drain();
        taken
    }

    fn send(&mut self, way: Way, mut segment: Segment) {
        if way == Way::Forth && !segment.payload.is_empty() && self.keep {
            self.sent.push((
                self.now,
                segment.offset,
                segment.payload.len() as u32,
                segment.retransmission,
            ));
        }
        if way == Way::Back && segment.payload.is_empty() {
            self.acks += 1;
        }
        let mut at = self.now;
        if way == Way::Forth
            && let Some(rate) = self.rate_bps
        {
            let bytes = u64::from(segment.size_bytes()) + 20;
            at = at.max(self.free_at) + Duration::of_transmission(bytes, rate);
            self.free_at = at;
        }
        at += self.one_way;
        let fate = (self.fate)(way, &segment);
        if self.encode {
            let bytes = segment.encode(headway_tcp::Checksum::None);
            segment = Segment::decode(&bytes, headway_tcp::Checksum::None).unwrap();
        }
        match fate {
            Fate::Deliver => self.fly(at, way, segment),
            Fate::Drop => {}
            Fate::Late(by) => self.fly(at + by, way, segment),
            Fate::Twice(by) => {
                self.fly(at, way, segment.clone());
                self.fly(at + by, way, segment);
            }
        }
    }

    fn fly(&mut self, at: Time, way: Way, segment: Segment) {
        self.serial += 1;
        self.flying.insert((at, self.serial), (way, segment));
    }

    /// Drains both machines, as the contract says.
    pub(crate) fn drain(&mut self) {
        loop {
            let mut idle = true;
            while let Some(segment) = self.client.poll_transmit() {
                self.send(Way::Forth, segment);
                idle = false;
            }
            while let Some(segment) = self.server.poll_transmit() {
                self.send(Way::Back, segment);
                idle = false;
            }
            while let Some(event) = self.client.poll_event() {
                self.client_events.push(event);
                idle = false;
            }
            while let Some(event) = self.server.poll_event() {
                self.server_events.push(event);
                idle = false;
            }
            idle &= !Self::read(&mut self.client, self.now, self.keep, &mut self.to_client);
            if self.reads {
                idle &= !Self::read(&mut self.server, self.now, self.keep, &mut self.to_server);
            }
            if idle {
                break;
            }
        }
        for end in [&self.client, &self.server] {
            end.check_books().expect("the books balance");
        }
    }

    fn read(from: &mut Connection, now: Time, keep: bool, to: &mut Vec<Payload>) -> bool {
        let mut any = false;
        loop {
            let payload = from.read(now, usize::MAX);
            if payload.is_empty() {
                return any;
            }
            any = true;
            if keep {
                to.push(payload);
            }
        }
    }

    /// Goes to the next thing that happens; false where nothing ever does.
    pub(crate) fn step(&mut self) -> bool {
        self.drain();
        let Some(at) = self.next_at() else {
            return false;
        };
        assert!(at >= self.now);
        self.now = at;
        let mut arrived = Vec::new();
        while let Some(entry) = self.flying.first_entry()
            && entry.key().0 <= at
        {
            arrived.push(entry.remove());
        }
        for (way, segment) in arrived {
            match way {
                Way::Forth => self.server.handle_input(at, &segment),
                Way::Back => self.client.handle_input(at, &segment),
            }
            self.drain();
        }
        for connection in [&mut self.client, &mut self.server] {
            if connection.poll_timeout().is_some_and(|t| t <= at) {
                connection.handle_timeout(at);
            }
        }
        self.drain();
        for connection in [&self.client, &self.server] {
            assert!(
                connection.poll_timeout().is_none_or(|t| t > at),
                "rule 4 of the contract: {:?} {:?}",
                connection.poll_timeout(),
                connection
            );
        }
        true
    }

    pub(crate) fn next_at(&self) -> Option<Time> {
        let wire = self.flying.first_key_value().map(|(key, _)| key.0);
        [wire, self.client.poll_timeout(), self.server.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(crate) fn run_until(&mut self, end: Time) {
        self.drain();
        while self.next_at().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = end;
    }

    pub(crate) fn run_for(&mut self, length: Duration) {
        self.run_until(self.now + length);
    }

    /// Bytes that the server's application has read.
    pub(crate) fn received(&self) -> u64 {
        self.server.read_offset()
    }
}
