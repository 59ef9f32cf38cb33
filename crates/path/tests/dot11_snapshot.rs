//! Whole runs as a table of integers: a change of any rule shows here. The
//! numbers have no source but the cell; they are to be looked at and replaced
//! when a rule is changed on purpose.

mod dot11_support;

use core::fmt::Write;

use dot11_support::{A, B, Bench, link, saturated, stations, us};
use headway_path::dot11::{
    CellConfig, ErrorConfig, HearingConfig, JitterConfig, JitterPer, Rate, Station,
};

/// Client, server and a third station, 500 requests and answers.
fn edge(retry_limit: u32, loaded: bool) -> CellConfig {
    let mut config = stations(3);
    for station in &mut config.stations {
        station.retry_limit = Some(retry_limit);
    }
    config.errors = ErrorConfig::Textbook { offset_db: 8.5 };
    config.jitter = JitterConfig {
        sigma_db: 1.7,
        per: JitterPer::Try,
    };
    config.snr_db = Some(32.0);
    config.links = vec![link(B, A, 4.4)];
    if loaded {
        config.stations[2].source = saturated(B, 1028);
    }
    config
}

fn mixed_rates() -> CellConfig {
    let mut config = stations(3);
    config.stations[0].rate_bps = Rate::Mbps11;
    config.stations[1].rate_bps = Rate::Mbps5_5;
    config.stations[1].rts_threshold_bytes = Some(500);
    config.stations[2].rate_bps = Rate::Mbps2;
    config.stations[2].source = saturated(A, 1500);
    config.snr_db = Some(7.0);
    config
}

fn hidden() -> CellConfig {
    let mut config = edge(4, true);
    config.hearing = HearingConfig::Hidden {
        pairs: vec![[0, 2]],
    };
    config
}

const EXPECTED: &str = "\
case        station  tries retries collided   erred delivered dropped repeats    air_us
edge r=0          0    500       0        0       0       500       0       0   4024656
edge r=0          1    500       0        0     261       239     261       0   3704000
edge r=0          2      0       0        0       0         0       0       0         0
edge r=2          0    542      42        0       0       500       0       0   4419856
edge r=2          1    877     377        0     430       447      53      42   6394976
edge r=2          2      0       0        0       0         0       0       0         0
loaded r=0        0    500       0       36       0       464      36       0   4028304
loaded r=0        1    500       0       34     215       251     249       0   6709344
loaded r=0        2   9993       0       70       0      9922      70       0  86979072
loaded r=4        0    573      73       34       0       500       0       0   4674304
loaded r=4        1   1046     546       69     499       478      22      39  10456800
loaded r=4        2   9515      99       99       0      9415       0       0  82818560
hidden r=4        0   2500    2000     2490       0        10     490      21  19912912
hidden r=4        1   1030     530        0     527       482      18       0   9390096
hidden r=4        2   9598    2321     2788       0      6809     467       0  83540992
mixed             0    571      71       27      44       500       0       0   4281786
mixed             1    528      28       28       0       500       0       0    991980
mixed             2  14265      55       55       0     14209       0       0  90383040
";

#[test]
fn table_of_integers() {
    let mut table = String::from(
        "case        station  tries retries collided   erred delivered dropped repeats    air_us\n",
    );
    for (name, config) in [
        ("edge r=0", edge(0, false)),
        ("edge r=2", edge(2, false)),
        ("loaded r=0", edge(0, true)),
        ("loaded r=4", edge(4, true)),
        ("hidden r=4", hidden()),
        ("mixed", mixed_rates()),
    ] {
        let mut bench = Bench::with_seed(&config, 2005);
        for k in 0..500 {
            bench.run_to(us(200_000 * k));
            bench.send(A, B, 928);
            bench.run_to(us(200_000 * k + 50_000));
            bench.send(B, A, 828);
        }
        bench.run_to(us(101_000_000));
        for i in 0..3 {
            let c = bench.counters(Station(i));
            writeln!(
                table,
                "{name:<14} {i:>4} {:>6} {:>7} {:>8} {:>7} {:>9} {:>7} {:>7} {:>9}",
                c.tries,
                c.retries,
                c.collisions,
                c.channel_errors,
                c.delivered + c.source.delivered,
                c.dropped_retry + c.source.dropped_retry,
                c.duplicates,
                c.air.as_nanos() / 1_000,
            )
            .unwrap();
        }
    }
    assert!(table == EXPECTED, "the table is now\n{table}");
}
