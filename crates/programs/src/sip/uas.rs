//! `headway-net sip uas`: takes calls.

use headway_apps::Reliability;
use headway_apps::sip::transaction::Timers;
use headway_apps::sip::ua::{AnswerPlan, UaConfig, Uas};
use headway_sansio::Time;

use super::agent::Agent;
use super::args::{TransportKind, UasArgs};
use super::report::{Report, Setting};
use super::tcp::TcpTransport;
use super::udp::UdpTransport;
use super::{Transport, poller, print, secret_seed};
use crate::failure::Failure;

pub(super) fn run(args: &UasArgs) -> Result<(), Failure> {
    let timers = check(args)?;
    let mut poller = poller()?;
    let registry = poller.registry();
    let listen = args.listen;
    let (mut transport, local) = match args.transport {
        TransportKind::Udp => {
            let udp = UdpTransport::bind(&registry, listen).map_err(Failure::system(listen))?;
            let local = udp.local();
            (Transport::Udp(udp), local)
        }
        TransportKind::Tcp => {
            let tcp = TcpTransport::listen(&registry, listen).map_err(Failure::system(listen))?;
            let local = tcp.local();
            (Transport::Tcp(tcp), local)
        }
    };
    let config = UaConfig {
        user: "headway".to_owned(),
        host: args.host.clone().unwrap_or_else(|| local.to_string()),
        via: args.transport.name(),
        reliability: args.transport.reliability(),
        timers,
        seed: secret_seed(),
    };
    let plan = AnswerPlan {
        ringing: !args.no_ringing,
        ring_time: args.ring_time,
        refuse: args.refuse,
        max_open: args.max_open,
    };
    eprintln!("answering on {local} over {}", args.transport.name());
    let mut agent = Agent::start(Uas::new(config, plan), poller.clock().now());
    let end = args.time_limit.map(|limit| Time::ZERO + limit);
    let reliable = args.transport.reliability() == Reliability::Reliable;
    let calls = args.calls.map(u64::from);
    let finished =
        |agent: &Agent<Uas>, _| calls.is_some_and(|calls| has_ended(agent, calls, reliable));
    headway_net::run(&mut agent, &mut transport, &mut poller, end, finished)
        .map_err(Failure::system("answering"))?;

    let setting = Setting {
        agent: "uas",
        transport: args.transport.name(),
        local: local.to_string(),
        target: None,
        duration_s: poller.clock().now().as_secs_f64(),
    };
    let layer = agent.agent.counters();
    let (totals, traffic) = agent.finish();
    let report = Report::of_answers(&setting, totals, &traffic, layer);
    print(&report, args.json, &transport.remarks())
}

/// The timers.
///
/// # Errors
/// Where an argument makes no sense.
pub(super) fn check(args: &UasArgs) -> Result<Timers, Failure> {
    let timers = args.timers.timers()?;
    if args.listen.ip().is_unspecified() && args.host.is_none() {
        let reason = "--listen on every address needs --host: what others know this host by";
        return Err(Failure::Input(reason.to_owned()));
    }
    Ok(timers)
}

/// Whether so many calls came and all are over. Over an unreliable transport the
/// last timers belong to it: until they run out the caller may repeat its BYE.
fn has_ended(agent: &Agent<Uas>, calls: u64, reliable: bool) -> bool {
    agent.closed.calls >= calls
        && agent.agent.open_records().next().is_none()
        && (reliable || agent.agent.has_no_transactions())
}
