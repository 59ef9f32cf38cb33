//! The active side of the handshake (RFC 9260, section 5.1).

use bytes::Bytes;
use headway_sansio::{Datagram, Duration, Time};

use super::Association;
use super::reconfig::Reconfig;
use super::state::{Retry, State};
use crate::outbound::Outbound;
use crate::packet::{cookie_preservative, parameter};
use crate::path::Route;
use crate::welcome::{fault, introduce, unresolvable};
use crate::{Cause, Chunk, Event, Init, LostReason, Packet, Parameter};

impl Association {
    /// Sends INIT to the address of a path.
    pub(super) fn send_init(&mut self, path: usize) {
        self.send_init_with(path, None);
    }

    fn send_init_with(&mut self, path: usize, wish: Option<Parameter>) {
        let mut packet = self.packet(0);
        let init = introduce(
            &self.config,
            &self.host,
            (self.local_tag, self.local_initial_tsn),
            self.config.extensions(),
            wish,
        );
        packet.chunks.push(Chunk::Init(Box::new(init)));
        let route = self.paths[path].route;
        self.launch(route, packet);
    }

    /// Queues a whole packet.
    pub(super) fn launch(&mut self, route: Route, packet: Packet) {
        self.packets.push_back(Datagram {
            source: route.local,
            destination: route.remote,
            size_bytes: packet.size_bytes(),
            body: packet,
        });
    }

    pub(super) fn handle_init_ack(&mut self, now: Time, route: Route, init: &Init) {
        let State::CookieWait(retry) = self.state else {
            // Section 5.2.3: an answer to an old INIT.
            return;
        };
        if init.initiate_tag == 0 {
            // Section 3.3.3: the peer cannot be spoken to.
            self.lose(LostReason::ProtocolViolation);
            return;
        }
        self.peer_tag = init.initiate_tag;
        if let Some(cause) = fault(init) {
            self.abort_with(cause, LostReason::ProtocolViolation);
            return;
        }
        let said = init.announcement(self.config.extensions());
        if let Some(name) = &said.host_name {
            self.abort_with(unresolvable(name), LostReason::ProtocolViolation);
            return;
        }
        let Some(cookie) = said.cookie.clone() else {
            // One parameter is missing, and its type is that of the cookie.
            let information = vec![0, 0, 0, 1, 0, parameter::STATE_COOKIE as u8];
            let cause = Cause::with(Cause::MISSING_PARAMETER, information);
            self.abort_with(cause, LostReason::ProtocolViolation);
            return;
        };
        self.extend_paths(now, route, &said.addresses);
        let from = self.reply_path;
        if retry.count == 0 {
            self.paths[from].measured(&self.config, now.since(retry.since));
        }
        self.peer_answered();
        self.path_answered(from);
        self.extensions = self.config.agreed(&said);
        self.agree(
            init.a_rwnd,
            init.initial_tsn,
            init.inbound_streams,
            init.outbound_streams,
        );
        let retry = Retry {
            due: now + self.paths[from].rto,
            count: 0,
            since: now,
        };
        self.send_cookie(from, &cookie);
        if !said.unrecognized.is_empty() {
            let information = parameter::encoded(&said.unrecognized);
            let cause = Cause::with(Cause::UNRECOGNIZED_PARAMETERS, information);
            self.answer(from, Chunk::Error(vec![cause]));
        }
        self.state = State::CookieEchoed { retry, cookie };
    }

    /// Takes over what the peer announced of itself (section 5.1.1).
    pub(super) fn agree(
        &mut self,
        a_rwnd: u32,
        peer_tsn: crate::Tsn,
        accepts_streams: u16,
        sends_streams: u16,
    ) {
        self.outbound_streams = self.config.outbound_streams.max(1).min(accepts_streams);
        self.inbound_streams = self.config.inbound_streams.max(1).min(sends_streams);
        self.inbound = self.inbound.anew(&self.config, peer_tsn);
        self.outbound.set_extensions(self.extensions);
        let agreed = self.extensions.reconfiguration;
        self.reconfig = agreed.then(|| Box::new(Reconfig::new(self.local_initial_tsn, peer_tsn)));
        self.outbound.set_peer_window(a_rwnd);
        // Messages for streams that the peer does not accept cannot be sent.
        self.outbound.queue.drop_streams_from(self.outbound_streams);
    }

    fn send_cookie(&mut self, path: usize, cookie: &Bytes) {
        // COOKIE ECHO comes first in its packet (section 3.3.11).
        self.control
            .push_front((path, Chunk::CookieEcho(cookie.clone())));
    }

    pub(super) fn handle_cookie_ack(&mut self, now: Time, from: usize) {
        let State::CookieEchoed { retry, .. } = &self.state else {
            return;
        };
        if retry.count == 0 {
            let round_trip = now.since(retry.since);
            self.paths[from].measured(&self.config, round_trip);
        }
        self.path_answered(from);
        self.become_established(now);
    }

    pub(super) fn become_established(&mut self, now: Time) {
        self.state = State::Established;
        self.peer_answered();
        for index in 0..self.paths.len() {
            self.paths[index].errors = 0;
            self.start_heartbeat(now, index);
            self.search_mtu(now, index);
        }
        let data = self.paths.data();
        self.paths[data].last_data = now;
        self.events.push_back(Event::Connected {
            outbound_streams: self.outbound_streams,
            inbound_streams: self.inbound_streams,
        });
    }

    /// Timers T1-init, T1-cookie and T2-shutdown.
    pub(super) fn state_timeout(&mut self, now: Time) {
        let retry = match &self.state {
            State::ShutdownSent(retry) | State::ShutdownAckSent(retry) => {
                let retry = *retry;
                self.shutdown_timeout(now, retry);
                return;
            }
            State::CookieWait(retry) | State::CookieEchoed { retry, .. } => *retry,
            _ => return,
        };
        if retry.count >= self.config.init_max_retransmits {
            self.lose(LostReason::HandshakeTimeout);
            return;
        }
        // The next try goes to the peer's next address (section 6.4).
        let tried = self.handshake_path(retry.count);
        let path = self.handshake_path(retry.count + 1);
        self.paths[tried].back_off(&self.config);
        let retry = Retry {
            due: now + self.paths[tried].rto,
            count: retry.count + 1,
            ..retry
        };
        match core::mem::replace(&mut self.state, State::Closed) {
            State::CookieEchoed { cookie, .. } => {
                self.send_cookie(path, &cookie);
                self.state = State::CookieEchoed { retry, cookie };
            }
            _ => {
                self.send_init(path);
                self.state = State::CookieWait(retry);
            }
        }
    }

    /// The path of the n-th try of INIT or COOKIE ECHO: confirmed ones in turn.
    fn handshake_path(&self, n: u32) -> usize {
        let confirmed: usize = self.paths.iter().filter(|path| path.confirmed).count();
        let place = n as usize % confirmed.max(1);
        self.paths
            .iter()
            .enumerate()
            .filter(|(_, path)| path.confirmed)
            .nth(place)
            .map_or(0, |(index, _)| index)
    }

    pub(super) fn handle_error(&mut self, now: Time, causes: &[Cause]) {
        self.stats.errors_received += 1;
        if causes.iter().any(|cause| cause.code == Cause::STALE_COOKIE) {
            self.handle_stale_cookie(now);
        }
        if !causes.is_empty() && !self.is_beginning() {
            self.events.push_back(Event::PeerReported {
                causes: causes.to_vec(),
            });
        }
    }

    /// A stale cookie sends the handshake back to its beginning, with the wish
    /// for a longer life of the next one (section 5.2.6, third alternative).
    fn handle_stale_cookie(&mut self, now: Time) {
        let State::CookieEchoed { retry, .. } = &self.state else {
            return;
        };
        let retry = *retry;
        if retry.count >= self.config.init_max_retransmits {
            self.lose(LostReason::HandshakeTimeout);
            return;
        }
        // What this exchange took, and a second (section 5.2.6).
        let increment = now.since(retry.since) + Duration::from_secs(1);
        let path = self.handshake_path(retry.count);
        let retry = Retry {
            due: now + self.paths[path].rto,
            count: retry.count + 1,
            since: now,
        };
        self.control.clear();
        self.peer_tag = 0;
        self.take_back(now);
        self.send_init_with(path, Some(cookie_preservative(increment)));
        self.state = State::CookieWait(retry);
    }

    /// DATA that went with a COOKIE ECHO in vain is to go again with the next.
    fn take_back(&mut self, now: Time) {
        for index in 0..self.paths.len() {
            self.outbound
                .mark_timed_out(&self.config, &mut self.paths, index, now);
            self.paths[index].stop_t3();
            self.paths[index].timed = None;
            // No answer is awaited any more: nothing is under way.
            self.paths[index].hold = false;
        }
    }

    /// Starts both halves anew, as after a restart of the peer; what waits in the
    /// queue is gone.
    pub(super) fn start_anew(&mut self, peer_window: u32, peer_tsn: crate::Tsn) {
        self.outbound = Outbound::new(&self.config, self.local_initial_tsn, peer_window);
        self.inbound = self.inbound.anew(&self.config, peer_tsn);
        self.errors = 0;
        self.guard = Time::FAR_FUTURE;
        self.probe = Time::FAR_FUTURE;
        self.probe_now = false;
        self.control.clear();
    }
}
