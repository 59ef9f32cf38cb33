//! User agents for real networks: complete SIP, with dialogs.
//!
//! [`Uac`] makes calls and [`Uas`] takes them, each over one transport, on top of
//! the same transactions that the simulated calls run. Unlike
//! [`SipCaller`](super::SipCaller) and [`SipAnswerer`](super::SipAnswerer) they
//! know nothing of a message but its text, and so they work with any SIP program
//! at the other end.
//!
//! Media are not sent: session descriptions say "inactive".

mod checks;
mod core;
mod dialog;
mod layer;
mod sdp;
mod uac;
mod uas;

#[cfg(test)]
mod layer_tests;
#[cfg(test)]
mod soak_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod torture_tests;

pub use self::core::UaConfig;
pub use layer::{ClientId, LayerCounters, LayerEvent, LayerOutput, ServerId, TransactionLayer};
pub use uac::{CallPlan, Pace, Uac};
pub use uas::{AnswerPlan, Uas};
