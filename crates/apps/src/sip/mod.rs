//! SIP (RFC 3261): simulated signalling, and user agents for real networks.
//!
//! | part | what it is |
//! |---|---|
//! | [`SipCaller`], [`SipAnswerer`] | the workloads of seeds 0 and 1, lean enough for virtual time |
//! | [`transaction`] | the four transactions and the repetition of the 200 |
//! | [`message`] | reading and writing SIP text |
//! | [`ua`] | transaction layer, dialogs, and agents that work with any SIP program |
//!
//! [`SipCaller`] stands for the originating proxy of seed 0, which starts calls as
//! a Poisson process, or for the client of seed 1, which runs transactions one by
//! one. [`SipAnswerer`] answers each INVITE at once. Both keep one record a call,
//! from which post-selection delay and answer signal delay (ITU-T E.721) and the
//! transaction delay of seed 1 follow. Over a reliable transport each message is
//! sent once; over an unreliable one SIP's own timers repeat it.
//!
//! Messages travel as lengths, known by their [`SipId`], or as real SIP text that
//! the receiver parses; the workload's `content` chooses, and the times of a run
//! do not depend on it.

mod answerer;
mod arrivals;
mod call_table;
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
