//! `headway-net sip uac`: makes calls.

use headway_apps::sip::transaction::Timers;
use headway_apps::sip::ua::{CallPlan, Pace, UaConfig, Uac};
use headway_apps::{Application, Peer};
use headway_net::{Ending, Poller};
use headway_sansio::{Duration, Seed, Time};

use super::agent::Agent;
use super::args::{TransportKind, UacArgs};
use super::report::{Report, Setting};
use super::tcp::TcpTransport;
use super::udp::UdpTransport;
use super::{Transport, poller, print, secret_seed, towards};
use crate::failure::Failure;

pub(super) fn run(args: &UacArgs) -> Result<(), Failure> {
    let (timers, uri) = check(args)?;
    let mut poller = poller()?;
    let (mut transport, local, peer) = connect(args, &poller)?;
    let config = UaConfig {
        user: "headway".to_owned(),
        host: local.clone(),
        via: args.transport.name(),
        reliability: args.transport.reliability(),
        timers,
        seed: secret_seed(),
    };
    let plan = CallPlan {
        target: uri,
        peer,
        pace: match args.one_by_one.as_slice() {
            [] if args.even => Pace::Even(args.rate),
            [] => Pace::Poisson(args.rate),
            pauses => Pace::OneByOne(pauses.to_vec()),
        },
        duration: args.duration.unwrap_or(Duration::MAX),
        calls: args.calls,
        talk_time: args.talk_time,
        patience: args.patience,
        offer: !args.late_offer,
    };
    eprintln!(
        "calling {} over {} from {local}",
        args.target,
        args.transport.name()
    );
    let arrivals = Seed::new(args.seed).stream("caller.arrivals");
    let mut agent = Agent::start(Uac::new(config, plan, arrivals), poller.clock().now());
    let end = args.time_limit.map(|limit| Time::ZERO + limit);
    let linger = match args.transport {
        TransportKind::Udp => Duration::ZERO,
        TransportKind::Tcp => timers.t4,
    };
    drive(&mut agent, &mut transport, &mut poller, end, linger)?;

    let setting = Setting {
        agent: "uac",
        transport: args.transport.name(),
        local,
        target: Some(args.target.to_string()),
        duration_s: poller.clock().now().as_secs_f64(),
    };
    let layer = agent.agent.counters();
    let (totals, traffic) = agent.finish();
    let (calls, finished) = (totals.calls, totals.finished);
    let report = Report::of_calls(&setting, totals, &traffic, layer);
    print(&report, args.json, &transport.remarks())?;
    match calls - finished {
        0 => Ok(()),
        count => Err(Failure::Result(format!(
            "{count} of {calls} calls were not carried through"
        ))),
    }
}

/// The timers, and who is called.
///
/// # Errors
/// Where an argument makes no sense.
pub(super) fn check(args: &UacArgs) -> Result<(Timers, String), Failure> {
    let timers = args.timers.timers()?;
    let uri = args
        .uri
        .clone()
        .unwrap_or_else(|| format!("sip:headway@{}", args.target));
    if !is_sip_uri(&uri) {
        return Err(Failure::Input(format!(
            "--uri: \"{uri}\" is not of the form sip:user@host"
        )));
    }
    Ok((timers, uri))
}

/// Runs the calls. The first signal ends new ones, the second one everything.
///
/// After the last call a connection stays for `linger`, as RFC 3261 section 18
/// recommends: the other side may still keep the call and take a lost connection
/// for its failure, as SIPp does.
fn drive(
    agent: &mut Agent<Uac>,
    transport: &mut Transport,
    poller: &mut Poller,
    end: Option<Time>,
    linger: Duration,
) -> Result<(), Failure> {
    let mut run = |agent: &mut Agent<Uac>, end, finished: fn(&Agent<Uac>) -> bool| {
        headway_net::run(agent, transport, poller, end, |agent, _| finished(agent))
            .map_err(Failure::system("calling"))
    };
    let is_done = |agent: &Agent<Uac>| agent.agent.is_done();
    let mut ending = run(agent, end, is_done)?;
    if ending == Ending::Stopped {
        agent.agent.stop();
        ending = run(agent, end, is_done)?;
    }
    if ending == Ending::Finished && !linger.is_zero() {
        let until = agent.last_heard + linger;
        run(agent, Some(end.map_or(until, |end| end.min(until))), |_| {
            false
        })?;
    }
    Ok(())
}

fn connect(args: &UacArgs, poller: &Poller) -> Result<(Transport, String, Peer), Failure> {
    let target = args.target;
    let bind = match args.bind {
        Some(bind) => bind,
        None => towards(target).map_err(Failure::system(target))?,
    };
    if bind.is_ipv4() != target.is_ipv4() {
        let reason = "--bind and the target must be of the same IP version";
        return Err(Failure::Input(reason.to_owned()));
    }
    let registry = poller.registry();
    match args.transport {
        TransportKind::Udp => {
            let mut udp = UdpTransport::bind(&registry, bind).map_err(Failure::system(bind))?;
            let local = udp.local().to_string();
            // The first of four thousand million numbers is there.
            let peer = udp.peer(target).unwrap_or_default();
            Ok((Transport::Udp(udp), local, peer))
        }
        TransportKind::Tcp => {
            let (tcp, peer) =
                TcpTransport::connect(&registry, bind, target).map_err(Failure::system(target))?;
            let local = tcp.local().to_string();
            Ok((Transport::Tcp(tcp), local, peer))
        }
    }
}

/// Whether a request to this URI is a message that can be read.
fn is_sip_uri(uri: &str) -> bool {
    let text = format!(
        "OPTIONS {uri} SIP/2.0\r\nVia: SIP/2.0/UDP a.test;branch=z9hG4bK1\r\n\
         From: <sip:a@a.test>;tag=1\r\nTo: <{uri}>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n\r\n"
    );
    headway_apps::sip::message::parse_message(text.as_bytes())
        .is_ok_and(|message| message.request_uri().is_some_and(|uri| uri.is_sip()))
}

#[cfg(test)]
mod tests {
    use super::is_sip_uri;

    #[test]
    fn uris_are_checked_before_anything_is_sent() {
        assert!(is_sip_uri("sip:headway@127.0.0.1:5060"));
        assert!(is_sip_uri("sip:service@host.example;transport=tcp"));
        for wrong in [
            "",
            "headway",
            "tel:+1",
            "sip:a b@c",
            "sip:a@b\r\nX: y",
            "sip:a@b>;x",
        ] {
            assert!(!is_sip_uri(wrong), "{wrong}");
        }
    }
}
