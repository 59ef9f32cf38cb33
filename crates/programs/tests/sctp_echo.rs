//! `headway-net sctp-echo` from outside: both sides, over UDP, DTLS and IP.

mod common;

use std::io::BufRead;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use common::{Program, relay, socket};
use nix::sys::signal::Signal;
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;

/// A server on loopback, and its UDP port.
fn serve(flags: &str) -> (Program, u16) {
    let mut program = Program::start(&format!(
        "sctp-echo serve --listen 127.0.0.1 --udp-encap 0 --json {flags}"
    ));
    let line = program.line();
    let address = line
        .rsplit(' ')
        .next()
        .and_then(|word| word.trim().parse().ok());
    let address: SocketAddr = address.expect(&line);
    (program, address.port())
}

/// A client to its end: the figures and the exit code.
fn connect(port: u16, flags: &str) -> (Value, Option<i32>) {
    let client = Program::start(&format!(
        "sctp-echo connect 127.0.0.1 --udp-encap {port} --json --time-limit 120s {flags}"
    ));
    let (out, err, status) = client.end();
    let figures = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    (figures, status.code())
}

/// A client that must succeed.
fn succeed(port: u16, flags: &str) -> Value {
    let (figures, code) = connect(port, flags);
    assert_eq!(
        (code, &figures["right"]),
        (Some(0), &true.into()),
        "{flags}: {figures:#}"
    );
    figures
}

fn count(figures: &Value, key: &str) -> u64 {
    figures[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key}: {figures:#}"))
}

/// Whether an association ended with these words.
fn said(figures: &Value, words: &str) -> bool {
    let ends = figures["ends"].as_object();
    ends.is_some_and(|ends| ends.keys().any(|end| end.contains(words)))
}

#[test]
fn every_kind_of_message_comes_back() {
    let (server, port) = serve("");
    let figures = succeed(port, "--count 300 --outstanding 16");
    assert_eq!(count(&figures, "echoed"), 300);
    assert_eq!(count(&figures, "sent_bytes"), 300 * 450);
    assert!(figures["round_trip_p50_s"].as_f64().is_some());
    let path = &figures["paths"][0];
    assert_eq!(path["state"], "active");
    assert!(count(path, "data_chunks_sent") >= 300);
    for flags in [
        "--size 1B,2B,3B,7B,8B --count 100 --streams 5 --outstanding 20 --ppid 46",
        "--size 1B..200kB --count 60 --streams 64 --outstanding 10 --unordered",
        "--count 20 --rate 100/s --associations 10 --streams 2",
        "--size 1B --count 100 --outstanding 30 --unordered --plain",
    ] {
        succeed(port, flags);
    }
    let served = server.stop(Signal::SIGTERM);
    assert_eq!(count(&served, "associations"), 14);
    assert_eq!(count(&served, "shut_down"), 14);
    assert_eq!(count(&served, "messages"), 300 + 100 + 60 + 200 + 100);
}

#[test]
fn either_side_ends_it_in_either_way() {
    let (server, port) = serve("--associations 2");
    succeed(port, "--count 5");
    succeed(port, "--count 5 --end abort");
    let (out, err, status) = server.end();
    assert!(status.success(), "{err}");
    let served: Value = serde_json::from_str(&out).expect(&out);
    assert_eq!(
        (count(&served, "shut_down"), count(&served, "aborted")),
        (1, 1)
    );

    let (server, port) = serve("--shutdown-after 5");
    let figures = succeed(port, "--count 5 --end peer");
    assert_eq!(figures["ends"]["shut down"], 1);
    // One message more than the server wants to echo never comes back.
    let (figures, code) = connect(port, "--count 6 --end peer");
    assert_eq!(
        (code, count(&figures, "echoed")),
        (Some(1), 5),
        "{figures:#}"
    );
    server.stop(Signal::SIGINT);

    let (server, port) = serve("--abort-after 3");
    let figures = succeed(port, "--count 3 --end peer");
    assert!(said(&figures, "as asked for"), "{figures:#}");
    server.stop(Signal::SIGINT);
}

#[test]
fn losses_and_reordering_are_repaired() {
    let (server, port) = serve("--profile low-delay");
    let target = SocketAddr::from(([127, 0, 0, 1], port));
    let (relay, way) = relay(target, "--delay 2ms --loss 5% --seed 3");
    let figures = succeed(
        way.port(),
        "--profile low-delay --count 300 --streams 8 --size 100B..5kB --outstanding 20",
    );
    let stats = &figures["stats"];
    let again = count(stats, "fast_retransmissions") + count(stats, "timed_retransmissions");
    assert!(again > 0, "{figures:#}");
    drop(relay);
    server.stop(Signal::SIGTERM);
}

/// A client behind a relay, which must succeed.
fn succeed_through(port: u16, path: &str, flags: &str) -> Value {
    let (_relay, way) = relay(SocketAddr::from(([127, 0, 0, 1], port)), path);
    succeed(way.port(), flags)
}

#[test]
fn what_is_lost_is_given_up_where_both_agree() {
    let lossy = "--delay 2ms --loss 5% --seed 5";
    // Three messages to a packet at most: 400 packets or more, of which 20 are lost.
    let flags = "--max-retransmissions 0 --count 1200 --rate 1000/s --streams 3";
    let (server, port) = serve("--partial-reliability");
    let figures = succeed_through(port, lossy, flags);
    let [echoed, given_up] = ["echoed", "given_up"].map(|key| count(&figures, key));
    assert_eq!(echoed + given_up, 1200, "{figures:#}");
    assert!(given_up > 0 && echoed > 600, "{figures:#}");
    let stats = &figures["stats"];
    // Given up after it was sent, for without that no loss is known.
    assert!(count(stats, "given_up_sent") >= given_up, "{figures:#}");
    assert!(count(stats, "forwards_sent") > 0, "{figures:#}");
    assert_eq!(count(&figures, "partial_reliability"), 1);
    assert_eq!(count(&figures, "missing"), 0);
    server.stop(Signal::SIGTERM);

    // Another one does not know how, and everything comes back.
    let (server, port) = serve("");
    let figures = succeed_through(port, lossy, flags);
    assert_eq!(count(&figures, "echoed"), 1200, "{figures:#}");
    assert_eq!(count(&figures, "partial_reliability"), 0);
    server.stop(Signal::SIGTERM);
}

#[test]
fn what_waits_too_long_or_matters_less_is_given_up() {
    let (server, port) = serve("--partial-reliability");
    // Some 250 messages a second go through, and 580 fit the send buffer, so that more
    // expire at once than the association tells one by one.
    let slow = "--delay 2ms --rate 1Mb/s";
    for flags in [
        "--lifetime 50ms --count 2000 --outstanding 2000",
        "--lifetime 50ms --count 2000 --outstanding 2000 --unordered --streams 4",
        "--priorities 9,0,0,0,0,0,0,0 --count 1000 --outstanding 1000",
    ] {
        let figures = succeed_through(port, slow, flags);
        let (sent, echoed) = (count(&figures, "sent"), count(&figures, "echoed"));
        assert_eq!(sent, echoed + count(&figures, "given_up"), "{figures:#}");
        let stats = &figures["stats"];
        assert!(count(stats, "given_up_unsent") > 0, "{flags}: {figures:#}");
    }
    server.stop(Signal::SIGTERM);
}

#[test]
fn streams_begin_anew_as_often_as_is_asked() {
    let flags = "--streams 4 --count 50 --outstanding 8 --resets";
    let (server, port) = serve("--reconfiguration");
    let figures = succeed(port, &format!("{flags} 3"));
    let counts = ["messages", "echoed", "resets", "peer_resets"];
    assert_eq!(counts.map(|key| count(&figures, key)), [200, 200, 3, 0]);
    // Beyond 256 streams the request names none, and so all.
    let many = "--streams 300 --count 600 --outstanding 100 --resets 1";
    let wide = "--set inbound_streams=300 --set outbound_streams=300";
    let (wider, way) = serve(&format!("--reconfiguration {wide}"));
    assert_eq!(count(&succeed(way, many), "resets"), 1);
    wider.stop(Signal::SIGTERM);
    server.stop(Signal::SIGTERM);

    // The peer resets its own streams in return, or it does not.
    let (server, port) = serve("--reconfiguration --reset-back");
    let figures = succeed(port, &format!("{flags} 3 --both-ways"));
    assert_eq!(counts.map(|key| count(&figures, key)), [200, 200, 3, 3]);
    server.stop(Signal::SIGTERM);
    let (server, port) = serve("--reconfiguration");
    let (figures, code) = connect(port, &format!("{flags} 1 --both-ways --wait 3s"));
    assert_eq!(
        (code, count(&figures, "resets")),
        (Some(1), 0),
        "{figures:#}"
    );
    assert!(said(&figures, "were not reset"), "{figures:#}");
    server.stop(Signal::SIGTERM);

    // It does not know how.
    let (server, port) = serve("");
    let (figures, code) = connect(port, &format!("{flags} 1"));
    assert_eq!(
        (code, count(&figures, "resets")),
        (Some(1), 0),
        "{figures:#}"
    );
    assert!(said(&figures, "not agreed"), "{figures:#}");
    server.stop(Signal::SIGTERM);
}

#[test]
fn long_messages_let_others_pass_where_both_agree() {
    let flags = "--size 100kB,100B --streams 2 --count 40 --outstanding 8 \
                 --interleave --scheduler round-robin";
    for (offer, agreed) in [("--interleave", 1), ("", 0)] {
        let (server, port) = serve(offer);
        let figures = succeed(port, flags);
        assert_eq!(count(&figures, "interleaving"), agreed, "{figures:#}");
        server.stop(Signal::SIGTERM);
    }
}

#[test]
fn the_client_stays_until_it_is_told_to_go() {
    let (server, port) = serve("--associations 1");
    let client = Program::start(&format!(
        "sctp-echo connect 127.0.0.1 --udp-encap {port} --json --linger 1000s"
    ));
    let (_, _, status) = server.end();
    assert!(status.success());
    let figures = client.stop(Signal::SIGTERM);
    assert_eq!(figures["right"], true, "{figures:#}");
}

#[test]
fn failures_are_told_apart_by_the_exit_code() {
    let silent = socket();
    let port = silent.local_addr().expect("bound").port();
    let (figures, code) = connect(
        port,
        "--set init_max_retransmits=1 --set rto_initial_ns=1000000000",
    );
    assert_eq!((code, &figures["right"]), (Some(1), &false.into()));
    for wrong in [
        "connect 127.0.0.1 --size 0B",
        "connect 127.0.0.1 --set nonsense=1",
        "connect 127.0.0.1 --set sack_delay_ns=600000000",
        "connect 127.0.0.1 --profile nobody",
        "connect 127.0.0.1 --size 1MB",
        "connect 127.0.0.1 --raw --dtls a --key b --ca c",
        "connect 127.0.0.1 --dtls a --key b",
        "connect 127.0.0.1 --with-checksums",
        "connect 127.0.0.1 --count 18446744073709551615 --associations 2",
        "connect 127.0.0.1 --lifetime 1s --max-retransmissions 1",
        "connect 127.0.0.1 --max-retransmissions 1 --size 7B",
        "connect 127.0.0.1 --both-ways",
        "connect 127.0.0.1 --scheduler nobody",
        "serve --reset-back",
        "serve --dtls nowhere.pem --key nowhere.key --ca nowhere.pem",
    ] {
        let (_, err, status) = Program::start(&format!("sctp-echo {wrong}")).end();
        assert_eq!(status.code(), Some(2), "{wrong}: {err}");
    }
}

#[test]
fn a_message_that_is_due_in_ages_is_waited_for() {
    let (server, port) = serve("");
    let client = Program::start(&format!(
        "sctp-echo connect 127.0.0.1 --udp-encap {port} --json --count 2 --rate 1e-300/s \
         --time-limit 2s"
    ));
    let (out, err, status) = client.end();
    let figures: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    assert_eq!(status.code(), Some(1), "{err}");
    assert!(said(&figures, "the time is up"), "{figures:#}");
    assert!(count(&figures, "sent") <= 1);
    server.stop(Signal::SIGTERM);
}

/// Certificates and keys in a folder that goes with the test.
struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    fn new(test: &str, names: &[&str]) -> Self {
        let folder = format!("headway-echo-{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        for name in names {
            let key = KeyPair::generate().expect("a key");
            let params = CertificateParams::new(vec![format!("{name}.test")]).expect("a name");
            let certificate = params.self_signed(&key).expect("signed");
            let write = |end, text| std::fs::write(folder.join(format!("{name}.{end}")), text);
            write("pem", certificate.pem()).expect("written");
            write("key", key.serialize_pem()).expect("written");
        }
        Self { folder }
    }

    /// Flags that show one of them and believe in another.
    fn flags(&self, own: &str, other: &str) -> String {
        let path = |name: String| self.folder.join(name).display().to_string();
        format!(
            "--dtls {} --key {} --peer-cert {}",
            path(format!("{own}.pem")),
            path(format!("{own}.key")),
            path(format!("{other}.pem"))
        )
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn certificates_decide_over_dtls() {
    let certificates = Certificates::new("trust", &["server", "client", "stranger"]);
    let flags = |own: &str, other: &str| certificates.flags(own, other);
    let (server, port) = serve(&flags("server", "client"));
    let figures = succeed(port, &format!("{} --count 20", flags("client", "server")));
    // 20 bytes of IP, 8 of UDP and 37 of DTLS stand before SCTP.
    assert_eq!(count(&figures, "echoed"), 20);
    let stranger = format!(
        "{} --set init_max_retransmits=1",
        flags("stranger", "server")
    );
    let (_, code) = connect(port, &stranger);
    assert_eq!(code, Some(1));
    let served = server.stop(Signal::SIGTERM);
    assert_eq!(count(&served, "associations"), 1);
    assert!(count(&served["network"], "certificates_refused") >= 1);
}

/// RFC 9653: both sides must offer it, and UDP gives no reason to.
#[test]
fn checksums_are_left_out_over_dtls_unless_one_side_keeps_them() {
    let certificates = Certificates::new("checksums", &["server", "client"]);
    let kept = "--with-checksums";
    for (server_flag, client_flag) in [("", ""), (kept, ""), ("", kept)] {
        let flags = certificates.flags("server", "client");
        let (server, port) = serve(&format!("{flags} {server_flag}"));
        let flags = certificates.flags("client", "server");
        let figures = succeed(port, &format!("{flags} --count 20 {client_flag}"));
        let served = server.stop(Signal::SIGTERM);
        // 20 messages there and back, one after another.
        let least = if server_flag == client_flag { 20 } else { 0 };
        for network in [&figures["network"], &served["network"]] {
            for counter in ["zero_checksums_sent", "zero_checksums_received"] {
                let zeros = count(network, counter);
                assert!(zeros >= least, "{counter}: {network}");
                assert!(zeros == 0 || least > 0, "{counter}: {network}");
            }
        }
    }
    let (server, port) = serve("");
    let figures = succeed(port, "--count 20");
    server.stop(Signal::SIGTERM);
    assert_eq!(count(&figures["network"], "zero_checksums_sent"), 0);
    assert_eq!(count(&figures["network"], "zero_checksums_received"), 0);
}

/// Two hosts with two links between them, which go with the test.
struct Hosts {
    names: [String; 2],
}

impl Hosts {
    /// `None` where this user may not make namespaces.
    fn new(name: &str) -> Option<Self> {
        let id = std::process::id();
        let names = ["a", "b"].map(|end| format!("hw-{name}-{id}-{end}"));
        let hosts = Self { names };
        let [a, b] = &hosts.names;
        ip(&["netns", "add", a])?;
        let done = ip(&["netns", "add", b]);
        done.expect("a second namespace");
        for link in 1..=2 {
            let device = format!("link{link}");
            let peer = ["type", "veth", "peer", "name", &device, "netns", b];
            let add = [&["-n", a, "link", "add", &device][..], &peer].concat();
            ip(&add).expect("a pair of devices");
            for (host, end) in [(a, 1), (b, 2)] {
                let address = format!("10.77.{link}.{end}/24");
                ip(&["-n", host, "address", "add", &address, "dev", &device]).expect("an address");
                ip(&["-n", host, "link", "set", &device, "up"]).expect("a link");
            }
        }
        Some(hosts)
    }

    fn start(&self, host: usize, arguments: &str) -> std::process::Child {
        Command::new("ip")
            .args(["netns", "exec", &self.names[host]])
            .arg(env!("CARGO_BIN_EXE_headway-net"))
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts")
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&["netns", "del", name]);
        }
    }
}

fn ip(arguments: &[&str]) -> Option<Output> {
    let output = Command::new("ip").args(arguments).output().ok()?;
    output.status.success().then_some(output)
}

fn figures(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Raw IP between two network namespaces, with two addresses at each end. This needs
/// root; elsewhere the test says so and ends.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the link fails after a time, whatever happens"
)]
fn two_paths_over_ip_and_one_of_them_fails() {
    let Some(hosts) = Hosts::new("raw") else {
        eprintln!("not tested: this user may not make network namespaces");
        return;
    };
    let kernel = Path::new("/proc/net/sctp");
    assert!(
        !kernel.exists(),
        "the kernel's own SCTP would answer as well"
    );
    let quick = "--set rto_initial_ns=100000000 --set rto_min_ns=50000000 \
                 --set rto_max_ns=200000000 --set path_max_retransmits=2 \
                 --set heartbeat_interval_ns=100000000";
    let mut server = hosts.start(
        1,
        &format!(
            "sctp-echo serve --raw --listen 10.77.1.2,10.77.2.2 --associations 2 --json {quick}"
        ),
    );
    let mut ready = String::new();
    let said = server.stderr.as_mut().expect("piped");
    std::io::BufReader::new(said)
        .read_line(&mut ready)
        .expect("a line");
    assert!(ready.contains("over IP on 10.77.1.2, 10.77.2.2"), "{ready}");
    let client = |flags: &str| {
        hosts.start(
            0,
            &format!(
                "sctp-echo connect 10.77.1.2,10.77.2.2 --raw --bind 10.77.1.1,10.77.2.1 \
                 --time-limit 30s --json {quick} {flags}"
            ),
        )
    };
    // Both links work.
    let output = client("--size 1B..20kB --count 100 --streams 4").wait_with_output();
    let both = figures(&output.expect("output"));
    assert_eq!(both["paths"].as_array().map(Vec::len), Some(2), "{both:#}");
    assert_eq!(both["paths"][0]["local"], "10.77.1.1:0");
    assert_eq!(count(&both["paths"][1], "data_chunks_sent"), 0);

    // The first one fails in the middle.
    let running = client("--count 300 --rate 150/s");
    std::thread::sleep(Duration::from_millis(700));
    ip(&["-n", &hosts.names[0], "link", "set", "link1", "down"]).expect("root");
    let one = figures(&running.wait_with_output().expect("output"));
    assert_eq!(count(&one, "echoed"), 300);
    let [first, second] = [&one["paths"][0], &one["paths"][1]];
    assert_eq!(
        (&first["state"], &second["state"]),
        (&"inactive".into(), &"active".into())
    );
    assert_eq!(
        (&first["primary"], &second["carries_data"]),
        (&true.into(), &true.into())
    );
    assert!(count(first, "timeouts") >= 1, "{one:#}");
    assert!(count(first, "data_chunks_sent") > 30, "{one:#}");
    assert!(count(second, "data_chunks_sent") > 30, "{one:#}");
    let served = figures(&server.wait_with_output().expect("output"));
    assert_eq!(
        (count(&served, "shut_down"), count(&served, "messages")),
        (2, 400)
    );
}
