//! One to four losses in one window: the reactions of Reno, NewReno and SACK
//! that Fall and Floyd found (Computer Communication Review 26(3), 1996).

mod pair;

use headway_sansio::{Duration, Payload};
use headway_tcp::{AckPolicy, Config, Nagle, Overrides, Profile, Recovery, SackDetection};
use pair::Pair;

const RTT: Duration = Duration::from_millis(200);

struct Reaction {
    timeouts: u64,
    reductions: u64,
    /// Round trips from the first retransmission to the end of the repair.
    rounds: u64,
    retransmissions: u64,
}

/// A window of 15 segments, of which those numbered are lost.
fn react(recovery: Recovery, losses: &'static [u64]) -> Reaction {
    let config = Config::new(
        Profile::Rfc,
        &Overrides {
            recovery: Some(recovery),
            sack: Some(recovery == Recovery::Sack),
            sack_detection: Some(SackDetection::Rfc6675),
            nagle: Some(Nagle::Off),
            initial_window_segments: Some(15),
            initial_ssthresh_segments: Some(15),
            ack_policy: Some(AckPolicy::Immediate),
            send_buffer_bytes: Some(1 << 40),
            mss_bytes: Some(1000),
            ..Overrides::default()
        },
    );
    let mut pair = Pair::new(config.clone(), config, RTT / 2)
        .lose(losses)
        .connected();
    pair.rate_bps = Some(8_000_000);
    pair.write(Payload::Sized(200_000));
    pair.run_for(Duration::from_secs(20));
    assert_eq!(pair.received(), 200_000);
    let again: Vec<_> = pair.sent.iter().filter(|s| s.3).collect();
    let first = again.first().unwrap().0;
    let last = again.last().unwrap().0;
    Reaction {
        timeouts: pair.client.stats().timeouts,
        reductions: pair.client.stats().fast_recoveries,
        rounds: last.since(first).as_nanos() / RTT.as_nanos() + 1,
        retransmissions: again.len() as u64,
    }
}

const ONE: &[u64] = &[7];
const TWO: &[u64] = &[7, 9];
const THREE: &[u64] = &[6, 7, 9];
const FOUR: &[u64] = &[4, 6, 7, 9];

#[test]
fn reno_halves_again_for_a_second_loss_and_times_out_at_the_third() {
    let one = react(Recovery::Reno, ONE);
    assert_eq!(
        (one.timeouts, one.reductions, one.retransmissions),
        (0, 1, 1)
    );
    let two = react(Recovery::Reno, TWO);
    assert_eq!((two.timeouts, two.reductions), (0, 2));
    for losses in [THREE, FOUR] {
        let more = react(Recovery::Reno, losses);
        assert_eq!(more.timeouts, 1, "{losses:?}");
    }
}

#[test]
fn new_reno_repairs_one_loss_in_each_round_trip() {
    for (count, losses) in [(1, ONE), (2, TWO), (3, THREE), (4, FOUR)] {
        let r = react(Recovery::NewReno, losses);
        assert_eq!((r.timeouts, r.reductions), (0, 1), "{losses:?}");
        assert_eq!((r.rounds, r.retransmissions), (count, count), "{losses:?}");
    }
}

#[test]
fn sack_repairs_them_all_in_about_one_round_trip() {
    for (count, losses) in [(1, ONE), (2, TWO), (3, THREE), (4, FOUR)] {
        let r = react(Recovery::Sack, losses);
        assert_eq!((r.timeouts, r.reductions), (0, 1), "{losses:?}");
        assert_eq!((r.rounds, r.retransmissions), (1, count), "{losses:?}");
    }
}

#[test]
fn a_lost_fast_retransmission_costs_a_timeout() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let config = Config::new(
            Profile::Rfc,
            &Overrides {
                recovery: Some(recovery),
                sack: Some(recovery == Recovery::Sack),
                rescue_retransmission: Some(false),
                ack_policy: Some(AckPolicy::Immediate),
                initial_window_segments: Some(8),
                ..Overrides::default()
            },
        );
        let mut lost = 0;
        let mut pair = Pair::new(config.clone(), config, RTT / 2)
            .with_fate(move |way, segment| {
                let target = way == pair::Way::Forth && segment.offset == 1460;
                if target && !segment.payload.is_empty() && lost < 2 {
                    lost += 1;
                    return pair::Fate::Drop;
                }
                pair::Fate::Deliver
            })
            .connected();
        pair.write(Payload::Sized(8 * 1460));
        pair.run_for(Duration::from_secs(20));
        assert_eq!(pair.received(), 8 * 1460);
        assert_eq!(pair.client.stats().timeouts, 1, "{recovery:?}");
        assert_eq!(pair.client.stats().fast_recoveries, 1);
    }
}
