//! `headway-net`: Headway's machines and paths on a real network.

mod failure;
mod relay;
mod sctp_echo;
mod sip;
mod units;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Headway's machines and paths on a real network.
#[derive(Debug, Parser)]
#[command(name = "headway-net", version, arg_required_else_help = true)]
struct Cli {
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

fn main() -> ExitCode {
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
