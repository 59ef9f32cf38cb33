//! A packet arrives: is it ours, and whose procedure is each chunk
//! (RFC 9260, sections 3.2, 8.4 and 8.5)?

use headway_sansio::Time;

use super::Association;
use super::receive::Arrivals;
use super::state::State;
use crate::{Cause, Chunk, Packet};

/// Whether the rest of a packet is still of interest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    Process,
    Discard,
}

impl Association {
    /// Takes a packet that arrived at `now`.
    pub fn handle_input(&mut self, now: Time, packet: Packet) {
        if !self.is_ours(&packet) {
            self.stats.packets_discarded += 1;
            return;
        }
        self.stats.packets_received += 1;
        self.burst_limit = None;
        let mut arrivals = Arrivals::new(&self.inbound);
        let Packet {
            source_port,
            verification_tag,
            chunks,
            ..
        } = packet;
        for chunk in chunks {
            let rest = self.handle_chunk(now, source_port, verification_tag, chunk, &mut arrivals);
            if rest == Rest::Discard {
                break;
            }
        }
        self.end_of_packet(now, &arrivals);
        self.watch_window(now);
    }

    /// Ports and verification tag, with the exceptions of section 8.5.1.
    fn is_ours(&mut self, packet: &Packet) -> bool {
        if packet.destination_port != self.local_port {
            return false;
        }
        let bound = !matches!(self.state, State::Listen | State::Closed);
        if bound && packet.source_port != self.remote_port {
            return false;
        }
        let tag = packet.verification_tag;
        let Some(first) = packet.chunks.first() else {
            return false;
        };
        match (&self.state, first) {
            (State::Closed, _) => {
                self.out_of_the_blue(packet);
                false
            }
            // INIT is alone in its packet, with a tag of zero (rule A).
            (_, Chunk::Init(_)) => tag == 0 && packet.chunks.len() == 1,
            (State::Listen, Chunk::CookieEcho(_)) => true,
            (State::Listen, _) => {
                self.out_of_the_blue(packet);
                false
            }
            (_, Chunk::Abort { reflected_tag, .. } | Chunk::ShutdownComplete { reflected_tag }) => {
                // Rules B and C; before INIT ACK no peer's tag is known.
                let expected = if *reflected_tag {
                    self.peer_tag
                } else {
                    self.local_tag
                };
                tag == expected && tag != 0
            }
            // The tag of a cookie is checked with the cookie, which may be that of
            // a peer that starts anew.
            (_, Chunk::CookieEcho(_)) => true,
            (State::CookieWait(_) | State::CookieEchoed { .. }, Chunk::ShutdownAck)
                if tag != self.local_tag =>
            {
                self.out_of_the_blue(packet);
                false
            }
            _ => tag == self.local_tag,
        }
    }

    fn handle_chunk(
        &mut self,
        now: Time,
        source_port: u16,
        tag: u32,
        chunk: Chunk,
        arrivals: &mut Arrivals,
    ) -> Rest {
        match chunk {
            Chunk::Data(data) => return self.handle_data(now, data, arrivals),
            Chunk::Sack(sack) => self.handle_sack(now, &sack),
            Chunk::Init(init) => self.handle_init(now, source_port, &init),
            Chunk::InitAck(init) => self.handle_init_ack(now, *init),
            Chunk::CookieEcho(cookie) => {
                return self.handle_cookie_echo(now, source_port, tag, &cookie);
            }
            Chunk::CookieAck => self.handle_cookie_ack(now),
            Chunk::Heartbeat(info) => self.handle_heartbeat(info),
            Chunk::HeartbeatAck(info) => self.handle_heartbeat_ack(now, &info),
            Chunk::Abort { causes, .. } => {
                self.handle_abort(causes);
                return Rest::Discard;
            }
            Chunk::Shutdown { cumulative_tsn } => self.handle_shutdown(now, cumulative_tsn),
            Chunk::ShutdownAck => self.handle_shutdown_ack(),
            Chunk::ShutdownComplete { .. } => self.handle_shutdown_complete(),
            Chunk::Error(causes) => self.handle_error(now, &causes),
            unknown @ Chunk::Unknown { .. } => return self.handle_unknown(&unknown),
        }
        if matches!(self.state, State::Closed) {
            Rest::Discard
        } else {
            Rest::Process
        }
    }

    /// The two high bits of a chunk type say what to do with an unknown one
    /// (section 3.2): the first whether to go on, the second whether to report.
    fn handle_unknown(&mut self, chunk: &Chunk) -> Rest {
        let kind = chunk.kind();
        if kind & 0x40 != 0 {
            let mut bytes = Vec::new();
            chunk.encode(&mut bytes);
            let cause = Cause::with(Cause::UNRECOGNIZED_CHUNK, bytes);
            self.control.push_back(Chunk::Error(vec![cause]));
        }
        if kind & 0x80 != 0 {
            Rest::Process
        } else {
            Rest::Discard
        }
    }

    /// Answers a packet that belongs to no association (section 8.4).
    fn out_of_the_blue(&mut self, packet: &Packet) {
        let has = |wanted: fn(&Chunk) -> bool| packet.chunks.iter().any(wanted);
        // Rules 2, 6 and 7: never answer what may itself be an answer.
        if has(|chunk| {
            matches!(
                chunk,
                Chunk::Abort { .. } | Chunk::ShutdownComplete { .. } | Chunk::CookieAck
            )
        }) || has(|chunk| {
            matches!(chunk, Chunk::Error(causes)
                if causes.iter().any(|cause| cause.code == Cause::STALE_COOKIE))
        }) {
            return;
        }
        let mut answer = self.packet(packet.verification_tag);
        answer.destination_port = packet.source_port;
        let chunk = match packet.chunks.first() {
            // Rule 3: nobody listens here, and the INIT brings the tag to use.
            Some(Chunk::Init(init)) => {
                answer.verification_tag = init.initiate_tag;
                Chunk::Abort {
                    reflected_tag: false,
                    causes: Vec::new(),
                }
            }
            Some(Chunk::ShutdownAck) => Chunk::ShutdownComplete {
                reflected_tag: true,
            },
            _ => Chunk::Abort {
                reflected_tag: true,
                causes: Vec::new(),
            },
        };
        answer.chunks.push(chunk);
        self.packets.push_back(answer);
    }
}
