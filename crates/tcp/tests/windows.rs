//! How windows go: tables of integers that show what a change does, and what
//! becomes a segment.

mod pair;

use headway_sansio::{Duration, Payload, Time};
use headway_tcp::{Config, Nagle, Overrides, Profile, Validation, WindowWhenLimited};
use pair::{Fate, Pair, Way};

const ONE_WAY: Duration = Duration::from_millis(50);

/// Congestion window in segments every 200 ms of a bulk transfer over 10 Mb/s
/// with three losses, one of them in slow start.
fn bulk(profile: Profile) -> Vec<u64> {
    let mut config = profile.config();
    config.send_buffer_bytes = 1 << 40;
    config.receive_buffer_bytes = 1 << 20;
    let mut pair = Pair::new(config.clone(), config, ONE_WAY)
        .lose(&[30, 300, 310])
        .connected();
    pair.rate_bps = Some(10_000_000);
    pair.keep = false;
    pair.write(Payload::Sized(1 << 31));
    (0..16)
        .map(|_| {
            pair.run_for(Duration::from_millis(200));
            pair.client.cwnd_segments()
        })
        .collect()
}

#[test]
fn windows_of_a_bulk_transfer_with_three_losses() {
    let tables: Vec<(&str, Vec<u64>)> = Profile::ALL
        .into_iter()
        .map(|profile| (profile.name(), bulk(profile)))
        .collect();
    let expected: Vec<(&str, Vec<u64>)> = BULK
        .iter()
        .map(|(name, windows)| (*name, windows.to_vec()))
        .collect();
    assert_eq!(tables, expected);
}

/// Slow start until segment 30 is lost, then avoidance until 300 and 310 are.
/// BIC stays just below its last maximum; FreeBSD starts anew from one segment;
/// Linux 6 begins with ten.
#[rustfmt::skip]
const BULK: [(&str, [u64; 16]); 6] = [
    ("rfc", [4, 9, 18, 9, 11, 13, 15, 17, 19, 21, 23, 12, 12, 14, 16, 18]),
    ("model-seed4", [8, 32, 19, 21, 23, 25, 27, 15, 16, 18, 20, 22, 24, 26, 28, 30]),
    ("linux-2.6.11", [6, 22, 15, 22, 22, 22, 22, 22, 15, 15, 19, 19, 19, 19, 19, 20]),
    ("linux-2.6.17", [6, 22, 15, 22, 22, 22, 23, 23, 15, 15, 19, 19, 20, 20, 20, 21]),
    ("freebsd-6.1", [5, 13, 5, 12, 13, 15, 16, 17, 18, 20, 21, 10, 12, 13, 14, 15]),
    ("linux-6", [20, 28, 30, 32, 34, 34, 24, 26, 27, 28, 28, 29, 30, 31, 32, 33]),
];

/// A voice flow of 174 bytes every 20 ms, two losses; windows every second.
fn voice(profile: Profile, overrides: &Overrides) -> Vec<u64> {
    let mut config = Config::new(profile, overrides);
    config.nagle = Nagle::Off;
    let mut pair = Pair::new(config.clone(), config, ONE_WAY)
        .lose(&[200, 400])
        .connected();
    let start = pair.now;
    (1..=600_u64)
        .filter_map(|i| {
            pair.write(Payload::Sized(174));
            pair.run_until(start + Duration::from_millis(20) * i);
            (i % 50 == 0).then(|| pair.client.cwnd_segments())
        })
        .collect()
}

#[test]
fn windows_of_a_voice_flow() {
    let none = Overrides::default();
    let keep = |validation, window_when_limited| Overrides {
        validation: Some(validation),
        window_when_limited: Some(window_when_limited),
        ..Overrides::default()
    };
    let tables = [
        voice(Profile::ModelSeed4, &none),
        voice(Profile::Linux2617, &none),
        voice(
            Profile::Linux2617,
            &keep(Validation::Off, WindowWhenLimited::Keep),
        ),
        voice(
            Profile::Linux2611,
            &keep(Validation::Off, WindowWhenLimited::Grow),
        ),
        voice(Profile::Freebsd61, &none),
        voice(Profile::Linux6, &none),
    ];
    assert_eq!(tables.as_slice(), VOICE.map(|t| t.to_vec()).as_slice());
}

/// Five packets a round trip. A window that is kept stays just above them; one
/// that grows with every ACK does so until a loss, at which Linux cuts it to
/// what is in flight and three more, and FreeBSD halves it.
#[rustfmt::skip]
const VOICE: [[u64; 12]; 6] = [
    [7, 7, 7, 7, 6, 6, 6, 6, 6, 6, 6, 6],
    [6, 5, 5, 6, 4, 5, 5, 5, 4, 5, 5, 5],
    [6, 6, 6, 6, 4, 5, 6, 6, 4, 5, 6, 6],
    [48, 98, 148, 198, 9, 14, 22, 35, 9, 13, 21, 34],
    [26, 51, 76, 101, 20, 23, 24, 25, 14, 15, 17, 18],
    [10, 10, 10, 10, 7, 7, 7, 7, 6, 6, 6, 6],
];

/// Lengths of the segments that carry ten writes of 174 bytes, made at once,
/// with an initial window of `window` segments.
fn lengths(nagle: Nagle, coalesce: bool, window: u32) -> Vec<u32> {
    let config = Config::new(
        Profile::ModelSeed4,
        &Overrides {
            nagle: Some(nagle),
            coalesce: Some(coalesce),
            initial_window_segments: Some(window),
            ..Overrides::default()
        },
    );
    let mut pair = Pair::new(config.clone(), config, ONE_WAY).connected();
    for _ in 0..10 {
        pair.write(Payload::Sized(174));
    }
    pair.run_for(Duration::from_secs(2));
    assert_eq!(pair.received(), 1740);
    pair.sent.iter().map(|s| s.2).collect()
}

#[test]
fn one_write_is_one_segment_unless_it_waits() {
    assert_eq!(lengths(Nagle::Off, true, 10), [174; 10]);
    // Four go at once; of the rest what waits goes together.
    assert_eq!(lengths(Nagle::Off, true, 4), [174, 174, 174, 174, 1044]);
    assert_eq!(lengths(Nagle::Off, false, 4), [174; 10]);
    // Nagle: the first goes, all others wait for its ACK.
    assert_eq!(lengths(Nagle::On, true, 10), [174, 1448, 118]);
    assert_eq!(lengths(Nagle::Minshall, true, 10), [174, 1448, 118]);
}

#[test]
fn minshall_lets_the_short_end_of_a_long_write_go() {
    for (nagle, expected) in [(Nagle::On, 2), (Nagle::Minshall, 3)] {
        let config = Config::new(
            Profile::ModelSeed4,
            &Overrides {
                nagle: Some(nagle),
                ..Overrides::default()
            },
        );
        let mut pair = Pair::new(config.clone(), config, ONE_WAY).connected();
        pair.write(Payload::Sized(2 * 1448 + 100));
        assert_eq!(pair.sent.len(), expected, "{nagle:?}");
    }
}

#[test]
fn pushes_mark_the_ends_of_writes() {
    let config = Profile::ModelSeed4.config();
    let mut seen = Vec::new();
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut pair = Pair::new(config.clone(), config, ONE_WAY)
        .with_fate(move |way, segment| {
            if way == Way::Forth && !segment.payload.is_empty() {
                let end = segment.offset + segment.payload.len() as u64;
                let pushed = segment.flags.has(headway_tcp::Flags::PSH);
                sender.send((end, pushed)).unwrap();
            }
            Fate::Deliver
        })
        .connected();
    pair.write(Payload::Sized(3000));
    pair.run_for(Duration::from_secs(1));
    while let Ok(segment) = receiver.try_recv() {
        seen.push(segment);
    }
    assert_eq!(seen, [(1448, false), (2896, false), (3000, true)]);
}

#[test]
fn what_lies_beyond_a_gap_can_be_seen() {
    let config = Profile::ModelSeed4.config();
    let mut pair = Pair::new(config.clone(), config, ONE_WAY)
        .lose(&[1])
        .connected();
    for _ in 0..4 {
        pair.write(Payload::from(vec![7; 100]));
    }
    pair.run_for(ONE_WAY + Duration::from_millis(1));
    assert_eq!(pair.server.received_offset(), 100);
    let ranges: Vec<_> = pair.server.out_of_order_ranges().collect();
    assert_eq!(ranges, vec![200..400]);
    let piece = pair.server.out_of_order_peek(300..400);
    assert_eq!(piece, Some(Payload::from(vec![7; 100])));
    assert_eq!(pair.server.out_of_order_peek(100..200), None);
    assert!(pair.server_events.contains(&headway_tcp::Event::OutOfOrder));
    pair.run_until(Time::ZERO + Duration::from_secs(5));
    assert_eq!(pair.received(), 400);
}

#[test]
fn the_window_after_an_idle_time() {
    let after = |profile: Profile| {
        let mut config = profile.config();
        config.send_buffer_bytes = 1 << 30;
        let mut pair = Pair::new(config.clone(), config, ONE_WAY).connected();
        pair.write(Payload::Sized(200_000));
        pair.run_for(Duration::from_secs(5));
        let before = pair.client.cwnd_segments();
        pair.run_for(Duration::from_secs(10));
        pair.write(Payload::Sized(1));
        (before > 15, pair.client.cwnd_segments())
    };
    assert_eq!(after(Profile::Rfc), (true, 3));
    assert_eq!(after(Profile::Freebsd61), (true, 1));
    assert_eq!(after(Profile::Linux2611), (true, 3));
    assert_eq!(after(Profile::Linux6), (true, 10));
    assert!(after(Profile::ModelSeed4).1 > 15, "kept");
}
