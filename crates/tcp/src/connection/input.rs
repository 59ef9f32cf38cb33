//! A segment arrives: RFC 9293, section 3.10.7.

use headway_sansio::{Duration, Time};
use smallvec::SmallVec;

use super::{Connection, Event, State};
use crate::config::AckPolicy;
use crate::receiver::Network;
use crate::segment::{Flags, Segment};
use crate::sender::Ack;

impl Connection {
    /// Takes a segment in that arrived at `now`.
    pub fn handle_input(&mut self, now: Time, segment: &Segment) {
        self.now = now;
        self.stirred = true;
        self.stats.segments_received += 1;
        if segment.destination_port != self.local_port
            || (!matches!(self.state, State::Listen | State::Closed)
                && segment.source_port != self.remote_port)
        {
            self.stats.unacceptable_segments += 1;
            return;
        }
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.on_listen(now, segment),
            State::SynSent => self.on_syn_sent(now, segment),
            _ => self.on_segment(now, segment),
        }
    }

    /// All other states: section 3.10.7.4.
    fn on_segment(&mut self, now: Time, segment: &Segment) {
        let odd = Flags::SYN.0 | Flags::RST.0;
        if segment.flags.0 & odd != 0 && self.on_syn_or_reset(segment) {
            return;
        }
        if !segment.flags.has(Flags::ACK) {
            self.stats.unacceptable_segments += 1;
            return;
        }
        let Some(offset) = self.acceptable(segment) else {
            self.stats.unacceptable_segments += 1;
            self.receiver.acks.at_once = true;
            return;
        };
        self.take_timestamp(segment, offset);
        if self.state == State::SynReceived {
            if segment.ack != self.first_sent {
                self.refuse(segment);
                return;
            }
            self.establish(now, segment);
        }
        if !self.on_acknowledgement(now, segment) {
            return;
        }
        if segment.sequence_length() > 0 {
            self.on_data(now, segment, offset);
        }
    }

    /// Returns whether the segment is dealt with.
    fn on_syn_or_reset(&mut self, segment: &Segment) -> bool {
        let next = self.first_received.at(self.receiver.ack_offset());
        if segment.flags.has(Flags::RST) {
            // RFC 9293, section 3.10.7.4, after RFC 5961: only an exact hit
            // counts; a near one is asked about.
            if segment.seq == next {
                self.end(Event::Reset);
            } else if self.acceptable(segment).is_some() {
                self.receiver.acks.at_once = true;
            }
            return true;
        }
        if self.state == State::SynReceived && segment.seq.plus(1) == self.first_received {
            // The peer did not hear our answer; where both sides opened at once
            // this is the answer.
            if segment.flags.has(Flags::ACK) && segment.ack == self.first_sent {
                self.establish(self.now, segment);
                self.receiver.acks.at_once = true;
            } else {
                self.handshake.wanted = true;
            }
            return true;
        }
        self.stats.unacceptable_segments += 1;
        self.receiver.acks.at_once = true;
        true
    }

    /// The offset of the segment's first byte, if any of it may be looked at:
    /// its data, or the acknowledgement where it has none. What is older than
    /// the last acknowledgement sent is answered, not read.
    fn acceptable(&self, segment: &Segment) -> Option<u64> {
        let next = self.receiver.ack_offset();
        let offset = self.first_received.offset_of(segment.seq, next)?;
        let len = segment.sequence_length();
        let end = offset + u64::from(len);
        let in_time = if len > 0 {
            // Duplicates are taken for the sake of D-SACK.
            true
        } else {
            end >= self.last_ack_sent.min(next)
        };
        let in_window = offset <= next + self.config.receive_buffer_bytes;
        (in_time && in_window && self.newer_timestamp(segment)).then_some(offset)
    }

    /// RFC 7323, section 5: protection against wrapped sequence numbers.
    fn newer_timestamp(&self, segment: &Segment) -> bool {
        if !self.sender.agreed.timestamps {
            return true;
        }
        segment.options.timestamps.is_none_or(|t| {
            t.value.wrapping_sub(self.recent_timestamp).cast_signed() >= 0
                // A duplicate of old data is reported, not read.
                || segment.sequence_length() > 0
        })
    }

    /// RFC 7323, section 4.3: the timestamp to echo is that of the earliest
    /// segment not yet acknowledged.
    fn take_timestamp(&mut self, segment: &Segment, offset: u64) {
        if let Some(timestamps) = segment.options.timestamps
            && offset <= self.last_ack_sent
            && timestamps
                .value
                .wrapping_sub(self.recent_timestamp)
                .cast_signed()
                >= 0
        {
            self.recent_timestamp = timestamps.value;
        }
    }

    /// Returns whether the rest of the segment is to be read.
    fn on_acknowledgement(&mut self, now: Time, segment: &Segment) -> bool {
        let una = self.sender.una;
        let Some(offset) = self.first_sent.offset_of(segment.ack, una) else {
            return true;
        };
        if offset > self.sender.next {
            // It acknowledges what was never sent.
            self.stats.unacceptable_segments += 1;
            self.receiver.acks.at_once = true;
            return false;
        }
        let mut ack = Ack {
            offset,
            window: u64::from(segment.window) << self.peer_shift,
            blocks: SmallVec::new(),
            pure: segment.sequence_length() == 0,
            echoed_rtt: None,
            echoed_at: None,
        };
        for block in segment.options.sack.as_slice() {
            let near = offset;
            if let Some(start) = self.first_sent.offset_of(block.start, near)
                && let Some(end) = self.first_sent.offset_of(block.end, near)
                && start < end
            {
                ack.blocks.push((start, end));
            }
        }
        if self.sender.agreed.timestamps {
            self.read_echo(now, segment, &mut ack);
        }
        let new = self.sender.on_ack(&self.config, now, &ack, &mut self.stats);
        if new {
            if self.write_was_refused && self.sender.buffered() < self.config.send_buffer_bytes {
                self.write_was_refused = false;
                self.tell(Event::Writable);
            }
            if self.sender.fin_acknowledged() {
                self.on_fin_acknowledged(now);
            }
        }
        self.state != State::Closed
    }

    fn read_echo(&self, now: Time, segment: &Segment, ack: &mut Ack) {
        let Some(timestamps) = segment.options.timestamps else {
            return;
        };
        let age = self.clock().wrapping_sub(timestamps.echo);
        if timestamps.echo == 0 || age.cast_signed() < 0 {
            return;
        }
        let tick = Duration::from_nanos(self.config.timestamp_tick_ns.max(1));
        let age = u64::from(age);
        ack.echoed_rtt = Some(tick * age.max(1));
        let ticks = now.as_nanos() / tick.as_nanos();
        ack.echoed_at = Some(Time::from_nanos(
            ticks.saturating_sub(age) * tick.as_nanos(),
        ));
    }

    fn on_data(&mut self, now: Time, segment: &Segment, offset: u64) {
        let fin = segment.flags.has(Flags::FIN);
        let was_finished = self.receiver.finished();
        let gap_before = !self.receiver.beyond().is_empty();
        let arrival = self.receiver.on_data(
            &self.config,
            offset,
            segment.payload.clone(),
            fin,
            &mut self.stats,
        );
        let gap = !self.receiver.beyond().is_empty();
        if gap && arrival.advanced == 0 {
            self.tell(Event::OutOfOrder);
        }
        let network = Network {
            srtt: self.sender.rtt.srtt(),
            rto: if self.config.ack_policy == AckPolicy::Adaptive {
                self.sender.rto(&self.config)
            } else {
                Duration::ZERO
            },
        };
        let mss = self.sender.agreed.mss;
        self.receiver
            .acks
            .on_data(&self.config, now, arrival, gap || gap_before, mss, network);
        if fin || (self.receiver.finished() && !was_finished) {
            self.receiver.acks.at_once = true;
        }
        if self.receiver.finished() && !was_finished {
            self.on_peer_fin(now);
        }
    }
}
