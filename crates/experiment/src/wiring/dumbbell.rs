//! Flows under study and traffic that competes with them, over one path: a
//! dumbbell, whose two routers have queue, rate, delay and loss of the path
//! between them and nothing else.

use std::cell::Cell;
use std::rc::Rc;

use headway_apps::Application;
use headway_path::{Link, LinkConfig, PathConfig};
use headway_sansio::{Datagram, Duration, Machine, Seed, Time};
use headway_sim::{LinkId, Network, NodeId};

use super::carrier::Carrier;
use super::crowd::{Background, Crowd, FlowEnded, Seen, difference, flow_samples};
use super::delays::DelayLog;
use super::error::RunError;
use super::host::Host;
use super::meters::{Meter, Meters};
use super::rivals::{Cast, cast};
use super::site::{Mixed, Site, address};
use super::watch::SharedTraces;
use crate::spec::{RunSpec, SpecError};

/// One side, as the simulator hosts it.
enum Side<A, B, C: Carrier> {
    Left(Site<A, C>),
    Right(Site<B, C>),
}

type Dumbbell<A, B, C> = Network<Side<A, B, C>, Meters<<C as Carrier>::Trace>>;
/// The two ends of a transport and the traces that they share.
type Ends<C> = ([C; 2], SharedTraces<<C as Carrier>::Trace>);

/// The seed of flow number `flow`: that of the run for the first one, so that it
/// is the same flow however many there are.
pub(super) fn flow_seed(spec: &RunSpec, flow: usize) -> Seed {
    if flow == 0 {
        return spec.seed;
    }
    spec.seed.derive(&format!("flow.{flow}"))
}

/// Runs pairs of applications, each over a transport of its own that `make` sets
/// up, and what competes with them.
pub(super) fn run_crowd<A: Application, B: Application, C: Carrier>(
    spec: &RunSpec,
    path: &PathConfig,
    apps: Vec<(A, B)>,
    log: Option<&DelayLog>,
    make: impl Fn(Seed, Time) -> Result<Ends<C>, SpecError>,
) -> Result<Crowd<A, B>, RunError> {
    let fault = |cause| RunError::Sim {
        run: spec.run.id.clone(),
        cause,
    };
    let Cast {
        left,
        right,
        reversed,
        bulk,
        kinds,
    } = cast(spec)?;
    let flows = apps.len();
    let pairs = flows + left.len();
    let mut network: Dumbbell<A, B, C> = Network::new(Meters::new(pairs));
    let a = network.add_node(Side::Left(Site::new(false, flows, left)));
    let b = network.add_node(Side::Right(Site::new(true, flows, right)));
    let link = |settings: &LinkConfig, name| Link::new(settings, spec.seed.derive(name));
    let there = network.add_link(a, b, link(&path.forward(), "path.forward"));
    let back = network.add_link(b, a, link(&path.reverse(), "path.reverse"));
    network.set_default_route(a, there).map_err(fault)?;
    network.set_default_route(b, back).map_err(fault)?;
    for pair in 0..pairs {
        network
            .add_address(a, address(pair, false))
            .map_err(fault)?;
        network.add_address(b, address(pair, true)).map_err(fault)?;
    }

    let settle = spec.competing.as_ref().map_or(0, |c| c.settle_ns);
    let begin = Time::ZERO + Duration::from_nanos(settle);
    if settle > 0 {
        network.run_until(begin).map_err(fault)?;
    }
    let before = seen(&network, [a, b], [there, back], &reversed);
    let traces = begin_study(spec, &mut network, [a, b], apps, log, make)?;

    let source_end = begin + spec.duration();
    let deadline = source_end + spec.drain();
    let complete = |network: &Dumbbell<A, B, C>| {
        let over = network.machine(a).is_done() && network.machine(b).is_done();
        over && traces.iter().all(|t| t.borrow().outstanding() == 0)
    };
    network
        .run_while(deadline, |network| {
            let dead = network.machine(a).is_dead() || network.machine(b).is_dead();
            !(dead || complete(network))
        })
        .map_err(fault)?;
    let complete = complete(&network);
    let after = seen(&network, [a, b], [there, back], &reversed);
    let (end, events) = (network.now(), network.events_handled());
    let dead = [a, b]
        .into_iter()
        .any(|side| network.machine(side).is_dead());
    let (sides, meters) = network.into_parts();
    let meters = meters.into_meters();
    let elapsed = end.since(begin);
    let samples = if spec.collect.windows {
        let whose = kinds.into_iter().zip(reversed.iter().copied());
        flow_samples(flows, whose, &meters, [&before, &after], elapsed)
    } else {
        Vec::new()
    };
    let background = spec.competing.as_ref().map(|_| {
        Background::of(
            &reversed,
            &bulk,
            &meters[flows..],
            [&before, &after],
            elapsed,
        )
    });
    Ok(Crowd {
        flows: take_apart(sides, traces, &meters),
        complete,
        dead,
        links: [0, 1].map(|way| difference(&after.links[way], &before.links[way])),
        background,
        samples,
        end,
        events,
    })
}

/// The flows under study begin now.
fn begin_study<A: Application, B: Application, C: Carrier>(
    spec: &RunSpec,
    network: &mut Dumbbell<A, B, C>,
    [a, b]: [NodeId; 2],
    apps: Vec<(A, B)>,
    log: Option<&DelayLog>,
    make: impl Fn(Seed, Time) -> Result<Ends<C>, SpecError>,
) -> Result<Vec<SharedTraces<C::Trace>>, RunError> {
    let contexts = Rc::new(Cell::new(0));
    let (mut near_hosts, mut far_hosts, mut traces) = (Vec::new(), Vec::new(), Vec::new());
    for (flow, (caller, answerer)) in apps.into_iter().enumerate() {
        let ([near, far], shared) = make(flow_seed(spec, flow), network.now())?;
        shared.borrow_mut().delays = log.cloned().map(Box::new);
        let ends = [address(flow, false), address(flow, true)];
        let near = Host::new(ends, caller, near, Rc::clone(&contexts));
        let far = Host::new([ends[1], ends[0]], answerer, far, Rc::clone(&contexts));
        let near = near.keeping_windows(spec.collect.windows);
        let far = far.keeping_windows(spec.collect.windows);
        near_hosts.push(near);
        far_hosts.push(far);
        traces.push(shared);
    }
    let fault = |cause| RunError::Sim {
        run: spec.run.id.clone(),
        cause,
    };
    let shared = traces.iter().map(SharedTraces::clone).collect();
    network.observer_mut().begin(shared);
    // The listening side first, as it must be there when the first packet comes.
    network
        .with_machine(b, |now, side| {
            if let Side::Right(site) = side {
                site.begin(now, far_hosts);
            }
        })
        .map_err(fault)?;
    network
        .with_machine(a, |now, side| {
            if let Side::Left(site) = side {
                site.begin(now, near_hosts);
            }
        })
        .map_err(fault)?;
    Ok(traces)
}

fn take_apart<A: Application, B: Application, C: Carrier>(
    sides: Vec<Side<A, B, C>>,
    traces: Vec<SharedTraces<C::Trace>>,
    meters: &[[Meter; 2]],
) -> Vec<FlowEnded<A, B>> {
    let mut sides = sides.into_iter();
    let (Some(Side::Left(left)), Some(Side::Right(right))) = (sides.next(), sides.next()) else {
        unreachable!("nodes come back in the order in which they were added")
    };
    let pairs = left.study.into_iter().zip(right.study);
    (0..)
        .zip(pairs)
        .zip(traces)
        .zip(meters)
        .map(|(((flow, (mut near, mut far)), traces), meters)| {
            let mut windows = Vec::from_iter(near.take_windows(flow, true));
            windows.extend(far.take_windows(flow, false));
            let counters = near.carrier.counters().plus(far.carrier.counters());
            let figures = [near.carrier.stream_figures(), far.carrier.stream_figures()];
            let cwnd = *near.carrier.cwnd();
            let held = [*near.carrier.held(), *far.carrier.held()];
            let (caller, answerer) = (near.app, far.app);
            drop((near.carrier, far.carrier));
            // Hosts and observer shared the traces; they are gone.
            let mut traces = Rc::into_inner(traces)
                .expect("whoever shared the traces is gone")
                .into_inner();
            let totals = [0, 1].map(|way| *traces.totals::<C::Body>(way));
            let delays = traces.delays.take();
            let (lost, messages) = traces.into_lost_and_rows::<C::Body>();
            FlowEnded {
                caller,
                answerer,
                totals,
                lost,
                counters,
                figures,
                cwnd,
                held,
                delays,
                meters: *meters,
                messages,
                windows,
            }
        })
        .collect()
}

/// What was counted so far.
fn seen<A: Application, B: Application, C: Carrier>(
    network: &Dumbbell<A, B, C>,
    [a, b]: [NodeId; 2],
    links: [LinkId; 2],
    reversed: &[bool],
) -> Seen {
    let (Side::Left(left), Side::Right(right)) = (network.machine(a), network.machine(b)) else {
        unreachable!("the first node is the left one")
    };
    let ends = left.rivals.iter().zip(&right.rivals);
    let read = ends.clone().zip(reversed).map(|((left, right), &reverse)| {
        let receiver = if reverse { left } else { right };
        receiver.read_bytes()
    });
    let mut both = ends.clone().flat_map(|(left, right)| [left, right]);
    Seen {
        links: links.map(|link| *network.link(link).counters()),
        read: read.collect(),
        web: both.find_map(|rival| rival.web_seen()),
    }
}

impl<A: Application, B: Application, C: Carrier> Side<A, B, C> {
    fn is_done(&self) -> bool {
        match self {
            Self::Left(site) => site.has_started() && site.is_done(),
            Self::Right(site) => site.is_done(),
        }
    }

    fn is_dead(&self) -> bool {
        match self {
            Self::Left(site) => site.is_dead(),
            Self::Right(site) => site.is_dead(),
        }
    }
}

impl<A: Application, B: Application, C: Carrier> Machine for Side<A, B, C> {
    type Input = Datagram<Mixed<C::Body>>;
    type Output = Datagram<Mixed<C::Body>>;

    fn handle_input(&mut self, now: Time, input: Self::Input) {
        match self {
            Self::Left(site) => site.handle_input(now, input),
            Self::Right(site) => site.handle_input(now, input),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match self {
            Self::Left(site) => site.handle_timeout(now),
            Self::Right(site) => site.handle_timeout(now),
        }
    }

    fn poll_output(&mut self) -> Option<Self::Output> {
        match self {
            Self::Left(site) => site.poll_output(),
            Self::Right(site) => site.poll_output(),
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Left(site) => site.poll_timeout(),
            Self::Right(site) => site.poll_timeout(),
        }
    }
}
