use super::*;

#[test]
fn every_profile_has_a_source_for_every_knob() {
    let rfc = Config::knobs("rfc9260").unwrap();
    for profile in PROFILES {
        let knobs = Config::knobs(profile).unwrap();
        assert_eq!(knobs.len(), rfc.len());
        for (knob, default) in knobs.iter().zip(&rfc) {
            assert!(!knob.source.is_empty());
            // What differs from the RFC must not claim to come from it.
            let starts = |name: &str| knob.source.starts_with(name);
            let own = match profile {
                "low-delay" => knob.source != default.source && starts("RFC"),
                "dcsctp" => starts("dcsctp"),
                _ => starts("lksctp") || starts("sctp-refimpl"),
            };
            assert!(knob.value == default.value || own, "{profile}: {knob:?}");
        }
    }
    assert!(Config::profile("lksctp-2.6.12").is_err());
}

#[test]
fn profiles_differ_where_the_stacks_did() {
    let value = |profile: &str, name: &str| {
        let knobs = Config::knobs(profile).unwrap();
        knobs
            .into_iter()
            .find(|knob| knob.name == name)
            .unwrap()
            .value
    };
    let row = |name: &str| PROFILES.map(|profile| value(profile, name));
    assert_eq!(
        row("missing_report_threshold"),
        ["3", "4", "3", "3", "3", "3"]
    );
    assert_eq!(
        row("repeat_fast_retransmit"),
        [
            "off",
            "unqualified",
            "off",
            "qualified",
            "unqualified",
            "off"
        ]
    );
    assert_eq!(
        row("fast_recovery"),
        ["true", "false", "false", "true", "true", "true"]
    );
    assert_eq!(row("ssthresh_floor_mtus"), ["4", "4", "4", "2", "4", "4"]);
    assert_eq!(
        row("rto_initial_ns"),
        [
            "1000000000",
            "3000000000",
            "3000000000",
            "3000000000",
            "500000000",
            "1000000000"
        ]
    );
    assert_eq!(
        row("rto_formula"),
        ["rfc", "rfc", "rfc", "freebsd2006", "rfc", "rfc"]
    );
    assert_eq!(
        row("idle_decay"),
        [
            "each-rto",
            "at-heartbeat",
            "at-heartbeat",
            "never",
            "never",
            "each-rto"
        ]
    );
}

#[test]
fn overrides_go_over_a_profile() {
    let text = r#"{
        "rto_min_ns": 200000000, "missing_report_threshold": 5,
        "repeat_fast_retransmit": "qualified", "fast_recovery": true, "sack_every": 1,
        "cwnd_when_limited": "grow", "scheduler": "round-robin", "nagle": true,
        "mtu_bytes": 1280, "heartbeat_interval_ns": 0, "rto_formula": "freebsd2006"
    }"#;
    let overrides: Overrides = serde_json::from_str(text).unwrap();
    let mut config = Config::profile("lksctp-2.6.18").unwrap();
    overrides.apply(&mut config);
    let expected = Config {
        rto_min: Duration::from_millis(200),
        missing_report_threshold: 5,
        repeat_fast_retransmit: RepeatFastRetransmit::Qualified,
        fast_recovery: true,
        sack_every: 1,
        cwnd_when_limited: CwndWhenLimited::Grow,
        scheduler: Scheduler::RoundRobin,
        nagle: true,
        mtu_bytes: 1280,
        heartbeat_interval: Duration::ZERO,
        rto_formula: RtoFormula::Freebsd2006,
        ..Config::profile("lksctp-2.6.18").unwrap()
    };
    assert_eq!(config, expected);
}

#[test]
fn unknown_knobs_and_values_are_errors() {
    for text in [
        r#"{"rto_minimum_ns": 1}"#,
        r#"{"scheduler": "fastest"}"#,
        r#"{"nagle": 1}"#,
    ] {
        assert!(serde_json::from_str::<Overrides>(text).is_err(), "{text}");
    }
}

#[test]
fn knob_values_are_spelled_as_in_study_files() {
    for profile in PROFILES {
        for knob in Config::knobs(profile).unwrap() {
            let quoted = format!(r#"{{"{}": "{}"}}"#, knob.name, knob.value);
            let bare = format!(r#"{{"{}": {}}}"#, knob.name, knob.value);
            let read = serde_json::from_str::<Overrides>(&quoted)
                .or_else(|_| serde_json::from_str::<Overrides>(&bare));
            let mut config = Config::profile(profile).unwrap();
            read.unwrap_or_else(|error| panic!("{knob:?}: {error}"))
                .apply(&mut config);
            assert_eq!(config, Config::profile(profile).unwrap());
        }
    }
}

#[test]
fn profiles_make_sense_and_nonsense_is_named() {
    for profile in PROFILES {
        assert_eq!(Config::profile(profile).unwrap().check(), Ok(()));
    }
    let rfc = Config::default();
    let second = Duration::from_secs(1);
    let cases = [
        (
            Config {
                rto_min: second * 2,
                ..rfc.clone()
            },
            ConfigError::Rto,
        ),
        (
            Config {
                sack_delay: second,
                ..rfc.clone()
            },
            ConfigError::SackDelay,
        ),
        (
            Config {
                missing_report_threshold: 0,
                ..rfc.clone()
            },
            ConfigError::MissingReportThreshold,
        ),
        (
            Config {
                mtu_bytes: 60,
                ..rfc.clone()
            },
            ConfigError::Mtu,
        ),
        (
            Config {
                send_buffer_bytes: 10,
                ..rfc.clone()
            },
            ConfigError::Buffer,
        ),
        (
            Config {
                inbound_streams: 0,
                ..rfc.clone()
            },
            ConfigError::Streams,
        ),
        (
            Config {
                init_limit: Some(InitLimit {
                    per_second: 0,
                    burst: 1,
                }),
                ..rfc.clone()
            },
            ConfigError::InitLimit,
        ),
        (
            Config {
                init_limit: Some(InitLimit {
                    per_second: 1,
                    burst: 0,
                }),
                ..rfc.clone()
            },
            ConfigError::InitLimit,
        ),
    ];
    for (config, error) in cases {
        assert_eq!(config.check(), Err(error));
    }
}
