//! The INVITE server transaction (RFC 3261 section 17.2.1 as changed by
//! RFC 6026 sections 7.1 and 8.5 to 8.8, figure 7).

use headway_sansio::{Duration, Time};

use super::timers::Resend;
use super::{ServerAction, Timers};
use crate::Reliability;

/// Gets the responses of the transaction user to the client.
#[derive(Clone, Debug)]
pub struct InviteServer {
    timers: Timers,
    reliability: Reliability,
    state: State,
}

/// When the transaction sends a 100 (Trying) of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trying {
    /// With the INVITE's arrival.
    AtOnce,
    /// When the transaction user has sent nothing for 200 ms, the longest that
    /// RFC 3261 section 17.2.1 leaves a client without an answer.
    WhenSlow,
}

/// The states of figure 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InviteServerState {
    /// No final response yet.
    Proceeding,
    /// A final response other than 2xx is out; no ACK yet.
    Completed,
    /// Its ACK came; repetitions of the ACK are absorbed.
    Confirmed,
    /// A 2xx is out; repetitions of the INVITE are absorbed.
    Accepted,
    /// The transaction is over and to be dropped.
    Terminated,
}

/// The last provisional response that is out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Provisional {
    None,
    /// A 100 of the transaction's own.
    Trying,
    /// One of the transaction user's.
    FromUser,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// A 100 is due at a time where none of the user's came before.
    Proceeding {
        last: Provisional,
        trying_at: Option<Time>,
    },
    /// Timers G (unreliable transports only) and H.
    Completed {
        resend: Option<Resend>,
        give_up: Time,
    },
    /// Timer I.
    Confirmed {
        end: Time,
    },
    /// Timer L.
    Accepted {
        end: Time,
    },
    Terminated,
}

const SLOW: Duration = Duration::from_millis(200);

impl InviteServer {
    /// Begins with an INVITE that matched no transaction; the owner gives it to
    /// the transaction user after doing what is returned.
    pub fn start(
        now: Time,
        timers: Timers,
        reliability: Reliability,
        trying: Trying,
    ) -> (Self, ServerAction) {
        let (last, trying_at, action) = match trying {
            Trying::AtOnce => (Provisional::Trying, None, ServerAction::SendTrying),
            Trying::WhenSlow => (Provisional::None, Some(now + SLOW), ServerAction::None),
        };
        let server = Self {
            timers,
            reliability,
            state: State::Proceeding { last, trying_at },
        };
        (server, action)
    }

    /// The INVITE came again.
    pub fn handle_invite(&mut self) -> ServerAction {
        match self.state {
            State::Proceeding { last, .. } => match last {
                Provisional::None => ServerAction::None,
                Provisional::Trying => ServerAction::SendTrying,
                Provisional::FromUser => ServerAction::SendAgain,
            },
            State::Completed { .. } => ServerAction::SendAgain,
            State::Confirmed { .. } | State::Accepted { .. } | State::Terminated => {
                ServerAction::None
            }
        }
    }

    /// An ACK matched the transaction.
    pub fn handle_ack(&mut self, now: Time) -> ServerAction {
        match self.state {
            State::Completed { .. } => {
                self.state = match self.reliability {
                    Reliability::Unreliable => State::Confirmed {
                        end: now + self.timers.t4,
                    },
                    // Timer I is zero.
                    Reliability::Reliable => State::Terminated,
                };
                ServerAction::None
            }
            State::Accepted { .. } => ServerAction::PassUp,
            State::Proceeding { .. } | State::Confirmed { .. } | State::Terminated => {
                ServerAction::None
            }
        }
    }

    /// The transaction user gives a response, a repeated 2xx included. Where
    /// the answer is not [`ServerAction::Send`], the response is not to be sent.
    pub fn respond(&mut self, now: Time, code: u16) -> ServerAction {
        match (self.state, code) {
            (State::Proceeding { .. }, 100..=199) => {
                self.state = State::Proceeding {
                    last: Provisional::FromUser,
                    trying_at: None,
                };
            }
            (State::Proceeding { .. }, 200..=299) => {
                let end = now + self.timers.patience();
                self.state = State::Accepted { end };
            }
            (State::Proceeding { .. }, 300..=699) => {
                let unreliable = self.reliability == Reliability::Unreliable;
                self.state = State::Completed {
                    resend: unreliable.then(|| Resend::start(now, self.timers.t1)),
                    give_up: now + self.timers.patience(),
                };
            }
            (State::Accepted { .. }, 200..=299) => {}
            _ => return ServerAction::None,
        }
        ServerAction::Send
    }

    /// The transport could not send a response. The state stays: a repeated
    /// INVITE is to be absorbed, not taken for a new one (RFC 6026 section 7.1).
    pub fn handle_transport_error(&mut self) -> ServerAction {
        match self.state {
            State::Proceeding { .. } | State::Completed { .. } | State::Accepted { .. } => {
                ServerAction::TransportFailed
            }
            State::Confirmed { .. } | State::Terminated => ServerAction::None,
        }
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) -> ServerAction {
        let t2 = self.timers.t2;
        match &mut self.state {
            State::Proceeding { last, trying_at } if trying_at.is_some_and(|at| at <= now) => {
                *last = Provisional::Trying;
                *trying_at = None;
                ServerAction::SendTrying
            }
            State::Completed { give_up, .. } if *give_up <= now => {
                self.state = State::Terminated;
                ServerAction::TimedOut
            }
            State::Completed {
                resend: Some(resend),
                ..
            } if resend.at <= now => {
                resend.back_off(now, t2);
                ServerAction::SendAgain
            }
            State::Confirmed { end } | State::Accepted { end } if *end <= now => {
                self.state = State::Terminated;
                ServerAction::None
            }
            _ => ServerAction::None,
        }
    }

    /// When it next wants [`Self::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        match self.state {
            State::Proceeding { trying_at, .. } => trying_at,
            State::Completed { resend, give_up } => {
                Some(resend.map_or(give_up, |resend| resend.at.min(give_up)))
            }
            State::Confirmed { end } | State::Accepted { end } => Some(end),
            State::Terminated => None,
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> InviteServerState {
        match self.state {
            State::Proceeding { .. } => InviteServerState::Proceeding,
            State::Completed { .. } => InviteServerState::Completed,
            State::Confirmed { .. } => InviteServerState::Confirmed,
            State::Accepted { .. } => InviteServerState::Accepted,
            State::Terminated => InviteServerState::Terminated,
        }
    }
}
