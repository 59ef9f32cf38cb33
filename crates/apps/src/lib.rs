//! The sources of traffic: applications that hand messages over and take
//! messages in, and never learn which transport carries them.
//!
//! An [`Application`] is a state machine without input or output of its own. It
//! hands out [`Outgoing`] messages; a [`Delivery`] says how the messages of one
//! context (a call, a page) map onto the streams of a transport. Only the wiring
//! outside knows both sides.
//!
//! * [`sip`]: SIP signalling between two proxies or user agents.
//! * [`media`]: real-time media at a constant rate, voice with pauses.
//! * [`trace`]: a recorded conversation.
//! * [`bulk`]: file transfers without end.
//! * [`web`]: sessions of web surfing.

mod application;
pub mod bulk;
mod delivery;
pub mod media;
#[cfg(test)]
mod pipe;
pub mod sip;
pub mod trace;
pub mod web;

pub use application::{Application, Incoming, MessageId, Outgoing, Peer, Reliability};
pub use delivery::Delivery;
