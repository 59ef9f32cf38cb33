//! The sending half: messages that wait, chunks that are under way, and what
//! the peer says of them.

mod abandon;
mod acknowledge;
mod books;
mod forward;
mod limit;
mod loss;
mod queue;
mod schedule;
mod spans;
mod time;
mod waiting;

pub(crate) use abandon::GivenUp;
pub(crate) use acknowledge::Progress;
pub(crate) use limit::Limit;
pub(crate) use queue::SendQueue;

use std::collections::VecDeque;

use headway_sansio::Time;

use crate::packet::{Extensions, padded};
use crate::path::Paths;
use crate::{Config, DataChunk, Tsn};
use forward::Forward;

/// The most chunks outstanding: gap blocks count in 16 bits, and a stream's
/// sequence numbers must not wrap within the window (RFC 9260, section 6.1).
pub(crate) const MOST_OUTSTANDING: usize = 65_535;

/// Everything about the DATA that this side sends.
#[derive(Debug)]
pub(crate) struct Outbound {
    pub(crate) queue: SendQueue,
    /// Chunks sent and not cumulatively acknowledged; index 0 is `first`, and the
    /// indices run on with the TSNs.
    sent: VecDeque<Sent>,
    first: Tsn,
    /// Bytes of payload in `sent`.
    sent_bytes: u32,
    /// Which of `sent` the last SACK reported beyond a gap.
    acked: Vec<spans::Span>,
    scratch: Vec<spans::Span>,
    difference: Vec<spans::Span>,
    /// Chunks to send again, lowest first. May still name chunks that were
    /// acknowledged since.
    marked: VecDeque<Tsn>,
    /// What the peer's receive buffer still takes, in bytes.
    pub(crate) peer_window: u32,
    /// What the chunks under way take of it.
    window_in_flight: u32,
    /// Fast recovery lasts until this TSN is acknowledged.
    pub(crate) recovery: Option<Tsn>,
    /// Packets of marked chunks that go out whatever cwnd says.
    pub(crate) forced: Forced,
    /// A zero window probe is under way.
    pub(crate) probing: bool,
    /// What a chunk takes of the peer's buffer beyond its payload.
    window_chunk_cost: u32,
    /// Both sides know partial reliability.
    partial: bool,
    /// Chunks in `sent` whose messages may be given up.
    limited: u32,
    /// Chunks in `sent` of messages that were given up.
    abandoned: u32,
    pub(crate) forward: Forward,
}

/// How much may be retransmitted without regard to cwnd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Forced {
    Nothing,
    OnePacket,
    AllMarked,
}

/// One chunk that was sent.
#[derive(Debug)]
struct Sent {
    chunk: DataChunk,
    state: SentState,
    /// The path on which it was last sent.
    path: u8,
    /// It was sent on more than one path.
    moved: bool,
    /// How often it was sent.
    transmissions: u16,
    /// Missing reports since it was last sent.
    missing: u8,
    /// It was retransmitted because of missing reports.
    fast: bool,
    /// First TSN not yet sent when it was fast-retransmitted.
    marker: Tsn,
    /// What it counts against cwnd.
    cost: u32,
    sent_at: Time,
    limit: Limit,
    /// It was given up while under way, so that its loss still counts as a sign of
    /// congestion (RFC 3758, section 3.5, rule F5).
    watched: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SentState {
    InFlight,
    /// Reported beyond a gap.
    Acked,
    /// To be sent again, because of missing reports.
    MarkedFast,
    /// To be sent again, because T3-rtx expired.
    MarkedTimeout,
    /// To be sent again, to find out what has arrived.
    MarkedProbe,
    /// Given up: counts as acknowledged, and waits for the peer to skip it
    /// (RFC 3758, section 3.5, rule A2).
    Abandoned,
}

/// A chunk to send again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marked {
    tsn: Tsn,
    /// Its payload in bytes.
    payload: u32,
    /// With its header, which is that with which it was sent first, and padding.
    pub(crate) bytes: u32,
    /// The path on which it was last sent.
    pub(crate) last_path: usize,
    pub(crate) cause: Cause,
}

/// Why a chunk is being retransmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    Fast,
    Timeout,
    Probe,
}

impl Outbound {
    pub(crate) fn new(config: &Config, first: Tsn, peer_window: u32) -> Self {
        Self {
            queue: SendQueue::new(config.scheduler),
            sent: VecDeque::new(),
            first,
            sent_bytes: 0,
            acked: Vec::new(),
            scratch: Vec::new(),
            difference: Vec::new(),
            marked: VecDeque::new(),
            peer_window,
            window_in_flight: 0,
            recovery: None,
            forced: Forced::Nothing,
            probing: false,
            window_chunk_cost: config.peer_window_chunk_cost_bytes,
            partial: false,
            limited: 0,
            abandoned: 0,
            forward: Forward::default(),
        }
    }

    /// Takes note of what both sides know.
    pub(crate) fn set_extensions(&mut self, extensions: Extensions) {
        self.partial = extensions.partial_reliability;
        self.queue.set_interleaving(extensions.interleaving);
    }

    /// The paths were laid anew, each now at one of `places` or gone. What was last sent
    /// on one that is gone counts on the one where DATA goes.
    pub(crate) fn follow_paths(&mut self, paths: &mut Paths, places: &[Option<usize>], now: Time) {
        let data = paths.data();
        for sent in &mut self.sent {
            let kept = places.get(usize::from(sent.path)).copied().flatten();
            sent.path = kept.unwrap_or(data) as u8;
            if kept.is_some() {
                continue;
            }
            sent.moved = true;
            let path = &mut paths[data];
            match sent.state {
                SentState::Acked | SentState::Abandoned => continue,
                SentState::InFlight => path.flight += sent.cost,
                SentState::MarkedFast | SentState::MarkedTimeout | SentState::MarkedProbe => {}
            }
            path.outstanding += 1;
            if path.t3 == Time::FAR_FUTURE {
                path.start_t3(now);
            }
        }
    }

    /// Takes the messages out that wait.
    pub(crate) fn take_queue(&mut self, config: &Config) -> SendQueue {
        core::mem::replace(&mut self.queue, SendQueue::new(config.scheduler))
    }

    /// Gives back memory, where nothing waits or is outstanding.
    pub(crate) fn trim(&mut self) {
        self.sent = VecDeque::new();
        self.acked = Vec::new();
        self.scratch = Vec::new();
        self.difference = Vec::new();
        self.marked = VecDeque::new();
        self.queue.trim();
    }

    /// The TSN of the next new chunk.
    pub(crate) fn next_tsn(&self) -> Tsn {
        self.first.plus(self.sent.len() as u32)
    }

    /// How many chunks are sent and not cumulatively acknowledged.
    pub(crate) fn outstanding(&self) -> usize {
        self.sent.len()
    }

    /// Bytes of messages that the peer has not acknowledged.
    pub(crate) fn buffered_bytes(&self) -> u32 {
        self.sent_bytes + self.queue.bytes()
    }

    /// Nothing waits and nothing is outstanding.
    pub(crate) fn is_idle(&self) -> bool {
        self.sent.is_empty() && self.queue.is_empty()
    }

    /// Nothing waits to be sent, or to be sent again.
    pub(crate) fn has_nothing_to_send(&self) -> bool {
        self.queue.is_empty() && self.marked.is_empty()
    }

    /// Goes on with another TSN, where nothing is outstanding (RFC 6525, section
    /// 5.2.7, rule H5).
    pub(crate) fn restart(&mut self, next: Tsn) {
        debug_assert!(self.sent.is_empty(), "all is acknowledged");
        self.sent.clear();
        self.first = next;
        self.acked.clear();
        self.marked.clear();
        self.recovery = None;
        self.forward = Forward::default();
    }

    /// The lowest chunk to send again.
    pub(crate) fn next_marked(&mut self) -> Option<Marked> {
        while let Some(&tsn) = self.marked.front() {
            let index = tsn.distance_from(self.first) as usize;
            match self.sent.get(index) {
                Some(sent) if sent.state.is_marked() => {
                    return Some(Marked {
                        tsn,
                        payload: sent.chunk.payload.len() as u32,
                        bytes: padded(sent.chunk.length_bytes()),
                        last_path: usize::from(sent.path),
                        cause: match sent.state {
                            SentState::MarkedTimeout => Cause::Timeout,
                            SentState::MarkedProbe => Cause::Probe,
                            _ => Cause::Fast,
                        },
                    });
                }
                _ => self.marked.pop_front(),
            };
        }
        None
    }

    /// Sends the chunk that [`Self::next_marked`] named, on the path `to`.
    #[inline(never)]
    pub(crate) fn resend(
        &mut self,
        config: &Config,
        paths: &mut Paths,
        to: usize,
        now: Time,
    ) -> Option<(DataChunk, Cause)> {
        let Marked {
            tsn,
            payload,
            last_path,
            cause,
            ..
        } = self.next_marked()?;
        self.marked.pop_front();
        let next_tsn = self.next_tsn();
        let index = tsn.distance_from(self.first);
        let sent = self.sent.get_mut(index as usize)?;
        if cause == Cause::Fast {
            sent.marker = next_tsn;
        }
        sent.transmissions = sent.transmissions.saturating_add(1);
        sent.state = SentState::InFlight;
        sent.sent_at = now;
        if to != last_path {
            sent.path = to as u8;
            sent.moved = true;
            paths[last_path].outstanding -= 1;
            paths[to].outstanding += 1;
        }
        let (mut chunk, cost) = (sent.chunk.clone(), sent.cost);
        // Nothing else may go before this one is answered (section 6.1: whenever
        // the sender can benefit).
        chunk.immediate |=
            cause == Cause::Probe || cause == Cause::Timeout && config.immediate_sack_on_burst_end;
        self.queue.confine(chunk.stream);
        let path = &mut paths[to];
        path.flight += cost;
        path.stats.retransmissions += 1;
        self.depart(payload + config.peer_window_chunk_cost_bytes);
        let path = &mut paths[last_path];
        // Karn's rule, in the strict form of rule C5: nothing at or above a
        // retransmitted TSN may be measured.
        if path.timed.is_some_and(|(timed, _)| !timed.precedes(tsn)) {
            path.timed = None;
        }
        let path = &mut paths[to];
        if path.t3 == Time::FAR_FUTURE || index == 0 {
            path.start_t3(now);
        }
        Some((chunk, cause))
    }

    /// Sends the next chunk that was never sent, on the path `to`.
    pub(crate) fn send_new(
        &mut self,
        config: &Config,
        paths: &mut Paths,
        to: usize,
        now: Time,
        immediate: bool,
    ) -> Option<DataChunk> {
        let tsn = self.next_tsn();
        let header = self.queue.header_bytes();
        let (mut chunk, limit) = self.queue.pop(tsn, paths.amdcs() - header)?;
        chunk.immediate |= immediate;
        let bytes = chunk.payload.len() as u32;
        let cost = config.window_cost(header, bytes);
        if limit != Limit::None {
            self.limited += 1;
        }
        let mut stored = chunk.clone();
        stored.trace.retransmission = true;
        self.sent.push_back(Sent {
            chunk: stored,
            state: SentState::InFlight,
            path: to as u8,
            moved: false,
            transmissions: 1,
            missing: 0,
            fast: false,
            marker: tsn,
            cost,
            sent_at: now,
            limit,
            watched: false,
        });
        self.sent_bytes += bytes;
        self.depart(bytes + config.peer_window_chunk_cost_bytes);
        let path = &mut paths[to];
        path.flight += cost;
        path.outstanding += 1;
        path.stats.data_chunks_sent += 1;
        if path.timed.is_none() {
            path.timed = Some((tsn, now));
        }
        if path.t3 == Time::FAR_FUTURE {
            path.start_t3(now);
        }
        path.last_data = now;
        Some(chunk)
    }

    fn depart(&mut self, window: u32) {
        self.window_in_flight += window;
        self.peer_window = self.peer_window.saturating_sub(window);
    }
}

impl SentState {
    const fn is_marked(self) -> bool {
        matches!(
            self,
            Self::MarkedFast | Self::MarkedTimeout | Self::MarkedProbe
        )
    }
}
