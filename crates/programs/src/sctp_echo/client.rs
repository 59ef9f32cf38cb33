//! `headway-net sctp-echo connect`: sends, and checks what comes back.

use std::sync::{Arc, Mutex, MutexGuard};

use headway_net::Clock;
use headway_net::sctp::{Association, Endpoint, PathReport, Stats};
use headway_sansio::Seed;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::args::{ConnectArgs, EndKind};
use super::exchange::Exchange;
use super::ledger::Ledger;
use super::payload::Payloads;
use super::report::ClientReport;
use super::{lock, stop, to_std};
use crate::failure::Failure;
use crate::sip::delays::Delays;

/// How one association went.
pub(super) struct Outcome {
    pub(super) ledger: Option<Ledger>,
    pub(super) stats: Stats,
    pub(super) paths: Vec<PathReport>,
    pub(super) handshake_s: Option<f64>,
    /// Whether I-DATA was agreed on.
    pub(super) interleaving: bool,
    /// Whether it was agreed that messages may be given up that were sent.
    pub(super) partial_reliability: bool,
    /// How it ended, in words.
    pub(super) end: String,
    /// Whether it ended as it should.
    pub(super) ended_well: bool,
}

pub(super) async fn run(args: Arc<ConnectArgs>) -> Result<(), Failure> {
    let endpoint = Endpoint::bind(args.endpoint()?).map_err(Failure::system("binding"))?;
    let clock = Clock::start();
    let halt = Arc::new(Halt::default());
    let round_trips = Arc::new(Mutex::new(Delays::default()));
    let mut work = JoinSet::new();
    let endpoint = Arc::new(endpoint);
    for index in 0..args.messages.associations {
        let (args, endpoint) = (Arc::clone(&args), Arc::clone(&endpoint));
        let (halt, delays) = (Arc::clone(&halt), Arc::clone(&round_trips));
        work.spawn(async move { associate(&args, &endpoint, clock, &halt, &delays, index).await });
    }
    let limit = args
        .ends
        .time_limit
        .map(|limit| Instant::now() + to_std(limit));
    let mut outcomes = Vec::new();
    let mut stop = std::pin::pin!(stop());
    loop {
        tokio::select! {
            done = work.join_next() => match done {
                Some(Ok(outcome)) => outcomes.push(outcome),
                Some(Err(error)) => return Err(Failure::System(error.to_string())),
                None => break,
            },
            () = &mut stop, if !halt.is_set() => halt.set("stopped"),
            () = sleep_until(limit.unwrap_or_else(Instant::now)),
                if limit.is_some() && !halt.is_set() => halt.set("the time is up"),
        }
    }
    let seconds = clock.now().as_secs_f64();
    let round_trips = std::mem::take(&mut *lock(&round_trips));
    let report = ClientReport::new(&args, &endpoint, outcomes, round_trips, seconds);
    report.print(args.json)?;
    if let Some(linger) = args.ends.linger
        && !halt.is_set()
    {
        tokio::select! {
            () = &mut stop => {}
            () = sleep(to_std(linger)) => {}
        }
    }
    report.verdict()
}

/// The wish to end early, and its reason.
#[derive(Default)]
struct Halt {
    reason: Mutex<Option<&'static str>>,
    news: Notify,
}

impl Halt {
    fn reason(&self) -> MutexGuard<'_, Option<&'static str>> {
        lock(&self.reason)
    }

    fn is_set(&self) -> bool {
        self.reason().is_some()
    }

    fn set(&self, reason: &'static str) {
        self.reason().get_or_insert(reason);
        self.news.notify_waiters();
    }

    async fn wait(&self) -> &'static str {
        loop {
            let mut news = std::pin::pin!(self.news.notified());
            news.as_mut().enable();
            let reason = *self.reason();
            match reason {
                Some(reason) => return reason,
                None => news.await,
            }
        }
    }
}

/// One association from its beginning to its end.
async fn associate(
    args: &ConnectArgs,
    endpoint: &Endpoint,
    clock: Clock,
    halt: &Halt,
    round_trips: &Mutex<Delays>,
    index: u32,
) -> Outcome {
    let failed = |end: String| Outcome {
        ledger: None,
        stats: Stats::default(),
        paths: Vec::new(),
        handshake_s: None,
        interleaving: false,
        partial_reliability: false,
        end,
        ended_well: false,
    };
    let begun = clock.now();
    let connected = tokio::select! {
        result = endpoint.connect(args.target()) => result,
        reason = halt.wait() => return failed(format!("{reason} during the handshake")),
    };
    let association = match connected {
        Ok(association) => association,
        Err(error) => return failed(error.to_string()),
    };
    let handshake_s = Some(clock.now().since(begun).as_secs_f64());
    if index == 0 {
        let target = args.target();
        let addresses = args.below.show(&target.addresses);
        eprintln!("connected to SCTP port {} of {addresses}", target.port);
    }
    let (offered, _) = association.streams();
    if offered < args.messages.streams {
        association.abort("too few streams");
        return failed(format!("the peer takes {offered} streams only"));
    }
    let interleaving = association.is_interleaving();
    let partial_reliability = association.is_partially_reliable();
    let seed = Seed::new(args.messages.seed).derive(&index.to_string());
    let exchange = Exchange::new(
        args,
        Payloads::new(args.messages.size.clone(), seed),
        clock,
        round_trips,
    );
    let broken = tokio::select! {
        result = exchange.run(&association) => result.err(),
        reason = halt.wait() => Some(reason.to_owned()),
    };
    let (end, ended_well) = match broken {
        None => finish(args, &association).await,
        Some(reason) => {
            association.abort("gave up");
            (reason, false)
        }
    };
    Outcome {
        stats: association.stats(),
        paths: association.path_stats(),
        ledger: Some(exchange.into_ledger()),
        handshake_s,
        interleaving,
        partial_reliability,
        end,
        ended_well,
    }
}

/// Brings the association to its end, in the way asked for.
async fn finish(args: &ConnectArgs, association: &Association) -> (String, bool) {
    let result = match args.ends.end {
        EndKind::Shutdown => timeout(to_std(args.ends.wait), association.shutdown()).await,
        EndKind::Peer => timeout(to_std(args.ends.wait), association.ended()).await,
        EndKind::Abort => {
            association.abort("done");
            // This side's own wish is no fault.
            let _ = association.ended().await;
            return ("aborted by this side".to_owned(), true);
        }
    };
    match result {
        Ok(Ok(())) => ("shut down".to_owned(), true),
        Ok(Err(error)) => (error.to_string(), args.ends.end == EndKind::Peer),
        Err(_) => {
            association.abort("the shutdown took too long");
            ("the shutdown took too long".to_owned(), false)
        }
    }
}
