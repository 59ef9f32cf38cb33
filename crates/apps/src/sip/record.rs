//! What is known of a call afterwards.

use headway_sansio::{Duration, Time};

/// A call as the caller's side saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallRecord {
    /// The INVITE was handed to the transport for the first time.
    pub started: Time,
    /// The first 180 came out of the transport.
    pub ringing: Option<Time>,
    /// The first 200 to the INVITE came out of the transport.
    pub answered: Option<Time>,
    /// The call needs nothing more: its last reply came out of the transport.
    pub finished: Option<Time>,
    /// The caller gave up: when, and waiting for what.
    pub failed: Option<(Time, Failure)>,
    /// How often the INVITE was handed to the transport.
    pub invites: u32,
}

/// Why a caller gave up; in the first three cases, what it waited for in vain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Any response to the INVITE: timer B, 64*T1.
    NoResponse,
    /// The 200 to the INVITE, for as long as the caller is patient. Simulated
    /// calls over an unreliable transport wait for 64*T1 and the ring time: seed
    /// 1's rule (32 s from the first INVITE), with the time that the called
    /// party takes added.
    NoAnswer,
    /// Any final response to the BYE: timer F, 64*T1.
    NoReplyToBye,
    /// A final response other than 2xx came, with this status code.
    Refused(u16),
    /// The transport could not send.
    NotSent,
}

impl CallRecord {
    pub(super) fn new(started: Time) -> Self {
        Self {
            started,
            ringing: None,
            answered: None,
            finished: None,
            failed: None,
            invites: 0,
        }
    }

    /// Post-selection delay (ITU-T E.721): from the INVITE handed over until
    /// the 180 is delivered.
    #[must_use]
    pub fn post_selection_delay(&self) -> Option<Duration> {
        Some(self.ringing?.since(self.started))
    }

    /// Transaction delay (seed 1): from the first INVITE until the first 200.
    /// `None` where the caller had given up before.
    #[must_use]
    pub fn transaction_delay(&self) -> Option<Duration> {
        let answered = self.answered?;
        let in_time = self.failed.is_none_or(|(at, _)| answered < at);
        in_time.then(|| answered.since(self.started))
    }
}

/// A call as the answerer's side saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AnswerRecord {
    /// The first INVITE arrived.
    pub invited: Option<Time>,
    /// The called party answered: the first 200 was handed over.
    pub answered: Option<Time>,
    /// The first ACK arrived.
    pub acknowledged: Option<Time>,
    /// The first BYE arrived, and its 200 was handed over in reply.
    pub ended: Option<Time>,
    /// When no ACK had come 64*T1 after the first 200 (seed 1's second rule).
    pub unacknowledged: Option<Time>,
    /// How often the 200 to the INVITE was handed over.
    pub oks: u32,
}

/// Answer signal delay (ITU-T E.721): from the called party's answer until the
/// 200 is delivered to the caller. `None` where either did not happen.
#[must_use]
pub fn answer_signal_delay(call: &CallRecord, answer: &AnswerRecord) -> Option<Duration> {
    Some(call.answered?.since(answer.answered?))
}

/// How a transaction of seed 1 ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The 200 reached the caller and the ACK the answerer, both in time.
    Success,
    /// No 200 within 64*T1 of the first INVITE.
    NoAnswer,
    /// No ACK within 64*T1 of the first 200. RFC 3261 itself would not call
    /// the transaction failed.
    NoAck,
}

/// How a transaction ended by seed 1's two rules, once both sides are done.
#[must_use]
pub fn outcome(call: &CallRecord, answer: Option<&AnswerRecord>) -> Outcome {
    if call.transaction_delay().is_none() {
        Outcome::NoAnswer
    } else if answer.is_none_or(|answer| answer.unacknowledged.is_some()) {
        Outcome::NoAck
    } else {
        Outcome::Success
    }
}

/// Messages that an application could not use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Odd {
    /// Not SIP, or without the identity that a call needs.
    pub malformed: u64,
    /// Of no known call, of the wrong direction, or too late.
    pub unexpected: u64,
    /// There already. Usual over an unreliable transport; zero over a reliable one
    /// unless the answerer repeats its 200.
    pub repeated: u64,
}
