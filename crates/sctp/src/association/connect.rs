//! The active side of the handshake (RFC 9260, section 5.1).

use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{RandomStream, Time};

use super::Association;
use super::state::{Retry, State};
use crate::outbound::Outbound;
use crate::packet::parameter;
use crate::{Cause, Chunk, Config, Event, Init, LostReason, Parameter};

impl Association {
    /// Begins an association with a peer.
    #[must_use]
    pub fn connect(
        now: Time,
        config: Arc<Config>,
        random: RandomStream,
        local_port: u16,
        remote_port: u16,
    ) -> Self {
        let mut this = Self::new(config, random, State::Closed, local_port, remote_port);
        let due = now + this.path.rto;
        this.state = State::CookieWait(Retry {
            due,
            count: 0,
            since: now,
        });
        this.send_init();
        this
    }

    fn send_init(&mut self) {
        let mut packet = self.packet(0);
        packet
            .chunks
            .push(Chunk::Init(Box::new(self.init(Vec::new()))));
        self.packets.push_back(packet);
    }

    /// INIT or INIT ACK of this side.
    pub(super) fn init(&self, parameters: Vec<Parameter>) -> Init {
        Init {
            initiate_tag: self.local_tag,
            a_rwnd: self.config.receive_buffer_bytes,
            outbound_streams: self.config.outbound_streams.max(1),
            inbound_streams: self.config.inbound_streams.max(1),
            initial_tsn: self.local_initial_tsn,
            parameters,
        }
    }

    pub(super) fn handle_init_ack(&mut self, now: Time, init: Init) {
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
        if init.outbound_streams == 0 || init.inbound_streams == 0 {
            let cause = Cause::new(Cause::INVALID_PARAMETER);
            self.abort_with(cause, LostReason::ProtocolViolation);
            return;
        }
        let Some(cookie) = init.cookie().cloned() else {
            // One parameter is missing, and its type is that of the cookie.
            let information = vec![0, 0, 0, 1, 0, parameter::STATE_COOKIE as u8];
            let cause = Cause::with(Cause::MISSING_PARAMETER, information);
            self.abort_with(cause, LostReason::ProtocolViolation);
            return;
        };
        if init
            .parameters
            .iter()
            .any(|p| p.kind == parameter::HOST_NAME_ADDRESS)
        {
            let cause = Cause::new(Cause::UNRESOLVABLE_ADDRESS);
            self.abort_with(cause, LostReason::ProtocolViolation);
            return;
        }
        if retry.count == 0 {
            self.path.measured(&self.config, now.since(retry.since));
        }
        self.clear_errors();
        self.agree(
            init.a_rwnd,
            init.initial_tsn,
            init.inbound_streams,
            init.outbound_streams,
        );
        let retry = Retry {
            due: now + self.path.rto,
            count: 0,
            since: now,
        };
        self.send_cookie(&cookie);
        let unrecognized: Vec<Parameter> = init
            .parameters
            .into_iter()
            .filter(|p| parameter::wants_report(p.kind))
            .collect();
        if !unrecognized.is_empty() {
            let information = parameter::encoded(&unrecognized);
            let cause = Cause::with(Cause::UNRECOGNIZED_PARAMETERS, information);
            self.control.push_back(Chunk::Error(vec![cause]));
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
        self.inbound = crate::inbound::Inbound::new(&self.config, peer_tsn);
        self.outbound.peer_window = a_rwnd;
        // Messages for streams that the peer does not accept cannot be sent.
        self.outbound.queue.drop_streams_from(self.outbound_streams);
    }

    fn send_cookie(&mut self, cookie: &Bytes) {
        // COOKIE ECHO comes first in its packet (section 3.3.11).
        self.control.push_front(Chunk::CookieEcho(cookie.clone()));
    }

    pub(super) fn handle_cookie_ack(&mut self, now: Time) {
        let State::CookieEchoed { retry, .. } = &self.state else {
            return;
        };
        if retry.count == 0 {
            let round_trip = now.since(retry.since);
            self.path.measured(&self.config, round_trip);
        }
        self.become_established(now);
    }

    pub(super) fn become_established(&mut self, now: Time) {
        self.state = State::Established;
        self.clear_errors();
        self.start_heartbeat(now);
        self.path.last_data = now;
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
        self.path.back_off(&self.config);
        let retry = Retry {
            due: now + self.path.rto,
            count: retry.count + 1,
            ..retry
        };
        match core::mem::replace(&mut self.state, State::Closed) {
            State::CookieEchoed { cookie, .. } => {
                self.send_cookie(&cookie);
                self.state = State::CookieEchoed { retry, cookie };
            }
            _ => {
                self.send_init();
                self.state = State::CookieWait(retry);
            }
        }
    }

    /// A stale cookie sends the handshake back to its beginning (section 5.2.6,
    /// first alternative); other errors are for information.
    pub(super) fn handle_error(&mut self, now: Time, causes: &[Cause]) {
        let stale = causes.iter().any(|cause| cause.code == Cause::STALE_COOKIE);
        let State::CookieEchoed { retry, .. } = &self.state else {
            return;
        };
        if !stale {
            return;
        }
        if retry.count >= self.config.init_max_retransmits {
            self.lose(LostReason::HandshakeTimeout);
            return;
        }
        let retry = Retry {
            due: now + self.path.rto,
            count: retry.count + 1,
            since: now,
        };
        self.control.clear();
        self.peer_tag = 0;
        self.send_init();
        self.state = State::CookieWait(retry);
    }

    /// Starts both halves anew, as after a restart of the peer; what waits in the
    /// queue is gone.
    pub(super) fn start_anew(&mut self, peer_window: u32, peer_tsn: crate::Tsn) {
        self.outbound = Outbound::new(&self.config, self.local_initial_tsn, peer_window);
        self.inbound = crate::inbound::Inbound::new(&self.config, peer_tsn);
        self.path = crate::path::Path::new(&self.config);
        self.errors = 0;
        self.guard = Time::FAR_FUTURE;
        self.probe = Time::FAR_FUTURE;
        self.probe_now = false;
        self.control.clear();
    }
}
