//! Who takes part, from the spec.

use std::cell::RefCell;
use std::rc::Rc;

use headway_apps::bulk::BulkSource;
use headway_apps::media::Pace;
use headway_apps::web::{WebServer, WebUsers};
use headway_sansio::{Duration, RandomStream, Seed, Time};
use headway_tcp::{Config, Connection};

use super::Rival;
use super::reader::Reader;
use super::web::{Ledger, WebEnd};
use super::writer::{READER_PORT, Source, Writer};
use crate::results::FlowKind;
use crate::spec::{Competing, RunSpec, SpecError};

/// Both sides of the competing traffic, host by host.
#[derive(Default)]
pub(in crate::wiring) struct Cast {
    pub(in crate::wiring) left: Vec<Rival>,
    pub(in crate::wiring) right: Vec<Rival>,
    /// For each pair whether its data go from right to left.
    pub(in crate::wiring) reversed: Vec<bool>,
    /// Numbers of the pairs with bulk transfers.
    pub(in crate::wiring) bulk: Vec<usize>,
    /// What each pair does.
    pub(in crate::wiring) kinds: Vec<FlowKind>,
}

impl Cast {
    fn add(&mut self, kind: FlowKind, sender: Rival, receiver: Rival, reverse: bool) {
        let (left, right) = if reverse {
            (receiver, sender)
        } else {
            (sender, receiver)
        };
        self.left.push(left);
        self.right.push(right);
        self.reversed.push(reverse);
        self.kinds.push(kind);
    }

    /// A connection that begins at random within `spread`.
    fn add_flow(
        &mut self,
        config: &Config,
        seed: Seed,
        spread: Duration,
        source: Source,
        reverse: bool,
    ) {
        let after = seed.stream("start").below(spread.as_nanos().max(1));
        let at = Time::ZERO + Duration::from_nanos(after);
        let kind = match source {
            Source::Bulk(_) => FlowKind::Bulk,
            Source::Messages { .. } => FlowKind::Messages,
        };
        let writer = Writer::new(at, config.clone(), seed.stream("writer"), source);
        let mut random = seed.stream("reader");
        let reader = Connection::listen(Time::ZERO, config.clone(), &mut random, READER_PORT);
        self.add(
            kind,
            Rival::Writer(Box::new(writer)),
            Rival::Reader(Box::new(Reader::new(reader))),
            reverse,
        );
    }
}

/// The competing traffic of a run; none where the spec names none.
pub(in crate::wiring) fn cast(spec: &RunSpec) -> Result<Cast, SpecError> {
    let mut cast = Cast::default();
    let Some(competing) = &spec.competing else {
        return Ok(cast);
    };
    let seed = spec.seed.derive("competing");
    // Longer than any run.
    let whole = Duration::from_nanos(competing.settle_ns) + spec.duration() + spec.drain();
    add_bulk(&mut cast, competing, seed.derive("bulk"))?;
    add_messages(&mut cast, competing, seed.derive("messages"), whole)?;
    add_web(&mut cast, competing, seed.derive("web"), whole)?;
    Ok(cast)
}

fn add_bulk(cast: &mut Cast, competing: &Competing, seed: Seed) -> Result<(), SpecError> {
    let Some(bulk) = &competing.bulk else {
        return Ok(());
    };
    let config = bulk.config()?;
    let spread = Duration::from_nanos(bulk.start_spread_ns);
    for number in 0..bulk.flows {
        cast.bulk.push(cast.reversed.len());
        cast.add_flow(
            &config,
            seed.derive(&number.to_string()),
            spread,
            Source::Bulk(BulkSource::endless()),
            bulk.direction.reverse(number),
        );
    }
    Ok(())
}

fn add_messages(
    cast: &mut Cast,
    competing: &Competing,
    seed: Seed,
    whole: Duration,
) -> Result<(), SpecError> {
    let Some(messages) = &competing.messages else {
        return Ok(());
    };
    let config = messages.stack.config("competing.messages")?;
    let mean = Duration::from_nanos(messages.mean_interval_ns);
    for number in 0..messages.flows {
        let seed = seed.derive(&number.to_string());
        let random: RandomStream = seed.stream("messages");
        cast.add_flow(
            &config,
            seed,
            Duration::from_nanos(messages.start_spread_ns),
            Source::Messages {
                pace: Pace::exponential(mean, whole, random),
                bytes: messages.message_bytes,
                waiting: 0,
            },
            messages.direction.reverse(number),
        );
    }
    Ok(())
}

fn add_web(
    cast: &mut Cast,
    competing: &Competing,
    seed: Seed,
    whole: Duration,
) -> Result<(), SpecError> {
    let Some(web) = &competing.web else {
        return Ok(());
    };
    let config = web.stack.config("competing.web")?;
    let ledger = Rc::new(RefCell::new(Ledger::default()));
    let users = WebUsers::new(&web.users, whole, seed.stream("sessions"));
    let users = WebEnd::users(
        users,
        Rc::clone(&ledger),
        config.clone(),
        seed.stream("users"),
    );
    let server = WebServer::new(&web.users);
    let server = WebEnd::server(server, ledger, config, seed.stream("server"));
    let (users, server) = (Rival::Web(Box::new(users)), Rival::Web(Box::new(server)));
    // Pages are what matters: they come from the servers.
    cast.add(FlowKind::Web, server, users, web.direction.reverse(0));
    Ok(())
}
