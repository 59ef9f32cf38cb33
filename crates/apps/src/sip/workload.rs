//! The keys of a `workload` of kind `sip`.

use headway_sansio::Duration;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::MessageKind;
use super::script::{Course, RepeatedInvite, Script};
use super::transaction::Timers;
use super::write::{self, Writer};

/// How far a call goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flow {
    /// INVITE and 180: all that the post-selection delay needs (seed 0).
    #[default]
    InviteRinging,
    /// INVITE, 180, 200, ACK, BYE, 200.
    Full,
}

/// What the messages consist of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Only lengths travel.
    #[default]
    Size,
    /// Real SIP, parsed on arrival.
    Full,
}

/// SIP signalling between two proxies: the `workload` keys of a run.
///
/// The sizes sum to 450 bytes per call in the short flow, which is what seed 0
/// reports (20 and 40 calls/s give 72 and 144 kb/s); it does not say how the two
/// messages share them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SipWorkload {
    /// How far a call goes.
    pub flow: Flow,
    /// Mean of the Poisson process of INVITEs, calls per second.
    pub call_rate: f64,
    /// Length of an INVITE in bytes.
    pub invite_bytes: u32,
    /// Length of a 180 in bytes.
    pub ringing_bytes: u32,
    /// Length of a 200 in bytes, to INVITE and BYE alike.
    pub ok_bytes: u32,
    /// Length of an ACK in bytes.
    pub ack_bytes: u32,
    /// Length of a BYE in bytes.
    pub bye_bytes: u32,
    /// From the INVITE's arrival until the called party answers, nanoseconds.
    pub ring_time_ns: u64,
    /// From the answer's arrival until the caller hangs up, nanoseconds.
    pub talk_time_ns: u64,
    /// What the messages consist of.
    pub content: Content,
    /// RFC 3261's T1 in nanoseconds; only an unreliable transport makes SIP repeat
    /// its messages, but requests time out after 64*T1 over every one.
    pub t1_ns: u64,
    /// RFC 3261's T2 in nanoseconds.
    pub t2_ns: u64,
    /// RFC 3261's T4 in nanoseconds.
    pub t4_ns: u64,
    /// Whether the answerer repeats its 200 until the ACK comes over a reliable
    /// transport too. RFC 3261 section 13.3.1.4 asks for it, because a hop
    /// further on may be unreliable; between these two there is none.
    pub repeat_ok_when_reliable: bool,
}

impl Default for SipWorkload {
    fn default() -> Self {
        Self {
            flow: Flow::default(),
            call_rate: 40.0,
            invite_bytes: 225,
            ringing_bytes: 225,
            ok_bytes: 225,
            ack_bytes: 150,
            bye_bytes: 150,
            ring_time_ns: 3_000_000_000,
            talk_time_ns: 10_000_000_000,
            content: Content::default(),
            t1_ns: 500_000_000,
            t2_ns: 4_000_000_000,
            t4_ns: 5_000_000_000,
            repeat_ok_when_reliable: false,
        }
    }
}

/// A workload key with a value that no run can have.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("workload.{key}: {problem}")]
pub struct WorkloadError {
    /// The key, as a RunSpec spells it.
    pub key: &'static str,
    /// What is wrong and what would be right.
    pub problem: String,
}

/// Longest message in bytes: what fits an UDP datagram over IPv4, so that a
/// workload runs over every transport.
const MAX_MESSAGE_BYTES: u32 = 65_507;
/// A rate at which the mean gap is still a thousand ticks of the clock.
const MAX_CALL_RATE: f64 = 1e6;

/// The most calls for which there is room from the start.
const MOST_EXPECTED: f64 = 65_536.0;

impl SipWorkload {
    /// How many calls `duration` brings at most, in nearly every run: the mean of
    /// the Poisson process and four standard deviations. Only memory is set aside
    /// by it, and never for more than 65,536 calls.
    #[must_use]
    pub fn expected_calls(&self, duration: Duration) -> usize {
        let mean = self.call_rate * duration.as_secs_f64();
        (mean + 4.0 * mean.sqrt()).min(MOST_EXPECTED) as usize
    }

    /// Checks every value.
    ///
    /// # Errors
    /// The first key whose value no run can have.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        if !(self.call_rate > 0.0 && self.call_rate <= MAX_CALL_RATE) {
            return Err(WorkloadError {
                key: "call_rate",
                problem: format!(
                    "{} calls per second; it must be above 0 and at most {MAX_CALL_RATE}",
                    self.call_rate
                ),
            });
        }
        for kind in MessageKind::ALL {
            if let Some((key, bytes)) = self.size_key(kind) {
                validate_size(self.content, kind, key, bytes)?;
            }
        }
        validate_timers(self.t1_ns, self.t2_ns, self.t4_ns)
    }

    /// Key and length of a kind of message, where this flow has it.
    fn size_key(&self, kind: MessageKind) -> Option<(&'static str, u32)> {
        let full = self.flow == Flow::Full;
        match kind {
            MessageKind::Invite => Some(("invite_bytes", self.invite_bytes)),
            MessageKind::Ringing => Some(("ringing_bytes", self.ringing_bytes)),
            MessageKind::Ok | MessageKind::ByeOk if full => Some(("ok_bytes", self.ok_bytes)),
            MessageKind::Ack if full => Some(("ack_bytes", self.ack_bytes)),
            MessageKind::Bye if full => Some(("bye_bytes", self.bye_bytes)),
            _ => None,
        }
    }

    /// Length in bytes of a message of this kind; zero where the flow has none.
    #[must_use]
    pub fn bytes_of(&self, kind: MessageKind) -> u32 {
        self.size_key(kind).map_or(0, |(_, bytes)| bytes)
    }

    pub(super) fn script(&self) -> Script {
        Script {
            course: match self.flow {
                Flow::InviteRinging => Course::Ringing,
                Flow::Full => Course::Full,
            },
            writer: Writer::new(self.content, |kind| self.bytes_of(kind)),
            timers: timers(self.t1_ns, self.t2_ns, self.t4_ns),
            ring_time: match self.flow {
                Flow::InviteRinging => Duration::ZERO,
                Flow::Full => self.ring_time(),
            },
            talk_time: self.talk_time(),
            repeated_invite: RepeatedInvite::Absorb,
            repeat_ok_when_reliable: self.repeat_ok_when_reliable,
        }
    }

    /// From the INVITE's arrival until the called party answers.
    #[must_use]
    pub fn ring_time(&self) -> Duration {
        Duration::from_nanos(self.ring_time_ns)
    }

    /// From the answer's arrival until the caller hangs up.
    #[must_use]
    pub fn talk_time(&self) -> Duration {
        Duration::from_nanos(self.talk_time_ns)
    }
}

/// Checks the length of a kind of message.
pub(super) fn validate_size(
    content: Content,
    kind: MessageKind,
    key: &'static str,
    bytes: u32,
) -> Result<(), WorkloadError> {
    let (least, why) = match content {
        Content::Size => (1, ""),
        Content::Full => (
            write::minimum_bytes(kind),
            ", the shortest SIP message of this kind with content \"full\"",
        ),
    };
    if bytes < least {
        return Err(WorkloadError {
            key,
            problem: format!("{bytes} bytes; it must be at least {least}{why}"),
        });
    }
    if bytes > MAX_MESSAGE_BYTES {
        return Err(WorkloadError {
            key,
            problem: format!("{bytes} bytes; it must be at most {MAX_MESSAGE_BYTES}"),
        });
    }
    Ok(())
}

pub(super) fn timers(t1_ns: u64, t2_ns: u64, t4_ns: u64) -> Timers {
    Timers {
        t1: Duration::from_nanos(t1_ns),
        t2: Duration::from_nanos(t2_ns),
        t4: Duration::from_nanos(t4_ns),
    }
}

/// Checks the base values of the SIP timers.
pub(super) fn validate_timers(t1_ns: u64, t2_ns: u64, t4_ns: u64) -> Result<(), WorkloadError> {
    for (key, value, least, why) in [
        ("t1_ns", t1_ns, 1, ""),
        ("t2_ns", t2_ns, t1_ns, ", the value of t1_ns"),
        ("t4_ns", t4_ns, 1, ""),
    ] {
        if value < least {
            return Err(WorkloadError {
                key,
                problem: format!("{value} ns; it must be at least {least}{why}"),
            });
        }
    }
    Ok(())
}
