use headway_path::{DuplicateConfig, LossConfig, PathConfig, QueueConfig};
use headway_sansio::Duration;

use super::*;

fn settings(path: PathConfig) -> Settings {
    Settings { path, dot11: None }
}

fn with_delay(ms: u64) -> PathConfig {
    PathConfig::with_delay(Duration::from_millis(ms))
}

fn parcel(number: u32, direction: Direction) -> Parcel {
    Parcel {
        client: Address(1),
        direction,
        size_bytes: 128,
        payload: Bytes::from(number.to_be_bytes().repeat(25)),
    }
}

fn number(parcel: &Parcel) -> u32 {
    u32::from_be_bytes(parcel.payload[..4].try_into().unwrap())
}

/// Offers a parcel each `gap` and gives what comes out, with the times.
fn run(path: &mut Path, count: u32, gap: Duration, direction: Direction) -> Vec<(Time, u32)> {
    let mut out = Vec::new();
    let mut now = Time::ZERO;
    let mut offered = 0;
    loop {
        while let Some(parcel) = path.poll_output() {
            assert_eq!(parcel.direction, direction);
            out.push((now, number(&parcel)));
        }
        let input = (offered < count).then(|| Time::ZERO + gap * u64::from(offered));
        let next = match (input, path.poll_timeout()) {
            (Some(input), timeout) if timeout.is_none_or(|at| input < at) => {
                path.handle_input(input, parcel(offered, direction));
                offered += 1;
                input
            }
            (_, Some(timeout)) => {
                path.handle_timeout(timeout);
                assert!(path.poll_timeout().is_none_or(|at| at > timeout));
                timeout
            }
            _ => return out,
        };
        now = next;
    }
}

const GAP: Duration = Duration::from_millis(1);

#[test]
fn each_direction_has_its_own_delay() {
    let text = r#"{"one_way_delay_ns": 20000000, "reverse": {"one_way_delay_ns": 5000000}}"#;
    let config = settings(serde_json::from_str(text).unwrap());
    for (direction, ms) in [(Direction::Forward, 20), (Direction::Reverse, 5)] {
        let mut path = Path::new(&config, Seed::new(1), 1 << 20).unwrap();
        let out = run(&mut path, 3, GAP, direction);
        let expected: Vec<_> = (0..3)
            .map(|n| (Time::from_nanos((ms + n) * 1_000_000), n as u32))
            .collect();
        assert_eq!(out, expected);
        let counters = path.counters(direction);
        assert_eq!(
            (counters.link.packets_delivered, counters.lost_memory),
            (3, 0)
        );
    }
}

#[test]
fn no_delay_at_all_passes_at_once() {
    let mut path = Path::new(&settings(with_delay(0)), Seed::new(1), 1 << 20).unwrap();
    path.handle_input(Time::from_nanos(7), parcel(3, Direction::Forward));
    assert_eq!(path.poll_output().map(|p| number(&p)), Some(3));
    assert_eq!(path.poll_timeout(), None);
}

#[test]
fn losses_depend_on_seed_and_order_and_not_on_times() {
    let mut config = with_delay(3);
    config.loss = LossConfig::Bernoulli {
        rate: 0.2,
        correlation: 0.5,
        generator: headway_path::LossGenerator::Copula,
    };
    let arrived = |seed, gap, direction| -> Vec<u32> {
        let mut path = Path::new(&settings(config.clone()), Seed::new(seed), 1 << 20).unwrap();
        run(&mut path, 500, gap, direction)
            .into_iter()
            .map(|(_, number)| number)
            .collect()
    };
    let forward = arrived(7, GAP, Direction::Forward);
    assert!((300..=480).contains(&forward.len()), "{}", forward.len());
    assert_eq!(
        forward,
        arrived(7, Duration::from_micros(123), Direction::Forward)
    );
    assert_ne!(forward, arrived(8, GAP, Direction::Forward));
    assert_ne!(forward, arrived(7, GAP, Direction::Reverse));
    // The other direction's packets shift nothing.
    let mut path = Path::new(&settings(config.clone()), Seed::new(7), 1 << 20).unwrap();
    for number in 0..99 {
        path.handle_input(Time::ZERO, parcel(number, Direction::Reverse));
    }
    path.handle_timeout(Time::from_nanos(3_000_000));
    while path.poll_output().is_some() {}
    let mut shifted = Vec::new();
    for n in 0..500 {
        let now = Time::ZERO + Duration::from_secs(1) + GAP * u64::from(n);
        path.handle_timeout(now);
        path.handle_input(now, parcel(n, Direction::Forward));
        while let Some(parcel) = path.poll_output() {
            shifted.push(number(&parcel));
        }
    }
    path.handle_timeout(Time::ZERO + Duration::from_secs(9));
    shifted.extend(std::iter::from_fn(|| path.poll_output()).map(|parcel| number(&parcel)));
    assert_eq!(forward, shifted);
}

#[test]
fn losses_are_those_of_the_simulator() {
    // The simulator's links draw from these streams; see the wiring of a run.
    let mut config = with_delay(0);
    config.loss = LossConfig::Bernoulli {
        rate: 0.3,
        correlation: 0.0,
        generator: headway_path::LossGenerator::Markov,
    };
    let seed = Seed::new(0x0123_4567_89ab_cdef);
    let mut path = Path::new(&settings(config.clone()), seed, 1 << 20).unwrap();
    let mut link = Link::new(&config.forward(), seed.derive("path.forward"));
    for n in 0..1000 {
        let now = Time::from_nanos(n * 1000);
        path.handle_input(now, parcel(n as u32, Direction::Forward));
        let delivered = matches!(link.offer(now, 128).verdict, Verdict::Delivered { .. });
        assert_eq!(path.poll_output().is_some(), delivered, "packet {n}");
    }
}

#[test]
fn duplicates_come_right_behind_and_are_counted() {
    let mut config = with_delay(1);
    config.duplicate = DuplicateConfig { probability: 1.0 };
    let mut path = Path::new(&settings(config), Seed::new(1), 1 << 20).unwrap();
    let out = run(&mut path, 4, GAP, Direction::Forward);
    let numbers: Vec<u32> = out.iter().map(|(_, number)| *number).collect();
    assert_eq!(numbers, [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(path.counters(Direction::Forward).link.packets_duplicated, 4);
    assert_eq!(path.held_bytes, 0);
}

#[test]
fn a_queue_in_front_of_a_rate_refuses() {
    let mut config = with_delay(0);
    // 128 bytes take 1.024 ms at 1 Mb/s.
    config.rate_bps = Some(1_000_000);
    config.queue = QueueConfig::DropTailPackets { limit_pkts: 5 };
    let mut path = Path::new(&settings(config), Seed::new(1), 1 << 20).unwrap();
    let out = run(&mut path, 20, Duration::from_nanos(1), Direction::Forward);
    let expected: Vec<_> = (0..5)
        .map(|n| (Time::from_nanos(1_024_000 * (u64::from(n) + 1)), n))
        .collect();
    assert_eq!(out, expected);
    assert_eq!(
        path.counters(Direction::Forward).link.packets_lost_queue,
        15
    );
}

#[test]
fn memory_is_bounded_and_given_back() {
    let mut path = Path::new(&settings(with_delay(1_000)), Seed::new(1), 10_000).unwrap();
    let each = cost(&parcel(0, Direction::Forward));
    let room = 10_000 / each;
    for round in 0..2 {
        let now = Time::ZERO + Duration::from_secs(2 * round);
        for n in 0..100 {
            path.handle_input(now, parcel(n, Direction::Forward));
        }
        path.handle_timeout(now + Duration::from_secs(1));
        let out = std::iter::from_fn(|| path.poll_output()).count() as u64;
        assert_eq!(out, room);
        assert_eq!(path.held_bytes, 0);
    }
    assert_eq!(
        path.counters(Direction::Forward).lost_memory,
        2 * (100 - room)
    );
}

#[test]
fn lateness_is_what_the_driver_adds() {
    let mut path = Path::new(&settings(with_delay(1)), Seed::new(1), 1 << 20).unwrap();
    path.handle_input(Time::ZERO, parcel(0, Direction::Forward));
    path.handle_input(Time::ZERO, parcel(1, Direction::Forward));
    path.handle_timeout(Time::from_nanos(1_500_000));
    let report = path.counters(Direction::Forward).lateness.report();
    assert_eq!((report.mean_s, report.max_s), (0.0005, 0.0005));
    assert_eq!((report.over_100_us, report.over_1_ms), (1.0, 0.0));
}

fn cell(snr_db: f64) -> Settings {
    let dot11 = serde_json::json!({
        "cell": {"stations": [{"retry_limit": 2}, {"retry_limit": 2}], "snr_db": snr_db}
    });
    Settings {
        path: with_delay(10),
        dot11: Some(serde_json::from_value(dot11).unwrap()),
    }
}

#[test]
fn a_cell_adds_its_air_time_in_both_directions() {
    // Preamble and header 192 us, (128 + 36) * 8 bits at 1 Mb/s; the wire takes
    // 10 ms. A cell begins with a DIFS of 50 us; later the medium is known to be
    // idle and who has something to send does so at once.
    let air = 192_000 + 1_312_000;
    for (direction, wait) in [(Direction::Forward, 50_000), (Direction::Reverse, 0)] {
        let mut path = Path::new(&cell(40.0), Seed::new(1), 1 << 20).unwrap();
        let out = run(&mut path, 1, GAP, direction);
        assert_eq!(out.len(), 1);
        let took = out[0].0.as_nanos() - 10_000_000;
        assert_eq!(took, wait + air, "{direction:?}");
        assert_eq!(path.held_bytes, 0);
        let stations = path.stations().unwrap();
        let sent: Vec<u64> = stations.iter().map(|station| station.delivered).collect();
        assert_eq!(
            sent,
            if direction == Direction::Forward {
                [1, 0]
            } else {
                [0, 1]
            }
        );
    }
}

#[test]
fn a_cell_out_of_reach_loses_everything_after_its_tries() {
    let mut path = Path::new(&cell(-40.0), Seed::new(1), 1 << 20).unwrap();
    let out = run(
        &mut path,
        10,
        Duration::from_millis(100),
        Direction::Forward,
    );
    assert!(out.is_empty());
    let stations = path.stations().unwrap();
    assert_eq!((stations[0].dropped_retry, stations[0].tries), (10, 30));
    assert_eq!(path.held_bytes, 0);
}
