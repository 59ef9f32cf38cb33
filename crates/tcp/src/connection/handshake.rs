//! The three-way handshake: RFC 9293, section 3.5, and the options that ride on
//! it.

use headway_sansio::{Duration, Time};

use super::{Connection, Event, State};
use crate::segment::{Flags, Options, Segment, Timestamps};
use crate::sender::Agreed;

/// What a peer takes that does not say (RFC 9293, section 3.7.1, for IPv4).
const DEFAULT_PEER_MSS: u32 = 536;
/// Most that a window is scaled by (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;

#[derive(Debug)]
pub(super) struct Handshake {
    /// When SYN is sent again.
    pub(super) due: Time,
    /// SYN, or SYN and ACK, is to be sent now.
    pub(super) wanted: bool,
    sent_at: Time,
    tries: u32,
    /// What the peer's SYN offered.
    peer: Options,
}

impl Default for Handshake {
    fn default() -> Self {
        Self {
            due: Time::FAR_FUTURE,
            wanted: false,
            sent_at: Time::ZERO,
            tries: 0,
            peer: Options::default(),
        }
    }
}

impl Connection {
    pub(super) fn start_handshake(&mut self, now: Time) {
        self.handshake.wanted = true;
        self.handshake.sent_at = now;
        self.handshake.due = now + self.handshake_wait();
    }

    /// RFC 6298, section 5.
    fn handshake_wait(&self) -> Duration {
        let wait =
            Duration::from_nanos(self.config.rto_initial_ns) * (1 << self.handshake.tries.min(16));
        wait.min(Duration::from_nanos(self.config.rto_max_ns))
            .max(Duration::from_nanos(1))
    }

    pub(super) fn on_handshake_timer(&mut self, now: Time) {
        self.handshake.tries += 1;
        let most = self.config.max_retransmissions;
        if most != 0 && self.handshake.tries > most {
            self.give_up();
            return;
        }
        self.stats.timeouts += 1;
        self.handshake.wanted = true;
        self.handshake.due = now + self.handshake_wait();
    }

    /// SYN, or its answer.
    pub(super) fn syn(&mut self) -> Segment {
        self.handshake.wanted = false;
        let answer = self.state == State::SynReceived;
        let offers = |ours: bool, peers: bool| ours && (peers || !answer);
        let peer = &self.handshake.peer;
        let options = Options {
            mss: Some(self.config.mss_bytes.min(u32::from(u16::MAX)) as u16),
            window_scale: offers(self.config.window_scale, peer.window_scale.is_some())
                .then(|| self.shift_for_buffer()),
            sack_permitted: offers(self.config.sack, peer.sack_permitted),
            timestamps: offers(self.config.timestamps, peer.timestamps.is_some()).then(|| {
                Timestamps {
                    value: self.clock(),
                    echo: self.recent_timestamp,
                }
            }),
            ..Options::default()
        };
        let window = self
            .receiver
            .offer(&self.config, self.sender.agreed.mss)
            .min(u64::from(u16::MAX));
        let mut segment = self.bare(if answer {
            Flags::SYN.with(Flags::ACK)
        } else {
            Flags::SYN
        });
        segment.seq = self.first_sent.plus(u32::MAX);
        segment.window = window as u16;
        segment.options = options;
        segment.retransmission = self.handshake.tries > 0;
        segment
    }

    fn shift_for_buffer(&self) -> u8 {
        (0..MAX_SHIFT)
            .find(|&shift| self.config.receive_buffer_bytes >> shift <= u64::from(u16::MAX))
            .unwrap_or(MAX_SHIFT)
    }

    /// LISTEN: RFC 9293, section 3.10.7.2.
    pub(super) fn on_listen(&mut self, now: Time, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) || !segment.flags.has(Flags::SYN) {
            self.refuse(segment);
            return;
        }
        self.remote_port = segment.source_port;
        self.state = State::SynReceived;
        self.take_syn(segment);
        self.start_handshake(now);
    }

    /// SYN-SENT: RFC 9293, section 3.10.7.3.
    pub(super) fn on_syn_sent(&mut self, now: Time, segment: &Segment) {
        let acks_syn = segment.ack == self.first_sent;
        let has_ack = segment.flags.has(Flags::ACK);
        if has_ack && !acks_syn {
            self.refuse(segment);
            return;
        }
        if segment.flags.has(Flags::RST) {
            if has_ack {
                self.end(Event::Reset);
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(segment);
        if has_ack {
            self.establish(now, segment);
            self.receiver.acks.at_once = true;
        } else {
            // Both sides opened at once.
            self.state = State::SynReceived;
            self.start_handshake(now);
        }
    }

    fn take_syn(&mut self, segment: &Segment) {
        self.first_received = segment.seq.plus(1);
        self.handshake.peer = segment.options;
        if let Some(timestamps) = segment.options.timestamps {
            self.recent_timestamp = timestamps.value;
        }
    }

    /// Our SYN is acknowledged and the peer's is in.
    pub(super) fn establish(&mut self, now: Time, segment: &Segment) {
        // The user may have closed in the meantime.
        self.state = if self.sender.is_finished() {
            State::FinWait1
        } else {
            State::Established
        };
        self.handshake.due = Time::FAR_FUTURE;
        self.handshake.wanted = false;
        let peer = self.handshake.peer;
        if let Some(shift) = peer.window_scale
            && self.config.window_scale
        {
            self.our_shift = self.shift_for_buffer();
            self.peer_shift = shift.min(MAX_SHIFT);
        }
        let timestamps = self.config.timestamps && peer.timestamps.is_some();
        let peer_mss = peer.mss.map_or(DEFAULT_PEER_MSS, u32::from);
        let options = if timestamps { 12 } else { 0 };
        let agreed = Agreed {
            // RFC 6691: the option does not count the options of segments.
            mss: self
                .config
                .mss_bytes
                .min(peer_mss)
                .saturating_sub(options)
                .max(1),
            sack: self.config.sack && peer.sack_permitted,
            timestamps,
        };
        self.sender.agree(&self.config, agreed);
        if self.handshake.tries == 0 {
            let rtt = now.since(self.handshake.sent_at);
            self.sender.first_sample(&self.config, now, rtt);
        } else {
            // RFC 5681, section 3.1: one segment after a lost SYN.
            self.sender.window.cwnd = self.sender.window.full;
        }
        // The window of a SYN is not scaled.
        let shift = if segment.flags.has(Flags::SYN) {
            0
        } else {
            self.peer_shift
        };
        self.sender.first_window(u64::from(segment.window) << shift);
        self.tell(Event::Connected);
    }
}
