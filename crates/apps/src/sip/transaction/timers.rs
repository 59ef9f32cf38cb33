//! T1, T2, T4 and what follows from them (RFC 3261 table 4, RFC 6026 section 8.11).

use headway_sansio::{Duration, Time};

/// The base values of all SIP timers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timers {
    /// Estimate of the round-trip time: the first retransmission interval.
    pub t1: Duration,
    /// Longest retransmission interval of requests other than INVITE and of
    /// responses to INVITE.
    pub t2: Duration,
    /// How long a message stays in the network.
    pub t4: Duration,
}

impl Default for Timers {
    /// 500 ms, 4 s and 5 s (RFC 3261 table 4).
    fn default() -> Self {
        Self {
            t1: Duration::from_millis(500),
            t2: Duration::from_secs(4),
            t4: Duration::from_secs(5),
        }
    }
}

impl Timers {
    /// Timers B, F, H, J, L and M, and how long a 200 is repeated: 64*T1.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.t1 * 64
    }

    /// Timer D over an unreliable transport: at least 32 s whatever T1 is,
    /// because the server's T1 is not known, and no less than the server's
    /// timer H where T1 is the same.
    pub(super) fn wait_d(&self) -> Duration {
        self.patience().max(Duration::from_secs(32))
    }
}

/// A retransmission that is due at a time and then again after growing intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Resend {
    pub(super) at: Time,
    interval: Duration,
}

impl Resend {
    pub(super) fn start(now: Time, interval: Duration) -> Self {
        Self {
            at: now + interval,
            interval,
        }
    }

    /// It fired at `now`: the next interval is double, `most` at most.
    pub(super) fn back_off(&mut self, now: Time, most: Duration) {
        *self = Self::start(now, (self.interval * 2).min(most));
    }
}
