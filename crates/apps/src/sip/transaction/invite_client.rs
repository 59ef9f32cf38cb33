//! The INVITE client transaction (RFC 3261 section 17.1.1 as replaced by
//! RFC 6026 section 8.4, figure 5).

use headway_sansio::{Duration, Time};

use super::timers::Resend;
use super::{ClientAction, Timers};
use crate::Reliability;

/// Gets an INVITE to the server and its responses to the transaction user.
#[derive(Clone, Debug)]
pub struct InviteClient {
    timers: Timers,
    reliability: Reliability,
    state: State,
}

/// The states of figure 5.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InviteClientState {
    /// The INVITE is out; no response yet.
    Calling,
    /// A provisional response came.
    Proceeding,
    /// A final response other than 2xx came; its repetitions are acknowledged.
    Completed,
    /// A 2xx came; further ones go up to the transaction user.
    Accepted,
    /// The transaction is over and to be dropped.
    Terminated,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Timers A (unreliable transports only) and B.
    Calling {
        resend: Option<Resend>,
        give_up: Time,
    },
    Proceeding,
    /// Timer D.
    Completed {
        end: Time,
    },
    /// Timer M.
    Accepted {
        end: Time,
    },
    Terminated,
}

impl InviteClient {
    /// Begins; the owner sends the INVITE at once.
    #[must_use]
    pub fn start(now: Time, timers: Timers, reliability: Reliability) -> Self {
        let unreliable = reliability == Reliability::Unreliable;
        Self {
            timers,
            reliability,
            state: State::Calling {
                resend: unreliable.then(|| Resend::start(now, timers.t1)),
                give_up: now + timers.patience(),
            },
        }
    }

    /// A response with this status code matched the transaction.
    pub fn handle_response(&mut self, now: Time, code: u16) -> ClientAction {
        match (self.state, code) {
            (State::Calling { .. } | State::Proceeding, 100..=199) => {
                self.state = State::Proceeding;
                ClientAction::PassUp
            }
            (State::Calling { .. } | State::Proceeding, 200..=299) => {
                let end = now + self.timers.patience();
                self.state = State::Accepted { end };
                ClientAction::PassUp
            }
            (State::Calling { .. } | State::Proceeding, 300..=699) => {
                self.state = match self.reliability {
                    Reliability::Unreliable => State::Completed {
                        end: now + self.timers.wait_d(),
                    },
                    // Timer D is zero.
                    Reliability::Reliable => State::Terminated,
                };
                ClientAction::AcknowledgeAndPassUp
            }
            (State::Completed { .. }, 300..=699) => ClientAction::Acknowledge,
            (State::Accepted { .. }, 200..=299) => ClientAction::PassUp,
            _ => ClientAction::None,
        }
    }

    /// The transport could not send the INVITE or the ACK.
    pub fn handle_transport_error(&mut self) -> ClientAction {
        match self.state {
            State::Calling { .. } | State::Completed { .. } => {
                self.state = State::Terminated;
                ClientAction::TransportFailed
            }
            State::Proceeding | State::Accepted { .. } | State::Terminated => ClientAction::None,
        }
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) -> ClientAction {
        match &mut self.state {
            State::Calling { give_up, .. } if *give_up <= now => {
                self.state = State::Terminated;
                ClientAction::TimedOut
            }
            State::Calling {
                resend: Some(resend),
                ..
            } if resend.at <= now => {
                resend.back_off(now, Duration::MAX);
                ClientAction::Send
            }
            State::Completed { end } | State::Accepted { end } if *end <= now => {
                self.state = State::Terminated;
                ClientAction::None
            }
            _ => ClientAction::None,
        }
    }

    /// When it next wants [`Self::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        match self.state {
            State::Calling { resend, give_up } => {
                Some(resend.map_or(give_up, |resend| resend.at.min(give_up)))
            }
            State::Completed { end } | State::Accepted { end } => Some(end),
            State::Proceeding | State::Terminated => None,
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> InviteClientState {
        match self.state {
            State::Calling { .. } => InviteClientState::Calling,
            State::Proceeding => InviteClientState::Proceeding,
            State::Completed { .. } => InviteClientState::Completed,
            State::Accepted { .. } => InviteClientState::Accepted,
            State::Terminated => InviteClientState::Terminated,
        }
    }
}
