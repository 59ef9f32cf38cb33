//! The server transaction of every request but INVITE and ACK (RFC 3261
//! section 17.2.2, figure 8).

use headway_sansio::Time;

use super::{ServerAction, Timers};
use crate::Reliability;

/// Gets the responses of the transaction user to the client.
#[derive(Clone, Debug)]
pub struct Server {
    timers: Timers,
    reliability: Reliability,
    state: State,
}

/// The states of figure 8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerState {
    /// No response yet.
    Trying,
    /// A provisional response is out.
    Proceeding,
    /// The final response is out and repeated for each repeated request.
    Completed,
    /// The transaction is over and to be dropped.
    Terminated,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Trying,
    Proceeding,
    /// Timer J.
    Completed {
        end: Time,
    },
    Terminated,
}

impl Server {
    /// Begins with a request that matched no transaction; the owner gives it to
    /// the transaction user.
    #[must_use]
    pub fn start(timers: Timers, reliability: Reliability) -> Self {
        Self {
            timers,
            reliability,
            state: State::Trying,
        }
    }

    /// The request came again.
    pub fn handle_request(&mut self) -> ServerAction {
        match self.state {
            State::Proceeding | State::Completed { .. } => ServerAction::SendAgain,
            State::Trying | State::Terminated => ServerAction::None,
        }
    }

    /// The transaction user gives a response. Where the answer is not
    /// [`ServerAction::Send`], the response is not to be sent.
    pub fn respond(&mut self, now: Time, code: u16) -> ServerAction {
        match (self.state, code) {
            (State::Trying | State::Proceeding, 100..=199) => {
                self.state = State::Proceeding;
                ServerAction::Send
            }
            (State::Trying | State::Proceeding, 200..=699) => {
                self.state = match self.reliability {
                    Reliability::Unreliable => State::Completed {
                        end: now + self.timers.patience(),
                    },
                    // Timer J is zero.
                    Reliability::Reliable => State::Terminated,
                };
                ServerAction::Send
            }
            _ => ServerAction::None,
        }
    }

    /// The transport could not send a response. Figure 8 ends the transaction;
    /// RFC 6026 changes that for INVITE alone.
    pub fn handle_transport_error(&mut self) -> ServerAction {
        match self.state {
            State::Proceeding | State::Completed { .. } => {
                self.state = State::Terminated;
                ServerAction::TransportFailed
            }
            State::Trying | State::Terminated => ServerAction::None,
        }
    }

    /// Does what is due at `now`; there is never anything to send.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.poll_timeout().is_some_and(|end| end <= now) {
            self.state = State::Terminated;
        }
    }

    /// When it next wants [`Self::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        match self.state {
            State::Completed { end } => Some(end),
            State::Trying | State::Proceeding | State::Terminated => None,
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> ServerState {
        match self.state {
            State::Trying => ServerState::Trying,
            State::Proceeding => ServerState::Proceeding,
            State::Completed { .. } => ServerState::Completed,
            State::Terminated => ServerState::Terminated,
        }
    }
}
