//! How much of the window is used, and what follows from that: growth while the
//! application is the limit, RFC 2861 and RFC 7661.

use headway_sansio::{Duration, Time};

use super::Window;
use crate::config::{Config, Validation, WindowWhenLimited};

/// What the connection used of its window.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    // ---- RFC 2861
    /// When the window was last full, or last judged.
    judged_at: Time,
    most_used: u64,
    // ---- Linux since 3.16
    limited: bool,
    limited_until: u64,
    most_out: u64,
    // ---- RFC 7661
    pipe_ack: PipeAck,
}

/// RFC 7661, section 4.2: bytes acknowledged in one round trip, the most of
/// about the last max(3 RTT, 1 s), in five periods.
#[derive(Clone, Debug, Default)]
struct PipeAck {
    periods: [Option<u64>; 5],
    period_since: Time,
    sample_since: Time,
    sample: u64,
    non_validated_since: Option<Time>,
}

/// The non-validated period (RFC 7661, section 5): five minutes.
const NON_VALIDATED_PERIOD: Duration = Duration::from_secs(300);

impl Usage {
    pub(crate) fn new(now: Time) -> Self {
        Self {
            judged_at: now,
            most_used: 0,
            limited: false,
            limited_until: 0,
            most_out: 0,
            pipe_ack: PipeAck::default(),
        }
    }

    /// Whether any knob needs to know what was sent.
    pub(crate) fn wants_rows(config: &Config) -> bool {
        config.window_when_limited == WindowWhenLimited::Linux
            || config.validation == Validation::Rfc2861
    }

    /// A row of transmissions is over; `limited` says that the window ended it
    /// while there was more to send.
    pub(crate) fn sent(&mut self, config: &Config, window: &mut Window, sent: SentRow) {
        if config.window_when_limited == WindowWhenLimited::Linux
            && (sent.una >= self.limited_until
                || sent.limited
                || (!self.limited && sent.in_flight > self.most_out))
        {
            self.limited = sent.limited;
            self.most_out = sent.in_flight;
            self.limited_until = sent.next;
        }
        if config.validation == Validation::Rfc2861 {
            self.validate(config, window, &sent);
        }
    }

    /// RFC 2861, section 3.2, as in Linux: judged at most once an RTO.
    fn validate(&mut self, config: &Config, window: &mut Window, sent: &SentRow) {
        if sent.in_flight >= window.cwnd {
            self.most_used = 0;
            self.judged_at = sent.now;
            return;
        }
        self.most_used = self.most_used.max(sent.in_flight);
        if sent.now.since(self.judged_at) < sent.rto {
            return;
        }
        // A full send buffer means that the network is the limit.
        if sent.open && !sent.buffer_full {
            let initial = window.initial(config);
            let used = self.most_used.max(initial);
            if used < window.cwnd {
                window.remember_three_quarters();
                window.cwnd = (window.cwnd + used) / 2;
            }
            self.most_used = 0;
        }
        self.judged_at = sent.now;
    }

    /// Whether an ACK may let the window grow, when `in_flight` window units
    /// were under way before it.
    pub(crate) fn may_grow(&self, config: &Config, window: &Window, in_flight: u64) -> bool {
        // At least a full segment more would not have fitted.
        let full = in_flight + window.full > window.cwnd;
        let gate = match config.window_when_limited {
            WindowWhenLimited::Grow => true,
            WindowWhenLimited::Keep => full,
            WindowWhenLimited::Linux => {
                self.limited || (window.slow_start(config) && window.cwnd < 2 * self.most_out)
            }
        };
        // RFC 7661, section 4.4.
        gate && (config.validation != Validation::Rfc7661
            || full
            || !self.pipe_ack.non_validated(window.bytes(window.cwnd)))
    }

    /// RFC 7661: counts what an ACK covers outside of fast recovery, and ends
    /// a non-validated period that lasts too long.
    pub(crate) fn acknowledged(
        &mut self,
        config: &Config,
        window: &mut Window,
        now: Time,
        bytes: u64,
        rtt: Duration,
    ) {
        if config.validation != Validation::Rfc7661 {
            return;
        }
        let p = &mut self.pipe_ack;
        let period = (rtt * 3).max(Duration::from_secs(1)) / 5;
        while now.since(p.period_since) > period {
            if now.since(p.period_since) > period * 5 {
                p.period_since = now;
                p.periods = [p.current(), None, None, None, None];
                break;
            }
            p.period_since += period;
            p.periods.rotate_right(1);
            p.periods[0] = None;
        }
        p.sample += bytes;
        if now.since(p.sample_since) >= rtt {
            p.periods[0] = p.periods[0].max(Some(p.sample));
            p.sample = 0;
            p.sample_since = now;
        }
        let cwnd = window.bytes(window.cwnd);
        if !p.non_validated(cwnd) {
            p.non_validated_since = None;
        } else if now.since(*p.non_validated_since.get_or_insert(now)) > NON_VALIDATED_PERIOD {
            // Section 4.4.3.
            let initial = window.initial(config);
            window.remember_three_quarters();
            window.cwnd = (window.cwnd / 2).max(initial).min(window.cwnd);
            p.non_validated_since = Some(now);
        }
    }

    /// RFC 7661, section 4.4.1: what was used when a loss comes in the
    /// non-validated phase, in window units; `None` where the standard applies.
    pub(crate) fn used_at_loss(
        &self,
        config: &Config,
        window: &Window,
        flight: u64,
    ) -> Option<u64> {
        let cwnd = window.bytes(window.cwnd);
        if config.validation != Validation::Rfc7661 || !self.pipe_ack.non_validated(cwnd) {
            return None;
        }
        let pipe_ack = self.pipe_ack.current().unwrap_or(0) * window.full / window.mss;
        Some(pipe_ack.max(flight))
    }

    /// Recovery is over: `pipeACK` is undefined again.
    pub(crate) fn recovered(&mut self, now: Time) {
        self.pipe_ack = PipeAck {
            sample_since: now,
            period_since: now,
            ..PipeAck::default()
        };
    }

    /// Nothing more is known of what was used.
    pub(crate) fn restart(&mut self, now: Time) {
        self.judged_at = now;
        self.most_used = 0;
    }
}

/// The state at the end of a row of transmissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentRow {
    pub(crate) now: Time,
    pub(crate) rto: Duration,
    pub(crate) in_flight: u64,
    pub(crate) una: u64,
    pub(crate) next: u64,
    pub(crate) limited: bool,
    pub(crate) buffer_full: bool,
    pub(crate) open: bool,
}

impl PipeAck {
    fn current(&self) -> Option<u64> {
        self.periods.iter().copied().max().flatten()
    }

    fn non_validated(&self, cwnd_bytes: u64) -> bool {
        self.current().is_some_and(|p| p < cwnd_bytes / 2)
    }
}
