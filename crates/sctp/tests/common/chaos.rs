//! A network that loses, doubles, delays, reorders, spoils and cuts, over two paths,
//! and two endpoints that send numbered messages over it, both ways. Every message
//! that arrives is checked against what its sender must have written.
#![allow(
    unreachable_pub,
    reason = "a test and an example include it, each in its own program"
)]

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Address, Chance, Datagram, Duration, Payload, RandomStream, Seed, Time};
use headway_sctp::{
    AssociationId, Config, Endpoint, EndpointEvent, Event, Host, Message, Packet, PathState,
    Received,
};

/// Addresses of the two ends; the first of each make path 0.
const HOMES: [[u32; 2]; 2] = [[1, 2], [3, 4]];
/// Ordered messages go over so many streams; unordered ones over the one behind them.
const STREAMS: u16 = 16;
/// Every so many-th message is unordered.
const UNORDERED: u64 = 8;
/// How often the associations' books are looked over.
const TURNS_BETWEEN_AUDITS: u64 = 1000;

/// What the network does to packets.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Share of packets lost.
    pub loss: f64,
    /// Share of packets that arrive twice.
    pub duplication: f64,
    /// Share of packets in which bits are turned over.
    pub bit_errors: f64,
    /// Least one-way delay.
    pub delay: Duration,
    /// Each packet takes up to so much longer, whatever others do.
    pub jitter: Duration,
    /// Mean time for which a path works, and for which it does not.
    pub up: Duration,
    pub down: Duration,
}

impl Weather {
    /// 10 % loss, 2 % doubled, 2 % spoilt, reordering by up to 20 ms, and an outage of
    /// 3 s every 20 s on each path.
    pub const FOUL: Self = Self {
        loss: 0.1,
        duplication: 0.02,
        bit_errors: 0.02,
        delay: Duration::from_millis(20),
        jitter: Duration::from_millis(20),
        up: Duration::from_secs(20),
        down: Duration::from_secs(3),
    };
}

/// What happened in a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub delivered: u64,
    pub unordered: u64,
    pub bytes: u64,
    pub packets: u64,
    pub lost: u64,
    pub cut: u64,
    pub doubled: u64,
    pub spoilt: u64,
    /// Packets that arrived after one that was sent later.
    pub overtaken: u64,
    pub outages: u64,
    /// Times an end took to another path.
    pub failovers: u64,
    pub retransmissions: u64,
    pub duplicates: u64,
    pub virtual_s: f64,
}

/// A datagram on its way, by the time of its arrival and its number.
type Flying = Reverse<(Time, u64, u32, u32, Bytes)>;

struct Network {
    weather: Weather,
    random: RandomStream,
    flying: BinaryHeap<Flying>,
    count: u64,
    newest: [u64; 5],
    /// For each path: until when it is as it is, and which of its directions work.
    paths: [(Time, [bool; 2]); 2],
}

impl Network {
    fn new(weather: Weather, seed: Seed) -> Self {
        let mut network = Self {
            weather,
            random: seed.stream("network"),
            flying: BinaryHeap::new(),
            count: 0,
            newest: [0; 5],
            paths: [(Time::ZERO, [false; 2]); 2],
        };
        for path in 0..2 {
            network.turn(path, Time::ZERO, &mut Report::default());
        }
        network
    }

    /// A path fails, wholly or one way, or works again.
    fn turn(&mut self, path: usize, now: Time, report: &mut Report) {
        let works = self.paths[path].1 == [true; 2];
        let mean = if works {
            self.weather.down
        } else {
            self.weather.up
        };
        let until = now + self.random.exponential_duration(mean);
        let ways = match self.random.below(4) {
            _ if !works => [true; 2],
            0 => [true, false],
            1 => [false, true],
            _ => [false; 2],
        };
        report.outages += u64::from(works);
        self.paths[path] = (until, ways);
    }

    fn next_turn(&self) -> Time {
        self.paths[0].0.min(self.paths[1].0)
    }

    fn launch(&mut self, now: Time, datagram: &Datagram<Packet>, report: &mut Report) {
        report.packets += 1;
        let (from, to) = (datagram.source.0, datagram.destination.0);
        let end = usize::from(from > 2);
        let path = HOMES[end].iter().position(|&a| a == from).unwrap_or(0);
        if !self.paths[path].1[end] {
            report.cut += 1;
            return;
        }
        if self.random.happens(Chance::new(self.weather.loss)) {
            report.lost += 1;
            return;
        }
        let mut wire = Vec::with_capacity(datagram.size_bytes as usize);
        datagram.body.encode(&mut wire);
        if self.random.happens(Chance::new(self.weather.bit_errors)) {
            report.spoilt += 1;
            for _ in 0..=self.random.below(4) {
                let bit = self.random.below(8 * wire.len() as u64);
                wire[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
        }
        let wire = Bytes::from(wire);
        let twice = self.random.happens(Chance::new(self.weather.duplication));
        report.doubled += u64::from(twice);
        for _ in 0..=u8::from(twice) {
            let jitter = self.random.below(self.weather.jitter.as_nanos() + 1);
            let at = now + self.weather.delay + Duration::from_nanos(jitter);
            self.count += 1;
            self.flying
                .push(Reverse((at, self.count, from, to, wire.clone())));
        }
    }

    fn next_arrival(&self) -> Time {
        let first = self.flying.peek();
        first.map_or(Time::FAR_FUTURE, |Reverse((at, ..))| *at)
    }

    /// The next datagram that has arrived by now, unless its checksum is wrong.
    fn arrival(&mut self, now: Time, report: &mut Report) -> Option<Datagram<Packet>> {
        while self.next_arrival() <= now {
            let Reverse((_, number, from, to, wire)) = self.flying.pop()?;
            let newest = &mut self.newest[from as usize];
            report.overtaken += u64::from(number < *newest);
            *newest = number.max(*newest);
            if let Ok(body) = Packet::decode(&wire) {
                return Some(Datagram {
                    source: Address(from),
                    destination: Address(to),
                    size_bytes: wire.len() as u32 + 20,
                    body,
                });
            }
        }
        None
    }
}

/// The content of a message: its number, and bytes that follow from it.
fn content(end: usize, stream: u16, number: u64) -> Bytes {
    let mut state = number
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(u64::from(stream) << 8 | end as u64);
    let mut next = || {
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    };
    // Mostly short ones, as signalling has them; now and then one of several packets.
    let drawn = next();
    let length = if drawn % 64 == 0 {
        2_000 + drawn % 4_000
    } else {
        16 + drawn % 400
    };
    let mut bytes = Vec::with_capacity(length as usize + 8);
    bytes.extend_from_slice(&number.to_be_bytes());
    while (bytes.len() as u64) < length {
        bytes.extend_from_slice(&next().to_be_bytes());
    }
    bytes.into()
}

/// What one end sends, and what the other has heard of it.
#[derive(Default)]
struct Traffic {
    handed_over: u64,
    sent: [u64; STREAMS as usize + 1],
    heard: [u64; STREAMS as usize + 1],
    /// Numbers of unordered messages beyond the first that is missing.
    ahead: BTreeSet<u64>,
}

impl Traffic {
    fn next(&mut self, end: usize) -> Message {
        let unordered = self.handed_over.is_multiple_of(UNORDERED);
        let stream = if unordered {
            STREAMS
        } else {
            (self.handed_over % u64::from(STREAMS)) as u16
        };
        let number = self.sent[usize::from(stream)];
        Message {
            stream,
            ppid: number as u32,
            unordered,
            payload: Payload::Bytes(content(end, stream, number)),
            ..Message::default()
        }
    }

    fn accepted(&mut self, message: &Message) {
        self.handed_over += 1;
        self.sent[usize::from(message.stream)] += 1;
    }

    /// Checks a message that arrived: whole, once, and in order within its stream.
    fn hear(&mut self, end: usize, message: &Received, report: &mut Report) {
        let bytes = message.payload.as_bytes().expect("bytes travel");
        let head = bytes
            .first_chunk()
            .expect("a message begins with its number");
        let number = u64::from_be_bytes(*head);
        let stream = usize::from(message.stream);
        assert_eq!(bytes, &content(end, message.stream, number), "torn");
        assert_eq!(message.ppid, number as u32);
        if message.unordered {
            report.unordered += 1;
            let fresh = number >= self.heard[stream] && self.ahead.insert(number);
            assert!(fresh, "unordered message {number} came twice");
            while self.ahead.remove(&self.heard[stream]) {
                self.heard[stream] += 1;
            }
        } else {
            assert_eq!(number, self.heard[stream], "order of stream {stream}");
            self.heard[stream] += 1;
        }
        report.delivered += 1;
        report.bytes += bytes.len() as u64;
    }

    fn is_complete(&self) -> bool {
        self.sent == self.heard
    }
}

/// Sends so many messages each way through `weather`, and then ends the association.
///
/// # Panics
/// Where a message is lost, doubled, torn or out of order, or the association fails.
pub fn run(config: &Config, weather: Weather, seed: u64, messages: u64) -> Report {
    let seed = Seed::new(seed);
    let mut report = Report::default();
    let mut network = Network::new(weather, seed);
    let config = Arc::new(Config {
        outbound_streams: STREAMS + 1,
        inbound_streams: STREAMS + 1,
        ..config.clone()
    });
    let mut ends = HOMES.map(|home| {
        let host = Arc::new(Host::new(home.map(Address).to_vec()));
        let secret = [home[0] as u8 ^ seed.value() as u8; 32];
        Endpoint::new(Arc::clone(&config), host, secret)
    });
    ends[1].listen(7);
    let mut now = Time::ZERO + Duration::from_secs(1);
    let call = ends[0]
        .connect(now, 1000, 7, &HOMES[1].map(Address))
        .expect("nothing is in the way");
    let mut ids: [Option<AssociationId>; 2] = [Some(call), None];
    let mut traffic = [Traffic::default(), Traffic::default()];
    let mut carriers = [0; 2];
    let mut closing = false;
    let mut complete = [false; 2];
    // In the worst case each message waits for a timeout of its own.
    let patience = now + Duration::from_secs(messages + 36_000);
    let mut turns = 0_u64;
    while complete != [true; 2] {
        assert!(now < patience, "stuck: {report:?}");
        turns += 1;
        for end in 0..2 {
            if turns.is_multiple_of(TURNS_BETWEEN_AUDITS)
                && let Some(association) = ids[end].and_then(|id| ends[end].association(id))
            {
                association.check_books().expect("the books balance");
            }
            while let Some(event) = ends[end].poll_event() {
                match event {
                    EndpointEvent::Incoming(id) => ids[end] = Some(id),
                    EndpointEvent::Association(_, Event::Message(message)) => {
                        traffic[1 - end].hear(1 - end, &message, &mut report);
                    }
                    EndpointEvent::Association(_, Event::ShutdownComplete) => {
                        complete[end] = true;
                    }
                    EndpointEvent::Association(
                        _,
                        event @ (Event::ConnectionLost { .. }
                        | Event::Aborted { .. }
                        | Event::Restarted),
                    ) => panic!("{event:?} at {now:?}: {report:?}"),
                    EndpointEvent::Association(..) | EndpointEvent::Gone(_) => {}
                }
            }
            if let Some(id) = ids[end] {
                let supplied = supply(&mut ends[end], now, id, end, &mut traffic[end], messages);
                if supplied && let Some(association) = ends[end].association(id) {
                    let carries = |n: &usize| association.path(*n).is_some_and(|p| p.carries_data);
                    let carrier = (0..association.path_count()).find(carries).unwrap_or(0);
                    let usable = association
                        .path(carrier)
                        .is_some_and(|path| path.state == PathState::Active);
                    report.failovers += u64::from(usable && carrier != carriers[end]);
                    carriers[end] = carrier;
                }
            }
        }
        let done = traffic
            .iter()
            .all(|t| t.handed_over == messages && t.is_complete());
        if done && !closing {
            closing = true;
            for end in 0..2 {
                let stats = ids[end]
                    .and_then(|id| ends[end].association(id))
                    .map(|a| *a.stats());
                let stats = stats.expect("the association lives");
                report.retransmissions += stats.retransmissions();
                report.duplicates += stats.duplicates_received;
            }
            ends[0].with(now, call, |association| association.shutdown(now));
        }
        let mut sent = false;
        for end in &mut ends {
            while let Some(datagram) = end.poll_transmit() {
                network.launch(now, &datagram, &mut report);
                sent = true;
            }
        }
        if sent {
            // What was sent may have made room for more.
            continue;
        }
        let timers = ends.iter().filter_map(Endpoint::poll_timeout).min();
        let next = timers
            .unwrap_or(Time::FAR_FUTURE)
            .min(network.next_arrival())
            .min(network.next_turn());
        now = now.max(next);
        for path in 0..2 {
            if network.paths[path].0 <= now {
                network.turn(path, now, &mut report);
            }
        }
        while let Some(datagram) = network.arrival(now, &mut report) {
            let end = usize::from(datagram.destination.0 > 2);
            ends[end].handle_input(now, datagram);
        }
        for end in &mut ends {
            if end.poll_timeout().is_some_and(|due| due <= now) {
                end.handle_timeout(now);
            }
        }
    }
    report.virtual_s = now.as_secs_f64();
    report
}

/// Hands over as many messages as there is room for. Says whether there was any.
fn supply(
    endpoint: &mut Endpoint,
    now: Time,
    id: AssociationId,
    end: usize,
    traffic: &mut Traffic,
    messages: u64,
) -> bool {
    /// What waits in the send buffer at most.
    const WAITING: u32 = 32 * 1024;
    let waits = |endpoint: &Endpoint| {
        let association = endpoint.association(id);
        association.is_none_or(|association| association.unsent_bytes() > WAITING)
    };
    let mut any = false;
    while traffic.handed_over < messages && !waits(endpoint) {
        let message = traffic.next(end);
        let sent = endpoint.with(now, id, |association| {
            association.send(now, message.clone())
        });
        if !matches!(sent, Some(Ok(_))) {
            break;
        }
        traffic.accepted(&message);
        any = true;
    }
    any
}
