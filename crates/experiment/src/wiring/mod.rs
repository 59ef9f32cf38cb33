//! Hosts, links and observers of one run.

mod alarms;
mod carrier;
mod chunks;
mod crowd;
mod dcsctp;
mod delays;
mod dumbbell;
mod error;
mod gauge;
mod host;
mod media;
mod meters;
mod metrics;
mod over;
mod pair;
mod radio;
mod rivals;
mod run;
mod sctp;
mod sip;
mod site;
mod tcp;
mod transactions;
mod udp;
mod watch;

pub use error::RunError;
pub use run::run;
