//! One association under test and a peer made by hand.
#![allow(
    unreachable_pub,
    reason = "the scenarios are modules of one test program"
)]

use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Duration, Payload, Time};
use headway_sctp::{
    Association, AssociationState, Chunk, Config, DataChunk, Event, GapBlock, Host, Init, Message,
    Packet, Parameter, Sack, Ssn, Trace, Tsn,
};

use crate::common::{names, seed};

/// Ports of the association and of the peer.
pub const PORTS: (u16, u16) = (1000, 2000);
/// The peer's tag.
pub const TAG: u32 = 0xbeef;
/// The peer's first TSN.
pub const TSN: Tsn = Tsn(5_000);
/// The first TSN of the association under test.
pub const OWN: Tsn = Tsn(100);

/// What the association sent: when, and what.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: Time,
    pub packet: Packet,
}

pub struct Rig {
    pub now: Time,
    pub end: Association,
    /// Everything sent since the last look.
    pub sent: Vec<Sent>,
    pub events: Vec<Event>,
    /// The peer's addresses; the first is where it sends from.
    pub peer: Vec<Address>,
    pub local: Address,
    /// The association's tag, once it is known.
    pub tag: u32,
    /// Where events stay unread.
    pub deaf: bool,
}

pub fn config() -> Config {
    Config {
        initial_tsn: Some(OWN),
        ..Config::default()
    }
}

fn start() -> Time {
    Time::ZERO + Duration::from_secs(1)
}

impl Rig {
    fn around(end: Association, local: Address, peer: Vec<Address>) -> Self {
        let mut rig = Self {
            now: start(),
            end,
            sent: Vec::new(),
            events: Vec::new(),
            peer,
            local,
            tag: 0,
            deaf: false,
        };
        rig.drain();
        rig
    }

    /// The association has just sent INIT.
    pub fn connecting(config: Config) -> Self {
        Self::connecting_to(config, &[1], &[10])
    }

    /// The same from and to several addresses.
    pub fn connecting_to(config: Config, local: &[u32], remote: &[u32]) -> Self {
        let local: Vec<Address> = local.iter().map(|&n| Address(n)).collect();
        let remote: Vec<Address> = remote.iter().map(|&n| Address(n)).collect();
        let host = Arc::new(Host::new(local.clone()));
        let random = seed().stream("rig");
        let end =
            Association::connect_paths(start(), Arc::new(config), host, random, PORTS, &remote);
        let mut rig = Self::around(end, local[0], remote);
        let Chunk::Init(init) = &rig.sent[0].packet.chunks[0] else {
            panic!("{:?}", rig.sent)
        };
        rig.tag = init.initiate_tag;
        rig
    }

    /// The association listens.
    pub fn listening(config: Config) -> Self {
        let host = Arc::new(Host::new(vec![Address(1)]));
        let random = seed().stream("rig");
        let end = Association::listen_on(Arc::new(config), host, random, PORTS.0);
        Self::around(end, Address(1), vec![Address(10)])
    }

    /// COOKIE ECHO has just been sent.
    pub fn cookie_echoed(config: Config) -> Self {
        let mut rig = Self::connecting(config);
        rig.sent.clear();
        rig.deliver(rig.init_ack());
        assert_eq!(rig.end.state(), AssociationState::CookieEchoed);
        rig
    }

    /// The handshake is done.
    pub fn established(config: Config) -> Self {
        Self::established_with(config, &[1], &[10])
    }

    /// The same with several addresses, all confirmed.
    pub fn established_with(config: Config, local: &[u32], remote: &[u32]) -> Self {
        let mut rig = Self::connecting_to(config, local, remote);
        rig.sent.clear();
        let addresses = remote.iter().map(|&n| address(n)).collect();
        let mut ack = rig.peer_init();
        ack.parameters.extend::<Vec<Parameter>>(addresses);
        ack.parameters.push(cookie());
        rig.deliver(Chunk::InitAck(Box::new(ack)));
        rig.deliver(Chunk::CookieAck);
        assert_eq!(rig.end.state(), AssociationState::Established);
        rig.forget();
        rig
    }

    /// What the peer says of itself.
    pub fn peer_init(&self) -> Init {
        Init {
            initiate_tag: TAG,
            a_rwnd: 100_000,
            outbound_streams: 10,
            inbound_streams: 10,
            initial_tsn: TSN,
            parameters: Vec::new(),
        }
    }

    pub fn init(&self) -> Chunk {
        Chunk::Init(Box::new(self.peer_init()))
    }

    pub fn init_ack(&self) -> Chunk {
        let mut init = self.peer_init();
        init.parameters.push(cookie());
        Chunk::InitAck(Box::new(init))
    }

    /// INIT ACK that lists all addresses of the peer.
    pub fn init_ack_with_addresses(&self) -> Chunk {
        let mut init = self.peer_init();
        init.parameters
            .extend(self.peer.iter().map(|a| address(a.0)));
        init.parameters.push(cookie());
        Chunk::InitAck(Box::new(init))
    }

    /// Takes out what the association has to say.
    pub fn drain(&mut self) {
        if !self.deaf {
            while let Some(event) = self.end.poll_event() {
                self.events.push(event);
            }
        }
        while let Some(datagram) = self.end.poll_datagram(self.now) {
            let mut wire = Vec::new();
            datagram.body.encode(&mut wire);
            assert_eq!(wire.len() as u32, datagram.body.size_bytes());
            assert!(Packet::decode(&Bytes::from(wire)).is_ok());
            self.sent.push(Sent {
                at: self.now,
                packet: datagram.body,
            });
        }
        self.end.check_books().unwrap();
    }

    pub fn forget(&mut self) {
        self.sent.clear();
        self.events.clear();
    }

    /// A packet of the peer with this tag.
    pub fn packet(&self, tag: u32, chunks: Vec<Chunk>) -> Packet {
        Packet {
            source_port: PORTS.1,
            destination_port: PORTS.0,
            verification_tag: tag,
            chunks: chunks.into(),
        }
    }

    /// Lets a packet arrive from one of the peer's addresses.
    pub fn arrive_from(&mut self, from: u32, packet: Packet) {
        let datagram = Datagram {
            source: Address(from),
            destination: self.local,
            size_bytes: packet.size_bytes() + 20,
            body: packet,
        };
        self.end.handle_datagram(self.now, datagram);
        self.drain();
    }

    pub fn arrive(&mut self, packet: Packet) {
        self.arrive_from(self.peer[0].0, packet);
    }

    /// Lets a chunk arrive that belongs to the association.
    pub fn deliver(&mut self, chunk: Chunk) {
        self.deliver_all(vec![chunk]);
    }

    pub fn deliver_all(&mut self, chunks: Vec<Chunk>) {
        self.arrive(self.packet(self.tag, chunks));
    }

    /// Lets time pass.
    pub fn wait(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        while let Some(due) = self.end.poll_timeout().filter(|&due| due <= end) {
            self.now = self.now.max(due);
            self.end.handle_timeout(self.now);
            assert!(self.end.poll_timeout().is_none_or(|next| next > self.now));
            self.drain();
        }
        self.now = end;
    }

    /// Hands a message over.
    pub fn send(&mut self, bytes: u32) {
        self.send_on(0, bytes);
    }

    pub fn send_on(&mut self, stream: u16, bytes: u32) {
        let message = Message {
            stream,
            ppid: 0,
            unordered: false,
            payload: Payload::Sized(bytes),
            ..Message::default()
        };
        self.end.send(self.now, message).unwrap();
        self.drain();
    }

    pub fn shutdown(&mut self) {
        self.end.shutdown(self.now);
        self.drain();
    }

    /// The peer acknowledges `n` chunks of the association, from the first on.
    pub fn ack(&mut self, n: u32) {
        self.deliver(sack(n, &[]));
    }

    /// Names of the packets sent since the last look.
    pub fn story(&self) -> Vec<String> {
        self.sent.iter().map(|sent| names(&sent.packet)).collect()
    }

    /// The same, and then all is forgotten.
    pub fn take_story(&mut self) -> Vec<String> {
        let story = self.story();
        self.sent.clear();
        story
    }

    /// The chunks sent since the last look.
    pub fn chunks(&self) -> Vec<Chunk> {
        let chunks = |sent: &Sent| sent.packet.chunks.to_vec();
        self.sent.iter().flat_map(chunks).collect()
    }

    /// The DATA sent since the last look, as distances from the first TSN.
    pub fn tsns(&self) -> Vec<u32> {
        let tsn = |chunk: Chunk| match chunk {
            Chunk::Data(data) => Some(data.tsn.distance_from(OWN)),
            _ => None,
        };
        self.chunks().into_iter().filter_map(tsn).collect()
    }

    pub fn take_tsns(&mut self) -> Vec<u32> {
        let tsns = self.tsns();
        self.sent.clear();
        tsns
    }

    /// The SACKs sent since the last look.
    pub fn sacks(&self) -> Vec<Sack> {
        let sack = |chunk: Chunk| match chunk {
            Chunk::Sack(sack) => Some(sack),
            _ => None,
        };
        self.chunks().into_iter().filter_map(sack).collect()
    }

    /// Codes of the causes in ABORT and ERROR sent since the last look.
    pub fn causes(&self) -> Vec<u16> {
        let causes = |chunk: Chunk| match chunk {
            Chunk::Abort { causes, .. } | Chunk::Error(causes) => causes,
            _ => vec![],
        };
        let all = self.chunks().into_iter().flat_map(causes);
        all.map(|cause| cause.code).collect()
    }

    pub fn heard(&self, event: &Event) -> bool {
        self.events.contains(event)
    }

    /// Lengths of the messages delivered.
    pub fn lengths(&self) -> Vec<usize> {
        let length = |event: &Event| match event {
            Event::Message(message) => Some(message.payload.len()),
            _ => None,
        };
        self.events.iter().filter_map(length).collect()
    }
}

pub fn address(n: u32) -> Parameter {
    Parameter {
        kind: 5,
        value: n.to_be_bytes().to_vec().into(),
    }
}

pub fn cookie() -> Parameter {
    Parameter {
        kind: 7,
        value: Bytes::from_static(b"the peer's cookie"),
    }
}

/// The peer's `n`-th DATA chunk, from zero: a whole message of 100 bytes on stream 0.
pub fn data(n: u32) -> DataChunk {
    DataChunk {
        tsn: TSN.plus(n),
        stream: 0,
        ssn: Ssn(n as u16),
        ppid: 0,
        unordered: false,
        begin: true,
        end: true,
        immediate: false,
        interleaving: None,
        payload: Payload::Sized(100),
        trace: Trace::default(),
    }
}

/// The peer acknowledges `n` chunks from the first on, and more beyond a gap.
pub fn sack(n: u32, gaps: &[(u16, u16)]) -> Chunk {
    Chunk::Sack(sack_of(n, gaps, 100_000))
}

pub fn sack_of(n: u32, gaps: &[(u16, u16)], a_rwnd: u32) -> Sack {
    Sack {
        cumulative_tsn: OWN.plus(n).previous(),
        a_rwnd,
        gaps: gaps
            .iter()
            .map(|&(start, end)| GapBlock { start, end })
            .collect(),
        duplicates: Default::default(),
    }
}

pub fn shutdown(n: u32) -> Chunk {
    Chunk::Shutdown {
        cumulative_tsn: OWN.plus(n).previous(),
    }
}
