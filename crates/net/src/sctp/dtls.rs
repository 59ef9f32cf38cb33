//! SCTP in DTLS (RFC 8261), over UDP: each SCTP packet is one record of
//! application data.
//!
//! The side that sends first to an address is the client there. Nothing goes up or
//! down before the peer has shown a good certificate.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use dimpl::crypto::rust_crypto::default_provider;
use dimpl::{Config, Dtls, DtlsCertificate, Output};
use headway_sansio::{Duration, Time};

use super::carrier::{Arrival, Carrier, Udp, Wanted};
use super::trust::{DtlsConfig, PeerRole, Trust};
use crate::{Timeouts, UdpCounters};

/// What DTLS 1.2 adds to a packet: record header, explicit nonce and tag of
/// AES-GCM (RFC 6347, section 4.1; RFC 5288, section 3). DTLS 1.3 adds less.
const RECORD_BYTES: u32 = 13 + 8 + 16;

/// The number of SCTP over DTLS among the methods that find errors in packets
/// without a checksum (RFC 9653, section 6).
const SCTP_OVER_DTLS: u32 = 1;

/// The longest UDP payload on a path of 1500 bytes.
const LONGEST: usize = 1472;

/// Handshakes under way with peers that have shown no certificate; the oldest gives
/// way to the next.
const MOST_STRANGERS: usize = 1024;

/// Packets that wait for the end of a handshake. SCTP sends what is lost again.
const MOST_WAITING: usize = 16;

/// After so long without a packet a session is closed: ten times the default time
/// between heartbeats and more than it takes to give a path up.
const IDLE: Duration = Duration::from_secs(600);

/// A session in which nothing came for so long is of no use to send on: the peer may
/// have forgotten it. Three times the default time between heartbeats.
const SILENCE: Duration = Duration::from_secs(90);

/// One session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Key {
    /// To which local address the peer talks.
    local: usize,
    peer: SocketAddr,
    /// The peer begins anew: this session takes the place of the one that it has,
    /// once it has proved itself (RFC 6347, section 4.2.8).
    next: bool,
}

struct Session {
    dtls: Dtls,
    role: PeerRole,
    /// The peer's certificate is good.
    trusted: bool,
    connected: bool,
    waiting: VecDeque<Bytes>,
    last_packet: Time,
    last_heard: Time,
    /// When it wants to be woken.
    due: Option<Time>,
}

/// DTLS over UDP, with all peers of an endpoint.
pub(super) struct DtlsOverUdp {
    udp: Udp,
    config: Arc<Config>,
    certificate: DtlsCertificate,
    trust: Trust,
    /// Packets need no checksum of their own.
    zero_checksum: bool,
    sessions: HashMap<Key, Session>,
    /// Sessions without a good certificate, the oldest first. Some are over.
    strangers: VecDeque<Key>,
    timeouts: Timeouts<Key>,
    /// The machine's zero as the library counts time.
    zero: Instant,
    scratch: Vec<u8>,
    arrivals: Vec<Arrival>,
    refused: u64,
}

impl DtlsOverUdp {
    pub(super) fn bind(local: &[SocketAddr], config: &DtlsConfig, now: Time) -> io::Result<Self> {
        let library = Config::builder()
            .mtu(LONGEST)
            .require_client_certificate(true)
            .with_crypto_provider(default_provider())
            .build()
            .map_err(io::Error::other)?;
        Ok(Self {
            udp: Udp::bind(local)?,
            config: Arc::new(library),
            certificate: DtlsCertificate {
                certificate: config.certificate.clone(),
                private_key: config.key.clone(),
            },
            trust: config.trust.clone(),
            zero_checksum: config.zero_checksum,
            sessions: HashMap::new(),
            strangers: VecDeque::new(),
            timeouts: Timeouts::default(),
            zero: Instant::now() - std::time::Duration::from_nanos(now.as_nanos()),
            scratch: vec![0; 2048],
            arrivals: Vec::new(),
            refused: 0,
        })
    }

    fn instant(&self, now: Time) -> Instant {
        self.zero + std::time::Duration::from_nanos(now.as_nanos())
    }

    fn open(&mut self, now: Time, key: Key, role: PeerRole) {
        while self.strangers.len() >= MOST_STRANGERS {
            let Some(oldest) = self.strangers.pop_front() else {
                break;
            };
            if self.sessions.get(&oldest).is_some_and(|s| !s.trusted) {
                self.sessions.remove(&oldest);
            }
        }
        let certificate = self.certificate.clone();
        let mut dtls = Dtls::new_auto(Arc::clone(&self.config), certificate, self.instant(now));
        dtls.set_active(role == PeerRole::Server);
        self.strangers.push_back(key);
        let session = Session {
            dtls,
            role,
            trusted: false,
            connected: false,
            waiting: VecDeque::new(),
            last_packet: now,
            last_heard: now,
            due: None,
        };
        self.sessions.insert(key, session);
    }

    /// Does something with a session and drains it. One that fails is over.
    fn with(
        &mut self,
        now: Time,
        key: Key,
        deed: impl FnOnce(&mut Session) -> Result<(), dimpl::Error>,
        into: &mut Vec<Arrival>,
    ) {
        let instant = self.instant(now);
        let Some(session) = self.sessions.get_mut(&key) else {
            return;
        };
        let result = session.dtls.handle_timeout(instant);
        let lives = result.and_then(|()| deed(session)).is_ok() && self.drain(now, key, into);
        if !lives {
            self.sessions.remove(&key);
        } else if key.next {
            self.promote(key);
        }
    }

    /// Puts a session that has proved itself into the place of the former one.
    fn promote(&mut self, key: Key) {
        if self.sessions.get(&key).is_some_and(|s| s.connected)
            && let Some(session) = self.sessions.remove(&key)
        {
            let place = Key { next: false, ..key };
            self.timeouts.moved(place, None, session.due);
            self.sessions.insert(place, session);
        }
    }

    /// Takes everything out of a session. Says whether it lives on.
    fn drain(&mut self, now: Time, key: Key, into: &mut Vec<Arrival>) -> bool {
        let Self {
            sessions,
            udp,
            scratch,
            trust,
            refused,
            timeouts,
            zero,
            ..
        } = self;
        let Some(session) = sessions.get_mut(&key) else {
            return false;
        };
        let Key { local, peer, .. } = key;
        loop {
            match session.dtls.poll_output(scratch) {
                Output::Packet(packet) => {
                    udp.send(now, local, peer, Bytes::copy_from_slice(packet));
                }
                Output::BufferTooSmall { needed } => scratch.resize(needed, 0),
                Output::PeerCert(certificate) => {
                    if !trust.accepts(session.role, certificate) {
                        *refused += 1;
                        return false;
                    }
                    session.trusted = true;
                }
                Output::Connected => {
                    if !session.trusted {
                        return false;
                    }
                    session.connected = true;
                    for packet in session.waiting.drain(..) {
                        if session.dtls.send_application_data(&packet).is_err() {
                            return false;
                        }
                    }
                }
                Output::ApplicationData(data) if session.trusted && session.connected => {
                    session.last_packet = now;
                    session.last_heard = now;
                    into.push(Arrival {
                        local,
                        from: peer,
                        packet: Bytes::copy_from_slice(data),
                    });
                }
                Output::CloseNotify => return false,
                Output::Timeout(at) => {
                    let nanos = at.saturating_duration_since(*zero).as_nanos();
                    let at = Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
                    let due = Some(at.min(session.last_packet + IDLE));
                    timeouts.moved(key, session.due, due);
                    session.due = due;
                    return true;
                }
                _ => {}
            }
        }
    }

    /// A session's time has come: something is to be sent again, or nobody uses it.
    fn expire(&mut self, now: Time, key: Key, into: &mut Vec<Arrival>) {
        let Some(session) = self.sessions.get_mut(&key) else {
            return;
        };
        session.due = None;
        if session.last_packet + IDLE > now {
            self.with(now, key, |_| Ok(()), into);
            return;
        }
        self.with(now, key, |session| session.dtls.close(), into);
        self.sessions.remove(&key);
    }
}

/// Whether a datagram may begin a handshake: a record of the kind handshake, in the
/// clear, with a ClientHello (RFC 6347, sections 4.1 and 4.3.2).
fn is_client_hello(datagram: &[u8]) -> bool {
    datagram.first() == Some(&22)
        && datagram.get(3..5) == Some(&[0, 0])
        && datagram.get(13) == Some(&1)
}

impl Carrier for DtlsOverUdp {
    fn local(&self) -> Vec<SocketAddr> {
        self.udp.local()
    }

    fn header_bytes(&self) -> u32 {
        self.udp.header_bytes() + RECORD_BYTES
    }

    /// Every record is authenticated, and no box on the way sees the checksum.
    fn error_detection(&self) -> Option<u32> {
        self.zero_checksum.then_some(SCTP_OVER_DTLS)
    }

    fn talks_both_versions(&self) -> bool {
        self.udp.talks_both_versions()
    }

    fn descriptors(&self) -> io::Result<Vec<OwnedFd>> {
        self.udp.descriptors()
    }

    fn receive(
        &mut self,
        now: Time,
        local: usize,
        into: &mut Vec<Arrival>,
        _wanted: Wanted<'_>,
    ) -> io::Result<bool> {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let more = self.udp.receive(now, local, &mut arrivals, &mut |_| true);
        for arrival in arrivals.drain(..) {
            let key = Key {
                local,
                peer: arrival.from,
                next: false,
            };
            let next = Key { next: true, ..key };
            if is_client_hello(&arrival.packet) {
                let stranger = match self.sessions.get(&key) {
                    None => Some(key),
                    Some(session) if session.connected => Some(next),
                    Some(_) => None,
                };
                if let Some(key) = stranger.filter(|key| !self.sessions.contains_key(key)) {
                    self.open(now, key, PeerRole::Client);
                }
            }
            // Each finds out by itself what is not for it, and drops that.
            for key in [next, key] {
                let deed = |session: &mut Session| session.dtls.handle_packet(&arrival.packet);
                self.with(now, key, deed, into);
            }
        }
        self.arrivals = arrivals;
        more
    }

    fn send(&mut self, now: Time, local: usize, to: SocketAddr, packet: Bytes) {
        let key = Key {
            local,
            peer: to,
            next: false,
        };
        let session = self.sessions.get(&key);
        let usable = |s: &Session| !s.connected || now.since(s.last_heard) < SILENCE;
        if !session.is_some_and(usable) {
            self.open(now, key, PeerRole::Server);
        }
        let deed = |session: &mut Session| {
            if session.connected {
                session.last_packet = now;
                return session.dtls.send_application_data(&packet).map(|_| ());
            }
            if session.waiting.len() < MOST_WAITING {
                session.waiting.push_back(packet);
            }
            Ok(())
        };
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.with(now, key, deed, &mut arrivals);
        // Sending brings nothing in.
        arrivals.clear();
        self.arrivals = arrivals;
    }

    fn flush(&mut self) -> io::Result<()> {
        self.udp.flush()
    }

    fn is_blocked(&self, local: usize) -> bool {
        self.udp.is_blocked(local)
    }

    fn counters(&self) -> UdpCounters {
        self.udp.counters()
    }

    fn refused(&self) -> u64 {
        self.refused
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        let sessions = &self.sessions;
        self.timeouts
            .next(|key| sessions.get(&key).and_then(|session| session.due))
    }

    fn handle_timeout(&mut self, now: Time, into: &mut Vec<Arrival>) {
        loop {
            let sessions = &self.sessions;
            let due = |key| sessions.get(&key).and_then(|session| session.due);
            let Some(key) = self.timeouts.pop(now, due) else {
                return;
            };
            self.expire(now, key, into);
        }
    }
}
