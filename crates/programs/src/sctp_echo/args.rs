//! The arguments of `headway-net sctp-echo serve` and `connect`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use clap::{Subcommand, ValueEnum};
use headway_net::sctp::{ENCAPSULATION_PORT, EndpointConfig, Peer, Reliability};
use headway_sansio::Duration;

use super::below::{BelowArgs, StackArgs};
use super::payload::Sizes;
use crate::failure::Failure;
use crate::units;

const SERVE_EXAMPLES: &str = "\
Examples:
  Echo everything that comes to SCTP port 7 over UDP port 9899:
    headway-net sctp-echo serve

  On loopback, three associations, figures as JSON:
    headway-net sctp-echo serve --listen 127.0.0.1 --associations 3 --json

  End each association after 100 messages:
    headway-net sctp-echo serve --shutdown-after 100

  For clients that give messages up or reset streams:
    headway-net sctp-echo serve --partial-reliability --reconfiguration

  Directly over IP, as root:
    headway-net sctp-echo serve --raw

  In DTLS, for clients that show the certificate in client.pem:
    headway-net sctp-echo serve --dtls server.pem --key server.key --peer-cert client.pem

Messages go back on their stream, with their payload protocol identifier, ordered or
unordered as they came. Ctrl-C or SIGTERM ends the program, which then prints what it
counted.";

const CONNECT_EXAMPLES: &str = "\
Examples:
  100 messages of 450 bytes, one after another, to this machine:
    headway-net sctp-echo connect 127.0.0.1

  40 messages a second on 16 streams for half a minute:
    headway-net sctp-echo connect 192.0.2.1 --rate 40/s --count 1200 --streams 16

  As much as goes through, 64 messages under way:
    headway-net sctp-echo connect 192.0.2.1 --size 1kB --count 100000 --outstanding 64

  Sizes from 1 byte to 200 kB, unordered, and an end by ABORT:
    headway-net sctp-echo connect 192.0.2.1 --size 1B..200kB --unordered --end abort

  Nothing is sent twice: what is lost is given up, and counted:
    headway-net sctp-echo connect 192.0.2.1 --max-retransmissions 0 --rate 500/s

  Reset the four streams once all is back, and send everything again, three times over:
    headway-net sctp-echo connect 192.0.2.1 --streams 4 --resets 3

  Long messages that let those of other streams pass, with I-DATA:
    headway-net sctp-echo connect 192.0.2.1 --size 200kB,100B --streams 2 --outstanding 8 \\
        --interleave --scheduler round-robin

  In DTLS, to a server whose certificate the authority in ca.pem has signed:
    headway-net sctp-echo connect 192.0.2.1 --dtls me.pem --key me.key --ca ca.pem

  A peer with two addresses:
    headway-net sctp-echo connect 192.0.2.1,198.51.100.1 --bind 192.0.2.2,198.51.100.2

Where messages may be given up, the last one on each stream may not: that it comes back
shows that the association goes on. The exit code is 0 where every message that was not
given up came back right and the association ended as it should, 1 where not, 2 for bad
arguments.";

/// Echo over SCTP: whether it works, how fast, and over which paths.
#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    Serve(ServeArgs),
    Connect(ConnectArgs),
}

/// Sends every message back as it came.
#[derive(Debug, clap::Args)]
#[command(after_long_help = SERVE_EXAMPLES, after_help = "More and examples: --help")]
pub(crate) struct ServeArgs {
    /// Addresses of this side; several for multi-homing
    #[arg(
        long,
        value_name = "ADDRESSES",
        value_delimiter = ',',
        default_value = "0.0.0.0"
    )]
    pub(super) listen: Vec<IpAddr>,
    /// SCTP port
    #[arg(long, default_value_t = 7)]
    pub(super) port: u16,
    /// UDP port of this side (RFC 6951); 0 lets the system choose
    #[arg(long, value_name = "PORT", default_value_t = ENCAPSULATION_PORT)]
    pub(super) udp_encap: u16,
    /// Reset the streams of this side that the peer resets on its own, as data channels do
    /// (RFC 8831, section 6.7)
    #[arg(long, requires = "reconfiguration")]
    pub(super) reset_back: bool,
    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) ends: ServeEnds,
    #[command(flatten)]
    pub(super) below: BelowArgs,
    #[command(flatten)]
    pub(super) stack: StackArgs,
}

/// What ends the server and its associations.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ends")]
pub(super) struct ServeEnds {
    /// End after so many associations have ended
    #[arg(long, value_name = "NUMBER")]
    pub(super) associations: Option<u64>,
    /// Shut each association down after so many messages
    #[arg(long, value_name = "MESSAGES", conflicts_with = "abort_after")]
    pub(super) shutdown_after: Option<u64>,
    /// Abort each association after so many messages
    #[arg(long, value_name = "MESSAGES")]
    pub(super) abort_after: Option<u64>,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(super) time_limit: Option<Duration>,
}

/// Sends messages to an echo server and checks what comes back.
#[derive(Debug, clap::Args)]
#[command(after_long_help = CONNECT_EXAMPLES, after_help = "More and examples: --help")]
pub(crate) struct ConnectArgs {
    /// Addresses of the peer, such as 192.0.2.1; several, with commas, for multi-homing
    #[arg(value_delimiter = ',', required = true)]
    pub(super) peer: Vec<IpAddr>,
    /// SCTP port of the peer
    #[arg(long, default_value_t = 7)]
    pub(super) port: u16,
    /// UDP port of the peer (RFC 6951)
    #[arg(long, value_name = "PORT", default_value_t = ENCAPSULATION_PORT)]
    pub(super) udp_encap: u16,
    /// Addresses of this side [default: any]
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    pub(super) bind: Vec<IpAddr>,
    /// SCTP port of this side; 0: any
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(super) local_port: u16,
    /// UDP port of this side; 0 lets the system choose
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(super) local_udp: u16,
    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) messages: MessageArgs,
    #[command(flatten)]
    pub(super) changes: ChangeArgs,
    #[command(flatten)]
    pub(super) ends: ConnectEnds,
    #[command(flatten)]
    pub(super) below: BelowArgs,
    #[command(flatten)]
    pub(super) stack: StackArgs,
}

/// The messages that the client sends.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Messages")]
pub(super) struct MessageArgs {
    /// Messages on each association
    #[arg(long, default_value_t = 100)]
    pub(super) count: u64,
    /// Their size: 450B, a range such as 1B..200kB at random, or a list in turn
    #[arg(long, default_value = "450B", value_parser = Sizes::parse)]
    pub(super) size: Sizes,
    /// Streams that they take in turn
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) streams: u16,
    /// Unordered
    #[arg(long)]
    pub(super) unordered: bool,
    /// Payload protocol identifier
    #[arg(long, default_value_t = 0)]
    pub(super) ppid: u32,
    /// So many per second, at even distances [default: as echoes come back]
    #[arg(long, value_parser = units::event_rate)]
    pub(super) rate: Option<f64>,
    /// Messages that may be under way at once
    #[arg(long, value_name = "MESSAGES", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "rate")]
    pub(super) outstanding: u64,
    /// Associations at the same time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) associations: u32,
    /// What contents and sizes follow from: a number, also 0x and hexadecimal
    #[arg(long, default_value = "1", value_parser = units::seed)]
    pub(super) seed: u64,
    /// The content alone must come back: on whatever stream, in whatever order, with
    /// whatever payload protocol identifier
    #[arg(long)]
    pub(super) plain: bool,
}

/// What becomes of messages and streams on the way, where the peer agrees.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Giving up and resetting")]
pub(super) struct ChangeArgs {
    /// Give messages up after this time (RFC 3758)
    #[arg(long, value_name = "TIME", value_parser = units::duration, group = "reliability")]
    lifetime: Option<Duration>,
    /// Give a message up rather than retransmit a piece of it more often than this (RFC 7496)
    #[arg(long, value_name = "NUMBER", group = "reliability")]
    max_retransmissions: Option<u32>,
    /// Priorities that messages take in turn, such as 9,0,0,0: where the send buffer is full,
    /// those with higher numbers are given up for those with lower ones (RFC 7496)
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        group = "reliability"
    )]
    priorities: Vec<u32>,
    /// When all is back, reset the streams and send everything again, so many times (RFC 6525)
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(super) resets: u64,
    /// Each time wait until the peer has reset its streams as well, as data channels do
    /// (RFC 8831, section 6.7)
    #[arg(long, requires = "resets")]
    pub(super) both_ways: bool,
}

impl ChangeArgs {
    /// Whether messages may be given up.
    pub(super) fn gives_up(&self) -> bool {
        self.reliability(0) != Reliability::Full
    }

    /// What is done to bring a message across.
    pub(super) fn reliability(&self, number: u64) -> Reliability {
        match (self.lifetime, self.max_retransmissions) {
            (Some(lifetime), _) => Reliability::Lifetime(lifetime),
            (None, Some(most)) => Reliability::Retransmissions(most),
            (None, None) => {
                let turn = number.checked_rem(self.priorities.len() as u64);
                let priority = turn.map(|turn| self.priorities[turn as usize]);
                priority.map_or(Reliability::Full, Reliability::Priority)
            }
        }
    }
}

/// What ends the client and its associations.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ends")]
pub(super) struct ConnectEnds {
    /// What ends the association when all is back
    #[arg(long, value_enum, default_value = "shutdown")]
    pub(super) end: EndKind,
    /// How long to wait for anything to come back
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = units::duration)]
    pub(super) wait: Duration,
    /// Stay so long after the figures are printed, and answer a peer that has not heard of the
    /// end (RFC 9260, section 8.4)
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(super) linger: Option<Duration>,
    /// End after this time, whatever is under way
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(super) time_limit: Option<Duration>,
}

/// How an association ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum EndKind {
    /// This side shuts it down gracefully.
    Shutdown,
    /// This side aborts it.
    Abort,
    /// The peer is to end it, in either way.
    Peer,
}

impl Args {
    /// What the endpoint of either side is made from.
    ///
    /// # Errors
    /// Where an argument makes no sense.
    pub(crate) fn endpoint(&self) -> Result<EndpointConfig, Failure> {
        match self {
            Self::Serve(args) => args.endpoint(),
            Self::Connect(args) => args.endpoint(),
        }
    }
}

impl ServeArgs {
    /// # Errors
    /// Where an argument makes no sense.
    pub(super) fn endpoint(&self) -> Result<EndpointConfig, Failure> {
        let addresses = self.listen.iter();
        let local = addresses.map(|ip| SocketAddr::new(*ip, self.udp_encap));
        Ok(EndpointConfig {
            local: local.collect(),
            transport: self.below.transport()?,
            listen: vec![self.port],
            sctp: self.stack.config()?,
            ..EndpointConfig::udp((Ipv4Addr::UNSPECIFIED, 0).into())
        })
    }
}

impl ConnectArgs {
    /// # Errors
    /// Where an argument makes no sense.
    pub(super) fn endpoint(&self) -> Result<EndpointConfig, Failure> {
        let any: IpAddr = match self.peer[0] {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let bind = match self.bind.as_slice() {
            [] => &[any][..],
            some => some,
        };
        let mut sctp = self.stack.config()?;
        let messages = &self.messages;
        if self.messages_in_all().is_none() {
            let why = "--count: times --resets and --associations, that is more than 2^64 messages";
            return Err(Failure::Input(why.to_owned()));
        }
        sctp.outbound_streams = sctp.outbound_streams.max(messages.streams);
        sctp.inbound_streams = sctp.inbound_streams.max(messages.streams);
        sctp.partial_reliability |= self.changes.gives_up();
        sctp.reconfiguration |= self.changes.resets > 0;
        if self.changes.gives_up() && messages.size.shortest() < 8 {
            let why =
                "--size: messages that may be given up have 8 bytes at least, for their number";
            return Err(Failure::Input(why.to_owned()));
        }
        let longest = messages.size.longest();
        if longest > u64::from(sctp.send_buffer_bytes) {
            return Err(Failure::Input(format!(
                "--size: a message of {longest} bytes does not fit the send buffer; \
                 --set send_buffer_bytes={longest}"
            )));
        }
        Ok(EndpointConfig {
            local: bind
                .iter()
                .map(|ip| SocketAddr::new(*ip, self.local_udp))
                .collect(),
            transport: self.below.transport()?,
            sctp,
            ..EndpointConfig::udp((any, 0).into())
        })
    }

    /// The messages of all associations and rounds, if they can be counted.
    pub(super) fn messages_in_all(&self) -> Option<u64> {
        let rounds = self.changes.resets.checked_add(1)?;
        let of_each = self.messages.count.checked_mul(rounds)?;
        of_each.checked_mul(self.messages.associations.into())
    }

    pub(super) fn target(&self) -> Peer {
        let addresses = self.peer.iter();
        Peer {
            addresses: addresses
                .map(|ip| SocketAddr::new(*ip, self.udp_encap))
                .collect(),
            port: self.port,
            local_port: self.local_port,
        }
    }
}
