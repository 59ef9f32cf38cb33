//! When to acknowledge: RFC 9293, section 3.8.6.3; RFC 5681, section 4.2; and
//! the adaptive way of Linux (`net/ipv4/tcp_input.c`, `tcp_output.c`).

use headway_sansio::{Duration, Time};

use crate::config::{AckPolicy, Config};

/// How one segment with data came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    /// Payload bytes.
    pub(crate) len: u32,
    /// Bytes by which the stream got longer.
    pub(crate) advanced: u64,
    /// Beyond a gap, into one, or twice: to be acknowledged at once.
    pub(crate) irregular: bool,
}

impl Arrival {
    pub(crate) fn in_order(len: u32) -> Self {
        Self {
            len,
            advanced: u64::from(len),
            irregular: false,
        }
    }
    pub(crate) fn beyond_gap(len: u32) -> Self {
        Self {
            len,
            advanced: 0,
            irregular: true,
        }
    }
    pub(crate) fn into_gap(len: u32, advanced: u64) -> Self {
        Self {
            len,
            advanced,
            irregular: true,
        }
    }
    /// Nothing new, unless FIN is.
    pub(crate) fn duplicate(len: u32, fin: bool) -> Self {
        Self {
            len,
            advanced: 0,
            irregular: len > 0 || fin,
        }
    }
}

/// Linux begins with this estimate of the peer's segment size, less headers
/// (`TCP_MIN_RCVMSS`).
const LEAST_PEER_SEGMENT: u32 = 536;

#[derive(Clone, Debug)]
pub(crate) struct DelayedAck {
    /// When the waiting ACK is due.
    pub(crate) due: Time,
    /// An ACK is to be sent at once.
    pub(crate) at_once: bool,
    segments: u32,
    bytes: u64,
    // ---- the adaptive policy
    quick: u32,
    /// The delay in use; none before the first data.
    delay: Option<Duration>,
    last_arrival: Time,
    peer_segment: u32,
    last_length: u32,
    short: bool,
    /// Data goes both ways, so an ACK may wait for data to ride on.
    both_ways: bool,
}

impl DelayedAck {
    pub(crate) fn new() -> Self {
        Self {
            due: Time::FAR_FUTURE,
            at_once: false,
            segments: 0,
            bytes: 0,
            quick: 0,
            delay: None,
            last_arrival: Time::ZERO,
            peer_segment: LEAST_PEER_SEGMENT,
            last_length: 0,
            short: false,
            both_ways: false,
        }
    }

    /// Data came in.
    pub(crate) fn on_data(
        &mut self,
        config: &Config,
        now: Time,
        arrival: Arrival,
        gap: bool,
        mss: u32,
        network: Network,
    ) {
        self.segments += 1;
        self.bytes += arrival.advanced;
        if config.ack_policy == AckPolicy::Adaptive {
            self.observe(config, now, arrival.len, network.rto);
        }
        // RFC 5681, section 4.2; a gap that remains keeps it so.
        if config.ack_gap_at_once && (arrival.irregular || gap) {
            self.at_once = true;
            return;
        }
        let every = config.ack_every_segments.max(1);
        match config.ack_policy {
            AckPolicy::Immediate => self.at_once = true,
            AckPolicy::Delayed => self.at_once |= self.segments >= every,
            AckPolicy::DelayedFullSized => {
                self.at_once |= self.bytes >= u64::from(every) * u64::from(mss);
            }
            AckPolicy::Adaptive => {
                self.at_once |= self.bytes > u64::from(self.peer_segment)
                    || (self.quick > 0 && !self.both_ways);
            }
        }
        if !self.at_once {
            self.start(config, now, network.srtt);
        }
    }

    fn start(&mut self, config: &Config, now: Time, srtt: Option<Duration>) {
        let longest = Duration::from_nanos(config.ack_delay_ns);
        if config.ack_policy != AckPolicy::Adaptive {
            self.due = self.due.min(now + longest);
            return;
        }
        let least = Duration::from_nanos(config.ack_delay_min_ns);
        let mut delay = self.delay.unwrap_or(least);
        if delay > least {
            // Half a second, if neither direction nor segment size says less;
            // and never longer than a round trip.
            let mut most = if self.both_ways || self.short {
                longest
            } else {
                Duration::from_millis(500)
            };
            if let Some(srtt) = srtt {
                most = most.min(srtt.max(least));
            }
            delay = delay.min(most);
        }
        if self.due == Time::FAR_FUTURE {
            self.due = now + delay;
        } else if self.due <= now + delay / 4 {
            // About to expire anyway.
            self.at_once = true;
        } else {
            self.due = self.due.min(now + delay);
        }
    }

    /// Linux: follows the spacing of arrivals and the size of segments.
    fn observe(&mut self, config: &Config, now: Time, len: u32, rto: Duration) {
        let least = Duration::from_nanos(config.ack_delay_min_ns);
        if len >= self.peer_segment {
            self.peer_segment = len;
            self.last_length = 0;
        } else if len >= LEAST_PEER_SEGMENT && len == self.last_length {
            // Twice the same: the peer's segments got smaller.
            self.peer_segment = len;
        } else {
            self.last_length = if len >= LEAST_PEER_SEGMENT { len } else { 0 };
            self.short = true;
        }
        let gap = now.since(self.last_arrival);
        match self.delay {
            None => {
                self.quick = config.quick_acks;
                self.delay = Some(least);
            }
            Some(delay) if gap <= least / 2 => self.delay = Some(delay / 2 + least / 2),
            Some(delay) if gap < delay => self.delay = Some((delay / 2 + gap).min(rto)),
            // The sender was silent for longer than its RTO: it may be in slow
            // start again.
            Some(_) if gap > rto => self.quick = config.quick_acks,
            Some(_) => {}
        }
        self.last_arrival = now;
    }

    /// The application has read everything. Returns whether the waiting ACK is
    /// to be sent now (Linux, `tcp_cleanup_rbuf`).
    pub(crate) fn on_drain(&mut self, config: &Config) -> bool {
        let waits = self.due != Time::FAR_FUTURE && !self.at_once;
        let now = config.ack_on_drain && waits && self.short && !self.both_ways;
        self.at_once |= now;
        now
    }

    /// The delay is over.
    pub(crate) fn on_timer(&mut self, config: &Config, now: Time, rto: Duration) {
        if self.due > now {
            return;
        }
        if config.ack_policy == AckPolicy::Adaptive {
            let least = Duration::from_nanos(config.ack_delay_min_ns);
            if self.both_ways {
                self.both_ways = false;
                self.delay = Some(least);
            } else {
                self.delay = self.delay.map(|d| (d * 2).min(rto));
            }
        }
        self.at_once = true;
        self.due = Time::FAR_FUTURE;
    }

    /// A segment with an acknowledgement was sent.
    pub(crate) fn sent(&mut self, config: &Config, now: Time, with_data: bool) {
        if with_data
            && config.ack_policy == AckPolicy::Adaptive
            && self.delay.is_some_and(|d| now.since(self.last_arrival) < d)
        {
            self.both_ways = true;
        }
        if self.segments == 0 && !self.at_once {
            return;
        }
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = Some(Duration::from_nanos(config.ack_delay_min_ns));
            }
        }
        self.at_once = false;
        self.due = Time::FAR_FUTURE;
        self.segments = 0;
        self.bytes = 0;
        self.short = false;
    }
}

/// What the sending half knows of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) srtt: Option<Duration>,
    /// For the adaptive policy only; zero otherwise.
    pub(crate) rto: Duration,
}
