//! `headway-net relay`: a path between real programs.

mod args;
mod delay_line;
mod lateness;
mod path;
mod radio;
mod report;
mod settings;
mod sockets;

use headway_net::{Clock, Poller};
use headway_sansio::{Seed, Time};

pub(crate) use args::Args;
pub use path::{Direction, Parcel, Path};
use report::{OutsideReport, Report};
pub use settings::Settings;
use sockets::{Limits, Sockets};

use crate::failure::Failure;

/// Relays until a signal comes or the time is up, then prints what it counted.
///
/// # Errors
/// Where the settings make no sense or the system refuses a socket.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut path = path(args)?;
    let mut poller = Poller::new(Clock::start()).map_err(Failure::system("poller"))?;
    poller
        .catch_stop_signals()
        .map_err(Failure::system("signals"))?;
    let limits = Limits {
        clients: args.max_clients,
        idle: args.idle,
    };
    let mut sockets = Sockets::bind(&poller.registry(), args.listen, args.to, limits)
        .map_err(Failure::system(args.listen))?;
    eprintln!("relaying {} -> {}", sockets.local(), args.to);

    let end = args.duration.map(|duration| Time::ZERO + duration);
    headway_net::run(&mut path, &mut sockets, &mut poller, end, |_, _| false)
        .map_err(Failure::system("relay"))?;

    let duration_s = poller.clock().now().as_secs_f64();
    let report = report(args, &path, &sockets, duration_s);
    if args.json {
        let json = serde_json::to_string_pretty(&report);
        println!(
            "{}",
            json.map_err(|error| Failure::System(error.to_string()))?
        );
    } else {
        print!("{}", report.table());
    }
    Ok(())
}

/// The path that the arguments ask for.
///
/// # Errors
/// Where the settings make no sense.
pub(crate) fn path(args: &Args) -> Result<Path, Failure> {
    let settings = Settings::from_args(args)?;
    if args.listen.is_ipv4() != args.to.is_ipv4() {
        let reason = "--listen and --to must be of the same IP version";
        return Err(Failure::Input(reason.to_owned()));
    }
    let seed = Seed::new(args.seed);
    Path::new(&settings, seed, args.memory).map_err(|error| Failure::Input(error.to_string()))
}

fn report(args: &Args, path: &Path, sockets: &Sockets, duration_s: f64) -> Report {
    let (clients, udp) = (sockets.client_counters(), sockets.udp_counters());
    Report {
        listen: sockets.local().to_string(),
        target: args.to.to_string(),
        seed: args.seed,
        duration_s,
        clients: clients.seen,
        clients_forgotten: clients.forgotten,
        forward: path.counters(Direction::Forward).into(),
        reverse: path.counters(Direction::Reverse).into(),
        stations: path.stations(),
        outside: OutsideReport {
            overflowed: udp.overflowed,
            unsent: udp.unsent,
            unreachable: udp.unreachable,
            refused: clients.refused_pkts,
            orphaned: clients.orphaned_pkts,
        },
    }
}
