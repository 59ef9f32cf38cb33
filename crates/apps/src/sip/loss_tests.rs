//! Both ends over an unreliable transport: SIP's own repetitions.

use std::collections::BTreeSet;

use headway_sansio::{Chance, Duration, Seed, Time};

use super::*;
use crate::pipe::{Loss, Pipe, Side};
use crate::{Application, Peer, Reliability};

const DELAY: Duration = Duration::from_millis(20);

struct Run {
    caller: SipCaller,
    answerer: SipAnswerer,
    pipe: Pipe,
    end: Time,
}

fn run(mut caller: SipCaller, mut answerer: SipAnswerer, seed: u64, loss: Loss) -> Run {
    caller = caller.over(Reliability::Unreliable, "UDP");
    answerer = answerer.over(Reliability::Unreliable, "UDP");
    let mut pipe = Pipe::new(DELAY, Seed::new(seed).stream("pipe"));
    pipe.loss = loss;
    let end = pipe.run(&mut caller, &mut answerer);
    let names: BTreeSet<_> = pipe.log.iter().map(|(_, _, out)| out.id).collect();
    assert_eq!(names.len(), pipe.log.len(), "two messages of one name");
    assert_eq!(caller.odd().malformed + answerer.odd().malformed, 0);
    Run {
        caller,
        answerer,
        pipe,
        end,
    }
}

fn run_transactions(workload: &SipTransactions, seed: u64, loss: Loss) -> Run {
    assert_eq!(workload.validate(), Ok(()));
    let pauses = Seed::new(seed).stream("pauses");
    let caller = SipCaller::one_by_one(workload, Duration::MAX, pauses, Peer(0));
    run(caller, SipAnswerer::for_transactions(workload), seed, loss)
}

fn one() -> SipTransactions {
    SipTransactions {
        transactions: 1,
        ..SipTransactions::default()
    }
}

fn run_calls(workload: &SipWorkload, seed: u64, loss: Loss) -> Run {
    assert_eq!(workload.validate(), Ok(()));
    let arrivals = Seed::new(seed).stream("arrivals");
    let caller = SipCaller::new(workload, Duration::from_secs(20), arrivals, Peer(0));
    run(caller, SipAnswerer::new(workload), seed, loss)
}

fn lose_kinds(kinds: &'static [MessageKind]) -> Loss {
    Box::new(|_, _, out| kinds.contains(&SipId::decode(out.id).unwrap().kind))
}

fn lose_at_random(rate: f64) -> Loss {
    let chance = Chance::new(rate);
    Box::new(move |random, _, _| random.happens(chance))
}

/// Milliseconds at which messages of a kind were handed over.
fn times(run: &Run, kind: MessageKind) -> Vec<u64> {
    let of_kind = run.pipe.log.iter().filter(|(_, side, out)| {
        let id = SipId::decode(out.id).unwrap();
        assert_eq!(
            kind.is_from_caller() && id.kind == kind,
            *side == Side::A && id.kind == kind
        );
        id.kind == kind
    });
    of_kind.map(|(at, ..)| at.as_nanos() / 1_000_000).collect()
}

const INVITES: [u64; 7] = [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500];
const OKS: [u64; 11] = [
    0, 500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
];

#[test]
fn without_loss_nothing_is_repeated() {
    let run = run_transactions(&SipTransactions::default(), 1, Box::new(|_, _, _| false));
    let calls = run.caller.calls();
    assert_eq!(calls.len(), 500);
    for (call, answer) in calls.iter().zip(run.answerer.calls()) {
        assert_eq!(call.transaction_delay(), Some(DELAY * 2));
        assert_eq!((call.invites, answer.oks), (1, 1));
        assert_eq!(outcome(call, Some(answer)), Outcome::Success);
    }
    let gaps: Vec<u64> = calls
        .windows(2)
        .map(|pair| pair[1].started.since(pair[0].finished.unwrap()).as_nanos())
        .collect();
    let long = gaps.iter().filter(|gap| **gap == 2_000_000_000).count();
    let short = gaps.iter().filter(|gap| **gap == 1_000_000_000).count();
    assert_eq!(long + short, 499);
    // Five standard deviations of a fair coin: sqrt(499)/2 = 11.2.
    assert!((194..=305).contains(&long), "{long}");
    assert_eq!(run.pipe.log.len(), 4 * 500);
    // The last ACK still travels when the last 200 has come.
    assert_eq!(run.end, calls[499].finished.unwrap() + DELAY);
    assert_eq!(
        (run.caller.odd(), run.answerer.odd()),
        (Odd::default(), Odd::default())
    );
}

#[test]
fn invite_lost_for_ever() {
    let run = run_transactions(&one(), 1, lose_kinds(&[MessageKind::Invite]));
    assert_eq!(times(&run, MessageKind::Invite), INVITES);
    let call = &run.caller.calls()[0];
    let end = Time::ZERO + Duration::from_secs(32);
    assert_eq!(call.failed, Some((end, Failure::NoResponse)));
    assert_eq!(
        outcome(call, run.answerer.calls().first()),
        Outcome::NoAnswer
    );
    assert_eq!(run.end, end);
}

#[test]
fn every_response_lost() {
    let lost = &[MessageKind::Trying, MessageKind::Ok];
    let run = run_transactions(&one(), 1, lose_kinds(lost));
    assert_eq!(times(&run, MessageKind::Invite), INVITES);
    // The answerer hears each INVITE one delay later; a 100 answers each.
    assert_eq!(times(&run, MessageKind::Trying), INVITES.map(|t| t + 20));
    assert_eq!(times(&run, MessageKind::Ok), OKS.map(|t| t + 20));
    let answer = &run.answerer.calls()[0];
    assert_eq!(answer.oks, 11);
    let end = Time::ZERO + DELAY + Duration::from_secs(32);
    assert_eq!(answer.unacknowledged, Some(end));
    assert_eq!(
        outcome(&run.caller.calls()[0], Some(answer)),
        Outcome::NoAnswer
    );
    assert_eq!(run.end, end);
}

#[test]
fn a_trying_stops_the_invites_and_not_the_oks() {
    let run = run_transactions(&one(), 1, lose_kinds(&[MessageKind::Ok]));
    assert_eq!(times(&run, MessageKind::Invite), [0]);
    assert_eq!(times(&run, MessageKind::Ok), OKS.map(|t| t + 20));
    let end = Time::ZERO + Duration::from_secs(32);
    assert_eq!(run.caller.calls()[0].failed, Some((end, Failure::NoAnswer)));
}

#[test]
fn every_ack_lost() {
    let run = run_transactions(&one(), 1, lose_kinds(&[MessageKind::Ack]));
    assert_eq!(times(&run, MessageKind::Invite), [0]);
    assert_eq!(times(&run, MessageKind::Ok), OKS.map(|t| t + 20));
    // Each 200 that arrives is acknowledged, and nothing else sends an ACK.
    assert_eq!(times(&run, MessageKind::Ack), OKS.map(|t| t + 40));
    let (call, answer) = (&run.caller.calls()[0], &run.answerer.calls()[0]);
    assert_eq!(call.transaction_delay(), Some(DELAY * 2));
    assert_eq!(outcome(call, Some(answer)), Outcome::NoAck);
}

#[test]
fn what_a_repeated_invite_does_is_a_setting() {
    // The first 100 and the first 200 are lost, and the INVITE is repeated at 500 ms.
    let lose_first: fn() -> Loss =
        || Box::new(|_, side, out| side == Side::B && SipId::decode(out.id).unwrap().copy == 0);
    for (setting, tryings, oks) in [
        (RepeatedInvite::Absorb, &[20][..], &[20, 520][..]),
        (RepeatedInvite::Trying, &[20, 520], &[20, 520]),
        // The repeated INVITE and the 200's own timer fall together here.
        (RepeatedInvite::TryingAndOk, &[20, 520], &[20, 520, 520]),
    ] {
        let workload = SipTransactions {
            repeated_invite: setting,
            ..one()
        };
        let run = run_transactions(&workload, 1, lose_first());
        assert_eq!(times(&run, MessageKind::Trying), tryings, "{setting:?}");
        assert_eq!(times(&run, MessageKind::Ok), oks, "{setting:?}");
        let delay = run.caller.calls()[0].transaction_delay();
        assert_eq!(delay, Some(Duration::from_millis(540)));
    }
}

#[test]
fn a_late_ok_is_acknowledged_and_does_not_mend_a_failure() {
    // All 200s but the last, sent at 31.8 s, are lost; that one comes at 32.1 s.
    let workload = one();
    let mut caller = SipCaller::one_by_one(
        &workload,
        Duration::MAX,
        Seed::new(1).stream("pauses"),
        Peer(0),
    )
    .over(Reliability::Unreliable, "UDP");
    let mut answerer =
        SipAnswerer::for_transactions(&workload).over(Reliability::Unreliable, "UDP");
    let mut pipe = Pipe::new(Duration::from_millis(300), Seed::new(1).stream("pipe"));
    pipe.loss = Box::new(|_, _, out| {
        let id = SipId::decode(out.id).unwrap();
        id.kind == MessageKind::Ok && id.copy < 10
    });
    pipe.run(&mut caller, &mut answerer);
    let call = &caller.calls()[0];
    assert_eq!(
        call.answered,
        Some(Time::ZERO + Duration::from_millis(32_100))
    );
    assert_eq!(call.transaction_delay(), None);
    assert_eq!(outcome(call, answerer.calls().first()), Outcome::NoAnswer);
    let acks = pipe
        .log
        .iter()
        .filter(|(_, _, out)| SipId::decode(out.id).is_some_and(|id| id.kind == MessageKind::Ack));
    assert_eq!(acks.count(), 1);
}

#[test]
fn transmissions_of_the_ok_are_geometric() {
    // Only the downlink loses, as in seed 1; among successes P(t) = Q^(t-1) (1-Q) / (1-Q^11).
    let q: f64 = 0.4;
    let workload = SipTransactions {
        transactions: 4_000,
        ..SipTransactions::default()
    };
    let chance = Chance::new(q);
    let loss: Loss = Box::new(move |random, side, _| {
        let lost = random.happens(chance);
        lost && side == Side::B
    });
    let run = run_transactions(&workload, 5, loss);
    let pairs = run.caller.calls().iter().zip(run.answerer.calls());
    let oks: Vec<u32> = pairs
        .filter(|(call, answer)| outcome(call, Some(answer)) == Outcome::Success)
        .map(|(_, answer)| answer.oks)
        .collect();
    let n = oks.len() as f64;
    for t in 1..=4 {
        let measured = oks.iter().filter(|oks| **oks == t).count() as f64 / n;
        let expected = q.powi(t as i32 - 1) * (1.0 - q) / (1.0 - q.powi(11));
        let sd = (expected * (1.0 - expected) / n).sqrt();
        assert!(
            (measured - expected).abs() < 4.0 * sd,
            "{t}: {measured} {expected}"
        );
    }
    // Each 200 that came late came exactly at one of the timer's steps.
    for (call, answer) in run.caller.calls().iter().zip(run.answerer.calls()) {
        if let Some(delay) = call.transaction_delay() {
            let ms = delay.as_nanos() / 1_000_000;
            assert_eq!(ms, OKS[answer.oks as usize - 1] + 40);
        }
    }
}

#[test]
fn whole_calls_survive_heavy_loss() {
    let workload = SipWorkload {
        flow: Flow::Full,
        ring_time_ns: 700_000_000,
        talk_time_ns: 900_000_000,
        ..SipWorkload::default()
    };
    let run = run_calls(&workload, 3, lose_at_random(0.3));
    let calls = run.caller.calls();
    let finished = calls.iter().filter(|call| call.finished.is_some()).count();
    let failed = calls.iter().filter(|call| call.failed.is_some()).count();
    // Every call ends one way and not both.
    assert_eq!(finished + failed, calls.len());
    // An INVITE is tried seven times and each try needs both directions:
    // (1 - 0.7^2)^7 = 0.9 %. The 200 and the BYE are tried eleven times.
    assert!(failed * 50 < calls.len(), "{failed} of {}", calls.len());
    for call in calls.iter().filter(|call| call.finished.is_some()) {
        assert!(call.answered.is_some() && call.invites >= 1);
    }
    assert!(run.caller.is_done() && run.answerer.is_done());
}

#[test]
fn real_text_gives_the_same_samples_under_loss() {
    let lengths = SipWorkload {
        flow: Flow::Full,
        ring_time_ns: 300_000_000,
        talk_time_ns: 200_000_000,
        ..SipWorkload::default()
    };
    let text = SipWorkload {
        content: Content::Full,
        ..lengths.clone()
    };
    for seed in 0..2 {
        let lengths = run_calls(&lengths, seed, lose_at_random(0.2));
        let text = run_calls(&text, seed, lose_at_random(0.2));
        assert_eq!(lengths.caller.calls(), text.caller.calls());
        assert_eq!(lengths.answerer.calls(), text.answerer.calls());
        assert_eq!(lengths.end, text.end);
    }
    let lengths = SipTransactions::default();
    let text = SipTransactions {
        content: Content::Full,
        ..lengths.clone()
    };
    let lengths = run_transactions(&lengths, 1, lose_at_random(0.4));
    let text = run_transactions(&text, 1, lose_at_random(0.4));
    assert_eq!(lengths.caller.calls(), text.caller.calls());
    assert_eq!(lengths.answerer.calls(), text.answerer.calls());
}

#[test]
fn ringing_comes_with_a_repeated_invite() {
    // The 180 answers each INVITE that arrives, so that the post-selection delay
    // is one of the INVITE's steps and two delays.
    let run = run_calls(&SipWorkload::default(), 4, lose_at_random(0.25));
    let calls = run.caller.calls();
    let mut steps = [0_u32; 7];
    for call in calls {
        match call.post_selection_delay() {
            Some(psd) => {
                let ms = psd.as_nanos() / 1_000_000 - 40;
                let step = INVITES.iter().position(|at| *at == ms).expect("a step");
                steps[step] += 1;
            }
            None => assert!(matches!(call.failed, Some((_, Failure::NoResponse)))),
        }
    }
    let n = calls.len() as f64;
    let both = 0.75_f64 * 0.75;
    for (step, count) in steps.iter().take(3).enumerate() {
        let expected = (1.0 - both).powi(step as i32) * both;
        let sd = (expected * (1.0 - expected) / n).sqrt();
        let measured = f64::from(*count) / n;
        assert!((measured - expected).abs() < 4.0 * sd, "{step}: {measured}");
    }
}

#[test]
fn an_ok_can_be_repeated_over_a_reliable_transport() {
    // The round trip is longer than T1, so that the ACK comes after one repetition.
    for (setting, oks) in [(false, 1), (true, 2)] {
        let workload = SipWorkload {
            flow: Flow::Full,
            repeat_ok_when_reliable: setting,
            ..SipWorkload::default()
        };
        let arrivals = Seed::new(1).stream("arrivals");
        let mut caller = SipCaller::new(&workload, Duration::from_secs(1), arrivals, Peer(0));
        let mut answerer = SipAnswerer::new(&workload);
        let mut pipe = Pipe::new(Duration::from_millis(300), Seed::new(1).stream("pipe"));
        pipe.run(&mut caller, &mut answerer);
        assert!(!caller.calls().is_empty());
        assert!(caller.calls().iter().all(|call| call.invites == 1));
        assert!(answerer.calls().iter().all(|answer| answer.oks == oks));
    }
}

#[test]
fn a_reliable_transport_may_be_later_than_timer_b() {
    // SIP has given up, and the post-selection delay is still measured.
    let workload = SipWorkload::default();
    let arrivals = Seed::new(1).stream("arrivals");
    let mut caller = SipCaller::new(&workload, Duration::from_secs(1), arrivals, Peer(0));
    let mut answerer = SipAnswerer::new(&workload);
    let mut pipe = Pipe::new(Duration::from_secs(17), Seed::new(1).stream("pipe"));
    pipe.run(&mut caller, &mut answerer);
    for call in caller.calls() {
        let failed = call.started + Duration::from_secs(32);
        assert_eq!(call.failed, Some((failed, Failure::NoResponse)));
        assert_eq!(call.post_selection_delay(), Some(Duration::from_secs(34)));
    }
}

#[test]
fn keys_of_transactions_are_checked() {
    let parse = serde_json::from_str::<SipTransactions>;
    assert_eq!(parse("{}").unwrap(), SipTransactions::default());
    assert!(parse(r#"{"ringing_bytes": 1}"#).is_err());
    let set = parse(r#"{"repeated_invite": "trying-and-ok"}"#).unwrap();
    assert_eq!(set.repeated_invite, RepeatedInvite::TryingAndOk);
    let key = |text| parse(text).unwrap().validate().unwrap_err().key;
    assert_eq!(key(r#"{"transactions": 0}"#), "transactions");
    assert_eq!(key(r#"{"pauses_ns": []}"#), "pauses_ns");
    assert_eq!(key(r#"{"trying_bytes": 0}"#), "trying_bytes");
    assert_eq!(key(r#"{"t1_ns": 0}"#), "t1_ns");
    assert_eq!(key(r#"{"t2_ns": 499999999}"#), "t2_ns");
    assert_eq!(key(r#"{"t4_ns": 0}"#), "t4_ns");
}
