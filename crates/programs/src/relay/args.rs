//! The arguments of `headway-net relay`.

use std::net::SocketAddr;
use std::path::PathBuf;

use headway_path::{LossGenerator, QueueConfig, ReorderConfig};
use headway_sansio::Duration;

use super::settings;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  20 ms and 5 % loss each way in front of a SIP server on port 5070:
    headway-net relay --listen 127.0.0.1:5060 --to 127.0.0.1:5070 --delay 20ms --loss 5%

  A slow access line with a short queue, losses in bursts, the way back faster:
    headway-net relay --listen 127.0.0.1:5060 --to 127.0.0.1:5070 --delay 10ms \\
        --rate 1Mb/s --queue drop-tail:100 --loss 2% --correlation 0.8 --reverse-rate 10Mb/s

  Everything from a file with the keys of a run's path, for one minute, counters as JSON:
    headway-net relay --listen 127.0.0.1:5060 --to 127.0.0.1:5070 --path cell.toml \\
        --duration 60s --json

A file may hold the key dot11 beside those of the path: cell (an 802.11b cell), client and
access_point (indices of two of its stations, 0 and 1 unless given). What clients send then
crosses the cell before the path, and what comes back crosses it after the path.

The report tells how late packets left. Where the machine has other work to do, start the relay
as chrt -f 10 headway-net relay ... (as root), so that it need not wait for a processor.

Ctrl-C or SIGTERM ends the relay and prints what it counted.";

/// Relays UDP datagrams between clients and one target, and does to them on the
/// way what a path does: delay, loss, rate, queues, reordering, duplication, an
/// 802.11b cell.
///
/// All clients share the path. Each gets a socket of its own towards the target,
/// so that the target can tell them apart. The same seed and the same packets in
/// the same order give the same losses.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = "More and examples: --help")]
pub(crate) struct Args {
    /// Where clients send to, such as 127.0.0.1:5060; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// Where their datagrams go
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) to: SocketAddr,

    /// File with the keys of a run's path (.json or .toml); flags replace its keys
    #[arg(long, value_name = "FILE", help_heading = "Path")]
    pub(crate) path: Option<PathBuf>,
    /// One-way delay, such as 20ms
    #[arg(long, value_parser = units::duration, help_heading = "Path")]
    pub(crate) delay: Option<Duration>,
    /// Share of packets lost, such as 5%
    #[arg(long, value_parser = units::fraction, help_heading = "Path")]
    pub(crate) loss: Option<f64>,
    /// Correlation of successive losses, 0 up to but not including 1
    #[arg(long, value_name = "NUMBER", help_heading = "Path")]
    pub(crate) correlation: Option<f64>,
    /// How correlated losses are drawn: markov or copula [default: markov]
    #[arg(long, value_parser = settings::generator, help_heading = "Path")]
    pub(crate) generator: Option<LossGenerator>,
    /// Rate at which packets are serialised, such as 1Mb/s
    #[arg(long, value_parser = units::bit_rate, help_heading = "Path")]
    pub(crate) rate: Option<u64>,
    /// unlimited, drop-tail:100 (packets), drop-tail:85kB, drd:10-20 or drd:10-20:server
    #[arg(long, value_parser = settings::queue, help_heading = "Path")]
    pub(crate) queue: Option<QueueConfig>,
    /// Share of packets held back and for how long, such as 1%:10ms
    #[arg(long, value_name = "SHARE:TIME", value_parser = settings::reorder, help_heading = "Path")]
    pub(crate) reorder: Option<ReorderConfig>,
    /// Share of packets that arrive twice, such as 1%
    #[arg(long, value_name = "SHARE", value_parser = units::fraction, help_heading = "Path")]
    pub(crate) duplicate: Option<f64>,
    /// Delay from the target to the clients, where it differs
    #[arg(long, value_name = "DELAY", value_parser = units::duration, help_heading = "Path")]
    pub(crate) reverse_delay: Option<Duration>,
    /// Loss from the target to the clients, where it differs
    #[arg(long, value_name = "LOSS", value_parser = units::fraction, help_heading = "Path")]
    pub(crate) reverse_loss: Option<f64>,
    /// Rate from the target to the clients, where it differs
    #[arg(long, value_name = "RATE", value_parser = units::bit_rate, help_heading = "Path")]
    pub(crate) reverse_rate: Option<u64>,
    /// Queue from the target to the clients, where it differs
    #[arg(long, value_name = "QUEUE", value_parser = settings::queue, help_heading = "Path")]
    pub(crate) reverse_queue: Option<QueueConfig>,
    /// What random choices follow from: a number, also 0x and hexadecimal
    #[arg(long, default_value = "1", value_parser = units::seed, help_heading = "Path")]
    pub(crate) seed: u64,

    /// End after this time
    #[arg(long, value_parser = units::duration)]
    pub(crate) duration: Option<Duration>,
    /// Clients at a time; where one more comes, the one silent for longest is forgotten
    #[arg(long, default_value_t = 256, value_name = "NUMBER")]
    pub(crate) max_clients: usize,
    /// No client that was silent for less than this is forgotten
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = units::duration)]
    pub(crate) idle: Duration,
    /// Most memory for packets under way; further ones are dropped and counted
    #[arg(long, default_value = "256MB", value_name = "SIZE", value_parser = units::size)]
    pub(crate) memory: u64,
    /// Print the counters as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
