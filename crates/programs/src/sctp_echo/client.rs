//! `headway-net sctp-echo connect`: sends, and checks what comes back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headway_net::Clock;
use headway_net::sctp::{Association, Endpoint, Message, PathReport, Stats};
use headway_sansio::{Seed, Time};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::args::{ConnectArgs, EndKind};
use super::ledger::{Ledger, Manner};
use super::payload::Payloads;
use super::report::ClientReport;
use super::{stop, to_std};
use crate::failure::Failure;
use crate::sip::delays::Delays;

/// How one association went.
pub(super) struct Outcome {
    pub(super) ledger: Option<Ledger>,
    pub(super) stats: Stats,
    pub(super) paths: Vec<PathReport>,
    pub(super) handshake_s: Option<f64>,
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
    for index in 0..args.associations {
        let (args, endpoint) = (Arc::clone(&args), Arc::clone(&endpoint));
        let (halt, delays) = (Arc::clone(&halt), Arc::clone(&round_trips));
        work.spawn(async move { associate(&args, &endpoint, clock, &halt, &delays, index).await });
    }
    let limit = args.time_limit.map(|limit| Instant::now() + to_std(limit));
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
    report.verdict()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    let (offered, _) = association.streams();
    if offered < args.streams {
        association.abort("too few streams");
        return failed(format!("the peer takes {offered} streams only"));
    }
    let seed = Seed::new(args.seed).derive(&index.to_string());
    let exchange = Exchange::new(
        args,
        Payloads::new(args.size.clone(), seed),
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
        end,
        ended_well,
    }
}

/// Brings the association to its end, in the way asked for.
async fn finish(args: &ConnectArgs, association: &Association) -> (String, bool) {
    let result = match args.end {
        EndKind::Shutdown => timeout(to_std(args.wait), association.shutdown()).await,
        EndKind::Peer => timeout(to_std(args.wait), association.ended()).await,
        EndKind::Abort => {
            association.abort("done");
            // This side's own wish is no fault.
            let _ = association.ended().await;
            return ("aborted by this side".to_owned(), true);
        }
    };
    match result {
        Ok(Ok(())) => ("shut down".to_owned(), true),
        Ok(Err(error)) => (error.to_string(), args.end == EndKind::Peer),
        Err(_) => {
            association.abort("the shutdown took too long");
            ("the shutdown took too long".to_owned(), false)
        }
    }
}

/// The messages of one association, there and back.
struct Exchange<'a> {
    args: &'a ConnectArgs,
    payloads: Payloads,
    clock: Clock,
    ledger: Mutex<Ledger>,
    round_trips: &'a Mutex<Delays>,
    /// Something came back.
    echo: Notify,
}

impl<'a> Exchange<'a> {
    fn new(
        args: &'a ConnectArgs,
        payloads: Payloads,
        clock: Clock,
        round_trips: &'a Mutex<Delays>,
    ) -> Self {
        let manner = Manner {
            streams: args.streams,
            unordered: args.unordered,
            ppid: args.ppid,
            plain: args.plain,
        };
        Self {
            args,
            clock,
            round_trips,
            ledger: Mutex::new(Ledger::new(payloads.clone(), manner)),
            payloads,
            echo: Notify::new(),
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    fn into_ledger(self) -> Ledger {
        self.ledger
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn run(&self, association: &Association) -> Result<(), String> {
        tokio::try_join!(self.send(association), self.receive(association)).map(|_| ())
    }

    async fn send(&self, association: &Association) -> Result<(), String> {
        let begun = Instant::now();
        for number in 0..self.args.count {
            match self.args.rate {
                Some(rate) => {
                    let at = std::time::Duration::from_secs_f64(number as f64 / rate);
                    sleep_until(begun + at).await;
                }
                None => {
                    while self.ledger().under_way() >= self.args.outstanding {
                        self.echo.notified().await;
                    }
                }
            }
            let payload = self.payloads.content(number);
            let bytes = payload.len();
            let stream = self.ledger().stream(number);
            let message = Message {
                stream,
                ppid: self.args.ppid,
                unordered: self.args.unordered,
                ..Message::new(payload)
            };
            // Noted first: the echo may be faster than this task.
            self.ledger().sent(self.now(), number, bytes);
            association
                .send(message)
                .await
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    async fn receive(&self, association: &Association) -> Result<(), String> {
        let patience = to_std(self.args.wait);
        while self.ledger().tally.echoed < self.args.count {
            let idle = self.ledger().under_way() == 0;
            let message = match timeout(patience, association.recv()).await {
                Ok(Ok(Some(message))) => message,
                Ok(Ok(None)) => return Err("the peer shut the association down".to_owned()),
                Ok(Err(error)) => return Err(error.to_string()),
                // At a low rate there may be nothing that could come back.
                Err(_) if idle => continue,
                Err(_) => return Err(format!("nothing came back for {patience:?}")),
            };
            let delay = self.ledger().came(self.now(), &message);
            if let Some(delay) = delay {
                lock(self.round_trips).add(delay);
            }
            self.echo.notify_one();
        }
        Ok(())
    }
}
