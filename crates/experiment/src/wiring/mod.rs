//! Hosts, links and observers of one run.

mod carrier;
mod gauge;
mod host;
mod metrics;
mod over;
mod pair;
mod radio;
mod run;
mod sctp;
mod sip;
mod transactions;
mod udp;
mod watch;

pub use run::{RunError, run};
