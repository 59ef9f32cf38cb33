//! What a flood of INITs from random sources costs a server that has work to do.
//!
//! One association sends messages of 1000 bytes; between them come INITs, each from
//! another address, port and tag. All packets pass the wire codec. Counted is the
//! time on the processor of this thread: for both ends of the association, and for
//! the server's answers to the flood.
//!
//! `cargo run --release -p headway-sctp --example init_flood -- [INITS]`, where INITS
//! is their number at one for each message.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this program measures real time"
)]

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Duration, Payload, RandomStream, Seed, Time};
use headway_sctp::{
    AssociationId, AssociationState, Chunk, Config, Endpoint, EndpointEvent, Event, Host, Init,
    Message, Packet, Tsn,
};

/// The server's address and port, and the client's.
const SERVER: (u32, u16) = (1, 7);
const CLIENT: (u32, u16) = (2, 1000);
const MESSAGE_BYTES: usize = 1000;
/// Messages between two looks at the flood.
const BATCH: u64 = 16;
/// Batches that are measured at once.
const BLOCK: u64 = 256;

/// What the wire carries.
struct Wire {
    from: Address,
    to: Address,
    bytes: Bytes,
}

fn put(datagram: &Datagram<Packet>) -> Wire {
    let mut bytes = Vec::new();
    datagram.body.encode(&mut bytes);
    Wire {
        from: datagram.source,
        to: datagram.destination,
        bytes: bytes.into(),
    }
}

fn take(wire: &Wire) -> Datagram<Packet> {
    let body = Packet::decode(&wire.bytes).expect("the wire is faithful");
    Datagram {
        source: wire.from,
        destination: wire.to,
        size_bytes: wire.bytes.len() as u32 + 20,
        body,
    }
}

struct Service {
    now: Time,
    server: Endpoint,
    client: Endpoint,
    call: AssociationId,
    content: Bytes,
    handed_over: u64,
    delivered: u64,
    answers: u64,
}

impl Service {
    fn new() -> Self {
        let config = Arc::new(Config::default());
        let end = |n: u32| {
            let host = Arc::new(Host::new(vec![Address(n)]));
            Endpoint::new(Arc::clone(&config), host, [n as u8; 32])
        };
        let (mut server, mut client) = (end(SERVER.0), end(CLIENT.0));
        server.listen(SERVER.1);
        let now = Time::ZERO + Duration::from_secs(1);
        let call = client
            .connect(now, CLIENT.1, SERVER.1, &[Address(SERVER.0)])
            .expect("nothing is in the way");
        let mut service = Self {
            now,
            server,
            client,
            call,
            content: vec![7; MESSAGE_BYTES].into(),
            handed_over: 0,
            delivered: 0,
            answers: 0,
        };
        service.exchange();
        service
    }

    /// Carries packets to and fro until nothing is left.
    fn exchange(&mut self) {
        loop {
            let mut quiet = true;
            while let Some(event) = self.server.poll_event() {
                if let EndpointEvent::Association(_, Event::Message(_)) = event {
                    self.delivered += 1;
                }
            }
            while self.client.poll_event().is_some() {}
            while let Some(datagram) = self.client.poll_transmit() {
                self.server.handle_input(self.now, take(&put(&datagram)));
                quiet = false;
            }
            while let Some(datagram) = self.server.poll_transmit() {
                let wire = put(&datagram);
                if wire.to == Address(CLIENT.0) {
                    self.client.handle_input(self.now, take(&wire));
                } else {
                    self.answers += 1;
                }
                quiet = false;
            }
            if quiet {
                return;
            }
        }
    }

    fn talk(&mut self, messages: u64) {
        for _ in 0..messages {
            let message = Message {
                stream: 0,
                ppid: 0,
                unordered: false,
                payload: Payload::Bytes(self.content.clone()),
                ..Message::default()
            };
            let now = self.now;
            let sent = self.client.with(now, self.call, |a| a.send(now, message));
            sent.expect("the association lives").expect("room");
            self.handed_over += 1;
        }
        self.exchange();
        self.now += Duration::from_millis(1);
        for end in [&mut self.client, &mut self.server] {
            end.handle_timeout(self.now);
        }
        self.exchange();
    }
}

/// An INIT of somebody who does not exist.
fn stranger(random: &mut RandomStream) -> Wire {
    let from = 3 + random.below(u64::from(u32::MAX) - 3) as u32;
    let init = Init {
        initiate_tag: 1 + random.below(u64::from(u32::MAX) - 1) as u32,
        a_rwnd: 100_000,
        outbound_streams: 10,
        inbound_streams: 2048,
        initial_tsn: Tsn(random.bits() as u32),
        parameters: vec![],
    };
    put(&Datagram {
        source: Address(from),
        destination: Address(SERVER.0),
        size_bytes: 0,
        body: Packet {
            source_port: 1024 + random.below(60_000) as u16,
            destination_port: SERVER.1,
            verification_tag: 0,
            chunks: std::iter::once(Chunk::Init(Box::new(init))).collect(),
        },
    })
}

/// Time that this thread has spent on the processor, in seconds; where the system
/// does not tell, the time that has passed.
fn processor_s(begin: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|n| n.parse().ok());
    nanos.map_or_else(|| begin.elapsed().as_secs_f64(), |n: f64| n / 1e9)
}

/// A service under a flood of its own.
struct Case {
    /// INITs per message, as text.
    share: &'static str,
    per_batch: u64,
    service: Service,
    random: RandomStream,
    /// Messages that came before the measurement.
    before: u64,
    spent_s: f64,
}

impl Case {
    fn new((share, per_batch): (&'static str, u64)) -> Self {
        let mut service = Service::new();
        for _ in 0..1_000 {
            service.talk(BATCH);
        }
        Self {
            share,
            per_batch,
            before: service.delivered,
            service,
            random: Seed::new(7).stream("flood"),
            spent_s: 0.0,
        }
    }

    /// Measures so many batches at once, as looking at the clock costs more than one
    /// of them.
    fn run(&mut self, batches: u64, begin: Instant) {
        // Making the flood up is no work of the server.
        let flood: Vec<Wire> = (0..batches * self.per_batch)
            .map(|_| stranger(&mut self.random))
            .collect();
        let from = processor_s(begin);
        for n in 0..batches as usize {
            let share = self.per_batch as usize;
            for wire in &flood[n * share..(n + 1) * share] {
                self.service
                    .server
                    .handle_input(self.service.now, take(wire));
            }
            self.service.talk(BATCH);
        }
        self.spent_s += processor_s(begin) - from;
    }

    /// Messages for each second on the processor.
    fn rate(&self) -> f64 {
        (self.service.delivered - self.before) as f64 / self.spent_s
    }
}

fn main() {
    let inits: u64 = std::env::args()
        .nth(1)
        .map_or(1_000_000, |n| n.parse().expect("a number of INITs"));
    let blocks = (inits / (BLOCK * BATCH)).max(1);
    let begin = Instant::now();
    let shares = [
        ("0", 0),
        ("1/16", 1),
        ("1/4", 4),
        ("1/2", 8),
        ("1", 16),
        ("2", 32),
    ];
    let mut cases = shares.map(Case::new);
    // By turns, so that all see the same of a machine whose speed drifts.
    for _ in 0..blocks {
        for case in &mut cases {
            case.run(BLOCK, begin);
        }
    }
    println!("INITs per message     INITs  messages  messages per CPU s  of the quiet rate");
    let quiet_rate = cases[0].rate();
    for case in &cases {
        let (service, answers) = (&case.service, blocks * BLOCK * case.per_batch);
        println!(
            "{:>17}  {answers:>8}  {:>8}  {:>18.0}  {:>15.0} %",
            case.share,
            service.delivered - case.before,
            case.rate(),
            100.0 * case.rate() / quiet_rate,
        );
        assert_eq!(service.answers, answers);
        assert_eq!(service.delivered, service.handed_over, "nothing is lost");
        assert_eq!(service.server.association_count(), 1, "no state is left");
        let state = service.client.association(service.call).map(|a| a.state());
        assert_eq!(state, Some(AssociationState::Established));
    }
}
