//! The RFCs' own examples, acknowledgement by acknowledgement.

mod scripted;

use headway_tcp::{Overrides, Recovery, Reduction, RetransmitMerge, SackDetection};
use scripted::{Scripted, config};

fn kinds(sent: &str) -> String {
    sent.split_whitespace().map(|s| &s[..1]).collect()
}

/// RFC 6937, section 3.1: 20 segments in flight, the first `lost` of them lost;
/// what each ACK lets go.
fn after_losses(reduction: Reduction, lost: u64) -> Vec<String> {
    let overrides = Overrides {
        reduction: Some(reduction),
        ..Overrides::default()
    };
    let mut tcp = Scripted::new(config(20, &overrides));
    tcp.write(1000);
    tcp.wait(100);
    (lost..20)
        .map(|arrived| kinds(&tcp.ack(0, &[(lost, arrived + 1)])))
        .collect()
}

#[test]
fn rate_halving_sends_on_every_second_ack() {
    let expected: Vec<&str> = "N N R - N - N - N - N - N - N - N - N".split(' ').collect();
    let sent = after_losses(Reduction::RateHalving, 1);
    let shown: Vec<&str> = sent
        .iter()
        .map(|s| if s.is_empty() { "-" } else { s })
        .collect();
    assert_eq!(shown, expected);
    // 15 losses: one segment for each ACK.
    assert_eq!(
        after_losses(Reduction::RateHalving, 15),
        ["N", "N", "R", "R", "R"]
    );
}

#[test]
fn rfc_6675_falls_silent_for_half_a_window_and_bursts_after_many_losses() {
    let sent = after_losses(Reduction::Immediate, 1);
    // The figure has a window of 11, which counts what limited transmit sent;
    // RFC 5681, section 3.1, does not: 10, and one ACK more of silence.
    let silence = sent.iter().skip(3).take_while(|s| s.is_empty()).count();
    assert_eq!(silence, 9);
    assert_eq!(&sent[..3], ["N", "N", "R"]);
    assert!(sent[12..].iter().all(|s| s == "N"));
    // 15 losses: all that the window of 10 holds beside the four under way.
    let sent = after_losses(Reduction::Immediate, 15);
    assert_eq!(sent, ["N", "N", "RRRRRR", "R", "R"]);
}

#[test]
fn prr_spreads_and_its_bounds_differ_only_in_bursts_of_losses() {
    for reduction in [Reduction::PrrCrb, Reduction::PrrSsrb] {
        let sent = after_losses(reduction, 1);
        assert_eq!(&sent[..3], ["N", "N", "R"]);
        // Half a segment for each ACK, never two in a row empty beyond three.
        let total: usize = sent[2..].iter().map(String::len).sum();
        assert_eq!(total, 8, "ceil(17 * 10 / 22) with the retransmission");
        let gap = sent[3..].split(|s| !s.is_empty()).map(<[_]>::len).max();
        assert_eq!(gap, Some(2));
    }
    assert_eq!(
        after_losses(Reduction::PrrCrb, 15),
        ["N", "N", "R", "R", "R"]
    );
    assert_eq!(
        after_losses(Reduction::PrrSsrb, 15),
        ["N", "N", "RR", "RR", "RR"]
    );
}

#[test]
fn limited_transmit_sends_new_data_on_two_duplicates() {
    for (on, expected) in [(true, ["N4", "N5", "R0"]), (false, ["", "", "R0 N4"])] {
        for sack in [true, false] {
            let overrides = Overrides {
                limited_transmit: Some(on),
                sack: Some(sack),
                ..Overrides::default()
            };
            let mut tcp = Scripted::new(config(4, &overrides));
            tcp.write(100);
            tcp.wait(100);
            let sent: Vec<String> = (1..4)
                .map(|i| tcp.ack(0, &[(1, i + 1)][..usize::from(sack)]))
                .collect();
            assert_eq!(sent, expected, "limited transmit {on}, SACK {sack}");
            // RFC 5681: half of the four that were in flight before.
            assert_eq!(tcp.ssthresh(), 2);
        }
    }
}

#[test]
fn the_scoreboard_of_rfc_6675_repairs_two_gaps_at_once() {
    // 0 and 2 of ten are lost.
    let overrides = Overrides {
        rescue_retransmission: Some(false),
        ..Overrides::default()
    };
    let mut tcp = Scripted::new(config(10, &overrides));
    tcp.write(10);
    tcp.wait(100);
    assert_eq!(tcp.ack(0, &[(1, 2)]), "");
    assert_eq!(
        tcp.ack(0, &[(3, 4), (1, 2)]),
        "",
        "two separate ranges, 2000 bytes"
    );
    // More than two MSS above 0: lost. Above 2 lie 2000 bytes: not yet.
    assert_eq!(tcp.ack(0, &[(3, 5), (1, 2)]), "R0");
    assert_eq!(
        tcp.ack(0, &[(3, 6), (1, 2)]),
        "",
        "pipe is 5 and the window 5"
    );
    assert_eq!(tcp.ack(0, &[(3, 7), (1, 2)]), "R2");
    for i in 7..10 {
        assert_eq!(tcp.ack(0, &[(3, i + 1), (1, 2)]), "");
    }
    tcp.wait(100);
    assert_eq!(tcp.ack(2, &[(3, 10)]), "");
    assert!(tcp.tcp.in_recovery());
    assert_eq!(tcp.ack(10, &[]), "");
    assert!(!tcp.tcp.in_recovery());
    assert_eq!((tcp.cwnd(), tcp.ssthresh()), (5, 5));
    assert_eq!(tcp.tcp.stats().timeouts, 0);
}

#[test]
fn the_rescue_of_rule_4_spares_the_timeout_of_a_lost_tail() {
    for (on, expected) in [(true, "R9"), (false, "")] {
        let overrides = Overrides {
            rescue_retransmission: Some(on),
            ..Overrides::default()
        };
        let mut tcp = Scripted::new(config(10, &overrides));
        tcp.write(10);
        tcp.wait(100);
        for i in 1..9 {
            tcp.ack(0, &[(1, i + 1)]);
        }
        tcp.wait(100);
        assert_eq!(tcp.ack(9, &[]), expected);
    }
}

#[test]
fn small_segments_need_duplicates_where_bytes_do_not_count() {
    // RFC 6675, section 5, step 1: three SACKs of little segments.
    let mut tcp = Scripted::new(config(10, &Overrides::default()));
    for _ in 0..5 {
        tcp.write_bytes(10);
    }
    tcp.wait(100);
    let sent: Vec<String> = (2..5).map(|n| tcp.ack_bytes(0, &[(10, 10 * n)])).collect();
    assert_eq!(sent, ["", "", "R0"]);
}

#[test]
fn fack_and_segment_counting_find_what_they_should() {
    // 0 is lost; 4 arrives before 1 to 3.
    for (detection, expected) in [
        (SackDetection::Fack, "R0"),
        (SackDetection::Segments, ""),
        (SackDetection::Rfc6675, ""),
        (SackDetection::Holes, ""),
    ] {
        let overrides = Overrides {
            sack_detection: Some(detection),
            ..Overrides::default()
        };
        let mut tcp = Scripted::new(config(10, &overrides));
        tcp.write(10);
        tcp.wait(100);
        assert_eq!(tcp.ack(0, &[(4, 5)]), expected, "{detection:?}");
    }
}

#[test]
fn a_lost_retransmission_waits_for_the_timeout_unless_it_is_looked_for() {
    for (detect, expected) in [(true, "R0"), (false, "")] {
        let overrides = Overrides {
            sack_detection: Some(SackDetection::Fack),
            detect_lost_retransmissions: Some(detect),
            ..Overrides::default()
        };
        let mut tcp = Scripted::new(config(10, &overrides));
        tcp.write(100);
        tcp.wait(100);
        for i in 1..10 {
            tcp.ack(0, &[(1, i + 1)]);
        }
        // New data sent after the retransmission arrives, the retransmission not.
        tcp.wait(100);
        let mut sent = String::new();
        for i in 10..13 {
            sent = tcp.ack(0, &[(1, i + 1)]);
            if sent.contains('R') {
                break;
            }
        }
        let again: Vec<&str> = sent.split(' ').filter(|s| s.starts_with('R')).collect();
        assert_eq!(again.join(" "), expected);
    }
}

#[test]
fn timeouts_back_off_and_repair_in_slow_start() {
    let mut tcp = Scripted::new(config(4, &Overrides::default()));
    tcp.write(4);
    let mut waits = Vec::new();
    for _ in 0..7 {
        let (ms, sent) = tcp.timer();
        assert_eq!(sent, "R0");
        waits.push(ms);
    }
    assert_eq!(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
    assert_eq!((tcp.cwnd(), tcp.ssthresh()), (1, 2));
    tcp.wait(100);
    assert_eq!(tcp.ack(1, &[]), "R1 R2", "the window is 2");
    tcp.wait(100);
    assert_eq!(tcp.ack(3, &[]), "R3");
    assert_eq!(tcp.ack(4, &[]), "");
    assert!(!tcp.tcp.in_timeout());
    // Karn: no sample from retransmissions, so the RTO stays backed off until
    // new data is acknowledged.
    assert!(tcp.tcp.rto().as_secs_f64() > 30.0);
    tcp.write(1);
    tcp.wait(100);
    tcp.ack(5, &[]);
    assert!(tcp.tcp.rto().as_secs_f64() < 1.1);
}

#[test]
fn a_timeout_keeps_or_forgets_what_was_sacked() {
    for (keep, expected) in [(true, "R1 R4"), (false, "R1 R2")] {
        let overrides = Overrides {
            keep_sack_after_timeout: Some(keep),
            ..Overrides::default()
        };
        let mut tcp = Scripted::new(config(5, &overrides));
        tcp.write(5);
        tcp.wait(100);
        tcp.ack(0, &[(2, 4)]);
        let (_, sent) = tcp.timer();
        assert_eq!(sent, "R0");
        tcp.wait(100);
        assert_eq!(tcp.ack(1, &[]), expected);
    }
}

#[test]
fn rack_marks_by_time_and_probes_the_tail() {
    let overrides = Overrides {
        recovery: Some(Recovery::RackTlp),
        tail_loss_probe: Some(true),
        ..Overrides::default()
    };
    // RFC 8985, section 3.2's kind of example: the last of three is lost; the
    // probe two round trips later repairs it, long before the RTO of 1 s.
    let mut tcp = Scripted::new(config(10, &overrides));
    tcp.write(3);
    tcp.wait(100);
    assert_eq!(tcp.ack(2, &[]), "");
    assert_eq!(
        tcp.timer(),
        (400, "R2".to_owned()),
        "2 SRTT, and 200 ms for one segment"
    );
    tcp.wait(100);
    assert_eq!(tcp.ack(3, &[]), "");
    assert_eq!(tcp.tcp.stats().timeouts, 0);
    // The loss is noticed once something after it is acknowledged.
    let before = tcp.cwnd();
    tcp.write(1);
    tcp.wait(100);
    tcp.ack(4, &[]);
    assert!(tcp.cwnd() < before, "{} {before}", tcp.cwnd());

    // The tail of a flight: the probe's SACK shows the losses before it.
    let mut tcp = Scripted::new(config(10, &overrides));
    tcp.write(5);
    tcp.wait(100);
    assert_eq!(tcp.ack(2, &[]), "");
    let (ms, sent) = tcp.timer();
    assert_eq!((ms, sent.as_str()), (200, "R4"));
    tcp.wait(100);
    assert_eq!(tcp.ack(2, &[(4, 5)]), "R2 R3", "sent long before the probe");

    // One segment SACKed beyond one gap: the reordering window of a quarter of
    // the round trip passes first.
    let mut tcp = Scripted::new(config(10, &overrides));
    tcp.write(3);
    tcp.wait(100);
    assert_eq!(tcp.ack(0, &[(1, 2)]), "");
    assert_eq!(tcp.timer(), (25, "R0".to_owned()));
}

#[test]
fn rack_finds_a_lost_retransmission() {
    let overrides = Overrides {
        recovery: Some(Recovery::RackTlp),
        reduction: Some(Reduction::PrrSsrb),
        ..Overrides::default()
    };
    let mut tcp = Scripted::new(config(6, &overrides));
    tcp.write(100);
    tcp.wait(100);
    let mut sent = Vec::new();
    for i in 1..6 {
        sent.push(tcp.ack(0, &[(1, i + 1)]));
        tcp.wait(1);
    }
    assert!(sent.iter().any(|s| s.contains("R0")), "{sent:?}");
    tcp.wait(100);
    // Segments sent after the retransmission arrive; it does not.
    let again: Vec<String> = (6..9).map(|i| tcp.ack(0, &[(1, i + 1)])).collect();
    assert!(again.iter().any(|s| s.contains("R0")), "{again:?}");
    assert_eq!(tcp.tcp.stats().timeouts, 0);
}

#[test]
fn d_sack_takes_a_needless_reduction_back() {
    for (undo, window) in [(true, 10), (false, 5)] {
        let overrides = Overrides {
            undo_dsack: Some(undo),
            ..Overrides::default()
        };
        let mut tcp = Scripted::new(config(10, &overrides));
        tcp.write(10);
        tcp.wait(100);
        for i in 1..4 {
            tcp.ack(0, &[(1, i + 1)]);
        }
        assert!(tcp.tcp.in_recovery());
        // 0 was only late.
        tcp.ack(10, &[]);
        tcp.ack(10, &[(0, 1)]);
        assert_eq!(tcp.cwnd(), window);
        assert_eq!(tcp.tcp.stats().undone, u64::from(undo));
    }
}

#[test]
fn f_rto_takes_a_needless_timeout_back() {
    let overrides = Overrides {
        frto: Some(true),
        ..Overrides::default()
    };
    let mut tcp = Scripted::new(config(8, &overrides));
    tcp.write(100);
    let (_, sent) = tcp.timer();
    assert_eq!(sent, "R0");
    // The delayed ACKs of the originals arrive.
    assert_eq!(
        tcp.ack(1, &[]),
        "N8 N9",
        "new data, not what counts as lost"
    );
    tcp.ack(2, &[]);
    assert_eq!(tcp.tcp.stats().needless_timeouts, 1);
    assert!(!tcp.tcp.in_timeout());
    assert_eq!(tcp.cwnd(), 8);
    assert_eq!(tcp.tcp.stats().retransmissions, 1);

    // A duplicate ACK instead: conventional recovery.
    let mut tcp = Scripted::new(config(8, &overrides));
    tcp.write(100);
    tcp.timer();
    assert_eq!(tcp.ack(1, &[]), "N8 N9");
    let sent = tcp.ack(1, &[(8, 9)]);
    assert!(sent.starts_with("R1"), "{sent}");
    assert!(tcp.tcp.in_timeout());
}

#[test]
fn retransmissions_take_in_their_neighbours() {
    for (merge, expected) in [
        (RetransmitMerge::Off, 174),
        (RetransmitMerge::One, 348),
        (RetransmitMerge::Full, 870),
    ] {
        let overrides = Overrides {
            retransmit_merge: Some(merge),
            ..Overrides::default()
        };
        let mut tcp = Scripted::new(config(10, &overrides));
        for _ in 0..6 {
            tcp.write_bytes(174);
        }
        let at = tcp.tcp.poll_timeout().unwrap();
        tcp.tcp.handle_timeout(at);
        let first = tcp.tcp.poll_transmit().unwrap();
        assert!(first.retransmission);
        assert_eq!(first.payload.len(), expected, "{merge:?}");
    }
}
