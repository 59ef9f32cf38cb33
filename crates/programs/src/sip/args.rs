//! The arguments of `headway-net sip uac` and `uas`.

use std::net::SocketAddr;

use clap::{Subcommand, ValueEnum};
use headway_apps::sip::transaction::Timers;
use headway_sansio::Duration;

use crate::failure::Failure;
use crate::units;

const UAC_EXAMPLES: &str = "\
Examples:
  200 calls at 20 per second to a SIP server on this machine:
    headway-net sip uac 127.0.0.1:5060 --calls 200 --rate 20/s

  The same over TCP, figures as JSON:
    headway-net sip uac 127.0.0.1:5060 --calls 200 --rate 20/s --transport tcp --json

  Ten minutes of 50 calls per second at even distances, as SIPp's -r makes them:
    headway-net sip uac 127.0.0.1:5060 --calls 30000 --rate 50/s --even

  One call after another, 1 s or 2 s apart, to SIPp (sipp -sn uas -p 5070) behind a path
  that loses 5 %:
    headway-net relay --listen 127.0.0.1:5060 --to 127.0.0.1:5070 --loss 5%
    headway-net sip uac 127.0.0.1:5060 --calls 500 --one-by-one 1s,2s

Ctrl-C or SIGTERM ends new calls; a second one ends the program. The exit code is 0 where
every call was carried through, 1 where one was not, 2 for bad arguments.";

const UAS_EXAMPLES: &str = "\
Examples:
  Answer calls on UDP port 5060 after two seconds of ringing:
    headway-net sip uas --ring-time 2s

  Answer 1000 calls over TCP, then end and print the figures as JSON:
    headway-net sip uas --transport tcp --calls 1000 --json

  SIPp calls through a path with 20 ms and 5 % loss each way:
    headway-net sip uas --listen 127.0.0.1:5070
    headway-net relay --listen 127.0.0.1:5060 --to 127.0.0.1:5070 --delay 20ms --loss 5%
    sipp -sn uac 127.0.0.1:5060 -m 100

Responses go back where their request came from, which a relay needs.
Ctrl-C or SIGTERM ends the program, which then prints what it counted.";

/// SIP user agents: the state machines of the laboratory on real sockets.
#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    Uac(UacArgs),
    Uas(UasArgs),
}

/// Makes calls: INVITE, ACK, BYE; reports delays, repetitions and failures.
#[derive(Debug, clap::Args)]
#[command(after_long_help = UAC_EXAMPLES, after_help = "More and examples: --help")]
pub(crate) struct UacArgs {
    /// Where requests go, such as 127.0.0.1:5060
    pub(super) target: SocketAddr,
    /// udp or tcp
    #[arg(long, default_value = "udp")]
    pub(super) transport: TransportKind,
    /// Address of this side; by default the one that leads to the target, any port
    #[arg(long, value_name = "ADDRESS")]
    pub(super) bind: Option<SocketAddr>,
    /// Who is called [default: sip:headway@TARGET]
    #[arg(long)]
    pub(super) uri: Option<String>,

    /// Calls in all
    #[arg(long, default_value_t = 100, help_heading = "Calls")]
    pub(super) calls: u32,
    /// New calls per second, as a Poisson process
    #[arg(long, default_value = "10/s", value_parser = units::event_rate, help_heading = "Calls")]
    pub(super) rate: f64,
    /// At even distances instead of as a Poisson process
    #[arg(long, help_heading = "Calls")]
    pub(super) even: bool,
    /// Instead: one after another, with one of these pauses, at random, between them
    #[arg(long, value_name = "PAUSES", value_delimiter = ',', value_parser = units::duration,
          conflicts_with_all = ["rate", "even"], help_heading = "Calls")]
    pub(super) one_by_one: Vec<Duration>,
    /// No new calls after this time
    #[arg(long, value_parser = units::duration, help_heading = "Calls")]
    pub(super) duration: Option<Duration>,
    /// From the answer until the caller hangs up
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = units::duration,
          help_heading = "Calls")]
    pub(super) talk_time: Duration,
    /// How long a call may ring before it is cancelled
    #[arg(long, default_value = "3min", value_name = "TIME", value_parser = units::duration,
          help_heading = "Calls")]
    pub(super) patience: Duration,
    /// Leave the session description out of the INVITE; the ACK carries it
    #[arg(long, help_heading = "Calls")]
    pub(super) late_offer: bool,
    /// What the times of calls follow from: a number, also 0x and hexadecimal
    #[arg(long, default_value = "1", value_parser = units::seed, help_heading = "Calls")]
    pub(super) seed: u64,

    #[command(flatten)]
    pub(super) timers: TimerArgs,
    /// End after this time, whatever calls are open
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(super) time_limit: Option<Duration>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Takes calls: 180 at once, 200 after the ring time, 200 to the BYE.
#[derive(Debug, clap::Args)]
#[command(after_long_help = UAS_EXAMPLES, after_help = "More and examples: --help")]
pub(crate) struct UasArgs {
    /// Where calls come in; port 0 lets the system choose
    #[arg(long, default_value = "127.0.0.1:5060", value_name = "ADDRESS")]
    pub(super) listen: SocketAddr,
    /// udp or tcp
    #[arg(long, default_value = "udp")]
    pub(super) transport: TransportKind,
    /// Host, or host and port, that others know this one by [default: the address of --listen]
    #[arg(long)]
    pub(super) host: Option<String>,

    /// From the INVITE until the answer
    #[arg(long, default_value = "0", value_name = "TIME", value_parser = units::duration,
          help_heading = "Calls")]
    pub(super) ring_time: Duration,
    /// Send no 180 (a 100 goes out where the answer takes longer than 200 ms)
    #[arg(long, help_heading = "Calls")]
    pub(super) no_ringing: bool,
    /// Refuse every call with this status code, 300 to 699
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(300..700),
          help_heading = "Calls")]
    pub(super) refuse: Option<u16>,
    /// Calls that may be open at one time; further ones are refused with 503
    #[arg(
        long,
        default_value_t = 100_000,
        value_name = "NUMBER",
        help_heading = "Calls"
    )]
    pub(super) max_open: usize,
    /// End after so many calls, when their last timers have run out (32 s over UDP)
    #[arg(
        long,
        value_name = "NUMBER",
        conflicts_with = "refuse",
        help_heading = "Calls"
    )]
    pub(super) calls: Option<u32>,

    #[command(flatten)]
    pub(super) timers: TimerArgs,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(super) time_limit: Option<Duration>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Base values of the timers (RFC 3261 table 4).
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct TimerArgs {
    /// First retransmission interval
    #[arg(long, default_value = "500ms", value_name = "TIME", value_parser = units::duration,
          help_heading = "Timers of RFC 3261")]
    t1: Duration,
    /// Longest retransmission interval, of all but INVITE
    #[arg(long, default_value = "4s", value_name = "TIME", value_parser = units::duration,
          help_heading = "Timers of RFC 3261")]
    t2: Duration,
    /// How long a message stays in the network
    #[arg(long, default_value = "5s", value_name = "TIME", value_parser = units::duration,
          help_heading = "Timers of RFC 3261")]
    t4: Duration,
}

/// What carries the messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum TransportKind {
    /// One datagram, one message.
    Udp,
    /// A stream, divided by Content-Length.
    Tcp,
}

impl TimerArgs {
    /// # Errors
    /// Where a value makes no sense.
    pub(super) fn timers(self) -> Result<Timers, Failure> {
        let Self { t1, t2, t4 } = self;
        for (name, value) in [("--t1", t1), ("--t4", t4)] {
            if value.is_zero() {
                return Err(Failure::Input(format!("{name}: must be above 0")));
            }
        }
        if t2 < t1 {
            return Err(Failure::Input(
                "--t2: must be no shorter than --t1".to_owned(),
            ));
        }
        Ok(Timers { t1, t2, t4 })
    }
}
