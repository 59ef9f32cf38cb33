//! The end of a connection: RFC 9293, sections 3.6, 3.10.4 and 3.10.5.

use headway_sansio::{Duration, Time};

use super::{Connection, Event, State};
use crate::segment::{Flags, Segment};
use crate::seq::SeqNumber;

impl Connection {
    /// Ends our stream after what was written: FIN follows the last byte. The
    /// peer may go on sending.
    pub fn close(&mut self, now: Time) {
        self.now = now;
        self.stirred = true;
        match self.state {
            State::Listen | State::SynSent => self.end(Event::Closed),
            State::SynReceived | State::Established => {
                self.sender.finish();
                if self.state == State::Established {
                    self.state = State::FinWait1;
                }
            }
            State::CloseWait => {
                self.sender.finish();
                self.state = State::LastAck;
            }
            _ => {}
        }
    }

    /// Ends the connection at once: what is under way is lost, the peer gets
    /// RST.
    pub fn abort(&mut self, now: Time) {
        self.now = now;
        self.stirred = true;
        if self.synchronised() && self.state != State::TimeWait {
            self.reply = Some(Box::new(self.bare(Flags::RST.with(Flags::ACK))));
        }
        if self.state != State::Closed {
            self.end(Event::Closed);
        }
    }

    /// Whether both sides know each other's sequence numbers.
    pub(super) fn synchronised(&self) -> bool {
        !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        )
    }

    /// The peer does not answer.
    pub(super) fn give_up(&mut self) {
        self.end(Event::TimedOut);
    }

    /// No connection is left; `why` is told.
    pub(super) fn end(&mut self, why: Event) {
        self.state = State::Closed;
        self.handshake = super::Handshake::default();
        self.sender.stop();
        self.receiver.acks.due = Time::FAR_FUTURE;
        self.receiver.acks.at_once = false;
        self.time_wait_until = Time::FAR_FUTURE;
        self.tell(why);
        self.tell(Event::Closed);
    }

    /// Answers a segment that belongs to no connection: section 3.10.7.1.
    pub(super) fn refuse(&mut self, segment: &Segment) {
        self.stats.unacceptable_segments += 1;
        if segment.flags.has(Flags::RST) {
            return;
        }
        let mut reply = self.bare(Flags::RST);
        reply.destination_port = segment.source_port;
        if segment.flags.has(Flags::ACK) {
            reply.seq = segment.ack;
        } else {
            reply.seq = SeqNumber(0);
            reply.ack = segment.seq.plus(segment.sequence_length());
            reply.flags = Flags::RST.with(Flags::ACK);
        }
        self.reply = Some(Box::new(reply));
    }

    pub(super) fn on_fin_acknowledged(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.wait_out(now),
            State::LastAck => self.end(Event::Closed),
            _ => {}
        }
    }

    pub(super) fn on_peer_fin(&mut self, now: Time) {
        self.tell(Event::PeerClosed);
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.wait_out(now),
            _ => {}
        }
    }

    fn wait_out(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.sender.stop();
        self.time_wait_until = now + Duration::from_nanos(self.config.time_wait_ns.max(1));
    }
}
