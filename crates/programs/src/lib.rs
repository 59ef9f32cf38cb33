//! What the program `headway-net` is made of. Nothing here is meant for other programs: what is
//! public is the way in, and what reads the words of users and of the network, for the fuzzer.

mod cli;
mod failure;
pub mod relay;
pub mod sctp_echo;
pub mod sip;
pub mod units;

pub use cli::{Cli, Plan, main};
pub use failure::Failure;
