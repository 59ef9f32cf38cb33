//! The client transaction of every request but INVITE and ACK (RFC 3261
//! section 17.1.2, figure 6).

use headway_sansio::Time;

use super::timers::Resend;
use super::{ClientAction, Timers};
use crate::Reliability;

/// Gets a request to the server and one final response to the transaction user.
#[derive(Clone, Debug)]
pub struct Client {
    timers: Timers,
    reliability: Reliability,
    state: State,
}

/// The states of figure 6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientState {
    /// The request is out; no response yet.
    Trying,
    /// A provisional response came.
    Proceeding,
    /// The final response came; its repetitions are absorbed.
    Completed,
    /// The transaction is over and to be dropped.
    Terminated,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Timers E (unreliable transports only) and F.
    Trying {
        resend: Option<Resend>,
        give_up: Time,
    },
    /// Timers E and F go on.
    Proceeding {
        resend: Option<Resend>,
        give_up: Time,
    },
    /// Timer K.
    Completed {
        end: Time,
    },
    Terminated,
}

impl Client {
    /// Begins; the owner sends the request at once.
    #[must_use]
    pub fn start(now: Time, timers: Timers, reliability: Reliability) -> Self {
        let unreliable = reliability == Reliability::Unreliable;
        Self {
            timers,
            reliability,
            state: State::Trying {
                resend: unreliable.then(|| Resend::start(now, timers.t1)),
                give_up: now + timers.patience(),
            },
        }
    }

    /// A response with this status code matched the transaction.
    pub fn handle_response(&mut self, now: Time, code: u16) -> ClientAction {
        match (self.state, code) {
            (State::Trying { resend, give_up }, 100..=199) => {
                self.state = State::Proceeding { resend, give_up };
                ClientAction::PassUp
            }
            (State::Proceeding { .. }, 100..=199) => ClientAction::PassUp,
            (State::Trying { .. } | State::Proceeding { .. }, 200..=699) => {
                self.state = match self.reliability {
                    Reliability::Unreliable => State::Completed {
                        end: now + self.timers.t4,
                    },
                    // Timer K is zero.
                    Reliability::Reliable => State::Terminated,
                };
                ClientAction::PassUp
            }
            _ => ClientAction::None,
        }
    }

    /// The transport could not send the request.
    pub fn handle_transport_error(&mut self) -> ClientAction {
        match self.state {
            State::Trying { .. } | State::Proceeding { .. } => {
                self.state = State::Terminated;
                ClientAction::TransportFailed
            }
            State::Completed { .. } | State::Terminated => ClientAction::None,
        }
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) -> ClientAction {
        let t2 = self.timers.t2;
        match &mut self.state {
            State::Trying { give_up, .. } | State::Proceeding { give_up, .. }
                if *give_up <= now =>
            {
                self.state = State::Terminated;
                ClientAction::TimedOut
            }
            State::Trying {
                resend: Some(resend),
                ..
            } if resend.at <= now => {
                resend.back_off(now, t2);
                ClientAction::Send
            }
            State::Proceeding {
                resend: Some(resend),
                ..
            } if resend.at <= now => {
                *resend = Resend::start(now, t2);
                ClientAction::Send
            }
            State::Completed { end } if *end <= now => {
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
            State::Trying { resend, give_up } | State::Proceeding { resend, give_up } => {
                Some(resend.map_or(give_up, |resend| resend.at.min(give_up)))
            }
            State::Completed { end } => Some(end),
            State::Terminated => None,
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> ClientState {
        match self.state {
            State::Trying { .. } => ClientState::Trying,
            State::Proceeding { .. } => ClientState::Proceeding,
            State::Completed { .. } => ClientState::Completed,
            State::Terminated => ClientState::Terminated,
        }
    }
}
