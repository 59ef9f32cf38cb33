//! The relay as users run it: the binary, real sockets, the real clock.

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use common::{Program, relay, socket};
use nix::sys::signal::Signal;
use serde_json::Value;

fn address(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().unwrap()
}

/// Receives numbers until none comes for `silence`.
fn numbers(socket: &UdpSocket, silence: Duration) -> Vec<u32> {
    socket.set_read_timeout(Some(silence)).unwrap();
    let mut buffer = [0; 64];
    let mut numbers = Vec::new();
    while let Ok((length, _)) = socket.recv_from(&mut buffer) {
        assert_eq!(length, 4);
        numbers.push(u32::from_be_bytes(buffer[..4].try_into().unwrap()));
    }
    numbers
}

/// Sends the numbers 0 to `count`, a few at a time so that no buffer overflows,
/// and gives what arrives.
fn pass(from: &UdpSocket, through: SocketAddr, target: &UdpSocket, count: u32) -> Vec<u32> {
    let from = from.try_clone().unwrap();
    let sender = thread::spawn(move || {
        let pause = socket();
        pause
            .set_read_timeout(Some(Duration::from_millis(1)))
            .unwrap();
        for number in 0..count {
            from.send_to(&number.to_be_bytes(), through).unwrap();
            if number % 20 == 19 {
                let _ = pause.recv(&mut [0; 1]);
            }
        }
    });
    let arrived = numbers(target, Duration::from_millis(500));
    sender.join().unwrap();
    arrived
}

fn count(report: &Value, direction: &str, key: &str) -> u64 {
    report[direction][key]
        .as_u64()
        .unwrap_or_else(|| panic!("{direction}.{key} in {report}"))
}

#[test]
fn delay_is_exact_both_ways() {
    let (target, client) = (socket(), socket());
    let (program, listen) = relay(address(&target), "--delay 20ms --reverse-delay 5ms");
    let mut late: Vec<[f64; 2]> = Vec::new();
    let mut buffer = [0; 64];
    for _ in 0..100 {
        let sent = Instant::now();
        client.send_to(b"there", listen).unwrap();
        let (_, from) = target.recv_from(&mut buffer).unwrap();
        let there = sent.elapsed().as_secs_f64() - 0.020;
        let sent = Instant::now();
        target.send_to(b"back", from).unwrap();
        assert_eq!(client.recv_from(&mut buffer).unwrap(), (4, listen));
        let back = sent.elapsed().as_secs_f64() - 0.005;
        // Never early, by the clock that both processes share.
        assert!(there >= 0.0 && back >= 0.0, "{there} {back}");
        late.push([there, back]);
    }
    let report = program.stop(Signal::SIGINT);
    for direction in [0, 1] {
        // From this process through the relay and back into this process: two
        // wake-ups. Their lower quartile is free of what other programs do.
        let mut late: Vec<f64> = late.iter().map(|both| both[direction]).collect();
        late.sort_unstable_by(f64::total_cmp);
        assert!(late[25] < 500e-6, "{late:?}");
    }
    for direction in ["forward", "reverse"] {
        assert_eq!(count(&report, direction, "packets_delivered"), 100);
        let lateness = &report[direction]["lateness"];
        // At least a quarter of the packets left the relay within 100 us.
        assert!(
            lateness["over_100_us"].as_f64().unwrap() <= 0.75,
            "{lateness}"
        );
    }
}

#[test]
fn loss_keeps_its_rate_and_follows_the_seed() {
    let target = socket();
    let run = |seed: u32| {
        let client = socket();
        let flags = format!("--loss 5% --reverse-loss 0 --seed {seed}");
        let (program, listen) = relay(address(&target), &flags);
        let arrived = pass(&client, listen, &target, 4_000);
        let report = program.stop(Signal::SIGTERM);
        assert_eq!(report["outside"]["overflowed"], 0);
        assert_eq!(count(&report, "forward", "packets_offered"), 4_000);
        assert_eq!(
            count(&report, "forward", "packets_delivered"),
            arrived.len() as u64
        );
        assert_eq!(report["seed"], seed);
        arrived
    };
    let arrived = run(1);
    // Four standard deviations of a binomial: sqrt(4000 * 0.05 * 0.95) = 13.8.
    let lost = 4_000 - arrived.len();
    assert!((145..=255).contains(&lost), "{lost}");
    // Nothing overtakes.
    assert!(arrived.is_sorted());
    assert_eq!(arrived, run(1));
    assert_ne!(arrived, run(2));
}

#[test]
fn duplicates_and_reordering_happen_as_often_as_asked() {
    let (target, client) = (socket(), socket());
    let (program, listen) = relay(
        address(&target),
        "--duplicate 10% --reorder 5%:30ms --delay 1ms",
    );
    let arrived = pass(&client, listen, &target, 2_000);
    let report = program.stop(Signal::SIGTERM);
    let copies = arrived.len() - 2_000;
    // Four standard deviations: 54 and 39.
    assert!((146..=254).contains(&copies), "{copies}");
    assert_eq!(
        copies as u64,
        count(&report, "forward", "packets_duplicated")
    );
    let held_back = count(&report, "forward", "packets_held_back");
    assert!((61..=139).contains(&held_back), "{held_back}");
    // Thirty milliseconds are hundreds of packets here, so all but the last are overtaken.
    let late = arrived.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!(
        late > 0 && late as u64 <= 2 * held_back,
        "{late} of {held_back}"
    );
    let mut all = arrived;
    all.sort_unstable();
    all.dedup();
    assert_eq!(all, (0..2_000).collect::<Vec<_>>());
}

#[test]
fn a_rate_spaces_packets_and_a_queue_refuses_them() {
    let (target, client) = (socket(), socket());
    // 4 + 28 bytes take 10 ms at 25.6 kb/s.
    let (program, listen) = relay(address(&target), "--rate 25.6kb/s --queue drop-tail:10");
    let start = Instant::now();
    for number in 0..30_u32 {
        client.send_to(&number.to_be_bytes(), listen).unwrap();
    }
    let arrived = numbers(&target, Duration::from_millis(300));
    let took = start.elapsed() - Duration::from_millis(300);
    let report = program.stop(Signal::SIGTERM);
    // At least ten packets and those that left while the others came.
    assert!(arrived.len() >= 10 && arrived.len() < 30, "{arrived:?}");
    assert!(took >= Duration::from_millis(10) * arrived.len() as u32);
    let refused = count(&report, "forward", "packets_lost_queue");
    assert_eq!(refused as usize, 30 - arrived.len());
    assert_eq!(count(&report, "forward", "queue_max_pkts"), 10);
}

#[test]
fn clients_do_not_mix() {
    let target = socket();
    let (program, listen) = relay(address(&target), "--delay 2ms --max-clients 20");
    let echo_target = target.try_clone().unwrap();
    let echo = thread::spawn(move || {
        let mut buffer = [0; 64];
        let mut peers = std::collections::BTreeSet::new();
        while let Ok((length, from)) = echo_target.recv_from(&mut buffer) {
            if buffer[..length] == *b"end" {
                break;
            }
            peers.insert(from);
            echo_target.send_to(&buffer[..length], from).unwrap();
        }
        peers.len()
    });
    let clients: Vec<UdpSocket> = (0..20).map(|_| socket()).collect();
    for round in 0..5 {
        for (number, client) in clients.iter().enumerate() {
            client.send_to(&[round, number as u8], listen).unwrap();
        }
        for (number, client) in clients.iter().enumerate() {
            let mut buffer = [0; 64];
            assert_eq!(client.recv_from(&mut buffer).unwrap(), (2, listen));
            assert_eq!(buffer[..2], [round, number as u8]);
        }
    }
    // One client more finds no place while the others are not idle.
    socket().send_to(b"too many", listen).unwrap();
    clients[0].send_to(b"end", listen).unwrap();
    assert_eq!(echo.join().unwrap(), 20);
    let report = program.stop(Signal::SIGTERM);
    assert_eq!(report["clients"], 20);
    assert_eq!(report["outside"]["refused"], 1);
}

#[test]
fn a_silent_client_makes_room() {
    let target = socket();
    let (program, listen) = relay(address(&target), "--max-clients 1 --idle 0");
    let mut buffer = [0; 64];
    for number in 0..3_u8 {
        let client = socket();
        client.send_to(&[number], listen).unwrap();
        let (length, from) = target.recv_from(&mut buffer).unwrap();
        assert_eq!(buffer[..length], [number]);
        target.send_to(b"yes", from).unwrap();
        assert_eq!(client.recv(&mut buffer).unwrap(), 3);
    }
    let report = program.stop(Signal::SIGTERM);
    assert_eq!(
        (&report["clients"], &report["clients_forgotten"]),
        (&3.into(), &2.into())
    );
}

#[test]
fn a_cell_stands_before_the_path() {
    let folder = std::env::temp_dir().join(format!("headway-cell-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("cell.toml");
    // The client hears the access point well and is heard badly: without retries
    // a good part of what it sends is lost.
    let text = "one_way_delay_ns = 0\n[dot11.cell]\n\
         stations = [{ retry_limit = 0, rate_bps = 11000000 }, {}]\n\
         links = [{ from = 0, to = 1, snr = { kind = \"constant\", snr_db = 6.0 } }]\n\
         errors = { kind = \"table\", points = [{ snr_db = 6.0, probability = 0.5 }] }\n\
         snr_db = 60.0\ncontrol_errors = false\n";
    std::fs::write(&file, text).unwrap();
    let (target, client) = (socket(), socket());
    let (program, listen) = relay(address(&target), &format!("--path {}", file.display()));
    let pause = socket();
    pause
        .set_read_timeout(Some(Duration::from_millis(2)))
        .unwrap();
    for number in 0..400_u32 {
        client.send_to(&number.to_be_bytes(), listen).unwrap();
        let _ = pause.recv(&mut [0; 1]);
    }
    let arrived = numbers(&target, Duration::from_millis(300));
    let report = program.stop(Signal::SIGTERM);
    std::fs::remove_dir_all(&folder).unwrap();
    // Four standard deviations of a fair coin: 40.
    assert!((160..=240).contains(&arrived.len()), "{}", arrived.len());
    assert_eq!(report["stations"][0]["offered"], 400);
    assert_eq!(report["stations"][0]["delivered"], arrived.len());
    assert_eq!(report["stations"][0]["dropped_retry"], 400 - arrived.len());
}

#[test]
fn ends_by_itself_and_prints_a_table() {
    let start = Instant::now();
    let program =
        Program::start("relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --duration 300ms --loss 1%");
    let (out, err, status) = program.end();
    assert!(status.success() && start.elapsed() < Duration::from_secs(20));
    assert!(err.starts_with("relaying 127.0.0.1:"), "{err}");
    for words in [
        "forward",
        "reverse",
        "lost on the wire",
        "-> 127.0.0.1:9, seed 1, 0.3 s",
    ] {
        assert!(out.contains(words), "{words} in {out}");
    }
}

#[test]
fn bad_input_is_refused_with_exit_code_2() {
    for (arguments, said) in [
        ("relay", "--listen"),
        (
            "relay --listen 127.0.0.1:0 --to nowhere",
            "invalid value 'nowhere'",
        ),
        (
            "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --loss 7",
            "above 1",
        ),
        (
            "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --queue drop-tail:5",
            "needs rate_bps",
        ),
        ("relay --listen 127.0.0.1:0 --to [::1]:9", "same IP version"),
        (
            "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --path missing.toml",
            "missing.toml: ",
        ),
        ("fly", "unrecognized subcommand"),
    ] {
        let (out, err, status) = Program::start(arguments).end();
        assert_eq!(status.code(), Some(2), "{arguments}: {err}");
        assert!(err.contains(said) && out.is_empty(), "{arguments}: {err}");
    }
    let taken = socket();
    let arguments = format!("relay --listen {} --to 127.0.0.1:9", address(&taken));
    let (_, err, status) = Program::start(&arguments).end();
    assert_eq!(status.code(), Some(1));
    assert!(err.contains("Address already in use"), "{err}");
    let (out, _, status) = Program::start("relay --help").end();
    assert!(status.success() && out.contains("Examples:") && out.contains("--loss 5%"));
}
