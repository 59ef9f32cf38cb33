//! Packets without a checksum (RFC 9653): in DTLS where both sides want it, and nowhere
//! else.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use dimpl::crypto::rust_crypto::default_provider;
use dimpl::{Dtls, DtlsCertificate, Output};
use headway_net::sctp::{Config, Endpoint, EndpointConfig, NetworkStats, Peer};
use headway_sansio::{Address, Datagram, Payload, Time};
use headway_sctp::{AssociationId, Chunk, EndpointEvent, Event, Host, Message, Packet, ParseError};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::common::{PORT, Way, echo, fast, loopback, ping, soon};
use super::dtls::{Papers, endpoint};

/// Zero Checksum Acceptable (RFC 9653, section 4), and its value for SCTP over DTLS.
const PARAMETER: u16 = 0x8001;
const OVER_DTLS: u32 = 1;

/// Whether an INIT or INIT ACK offers to take packets without a checksum.
fn offers(packet: &Packet) -> bool {
    packet.chunks.iter().any(|chunk| match chunk {
        Chunk::Init(init) | Chunk::InitAck(init) => {
            let mut parameters = init.parameters.iter();
            parameters.any(|p| p.kind == PARAMETER && p.value[..] == OVER_DTLS.to_be_bytes())
        }
        _ => false,
    })
}

fn papers(name: &str) -> Papers {
    let papers = Papers::new(name);
    papers.issue("server", true, false);
    papers.issue("client", true, false);
    papers
}

/// An association over DTLS from its first packet to its last: what each end counted.
async fn talk(server: Endpoint, client: Endpoint) -> [NetworkStats; 2] {
    let target = Peer::new(server.local_addrs()[0], PORT);
    let server = Arc::new(server);
    let far = Arc::clone(&server);
    tokio::spawn(async move {
        let association = far.accept().await.unwrap();
        while let Ok(Some(message)) = association.recv().await {
            association.send(message.into()).await.unwrap();
        }
        let _ = association.ended().await;
    });
    let association = soon(client.connect(target)).await.unwrap();
    for _ in 0..20 {
        ping(&association, b"in confidence").await;
    }
    soon(association.shutdown()).await.unwrap();
    soon(server.idle()).await;
    soon(client.idle()).await;
    [server.network_stats(), client.network_stats()]
}

#[tokio::test]
async fn both_sides_leave_it_out_in_dtls() {
    let papers = papers("zero-both");
    let server = endpoint(papers.by_authority("server"), true);
    let client = endpoint(papers.by_authority("client"), false);
    let [server, client] = talk(server, client).await;
    for (this, other) in [(server, client), (client, server)] {
        assert!(this.zero_checksums_sent >= 20, "{this:?}");
        assert_eq!(this.zero_checksums_sent, other.zero_checksums_received);
        assert_eq!(this.malformed, 0);
    }
}

#[tokio::test]
async fn neither_does_where_one_does_not_want_it() {
    let papers = papers("zero-one");
    for server_wants in [false, true] {
        let choose = |name: &str, wants: bool| {
            let dtls = papers.by_authority(name);
            if wants { dtls } else { dtls.with_checksums() }
        };
        let server = endpoint(choose("server", server_wants), true);
        let client = endpoint(choose("client", !server_wants), false);
        for end in talk(server, client).await {
            assert!(end.datagrams.sent >= 20);
            let zeros = (end.zero_checksums_sent, end.zero_checksums_received);
            assert_eq!((zeros, end.malformed), ((0, 0), 0));
        }
    }
}

/// Whatever the user's settings say.
#[tokio::test]
async fn it_is_not_offered_over_udp() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let config = Config {
        zero_checksum_method: Some(OVER_DTLS),
        ..fast()
    };
    let ends = EndpointConfig::udp(loopback()).sctp(config);
    let server = Endpoint::bind(ends.clone().listen(PORT)).unwrap();
    let way = Way::to(server.local_addrs()[0], |_, bytes| {
        let packet = Packet::decode(&Bytes::from(bytes.clone())).unwrap();
        assert!(!offers(&packet), "{packet:?}");
        SEEN.fetch_add(1, Ordering::Relaxed);
        bytes
    });
    echo(server);
    let client = Endpoint::bind(ends).unwrap();
    let target = Peer::new(way.inside, PORT);
    let association = soon(client.connect(target)).await.unwrap();
    for _ in 0..20 {
        ping(&association, b"in the open").await;
    }
    soon(association.shutdown()).await.unwrap();
    assert!(SEEN.load(Ordering::Relaxed) > 40);
    assert_eq!(client.network_stats().zero_checksums_sent, 0);
}

/// A peer in DTLS that puts into its records what a test says, and sees what is in
/// those that come.
struct Insider {
    socket: UdpSocket,
    dtls: Dtls,
    connected: bool,
    start: Instant,
    machine: headway_sctp::Endpoint,
    call: Option<AssociationId>,
    /// Turns a packet into bytes; the flag says that it may go without a checksum.
    write: fn(&mut Self, &Packet, bool) -> Vec<u8>,
    spoilt: usize,
    heard: Vec<Bytes>,
    echoes: usize,
}

/// This side and the server, as the machine numbers them.
const HERE: Address = Address(1);
const THERE: Address = Address(2);

impl Insider {
    fn new(
        papers: &Papers,
        server: &Endpoint,
        method: Option<u32>,
        write: fn(&mut Self, &Packet, bool) -> Vec<u8>,
    ) -> Self {
        let socket = UdpSocket::bind(loopback()).unwrap();
        socket.connect(server.local_addrs()[0]).unwrap();
        let wait = Some(Duration::from_millis(5));
        socket.set_read_timeout(wait).unwrap();
        let key = PrivateKeyDer::from_pem_file(papers.path("client.key")).unwrap();
        let certificate = CertificateDer::from_pem_file(papers.path("client.pem")).unwrap();
        let certificate = DtlsCertificate {
            certificate: certificate.to_vec(),
            private_key: key.secret_der().to_vec(),
        };
        let library = dimpl::Config::builder()
            .with_crypto_provider(default_provider())
            .build()
            .unwrap();
        let start = Instant::now();
        let mut dtls = Dtls::new_auto(Arc::new(library), certificate, start);
        dtls.set_active(true);
        let config = Config {
            zero_checksum_method: method,
            ..fast()
        };
        let host = Host::new(vec![HERE]);
        let machine = headway_sctp::Endpoint::new(Arc::new(config), Arc::new(host), [7; 32]);
        Self {
            socket,
            dtls,
            connected: false,
            start,
            machine,
            call: None,
            write,
            spoilt: 0,
            heard: Vec::new(),
            echoes: 0,
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    fn turn(&mut self) {
        let mut buffer = vec![0; 4096];
        if let Ok(length) = self.socket.recv(&mut buffer) {
            self.dtls.handle_packet(&buffer[..length]).unwrap();
        }
        self.dtls.handle_timeout(Instant::now()).unwrap();
        self.drain(&mut buffer);
        if !self.connected {
            return;
        }
        let now = self.now();
        if self.call.is_none() {
            let call = self.machine.connect(now, 5000, PORT, &[THERE]);
            self.call = Some(call.unwrap());
        }
        self.machine.handle_timeout(now);
        while let Some(event) = self.machine.poll_event() {
            if let EndpointEvent::Association(_, Event::Message(_)) = event {
                self.echoes += 1;
            }
        }
        while let Some(datagram) = self.machine.poll_transmit() {
            let omits = self.machine.omits_checksum(&datagram);
            let bytes = (self.write)(self, &datagram.body, omits);
            self.dtls.send_application_data(&bytes).unwrap();
        }
        self.drain(&mut buffer);
    }

    fn drain(&mut self, buffer: &mut [u8]) {
        let now = self.now();
        loop {
            match self.dtls.poll_output(buffer) {
                Output::Packet(packet) => {
                    self.socket.send(packet).unwrap();
                }
                Output::Connected => self.connected = true,
                Output::ApplicationData(data) => {
                    let bytes = Bytes::copy_from_slice(data);
                    let packet = Packet::decode_with_zero_checksum(&bytes).unwrap();
                    self.heard.push(bytes);
                    self.machine.handle_input(
                        now,
                        Datagram {
                            source: THERE,
                            destination: HERE,
                            size_bytes: packet.size_bytes(),
                            body: packet,
                        },
                    );
                }
                Output::Timeout(_) => return,
                _ => {}
            }
        }
    }

    /// Sends messages one by one and waits for their echoes.
    fn converse(&mut self, messages: usize) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut sent = 0;
        while self.echoes < messages {
            assert!(Instant::now() < deadline, "{} echoes", self.echoes);
            self.turn();
            if let Some(call) = self.call
                && sent == self.echoes
            {
                let message = Message {
                    payload: Payload::Bytes(Bytes::from_static(b"from inside")),
                    ..Message::default()
                };
                let now = self.now();
                let send = self.machine.with(now, call, |a| a.send(now, message));
                send.expect("the association lives").unwrap();
                sent += 1;
            }
        }
    }

    /// What came, read as one reads packets that must have a checksum.
    fn strict(&self) -> impl Iterator<Item = Result<Packet, ParseError>> + '_ {
        self.heard.iter().map(Packet::decode)
    }
}

fn honest(_: &mut Insider, packet: &Packet, omits: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    if omits {
        packet.encode_without_checksum(&mut bytes);
    } else {
        packet.encode(&mut bytes);
    }
    bytes
}

/// A server that sends everything back, and counts.
fn serve(papers: &Papers) -> Arc<Endpoint> {
    let server = Arc::new(endpoint(papers.by_authority("server"), true));
    let far = Arc::clone(&server);
    tokio::spawn(async move {
        let association = far.accept().await.unwrap();
        while let Ok(Some(message)) = association.recv().await {
            association.send(message.into()).await.unwrap();
        }
    });
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_is_in_the_records() {
    let papers = papers("zero-records");
    for method in [Some(OVER_DTLS), Some(OVER_DTLS + 1), None] {
        let server = serve(&papers);
        let mut peer = Insider::new(&papers, &server, method, honest);
        tokio::task::block_in_place(|| peer.converse(5));
        // INIT ACK has its checksum, and offers what the peer may use or not.
        let first = peer.strict().next().unwrap().unwrap();
        assert!(matches!(first.chunks[0], Chunk::InitAck(_)));
        assert!(offers(&first));
        for (bytes, read) in peer.heard.iter().zip(peer.strict()).skip(1) {
            match method {
                Some(OVER_DTLS) => assert_eq!(bytes[8..12], [0; 4]),
                _ => assert!(read.is_ok(), "{read:?}"),
            }
        }
        assert_eq!(server.network_stats().malformed, 0);
    }
}

/// The first INIT without a checksum, and the first DATA with a wrong one.
fn spoil(peer: &mut Insider, packet: &Packet, omits: bool) -> Vec<u8> {
    let mut bytes = honest(peer, packet, omits);
    match (&packet.chunks[0], peer.spoilt) {
        (Chunk::Init(_), 0) => bytes[8..12].fill(0),
        (Chunk::Data(_), 1) => bytes[8..12].fill(0xab),
        _ => return bytes,
    }
    peer.spoilt += 1;
    bytes
}

/// Both are dropped, and their retransmissions are taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_wrong_checksum_is_none_that_is_left_out() {
    let papers = papers("zero-wrong");
    let server = serve(&papers);
    let mut peer = Insider::new(&papers, &server, Some(OVER_DTLS), spoil);
    tokio::task::block_in_place(|| peer.converse(5));
    assert_eq!(peer.spoilt, 2);
    let counted = server.network_stats();
    assert_eq!(counted.malformed, 2, "{counted:?}");
    assert!(counted.zero_checksums_received >= 4, "{counted:?}");
    let call = peer.call.and_then(|call| peer.machine.association(call));
    assert!(call.unwrap().stats().timed_retransmissions >= 1);
}
