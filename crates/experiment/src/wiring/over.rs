//! Applications over whichever transport the spec names. A new transport is one
//! more arm in each of the two functions here.

use headway_apps::Application;
use headway_path::PathConfig;
use headway_sansio::Time;

use super::crowd::Crowd;
use super::delays::DelayLog;
use super::dumbbell::run_crowd;
use super::error::RunError;
use super::pair::{Ended, run_pair};
use super::{dcsctp, sctp, tcp, udp};
use crate::spec::{PathSpec, RunSpec, TransportSpec};

/// Runs two applications over the transport of the spec, and what competes with
/// them.
pub(super) fn run_over<A: Application, B: Application>(
    spec: &RunSpec,
    apps: (A, B),
) -> Result<Ended<A, B>, RunError> {
    if let (Some(_), PathSpec::Links(path)) = (&spec.competing, &spec.path) {
        return run_flows(spec, path, vec![apps], None).map(Crowd::into_pair);
    }
    let content = spec.workload.content();
    let (seed, now) = (spec.seed, Time::ZERO);
    match &spec.transport {
        TransportSpec::Sctp(transport) => {
            let (ends, traces) = sctp::ends(spec, transport, content, seed, now)?;
            run_pair(spec, apps, ends, traces)
        }
        TransportSpec::Dcsctp(transport) => {
            let (ends, traces) = dcsctp::ends(spec, transport, content, seed, now);
            run_pair(spec, apps, ends, traces)
        }
        TransportSpec::Udp(_) => {
            let (ends, traces) = udp::ends(spec);
            run_pair(spec, apps, ends, traces)
        }
        TransportSpec::Tcp(_) | TransportSpec::TcpParallel(_) | TransportSpec::TcpSplit(_) => {
            let (ends, traces) = tcp::ends(spec, content, seed, now)?;
            run_pair(spec, apps, ends, traces)
        }
    }
}

/// Runs several pairs of applications, each pair over a transport of its own,
/// and what competes with them. A `log` is kept of each pair's delays.
pub(super) fn run_flows<A: Application, B: Application>(
    spec: &RunSpec,
    path: &PathConfig,
    apps: Vec<(A, B)>,
    log: Option<&DelayLog>,
) -> Result<Crowd<A, B>, RunError> {
    let content = spec.workload.content();
    match &spec.transport {
        TransportSpec::Sctp(transport) => run_crowd(spec, path, apps, log, |seed, now| {
            sctp::ends(spec, transport, content, seed, now)
        }),
        TransportSpec::Dcsctp(transport) => run_crowd(spec, path, apps, log, |seed, now| {
            Ok(dcsctp::ends(spec, transport, content, seed, now))
        }),
        TransportSpec::Udp(_) => run_crowd(spec, path, apps, log, |_, _| Ok(udp::ends(spec))),
        TransportSpec::Tcp(_) | TransportSpec::TcpParallel(_) | TransportSpec::TcpSplit(_) => {
            run_crowd(spec, path, apps, log, |seed, now| {
                tcp::ends(spec, content, seed, now)
            })
        }
    }
}
