//! SIP signalling between two proxies (RFC 3261; the workload of seed 0).
//!
//! [`SipCaller`] stands for the originating proxy: it starts calls as a Poisson
//! process. [`SipAnswerer`] stands for the terminating proxy: it answers each
//! INVITE with 180 at once and, in the full flow, goes on to 200, ACK and BYE.
//! Both keep one record a call, from which post-selection delay and answer
//! signal delay (ITU-T E.721) follow.
//!
//! Messages travel as lengths, known by their [`SipId`], or as real SIP text that
//! the receiver parses; the workload's `content` chooses, and the times of a run
//! do not depend on it.

mod answerer;
mod arrivals;
mod caller;
mod id;
pub mod message;
mod read;
mod record;
mod script;
mod sequence;
mod timer_queue;
pub mod transaction;
pub mod ua;
mod workload;
mod write;

#[cfg(test)]
mod loss_tests;
#[cfg(test)]
mod tests;

pub use answerer::SipAnswerer;
pub use caller::SipCaller;
pub use id::{MessageKind, SipId};
pub use record::{AnswerRecord, CallRecord, Failure, Odd, Outcome, answer_signal_delay, outcome};
pub use script::RepeatedInvite;
pub use sequence::SipTransactions;
pub use workload::{Content, Flow, SipWorkload, WorkloadError};
