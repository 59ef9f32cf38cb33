//! A packet arrives: is it ours, and whose procedure is each chunk
//! (RFC 9260, sections 3.2, 8.4 and 8.5)?

use core::mem::take;

use headway_sansio::{Datagram, Time};

use super::Association;
use super::receive::Arrivals;
use super::state::State;
use crate::cookie::{KeyRing, Opened};
use crate::out_of_the_blue::answer_stranger;
use crate::path::Route;
use crate::{Cause, Chunk, DataChunk, Packet};

/// Whether the rest of a packet is still of interest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    Process,
    Discard,
}

/// How a packet came.
#[derive(Clone, Copy)]
struct Envelope<'a> {
    route: Route,
    /// Index of the path on which it came.
    from: usize,
    source_port: u16,
    /// The keys of the endpoint to which the association belongs.
    keys: Option<&'a KeyRing>,
}

/// What an endpoint lends to its associations: its keys, and the cookie of the
/// packet where it has opened that already.
pub(crate) type Lent<'a> = (&'a KeyRing, Option<Opened>);

impl Association {
    /// Takes a packet that arrived at `now` on the only path, or on the first one.
    pub fn handle_input(&mut self, now: Time, mut packet: Packet) {
        self.handle_packet(now, &mut packet);
    }

    /// [`Self::handle_input`] where the packet stands. Its payloads and the like are
    /// moved out; the rest means nothing afterwards.
    pub fn handle_packet(&mut self, now: Time, packet: &mut Packet) {
        let route = self.paths[0].route;
        self.receive(now, route, packet, None);
    }

    /// Takes a packet that arrived at `now` from one of the peer's addresses.
    pub fn handle_datagram(&mut self, now: Time, mut datagram: Datagram<Packet>) {
        let route = Route {
            local: datagram.destination,
            remote: datagram.source,
        };
        self.receive(now, route, &mut datagram.body, None);
    }

    /// Takes a packet, out of which payloads and the like are moved. It stays where it
    /// is, as does each chunk: both are so large that handing them on takes time.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        route: Route,
        packet: &mut Packet,
        lent: Option<Lent<'_>>,
    ) {
        if !self.is_ours(route, packet) {
            self.stats.packets_discarded += 1;
            return;
        }
        self.stats.packets_received += 1;
        self.paths.next_opportunity();
        let mut from = self.arrival_path(route).unwrap_or(0);
        self.paths[from].stats.packets_received += 1;
        let mut arrivals = Arrivals::new(&self.inbound);
        let (keys, mut opened) = lent.map_or((None, None), |(keys, opened)| (Some(keys), opened));
        let (source_port, tag) = (packet.source_port, packet.verification_tag);
        for chunk in &mut packet.chunks {
            let rest = match chunk {
                Chunk::Data(data) if self.knows(data) => {
                    self.handle_data(now, from, data, &mut arrivals)
                }
                Chunk::Sack(sack) => {
                    self.handle_sack(now, sack);
                    self.rest()
                }
                Chunk::CookieEcho(sealed) => {
                    let opened = opened.take().or_else(|| self.open(now, keys, sealed));
                    let sender = (source_port, tag);
                    let rest = self.handle_cookie_echo(now, route, sender, opened);
                    // It lays the paths anew, as an INIT ACK does.
                    from = self.arrival_path(route).unwrap_or(0);
                    rest
                }
                chunk => {
                    let envelope = Envelope {
                        route,
                        from,
                        source_port,
                        keys,
                    };
                    let rest = self.handle_chunk(now, envelope, chunk, &mut arrivals);
                    from = self.arrival_path(route).unwrap_or(0);
                    rest
                }
            };
            if rest == Rest::Discard {
                break;
            }
        }
        self.peer_heard_in_shutdown();
        self.end_of_packet(now, from, &arrivals);
        self.continue_reconfig(now);
        self.give_up(now);
        self.watch_window(now);
    }

    /// Ports, addresses and verification tag, with the exceptions of section 8.5.1.
    fn is_ours(&mut self, route: Route, packet: &Packet) -> bool {
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
                self.out_of_the_blue(route, packet);
                false
            }
            // INIT is alone in its packet, with a tag of zero (rule A).
            (_, Chunk::Init(_)) => tag == 0 && packet.chunks.len() == 1,
            (State::Listen, Chunk::CookieEcho(_)) => true,
            (State::Listen, _) => {
                self.out_of_the_blue(route, packet);
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
                self.out_of_the_blue(route, packet);
                false
            }
            // The answer to INIT may come from any address of the peer.
            (State::CookieWait(_), Chunk::InitAck(_)) => tag == self.local_tag,
            _ => tag == self.local_tag && self.arrival_path(route).is_some(),
        }
    }

    /// Whether a chunk is of a kind of DATA that this side knows: one that does not
    /// offer I-DATA does not know it.
    fn knows(&self, data: &DataChunk) -> bool {
        data.interleaving.is_none() || self.config.interleaving
    }

    /// Whether the rest of a packet is of interest after an ordinary chunk of it.
    const fn rest(&self) -> Rest {
        if matches!(self.state, State::Closed) {
            Rest::Discard
        } else {
            Rest::Process
        }
    }

    /// A chunk other than DATA, SACK and COOKIE ECHO, whose procedures are told apart
    /// before.
    #[inline(never)]
    fn handle_chunk(
        &mut self,
        now: Time,
        envelope: Envelope<'_>,
        chunk: &mut Chunk,
        arrivals: &mut Arrivals,
    ) -> Rest {
        let Envelope {
            route,
            from,
            source_port,
            keys,
        } = envelope;
        match chunk {
            // Without partial reliability it is a chunk like any unknown one.
            Chunk::ForwardTsn(forward) if self.extensions.partial_reliability => {
                return self.handle_forward_tsn(forward, arrivals);
            }
            Chunk::Init(init) => self.handle_init(now, route, source_port, init, keys),
            Chunk::InitAck(init) => self.handle_init_ack(now, route, init),
            Chunk::CookieAck => self.handle_cookie_ack(now, from),
            Chunk::Heartbeat(info) => self.handle_heartbeat(from, take(info)),
            Chunk::HeartbeatAck(info) => self.handle_heartbeat_ack(now, info),
            Chunk::Abort { causes, .. } => {
                self.handle_abort(take(causes));
                return Rest::Discard;
            }
            Chunk::Shutdown { cumulative_tsn } => self.handle_shutdown(now, from, *cumulative_tsn),
            Chunk::ShutdownAck => self.handle_shutdown_ack(route),
            Chunk::ShutdownComplete { .. } => self.handle_shutdown_complete(),
            Chunk::Error(causes) => self.handle_error(now, causes),
            Chunk::Reconfig(parameters) if self.reconfig.is_some() => {
                self.handle_reconfig(now, from, parameters);
            }
            Chunk::Pad(_) | Chunk::CookieEcho(_) | Chunk::Sack(_) => {}
            Chunk::Data(_) | Chunk::ForwardTsn(_) | Chunk::Reconfig(_) | Chunk::Unknown { .. } => {
                return self.handle_unknown(from, chunk);
            }
        }
        self.rest()
    }

    /// The two high bits of a chunk type say what to do with an unknown one
    /// (section 3.2): the first whether to go on, the second whether to report.
    pub(super) fn handle_unknown(&mut self, from: usize, chunk: &Chunk) -> Rest {
        self.stats.chunks_unrecognized += 1;
        let kind = chunk.kind();
        if kind & 0x40 != 0 {
            let mut bytes = Vec::new();
            chunk.encode(&mut bytes);
            let cause = Cause::with(Cause::UNRECOGNIZED_CHUNK, bytes);
            self.answer(from, Chunk::Error(vec![cause]));
        }
        if kind & 0x80 != 0 {
            Rest::Process
        } else {
            Rest::Discard
        }
    }

    /// Answers a packet that belongs to no association (section 8.4).
    fn out_of_the_blue(&mut self, route: Route, packet: &Packet) {
        if let Some(answer) = answer_stranger(packet) {
            self.launch(route, answer);
        }
    }
}
