//! The four transactions of RFC 3261 section 17 with RFC 6026's correction, and
//! the repetition of the 200 that section 13.3.1.4 leaves to the core.
//!
//! Each is a small machine that holds no message: it is told what came and says
//! what to do ([`ClientAction`], [`ServerAction`]), and its owner keeps the
//! messages. So one and the same machine runs a call of which only lengths are
//! known and a call of real text. A state owns its timers: leaving it drops them.
//!
//! | machine | figure | timers |
//! |---|---|---|
//! | [`InviteClient`] | RFC 6026 fig. 5 | A, B, D, M |
//! | [`Client`] | RFC 3261 fig. 6 | E, F, K |
//! | [`InviteServer`] | RFC 6026 fig. 7 | G, H, I, L |
//! | [`Server`] | RFC 3261 fig. 8 | J |
//! | [`OkRepeater`] | RFC 3261 section 13.3.1.4 | T1 doubling to T2, 64*T1 |

mod client;
mod invite_client;
mod invite_server;
mod ok_repeater;
mod server;
mod timers;

#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod table_tests;

pub use client::{Client, ClientState};
pub use invite_client::{InviteClient, InviteClientState};
pub use invite_server::{InviteServer, InviteServerState, Trying};
pub use ok_repeater::{OkRepeater, RepeatAction};
pub use server::{Server, ServerState};
pub use timers::Timers;

/// What the owner of a client transaction does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum ClientAction {
    /// Nothing.
    None,
    /// Send the request (again).
    Send,
    /// Give the response to the transaction user.
    PassUp,
    /// Send the ACK of a final response other than 2xx (again).
    Acknowledge,
    /// Send that ACK and give the response to the transaction user.
    AcknowledgeAndPassUp,
    /// Tell the transaction user that no answer came in time.
    TimedOut,
    /// Tell the transaction user that the request could not be sent.
    TransportFailed,
}

/// What the owner of a server transaction does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum ServerAction {
    /// Nothing.
    None,
    /// Send the response that the transaction user just gave.
    Send,
    /// Send the transaction user's last response again.
    SendAgain,
    /// Send a 100 (Trying) that the transaction makes itself.
    SendTrying,
    /// Give the ACK to the transaction user.
    PassUp,
    /// Tell the transaction user that no ACK came in time.
    TimedOut,
    /// Tell the transaction user that a response could not be sent.
    TransportFailed,
}
