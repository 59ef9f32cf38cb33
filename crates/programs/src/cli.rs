//! The command line, and what it asks for.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use headway_net::sctp::EndpointConfig;

use crate::failure::Failure;
use crate::{relay, sctp_echo, sip};

/// Headway's machines and paths on a real network.
#[derive(Debug, Parser)]
#[command(name = "headway-net", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Relay(relay::Args),
    #[command(subcommand)]
    Sip(sip::Args),
    #[command(subcommand)]
    SctpEcho(sctp_echo::Args),
}

/// What arguments ask for, once they have been found to make sense. Nothing is open yet.
pub enum Plan {
    /// A relay over this path.
    Relay(Box<relay::Path>),
    /// A user agent.
    Sip,
    /// An SCTP endpoint.
    SctpEcho(Box<EndpointConfig>),
}

impl Cli {
    /// Judges the arguments as the program does before it opens a socket. Reads the files that
    /// they name.
    ///
    /// # Errors
    /// Where an argument makes no sense or a file cannot be used: [`Failure::Input`].
    pub fn plan(&self) -> Result<Plan, Failure> {
        Ok(match &self.command {
            Command::Relay(args) => Plan::Relay(Box::new(relay::path(args)?)),
            Command::Sip(args) => {
                args.check()?;
                Plan::Sip
            }
            Command::SctpEcho(args) => Plan::SctpEcho(Box::new(args.endpoint()?)),
        })
    }
}

/// The program: does what its arguments ask for and says how that went.
#[must_use]
pub fn main() -> ExitCode {
    // Wrong arguments end the program here, with exit code 2.
    let result = match Cli::parse().command {
        Command::Relay(args) => relay::run(&args),
        Command::Sip(args) => sip::run(&args),
        Command::SctpEcho(args) => sctp_echo::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("headway-net: {failure}");
            failure.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
