use super::*;

#[test]
fn quantities_are_exact() {
    assert_eq!(duration("20ms"), Ok(Duration::from_millis(20)));
    assert_eq!(duration(" 0.1 s "), Ok(Duration::from_nanos(100_000_000)));
    assert_eq!(duration("1e-3s"), Ok(Duration::from_millis(1)));
    assert_eq!(duration("1.5min"), Ok(Duration::from_secs(90)));
    assert_eq!(duration("7µs"), Ok(Duration::from_micros(7)));
    assert_eq!(duration("0"), Ok(Duration::ZERO));
    assert_eq!(bit_rate("1Mb/s"), Ok(1_000_000));
    assert_eq!(bit_rate("64 kB/s"), Ok(512_000));
    assert_eq!(size("85kB"), Ok(85_000));
    assert_eq!(size("1KiB"), Ok(1024));
    assert_eq!(fraction("5%"), Ok(0.05));
    assert_eq!(fraction("0.1 %"), Ok(0.001));
    assert_eq!(fraction("0.05"), Ok(0.05));
    assert_eq!(fraction("1"), Ok(1.0));
    assert_eq!(event_rate("40/s"), Ok(40.0));
    assert_eq!(event_rate("30/min"), Ok(0.5));
    assert_eq!(seed("0xff"), Ok(255));
    assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
}

#[test]
fn what_is_wrong_is_said() {
    for (text, said) in [
        ("20", "lacks a unit"),
        ("20 sec", "unknown unit \"sec\""),
        ("0.5ns", "not a whole number of ns"),
        ("fast", "is not a duration"),
        ("-1s", "is not a duration"),
        ("", "is not a duration"),
        ("1.2.3s", "is not a duration"),
        ("99999999999h", "too large"),
        ("1e300s", "too large"),
        ("99999999999999999999s", "is not a duration"),
    ] {
        let error = duration(text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
    assert!(bit_rate("0b/s").unwrap_err().contains("carries nothing"));
    assert!(fraction("101%").unwrap_err().contains("above 1"));
    assert!(
        fraction("1ms")
            .unwrap_err()
            .contains("no unit of a probability")
    );
    assert!(event_rate("0").unwrap_err().contains("not above 0"));
    assert!(seed("0xzz").is_err() && seed("-1").is_err());
}
