//! Times the 802.11b cell: nanoseconds of one core for each frame try.
//!
//! ```sh
//! cargo run --release -p headway-path --example dot11_timing
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it measures how long the machine takes, so it needs a real clock"
)]

use std::time::Instant;

use headway_path::dot11::{
    Cell, CellConfig, ErrorConfig, Input, JitterConfig, JitterPer, Snr, SnrConfig, SourceConfig,
    Station, StationConfig,
};
use headway_sansio::{Address, Datagram, Duration, Machine, Seed, Time};

fn main() {
    println!(
        "{:<34} {:>10} {:>10} {:>9} {:>9}",
        "case", "tries", "wakes", "ns/try", "ns/wake"
    );
    for n in [1, 2, 10, 50] {
        report(&format!("saturated, {n} senders"), &saturated(n), None);
    }
    report("SIP pair, 6 dB", &campaign(false), Some(1_500));
    report("SIP pair, 6 dB, CBR beside", &campaign(true), Some(1_500));
}

fn saturated(n: u16) -> CellConfig {
    let sender = StationConfig {
        source: Some(SourceConfig::Saturated {
            to: n,
            size_bytes: 1028,
        }),
        ..StationConfig::default()
    };
    let mut stations = vec![sender; usize::from(n)];
    stations.push(StationConfig::default());
    CellConfig {
        stations,
        ..CellConfig::default()
    }
}

/// Client, server and a third station, as in a laboratory at the cell's edge:
/// downlink weak with jitter for each try, everything else strong.
fn campaign(loaded: bool) -> CellConfig {
    let mut config = CellConfig {
        stations: vec![StationConfig::default(); 3],
        errors: ErrorConfig::Textbook { offset_db: 8.5 },
        jitter: JitterConfig {
            sigma_db: 1.7,
            per: JitterPer::Try,
        },
        snr_db: Some(32.0),
        links: vec![SnrConfig {
            from: 1,
            to: 0,
            snr: Snr::Constant { snr_db: 6.0 },
        }],
        ..CellConfig::default()
    };
    if loaded {
        config.stations[2].source = Some(SourceConfig::Cbr {
            to: 1,
            size_bytes: 1028,
            interval_ns: 8_000_000,
            start_ns: None,
        });
    }
    config
}

/// The best of a few runs: the others were disturbed.
fn report(name: &str, config: &CellConfig, pause_ms: Option<u64>) {
    let runs = (0..7).map(|_| measure(config, pause_ms));
    let (nanos, tries, wakes) = runs
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there are some");
    println!(
        "{name:<34} {tries:>10} {wakes:>10} {:>9.0} {:>9.0}",
        nanos / tries as f64,
        nanos / wakes as f64
    );
}

/// Runs 750 s of virtual time; with a pause, one datagram each way after each.
/// Nanoseconds, tries, wakes.
fn measure(config: &CellConfig, pause_ms: Option<u64>) -> (f64, u64, u64) {
    let mut cell: Cell<u32> = Cell::new(config, Seed::new(1)).expect("the settings are right");
    let end = Time::from_nanos(750_000_000_000);
    let pause = pause_ms.map_or(Duration::MAX, Duration::from_millis);
    let mut next_input = Time::ZERO + pause;
    let mut wakes = 0_u64;
    let started = Instant::now();
    loop {
        let wake = cell.poll_timeout().unwrap_or(Time::FAR_FUTURE);
        let now = wake.min(next_input);
        if now > end {
            break;
        }
        wakes += 1;
        if next_input <= wake {
            for (from, to) in [(0, 1), (1, 0)] {
                let datagram = Datagram {
                    source: Address(u32::from(from)),
                    destination: Address(u32::from(to)),
                    size_bytes: 928,
                    body: 0,
                };
                let (from, to) = (Station(from), Station(to));
                cell.handle_input(now, Input { from, to, datagram });
            }
            next_input += pause;
        } else {
            cell.handle_timeout(now);
        }
        while cell.poll_output().is_some() {}
    }
    let nanos = started.elapsed().as_nanos() as f64;
    let tries: u64 = (0..cell.stations())
        .filter_map(|i| cell.counters(Station(u16::try_from(i).ok()?)))
        .map(|c| c.tries)
        .sum();
    (nanos, tries, wakes)
}
