//! Two hosts with one link each way between them.

use headway_apps::Application;
use headway_path::{Link, LinkConfig, LinkCounters};
use headway_sansio::{Address, Datagram, Machine, Time};
use headway_sim::Network;

use super::carrier::Carrier;
use super::host::Host;
use super::run::RunError;
use super::watch::{SharedTraces, Watcher};
use crate::spec::RunSpec;

const CALLER: Address = Address(0);
const ANSWERER: Address = Address(1);

/// A pair that has run to its end.
pub(super) struct Ended<A, B, C: Carrier> {
    pub(super) caller: Host<A, C>,
    pub(super) answerer: Host<B, C>,
    /// Everything handed over was delivered, and both applications are done.
    pub(super) complete: bool,
    /// Counters of the links from the caller and to it.
    pub(super) links: [LinkCounters; 2],
    /// Virtual time at the end.
    pub(super) end: Time,
    /// Simulator events.
    pub(super) events: u64,
    pub(super) traces: SharedTraces<C::Trace>,
}

/// One end, as the simulator hosts it.
enum End<A, B, C> {
    Caller(Host<A, C>),
    Answerer(Host<B, C>),
}

/// Runs two applications over a transport until both are done, the transport
/// gives up, or the time is over.
pub(super) fn run_pair<A: Application, B: Application, C: Carrier>(
    spec: &RunSpec,
    apps: (A, B),
    [near, far]: [C; 2],
    traces: SharedTraces<C::Trace>,
) -> Result<Ended<A, B, C>, RunError> {
    let fault = |cause| RunError::Sim {
        run: spec.run.id.clone(),
        cause,
    };
    let mut network = Network::new(Watcher::new(SharedTraces::clone(&traces), CALLER));
    let a = network.add_node(End::Caller(Host::new(CALLER, ANSWERER, apps.0, near)));
    let b = network.add_node(End::Answerer(Host::new(ANSWERER, CALLER, apps.1, far)));
    network.add_address(a, CALLER).map_err(fault)?;
    network.add_address(b, ANSWERER).map_err(fault)?;
    let link = |settings: &LinkConfig, name| Link::new(settings, spec.seed.derive(name));
    let there = network.add_link(a, b, link(&spec.path.forward(), "path.forward"));
    let back = network.add_link(b, a, link(&spec.path.reverse(), "path.reverse"));
    network.route_shortest();

    let deadline = Time::ZERO + spec.duration() + spec.drain();
    let mut complete = false;
    network
        .run_while(deadline, |network| {
            let (caller, answerer) = (network.machine(a), network.machine(b));
            complete = caller.is_done() && answerer.is_done() && traces.borrow().outstanding() == 0;
            !(complete || caller.is_dead() || answerer.is_dead())
        })
        .map_err(fault)?;

    let links = [there, back].map(|link| *network.link(link).counters());
    let (end, events) = (network.now(), network.events_handled());
    let mut ends = network.into_parts().0.into_iter();
    let (Some(End::Caller(caller)), Some(End::Answerer(answerer))) = (ends.next(), ends.next())
    else {
        unreachable!("nodes come back in the order in which they were added")
    };
    Ok(Ended {
        caller,
        answerer,
        complete,
        links,
        end,
        events,
        traces,
    })
}

impl<A: Application, B: Application, C: Carrier> End<A, B, C> {
    fn is_done(&self) -> bool {
        match self {
            Self::Caller(host) => host.started.is_some() && host.app.is_done(),
            Self::Answerer(host) => host.app.is_done(),
        }
    }

    fn is_dead(&self) -> bool {
        match self {
            Self::Caller(host) => host.dead,
            Self::Answerer(host) => host.dead,
        }
    }
}

impl<A: Application, B: Application, C: Carrier> Machine for End<A, B, C> {
    type Input = Datagram<C::Body>;
    type Output = Datagram<C::Body>;

    fn handle_input(&mut self, now: Time, input: Datagram<C::Body>) {
        match self {
            Self::Caller(host) => host.handle_input(now, input),
            Self::Answerer(host) => host.handle_input(now, input),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match self {
            Self::Caller(host) => host.handle_timeout(now),
            Self::Answerer(host) => host.handle_timeout(now),
        }
    }

    fn poll_output(&mut self) -> Option<Datagram<C::Body>> {
        match self {
            Self::Caller(host) => host.poll_output(),
            Self::Answerer(host) => host.poll_output(),
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Caller(host) => host.poll_timeout(),
            Self::Answerer(host) => host.poll_timeout(),
        }
    }
}
