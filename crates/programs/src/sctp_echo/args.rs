//! The arguments of `headway-net sctp-echo serve` and `connect`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use headway_net::sctp::{
    Config, DtlsConfig, ENCAPSULATION_PORT, EndpointConfig, Overrides, Peer, Transport,
};
use headway_sansio::Duration;

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

  In DTLS, to a server whose certificate the authority in ca.pem has signed:
    headway-net sctp-echo connect 192.0.2.1 --dtls me.pem --key me.key --ca ca.pem

  A peer with two addresses:
    headway-net sctp-echo connect 192.0.2.1,198.51.100.1 --bind 192.0.2.2,198.51.100.2

The exit code is 0 where every message came back right and the association ended as it
should, 1 where not, 2 for bad arguments.";

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

    /// End after so many associations have ended
    #[arg(long, value_name = "NUMBER", help_heading = "Ends")]
    pub(super) associations: Option<u64>,
    /// Shut each association down after so many messages
    #[arg(
        long,
        value_name = "MESSAGES",
        conflicts_with = "abort_after",
        help_heading = "Ends"
    )]
    pub(super) shutdown_after: Option<u64>,
    /// Abort each association after so many messages
    #[arg(long, value_name = "MESSAGES", help_heading = "Ends")]
    pub(super) abort_after: Option<u64>,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = "Ends")]
    pub(super) time_limit: Option<Duration>,

    #[command(flatten)]
    pub(super) below: BelowArgs,
    #[command(flatten)]
    pub(super) stack: StackArgs,
    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,
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

    /// Messages on each association
    #[arg(long, default_value_t = 100, help_heading = "Messages")]
    pub(super) count: u64,
    /// Their size: 450B, a range such as 1B..200kB at random, or a list in turn
    #[arg(long, default_value = "450B", value_parser = Sizes::parse, help_heading = "Messages")]
    pub(super) size: Sizes,
    /// Streams that they take in turn
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..),
          help_heading = "Messages")]
    pub(super) streams: u16,
    /// Unordered
    #[arg(long, help_heading = "Messages")]
    pub(super) unordered: bool,
    /// Payload protocol identifier
    #[arg(long, default_value_t = 0, help_heading = "Messages")]
    pub(super) ppid: u32,
    /// So many per second, at even distances [default: as echoes come back]
    #[arg(long, value_parser = units::event_rate, help_heading = "Messages")]
    pub(super) rate: Option<f64>,
    /// Messages that may be under way at once
    #[arg(long, value_name = "MESSAGES", default_value_t = 1,
          value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "rate",
          help_heading = "Messages")]
    pub(super) outstanding: u64,
    /// Associations at the same time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000),
          help_heading = "Messages")]
    pub(super) associations: u32,
    /// What contents and sizes follow from: a number, also 0x and hexadecimal
    #[arg(long, default_value = "1", value_parser = units::seed, help_heading = "Messages")]
    pub(super) seed: u64,
    /// The content alone must come back: on whatever stream, in whatever order, with
    /// whatever payload protocol identifier
    #[arg(long, help_heading = "Messages")]
    pub(super) plain: bool,

    /// What ends the association when all is back
    #[arg(long, value_enum, default_value = "shutdown", help_heading = "Ends")]
    pub(super) end: EndKind,
    /// How long to wait for anything to come back
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = units::duration,
          help_heading = "Ends")]
    pub(super) wait: Duration,
    /// End after this time, whatever is under way
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = "Ends")]
    pub(super) time_limit: Option<Duration>,

    #[command(flatten)]
    pub(super) below: BelowArgs,
    #[command(flatten)]
    pub(super) stack: StackArgs,
    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,
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

/// What lies below SCTP, where it is not UDP alone.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct BelowArgs {
    /// Directly over IP, as protocol 132, without UDP; needs root or CAP_NET_RAW
    #[arg(long, conflicts_with_all = ["udp_encap", "dtls"], help_heading = "Below SCTP")]
    raw: bool,
    /// Over DTLS (RFC 8261), with this certificate (PEM); the peer must show one as well
    #[arg(
        long,
        value_name = "FILE",
        requires = "key",
        requires = "trust",
        help_heading = "Below SCTP"
    )]
    dtls: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(
        long,
        value_name = "FILE",
        requires = "dtls",
        help_heading = "Below SCTP"
    )]
    key: Option<PathBuf>,
    /// The peer's certificate must be one of these (PEM)
    #[arg(
        long,
        value_name = "FILE",
        requires = "dtls",
        group = "trust",
        help_heading = "Below SCTP"
    )]
    peer_cert: Option<PathBuf>,
    /// The peer's certificate must be signed by one of these (PEM)
    #[arg(
        long,
        value_name = "FILE",
        requires = "dtls",
        group = "trust",
        help_heading = "Below SCTP"
    )]
    ca: Option<PathBuf>,
}

impl BelowArgs {
    /// # Errors
    /// Where a file cannot be used.
    fn transport(&self) -> Result<Transport, Failure> {
        if self.raw {
            return Ok(Transport::RawIp);
        }
        let (Some(certificate), Some(key)) = (&self.dtls, &self.key) else {
            return Ok(Transport::Udp);
        };
        let config = match (&self.peer_cert, &self.ca) {
            (Some(peers), _) => DtlsConfig::with_peers(certificate, key, peers),
            (None, Some(authorities)) => {
                DtlsConfig::with_authorities(certificate, key, authorities)
            }
            // The arguments are checked before.
            (None, None) => return Ok(Transport::Udp),
        };
        let config = config.map_err(|error| Failure::Input(error.to_string()))?;
        Ok(Transport::Dtls(config))
    }

    /// Addresses as they are told to people: without ports where there are none.
    pub(super) fn show(&self, addresses: &[SocketAddr]) -> String {
        let shown = addresses.iter().map(|address| {
            if self.raw {
                address.ip().to_string()
            } else {
                address.to_string()
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// What it is called.
    pub(super) fn name(&self) -> &'static str {
        match (self.raw, &self.dtls) {
            (true, _) => "IP",
            (false, Some(_)) => "DTLS",
            (false, None) => "UDP",
        }
    }
}

/// Settings of the stack.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct StackArgs {
    /// Stack profile, as in studies
    #[arg(long, default_value = "rfc9260", help_heading = "Stack")]
    profile: String,
    /// A knob over the profile, as in a RunSpec: rto_min_ns=100000000; may be repeated
    #[arg(long, value_name = "KNOB=VALUE", help_heading = "Stack")]
    set: Vec<String>,
}

impl StackArgs {
    /// # Errors
    /// Where a profile or knob is unknown or a value makes no sense.
    fn config(&self) -> Result<Config, Failure> {
        let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
        let mut config = Config::profile(&self.profile).map_err(|error| input(&error))?;
        for setting in &self.set {
            let (name, value) = setting.split_once('=').ok_or_else(|| {
                Failure::Input(format!(
                    "--set: \"{setting}\" is not of the form KNOB=VALUE"
                ))
            })?;
            // Numbers and true or false stand as they are, words need quotes.
            let table = toml::from_str(&format!("{name} = {value}"))
                .or_else(|_| toml::from_str(&format!("{name} = \"{value}\"")));
            let knob: Overrides = table
                .map_err(|error| Failure::Input(format!("--set {setting}: {}", error.message())))?;
            knob.apply(&mut config);
        }
        config.check().map_err(|error| input(&error))?;
        Ok(config)
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
        sctp.outbound_streams = sctp.outbound_streams.max(self.streams);
        sctp.inbound_streams = sctp.inbound_streams.max(self.streams);
        let longest = self.size.longest();
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
