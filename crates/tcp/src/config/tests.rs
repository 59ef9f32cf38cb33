use super::*;

#[test]
fn every_value_has_a_source_of_its_own_profile() {
    let rfc = Profile::Rfc.config().values();
    for profile in Profile::ALL {
        let lines = profile.lines();
        assert_eq!(lines.len(), Config::KNOBS.len());
        for (line, standard) in lines.iter().zip(&rfc) {
            assert!(!line.source.is_empty(), "{} {}", profile.name(), line.knob);
            if &line.value != standard {
                assert!(
                    profile.differs_by_own_source(line.knob),
                    "{}: {} = {} has no source",
                    profile.name(),
                    line.knob,
                    line.value
                );
            }
        }
    }
}

#[test]
fn sources_name_real_knobs_once() {
    for profile in Profile::ALL {
        for lines in profile.source_lines() {
            let mut names: Vec<_> = lines.iter().map(|line| line.0).collect();
            for name in &names {
                assert!(Config::KNOBS.contains(name), "{name}");
            }
            let before = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), before);
        }
    }
}

#[test]
fn names_are_found_again() {
    for profile in Profile::ALL {
        assert_eq!(Profile::by_name(profile.name()), Some(profile));
        let json = serde_json::to_string(&profile).unwrap();
        assert_eq!(json, format!("{:?}", profile.name()));
        assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), profile);
    }
    assert_eq!(Profile::by_name("windows"), None);
}

#[test]
fn overrides_lie_over_a_profile_and_reject_what_they_do_not_know() {
    let json = r#"{
        "rto_min_ns": 1000000000,
        "reduction": "prr-ssrb",
        "sack_detection": "rfc6675",
        "validation": "rfc7661",
        "nagle": "off"
    }"#;
    let overrides: Overrides = serde_json::from_str(json).unwrap();
    let config = Config::new(Profile::Linux2617, &overrides);
    assert_eq!(config.rto_min_ns, 1_000_000_000);
    assert_eq!(config.reduction, Reduction::PrrSsrb);
    assert_eq!(config.validation, Validation::Rfc7661);
    assert_eq!(config.nagle, Nagle::Off);
    assert_eq!(config.growth_counting, GrowthCounting::Bytes, "kept");
    assert!(serde_json::from_str::<Overrides>(r#"{"rto_min_ms": 1}"#).is_err());
    assert!(serde_json::from_str::<Overrides>(r#"{"nagle": "sometimes"}"#).is_err());
    let lines = Profile::Linux2617.lines();
    let value = |knob| lines.iter().find(|l| l.knob == knob).unwrap().value.clone();
    assert_eq!(value("reduction"), "rate-halving");
    assert_eq!(value("validation"), "rfc2861");
    // A whole configuration travels as overrides.
    let all = serde_json::to_string(&config.to_overrides()).unwrap();
    let back: Overrides = serde_json::from_str(&all).unwrap();
    assert_eq!(Config::new(Profile::Rfc, &back), config);
}

#[test]
fn initial_windows() {
    let bytes = |mss| Config::default().initial_window_bytes(mss);
    // RFC 3390, section 1: 4 of up to 1095, 3 of 1460, 2 of more than 2190.
    assert_eq!(
        [bytes(536), bytes(1460), bytes(2190), bytes(4000)],
        [2144, 4380, 4380, 8000]
    );
    assert_eq!(Profile::Linux6.config().initial_window_bytes(1448), 14_480);
}
