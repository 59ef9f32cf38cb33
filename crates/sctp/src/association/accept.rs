//! INIT and COOKIE ECHO where an association exists already, or listens by itself
//! (RFC 9260, sections 5.1.3 to 5.2.4).

use std::net::IpAddr;

use bytes::Bytes;
use headway_sansio::{Duration, Time};

use super::Association;
use super::birth::{initial_tsn, random_tag};
use super::input::Rest;
use super::state::State;
use crate::cookie::{Cookie, KeyRing, Opened};
use crate::packet::address_parameter;
use crate::path::Route;
use crate::welcome::{Caller, Identity, Welcome, refusal};
use crate::{Cause, Chunk, Event, Init, Packet};

/// How a cookie's tags compare with those of the association (Table 12).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Case {
    /// A: the peer lost its state and begins anew.
    Restart,
    /// B: both sides began at the same time.
    Collision,
    /// D: the cookie is the association's own.
    Own,
    /// C, and what the table does not name: nothing follows.
    Discard,
}

impl Association {
    /// Answers an INIT. Nothing of the association changes (sections 5.1 and 5.2).
    pub(super) fn handle_init(
        &mut self,
        now: Time,
        route: Route,
        source_port: u16,
        init: &Init,
        shared: Option<&KeyRing>,
    ) {
        let tie_tags = (self.local_tag, self.peer_tag);
        let identity = match self.state {
            // Section 3.3.2: such an INIT is dropped without a word.
            _ if init.initiate_tag == 0 => return,
            State::Closed => return,
            State::Listen => self.new_identity((0, 0)),
            // Section 5.2.1: the tag of our own INIT, so that both handshakes lead
            // to one association.
            State::CookieWait(_) => Identity {
                tag: self.local_tag,
                tsn: self.local_initial_tsn,
                tie_tags: (0, 0),
            },
            State::CookieEchoed { .. } => Identity {
                tag: self.local_tag,
                tsn: self.local_initial_tsn,
                tie_tags,
            },
            // Section 9.2: the peer has not seen the end of the old association.
            State::ShutdownAckSent(_) => {
                let path = self.arrival_path(route).unwrap_or(0);
                self.answer(path, Chunk::ShutdownAck);
                return;
            }
            // Section 5.2.2: perhaps a restart.
            _ => self.new_identity(tie_tags),
        };
        let said = init.announcement(self.config.extensions());
        let chunk = match self.refuse_new_addresses(route, &said.addresses) {
            Some(cause) => refusal(cause),
            None => {
                let Some(keys) = shared.or(self.keys.as_deref()) else {
                    return;
                };
                let welcome = Welcome {
                    config: &self.config,
                    host: &self.host,
                    keys,
                    local_port: self.local_port,
                };
                let caller = Caller {
                    address: route.remote,
                    port: source_port,
                };
                welcome.answer(now, caller, init, said, identity)
            }
        };
        let mut packet = self.packet(init.initiate_tag);
        packet.destination_port = source_port;
        packet.chunks.push(chunk);
        self.launch(route, packet);
    }

    fn new_identity(&mut self, tie_tags: (u32, u32)) -> Identity {
        Identity {
            tag: random_tag(&mut self.random),
            tsn: initial_tsn(&self.config, &mut self.random),
            tie_tags,
        }
    }

    /// An INIT may not add addresses to an association that exists (sections
    /// 5.2.1 and 5.2.2): somebody who has none of them could take it over.
    fn refuse_new_addresses(&self, route: Route, listed: &[IpAddr]) -> Option<Cause> {
        if let State::Listen | State::CookieWait(_) = self.state {
            return None;
        }
        let known = |ip| {
            self.paths
                .iter()
                .any(|p| self.host.book.ip(p.route.remote) == Some(ip))
        };
        let mut new: Vec<_> = listed.iter().copied().filter(|&ip| !known(ip)).collect();
        if self.paths.find(route.remote).is_none() {
            new.extend(self.host.book.ip(route.remote));
        }
        if new.is_empty() {
            return None;
        }
        let parameters: Vec<_> = new.into_iter().map(address_parameter).collect();
        let information = crate::packet::parameter::encoded(&parameters);
        Some(Cause::with(Cause::RESTART_WITH_NEW_ADDRESSES, information))
    }

    /// Opens a cookie with the endpoint's keys or those of this association.
    pub(super) fn open(
        &self,
        now: Time,
        shared: Option<&KeyRing>,
        sealed: &Bytes,
    ) -> Option<Opened> {
        shared.or(self.keys.as_deref())?.open(now, sealed)
    }

    /// Brings up an association, or does what the table of section 5.2.4 says.
    #[inline(never)]
    pub(super) fn handle_cookie_echo(
        &mut self,
        now: Time,
        route: Route,
        (source_port, tag): (u16, u32),
        opened: Option<Opened>,
    ) -> Rest {
        let (cookie, late) = match opened {
            None => return Rest::Discard,
            Some(Opened::Good(cookie)) => (cookie, None),
            Some(Opened::Stale(cookie, late)) => (cookie, Some(late)),
        };
        if cookie.local_tag != tag
            || cookie.local_port != self.local_port
            || cookie.peer_port != source_port
        {
            return Rest::Discard;
        }
        let case = match self.state {
            State::Closed => Case::Discard,
            State::Listen => Case::Restart,
            _ => self.compare(&cookie),
        };
        if let Some(late) = late
            && case != Case::Own
        {
            let answer = report_stale(&cookie, late);
            self.launch(route, answer);
            return Rest::Discard;
        }
        match case {
            Case::Discard => return Rest::Discard,
            Case::Own => self.cookie_is_ours(now, route, &cookie),
            Case::Collision => self.cookie_of_collision(now, route, &cookie),
            Case::Restart => {
                if let State::ShutdownAckSent(_) = self.state {
                    self.refuse_restart(route);
                    return Rest::Discard;
                }
                self.cookie_begins(now, route, &cookie);
            }
        }
        Rest::Process
    }

    /// Table 12.
    fn compare(&self, cookie: &Cookie) -> Case {
        let local = cookie.local_tag == self.local_tag;
        let peer = cookie.peer_tag == self.peer_tag;
        let tied = cookie.local_tie_tag == self.local_tag && cookie.peer_tie_tag == self.peer_tag;
        match (local, peer) {
            (true, true) => Case::Own,
            (true, false) => Case::Collision,
            (false, false) if tied => Case::Restart,
            _ => Case::Discard,
        }
    }

    fn acknowledge_cookie(&mut self, route: Route) {
        // COOKIE ACK comes first in its packet (section 5.1.5, step 6).
        self.control
            .retain(|(_, chunk)| !matches!(chunk, Chunk::CookieAck | Chunk::CookieEcho(_)));
        let path = self.arrival_path(route).unwrap_or(0);
        self.control.push_front((path, Chunk::CookieAck));
    }

    /// Action D: perhaps our COOKIE ACK was lost, or both sides' cookies crossed.
    fn cookie_is_ours(&mut self, now: Time, route: Route, cookie: &Cookie) {
        if self.is_beginning() {
            self.take_crossed_cookie(now, route, cookie);
        }
        self.acknowledge_cookie(route);
    }

    /// Action B: the peer's tag is news.
    fn cookie_of_collision(&mut self, now: Time, route: Route, cookie: &Cookie) {
        if self.is_beginning() {
            self.take_crossed_cookie(now, route, cookie);
        } else {
            self.peer_tag = cookie.peer_tag;
        }
        self.acknowledge_cookie(route);
    }

    /// The peer's handshake comes to its end before our own.
    fn take_crossed_cookie(&mut self, now: Time, route: Route, cookie: &Cookie) {
        let heard = Route {
            local: route.local,
            remote: cookie.source,
        };
        self.extend_paths(now, heard, &cookie.addresses);
        self.take_cookie(cookie);
        self.become_established(now);
    }

    /// Action A, and the beginning of an association where there was none.
    fn cookie_begins(&mut self, now: Time, route: Route, cookie: &Cookie) {
        let restart = !matches!(self.state, State::Listen);
        self.remote_port = cookie.peer_port;
        self.local_tag = cookie.local_tag;
        self.local_initial_tsn = cookie.local_tsn;
        // Messages handed over while listening are still to be sent.
        let waiting = (!restart).then(|| self.outbound.take_queue(&self.config));
        self.start_anew(cookie.peer_window, cookie.peer_tsn);
        if let Some(queue) = waiting {
            self.outbound.queue = queue;
        }
        let heard = Route {
            local: route.local,
            remote: cookie.source,
        };
        // Section 5.4, rule 2: only the address to which the INIT ACK went has
        // been shown to be the peer's.
        self.lay_paths(heard, &cookie.addresses, |route| {
            route.remote == cookie.source
        });
        self.take_cookie(cookie);
        if restart {
            self.events.push_back(Event::Restarted);
        }
        self.become_established(now);
        self.acknowledge_cookie(heard);
    }

    fn take_cookie(&mut self, cookie: &Cookie) {
        self.peer_tag = cookie.peer_tag;
        self.extensions = cookie.extensions;
        self.agree(
            cookie.peer_window,
            cookie.peer_tsn,
            cookie.outbound_streams,
            cookie.inbound_streams,
        );
    }

    /// Action A in SHUTDOWN-ACK-SENT: the end comes first.
    fn refuse_restart(&mut self, route: Route) {
        let path = self.arrival_path(route).unwrap_or(0);
        self.answer(path, Chunk::ShutdownAck);
        let cause = Cause::new(Cause::COOKIE_WHILE_SHUTTING_DOWN);
        self.answer(path, Chunk::Error(vec![cause]));
    }
}

/// Section 5.1.5, step 4: the error tells by how many microseconds, rounded up,
/// the cookie is too old.
pub(crate) fn report_stale(cookie: &Cookie, late: Duration) -> Packet {
    let micros = u32::try_from(late.as_nanos().div_ceil(1_000)).unwrap_or(u32::MAX);
    let cause = Cause::with(Cause::STALE_COOKIE, micros.to_be_bytes().to_vec());
    Packet {
        source_port: cookie.local_port,
        destination_port: cookie.peer_port,
        verification_tag: cookie.peer_tag,
        chunks: core::iter::once(Chunk::Error(vec![cause])).collect(),
    }
}
