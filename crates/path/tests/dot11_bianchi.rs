//! Saturation throughput against Bianchi's model (IEEE JSAC 18(3), 2000).
//!
//! The model is evaluated here from its formulas and first compared with the
//! published-precision values that the project's sources hold for it; then the
//! cell is run in the model's world (no channel errors, no retry limit, no EIFS,
//! collided stations go on with the others) and compared with the model.

use headway_path::dot11::{
    Cell, CellConfig, Rate, SourceConfig, Station, StationConfig, TimingConfig,
};
use headway_sansio::{Machine, Seed, Time};

/// One parameter set of the model; times in microseconds.
struct Model {
    window: f64,
    stages: i32,
    slot: f64,
    success: f64,
    collision: f64,
    /// What a success carries, in the unit of the throughput times microseconds.
    payload: f64,
}

impl Model {
    /// Probability that a station sends in a slot, given that a try collides
    /// with probability p (his equation 7).
    fn tau(&self, p: f64) -> f64 {
        let w = self.window;
        let sum: f64 = (0..self.stages).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + w + p * w * sum)
    }

    /// Collision probability (his equation 9), by bisection.
    fn collision_probability(&self, n: i32) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let p = 0.5 * (low + high);
            if 1.0 - (1.0 - self.tau(p)).powi(n - 1) > p {
                low = p;
            } else {
                high = p;
            }
        }
        low
    }

    /// Saturation throughput (his equation 13).
    fn throughput(&self, n: i32) -> f64 {
        let tau = self.tau(self.collision_probability(n));
        let any = 1.0 - (1.0 - tau).powi(n);
        let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1) / any;
        any * one * self.payload
            / ((1.0 - any) * self.slot
                + any * one * self.success
                + any * (1.0 - one) * self.collision)
    }
}

/// Bianchi's own 1 Mb/s parameters.
fn bianchi(window: u32, stages: i32, rts: bool) -> (Model, CellConfig) {
    let (header, payload, ack, delay, sifs, difs) = (400.0, 8184.0, 240.0, 1.0, 28.0, 128.0);
    let data = header + payload + delay + sifs + ack + delay + difs;
    let (success, collision) = if rts {
        (
            288.0 + 240.0 + 2.0 * (delay + sifs) + data,
            288.0 + delay + difs,
        )
    } else {
        (data, header + payload + delay + difs)
    };
    let model = Model {
        window: f64::from(window),
        stages,
        slot: 50.0,
        success,
        collision,
        payload,
    };
    let config = CellConfig {
        timing: TimingConfig {
            slot_ns: 50_000,
            sifs_ns: 28_000,
            difs_ns: 128_000,
            long_plcp_ns: 128_000,
            air_delay_ns: 1_000,
            ..in_the_models_world(window, stages, 128_000)
        },
        mac_overhead_bytes: 34,
        ..CellConfig::default()
    };
    (model, saturate(config, 1023, rts))
}

/// 802.11b with long preamble, ACKs at 1 Mb/s and 1500-byte datagrams.
fn dot11b(rate: Rate) -> (Model, CellConfig) {
    let mbps = rate.bps() as f64 / 1e6;
    let data = 192.0 + 1536.0 * 8.0 / mbps;
    let model = Model {
        window: 32.0,
        stages: 5,
        slot: 20.0,
        success: data + 1.0 + 10.0 + 304.0 + 1.0 + 50.0,
        collision: data + 1.0 + 50.0,
        payload: 12_000.0,
    };
    let config = CellConfig {
        timing: TimingConfig {
            air_delay_ns: 1_000,
            ..in_the_models_world(32, 5, 50_000)
        },
        basic_rates_bps: vec![Rate::Mbps1],
        ..CellConfig::default()
    };
    let mut config = saturate(config, 1500, false);
    config.stations[0].rate_bps = rate;
    (model, config)
}

/// No EIFS, and no wait for the ACK that is longer than DIFS.
fn in_the_models_world(window: u32, stages: i32, difs_ns: u64) -> TimingConfig {
    TimingConfig {
        cw_min: window - 1,
        cw_max: (window << stages) - 1,
        eifs_ns: Some(difs_ns),
        response_timeout_ns: Some(difs_ns),
        ..TimingConfig::default()
    }
}

/// The first station is what each sender is like.
fn saturate(mut config: CellConfig, size_bytes: u32, rts: bool) -> CellConfig {
    config.stations = vec![StationConfig {
        retry_limit: None,
        long_retry_limit: None,
        rts_threshold_bytes: rts.then_some(0),
        source: Some(SourceConfig::Saturated { to: 0, size_bytes }),
        ..StationConfig::default()
    }];
    config
}

/// Throughput and share of tries that collide, with `n` senders.
fn measure(config: &CellConfig, n: u16, payload: f64) -> (f64, f64) {
    let mut config = config.clone();
    let mut sender = config.stations.remove(0);
    let Some(SourceConfig::Saturated { to, .. }) = &mut sender.source else {
        unreachable!("every sender is saturated")
    };
    *to = n;
    config.stations = vec![sender; usize::from(n)];
    config.stations.push(StationConfig::default());
    let mut cell: Cell<()> = Cell::new(&config, Seed::new(2000)).unwrap();
    // 400 s of virtual time: some 40,000 successes at 1 Mb/s.
    let end = Time::from_nanos(400_000_000_000);
    cell.handle_timeout(end);
    let (mut successes, mut tries, mut collisions) = (0, 0, 0);
    for i in 0..n {
        let counters = cell.counters(Station(i)).unwrap();
        successes += counters.source.delivered;
        tries += counters.tries;
        collisions += counters.collisions;
    }
    (
        successes as f64 * payload / (end.as_secs_f64() * 1e6),
        collisions as f64 / tries as f64,
    )
}

/// Compares model with sources and cell with model, for each number of stations.
fn compare(name: &str, (model, config): (Model, CellConfig), rows: &[(u16, f64)], digits: i32) {
    for &(n, published) in rows {
        let expected = model.throughput(i32::from(n));
        let half_digit = 0.500_001 * 10_f64.powi(-digits);
        assert!(
            (expected - published).abs() <= half_digit,
            "{name}, n = {n}: the model gives {expected}, the source {published}"
        );
        let (throughput, p) = measure(&config, n, model.payload);
        let p_model = model.collision_probability(i32::from(n));
        let off = throughput / expected - 1.0;
        println!(
            "{name} n={n:2}: cell {throughput:.4} model {expected:.4} ({:+.2} %), \
             p cell {p:.4} model {p_model:.4}",
            off * 100.0
        );
        assert!(off.abs() <= 0.03, "{name}, n = {n}: {:+.2} %", off * 100.0);
        assert!(
            (p - p_model).abs() <= 0.015,
            "{name}, n = {n}: p {p} for {p_model}"
        );
    }
}

#[test]
fn his_parameters_basic_access() {
    let rows = |values: [f64; 6]| {
        [1, 2, 5, 10, 20, 50]
            .into_iter()
            .zip(values)
            .collect::<Vec<_>>()
    };
    compare(
        "basic W=32 m=3",
        bianchi(32, 3, false),
        &rows([0.839, 0.847, 0.810, 0.753, 0.679, 0.553]),
        3,
    );
    compare(
        "basic W=32 m=5",
        bianchi(32, 5, false),
        &rows([0.839, 0.847, 0.810, 0.758, 0.698, 0.611]),
        3,
    );
    compare(
        "basic W=128 m=3",
        bianchi(128, 3, false),
        &rows([0.673, 0.768, 0.825, 0.826, 0.798, 0.725]),
        3,
    );
}

#[test]
fn his_parameters_rts() {
    let rows = [
        (1, 0.791),
        (2, 0.819),
        (5, 0.834),
        (10, 0.837),
        (20, 0.836),
        (50, 0.827),
    ];
    compare("RTS W=32 m=3", bianchi(32, 3, true), &rows, 3);
}

#[test]
fn his_collision_probability() {
    let (model, _) = bianchi(32, 3, false);
    for (n, p) in [
        (1, 0.0),
        (2, 0.057),
        (5, 0.179),
        (10, 0.299),
        (20, 0.430),
        (50, 0.609),
    ] {
        let model = model.collision_probability(n);
        assert!((model - p).abs() <= 0.000_5, "n = {n}: {model} for {p}");
    }
}

#[test]
fn constants_of_802_11b() {
    let rows = |values: [f64; 4]| [1, 2, 5, 10].into_iter().zip(values).collect::<Vec<_>>();
    compare(
        "802.11b 1 Mb/s",
        dot11b(Rate::Mbps1),
        &rows([0.912, 0.896, 0.842, 0.783]),
        3,
    );
    compare(
        "802.11b 2 Mb/s",
        dot11b(Rate::Mbps2),
        &rows([1.71, 1.70, 1.61, 1.50]),
        2,
    );
    compare(
        "802.11b 11 Mb/s",
        dot11b(Rate::Mbps11),
        &rows([6.05, 6.38, 6.32, 6.03]),
        2,
    );
}
