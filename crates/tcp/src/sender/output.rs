//! The next transmission: retransmissions first, then new data as far as both
//! windows, Nagle and the burst limit allow.

use headway_sansio::{Duration, Payload, Time};

use super::{Phase, Sender};
use crate::config::{Config, IdleRestart, Nagle, RetransmitMerge, WindowUnit};
use crate::congestion::{SentRow, Usage};
use crate::stats::Stats;

/// A piece of the stream that is to be put into a segment now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transmission {
    pub(crate) start: u64,
    pub(crate) len: u32,
    pub(crate) fin: bool,
    pub(crate) push: bool,
    pub(crate) retransmission: bool,
}

impl Sender {
    /// The bytes of a transmission.
    pub(crate) fn payload(&self, t: &Transmission) -> Payload {
        self.content.slice(t.start, t.len)
    }

    /// Whether a probe of the closed window is due; asking takes it away.
    pub(crate) fn take_window_probe(&mut self) -> bool {
        core::mem::take(&mut self.window_probe)
    }

    /// What to send now, if anything. To be called until there is nothing.
    pub(crate) fn next_transmission(
        &mut self,
        config: &Config,
        now: Time,
        stats: &mut Stats,
    ) -> Option<Transmission> {
        if self.next == self.written()
            && self.board.is_empty()
            && self.fin_at.is_none_or(|at| self.next > at)
        {
            self.end_row(config, now);
            return None;
        }
        let chosen = self.choose(config, now, stats);
        if chosen.is_none() {
            self.end_row(config, now);
        }
        chosen
    }

    fn choose(&mut self, config: &Config, now: Time, stats: &mut Stats) -> Option<Transmission> {
        if let Some(t) = self.take_probe(config, now, stats) {
            return Some(t);
        }
        if self.phase != Phase::Open
            && self.board.waits_for_resend()
            && !self.frto.holds_retransmissions()
        {
            let index = self.board.next_to_resend()?;
            if !self.forced && !self.fits(config, self.board.get(index).len) {
                self.limited_by_window = true;
                return None;
            }
            return Some(self.retransmit(config, index, now, stats));
        }
        if let Some(t) = self.next_new(config, now, stats) {
            return Some(t);
        }
        if self.phase == Phase::Recovery && self.by_sack(config) {
            let index = self.last_resort(config)?;
            return Some(self.retransmit(config, index, now, stats));
        }
        None
    }

    /// Sends the segment at `index` again.
    pub(crate) fn retransmit(
        &mut self,
        config: &Config,
        index: usize,
        now: Time,
        stats: &mut Stats,
    ) -> Transmission {
        self.forced = false;
        self.merge(config, index);
        self.board.resend(index, self.next, now);
        let segment = *self.board.get(index);
        self.timed = None;
        self.last_sent_at = Some(now);
        self.idle_since = now;
        self.sent_in_row = true;
        self.high_resent = self.high_resent.max(segment.end());
        let weight = self.weight(config, segment.len);
        self.prr.sent(weight);
        self.undo.retransmitted(now);
        stats.retransmissions += 1;
        match self.phase {
            Phase::Loss => stats.timed_retransmissions += 1,
            Phase::Recovery => {
                stats.fast_retransmissions += 1;
                self.resent_in_recovery += weight;
            }
            Phase::Open => {}
        }
        if self.rto_at == Time::FAR_FUTURE {
            self.arm_rto(config, now);
        }
        Transmission {
            start: segment.start,
            len: segment.data_len(),
            fin: segment.fin(),
            push: false,
            retransmission: true,
        }
    }

    fn weight(&self, config: &Config, len: u32) -> u64 {
        if config.window_unit == WindowUnit::Segments {
            1
        } else {
            u64::from(len)
        }
    }

    /// Puts short segments together before they are sent again.
    fn merge(&mut self, config: &Config, index: usize) {
        let first = *self.board.get(index);
        let most = match config.retransmit_merge {
            RetransmitMerge::Off => return,
            RetransmitMerge::One if first.len >= self.agreed.mss / 2 => return,
            RetransmitMerge::One => 1,
            RetransmitMerge::Full => usize::MAX,
        };
        for _ in 0..most {
            if index + 1 >= self.board.len() {
                return;
            }
            let (first, next) = (self.board.get(index), self.board.get(index + 1));
            if next.sacked()
                || next.resent()
                || first.fin()
                || first.len + next.data_len() > self.agreed.mss
            {
                return;
            }
            self.board.merge_next(index);
        }
    }

    /// New data, if there is any that may go.
    fn next_new(&mut self, config: &Config, now: Time, stats: &mut Stats) -> Option<Transmission> {
        if config.max_burst_segments != 0 && self.burst >= config.max_burst_segments {
            return None;
        }
        let unsent = self.unsent();
        let fin_waits = self.fin_at.is_some_and(|at| self.next <= at);
        if unsent == 0 && !fin_waits {
            return None;
        }
        if self.board.is_empty() {
            self.restart_after_idle(config, now);
        }
        let len = self.new_length(config, unsent)?;
        if !self.fits(config, len.max(1)) {
            self.limited_by_window = true;
            return None;
        }
        Some(self.send_new(config, len, now, stats))
    }

    /// How long the next new segment is, after the peer's window and Nagle.
    fn new_length(&mut self, config: &Config, unsent: u64) -> Option<u32> {
        let mss = self.agreed.mss;
        let mut len = unsent.min(u64::from(mss)) as u32;
        if !config.coalesce
            && let Some(&end) = self.boundaries.front()
        {
            len = len.min((end - self.next) as u32);
        }
        let room = self.edge.saturating_sub(self.next);
        if room < u64::from(len) {
            // RFC 9293, section 3.8.6.2.1: no silly small pieces.
            if room == 0 || room < self.window_max / 2 {
                return None;
            }
            len = room as u32;
        }
        let last = u64::from(len) == unsent && self.fin_at.is_some();
        if len < mss && len > 0 && !last && self.short_waits(config) {
            return None;
        }
        Some(len)
    }

    fn short_waits(&self, config: &Config) -> bool {
        match config.nagle {
            Nagle::Off => false,
            Nagle::On => self.next > self.una,
            Nagle::Minshall => self.short_end > self.una,
        }
    }

    /// Sends `len` new bytes, and FIN where they are the last.
    pub(crate) fn send_new(
        &mut self,
        config: &Config,
        len: u32,
        now: Time,
        stats: &mut Stats,
    ) -> Transmission {
        let start = self.next;
        let end = start + u64::from(len);
        let fin = self.fin_at == Some(end);
        let mut push = false;
        while self.boundaries.front().is_some_and(|&b| b <= end) {
            push = self.boundaries.pop_front() == Some(end);
        }
        let length = len + u32::from(fin);
        if self.board.is_empty() {
            self.window.was_idle(now.since(self.idle_since));
        }
        self.idle_since = now;
        self.board.sent(start, length, fin, now);
        self.next = start + u64::from(length);
        if len < self.agreed.mss {
            self.short_end = self.next;
        }
        if self.timed.is_none() {
            self.timed = Some((self.next, now));
        }
        self.last_sent_at = Some(now);
        self.burst += 1;
        self.sent_in_row = true;
        let weight = self.weight(config, length);
        match self.phase {
            Phase::Recovery => {
                self.new_in_recovery += weight;
                self.prr.sent(weight);
            }
            Phase::Open if self.duplicates > 0 => self.limited_sent += weight,
            _ => {}
        }
        stats.data_segments += 1;
        stats.data_bytes += u64::from(len);
        if self.rto_at == Time::FAR_FUTURE {
            self.arm_rto(config, now);
        }
        self.arm_probe(config, now);
        Transmission {
            start,
            len,
            fin,
            push,
            retransmission: false,
        }
    }

    /// The window after a pause (RFC 5681, section 4.1; RFC 2861).
    fn restart_after_idle(&mut self, config: &Config, now: Time) {
        let Some(last) = self.last_sent_at else {
            return;
        };
        let idle = now.since(last);
        let rto = self.rto(config);
        if idle <= rto || rto.is_zero() {
            return;
        }
        let initial = self.window.initial(config);
        match config.idle_restart {
            IdleRestart::Off => return,
            IdleRestart::InitialWindow => self.window.cwnd = self.window.cwnd.min(initial),
            IdleRestart::OneSegment => self.window.cwnd = self.window.full,
            IdleRestart::Decay => {
                let target = initial.min(self.window.cwnd);
                self.window.remember_three_quarters();
                let halvings = (idle.as_nanos() / rto.as_nanos()).min(63);
                self.window.cwnd = (self.window.cwnd >> halvings).max(target);
            }
        }
        self.usage.restart(now);
        // Not again before something is sent.
        self.last_sent_at = Some(now);
    }

    /// Nothing more can be sent now.
    fn end_row(&mut self, config: &Config, now: Time) {
        let limited = core::mem::take(&mut self.limited_by_window);
        if core::mem::take(&mut self.sent_in_row) && Usage::wants_rows(config) {
            let row = SentRow {
                now,
                rto: self.rto(config),
                in_flight: self.board.out(),
                una: self.una,
                next: self.next,
                limited: limited || self.in_flight(config) >= self.window.cwnd,
                buffer_full: self.buffer_full(config),
                open: self.phase == Phase::Open,
            };
            self.usage.sent(config, &mut self.window, row);
        }
        // Nothing under way, and the peer's window is shut.
        let waits = self.board.is_empty() && self.unsent() > 0;
        if waits
            && self.edge.saturating_sub(self.next) < self.unsent().min(u64::from(self.agreed.mss))
        {
            if self.persist_at == Time::FAR_FUTURE {
                let wait = self.rto(config).max(Duration::from_nanos(1));
                self.persist_at = now + wait;
            }
        } else if self.persist_at != Time::FAR_FUTURE {
            self.stop_persist();
        }
    }
}
