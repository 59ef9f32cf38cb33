//! `headway-net sip`: the user agents of the laboratory on real sockets.

mod agent;
mod args;
pub(crate) mod delays;
mod icmp;
mod report;
mod tcp;
mod totals;
mod traffic;
mod uac;
mod uas;
mod udp;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use headway_apps::Reliability;
use headway_net::{Clock, Outside, Poller, Ready};
use headway_sansio::{Seed, Time};

use self::agent::{FromTransport, ToTransport};
pub(crate) use self::args::Args;
use self::args::TransportKind;
pub use self::icmp::is_failure;
use self::report::Report;
use self::tcp::TcpTransport;
pub use self::tcp::{Health, split};
pub use self::traffic::{Counts, Traffic};
use self::udp::UdpTransport;
use crate::failure::Failure;

/// Runs a user agent to its end and prints its figures.
///
/// # Errors
/// Where an argument makes no sense, the system refuses a socket, or a call was
/// not carried through.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match args {
        Args::Uac(args) => uac::run(args),
        Args::Uas(args) => uas::run(args),
    }
}

impl Args {
    /// Judges the arguments; [`run`] does so before it opens a socket.
    ///
    /// # Errors
    /// Where one makes no sense.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self {
            Self::Uac(args) => uac::check(args).map(drop),
            Self::Uas(args) => uas::check(args).map(drop),
        }
    }
}

/// Either transport.
enum Transport {
    Udp(UdpTransport),
    Tcp(TcpTransport),
}

impl Transport {
    /// Remarks about what the transport itself lost.
    fn remarks(&self) -> Vec<String> {
        let counts = match self {
            Self::Udp(udp) => {
                let counters = udp.counters();
                [
                    (
                        "datagrams thrown away by the kernel, unread",
                        counters.overflowed,
                    ),
                    ("datagrams not taken by the kernel", counters.unsent),
                ]
            }
            Self::Tcp(tcp) => {
                let counters = tcp.counters();
                [
                    ("connections refused, there were too many", counters.refused),
                    (
                        "messages for which there was no connection",
                        counters.unsent,
                    ),
                ]
            }
        };
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        counts
            .map(|(what, count)| format!("{what}: {count}"))
            .collect()
    }
}

impl Outside for Transport {
    type Input = FromTransport;
    type Output = ToTransport;

    fn read(&mut self, now: Time, ready: Ready, into: &mut Vec<FromTransport>) -> io::Result<()> {
        match self {
            Self::Udp(udp) => udp.read(now, ready, into),
            Self::Tcp(tcp) => tcp.read(now, ready, into),
        }
    }

    fn write(&mut self, now: Time, output: ToTransport) {
        match self {
            Self::Udp(udp) => udp.write(now, output),
            Self::Tcp(tcp) => tcp.write(now, output),
        }
    }

    fn flush(&mut self, into: &mut Vec<FromTransport>) -> io::Result<()> {
        match self {
            Self::Udp(udp) => udp.flush(into),
            Self::Tcp(tcp) => tcp.flush(into),
        }
    }
}

impl TransportKind {
    fn name(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        }
    }

    fn reliability(self) -> Reliability {
        match self {
            Self::Udp => Reliability::Unreliable,
            Self::Tcp => Reliability::Reliable,
        }
    }
}

fn poller() -> Result<Poller, Failure> {
    let mut poller = Poller::new(Clock::start()).map_err(Failure::system("poller"))?;
    poller
        .catch_stop_signals()
        .map_err(Failure::system("signals"))?;
    Ok(poller)
}

/// A seed that nobody can guess, for tags and branches (RFC 3261 section 19.3).
fn secret_seed() -> Seed {
    // The keys of the hash come from the operating system.
    Seed::new(RandomState::new().hash_one(0_u8))
}

/// The address of this machine that leads to `target`, with any port.
fn towards(target: SocketAddr) -> io::Result<SocketAddr> {
    let any: IpAddr = match target {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Connecting a UDP socket sends nothing; it only asks for the route.
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(target)?;
    Ok(SocketAddr::new(socket.local_addr()?.ip(), 0))
}

fn print(report: &Report, json: bool, remarks: &[String]) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string_pretty(&report.json());
        println!(
            "{}",
            text.map_err(|error| Failure::System(error.to_string()))?
        );
    } else {
        print!("{}", report.table());
    }
    for remark in remarks {
        eprintln!("{remark}");
    }
    Ok(())
}
