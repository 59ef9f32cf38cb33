//! The settings as JSON, and what is refused.

use headway_path::dot11::{
    Cell, CellConfig, ErrorConfig, HearingConfig, JitterPer, Preamble, Rate, RetryCount, Snr,
    SourceConfig,
};
use headway_sansio::Seed;

fn parse(json: &str) -> Result<CellConfig, String> {
    serde_json::from_str(json).map_err(|e| e.to_string())
}

#[test]
fn every_key_is_read() {
    let config = parse(
        r#"{
        "stations": [
            { "rate_bps": 1000000, "retry_limit": 4, "long_retry_limit": 4 },
            { "rate_bps": 5500000, "retry_limit": null, "rts_threshold_bytes": 400,
              "queue_pkts": null },
            { "queue_pkts": 50, "source": { "kind": "cbr", "to": 1, "size_bytes": 1028,
                                            "interval_ns": 8000000 } },
            { "source": { "kind": "saturated", "to": 0, "size_bytes": 1500 } }
        ],
        "preamble": "short",
        "timing": { "slot_ns": 20000, "cw_min": 31, "eifs_ns": null, "sense_ns": 0 },
        "basic_rates_bps": [1000000, 2000000],
        "mac_overhead_bytes": 34,
        "retry_count": "tries",
        "hearing": { "kind": "hidden", "pairs": [[0, 2]] },
        "errors": { "kind": "textbook", "offset_db": 8.5 },
        "jitter": { "sigma_db": 1.7, "per": "message" },
        "control_errors": false,
        "capture_db": 10,
        "snr_db": 32,
        "links": [
            { "from": 1, "to": 0, "snr": { "kind": "constant", "snr_db": 4.4 } },
            { "from": 0, "to": 1, "snr": { "kind": "trace", "linear": true, "points": [
                { "at_ns": 0, "snr_db": 20 }, { "at_ns": 60000000000, "snr_db": 0 } ] } }
        ]
    }"#,
    )
    .unwrap();
    config.validate().unwrap();
    assert_eq!(config.stations[1].rate_bps, Rate::Mbps5_5);
    assert_eq!(config.stations[1].retry_limit, None);
    assert_eq!(config.stations[0].rts_threshold_bytes, None);
    assert_eq!(config.stations[0].queue_pkts, Some(100));
    assert!(matches!(
        config.stations[2].source,
        Some(SourceConfig::Cbr { start_ns: None, .. })
    ));
    assert_eq!(config.preamble, Preamble::Short);
    assert_eq!(config.timing.difs_ns, 50_000);
    assert_eq!(config.retry_count, RetryCount::Tries);
    assert_eq!(config.jitter.per, JitterPer::Message);
    assert_eq!(config.errors, ErrorConfig::Textbook { offset_db: 8.5 });
    assert!(matches!(&config.hearing, HearingConfig::Hidden { pairs } if pairs == &[[0, 2]]));
    assert!(
        matches!(&config.links[1].snr, Snr::Trace { points, linear: true } if points.len() == 2)
    );
    let again: CellConfig = parse(&serde_json::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
}

#[test]
fn all_keys_have_defaults() {
    let config = parse(r#"{ "stations": [{}, {}] }"#).unwrap();
    assert_eq!(
        config,
        CellConfig {
            stations: vec![Default::default(); 2],
            ..CellConfig::default()
        }
    );
    Cell::<()>::new(&config, Seed::new(1)).unwrap();
}

#[test]
fn unknown_keys_and_values_are_errors() {
    for (json, expected) in [
        (r#"{ "station": [] }"#, "unknown field `station`"),
        (r#"{ "stations": [{ "rate": 1 }] }"#, "unknown field `rate`"),
        (
            r#"{ "stations": [{ "rate_bps": 6000000 }] }"#,
            "6000000 b/s is no rate of 802.11b",
        ),
        (r#"{ "timing": { "slot": 1 } }"#, "unknown field `slot`"),
        (
            r#"{ "errors": { "kind": "textbook", "shift_db": 1 } }"#,
            "unknown field `shift_db`",
        ),
        (
            r#"{ "hearing": { "kind": "all", "pairs": [] } }"#,
            "unknown field `pairs`",
        ),
        (r#"{ "jitter": { "per": "run" } }"#, "unknown variant `run`"),
        (
            r#"{ "links": [{ "from": 0, "to": 1 }] }"#,
            "missing field `snr`",
        ),
    ] {
        let message = parse(json).unwrap_err();
        assert!(message.contains(expected), "{json}: {message}");
    }
}

#[test]
fn settings_without_sense_are_refused_by_key() {
    let two = r#""stations": [{}, {}]"#;
    for (json, expected) in [
        (r#"{ "stations": [{}] }"#.to_owned(), "stations: a cell needs two stations, this one has 1"),
        (
            r#"{ "stations": [{}, { "source": { "kind": "saturated", "to": 2, "size_bytes": 9 } }] }"#
                .to_owned(),
            "stations[1].source.to: there is no station 2; the last is 1",
        ),
        (
            r#"{ "stations": [{ "source": { "kind": "saturated", "to": 0, "size_bytes": 9 } }, {}] }"#
                .to_owned(),
            "stations[0].source.to: a station cannot send to itself",
        ),
        (
            r#"{ "stations": [{ "source": { "kind": "cbr", "to": 1, "size_bytes": 9, "interval_ns": 0 } }, {}] }"#
                .to_owned(),
            "stations[0].source.interval_ns: datagrams without pause between them; use kind \"saturated\"",
        ),
        (
            format!(r#"{{ {two}, "timing": {{ "slot_ns": 0 }} }}"#),
            "timing.slot_ns: a slot takes time",
        ),
        (
            format!(r#"{{ {two}, "timing": {{ "difs_ns": 10000 }} }}"#),
            "timing.difs_ns: 10000 ns is not longer than SIFS (10000 ns): answers would not come first",
        ),
        (
            format!(r#"{{ {two}, "timing": {{ "response_timeout_ns": 9999 }} }}"#),
            "timing.response_timeout_ns: 9999 ns is over before an answer begins (SIFS, 10000 ns)",
        ),
        (
            format!(r#"{{ {two}, "timing": {{ "cw_max": 15 }} }}"#),
            "timing.cw_max: 15 is below cw_min (31)",
        ),
        (
            format!(r#"{{ {two}, "basic_rates_bps": [] }}"#),
            "basic_rates_bps: control frames need a rate",
        ),
        (
            format!(r#"{{ {two}, "hearing": {{ "kind": "matrix", "heard": [[true, true]] }} }}"#),
            "hearing.heard: the matrix must have 2 rows of 2 entries",
        ),
        (
            format!(r#"{{ {two}, "hearing": {{ "kind": "hidden", "pairs": [[0, 7]] }} }}"#),
            "hearing.pairs[0]: there is no station 7; the last is 1",
        ),
        (
            format!(r#"{{ {two}, "errors": {{ "kind": "table", "points": [] }} }}"#),
            "errors.points: a table needs a point",
        ),
        (
            format!(
                r#"{{ {two}, "errors": {{ "kind": "table", "points":
                [{{ "snr_db": 1, "probability": 1 }}, {{ "snr_db": 1, "probability": 0 }}] }} }}"#
            ),
            "errors.points[1].snr_db: 1 does not rise over the point before",
        ),
        (
            format!(
                r#"{{ {two}, "errors": {{ "kind": "table", "points":
                [{{ "snr_db": 1, "probability": 1.5 }}] }} }}"#
            ),
            "errors.points[0].probability: 1.5 is not a probability (0 to 1)",
        ),
        (
            format!(r#"{{ {two}, "jitter": {{ "sigma_db": -1 }} }}"#),
            "jitter.sigma_db: -1 is not a standard deviation in dB",
        ),
        (
            format!(r#"{{ {two}, "capture_db": 0 }}"#),
            "capture_db: 0 is not a margin in dB above 0",
        ),
        (
            format!(
                r#"{{ {two}, "links": [{{ "from": 0, "to": 2, "snr": {{ "kind": "constant", "snr_db": 1 }} }}] }}"#
            ),
            "links[0].to: there is no station 2; the last is 1",
        ),
        (
            format!(
                r#"{{ {two}, "links": [
                {{ "from": 0, "to": 1, "snr": {{ "kind": "constant", "snr_db": 1 }} }},
                {{ "from": 0, "to": 1, "snr": {{ "kind": "constant", "snr_db": 2 }} }}] }}"#
            ),
            "links[1]: 0 to 1 is named twice",
        ),
        (
            format!(
                r#"{{ {two}, "links": [{{ "from": 0, "to": 1, "snr": {{ "kind": "trace", "points":
                [{{ "at_ns": 5, "snr_db": 1 }}, {{ "at_ns": 5, "snr_db": 2 }}] }} }}] }}"#
            ),
            "links[0].snr.points[1].at_ns: 5 does not come after the point before",
        ),
    ] {
        let error = parse(&json).unwrap().validate().unwrap_err();
        assert_eq!(error.to_string(), expected, "{json}");
    }
}
