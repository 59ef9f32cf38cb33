//! Two hosts with a path between them.

use std::cell::Cell;
use std::rc::Rc;

use headway_apps::Application;
use headway_path::{Link, LinkConfig, LinkCounters, PathConfig};
use headway_sansio::{Address, Datagram, Duration, Machine, Time};
use headway_sim::{LinkId, Network, NodeId};

use super::carrier::{Carrier, Counters, Parcel};
use super::crowd::Shared;
use super::error::RunError;
use super::gauge::Gauge;
use super::host::Host;
use super::radio::{Radio, RadioReport};
use super::watch::{SharedTraces, Watcher};
use crate::attribution::Totals;
use crate::results::{FlowSample, MessageSample, WindowSample};
use crate::spec::{PathSpec, RunSpec};

const CALLER: Address = Address(0);
const ANSWERER: Address = Address(1);

/// A pair that has run to its end, whatever carried its messages.
pub(super) struct Ended<A, B> {
    pub(super) caller: A,
    pub(super) answerer: B,
    /// Everything handed over was delivered or lost for good, and both
    /// applications are done.
    pub(super) complete: bool,
    /// An end of the transport gave up.
    pub(super) dead: bool,
    /// What was offered to the path from the caller and to it, and lost there.
    pub(super) links: [LinkCounters; 2],
    /// The same for messages.
    pub(super) totals: [Totals; 2],
    /// Messages of which a first transmission was lost.
    pub(super) lost: Vec<u64>,
    /// What both ends of the transport counted.
    pub(super) counters: Counters,
    /// The congestion window of the caller's side.
    pub(super) cwnd: Gauge,
    /// Bytes that wait because of HOLB, at both ends.
    pub(super) held: [Gauge; 2],
    /// The cell, where the path is one.
    pub(super) radio: Option<RadioReport>,
    /// What a path has that others share.
    pub(super) shared: Option<Shared>,
    /// Virtual time at the end.
    pub(super) end: Time,
    /// Simulator events.
    pub(super) events: u64,
    /// Rows of messages, where they were asked for.
    pub(super) messages: Vec<MessageSample>,
    /// Congestion windows over time, where they were asked for.
    pub(super) windows: Vec<WindowSample>,
    /// Flows of a shared path, where they were asked for.
    pub(super) flows: Vec<FlowSample>,
}

/// One node, as the simulator hosts it.
enum Node<A, B, C: Carrier> {
    Caller(Host<A, C>),
    Answerer(Host<B, C>),
    Radio(Box<Radio<C>>),
}

type Pair<A, B, C> = Network<Node<A, B, C>, Watcher<<C as Carrier>::Trace>>;

/// Runs two applications over a transport until both are done, the transport
/// gives up, or the time is over.
pub(super) fn run_pair<A: Application, B: Application, C: Carrier>(
    spec: &RunSpec,
    apps: (A, B),
    [near, far]: [C; 2],
    traces: SharedTraces<C::Trace>,
) -> Result<Ended<A, B>, RunError> {
    let fault = |cause| RunError::Sim {
        run: spec.run.id.clone(),
        cause,
    };
    let contexts = Rc::new(Cell::new(0));
    let mut network: Pair<A, B, C> =
        Network::new(Watcher::new(SharedTraces::clone(&traces), CALLER));
    let windows = spec.collect.windows;
    let near = Host::new([CALLER, ANSWERER], apps.0, near, Rc::clone(&contexts));
    let far = Host::new([ANSWERER, CALLER], apps.1, far, Rc::clone(&contexts));
    let (near, far) = (near.keeping_windows(windows), far.keeping_windows(windows));
    let a = network.add_node(Node::Caller(near));
    let b = network.add_node(Node::Answerer(far));
    network.add_address(a, CALLER).map_err(fault)?;
    network.add_address(b, ANSWERER).map_err(fault)?;
    let (from_hosts, cell) = match &spec.path {
        PathSpec::Links(path) => (add_links(&mut network, [a, b], spec, path), None),
        PathSpec::Dot11(path) => {
            let radio = Radio::new(spec, path, CALLER, contexts, SharedTraces::clone(&traces))?;
            let cell = network.add_element(Node::Radio(Box::new(radio)));
            (add_spokes(&mut network, [a, b], cell, spec), Some(cell))
        }
    };
    network.route_shortest();

    let deadline = Time::ZERO + spec.duration() + spec.drain();
    // Asked before each event: the likeliest no comes first.
    let complete = |caller: &Node<A, B, C>, answerer: &Node<A, B, C>| {
        caller.is_done() && answerer.is_done() && traces.borrow().outstanding() == 0
    };
    network
        .run_while(deadline, |network| {
            let (caller, answerer) = (network.machine(a), network.machine(b));
            !(caller.is_dead() || answerer.is_dead() || complete(caller, answerer))
        })
        .map_err(fault)?;
    let complete = complete(network.machine(a), network.machine(b));
    Ok(end(network, from_hosts, cell, complete, traces))
}

/// One link each way, with the settings of the path.
fn add_links<A: Application, B: Application, C: Carrier>(
    network: &mut Pair<A, B, C>,
    [a, b]: [NodeId; 2],
    spec: &RunSpec,
    path: &PathConfig,
) -> [LinkId; 2] {
    let link = |settings: &LinkConfig, name| Link::new(settings, spec.seed.derive(name));
    let there = network.add_link(a, b, link(&path.forward(), "path.forward"));
    let back = network.add_link(b, a, link(&path.reverse(), "path.reverse"));
    [there, back]
}

/// Links between hosts and cell that do nothing at all: a host and its station
/// are one machine.
fn add_spokes<A: Application, B: Application, C: Carrier>(
    network: &mut Pair<A, B, C>,
    hosts: [NodeId; 2],
    cell: NodeId,
    spec: &RunSpec,
) -> [LinkId; 2] {
    let nothing = PathConfig::with_delay(Duration::ZERO).forward();
    hosts.map(|host| {
        let spoke = || Link::new(&nothing, spec.seed.derive("path.spoke"));
        network.add_link(cell, host, spoke());
        network.add_link(host, cell, spoke())
    })
}

fn end<A: Application, B: Application, C: Carrier>(
    network: Pair<A, B, C>,
    from_hosts: [LinkId; 2],
    cell: Option<NodeId>,
    complete: bool,
    traces: SharedTraces<C::Trace>,
) -> Ended<A, B> {
    let mut links = from_hosts.map(|link| *network.link(link).counters());
    let (end, events) = (network.now(), network.events_handled());
    let radio = cell.and_then(|cell| match network.machine(cell) {
        Node::Radio(radio) => {
            links = [0, 1].map(|way| radio.link_counters(&links[way], way));
            Some(radio.report(end))
        }
        _ => None,
    });
    let mut nodes = network.into_parts().0.into_iter();
    let (Some(Node::Caller(mut caller)), Some(Node::Answerer(mut answerer))) =
        (nodes.next(), nodes.next())
    else {
        unreachable!("nodes come back in the order in which they were added")
    };
    drop(nodes);
    let counters = caller.carrier.counters().plus(answerer.carrier.counters());
    let cwnd = *caller.carrier.cwnd();
    let held = [*caller.carrier.held(), *answerer.carrier.held()];
    let mut windows = Vec::from_iter(caller.take_windows(0, true));
    windows.extend(answerer.take_windows(0, false));
    let dead = caller.dead || answerer.dead;
    let (caller, answerer) = (caller.into_app(), answerer.into_app());
    // Hosts and cell shared the traces; with them gone they can be taken out.
    let traces = Rc::into_inner(traces)
        .expect("whoever shared the traces is gone")
        .into_inner();
    let totals = [0, 1].map(|way| *traces.totals::<C::Body>(way));
    let (lost, messages) = traces.into_lost_and_rows::<C::Body>();
    Ended {
        caller,
        answerer,
        complete,
        dead,
        links,
        totals,
        lost,
        counters,
        cwnd,
        held,
        radio,
        shared: None,
        end,
        events,
        messages,
        windows,
        flows: Vec::new(),
    }
}

impl<A: Application, B: Application, C: Carrier> Node<A, B, C> {
    fn is_done(&self) -> bool {
        match self {
            Self::Caller(host) => host.started.is_some() && host.app.is_done(),
            Self::Answerer(host) => host.app.is_done(),
            Self::Radio(_) => true,
        }
    }

    fn is_dead(&self) -> bool {
        match self {
            Self::Caller(host) => host.dead,
            Self::Answerer(host) => host.dead,
            Self::Radio(_) => false,
        }
    }
}

impl<A: Application, B: Application, C: Carrier> Machine for Node<A, B, C> {
    type Input = Datagram<Parcel<C>>;
    type Output = Datagram<Parcel<C>>;

    fn handle_input(&mut self, now: Time, input: Datagram<Parcel<C>>) {
        match self {
            Self::Caller(host) => host.handle_input(now, input),
            Self::Answerer(host) => host.handle_input(now, input),
            Self::Radio(radio) => radio.handle_input(now, input),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match self {
            Self::Caller(host) => host.handle_timeout(now),
            Self::Answerer(host) => host.handle_timeout(now),
            Self::Radio(radio) => radio.handle_timeout(now),
        }
    }

    fn poll_output(&mut self) -> Option<Datagram<Parcel<C>>> {
        match self {
            Self::Caller(host) => host.poll_output(),
            Self::Answerer(host) => host.poll_output(),
            Self::Radio(radio) => radio.poll_output(),
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Caller(host) => host.poll_timeout(),
            Self::Answerer(host) => host.poll_timeout(),
            Self::Radio(radio) => radio.poll_timeout(),
        }
    }
}
