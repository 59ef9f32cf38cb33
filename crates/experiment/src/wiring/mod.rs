//! Hosts, links and observers of one run.

mod carrier;
mod gauge;
mod host;
mod pair;
mod run;
mod sctp;
mod sip;
mod watch;

pub use run::{RunError, run};
