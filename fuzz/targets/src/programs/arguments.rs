//! The words of users: arguments, quantities, settings of a relay.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use clap::Parser;
use headway_programs::relay::{Direction, Parcel, Path, Settings};
use headway_programs::{Cli, Plan, units};
use headway_sansio::{Address, Duration, Machine, Payload, Seed, Time};
use headway_sctp::{Association, Config, Event, Message, Packet};

/// What the memory of a relay is limited to where its settings come from a file.
const MEMORY_BYTES: u64 = 1 << 16;
/// The steps that are watched: a cell with traffic of its own never ends.
const MOST_STEPS: usize = 400;
/// Who asks for a delay or a timer of years gets it, and nothing more is to be seen: a cell, for
/// one, counts time up to 2^62 ns, which are 146 years.
const YEARS: Time = Time::from_nanos(100 * 365 * 86_400 * 1_000_000_000);
/// The IP header and what UDP puts before SCTP.
const HEADER_BYTES: u32 = 28;

/// Reads `data` as what a user wrote. By its first byte: `j` settings of a relay as JSON, `t`
/// as TOML, `u` a quantity; otherwise arguments of `headway-net`, each on a line of its own.
/// What is refused is refused with a reason; what is accepted works: a relay's path carries
/// packets, an SCTP endpoint's settings a message.
///
/// # Panics
/// Where that does not hold.
pub fn program_arguments(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    match data.first() {
        Some(b'j') => settings(Settings::from_json(&text[1..])),
        Some(b't') => settings(Settings::from_toml(&text[1..])),
        Some(b'u') => quantities(&text[1..]),
        _ => arguments(text),
    }
}

/// Why something was refused.
fn reason(error: impl std::fmt::Display) {
    assert!(!error.to_string().is_empty(), "no reason");
}

fn settings(settings: Result<Settings, String>) {
    let path = settings.map(|settings| Path::new(&settings, Seed::new(1), MEMORY_BYTES));
    match path {
        Err(error) => reason(error),
        Ok(Err(error)) => reason(error),
        Ok(Ok(path)) => carry(path),
    }
}

fn arguments(text: &str) {
    // The fuzzer has no business with files.
    let names_a_file = |word: &str| word.starts_with("--path") || word.starts_with("--dtls");
    if text.lines().any(names_a_file) {
        return;
    }
    let words = ["headway-net"].into_iter().chain(text.lines());
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return reason(error),
    };
    match cli.plan() {
        Err(error) => reason(error),
        Ok(Plan::Relay(path)) => carry(*path),
        Ok(Plan::Sip) => {}
        Ok(Plan::SctpEcho(config)) => echo(config.sctp),
    }
}

/// Packets come out as they went in, each once or twice, and none stays behind.
fn carry(mut path: Path) {
    let parcel = |n: u8| Parcel {
        client: Address(u32::from(n)),
        direction: [Direction::Forward, Direction::Reverse][usize::from(n & 1)],
        size_bytes: 28 + 100 * u32::from(n),
        payload: Bytes::from(vec![n; 100 * usize::from(n)]),
    };
    let mut now = Time::ZERO;
    let mut out = [0; 8];
    for n in 0..out.len() {
        path.handle_input(now, parcel(n as u8));
        now += Duration::from_millis(1);
        path.handle_timeout(now);
    }
    for _ in 0..MOST_STEPS {
        while let Some(came) = path.poll_output() {
            let n = came.client.0 as usize;
            assert_eq!(came, parcel(n as u8));
            out[n] += 1;
        }
        let Some(at) = path.poll_timeout() else {
            assert_eq!(path.held_bytes(), 0);
            break;
        };
        assert!(at > now, "{at:?} is not after {now:?}");
        if at > YEARS {
            break;
        }
        now = at;
        path.handle_timeout(now);
    }
    assert!(out.iter().all(|&times| times <= 2), "{out:?}");
}

/// A message goes from one association with these settings to another.
fn echo(mut config: Config) {
    // As `headway_net::sctp` sets them.
    config.ip_header_bytes = HEADER_BYTES;
    config.partial_delivery = false;
    let (config, seed) = (Arc::new(config), Seed::new(1));
    let (a, b) = (seed.stream("a"), seed.stream("b"));
    let mut now = Time::ZERO;
    let mut sides = [
        Association::connect(now, Arc::clone(&config), a, 5000, 5001),
        Association::listen(config, b, 5001),
    ];
    let payload = Bytes::from_static(b"hello");
    let mut sent = false;
    for _ in 0..MOST_STEPS {
        let mut wires: [VecDeque<Packet>; 2] = Default::default();
        for (side, wire) in sides.iter_mut().zip(&mut wires) {
            wire.extend(std::iter::from_fn(|| side.poll_transmit(now)));
            while let Some(event) = side.poll_event() {
                match event {
                    Event::Connected { .. } if !sent => sent = true,
                    Event::Message(message) => {
                        assert_eq!(message.payload, Payload::Bytes(payload));
                        return;
                    }
                    _ => continue,
                }
                let message = Message {
                    payload: Payload::Bytes(payload.clone()),
                    ..Message::default()
                };
                side.send(now, message).expect("a short message is taken");
            }
        }
        let idle = wires.iter().all(VecDeque::is_empty);
        for (from, wire) in wires.into_iter().enumerate() {
            for packet in wire {
                sides[1 - from].handle_input(now, packet);
            }
        }
        if idle {
            let next = sides.iter().filter_map(Association::poll_timeout).min();
            now = next.expect("something goes on");
            if now > YEARS {
                return;
            }
            for side in &mut sides {
                side.handle_timeout(now);
            }
        }
    }
    panic!("the message did not arrive");
}

/// Units of time in nanoseconds, and of sizes in bytes.
const NANOS: [(&str, f64); 7] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 6e10),
    ("h", 3.6e12),
];
const BYTES: [(&str, f64); 6] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
];

/// Quantities keep their bounds and mean what they say.
fn quantities(text: &str) {
    match units::duration(text) {
        Ok(value) => {
            let nanos = value.as_nanos();
            assert_eq!(units::duration(&format!("{nanos}ns")), Ok(value));
            close(text, &NANOS, nanos);
        }
        Err(error) => reason(error),
    }
    match units::size(text) {
        Ok(bytes) => {
            assert_eq!(units::size(&format!("{bytes} B")), Ok(bytes));
            close(text, &BYTES, bytes);
        }
        Err(error) => reason(error),
    }
    match units::bit_rate(text) {
        Ok(rate) => {
            assert!(rate > 0);
            assert_eq!(units::bit_rate(&format!("{rate}b/s")), Ok(rate));
        }
        Err(error) => reason(error),
    }
    match units::fraction(text) {
        Ok(share) => {
            assert!((0.0..=1.0).contains(&share), "{share}");
            assert_eq!(units::fraction(&format!("{share}")), Ok(share));
        }
        Err(error) => reason(error),
    }
    match units::event_rate(text) {
        Ok(rate) => assert!(rate > 0.0 && rate <= 1e6, "{rate}"),
        Err(error) => reason(error),
    }
    match units::seed(text) {
        Ok(seed) => assert_eq!(units::seed(&format!("{seed:#x}")), Ok(seed)),
        Err(error) => reason(error),
    }
}

/// The number in front of the unit, read as a binary fraction, says nearly the same.
fn close(text: &str, scales: &[(&str, f64)], value: u64) {
    let text = text.trim();
    let read = scales.iter().find_map(|(unit, scale)| {
        let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some(number * scale)
    });
    match read {
        Some(read) => {
            let error = (read - value as f64).abs();
            assert!(error <= 1e-12 * read, "{text:?}: {read} is {value}");
        }
        // Zero needs no unit.
        None => assert_eq!(value, 0, "{text:?}"),
    }
}
