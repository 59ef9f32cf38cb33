//! Whose is this packet (RFC 9260, sections 5.1 to 5.2, 8.4 and 8.5)?

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Time};

use super::Endpoint;
use super::table::PeerKey;
use crate::association::report_stale;
use crate::cookie::Opened;
use crate::out_of_the_blue::answer_stranger;
use crate::path::Route;
use crate::welcome::{Caller, Identity, Welcome, refusal};
use crate::{Association, Cause, Chunk, Chunks, Packet};

/// The most answers to strangers that wait to be sent.
const MOST_ANSWERS: usize = 4096;

impl Endpoint {
    /// Whether a datagram that arrived at `now`, not decoded yet, is to be decoded and
    /// given to [`Self::handle_input`]. It is not where it begins with an INIT and more
    /// of them have come than [`Config::init_limit`](crate::Config::init_limit) lets in;
    /// then it is counted, and that was all it cost.
    ///
    /// A driver that does not ask has the same INITs let in, and decodes the others in
    /// vain.
    pub fn admits(&mut self, now: Time, datagram: &[u8]) -> bool {
        if !Packet::begins_with_init(datagram) || self.gate.expect(now) {
            return true;
        }
        self.stats.packets_received += 1;
        self.turn_away();
        false
    }

    /// An INIT is one too many.
    fn turn_away(&mut self) {
        self.stats.packets_discarded += 1;
        self.stats.inits_over_limit += 1;
    }

    /// Takes a packet that arrived at `now`.
    pub fn handle_input(&mut self, now: Time, mut datagram: Datagram<Packet>) {
        self.now = now;
        self.stats.packets_received += 1;
        let route = Route {
            local: datagram.destination,
            remote: datagram.source,
        };
        let packet = &mut datagram.body;
        match packet.chunks.first() {
            None => self.stats.packets_discarded += 1,
            Some(Chunk::Init(_)) if !self.gate.pass(now) => self.turn_away(),
            Some(Chunk::Init(_)) => self.take_init(now, route, packet),
            Some(Chunk::CookieEcho(_)) => self.take_cookie_echo(now, route, packet),
            Some(_) => match self.find(route, packet) {
                Some(slot) => self.deliver(now, slot, route, packet, None),
                None => self.take_stranger(route, packet),
            },
        }
    }

    fn key(packet: &Packet, remote: Address) -> PeerKey {
        PeerKey {
            local_port: packet.destination_port,
            remote_port: packet.source_port,
            remote,
        }
    }

    /// The association of a packet: that which gave itself the tag, or, where the
    /// tag may be the peer's own (section 8.5.1), that of the peer's address.
    fn find(&self, route: Route, packet: &Packet) -> Option<u32> {
        let ports = (packet.destination_port, packet.source_port);
        let fits = |slot: &u32| {
            self.table
                .slot(*slot)
                .is_some_and(|entry| entry.association.ports() == ports)
        };
        self.table
            .by_tag(packet.verification_tag)
            .filter(fits)
            .or_else(|| self.table.by_peer(Self::key(packet, route.remote)))
    }

    fn deliver(
        &mut self,
        now: Time,
        slot: u32,
        route: Route,
        packet: &mut Packet,
        opened: Option<Opened>,
    ) {
        let relays = matches!(
            packet.chunks.first(),
            Some(Chunk::CookieEcho(_) | Chunk::InitAck(_))
        );
        if let Some(entry) = self.table.slot_mut(slot) {
            entry
                .association
                .receive(now, route, packet, Some((&self.keys, opened)));
            if relays {
                self.table.register(slot);
            }
            self.mark(slot);
        }
    }

    fn take_init(&mut self, now: Time, route: Route, packet: &mut Packet) {
        let Some(Chunk::Init(init)) = packet.chunks.first() else {
            return;
        };
        // Section 8.5.1, rule A, and section 3.3.2.
        if packet.verification_tag != 0 || packet.chunks.len() != 1 || init.initiate_tag == 0 {
            self.stats.packets_discarded += 1;
            return;
        }
        let said = init.announcement(self.config.extensions());
        if let Some(slot) = self.owner_of_init(route, packet, &said.addresses) {
            self.deliver(now, slot, route, packet, None);
            return;
        }
        if !self.listening.contains(&packet.destination_port) {
            self.stats.inits_refused += 1;
            self.answer(route, answer_stranger(packet));
            return;
        }
        self.renew_key(now);
        let chunk = if self.table.len() >= self.most_associations {
            refusal(Cause::new(Cause::OUT_OF_RESOURCE))
        } else {
            let identity = Identity {
                tag: self.fresh_tag(),
                tsn: self.fresh_tsn(),
                tie_tags: (0, 0),
            };
            let welcome = Welcome {
                config: &self.config,
                host: &self.host,
                keys: &self.keys,
                local_port: packet.destination_port,
            };
            let caller = Caller {
                address: route.remote,
                port: packet.source_port,
            };
            welcome.answer(now, caller, init, said, identity)
        };
        match chunk {
            Chunk::InitAck(_) => self.stats.inits_answered += 1,
            _ => self.stats.inits_refused += 1,
        }
        let answer = Packet {
            source_port: packet.destination_port,
            destination_port: packet.source_port,
            verification_tag: init.initiate_tag,
            chunks: Chunks::from_iter([chunk]),
        };
        self.answer(route, Some(answer));
    }

    /// The association to which an INIT belongs because of any of its addresses
    /// (section 5.1.2, rule D).
    fn owner_of_init(&self, route: Route, packet: &Packet, listed: &[IpAddr]) -> Option<u32> {
        let owner = |remote| self.table.by_peer(Self::key(packet, remote));
        owner(route.remote).or_else(|| {
            listed
                .iter()
                .filter_map(|&ip| self.host.book.address(ip, route.remote))
                .find_map(owner)
        })
    }

    fn take_cookie_echo(&mut self, now: Time, route: Route, packet: &mut Packet) {
        let Some(Chunk::CookieEcho(sealed)) = packet.chunks.first() else {
            return;
        };
        let Some(mut opened) = self.open(now, packet, sealed) else {
            self.stats.cookies_refused += 1;
            return;
        };
        self.recognise(&mut opened, route.remote);
        let (Opened::Good(cookie) | Opened::Stale(cookie, _)) = &opened;
        // The cookie is genuine, so its addresses and its tags name the
        // association to which it belongs, if there is one.
        let owner = self
            .table
            .by_peer(Self::key(packet, route.remote))
            .or_else(|| self.table.by_peer(Self::key(packet, cookie.source)))
            .or_else(|| self.table.by_tag(cookie.local_tag))
            .or_else(|| self.table.by_tag(cookie.local_tie_tag));
        if let Some(slot) = owner {
            self.deliver(now, slot, route, packet, Some(opened));
            return;
        }
        // A cookie that was made for an association that is over, or whose
        // association is over, is of no use (section 5.2.4, action C).
        if cookie.local_tie_tag != 0 || self.retired.contains(cookie.local_tag) {
            self.stats.cookies_refused += 1;
            return;
        }
        if let Opened::Stale(cookie, late) = &opened {
            self.stats.cookies_stale += 1;
            let report = report_stale(cookie, *late);
            self.answer(route, Some(report));
            return;
        }
        if self.table.len() >= self.most_associations {
            self.stats.cookies_refused += 1;
            let refusal = Packet {
                source_port: packet.destination_port,
                destination_port: packet.source_port,
                verification_tag: cookie.peer_tag,
                chunks: Chunks::from_iter([refusal(Cause::new(Cause::OUT_OF_RESOURCE))]),
            };
            self.answer(route, Some(refusal));
            return;
        }
        self.stats.cookies_accepted += 1;
        let ports = (packet.destination_port, packet.source_port);
        let heard = Route {
            local: route.local,
            remote: cookie.source,
        };
        let birth = self.birth(ports, cookie.local_tag, vec![heard]);
        let association =
            Association::unborn(Arc::clone(&self.config), Arc::clone(&self.host), birth);
        let id = self.table.insert(association, true);
        self.deliver(now, id.slot, route, packet, Some(opened));
    }

    /// Where the number of the INIT's source has been forgotten, as in a flood of
    /// others, and the cookie comes back from the same IP address, its sender goes by
    /// its new number.
    fn recognise(&self, opened: &mut Opened, echoed_by: Address) {
        let (Opened::Good(cookie) | Opened::Stale(cookie, _)) = opened;
        let book = &self.host.book;
        if cookie.source != echoed_by
            && book.ip(cookie.source).is_none()
            && let Some(ip) = book.ip(echoed_by)
            && cookie.addresses.last() == Some(&ip)
        {
            cookie.source = echoed_by;
        }
    }

    /// Opens a cookie that this endpoint made for these ports and this tag
    /// (section 5.1.5, steps 1 to 3).
    fn open(&self, now: Time, packet: &Packet, sealed: &Bytes) -> Option<Opened> {
        let opened = self.keys.open(now, sealed)?;
        let (Opened::Good(cookie) | Opened::Stale(cookie, _)) = &opened;
        let fits = cookie.local_tag == packet.verification_tag
            && cookie.local_port == packet.destination_port
            && cookie.peer_port == packet.source_port;
        fits.then_some(opened)
    }

    fn take_stranger(&mut self, route: Route, packet: &Packet) {
        self.stats.out_of_the_blue += 1;
        self.answer(route, answer_stranger(packet));
    }

    fn answer(&mut self, route: Route, packet: Option<Packet>) {
        match packet {
            Some(packet) if self.answers.len() < MOST_ANSWERS => {
                self.answers.push_back(Datagram {
                    source: route.local,
                    destination: route.remote,
                    size_bytes: packet.size_bytes() + self.config.ip_header_bytes,
                    body: packet,
                });
            }
            _ => self.stats.packets_discarded += 1,
        }
    }

    /// A router says that packets to `remote` must not be longer than `mtu_bytes`,
    /// quoting a packet with these ports and this tag. Says whether an association
    /// believed it. See [`Association::packet_too_big`].
    pub fn packet_too_big(
        &mut self,
        now: Time,
        remote: Address,
        (local_port, remote_port): (u16, u16),
        verification_tag: u32,
        mtu_bytes: u32,
    ) -> bool {
        let key = PeerKey {
            local_port,
            remote_port,
            remote,
        };
        let Some(slot) = self.table.by_peer(key) else {
            return false;
        };
        let Some(entry) = self.table.slot_mut(slot) else {
            return false;
        };
        let believed = entry
            .association
            .packet_too_big(now, remote, verification_tag, mtu_bytes);
        self.mark(slot);
        believed
    }
}
