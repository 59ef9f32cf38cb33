//! One run from start to end.

use std::rc::Rc;
use std::sync::Arc;

use headway_apps::Application;
use headway_apps::sip::{SipAnswerer, SipCaller, SipWorkload};
use headway_path::{Link, LinkCounters, Wire};
use headway_sansio::{Address, Datagram, Machine, Time};
use headway_sctp::{Association, Packet};
use headway_sim::{Network, Outcome, SimError};
use thiserror::Error;

use super::host::Host;
use super::sctp::SctpCarrier;
use super::sip::Finished;
use super::watch::{Traces, Watcher};
use crate::results::RunResult;
use crate::spec::{RunSpec, SctpTransport, SpecError, TransportSpec, WorkloadSpec};

/// A run that could not be carried through.
#[derive(Debug, Error)]
pub enum RunError {
    /// The spec names something that does not exist.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The simulator gave up, which is a fault of this program.
    #[error("run {run}: {cause}")]
    Sim {
        /// Which run.
        run: String,
        /// Why.
        cause: SimError,
    },
}

const CALLER: Address = Address(0);
const ANSWERER: Address = Address(1);
/// SIP's port (RFC 3261, section 19.1.2).
const SIP_PORT: u16 = 5060;

/// The two ends of a run of SIP over SCTP.
pub(super) enum End {
    /// The originating proxy.
    Caller(Host<SipCaller, SctpCarrier>),
    /// The terminating proxy.
    Answerer(Host<SipAnswerer, SctpCarrier>),
}

/// Runs one spec.
///
/// # Errors
/// Where the spec cannot be run, or the simulator gives up.
pub fn run(spec: &RunSpec) -> Result<RunResult, RunError> {
    match (&spec.workload, &spec.transport) {
        (WorkloadSpec::Sip(workload), TransportSpec::Sctp(transport)) => {
            sip_over_sctp(spec, workload, transport)
        }
    }
}

fn sip_over_sctp(
    spec: &RunSpec,
    workload: &SipWorkload,
    transport: &SctpTransport,
) -> Result<RunResult, RunError> {
    let config = Arc::new(transport.config()?);
    let delivery = transport.delivery();
    let traces = Traces::new(spec.collect.messages);
    let (forward, reverse) = (spec.path.forward(), spec.path.reverse());
    let carrier = |association, side, wire: Wire| {
        let header = config.ip_header_bytes;
        SctpCarrier::new(
            association,
            delivery,
            wire,
            workload.content,
            header,
            side,
            Rc::clone(&traces),
        )
    };

    let answerer = Host::new(
        ANSWERER,
        CALLER,
        SipAnswerer::new(workload),
        carrier(
            Association::listen(
                Arc::clone(&config),
                spec.seed.stream("answerer.association"),
                SIP_PORT,
            ),
            1,
            // Each end decodes what the other direction encoded.
            forward.wire,
        ),
    );
    let caller = Host::new(
        CALLER,
        ANSWERER,
        SipCaller::new(
            workload,
            spec.duration(),
            spec.seed.stream("caller.arrivals"),
            headway_apps::Peer::default(),
        ),
        carrier(
            Association::connect(
                Time::ZERO,
                Arc::clone(&config),
                spec.seed.stream("caller.association"),
                SIP_PORT,
                SIP_PORT,
            ),
            0,
            reverse.wire,
        ),
    );

    let fault = |cause| RunError::Sim {
        run: spec.run.id.clone(),
        cause,
    };
    let mut network = Network::new(Watcher::new(Rc::clone(&traces), CALLER));
    let a = network.add_node(End::Caller(caller));
    let b = network.add_node(End::Answerer(answerer));
    network.add_address(a, CALLER).map_err(fault)?;
    network.add_address(b, ANSWERER).map_err(fault)?;
    let there = network.add_link(a, b, Link::new(&forward, spec.seed.derive("path.forward")));
    let back = network.add_link(b, a, Link::new(&reverse, spec.seed.derive("path.reverse")));
    network.route_shortest();

    let deadline = Time::ZERO + spec.duration() + spec.drain();
    let mut complete = false;
    let outcome = network
        .run_while(deadline, |network| {
            complete = is_done(network.machine(a))
                && is_done(network.machine(b))
                && traces.borrow().outstanding() == 0;
            !complete && !is_dead(network.machine(a)) && !is_dead(network.machine(b))
        })
        .map_err(fault)?;
    debug_assert!(outcome != Outcome::Idle || complete || is_dead(network.machine(a)));

    let links: [LinkCounters; 2] = [
        *network.link(there).counters(),
        *network.link(back).counters(),
    ];
    let (end, events) = (network.now(), network.events_handled());
    let (ends, watcher) = network.into_parts();
    drop(watcher);
    let mut ends = ends.into_iter();
    let (Some(End::Caller(caller)), Some(End::Answerer(answerer))) = (ends.next(), ends.next())
    else {
        unreachable!("nodes come back in the order in which they were added")
    };
    let finished = Finished {
        spec,
        complete,
        end,
        events,
        links,
        caller,
        answerer,
    };
    Ok(finished.into_result(traces))
}

fn is_done(end: &End) -> bool {
    match end {
        End::Caller(host) => host.started.is_some() && host.app.is_done(),
        End::Answerer(host) => host.app.is_done(),
    }
}

fn is_dead(end: &End) -> bool {
    match end {
        End::Caller(host) => host.dead,
        End::Answerer(host) => host.dead,
    }
}

impl Machine for End {
    type Input = Datagram<Packet>;
    type Output = Datagram<Packet>;

    fn handle_input(&mut self, now: Time, input: Datagram<Packet>) {
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

    fn poll_output(&mut self) -> Option<Datagram<Packet>> {
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
