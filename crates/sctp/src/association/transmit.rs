//! What goes into the next packet (RFC 9260, sections 6.1 and 6.10).

use headway_sansio::Time;

use super::Association;
use crate::outbound::{Cause, Forced, MOST_OUTSTANDING};
use crate::packet::padded;
use crate::path::Path;
use crate::{Chunk, Chunks, CwndOvershoot, DataChunk, Packet, SackBundling};

/// The DATA chunk that may go out next.
#[derive(Clone, Copy)]
struct Next {
    marked: bool,
    /// With header and padding.
    bytes: u32,
}

/// What holds for one packet under construction.
#[derive(Clone, Copy)]
struct Allowance {
    /// The flight size was below the limit when the packet was begun.
    below_limit: bool,
    limit: u32,
    /// Marked chunks go whatever cwnd says.
    forced: bool,
}

impl Association {
    /// The next packet to put on the wire. `now` is the time of the call that
    /// came before.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.packets.pop_front() {
            return Some(self.count_packet(packet));
        }
        if self.peer_tag == 0 {
            return None;
        }
        let mut packet = self.packet(self.peer_tag);
        let mut room = self.config.pmdcs_bytes();
        while let Some(chunk) = self.control.front() {
            let bytes = chunk.padded_bytes();
            // A chunk that fits no packet goes alone and is fragmented by IP.
            if bytes > room && !packet.chunks.is_empty() {
                return Some(self.count_packet(packet));
            }
            room = room.saturating_sub(bytes);
            packet.chunks.extend(self.control.pop_front());
        }
        let allowance = self.allowance(now);
        let next = allowance.and_then(|allowance| self.next_data(allowance, true));
        self.add_sack(&mut packet.chunks, &mut room, next);
        if let Some(allowance) = allowance
            && next.is_some()
        {
            self.add_data(now, allowance, &mut packet.chunks, room);
        }
        if packet.chunks.is_empty() {
            None
        } else {
            Some(self.count_packet(packet))
        }
    }

    /// An empty packet to the peer.
    pub(super) fn packet(&self, verification_tag: u32) -> Packet {
        Packet {
            source_port: self.local_port,
            destination_port: self.remote_port,
            verification_tag,
            chunks: Chunks::new(),
        }
    }

    fn count_packet(&mut self, packet: Packet) -> Packet {
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += u64::from(packet.size_bytes());
        packet
    }

    /// What DATA the windows allow, if any may be sent at all.
    fn allowance(&mut self, now: Time) -> Option<Allowance> {
        if !self.state.sends_data() || self.outbound.is_idle() {
            return None;
        }
        let burst_limit = match self.burst_limit {
            Some(limit) => limit,
            None => {
                self.path.decay(&self.config, now);
                let limit = self.path.burst_limit(&self.config);
                self.burst_limit = Some(limit);
                limit
            }
        };
        let limit = self.path.cwnd.min(burst_limit);
        Some(Allowance {
            below_limit: self.path.flight < limit,
            limit,
            forced: self.outbound.forced != Forced::Nothing,
        })
    }

    /// The DATA chunk that may go into the packet next. Marked chunks come first
    /// (section 6.1, rule C), and while they may not go, new ones may not either.
    /// `first`: it is the first DATA chunk of the packet.
    fn next_data(&mut self, allowance: Allowance, first: bool) -> Option<Next> {
        let below = match self.config.cwnd_overshoot {
            CwndOvershoot::Packet => allowance.below_limit,
            CwndOvershoot::Chunk => self.path.flight < allowance.limit,
        };
        let held = self.outbound.hold && !allowance.forced;
        if let Some((_, payload)) = self.outbound.next_marked() {
            let may = allowance.forced || (below && !held);
            let bytes = DataChunk::padded_bytes_for(payload);
            return may.then_some(Next {
                marked: true,
                bytes,
            });
        }
        if !below || held || self.outbound.outstanding() >= MOST_OUTSTANDING {
            return None;
        }
        let most = self.config.pmdcs_bytes() - DataChunk::HEADER_BYTES;
        let payload = self.outbound.queue.next_bytes(most)?;
        if !self.peer_has_room(payload) || first && self.nagle_waits() {
            return None;
        }
        Some(Next {
            marked: false,
            bytes: DataChunk::padded_bytes_for(payload),
        })
    }

    /// Section 6.1, rule A. Chunks are never cut to fit a window, so a small
    /// opening cannot lead to small chunks (silly window syndrome).
    fn peer_has_room(&self, payload: u32) -> bool {
        let cost = payload + self.config.peer_window_chunk_cost_bytes;
        cost <= self.outbound.peer_window || self.probe_now
    }

    /// Whether a packet waits for more to fill it. One that goes anyway takes all
    /// it can.
    fn nagle_waits(&self) -> bool {
        self.config.nagle
            && self.outbound.outstanding() > 0
            && self.outbound.queue.chunk_bytes() < self.config.pmdcs_bytes()
    }

    fn add_sack(&mut self, chunks: &mut Chunks, room: &mut u32, next: Option<Next>) {
        let owed = &self.inbound.acknowledgement;
        if !owed.is_owed() {
            return;
        }
        let bytes = self.inbound.sack_bytes();
        let data = next.map_or(0, |next| next.bytes);
        let bundles = match self.config.sack_bundling {
            SackBundling::Always => true,
            SackBundling::WhileUnread => self.inbound.unread_bytes() > 0,
        };
        if owed.at_once && (chunks.is_empty() || bytes <= *room)
            || bundles && next.is_some() && bytes + data <= *room
        {
            let limit = if next.is_some() && bytes + data <= *room {
                *room - data
            } else {
                *room
            };
            let sack = Chunk::Sack(self.inbound.take_sack(&self.config, limit));
            *room = room.saturating_sub(sack.padded_bytes());
            chunks.push(sack);
            self.stats.sacks_sent += 1;
        }
    }

    /// Fills the packet with DATA.
    fn add_data(&mut self, now: Time, allowance: Allowance, chunks: &mut Chunks, mut room: u32) {
        let mut resent = false;
        let mut first = true;
        while let Some(next) = self.next_data(allowance, first) {
            first = false;
            if padded(next.bytes) > room {
                break;
            }
            let Self {
                config,
                path,
                outbound,
                stats,
                ..
            } = self;
            let chunk = if next.marked {
                let Some((chunk, cause)) = outbound.resend(config, path, now) else {
                    break;
                };
                match cause {
                    Cause::Fast => stats.fast_retransmissions += 1,
                    Cause::Timeout => stats.timed_retransmissions += 1,
                }
                resent = true;
                chunk
            } else {
                let Some(chunk) = outbound.send_new(config, path, now) else {
                    break;
                };
                stats.data_chunks_sent += 1;
                if self.probe_now {
                    // One chunk, and T3-rtx watches it from here on.
                    self.probe_now = false;
                    self.outbound.probing = true;
                    self.stats.window_probes += 1;
                }
                chunk
            };
            room -= next.bytes;
            chunks.push(Chunk::Data(chunk));
        }
        if resent {
            let more = self.outbound.next_marked().is_some();
            if self.outbound.forced == Forced::OnePacket || !more {
                self.outbound.forced = Forced::Nothing;
            }
        }
    }

    /// Watches a closed window: where new data waits for nothing but the peer's
    /// buffer, a probe follows after one RTO, and then at doubling intervals
    /// (section 6.1, rule A).
    pub(super) fn watch_window(&mut self, now: Time) {
        let most = self.config.pmdcs_bytes() - DataChunk::HEADER_BYTES;
        let closed = self.state.sends_data()
            && self.outbound.outstanding() == 0
            && self.outbound.queue.next_bytes(most).is_some_and(|payload| {
                payload + self.config.peer_window_chunk_cost_bytes > self.outbound.peer_window
            });
        if !closed {
            self.probe = Time::FAR_FUTURE;
            self.probe_now = false;
            if self.outbound.outstanding() == 0 {
                self.probe_interval = headway_sansio::Duration::ZERO;
            }
        } else if self.probe == Time::FAR_FUTURE && !self.probe_now {
            let Path { rto, .. } = self.path;
            let doubled = (self.probe_interval * 2).min(self.config.rto_max);
            self.probe_interval = doubled.max(rto);
            self.probe = now + self.probe_interval;
        }
    }
}
