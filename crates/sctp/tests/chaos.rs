//! Two hundred thousand messages through loss, duplication, reordering, bit errors
//! and outages, over two paths: each is delivered once, whole, and in order within
//! its stream. `cargo run --release --example chaos` does the same with millions.

#[path = "common/chaos.rs"]
mod chaos;

use chaos::{Report, Weather, run};
use headway_sansio::Duration;
use headway_sctp::{Config, Scheduler};

/// In each direction; there are four tests.
const MESSAGES: u64 = 25_000;

/// What must have happened for the test to mean anything.
fn check(report: &Report) {
    assert_eq!(report.delivered, 2 * MESSAGES, "{report:?}");
    let packets = report.packets as f64;
    let share = |count: u64| count as f64 / packets;
    assert!((0.07..0.12).contains(&share(report.lost)), "{report:?}");
    assert!((0.01..0.03).contains(&share(report.doubled)), "{report:?}");
    assert!((0.01..0.03).contains(&share(report.spoilt)), "{report:?}");
    assert!(share(report.overtaken) > 0.1, "{report:?}");
    assert!(report.outages > 8 && report.cut > 100, "{report:?}");
    assert!(report.failovers > 10, "{report:?}");
    assert!(report.unordered == 2 * MESSAGES / 8, "{report:?}");
    assert!(
        report.retransmissions > 0 && report.duplicates > 0,
        "{report:?}"
    );
}

fn quick_failover() -> Config {
    Config {
        potentially_failed_max_retransmits: Some(0),
        ..Config::default()
    }
}

#[test]
fn nothing_is_lost_twice_torn_or_out_of_order() {
    check(&run(&quick_failover(), Weather::FOUL, 1, MESSAGES));
}

#[test]
fn nor_with_interleaved_messages() {
    let config = Config {
        interleaving: true,
        scheduler: Scheduler::RoundRobin,
        ..quick_failover()
    };
    check(&run(&config, Weather::FOUL, 2, MESSAGES));
}

#[test]
fn nor_with_recovery_of_low_delay() {
    let config = Config {
        potentially_failed_max_retransmits: Some(0),
        ..Config::profile("low-delay").unwrap()
    };
    check(&run(&config, Weather::FOUL, 3, MESSAGES));
}

#[test]
fn nor_with_switching_primary_paths_and_small_buffers() {
    let config = Config {
        primary_switchover_max_retransmits: Some(0),
        receive_buffer_bytes: 16_000,
        send_buffer_bytes: 64_000,
        sack_delay: Duration::from_millis(100),
        ..quick_failover()
    };
    check(&run(&config, Weather::FOUL, 4, MESSAGES));
}
