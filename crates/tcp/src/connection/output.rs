//! Segments to send: data with the acknowledgement on it, or that alone.

use headway_sansio::Payload;

use super::{Connection, State};
use crate::segment::{Flags, Options, SackBlock, SackBlocks, Segment, Timestamps};
use crate::sender::Transmission;
use crate::seq::SeqNumber;

impl Connection {
    /// The next segment to send, in the order in which they are to leave.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Segment> {
        // Drivers ask often: until there is nothing, and after every call.
        if !self.stirred {
            return None;
        }
        let segment = self.next_segment();
        self.stirred = segment.is_some();
        segment
    }

    fn next_segment(&mut self) -> Option<Segment> {
        if self.reply.is_some() {
            self.stats.segments_sent += 1;
            return self.reply.take().map(|reply| *reply);
        }
        match self.state {
            State::Closed | State::Listen => None,
            State::SynSent | State::SynReceived => {
                if !self.handshake.wanted {
                    return None;
                }
                self.stats.segments_sent += 1;
                Some(self.syn())
            }
            State::TimeWait | State::FinWait2 => self.acknowledgement(),
            _ => {
                match self
                    .sender
                    .next_transmission(&self.config, self.now, &mut self.stats)
                {
                    Some(t) => Some(self.with_data(&t)),
                    None if self.sender.take_window_probe() => Some(self.window_probe()),
                    None => self.acknowledgement(),
                }
            }
        }
    }

    fn with_data(&mut self, t: &Transmission) -> Segment {
        let mut flags = Flags::ACK;
        if t.fin {
            flags = flags.with(Flags::FIN);
        }
        if t.push {
            flags = flags.with(Flags::PSH);
        }
        let payload = if t.len == 0 {
            Payload::Sized(0)
        } else {
            self.sender.payload(t)
        };
        let room = self.sender.agreed.mss.saturating_sub(t.len);
        self.filled(flags, self.first_sent.at(t.start), t, payload, room)
    }

    /// An acknowledgement alone, if one is due now.
    fn acknowledgement(&mut self) -> Option<Segment> {
        if !self.receiver.acks.at_once {
            return None;
        }
        self.stats.pure_acks += 1;
        Some(self.without_data(0))
    }

    /// A segment just below the peer's window, which it answers (RFC 9293,
    /// section 3.10.7.4), as Linux sends it.
    fn window_probe(&mut self) -> Segment {
        let back = self.sender.next - self.sender.una + 1;
        self.without_data(back as u32)
    }

    fn without_data(&mut self, back: u32) -> Segment {
        let seq = self.first_sent.at(self.sender.next);
        let nothing = Transmission {
            start: self.sender.next,
            len: 0,
            fin: false,
            push: false,
            retransmission: false,
        };
        let seq = seq.plus(back.wrapping_neg());
        self.filled(Flags::ACK, seq, &nothing, Payload::Sized(0), u32::MAX)
    }

    /// A segment of an open connection. SACK blocks take at most `room` bytes,
    /// so that they never make a segment longer than the MSS allows; an
    /// acknowledgement whose blocks do not fit follows alone.
    #[inline]
    fn filled(
        &mut self,
        flags: Flags,
        seq: SeqNumber,
        t: &Transmission,
        payload: Payload,
        room: u32,
    ) -> Segment {
        let agreed = self.sender.agreed;
        let (sack, complete) = if agreed.sack && self.receiver.has_blocks() {
            self.blocks(room)
        } else {
            (SackBlocks::default(), true)
        };
        let timestamps = agreed.timestamps.then(|| Timestamps {
            value: self.clock(),
            echo: self.recent_timestamp,
        });
        let ack = self.receiver.ack_offset();
        let offered = self.receiver.offer(&self.config, self.sender.agreed.mss);
        self.last_ack_sent = ack;
        let urgent = self.receiver.acks.at_once;
        let with_data = room != u32::MAX;
        self.receiver.acks.sent(&self.config, self.now, with_data);
        self.receiver.acks.at_once |= urgent && !complete;
        self.stats.segments_sent += 1;
        Segment {
            source_port: self.local_port,
            destination_port: self.remote_port,
            seq,
            ack: self.first_received.at(ack),
            flags,
            window: (offered >> self.our_shift).min(u64::from(u16::MAX)) as u16,
            options: Options {
                mss: None,
                window_scale: None,
                sack_permitted: false,
                timestamps,
                sack,
            },
            payload,
            offset: t.start,
            retransmission: t.retransmission,
        }
    }

    /// SACK blocks for a segment with `room` bytes to spare, and whether there
    /// was room for any.
    fn blocks(&mut self, room: u32) -> (SackBlocks, bool) {
        let fitting = room.saturating_sub(4) / 8;
        let most = Options::sack_room(self.sender.agreed.timestamps).min(fitting as usize);
        let mut sack = SackBlocks::default();
        if most > 0 {
            for (start, end) in self.receiver.blocks(most) {
                sack.push(SackBlock {
                    start: self.first_received.at(start),
                    end: self.first_received.at(end),
                });
            }
        }
        (sack, most > 0)
    }

    /// A segment with ports, acknowledgement and sequence number only.
    pub(super) fn bare(&self, flags: Flags) -> Segment {
        Segment {
            source_port: self.local_port,
            destination_port: self.remote_port,
            seq: self.first_sent.at(self.sender.next),
            ack: if flags.has(Flags::ACK) {
                self.first_received.at(self.receiver.ack_offset())
            } else {
                SeqNumber(0)
            },
            flags,
            window: 0,
            options: Options::default(),
            payload: Payload::Sized(0),
            offset: self.sender.next,
            retransmission: false,
        }
    }

    /// The timestamp clock (RFC 7323, section 5.4); never zero, which says
    /// that there is nothing to echo.
    pub(super) fn clock(&self) -> u32 {
        let tick = self.config.timestamp_tick_ns.max(1);
        ((self.now.as_nanos() / tick) as u32).wrapping_add(1)
    }
}
