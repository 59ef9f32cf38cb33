//! `headway-net sctp-echo`: what ping and iperf are to others, for SCTP.

mod args;
mod below;
mod client;
mod exchange;
mod ledger;
mod payload;
mod report;
mod server;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headway_sansio::Duration;
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use self::args::Args;
pub use self::ledger::{Ledger, Manner, Tally};
pub use self::payload::{Payloads, Sizes};
use crate::failure::Failure;

/// Runs one side to its end and prints its figures.
///
/// # Errors
/// Where an argument makes no sense, the system refuses a socket, or a message did
/// not come back right.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::system("runtime"))?;
    runtime.block_on(async {
        match args {
            Args::Serve(args) => server::run(args).await,
            Args::Connect(args) => client::run(Arc::new(args)).await,
        }
    })
}

/// Waits for Ctrl-C or SIGTERM.
async fn stop() {
    // Where the system takes no handler, the signal ends the program at once.
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn to_std(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.as_nanos())
}
