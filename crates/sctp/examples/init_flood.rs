//! What a flood of INITs from random sources costs a server that has work to do.
//!
//! One association sends messages of 1000 bytes; between them come INITs, each from
//! another address, port and tag. All packets pass the wire codec. Counted is the time
//! on the processor of this thread, for both ends of the association and for what the
//! server does about the flood; the endpoints' clock is that same time, so that a limit
//! on INITs a second sees as many seconds as there are.
//!
//! `cargo run --release -p headway-sctp --example init_flood -- [INITS] [--json]`, where
//! INITS is their number at one for each message. Exits with 1 where the association
//! keeps less than half of its throughput although the limit is in force.
#![allow(clippy::disallowed_methods, reason = "this program measures real time")]

#[path = "../tests/common/stranger.rs"]
#[allow(unreachable_pub, reason = "test programs have it in a module")]
mod stranger;

use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Duration, Payload, RandomStream, Seed, Time};
use headway_sctp::{
    AssociationId, AssociationState, Config, Endpoint, EndpointEvent, Event, Host, InitLimit,
    Message, Packet,
};
use nix::time::{ClockId, clock_gettime};
use stranger::stranger;

/// The server's address and port, and the client's.
const SERVER: (u32, u16) = (1, 7);
const CLIENT: (u32, u16) = (2, 1000);
const MESSAGE_BYTES: usize = 1000;
/// Messages between two looks at the flood and at the clock.
const BATCH: usize = 16;
/// Batches whose flood is made up at once, while no time is counted.
const BLOCK: usize = 128;
/// Times that every case is measured, in turn, so that all see the same of a machine
/// whose speed drifts; the median counts.
const ROUNDS: usize = 11;

/// Time that this thread has spent on the processor.
fn processor() -> Time {
    let now = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Linux has this clock");
    Time::from_nanos(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

fn put(datagram: &Datagram<Packet>) -> Bytes {
    let mut bytes = Vec::with_capacity(datagram.body.size_bytes() as usize);
    datagram.body.encode(&mut bytes);
    bytes.into()
}

fn take(source: Address, destination: Address, bytes: &Bytes) -> Datagram<Packet> {
    Datagram {
        source,
        destination,
        size_bytes: bytes.len() as u32 + 20,
        body: Packet::decode(bytes).expect("the wire is faithful"),
    }
}

struct Service {
    /// The endpoints' time when the processor's was so late.
    began: (Time, Time),
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
    fn new(init_limit: Option<InitLimit>) -> Self {
        let config = Arc::new(Config {
            init_limit,
            ..Config::default()
        });
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
            began: (now, processor()),
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
        let (server, client) = (Address(SERVER.0), Address(CLIENT.0));
        loop {
            let mut quiet = true;
            while let Some(event) = self.server.poll_event() {
                if let EndpointEvent::Association(_, Event::Message(_)) = event {
                    self.delivered += 1;
                }
            }
            while self.client.poll_event().is_some() {}
            while let Some(datagram) = self.client.poll_transmit() {
                self.arrive(client, &put(&datagram));
                quiet = false;
            }
            while let Some(datagram) = self.server.poll_transmit() {
                let bytes = put(&datagram);
                if datagram.destination == client {
                    let datagram = take(server, client, &bytes);
                    self.client.handle_input(self.now, datagram);
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

    /// A datagram is in the server's receive buffer. What is not wanted is not copied.
    fn arrive(&mut self, from: Address, datagram: &[u8]) {
        if self.server.admits(self.now, datagram) {
            let bytes = Bytes::copy_from_slice(datagram);
            let datagram = take(from, Address(SERVER.0), &bytes);
            self.server.handle_input(self.now, datagram);
        }
    }

    fn talk(&mut self) {
        for _ in 0..BATCH {
            let message = Message {
                payload: Payload::Bytes(self.content.clone()),
                ..Message::default()
            };
            let now = self.now;
            let sent = self.client.with(now, self.call, |a| a.send(now, message));
            sent.expect("the association lives").expect("room");
            self.handed_over += 1;
        }
        self.exchange();
    }

    /// Goes on as so much time has passed.
    fn look_at_the_clock(&mut self) {
        let (began, processor_then) = self.began;
        self.now = began + processor().since(processor_then);
        for end in [&mut self.client, &mut self.server] {
            end.handle_timeout(self.now);
        }
    }
}

/// INITs of nobody, one behind the other.
#[derive(Default)]
struct Flood {
    sources: Vec<Address>,
    datagrams: Vec<u8>,
}

impl Flood {
    const INIT_BYTES: usize = 32;

    fn make_up(&mut self, random: &mut RandomStream, count: usize) {
        self.sources.clear();
        self.datagrams.clear();
        for _ in 0..count {
            let init = stranger(random, Address(SERVER.0), SERVER.1);
            self.sources.push(init.source);
            init.body.encode(&mut self.datagrams);
        }
    }

    fn part(&self, from: usize, count: usize) -> impl Iterator<Item = (Address, &[u8])> {
        let bytes = &self.datagrams[from * Self::INIT_BYTES..][..count * Self::INIT_BYTES];
        let sources = &self.sources[from..][..count];
        sources
            .iter()
            .copied()
            .zip(bytes.chunks_exact(Self::INIT_BYTES))
    }
}

/// A service under a flood of its own.
struct Case {
    limited: bool,
    /// INITs per message, as text, and for each batch of messages.
    share: &'static str,
    per_batch: usize,
    service: Service,
    random: RandomStream,
    flood: Flood,
    /// Of each round, in seconds for each message.
    costs: Vec<f64>,
    inits: u64,
    spent_s: f64,
}

impl Case {
    fn new(limited: bool, (share, per_batch): (&'static str, usize)) -> Self {
        let mut service = Service::new(limited.then(InitLimit::default));
        for _ in 0..1_000 {
            service.talk();
        }
        Self {
            limited,
            share,
            per_batch,
            service,
            random: Seed::new(7).stream("flood"),
            flood: Flood::default(),
            costs: Vec::new(),
            inits: 0,
            spent_s: 0.0,
        }
    }

    fn run(&mut self, blocks: usize) {
        let mut spent = Duration::ZERO;
        for _ in 0..blocks {
            // Making the flood up is no work of the server.
            self.flood.make_up(&mut self.random, BLOCK * self.per_batch);
            let service = &mut self.service;
            let begin = processor();
            // Its time stood still meanwhile.
            service.began = (service.now, begin);
            for batch in 0..BLOCK {
                service.look_at_the_clock();
                for (from, init) in self.flood.part(batch * self.per_batch, self.per_batch) {
                    service.arrive(from, init);
                }
                service.talk();
            }
            service.look_at_the_clock();
            spent = Duration::from_nanos(spent.as_nanos() + processor().since(begin).as_nanos());
            self.inits += (BLOCK * self.per_batch) as u64;
        }
        let messages = (blocks * BLOCK * BATCH) as f64;
        self.costs.push(spent.as_secs_f64() / messages);
        self.spent_s += spent.as_secs_f64();
    }

    /// Throughput as a part of that without a flood: the median of all rounds.
    fn kept(&self, quiet: &Self) -> f64 {
        median(quiet.costs.iter().zip(&self.costs).map(|(q, c)| q / c))
    }

    /// Nothing is lost, nothing is left behind, and nobody is forgotten.
    fn check(&self) {
        let service = &self.service;
        let stats = service.server.stats();
        assert_eq!(service.delivered, service.handed_over, "messages are lost");
        assert_eq!(stats.inits_answered, service.answers + 1);
        assert_eq!(service.answers + stats.inits_over_limit, self.inits);
        assert_eq!(service.server.association_count(), 1, "state is left");
        let state = service.client.association(service.call).map(|a| a.state());
        assert_eq!(state, Some(AssociationState::Established));
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> ExitCode {
    let mut inits: usize = 1_000_000;
    let mut json = false;
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--json" => json = true,
            number => inits = number.parse().expect("a number of INITs"),
        }
    }
    let blocks = inits.div_ceil(ROUNDS * BLOCK * BATCH).max(1);
    let shares = [
        ("1/2", BATCH / 2),
        ("1", BATCH),
        ("2", 2 * BATCH),
        ("10", 10 * BATCH),
    ];
    let mut quiet = Case::new(true, ("0", 0));
    let mut cases: Vec<Case> = [true, false]
        .into_iter()
        .flat_map(|limited| shares.map(|share| Case::new(limited, share)))
        .collect();
    for _ in 0..ROUNDS {
        quiet.run(blocks);
        for case in &mut cases {
            case.run(blocks);
        }
    }
    let mut holds = true;
    for case in &cases {
        case.check();
        holds &= !case.limited || case.kept(&quiet) > 0.5;
    }
    if json {
        let rows: Vec<String> = cases.iter().map(|case| as_json(case, &quiet)).collect();
        println!("[{}]", rows.join(",\n "));
    } else {
        table(&cases, &quiet, holds);
    }
    ExitCode::from(u8::from(!holds))
}

fn as_json(case: &Case, quiet: &Case) -> String {
    let Case { limited, share, .. } = case;
    let (inits, kept) = (case.inits, case.kept(quiet));
    format!(
        r#"{{"limited":{limited},"inits_per_message":"{share}","inits":{inits},"kept":{kept}}}"#
    )
}

fn table(cases: &[Case], quiet: &Case, holds: bool) {
    let messages = quiet.service.delivered;
    let rate = 1.0 / median(quiet.costs.iter().copied());
    println!("{messages} messages in each case, {rate:.0} for each second of CPU without a flood");
    println!("limit  INITs per message     INITs  INITs per CPU s  answered  throughput kept");
    for case in cases {
        println!(
            "{:>5}  {:>17}  {:>8}  {:>15.0}  {:>8}  {:>13.0} %",
            if case.limited { "yes" } else { "no" },
            case.share,
            case.inits,
            case.inits as f64 / case.spent_s,
            case.service.answers,
            100.0 * case.kept(quiet),
        );
    }
    let verdict = if holds { "holds" } else { "does not hold" };
    println!("more than half of the throughput is kept with the limit: {verdict}");
}
