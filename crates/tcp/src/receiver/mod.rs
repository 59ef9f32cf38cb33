//! The receiving half of a connection: putting the stream together, the window
//! that is offered, and what SACK reports.

mod delayed_ack;

use std::collections::BTreeMap;

use bytes::Bytes;
use headway_sansio::Payload;
use smallvec::SmallVec;

use crate::config::{Config, WindowUpdate};
use crate::content::Content;
use crate::range_set::RangeSet;
use crate::stats::Stats;
pub(crate) use delayed_ack::{Arrival, DelayedAck, Network};

#[derive(Debug)]
pub(crate) struct Receiver {
    /// In order and not read.
    content: Content,
    /// Next offset expected.
    next: u64,
    /// Held beyond a gap.
    beyond: RangeSet,
    /// Their bytes, by offset, where bytes travel.
    pieces: BTreeMap<u64, Bytes>,
    /// Where each range was last added to, newest first.
    recent: SmallVec<[u64; 4]>,
    /// What arrived twice, to be reported once.
    twice: Option<(u64, u64)>,
    fin_at: Option<u64>,
    /// First offset beyond the window that was offered; it never moves back.
    edge: u64,
    pub(crate) acks: DelayedAck,
    /// In-order bytes that a read should be told of.
    pub(crate) readable: bool,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            content: Content::default(),
            next: 0,
            beyond: RangeSet::default(),
            pieces: BTreeMap::new(),
            recent: SmallVec::new(),
            twice: None,
            fin_at: None,
            edge: config.receive_buffer_bytes,
            acks: DelayedAck::new(),
            readable: false,
        }
    }

    /// Next offset expected, FIN not counted.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The acknowledgement: one more once FIN is in.
    pub(crate) fn ack_offset(&self) -> u64 {
        self.next + u64::from(self.finished())
    }

    /// The peer's stream is complete.
    pub(crate) fn finished(&self) -> bool {
        self.fin_at == Some(self.next)
    }

    pub(crate) fn unread(&self) -> u64 {
        self.content.len()
    }

    pub(crate) fn beyond(&self) -> &RangeSet {
        &self.beyond
    }

    /// Bytes of the stream below this offset were read.
    pub(crate) fn read_offset(&self) -> u64 {
        self.content.start()
    }

    // ---- arrival

    /// Takes data in that starts at `offset`; `None` lies before the stream.
    pub(crate) fn on_data(
        &mut self,
        config: &Config,
        offset: u64,
        mut payload: Payload,
        fin: bool,
        stats: &mut Stats,
    ) -> Arrival {
        let len = payload.len() as u64;
        let end = offset + len;
        if fin && end <= self.edge {
            self.fin_at.get_or_insert(end);
        }
        // The frequent case: in order, with no gap.
        if offset == self.next && self.beyond.is_empty() && end <= self.edge {
            self.next = end;
            self.readable |= len > 0;
            self.content.push(payload);
            return Arrival::in_order(len as u32);
        }
        if end > self.edge {
            stats.bytes_beyond_window += end - self.edge.max(offset).min(end);
            let fits = self.edge.saturating_sub(offset).min(len);
            payload = payload.split_to(fits as usize);
        }
        self.place(config, offset, payload, fin, stats)
    }

    fn place(
        &mut self,
        config: &Config,
        offset: u64,
        payload: Payload,
        fin: bool,
        stats: &mut Stats,
    ) -> Arrival {
        let len = payload.len() as u32;
        let end = offset + u64::from(len);
        let old_next = self.next;
        if end <= self.next || len == 0 {
            stats.duplicate_segments += u64::from(len > 0);
            self.report_twice(config, offset, end.min(self.next));
            return Arrival::duplicate(len, fin);
        }
        if offset < self.next {
            self.report_twice(config, offset, self.next);
        }
        let start = offset.max(self.next);
        let held = self.beyond.first_overlap(start, end);
        if let Some(held) = held {
            self.report_twice(config, held.0, held.1);
        }
        if held == Some((start, end)) {
            stats.duplicate_segments += 1;
            self.remember(start);
            return Arrival::duplicate(len, fin);
        }
        let had_gap = !self.beyond.is_empty();
        let pieces = &mut self.pieces;
        let range = self.beyond.insert(start, end, |s, e| {
            if let Payload::Bytes(bytes) = &payload {
                let piece = bytes.slice((s - offset) as usize..(e - offset) as usize);
                pieces.insert(s, piece);
            }
        });
        if range.0 > self.next {
            stats.out_of_order_segments += 1;
            self.remember(start);
            return Arrival::beyond_gap(len);
        }
        self.advance(range.1);
        let advanced = self.next - old_next;
        if had_gap {
            Arrival::into_gap(len, advanced)
        } else {
            Arrival::in_order(len)
        }
    }

    /// Everything up to `end` is there.
    fn advance(&mut self, end: u64) {
        while self.next < end {
            let at = self.next;
            let upto = match self.pieces.first_key_value() {
                Some((&start, _)) if start == at => {
                    let (_, bytes) = self.pieces.pop_first().expect("it is there");
                    let next = at + bytes.len() as u64;
                    self.content.push(Payload::Bytes(bytes));
                    next
                }
                Some((&start, _)) => start.min(end),
                None => end,
            };
            if self.content.end() < upto {
                // Only the number of these bytes is known.
                let sized = (upto - at).min(u64::from(u32::MAX)) as u32;
                self.content.push(Payload::Sized(sized));
                self.next = at + u64::from(sized);
            } else {
                self.next = upto;
            }
        }
        self.beyond.remove_below(self.next);
        self.readable = true;
    }

    fn remember(&mut self, offset: u64) {
        self.recent.insert(0, offset);
        // One entry for each range is enough; there is room for four reports.
        let mut kept: SmallVec<[u64; 4]> = SmallVec::new();
        let mut seen: SmallVec<[u64; 5]> = SmallVec::new();
        for &at in &self.recent {
            if let Some(range) = self.beyond.containing(at)
                && !seen.contains(&range.0)
                && kept.len() < 4
            {
                seen.push(range.0);
                kept.push(at);
            }
        }
        self.recent = kept;
    }

    fn report_twice(&mut self, config: &Config, start: u64, end: u64) {
        if config.dsack && start < end {
            self.twice.get_or_insert((start, end));
        }
    }

    /// The SACK blocks of the next segment, at most `room`: a duplicate first
    /// (RFC 2883), then the ranges in which something arrived last (RFC 2018,
    /// section 4).
    pub(crate) fn blocks(&mut self, room: usize) -> SmallVec<[(u64, u64); 4]> {
        let mut blocks = SmallVec::new();
        if let Some(range) = self.twice.take() {
            blocks.push(range);
        }
        if self.beyond.is_empty() {
            self.recent.clear();
            return blocks;
        }
        let first = blocks.len();
        for &at in &self.recent {
            if blocks.len() >= room {
                break;
            }
            if let Some(range) = self.beyond.containing(at)
                && !blocks[first..].contains(&range)
            {
                blocks.push(range);
            }
        }
        blocks
    }

    pub(crate) fn has_blocks(&self) -> bool {
        self.twice.is_some() || !self.beyond.is_empty()
    }

    // ---- window and reading

    /// The window to offer now, in bytes. Its edge moves on by an MSS or half the
    /// buffer at least (RFC 9293, section 3.8.6.2.2).
    pub(crate) fn offer(&mut self, config: &Config, mss: u32) -> u64 {
        let room = config.receive_buffer_bytes.saturating_sub(self.unread());
        let more = (self.next + room).saturating_sub(self.edge);
        if more >= u64::from(mss).min(config.receive_buffer_bytes / 2) {
            self.edge += more;
        }
        self.edge - self.next
    }

    /// Takes up to `max` bytes. Returns whether an ACK is to follow.
    pub(crate) fn read(&mut self, config: &Config, mss: u32, max: usize) -> (Payload, bool) {
        let payload = self.content.take(max);
        self.readable = false;
        let update = !payload.is_empty() && !self.finished() && self.opens(config, mss);
        let drained = self.content.len() == 0 && !payload.is_empty();
        let ack = update || (drained && self.acks.on_drain(config));
        (payload, ack)
    }

    /// Whether the window opens by enough to tell the peer.
    fn opens(&self, config: &Config, mss: u32) -> bool {
        let offered = self.edge - self.next;
        let room = config.receive_buffer_bytes.saturating_sub(self.unread());
        let more = (self.next + room).saturating_sub(self.edge);
        let (mss, half) = (u64::from(mss), config.receive_buffer_bytes / 2);
        match config.window_update {
            // With an MSS or more on offer the peer is not stuck, and ACKs of
            // its data will tell.
            WindowUpdate::Rfc9293 => offered < mss.min(half) && more >= mss.min(half).max(1),
            WindowUpdate::Freebsd => more >= (2 * mss).min(half).max(1),
            WindowUpdate::Linux => more > 0 && offered + more >= 2 * offered.max(1),
        }
    }

    /// What is held beyond a gap at `offset`, up to `len` bytes: `None` where
    /// that is not held.
    pub(crate) fn peek(&self, offset: u64, len: u32) -> Option<Payload> {
        if len == 0 || !self.beyond.covers(offset, offset + u64::from(len)) {
            return None;
        }
        let end = offset + u64::from(len);
        let mut parts = SmallVec::<[Payload; 4]>::new();
        let mut at = offset;
        while at < end {
            let below = self.pieces.range(..=at).next_back();
            if let Some((&start, bytes)) = below
                && start + bytes.len() as u64 > at
            {
                let upto = end.min(start + bytes.len() as u64);
                parts.push(Payload::Bytes(
                    bytes.slice((at - start) as usize..(upto - start) as usize),
                ));
                at = upto;
            } else {
                let upto = self
                    .pieces
                    .range(at..end)
                    .next()
                    .map_or(end, |(&start, _)| start);
                parts.push(Payload::Sized((upto - at) as u32));
                at = upto;
            }
        }
        Some(Payload::concat(parts.iter()))
    }
}

#[cfg(test)]
mod tests;
