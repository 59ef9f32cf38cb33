//! `headway-net sctp-echo serve`: sends every message back.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use headway_net::Clock;
use headway_net::sctp::{
    Association, AssociationError, Endpoint, Event, Notice, Received, SendError,
};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::args::ServeArgs;
use super::report::ServerReport;
use super::{stop, to_std};
use crate::failure::Failure;

/// How long the end of the program waits for those of associations.
const END: std::time::Duration = std::time::Duration::from_millis(200);

/// What one association brought, and how it ended.
pub(super) struct Served {
    pub(super) peer: Option<SocketAddr>,
    pub(super) messages: u64,
    pub(super) bytes: u64,
    pub(super) end: Result<(), AssociationError>,
}

pub(super) async fn run(args: ServeArgs) -> Result<(), Failure> {
    let endpoint = Endpoint::bind(args.endpoint()?).map_err(Failure::system("binding"))?;
    eprintln!(
        "serving SCTP port {} over {} on {}",
        args.port,
        args.below.name(),
        args.below.show(endpoint.local_addrs())
    );
    let clock = Clock::start();
    let limit = args
        .ends
        .time_limit
        .map(|limit| Instant::now() + to_std(limit));
    let args = Arc::new(args);
    let mut work = JoinSet::new();
    let mut report = ServerReport::default();
    let mut stop = std::pin::pin!(stop());
    loop {
        if args
            .ends
            .associations
            .is_some_and(|most| report.associations >= most)
        {
            break;
        }
        tokio::select! {
            accepted = endpoint.accept() => match accepted {
                Ok(association) => {
                    let args = Arc::clone(&args);
                    work.spawn(async move { echo(&args, association).await });
                }
                Err(error) => return Err(Failure::System(error.to_string())),
            },
            Some(done) = work.join_next() => {
                report.take(&args, done)?;
            },
            () = &mut stop => break,
            () = sleep_until(limit.unwrap_or_else(Instant::now)), if limit.is_some() => break,
        }
    }
    let seconds = clock.now().as_secs_f64();
    // What is about to end is waited for, and the rest is shut down.
    while let Ok(Some(done)) = timeout(END, work.join_next()).await {
        report.take(&args, done)?;
    }
    report.open = work.len() as u64;
    work.shutdown().await;
    let _ = timeout(END, endpoint.idle()).await;
    report.finish(&endpoint, seconds);
    report.print(args.json)
}

impl ServerReport {
    /// Notes an association that has ended.
    fn take(&mut self, args: &ServeArgs, done: Result<Served, JoinError>) -> Result<(), Failure> {
        let served = done.map_err(|error| Failure::System(error.to_string()))?;
        if !args.json {
            eprintln!("{}", served.line());
        }
        self.add(&served);
        Ok(())
    }
}

/// Sends everything back until either side ends it.
async fn echo(args: &ServeArgs, association: Association) -> Served {
    let peer = association.peer_addr();
    let (mut messages, mut bytes) = (0, 0);
    let mut resets = Resets::default();
    while let Some(message) = resets.message(args, &association).await {
        bytes += message.payload.len() as u64;
        match association.send(message.into()).await {
            Ok(_) => messages += 1,
            Err(SendError::Message(error)) => association.abort(error.to_string()),
            Err(_) => break,
        }
        if args.ends.abort_after == Some(messages) {
            // An abort throws away what is not acknowledged.
            let _ = association.drained().await;
            association.abort("as asked for");
        }
        if args.ends.shutdown_after == Some(messages) {
            let _ = association.shutdown().await;
        }
    }
    Served {
        peer,
        messages,
        bytes,
        end: association.ended().await,
    }
}

/// The streams that this side is to reset because the peer has reset its own.
#[derive(Default)]
struct Resets {
    due: BTreeSet<u16>,
}

impl Resets {
    /// The next message of an association, between which streams are reset.
    async fn message(&mut self, args: &ServeArgs, association: &Association) -> Option<Received> {
        loop {
            tokio::select! {
                biased;
                // What came before a reset goes back before it.
                message = association.recv() => return message.ok().flatten(),
                Some(notice) = association.notice(), if args.reset_back => {
                    self.heed(association, notice);
                }
            }
        }
    }

    fn heed(&mut self, association: &Association, notice: Notice) {
        if let Notice::Other(Event::IncomingReset { streams }) = notice {
            let (own, _) = association.streams();
            match streams.as_slice() {
                [] => self.due.extend(0..own),
                some => self.due.extend(some.iter().filter(|&&stream| stream < own)),
            }
        }
        let due: Vec<u16> = self.due.iter().copied().collect();
        // Refused where these streams are being reset already: then the notice of its
        // end comes here too.
        if !due.is_empty() && association.reset_streams(&due).is_ok() {
            self.due.clear();
        }
    }
}
