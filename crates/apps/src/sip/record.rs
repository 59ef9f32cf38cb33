//! What is known of a call afterwards.

use headway_sansio::{Duration, Time};

/// A call as the caller's side saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallRecord {
    /// The INVITE was handed to the transport.
    pub started: Time,
    /// The 180 came out of the transport.
    pub ringing: Option<Time>,
    /// The 200 to the INVITE came out of the transport.
    pub answered: Option<Time>,
    /// The call needs nothing more: the 180 of a call that ends there, the 200
    /// to the BYE of a full call.
    pub finished: Option<Time>,
}

impl CallRecord {
    /// Post-selection delay (ITU-T E.721): from the INVITE handed over until
    /// the 180 is delivered.
    #[must_use]
    pub fn post_selection_delay(&self) -> Option<Duration> {
        Some(self.ringing?.since(self.started))
    }
}

/// A call as the answerer's side saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AnswerRecord {
    /// The INVITE arrived, and the 180 was handed over in reply.
    pub invited: Option<Time>,
    /// The called party answered: the 200 was handed over.
    pub answered: Option<Time>,
    /// The ACK arrived.
    pub acknowledged: Option<Time>,
    /// The BYE arrived, and its 200 was handed over in reply.
    pub ended: Option<Time>,
}

/// Answer signal delay (ITU-T E.721): from the called party's answer until the
/// 200 is delivered to the caller. `None` where either did not happen.
#[must_use]
pub fn answer_signal_delay(call: &CallRecord, answer: &AnswerRecord) -> Option<Duration> {
    Some(call.answered?.since(answer.answered?))
}

/// Messages that an application could not use. All zero in a sound run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Odd {
    /// Not SIP, or without the identity that a call needs.
    pub malformed: u64,
    /// Of no known call, of the wrong direction, or there already.
    pub unexpected: u64,
}
