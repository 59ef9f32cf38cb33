//! The SIP user agents as users run them: the binary, real sockets, the real clock.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use common::{Program, relay, socket};
use nix::sys::signal::Signal;
use serde_json::Value;

/// An answering agent on a port of its own, and where it listens.
fn uas(flags: &str) -> (Program, SocketAddr) {
    let mut program = Program::start(&format!(
        "sip uas --listen 127.0.0.1:0 --time-limit 60s --json {flags}"
    ));
    let line = program.line();
    let address = line
        .split(' ')
        .nth(2)
        .and_then(|address| address.parse().ok());
    (program, address.expect(&line))
}

fn uac(target: SocketAddr, flags: &str) -> Program {
    let limit = if flags.contains("--time-limit") {
        ""
    } else {
        "--time-limit 60s"
    };
    let mut program = Program::start(&format!("sip uac {target} {limit} --json {flags}"));
    let line = program.line();
    assert!(line.starts_with("calling "), "{line}");
    program
}

/// The report of an agent that ends by itself, and its exit code.
fn end(program: Program) -> (Value, i32) {
    let (out, err, status) = program.end();
    (
        serde_json::from_str(&out).expect(&err),
        status.code().unwrap(),
    )
}

fn messages(report: &Value, kind: &str) -> [u64; 4] {
    ["sent", "sent_again", "received", "received_again"]
        .map(|column| report["messages"][kind][column].as_u64().unwrap_or(0))
}

#[test]
fn calls_over_udp() {
    let (answerer, address) = uas("--ring-time 300ms");
    let (calls, code) = end(uac(address, "--calls 30 --rate 60/s --talk-time 200ms"));
    let answers = answerer.stop(Signal::SIGTERM);
    assert_eq!(
        (code, &calls["calls"], &calls["finished"]),
        (0, &30.into(), &30.into())
    );
    for kind in ["INVITE", "ACK", "BYE"] {
        assert_eq!(messages(&calls, kind), [30, 0, 0, 0], "{kind}");
        assert_eq!(messages(&answers, kind), [0, 0, 30, 0], "{kind}");
    }
    for kind in ["180 INVITE", "200 INVITE", "200 BYE"] {
        assert_eq!(messages(&calls, kind), [0, 0, 30, 0], "{kind}");
        assert_eq!(messages(&answers, kind), [30, 0, 0, 0], "{kind}");
    }
    let transaction = calls["transaction_p50_s"].as_f64().unwrap();
    assert!((0.3..0.4).contains(&transaction), "{transaction}");
    assert!(calls["psd_p50_s"].as_f64().unwrap() < 0.1);
    assert_eq!(answers["ended"], 30);
}

#[test]
fn calls_over_tcp_end_by_themselves_on_both_sides() {
    let (answerer, address) = uas("--transport tcp --calls 30");
    let caller = uac(
        address,
        "--transport tcp --calls 30 --rate 60/s --talk-time 100ms --t4 200ms --late-offer",
    );
    let (calls, code) = end(caller);
    let (answers, answered) = end(answerer);
    assert_eq!((code, answered), (0, 0));
    assert_eq!(
        (&calls["finished"], &answers["ended"]),
        (&30.into(), &30.into())
    );
    assert_eq!(
        (&calls["sent_again"], &answers["sent_again"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn loss_is_overcome_by_the_timers() {
    let (answerer, address) = uas("--ring-time 500ms --t1 60ms");
    // 20 ms there and back is shorter than T1, and so is the wait for a busy processor.
    let (path, through) = relay(address, "--loss 10% --delay 5ms --seed 3");
    let flags = "--calls 100 --rate 100/s --talk-time 500ms --t1 60ms";
    let (calls, code) = end(uac(through, flags));
    let answers = answerer.stop(Signal::SIGTERM);
    let path = path.stop(Signal::SIGTERM);
    assert_eq!((code, &calls["finished"]), (0, &100.into()));
    let lost: u64 = ["forward", "reverse"]
        .map(|direction| path[direction]["packets_lost_wire"].as_u64().unwrap())
        .iter()
        .sum();
    let again = messages(&calls, "INVITE")[1]
        + messages(&calls, "BYE")[1]
        + messages(&answers, "200 INVITE")[1];
    // Each loss costs one repetition; a busy machine may add some that nothing asked for.
    assert!(
        again + 3 >= lost && again <= lost + 20,
        "{again} for {lost}"
    );
}

#[test]
fn an_invite_that_nobody_answers_is_repeated_on_time() {
    let silent = socket();
    let start = Instant::now();
    let flags = "--calls 1 --rate 1000/s --t1 20ms --bind 127.0.0.1:0";
    let program = uac(silent.local_addr().unwrap(), flags);
    let mut buffer = [0; 2000];
    let mut times = Vec::new();
    for _ in 0..7 {
        let (length, _) = silent.recv_from(&mut buffer).unwrap();
        assert!(buffer[..length].starts_with(b"INVITE sip:headway@127.0.0.1:"));
        times.push(Instant::now());
    }
    let (report, code) = end(program);
    let after: Vec<f64> = times
        .iter()
        .map(|at| (*at - times[0]).as_secs_f64())
        .collect();
    for (at, expected) in after.iter().zip([0.0, 0.02, 0.06, 0.14, 0.30, 0.62, 1.26]) {
        assert!((at - expected).abs() < 0.015, "{after:?}");
    }
    assert!(start.elapsed() >= Duration::from_millis(1_280));
    assert_eq!((code, &report["failed_no_response"]), (1, &1.into()));
    assert_eq!(messages(&report, "INVITE"), [7, 6, 0, 0]);
}

#[test]
fn even_calls_begin_at_even_distances() {
    let silent = socket();
    let flags = "--calls 8 --rate 10/s --even --t1 2s --time-limit 1s";
    let program = uac(silent.local_addr().unwrap(), flags);
    let mut buffer = [0; 2000];
    let times: Vec<Instant> = (0..8)
        .map(|_| {
            silent.recv_from(&mut buffer).unwrap();
            Instant::now()
        })
        .collect();
    let (report, _) = end(program);
    assert_eq!(messages(&report, "INVITE"), [8, 0, 0, 0]);
    for (number, at) in times.iter().enumerate() {
        let after = (*at - times[0]).as_secs_f64();
        assert!(
            (after - 0.1 * number as f64).abs() < 0.04,
            "{number}: {after}"
        );
    }
}

#[test]
fn a_port_that_nobody_listens_on_fails_calls_at_once() {
    let target = socket().local_addr().unwrap();
    let start = Instant::now();
    let (report, code) = end(uac(target, "--calls 3 --one-by-one 50ms"));
    // Timer B would take 32 s for each call.
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!((code, &report["failed_not_sent"]), (1, &3.into()));
    assert_eq!(messages(&report, "INVITE"), [3, 0, 0, 0]);
}

#[test]
fn callers_that_are_gone_do_not_disturb_others() {
    let (answerer, address) = uas("--ring-time 50ms");
    for number in 0..20 {
        let gone = socket();
        let text = format!(
            "INVITE sip:b@{address} SIP/2.0\r\nVia: SIP/2.0/UDP a.test;branch=z9hG4bK{number}\r\n\
             From: <sip:a@a.test>;tag={number}\r\nTo: <sip:b@{address}>\r\n\
             Call-ID: {number}\r\nCSeq: 1 INVITE\r\nContact: <sip:a@a.test>\r\n\
             Max-Forwards: 70\r\nContent-Length: 0\r\n\r\n"
        );
        gone.send_to(text.as_bytes(), address).unwrap();
    }
    let (calls, code) = end(uac(address, "--calls 30 --rate 60/s --talk-time 100ms"));
    let answers = answerer.stop(Signal::SIGTERM);
    assert_eq!((code, &calls["finished"]), (0, &30.into()));
    assert_eq!(
        (&answers["calls"], &answers["ended"]),
        (&50.into(), &30.into())
    );
    // The 200s to callers that are gone end with the first report.
    assert!(messages(&answers, "200 INVITE")[0] <= 30 + 2 * 20);
}

#[test]
fn a_refusal_is_acknowledged_and_told() {
    let (answerer, address) = uas("--refuse 486");
    let (calls, code) = end(uac(address, "--calls 5 --rate 100/s"));
    answerer.stop(Signal::SIGTERM);
    assert_eq!((code, &calls["failed_refused"]), (1, &5.into()));
    assert_eq!(calls["refused_codes"]["486"], 5);
    assert_eq!(messages(&calls, "ACK")[0], 5);
    assert_eq!(calls["psd_mean_s"], Value::Null);
}

#[test]
fn a_call_that_rings_too_long_is_cancelled() {
    let (answerer, address) = uas("--ring-time 50s");
    let (calls, code) = end(uac(address, "--calls 4 --rate 100/s --patience 300ms"));
    answerer.stop(Signal::SIGTERM);
    assert_eq!((code, &calls["failed_no_answer"]), (1, &4.into()));
    for kind in ["CANCEL", "ACK"] {
        assert_eq!(messages(&calls, kind)[0], 4, "{kind}");
    }
    assert_eq!(messages(&calls, "487 INVITE")[2], 4);
    // The caller ends with the last 487, which the 200 to its CANCEL follows.
    let ok = messages(&calls, "200 CANCEL")[2];
    assert!((3..=4).contains(&ok), "{ok}");
}

#[test]
fn a_lost_connection_fails_its_calls_and_is_made_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let program = uac(
        target,
        "--transport tcp --calls 2 --one-by-one 100ms --t4 1ms",
    );
    let mut buffer = [0; 2000];
    for _ in 0..2 {
        let (mut connection, _) = listener.accept().unwrap();
        connection
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let length = connection.read(&mut buffer).unwrap();
        assert!(buffer[..length].starts_with(b"INVITE "));
        assert!(
            buffer[..length]
                .windows(12)
                .any(|window| window == b"SIP/2.0/TCP ")
        );
    }
    let (report, code) = end(program);
    assert_eq!((code, &report["failed_not_sent"]), (1, &2.into()));

    // Nobody listens any more: the second connection cannot be made.
    let program = uac(
        target,
        "--transport tcp --calls 2 --one-by-one 100ms --t4 1ms",
    );
    let (connection, _) = listener.accept().unwrap();
    drop(listener);
    drop(connection);
    let (report, _) = end(program);
    assert_eq!(report["failed_not_sent"], 2);
    let arguments = format!("sip uac {target} --transport tcp");
    let (_, err, status) = Program::start(&arguments).end();
    assert_eq!(status.code(), Some(1));
    assert!(
        err.contains(&format!("{target}: Connection refused")),
        "{err}"
    );
}

#[test]
fn garbage_changes_nothing() {
    let (answerer, address) = uas("");
    let stranger = socket();
    for garbage in [
        &b"hello"[..],
        &[0; 1400],
        b"INVITE sip:x SIP/2.0\r\n\r\n",
        b"",
        b"\r\n\r\n",
    ] {
        stranger.send_to(garbage, address).unwrap();
    }
    let (calls, code) = end(uac(address, "--calls 3 --rate 100/s --talk-time 0"));
    let answers = answerer.stop(Signal::SIGTERM);
    assert_eq!((code, &calls["finished"]), (0, &3.into()));
    assert_eq!(answers["unreadable"], 5);

    let (answerer, address) = uas("--transport tcp --calls 3");
    let mut closed = TcpStream::connect(address).unwrap();
    closed
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    closed.write_all(b"what is this?\r\n\r\n").unwrap();
    assert_eq!(closed.read(&mut [0; 100]).unwrap(), 0);
    // A connection that says nothing, and one that stops in the middle.
    let silent = TcpStream::connect(address).unwrap();
    let mut torn = TcpStream::connect(address).unwrap();
    torn.write_all(b"INVITE sip:x SIP/2.0\r\nVia").unwrap();
    let flags = "--transport tcp --calls 3 --rate 100/s --talk-time 0 --t4 1ms";
    let (calls, code) = end(uac(address, flags));
    assert_eq!((code, &calls["finished"]), (0, &3.into()));
    assert_eq!(end(answerer).0["ended"], 3);
    drop((silent, torn));
}

#[test]
fn a_signal_ends_new_calls_and_lets_open_ones_end() {
    let (answerer, address) = uas("");
    let program = uac(address, "--calls 1000000 --rate 50/s --talk-time 400ms");
    let pause = socket();
    pause
        .set_read_timeout(Some(Duration::from_millis(800)))
        .unwrap();
    let _ = pause.recv(&mut [0; 1]);
    let calls = program.stop(Signal::SIGINT);
    let answers = answerer.stop(Signal::SIGTERM);
    assert!(calls["calls"].as_u64().unwrap() > 5, "{calls}");
    assert_eq!(calls["calls"], calls["finished"]);
    assert_eq!(calls["calls"], answers["ended"]);
}

#[test]
fn tables_for_people_and_refusals_of_bad_input() {
    let (answerer, address) = uas("");
    let program = Program::start(&format!("sip uac {address} --calls 2 --talk-time 0"));
    let (out, _, status) = program.end();
    answerer.stop(Signal::SIGTERM);
    assert!(status.success());
    for words in [
        "carried through",
        "post-selection delay",
        "200 INVITE",
        "p95",
    ] {
        assert!(out.contains(words), "{words} in {out}");
    }
    for (arguments, said) in [
        ("sip", "Usage"),
        ("sip uac", "<TARGET>"),
        (
            "sip uac 127.0.0.1:5060 --uri tel:1",
            "not of the form sip:user@host",
        ),
        ("sip uac 127.0.0.1:5060 --rate 0", "not above 0"),
        (
            "sip uac 127.0.0.1:5060 --rate 1 --one-by-one 1s",
            "cannot be used with",
        ),
        (
            "sip uac 127.0.0.1:5060 --even --one-by-one 1s",
            "cannot be used with",
        ),
        ("sip uac 127.0.0.1:5060 --t1 5s", "--t2: must be no shorter"),
        ("sip uac [::1]:5060 --bind 127.0.0.1:0", "same IP version"),
        ("sip uas --listen 0.0.0.0:0", "needs --host"),
        ("sip uas --refuse 200", "not in 300..700"),
        ("sip uas --t4 0", "--t4: must be above 0"),
    ] {
        let (out, err, status) = Program::start(arguments).end();
        assert_eq!(status.code(), Some(2), "{arguments}: {err}");
        assert!(err.contains(said) && out.is_empty(), "{arguments}: {err}");
    }
    for agent in ["uac", "uas"] {
        let (out, _, status) = Program::start(&format!("sip {agent} --help")).end();
        assert!(status.success() && out.contains("Examples:"), "{out}");
    }
}
