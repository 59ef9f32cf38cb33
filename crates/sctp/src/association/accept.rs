//! The passive side of the handshake: INIT is answered without keeping state,
//! and the cookie brings everything back (RFC 9260, sections 5.1.3 to 5.2.4).

use bytes::Bytes;
use headway_sansio::Time;

use super::Association;
use super::input::Rest;
use super::state::State;
use super::{initial_tsn, random_tag};
use crate::cookie::Cookie;
use crate::packet::parameter;
use crate::{Cause, Chunk, Event, Init, Parameter, Tsn};

/// What an INIT ACK says of this side.
#[derive(Clone, Copy)]
struct Identity {
    tag: u32,
    tsn: Tsn,
    /// Tags of the association that exists already, if any.
    tie_tags: (u32, u32),
}

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
    pub(super) fn handle_init(&mut self, now: Time, source_port: u16, init: &Init) {
        let identity = match self.state {
            State::Closed => return,
            State::Listen => Identity {
                tag: random_tag(&mut self.random),
                tsn: initial_tsn(&self.config, &mut self.random),
                tie_tags: (0, 0),
            },
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
                tie_tags: (self.local_tag, self.peer_tag),
            },
            // Section 9.2: the peer has not seen the end of the old association.
            State::ShutdownAckSent(_) => {
                self.control.push_back(Chunk::ShutdownAck);
                return;
            }
            // Section 5.2.2: perhaps a restart.
            _ => Identity {
                tag: random_tag(&mut self.random),
                tsn: initial_tsn(&self.config, &mut self.random),
                tie_tags: (self.local_tag, self.peer_tag),
            },
        };
        let answer = self.answer_init(now, source_port, init, identity);
        let mut packet = self.packet(init.initiate_tag);
        packet.destination_port = source_port;
        packet.chunks.push(answer);
        self.packets.push_back(packet);
    }

    fn answer_init(&self, now: Time, port: u16, init: &Init, identity: Identity) -> Chunk {
        let refusal =
            if init.initiate_tag == 0 || init.outbound_streams == 0 || init.inbound_streams == 0 {
                // Section 3.3.2.
                Some(Cause::new(Cause::INVALID_PARAMETER))
            } else if init
                .parameters
                .iter()
                .any(|p| p.kind == parameter::HOST_NAME_ADDRESS)
            {
                // Section 5.1.2, rule B.
                Some(Cause::new(Cause::UNRESOLVABLE_ADDRESS))
            } else {
                None
            };
        if let Some(cause) = refusal {
            return Chunk::Abort {
                reflected_tag: false,
                causes: vec![cause],
            };
        }
        let cookie = Cookie {
            created: now,
            lifetime: self.config.cookie_lifetime,
            local_tag: identity.tag,
            peer_tag: init.initiate_tag,
            local_tsn: identity.tsn,
            peer_tsn: init.initial_tsn,
            peer_window: init.a_rwnd,
            local_tie_tag: identity.tie_tags.0,
            peer_tie_tag: identity.tie_tags.1,
            local_port: self.local_port,
            peer_port: port,
            outbound_streams: init.inbound_streams,
            inbound_streams: init.outbound_streams,
        };
        let sealed = self.key.seal(&cookie);
        let mut parameters = vec![Parameter {
            kind: parameter::STATE_COOKIE,
            value: sealed,
        }];
        for unrecognized in init
            .parameters
            .iter()
            .filter(|p| parameter::wants_report(p.kind))
        {
            let value = parameter::encoded(core::slice::from_ref(unrecognized));
            parameters.push(Parameter {
                kind: parameter::UNRECOGNIZED_PARAMETER,
                value,
            });
        }
        let mut answer = self.init(parameters);
        answer.initiate_tag = identity.tag;
        answer.initial_tsn = identity.tsn;
        Chunk::InitAck(Box::new(answer))
    }

    pub(super) fn handle_cookie_echo(
        &mut self,
        now: Time,
        source_port: u16,
        tag: u32,
        sealed: &Bytes,
    ) -> Rest {
        let Some(cookie) = self.key.open(sealed) else {
            return Rest::Discard;
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
        let age = now.since(cookie.created);
        if case != Case::Own && age > cookie.lifetime {
            self.report_stale(source_port, &cookie, age.saturating_sub(cookie.lifetime));
            return Rest::Discard;
        }
        match case {
            Case::Discard => return Rest::Discard,
            Case::Own => self.cookie_is_ours(now, &cookie),
            Case::Collision => self.cookie_of_collision(now, &cookie),
            Case::Restart => {
                if let State::ShutdownAckSent(_) = self.state {
                    self.refuse_restart();
                    return Rest::Discard;
                }
                self.cookie_begins(now, source_port, &cookie);
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

    fn acknowledge_cookie(&mut self) {
        // COOKIE ACK comes first in its packet (section 5.1.5, step 6).
        self.control
            .retain(|chunk| !matches!(chunk, Chunk::CookieAck | Chunk::CookieEcho(_)));
        self.control.push_front(Chunk::CookieAck);
    }

    /// Action D: perhaps our COOKIE ACK was lost, or both sides' cookies crossed.
    fn cookie_is_ours(&mut self, now: Time, cookie: &Cookie) {
        if let State::CookieWait(_) | State::CookieEchoed { .. } = self.state {
            self.take_cookie(cookie);
            self.become_established(now);
        }
        self.acknowledge_cookie();
    }

    /// Action B: the peer's tag is news.
    fn cookie_of_collision(&mut self, now: Time, cookie: &Cookie) {
        if let State::CookieWait(_) | State::CookieEchoed { .. } = self.state {
            self.take_cookie(cookie);
            self.become_established(now);
        } else {
            self.peer_tag = cookie.peer_tag;
        }
        self.acknowledge_cookie();
    }

    /// Action A, and the beginning of an association where there was none.
    fn cookie_begins(&mut self, now: Time, source_port: u16, cookie: &Cookie) {
        let restart = !matches!(self.state, State::Listen);
        self.remote_port = source_port;
        self.local_tag = cookie.local_tag;
        self.local_initial_tsn = cookie.local_tsn;
        // Messages handed over while listening are still to be sent.
        let waiting = (!restart).then(|| self.outbound.take_queue(&self.config));
        self.start_anew(cookie.peer_window, cookie.peer_tsn);
        if let Some(queue) = waiting {
            self.outbound.queue = queue;
        }
        self.take_cookie(cookie);
        if restart {
            self.events.push_back(Event::Restarted);
        }
        self.become_established(now);
        self.acknowledge_cookie();
    }

    fn take_cookie(&mut self, cookie: &Cookie) {
        self.peer_tag = cookie.peer_tag;
        self.agree(
            cookie.peer_window,
            cookie.peer_tsn,
            cookie.outbound_streams,
            cookie.inbound_streams,
        );
    }

    /// Section 5.1.5, step 4: the error tells by how many microseconds the cookie
    /// is too old.
    fn report_stale(&mut self, port: u16, cookie: &Cookie, late: headway_sansio::Duration) {
        let micros = u32::try_from(late.as_nanos() / 1_000).unwrap_or(u32::MAX);
        let cause = Cause::with(Cause::STALE_COOKIE, micros.to_be_bytes().to_vec());
        let mut packet = self.packet(cookie.peer_tag);
        packet.destination_port = port;
        packet.chunks.push(Chunk::Error(vec![cause]));
        self.packets.push_back(packet);
    }

    /// Action A in SHUTDOWN-ACK-SENT: the end comes first.
    fn refuse_restart(&mut self) {
        self.control.push_back(Chunk::ShutdownAck);
        let cause = Cause::new(Cause::COOKIE_WHILE_SHUTTING_DOWN);
        self.control.push_back(Chunk::Error(vec![cause]));
    }
}
