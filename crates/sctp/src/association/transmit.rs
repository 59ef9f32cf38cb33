//! What goes into the next packet (RFC 9260, sections 6.1, 6.4 and 6.10).

use headway_sansio::{Datagram, Time};

use super::Association;
use super::state::State;
use crate::outbound::{Cause, Forced, MOST_OUTSTANDING};
use crate::packet::padded;
use crate::path::{Path, Route};
use crate::{
    COMMON_HEADER_BYTES, Chunk, Chunks, CwndOvershoot, MaxBurstRule, Packet, SackBundling,
};

/// The DATA chunk that may go out next.
#[derive(Clone, Copy)]
struct Next {
    marked: bool,
    /// With header and padding.
    bytes: u32,
}

/// The chunks of a packet under construction.
pub(super) struct Load<'a> {
    pub(super) chunks: &'a mut Chunks,
    /// What still fits, in bytes.
    pub(super) room: u32,
    /// Length of the packet so far, with its header.
    bytes: u32,
}

impl<'a> Load<'a> {
    /// An empty one, for a packet on a path.
    fn new(chunks: &'a mut Chunks, path: &Path) -> Self {
        Self {
            chunks,
            room: path.pmdcs,
            bytes: COMMON_HEADER_BYTES,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Adds a chunk that takes so many bytes, padding included.
    #[inline]
    pub(super) fn push(&mut self, chunk: Chunk, bytes: u32) {
        debug_assert_eq!(
            bytes,
            chunk.padded_bytes(),
            "the length is that of the chunk"
        );
        self.room = self.room.saturating_sub(bytes);
        self.bytes += bytes;
        self.chunks.push(chunk);
    }
}

/// What holds for the DATA of one packet under construction.
#[derive(Clone, Copy)]
struct Allowance {
    /// The path of the packet.
    path: usize,
    /// The flight size was below the limit when the packet was begun.
    below_limit: bool,
    limit: u32,
    /// Marked chunks go whatever cwnd says.
    forced: bool,
}

impl Association {
    /// The next packet to put on the wire. `now` is the time of the call that
    /// came before.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if self.is_silent() {
            return None;
        }
        let mut packet = self.packet(self.peer_tag);
        self.fill(now, &mut packet)?;
        Some(packet)
    }

    /// [`Self::poll_transmit`] where the packet stands: `packet` becomes the next one
    /// to put on the wire, and its length is returned. Where there is none, what
    /// `packet` holds means nothing.
    pub fn poll_transmit_into(&mut self, now: Time, packet: &mut Packet) -> Option<u32> {
        packet.source_port = self.local_port;
        packet.destination_port = self.remote_port;
        packet.verification_tag = self.peer_tag;
        packet.chunks.clear();
        self.fill(now, packet).map(|(_, bytes)| bytes)
    }

    /// The next packet to put on the wire, with the addresses from and to which
    /// it goes. `size_bytes` counts the IP header of the settings.
    pub fn poll_datagram(&mut self, now: Time) -> Option<Datagram<Packet>> {
        if self.is_silent() {
            return None;
        }
        let mut packet = self.packet(self.peer_tag);
        let (route, bytes) = self.fill(now, &mut packet)?;
        Some(Datagram {
            source: route.local,
            destination: route.remote,
            size_bytes: bytes + self.config.ip_header_bytes,
            body: packet,
        })
    }

    /// Whether it is plain at once that [`Self::poll_transmit`] has nothing, as it
    /// mostly is: it is asked until that is so.
    #[inline]
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.control.is_empty()
            && !self.inbound.acknowledgement.at_once
            && self.outbound.has_nothing_to_send()
            && !self.outbound.forward.due
            && self.packets.is_empty()
            && self.reconfig.is_none()
            && (self.outbound.is_idle() || self.window_stays())
    }

    /// Whether working out what the window allows cannot change the window itself.
    fn window_stays(&self) -> bool {
        let path = &self.paths[self.paths.data()];
        path.has_burst_limit(self.paths.opportunity())
            || path.flight > 0 && self.config.max_burst_rule == MaxBurstRule::Temporary
    }

    /// Makes the next packet of `packet`, an empty one to the peer, and gives the
    /// addresses from and to which it goes and its length. It stays where it is, as a
    /// packet is so large that handing it on takes a part of the time to make it.
    fn fill(&mut self, now: Time, packet: &mut Packet) -> Option<(Route, u32)> {
        if !self.packets.is_empty() {
            return self.fill_whole(packet);
        }
        if self.peer_tag == 0 {
            return None;
        }
        if self.reconfig.is_some() {
            self.continue_requests(now);
        }
        let mut path = self.control.front().map(|(path, _)| *path);
        let mut load = Load::new(
            &mut packet.chunks,
            &self.paths[path.unwrap_or(self.paths.data())],
        );
        if let Some(path) = path
            && !self.add_control(path, &mut load)
        {
            return Some(self.count_packet(path, load.bytes));
        }
        let echo = matches!(load.chunks.first(), Some(Chunk::CookieEcho(_)));
        let allowance = self.allowance(now, echo);
        let next = allowance.and_then(|allowance| self.next_data(allowance, true));
        let mut data = allowance.zip(next);
        // What must go decides on the path; what may go waits for its own packet.
        if path.is_none() && self.inbound.acknowledgement.at_once {
            path = Some(self.reply_path);
        }
        let forward = self.outbound.forward.due && self.state.sends_data();
        let path = path
            .or(data.map(|(allowance, _)| allowance.path))
            .or(forward.then(|| self.paths.data()))?;
        if load.is_empty() {
            load.room = self.paths[path].pmdcs;
        }
        data = data.filter(|(allowance, _)| allowance.path == path);
        if path == self.reply_path {
            let next = data.map(|(_, next)| next);
            self.add_sack(&mut load, next);
        }
        if forward && path == self.paths.data() {
            self.add_forward(now, &mut load);
        }
        if let Some((allowance, next)) = data {
            self.add_data(now, allowance, next, &mut load);
        }
        if load.is_empty() {
            return None;
        }
        Some(self.count_packet(path, load.bytes))
    }

    /// The first of the packets that were made whole before.
    #[cold]
    fn fill_whole(&mut self, packet: &mut Packet) -> Option<(Route, u32)> {
        let whole = self.packets.pop_front()?;
        *packet = whole.body;
        let route = Route {
            local: whole.source,
            remote: whole.destination,
        };
        let bytes = packet.size_bytes();
        match self.paths.find(route.remote) {
            Some(path) => {
                self.count_packet(path, bytes);
            }
            None => self.count_bytes(bytes),
        }
        Some((route, bytes))
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

    /// Counts a packet that goes out on a path, and gives its addresses and length.
    fn count_packet(&mut self, path: usize, bytes: u32) -> (Route, u32) {
        self.count_bytes(bytes);
        let path = &mut self.paths[path];
        path.stats.packets_sent += 1;
        path.stats.bytes_sent += u64::from(bytes);
        (path.route, bytes)
    }

    fn count_bytes(&mut self, bytes: u32) {
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += u64::from(bytes);
    }

    /// Adds the control chunks for a path. Says whether there is room for more.
    #[inline(never)]
    fn add_control(&mut self, path: usize, load: &mut Load<'_>) -> bool {
        while let Some((to, chunk)) = self.control.front() {
            if *to != path {
                break;
            }
            let bytes = chunk.padded_bytes();
            // A chunk that fits no packet goes alone and is fragmented by IP.
            if bytes > load.room && !load.is_empty() {
                return false;
            }
            if let Some((_, chunk)) = self.control.pop_front() {
                load.push(chunk, bytes);
            }
        }
        true
    }

    /// Where the next DATA goes and what the windows allow there, if any may be
    /// sent at all. `echo`: the packet begins with COOKIE ECHO, which DATA may
    /// follow (section 5.1.4).
    fn allowance(&mut self, now: Time, echo: bool) -> Option<Allowance> {
        let may =
            self.state.sends_data() || echo && matches!(self.state, State::CookieEchoed { .. });
        if !may || self.outbound.is_idle() {
            return None;
        }
        let index = self.next_path();
        let opportunity = self.paths.opportunity();
        let path = &mut self.paths[index];
        let burst_limit = path.burst_limit_in(opportunity, &self.config, now);
        let limit = path.cwnd.min(burst_limit);
        Some(Allowance {
            path: index,
            below_limit: path.flight < limit,
            limit,
            forced: self.outbound.forced != Forced::Nothing,
        })
    }

    /// The DATA chunk that may go into the packet next. Marked chunks come first
    /// (section 6.1, rule C), and while they may not go, new ones may not either.
    /// `first`: it is the first DATA chunk of the packet.
    #[inline]
    fn next_data(&mut self, allowance: Allowance, first: bool) -> Option<Next> {
        if self.outbound.has_nothing_to_send() {
            return None;
        }
        self.choose_data(allowance, first)
    }

    fn choose_data(&mut self, allowance: Allowance, first: bool) -> Option<Next> {
        let path = &self.paths[allowance.path];
        let below = match self.config.cwnd_overshoot {
            CwndOvershoot::Packet => allowance.below_limit,
            CwndOvershoot::Chunk => path.flight < allowance.limit,
        };
        let held = path.hold && !allowance.forced;
        let below = below || allowance.forced && path.tail.under_way.is_some();
        if let Some(marked) = self.outbound.next_marked() {
            let may = allowance.forced || (below && !held);
            return may.then_some(Next {
                marked: true,
                bytes: marked.bytes,
            });
        }
        if !below || held || self.outbound.outstanding() >= MOST_OUTSTANDING {
            return None;
        }
        let most = self.fragment_bytes();
        let payload = self.outbound.queue.next_bytes(most)?;
        if !self.peer_has_room(payload) || first && self.nagle_waits() {
            return None;
        }
        Some(Next {
            marked: false,
            bytes: padded(self.outbound.queue.header_bytes() + payload),
        })
    }

    /// The most payload of one chunk, so that it fits on every path (section 7.3).
    pub(super) fn fragment_bytes(&self) -> u32 {
        self.paths.amdcs() - self.outbound.queue.header_bytes()
    }

    /// Section 6.1, rule A. Chunks are never cut to fit a window, so a small
    /// opening cannot lead to small chunks (silly window syndrome).
    pub(super) fn peer_has_room(&self, payload: u32) -> bool {
        let cost = payload + self.config.peer_window_chunk_cost_bytes;
        cost <= self.outbound.peer_window || self.probe_now
    }

    /// Whether a packet waits for more to fill it. One that goes anyway takes all
    /// it can.
    fn nagle_waits(&self) -> bool {
        self.config.nagle
            && self.outbound.outstanding() > 0
            && self.outbound.queue.chunk_bytes() < self.data_room()
    }

    /// What the chunks of a packet with new DATA take together.
    fn data_room(&self) -> u32 {
        self.paths[self.paths.data()].pmdcs
    }

    fn add_sack(&mut self, load: &mut Load<'_>, next: Option<Next>) {
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
        let room = load.room;
        let beside_data = next.is_some() && bytes + data <= room;
        if owed.at_once && (load.is_empty() || bytes <= room) || bundles && beside_data {
            let limit = if beside_data { room - data } else { room };
            let sack = self.inbound.take_sack(&self.config, limit);
            let bytes = padded(sack.length_bytes());
            load.push(Chunk::Sack(sack), bytes);
            self.stats.sacks_sent += 1;
        }
    }

    /// Fills the packet with DATA for the path of `allowance`, `first` and what
    /// follows it.
    fn add_data(&mut self, now: Time, allowance: Allowance, first: Next, load: &mut Load<'_>) {
        let mut resent = false;
        let mut fresh = false;
        let mut upcoming = Some(first);
        self.outbound.queue.begin_packet();
        while let Some(next) = upcoming {
            // A chunk that fits no packet, because the path has become narrower
            // since it was cut, goes alone and is fragmented by IP.
            if next.bytes > load.room && !load.is_empty() {
                break;
            }
            let immediate = !next.marked && self.ends_burst(now, allowance, next);
            let Self {
                config,
                paths,
                outbound,
                stats,
                ..
            } = self;
            let chunk = if next.marked {
                let Some((chunk, cause)) = outbound.resend(config, paths, allowance.path, now)
                else {
                    break;
                };
                match cause {
                    Cause::Fast => stats.fast_retransmissions += 1,
                    Cause::Timeout => stats.timed_retransmissions += 1,
                    Cause::Probe => stats.probe_retransmissions += 1,
                }
                resent = true;
                chunk
            } else {
                let Some(chunk) = outbound.send_new(config, paths, allowance.path, now, immediate)
                else {
                    break;
                };
                stats.data_chunks_sent += 1;
                fresh = true;
                if self.probe_now {
                    // One chunk, and T3-rtx watches it from here on.
                    self.probe_now = false;
                    self.outbound.probing = true;
                    self.stats.window_probes += 1;
                }
                chunk
            };
            load.push(Chunk::Data(chunk), next.bytes);
            if self.paths.len() > 1 && self.next_path() != allowance.path {
                break;
            }
            upcoming = self.next_data(allowance, false);
        }
        self.outbound.queue.begin_packet();
        if fresh {
            self.paths[allowance.path].last_packet = now;
            self.schedule_probe(now, allowance.path);
        }
        if fresh && self.outbound.forced == Forced::OnePacket {
            // A tail loss probe with new data.
            self.outbound.forced = Forced::Nothing;
        }
        if resent {
            let more = self.outbound.next_marked().is_some();
            if self.outbound.forced == Forced::OnePacket || !more {
                self.outbound.forced = Forced::Nothing;
            }
        }
    }

    /// Whether the next new chunk is the last that goes out for a while, so that a
    /// SACK without delay is worth its packet (section 6.1; RFC 7053, section 4).
    fn ends_burst(&self, now: Time, allowance: Allowance, next: Next) -> bool {
        if !self.config.immediate_sack_on_burst_end {
            return false;
        }
        let path = &self.paths[allowance.path];
        let most = self.fragment_bytes();
        let last = self.outbound.queue.is_last(most);
        let ending = matches!(self.state, State::ShutdownPending);
        let sparse = now.since(path.last_packet) > self.config.sack_delay;
        let after_others = path.last_packet == now;
        let fills = path.flight + next.bytes >= allowance.limit
            || self.outbound.peer_window < 2 * next.bytes;
        fills || last && (ending || sparse || after_others)
    }

    /// The path that the next DATA takes: what timed out goes elsewhere, other
    /// retransmissions where they were (section 6.4).
    #[inline]
    fn next_path(&mut self) -> usize {
        if self.paths.len() == 1 {
            return 0;
        }
        self.choose_path()
    }

    #[inline(never)]
    fn choose_path(&mut self) -> usize {
        match self.outbound.next_marked() {
            Some(marked) if marked.cause == Cause::Timeout => {
                self.paths.alternate(marked.last_path)
            }
            Some(marked) if self.paths[marked.last_path].is_usable() => marked.last_path,
            _ => self.paths.data(),
        }
    }

    /// Watches a closed window: where new data waits for nothing but the peer's
    /// buffer, a probe follows after one RTO, and then at doubling intervals
    /// (section 6.1, rule A).
    pub(super) fn watch_window(&mut self, now: Time) {
        let most = self.fragment_bytes();
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
            let rto = self.paths[self.paths.data()].rto;
            let doubled = (self.probe_interval * 2).min(self.config.rto_max);
            self.probe_interval = doubled.max(rto);
            self.probe = now + self.probe_interval;
        }
    }
}
