//! The key `path` of a RunSpec: what is read, what is refused, and why.

use headway_path::{
    DrdAbove, DrdReading, LossConfig, LossGenerator, PathConfig, QueueConfig, Wire,
};

fn read(json: &str) -> Result<PathConfig, String> {
    let config: PathConfig = serde_json::from_str(json).map_err(|e| e.to_string())?;
    config.validate().map_err(|e| e.to_string())?;
    Ok(config)
}

#[test]
fn the_documented_path_is_read() {
    let path = read(
        r#"{
        "one_way_delay_ns": 20000000,
        "rate_bps": null,
        "loss": { "kind": "bernoulli", "rate": 0.02, "correlation": 0.8, "generator": "markov" },
        "queue": { "kind": "drd", "min_pkts": 10, "max_pkts": 20, "reading": "delay-line" },
        "reorder": { "probability": 0.0, "extra_delay_ns": 0 },
        "duplicate": { "probability": 0.0 },
        "wire": "structured",
        "reverse": { "loss": { "kind": "none" }, "rate_bps": 1000000, "wire": "encoded" }
    }"#,
    )
    .unwrap();
    let (there, back) = (path.forward(), path.reverse());
    assert_eq!(
        there.loss,
        LossConfig::Bernoulli {
            rate: 0.02,
            correlation: 0.8,
            generator: LossGenerator::Markov
        }
    );
    assert_eq!(
        there.queue,
        QueueConfig::Drd {
            min_pkts: 10,
            max_pkts: 20,
            reading: DrdReading::DelayLine,
            above: DrdAbove::All
        }
    );
    assert_eq!((back.rate_bps, back.wire), (Some(1_000_000), Wire::Encoded));
    assert_eq!(back.loss, LossConfig::Lossless {});
    assert_eq!(
        (&back.queue, back.one_way_delay_ns),
        (&there.queue, 20_000_000)
    );
    let written = serde_json::to_string(&path).unwrap();
    assert_eq!(read(&written), Ok(path));
}

#[test]
fn what_is_left_out_has_its_default() {
    let path = read(r#"{ "one_way_delay_ns": 5 }"#).unwrap();
    assert_eq!(
        path,
        PathConfig::with_delay(headway_sansio::Duration::from_nanos(5))
    );
    assert_eq!(path.forward(), path.reverse());
}

#[test]
fn null_lifts_a_rate_in_the_reverse_direction() {
    let limited = r#"{ "one_way_delay_ns": 5, "rate_bps": 1000, "reverse": {} }"#;
    assert_eq!(read(limited).unwrap().reverse().rate_bps, Some(1000));
    let lifted = r#"{ "one_way_delay_ns": 5, "rate_bps": 1000, "reverse": { "rate_bps": null } }"#;
    assert_eq!(read(lifted).unwrap().reverse().rate_bps, None);
}

#[test]
fn other_kinds_are_read() {
    for part in [
        r#""loss": { "kind": "gilbert-elliott", "good_to_bad": 0.01, "bad_to_good": 0.3, "loss_good": 0, "loss_bad": 1 }"#,
        r#""loss": { "kind": "trace", "lost": [0, 0, 1] }"#,
        r#""loss": { "kind": "bernoulli", "rate": 0.1, "correlation": 0.5, "generator": "copula" }"#,
        r#""queue": { "kind": "unlimited" }"#,
        r#""queue": { "kind": "drop-tail-packets", "limit_pkts": 50 }, "rate_bps": 1000"#,
        r#""queue": { "kind": "drop-tail-bytes", "limit_bytes": 5000, "overshoot": true }, "rate_bps": 1000"#,
        r#""queue": { "kind": "drd", "min_pkts": 1, "max_pkts": 2, "reading": "server", "above": "0.95" }, "rate_bps": 1"#,
    ] {
        let json = format!(r#"{{ "one_way_delay_ns": 5, {part} }}"#);
        assert!(read(&json).is_ok(), "{json}: {:?}", read(&json));
    }
}

/// Each wrong setting is refused with words that name it.
#[test]
fn wrong_settings_are_named() {
    for (part, named) in [
        (
            r#""loss": { "kind": "bernoulli", "rate": 1.7 }"#,
            "loss.rate: 1.7 is not a probability",
        ),
        (
            r#""loss": { "kind": "bernoulli", "rate": 0.1, "correlation": 1.0 }"#,
            "loss.correlation: 1 is not a correlation",
        ),
        (
            r#""loss": { "kind": "bernoulli", "rate": 0.1, "correlation": -0.5 }"#,
            "loss.correlation: -0.5",
        ),
        (r#""loss": { "kind": "bernoulli" }"#, "missing field `rate`"),
        (
            r#""loss": { "kind": "none", "rate": 0.1 }"#,
            "unknown field `rate`",
        ),
        (r#""loss": { "kind": "netem" }"#, "unknown variant `netem`"),
        (
            r#""loss": { "kind": "gilbert-elliott", "good_to_bad": 0.1, "bad_to_good": 2, "loss_good": 0, "loss_bad": 1 }"#,
            "loss.bad_to_good: 2",
        ),
        (
            r#""loss": { "kind": "trace", "lost": [] }"#,
            "loss.lost: a trace needs",
        ),
        (
            r#""loss": { "kind": "trace", "lost": [0, 2] }"#,
            "loss.lost: entry 1 is 2",
        ),
        (
            r#""queue": { "kind": "unlimited", "limit_pkts": 3 }"#,
            "unknown field `limit_pkts`",
        ),
        (
            r#""queue": { "kind": "drd", "min_pkts": 20, "max_pkts": 10 }"#,
            "queue.max_pkts: 10 is not above min_pkts (20)",
        ),
        (
            r#""queue": { "kind": "drd", "min_pkts": 1, "max_pkts": 2, "reading": "server" }"#,
            "queue.kind: drd with reading server needs rate_bps",
        ),
        (
            r#""queue": { "kind": "drop-tail-packets", "limit_pkts": 3 }"#,
            "queue.kind: drop-tail-packets needs rate_bps",
        ),
        (
            r#""queue": { "kind": "drop-tail-bytes", "limit_bytes": 0 }, "rate_bps": 1"#,
            "queue.limit_bytes",
        ),
        (
            r#""queue": { "kind": "drop-tail-packets", "limit_pkts": 0 }, "rate_bps": 1"#,
            "queue.limit_pkts",
        ),
        (r#""rate_bps": 0"#, "rate_bps: a rate of 0"),
        (
            r#""reorder": { "probability": -0.1 }"#,
            "reorder.probability: -0.1",
        ),
        (
            r#""duplicate": { "probability": 1.1 }"#,
            "duplicate.probability: 1.1",
        ),
        (
            r#""duplicate": { "probability": 0.1, "extra": 1 }"#,
            "unknown field `extra`",
        ),
        (r#""wire": "raw""#, "unknown variant `raw`"),
        (r#""delay": 3"#, "unknown field `delay`"),
        (r#""reverse": { "delay": 3 }"#, "unknown field `delay`"),
        (
            r#""reverse": { "loss": { "kind": "bernoulli", "rate": 2 } }"#,
            "reverse.loss.rate: 2",
        ),
    ] {
        let json = format!(r#"{{ "one_way_delay_ns": 5, {part} }}"#);
        let refused = read(&json).expect_err(&json);
        assert!(refused.contains(named), "{part}: {refused}");
    }
    assert!(
        read("{}")
            .unwrap_err()
            .contains("missing field `one_way_delay_ns`")
    );
    let negative = read(r#"{ "one_way_delay_ns": -1 }"#).unwrap_err();
    assert!(negative.contains("-1"), "{negative}");
}
