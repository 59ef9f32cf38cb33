use super::*;
use crate::config::{Overrides, Profile, Validation, WindowWhenLimited};

fn window(config: &Config) -> Window {
    Window::new(config, 1000)
}

fn config(overrides: Overrides) -> Config {
    let base = Overrides {
        mss_bytes: Some(1000),
        initial_window_segments: Some(2),
        ..overrides
    };
    Config::new(Profile::Rfc, &base)
}

fn growth(acked_bytes: u64, acked_segments: u32) -> Growth {
    Growth {
        now: Time::ZERO,
        acked_bytes,
        acked_segments,
        after_timeout: false,
        rtt: None,
        srtt: Duration::from_millis(100),
        rtt_floor: Duration::from_millis(100),
        una: 1,
        next: 2,
    }
}

/// Windows in thousandths of a segment after each of ten ACKs.
fn table(config: &Config, ssthresh: u64, acked_bytes: u64, acked_segments: u32) -> Vec<u64> {
    let mut w = window(config);
    w.ssthresh = ssthresh * w.full;
    (0..10)
        .map(|_| {
            w.grow(config, &growth(acked_bytes, acked_segments));
            w.cwnd * 1000 / w.full
        })
        .collect()
}

#[test]
fn windows_after_ten_acks_of_each_counting() {
    let with = |growth_counting, window_unit, limit| {
        config(Overrides {
            growth_counting: Some(growth_counting),
            window_unit: Some(window_unit),
            byte_counting_limit_segments: Some(limit),
            ..Overrides::default()
        })
    };
    use GrowthCounting::{Acks, Bytes, Segments};
    use WindowUnit::{Bytes as InBytes, Segments as InSegments};
    // ACKs of 250 bytes, slow start up to 4 segments, then avoidance. By ACKs
    // the window grows as if they were full; by bytes four of them count for one.
    assert_eq!(
        table(&with(Acks, InSegments, 1), 4, 250, 1),
        [3000, 4000, 4000, 4000, 4000, 5000, 5000, 5000, 5000, 5000]
    );
    assert_eq!(
        table(&with(Acks, InBytes, 1), 4, 250, 1),
        [3000, 4000, 4250, 4485, 4707, 4919, 5122, 5317, 5505, 5686]
    );
    assert_eq!(
        table(&with(Bytes, InBytes, 1), 4, 250, 1),
        [2250, 2500, 2750, 3000, 3250, 3500, 3750, 4000, 4000, 4000]
    );
    assert_eq!(
        table(&with(Bytes, InSegments, 1), 4, 250, 1),
        [2000, 2000, 2000, 3000, 3000, 3000, 3000, 4000, 4000, 4000]
    );
    // ACKs of two full segments each: L = 1 or 2, and by segments.
    assert_eq!(
        table(&with(Bytes, InBytes, 1), 9, 2000, 2)[..4],
        [3000, 4000, 5000, 6000]
    );
    assert_eq!(
        table(&with(Bytes, InBytes, 2), 9, 2000, 2)[..4],
        [4000, 6000, 8000, 10_000]
    );
    assert_eq!(
        table(&with(Segments, InSegments, 1), 9, 2000, 2)[..4],
        [4000, 6000, 8000, 9000]
    );
}

#[test]
fn a_window_equal_to_ssthresh_is_either() {
    for (at, grown) in [(true, 5), (false, 4)] {
        let c = config(Overrides {
            growth_counting: Some(GrowthCounting::Acks),
            window_unit: Some(WindowUnit::Segments),
            slow_start_at_ssthresh: Some(at),
            ..Overrides::default()
        });
        let mut w = window(&c);
        (w.cwnd, w.ssthresh) = (4, 4);
        w.grow(&c, &growth(1000, 1));
        assert_eq!(w.cwnd, grown);
    }
}

fn row(now_ms: u64, in_flight: u64) -> SentRow {
    SentRow {
        now: Time::ZERO + Duration::from_millis(now_ms),
        rto: Duration::from_millis(300),
        in_flight,
        una: 0,
        next: 0,
        limited: false,
        buffer_full: false,
        open: true,
    }
}

#[test]
fn rfc_2861_halves_towards_what_is_used() {
    let c = config(Overrides {
        validation: Some(Validation::Rfc2861),
        window_unit: Some(WindowUnit::Segments),
        ..Overrides::default()
    });
    let mut w = window(&c);
    w.cwnd = 40;
    let mut usage = Usage::new(Time::ZERO);
    usage.sent(&c, &mut w, row(0, 40));
    let mut windows = Vec::new();
    for ms in (100..1300).step_by(100) {
        usage.sent(&c, &mut w, row(ms, 5));
        windows.push(w.cwnd);
    }
    assert_eq!(windows, [40, 40, 22, 22, 22, 13, 13, 13, 9, 9, 9, 7]);
    assert_eq!(w.ssthresh, u64::MAX, "none was set");
    // With a threshold, three quarters of the window are remembered.
    (w.cwnd, w.ssthresh) = (40, 10);
    usage.sent(&c, &mut w, row(2000, 5));
    assert_eq!((w.cwnd, w.ssthresh), (22, 30));
    // A full send buffer means that the network is the limit.
    let full = SentRow {
        buffer_full: true,
        ..row(3000, 5)
    };
    usage.sent(&c, &mut w, full);
    assert_eq!(w.cwnd, 22);
}

#[test]
fn growth_while_limited() {
    let gate = |when, in_flight, limited| {
        let c = config(Overrides {
            window_when_limited: Some(when),
            window_unit: Some(WindowUnit::Segments),
            ..Overrides::default()
        });
        let mut w = window(&c);
        w.cwnd = 10;
        let mut usage = Usage::new(Time::ZERO);
        let sent = SentRow {
            limited,
            ..row(0, in_flight)
        };
        usage.sent(&c, &mut w, sent);
        usage.may_grow(&c, &w, in_flight)
    };
    use WindowWhenLimited::{Grow, Keep, Linux};
    assert!(gate(Grow, 1, false));
    assert!(!gate(Keep, 9, false) && gate(Keep, 10, false));
    // In slow start up to twice what was in flight.
    assert!(gate(Linux, 6, false) && !gate(Linux, 5, false) && gate(Linux, 1, true));
}

#[test]
fn rfc_7661_keeps_the_window_until_a_loss() {
    let c = config(Overrides {
        validation: Some(Validation::Rfc7661),
        window_unit: Some(WindowUnit::Segments),
        ..Overrides::default()
    });
    let mut w = window(&c);
    w.cwnd = 40;
    let mut usage = Usage::new(Time::ZERO);
    let rtt = Duration::from_millis(100);
    assert_eq!(usage.used_at_loss(&c, &w, 5), None, "undefined: validated");
    for i in 0..30 {
        let now = Time::ZERO + rtt * (i + 1);
        usage.acknowledged(&c, &mut w, now, 5000, rtt);
    }
    assert_eq!(w.cwnd, 40);
    assert!(!usage.may_grow(&c, &w, 5) && usage.may_grow(&c, &w, 40));
    // 5000 bytes a round trip were used: half of the larger of that and the
    // flight is the new window.
    assert_eq!(usage.used_at_loss(&c, &w, 3), Some(5));
    assert_eq!(usage.used_at_loss(&c, &w, 8), Some(8));
    // After five minutes in this phase the window is halved and remembered.
    for i in 0..3010 {
        let now = Time::ZERO + rtt * (i + 31);
        usage.acknowledged(&c, &mut w, now, 5000, rtt);
    }
    assert_eq!(w.cwnd, 20);
    usage.recovered(Time::ZERO);
    assert_eq!(usage.used_at_loss(&c, &w, 8), None);
}
