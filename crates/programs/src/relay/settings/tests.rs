use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

fn parse(flags: &str) -> Result<Settings, Failure> {
    let words = "relay --listen 127.0.0.1:0 --to 127.0.0.1:1 ".to_owned() + flags;
    let line = Line::try_parse_from(words.split_whitespace());
    Settings::from_args(
        &line
            .map_err(|error| Failure::Input(error.to_string()))?
            .args,
    )
}

fn message(flags: &str) -> String {
    match parse(flags) {
        Err(Failure::Input(message)) => message,
        other => panic!("{flags}: {other:?}"),
    }
}

/// The path that JSON text with a RunSpec's keys describes.
fn path(text: &str) -> PathConfig {
    serde_json::from_str(text).unwrap()
}

#[test]
fn flags_say_what_a_run_spec_says() {
    let settings = parse(
        "--delay 20ms --loss 5% --correlation 0.5 --generator copula --rate 1Mb/s \
         --queue drop-tail:100 --reorder 1%:10ms --duplicate 2% \
         --reverse-delay 1ms --reverse-rate 2Mb/s --reverse-loss 0 --reverse-queue drd:10-20:server",
    )
    .unwrap()
    .path;
    let forward = path(
        r#"{"one_way_delay_ns": 20000000, "rate_bps": 1000000,
            "loss": {"kind": "bernoulli", "rate": 0.05, "correlation": 0.5, "generator": "copula"},
            "queue": {"kind": "drop-tail-packets", "limit_pkts": 100},
            "reorder": {"probability": 0.01, "extra_delay_ns": 10000000},
            "duplicate": {"probability": 0.02}}"#,
    );
    assert_eq!(settings.forward(), forward.forward());
    let reverse = path(
        r#"{"one_way_delay_ns": 1000000, "rate_bps": 2000000,
            "loss": {"kind": "bernoulli", "rate": 0.0, "correlation": 0.5, "generator": "copula"},
            "queue": {"kind": "drd", "min_pkts": 10, "max_pkts": 20, "reading": "server"},
            "reorder": {"probability": 0.01, "extra_delay_ns": 10000000},
            "duplicate": {"probability": 0.02}}"#,
    );
    assert_eq!(settings.reverse(), reverse.forward());
}

#[test]
fn queues_are_read() {
    for (text, expected) in [
        ("unlimited", r#"{"kind": "unlimited"}"#),
        (
            "drop-tail:7",
            r#"{"kind": "drop-tail-packets", "limit_pkts": 7}"#,
        ),
        (
            "drop-tail:85kB",
            r#"{"kind": "drop-tail-bytes", "limit_bytes": 85000}"#,
        ),
        (
            "drd:1-5",
            r#"{"kind": "drd", "min_pkts": 1, "max_pkts": 5}"#,
        ),
    ] {
        assert_eq!(
            queue(text),
            Ok(serde_json::from_str(expected).unwrap()),
            "{text}"
        );
    }
    for text in [
        "",
        "fifo:1",
        "drop-tail",
        "drop-tail:-1",
        "drd:5",
        "drd:1-2:x",
        "unlimited:1",
    ] {
        assert!(queue(text).unwrap_err().contains("drop-tail:100"), "{text}");
    }
}

#[test]
fn files_of_both_kinds_say_the_same_and_flags_replace_them() {
    let folder = std::env::temp_dir().join(format!("headway-relay-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        format!("--path {} ", file.display())
    };
    let json = write(
        "a.json",
        r#"{"one_way_delay_ns": 5000000, "loss": {"kind": "trace", "lost": [0, 1]},
            "reverse": {"loss": {"kind": "none"}},
            "dot11": {"cell": {"stations": [{}, {}, {}]}, "access_point": 2}}"#,
    );
    let toml = write(
        "a.toml",
        "one_way_delay_ns = 5_000_000\nloss = { kind = \"trace\", lost = [0, 1] }\n\
         [reverse]\nloss = { kind = \"none\" }\n\
         [dot11]\naccess_point = 2\n[dot11.cell]\nstations = [{}, {}, {}]\n",
    );
    let settings = parse(&json).unwrap();
    assert_eq!(settings, parse(&toml).unwrap());
    assert_eq!(settings.path.reverse().loss, LossConfig::Lossless {});
    assert_eq!(settings.dot11.unwrap().access_point, 2);
    let changed = parse(&(json + "--delay 1s --reverse-delay 2s"))
        .unwrap()
        .path;
    assert_eq!(changed.one_way_delay_ns, 1_000_000_000);
    assert_eq!(
        changed.forward().loss,
        LossConfig::Trace { lost: vec![0, 1] }
    );
    assert_eq!(changed.reverse().one_way_delay_ns, 2_000_000_000);
    assert_eq!(changed.reverse().loss, LossConfig::Lossless {});

    for (name, text, said) in [
        ("b.json", "{", "b.json: EOF"),
        ("b.toml", "one_way_delay_ns 5", "b.toml: "),
        ("b.txt", "", "ends in .json or .toml"),
        ("c.json", "{}", "missing field `one_way_delay_ns`"),
        (
            "d.json",
            r#"{"one_way_delay_ns": 1, "delai": 1}"#,
            "unknown field `delai`",
        ),
        (
            "e.json",
            r#"{"one_way_delay_ns": 1, "rate_bps": 0}"#,
            "e.json: rate_bps: a rate of 0",
        ),
        (
            "f.json",
            r#"{"one_way_delay_ns": 1, "dot11": {"cell": {"stations": [{}]}}}"#,
            "dot11.cell.stations: a cell needs two stations",
        ),
        (
            "g.json",
            r#"{"one_way_delay_ns": 1, "dot11": {"cell": {"stations": [{}, {}]}, "client": 1}}"#,
            "dot11.access_point: the client's own station",
        ),
        (
            "h.json",
            r#"{"one_way_delay_ns": 1, "dot11": {"client": 5, "cell": {"stations": [{}, {}]}}}"#,
            "dot11.client: there is no station 5",
        ),
        (
            "i.json",
            r#"{"one_way_delay_ns": 1, "dot11": {"cell": {"stations": [{}, {}],
                "jitter": {"sigma_db": 1.0, "per": "transaction"}}}}"#,
            "dot11.cell.jitter.per: a relay sees no transactions",
        ),
    ] {
        let message = message(&write(name, text));
        assert!(message.contains(said), "{name}: {message}");
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(message("--path nowhere.json").starts_with("nowhere.json: "));
}

#[test]
fn senseless_flags_are_refused() {
    for (flags, said) in [
        ("--loss 120%", "above 1"),
        ("--delay 20", "lacks a unit"),
        ("--queue drop-tail:10", "drop-tail-packets needs rate_bps"),
        ("--correlation 0.5", "give --loss too"),
        ("--loss 5% --correlation 1", "loss.correlation"),
        ("--loss 5% --generator netem", "no generator"),
        ("--reverse-queue drop-tail:10", "reverse.queue.kind"),
        ("--reorder 5%", "how many and by how much"),
    ] {
        let message = message(flags);
        assert!(message.contains(said), "{flags}: {message}");
    }
}
