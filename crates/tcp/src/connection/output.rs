//! Segments to send: data with the acknowledgement on it, or that alone.

use super::{Connection, State};
use crate::segment::{Flags, Options, SackBlock, Segment, Timestamps};
use crate::sender::Transmission;
use headway_sansio::Payload;

impl Connection {
    /// The next segment to send, in the order in which they are to leave.
    pub fn poll_transmit(&mut self) -> Option<Segment> {
        if let Some(reply) = self.reply.take() {
            self.stats.segments_sent += 1;
            return Some(reply);
        }
        let segment = match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived => {
                if !self.handshake.wanted {
                    return None;
                }
                self.syn()
            }
            State::TimeWait | State::FinWait2 => self.acknowledgement()?,
            _ => self.data().or_else(|| self.acknowledgement())?,
        };
        self.stats.segments_sent += 1;
        Some(segment)
    }

    fn data(&mut self) -> Option<Segment> {
        if let Some(t) = self
            .sender
            .next_transmission(&self.config, self.now, &mut self.stats)
        {
            return Some(self.with_data(&t));
        }
        if self.sender.take_window_probe() {
            // A segment just below the peer's window, which it answers (RFC
            // 9293, section 3.10.7.4), as Linux sends it.
            let mut probe = self.filled(Flags::ACK, u32::MAX);
            probe.seq = self.first_sent.at(self.sender.una).plus(u32::MAX);
            return Some(probe);
        }
        None
    }

    fn with_data(&mut self, t: &Transmission) -> Segment {
        let mut flags = Flags::ACK;
        if t.fin {
            flags = flags.with(Flags::FIN);
        }
        if t.push {
            flags = flags.with(Flags::PSH);
        }
        let mut segment = self.filled(flags, self.sender.agreed.mss.saturating_sub(t.len));
        segment.seq = self.first_sent.at(t.start);
        segment.offset = t.start;
        segment.payload = if t.len == 0 {
            Payload::Sized(0)
        } else {
            self.sender.payload(t)
        };
        segment.retransmission = t.retransmission;
        segment
    }

    /// An acknowledgement alone, if one is due now.
    fn acknowledgement(&mut self) -> Option<Segment> {
        if !self.receiver.acks.at_once {
            return None;
        }
        self.stats.pure_acks += 1;
        Some(self.filled(Flags::ACK, u32::MAX))
    }

    /// A segment with everything but data. SACK blocks take at most `room`
    /// bytes, so that they never make a segment longer than the MSS allows; an
    /// acknowledgement whose blocks do not fit follows alone.
    fn filled(&mut self, flags: Flags, room: u32) -> Segment {
        let now = self.now;
        let mut segment = self.bare(flags);
        let offered = self.receiver.offer(&self.config);
        // RFC 7323, section 2.3: never more than there is.
        segment.window = (offered >> self.our_shift).min(u64::from(u16::MAX)) as u16;
        let agreed = self.sender.agreed;
        if agreed.timestamps {
            segment.options.timestamps = Some(Timestamps {
                value: self.clock(),
                echo: self.recent_timestamp,
            });
        }
        let mut complete = true;
        if agreed.sack && self.receiver.has_blocks() {
            let fitting = room.saturating_sub(4) / 8;
            let most = Options::sack_room(agreed.timestamps).min(fitting as usize);
            if most == 0 {
                complete = false;
            } else {
                for (start, end) in self.receiver.blocks(most) {
                    segment.options.sack.push(SackBlock {
                        start: self.first_received.at(start),
                        end: self.first_received.at(end),
                    });
                }
            }
        }
        self.last_ack_sent = self.receiver.ack_offset();
        let urgent = self.receiver.acks.at_once;
        let with_data = room != u32::MAX;
        self.receiver.acks.sent(&self.config, now, with_data);
        if !complete && urgent {
            self.receiver.acks.at_once = true;
        }
        segment
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
                crate::seq::SeqNumber(0)
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
