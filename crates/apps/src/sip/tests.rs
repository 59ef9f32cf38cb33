use headway_sansio::{Duration, Payload, Seed, Time};

use super::*;
use crate::pipe::Pipe;
use crate::{Application, Incoming, MessageId, Peer};

const DELAY: Duration = Duration::from_millis(20);

struct Run {
    caller: SipCaller,
    answerer: SipAnswerer,
    pipe: Pipe,
    end: Time,
}

fn run(workload: &SipWorkload, seed: u64, jitter: Duration) -> Run {
    assert_eq!(workload.validate(), Ok(()));
    let seed = Seed::new(seed);
    let duration = Duration::from_secs(60);
    let mut caller = SipCaller::new(workload, duration, seed.stream("arrivals"), Peer(0));
    let mut answerer = SipAnswerer::new(workload);
    let mut pipe = Pipe::new(DELAY, seed.stream("pipe"));
    pipe.jitter = jitter;
    let end = pipe.run(&mut caller, &mut answerer);
    Run {
        caller,
        answerer,
        pipe,
        end,
    }
}

#[test]
fn short_flow_is_one_round_trip() {
    let run = run(&SipWorkload::default(), 1, Duration::ZERO);
    let calls = run.caller.calls();
    // 2400 expected; five standard deviations of a Poisson count are 245.
    assert!((2155..=2645).contains(&calls.len()), "{}", calls.len());
    for call in calls {
        assert_eq!(call.post_selection_delay(), Some(DELAY * 2));
        assert_eq!(call.finished, call.ringing);
        assert!(call.started < Time::ZERO + Duration::from_secs(60));
    }
    assert_eq!(run.pipe.log.len(), 2 * calls.len());
    let bytes: usize = run.pipe.log.iter().map(|(_, _, m)| m.payload.len()).sum();
    assert_eq!(bytes, 450 * calls.len());
    assert!(run.caller.is_done() && run.answerer.is_done());
    assert_eq!((run.caller.odd(), run.answerer.odd()), Default::default());
}

#[test]
fn gaps_between_calls_are_exponential() {
    let run = run(&SipWorkload::default(), 2, Duration::ZERO);
    let gaps: Vec<f64> = run
        .caller
        .calls()
        .windows(2)
        .map(|w| w[1].started.since(w[0].started).as_secs_f64())
        .collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let sd = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n).sqrt();
    // Mean and standard deviation of an exponential agree; 5 standard errors
    // of either are 0.0025 and 0.0035 at 2400 gaps of 25 ms.
    assert!((mean - 0.025).abs() < 0.0026, "{mean}");
    assert!((sd - 0.025).abs() < 0.0036, "{sd}");
    // Of an exponential 1/e of the gaps are above the mean.
    let above = gaps.iter().filter(|g| **g > 0.025).count() as f64 / n;
    assert!((above - (-1.0_f64).exp()).abs() < 0.05, "{above}");
}

#[test]
fn full_flow_follows_its_clock() {
    let workload = SipWorkload {
        flow: Flow::Full,
        ..SipWorkload::default()
    };
    let run = run(&workload, 3, Duration::ZERO);
    let (ring, talk) = (workload.ring_time(), workload.talk_time());
    let calls = run.caller.calls();
    for (call, answer) in calls.iter().zip(run.answerer.calls()) {
        assert_eq!(call.post_selection_delay(), Some(DELAY * 2));
        let answered = call.started + DELAY + ring;
        assert_eq!(answer.answered, Some(answered));
        assert_eq!(answer_signal_delay(call, answer), Some(DELAY));
        assert_eq!(answer.acknowledged, Some(answered + DELAY * 2));
        assert_eq!(answer.ended, Some(answered + DELAY * 2 + talk));
        assert_eq!(call.finished, Some(answered + DELAY * 3 + talk));
    }
    assert_eq!(run.answerer.calls().len(), calls.len());
    assert_eq!(run.pipe.log.len(), 6 * calls.len());
    assert_eq!(Some(run.end), calls.last().and_then(|call| call.finished));
    assert!(run.caller.is_done() && run.answerer.is_done());
}

#[test]
fn a_talk_longer_than_every_timer_ends_all_the_same() {
    let workload = SipWorkload {
        flow: Flow::Full,
        talk_time_ns: 100_000_000_000,
        ..SipWorkload::default()
    };
    let run = run(&workload, 5, Duration::ZERO);
    for (call, answer) in run.caller.calls().iter().zip(run.answerer.calls()) {
        assert!(call.finished.is_some() && answer.ended.is_some());
    }
    assert_eq!((run.caller.odd(), run.answerer.odd()), Default::default());
}

#[test]
fn real_text_gives_the_same_samples_as_lengths() {
    for (flow, ring_time_ns) in [
        (Flow::InviteRinging, 0),
        (Flow::Full, 3_000_000_000),
        // So short that the 200 overtakes the 180 at times.
        (Flow::Full, 1_000_000),
    ] {
        for seed in 0..3 {
            let lengths = SipWorkload {
                flow,
                ring_time_ns,
                talk_time_ns: 1_000_000,
                ..SipWorkload::default()
            };
            let text = SipWorkload {
                content: Content::Full,
                ..lengths.clone()
            };
            let jitter = Duration::from_millis(30);
            let (lengths, text) = (run(&lengths, seed, jitter), run(&text, seed, jitter));
            assert_eq!(lengths.caller.calls(), text.caller.calls());
            assert_eq!(lengths.answerer.calls(), text.answerer.calls());
            assert_eq!(lengths.caller.odd(), text.caller.odd());
            assert_eq!(lengths.pipe.log.len(), text.pipe.log.len());
            for (a, b) in lengths.pipe.log.iter().zip(&text.pipe.log) {
                assert_eq!((a.0, a.2.id, a.2.context), (b.0, b.2.id, b.2.context));
                assert_eq!(a.2.payload.len(), b.2.payload.len());
                assert!(b.2.payload.as_bytes().is_some());
            }
            assert!(
                text.caller
                    .calls()
                    .iter()
                    .all(|call| call.finished.is_some())
            );
        }
    }
}

#[test]
fn text_tells_who_it_is_and_the_name_does_not() {
    let workload = SipWorkload {
        content: Content::Full,
        ..SipWorkload::default()
    };
    let mut writer = SipAnswerer::new(&workload);
    let mut maker = SipCaller::new(
        &workload,
        Duration::from_secs(1),
        Seed::new(1).stream("arrivals"),
        Peer(0),
    );
    maker.start(Time::ZERO);
    let at = maker.poll_timeout().expect("an arrival within a second");
    maker.handle_timeout(at);
    let invite = maker.poll_output().expect("an INVITE");
    // The name says that it is the BYE of another call.
    writer.handle_message(
        at,
        Incoming {
            id: Some(SipId::new(9, MessageKind::Bye).encode()),
            from: Peer(3),
            payload: invite.payload,
        },
    );
    let ringing = writer.poll_output().expect("a 180");
    assert_eq!(ringing.id, SipId::new(0, MessageKind::Ringing).encode());
    assert_eq!(ringing.to, Peer(3));
}

#[test]
fn useless_messages_are_counted_and_harmless() {
    let mut answerer = SipAnswerer::new(&SipWorkload {
        flow: Flow::Full,
        ..SipWorkload::default()
    });
    let mut feed = |id, payload| {
        answerer.handle_message(
            Time::ZERO,
            Incoming {
                id,
                from: Peer(0),
                payload,
            },
        );
    };
    let sized = |call, kind| (Some(SipId::new(call, kind).encode()), Payload::Sized(1));
    feed(None, Payload::Sized(1));
    feed(Some(MessageId(0xf)), Payload::Sized(1));
    feed(None, Payload::from(b"no SIP at all".to_vec()));
    for (call, kind) in [
        (0, MessageKind::Ringing),
        (0, MessageKind::Bye),
        (0, MessageKind::Ack),
        (u32::MAX, MessageKind::Invite),
    ] {
        let (id, payload) = sized(call, kind);
        feed(id, payload);
    }
    let (id, payload) = sized(0, MessageKind::Invite);
    feed(id, payload.clone());
    feed(id, payload);
    assert_eq!(
        answerer.odd(),
        Odd {
            malformed: 3,
            unexpected: 4,
            repeated: 1
        }
    );
    assert_eq!(answerer.calls().len(), 1);
    // The 180, and again for the repeated INVITE.
    assert!(answerer.poll_output().is_some());
    assert!(answerer.poll_output().is_some());
    assert!(answerer.poll_output().is_none());
}

#[test]
fn keys_are_checked() {
    let parse = serde_json::from_str::<SipWorkload>;
    assert_eq!(parse("{}").unwrap(), SipWorkload::default());
    let all = r#"{"flow": "invite-ringing", "call_rate": 40.0,
        "invite_bytes": 225, "ringing_bytes": 225, "ok_bytes": 225, "ack_bytes": 150,
        "bye_bytes": 150, "ring_time_ns": 3000000000, "talk_time_ns": 10000000000,
        "content": "size"}"#;
    assert_eq!(parse(all).unwrap(), SipWorkload::default());
    let error = parse(r#"{"call_rat": 1}"#).unwrap_err().to_string();
    assert!(
        error.contains("call_rat") && error.contains("call_rate"),
        "{error}"
    );
    assert!(parse(r#"{"flow": "half"}"#).is_err());
}

#[test]
fn wrong_values_name_their_key() {
    let error = |change: fn(&mut SipWorkload)| {
        let mut workload = SipWorkload::default();
        change(&mut workload);
        workload.validate().map_err(|e| e.to_string()).unwrap_err()
    };
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let workload = SipWorkload {
            call_rate: rate,
            ..SipWorkload::default()
        };
        assert_eq!(workload.validate().unwrap_err().key, "call_rate");
    }
    assert_eq!(
        error(|w| w.invite_bytes = 0),
        "workload.invite_bytes: 0 bytes; it must be at least 1"
    );
    assert_eq!(
        error(|w| w.ringing_bytes = 65_508),
        "workload.ringing_bytes: 65508 bytes; it must be at most 65507"
    );
    assert_eq!(
        error(|w| {
            w.content = Content::Full;
            w.flow = Flow::Full;
            w.ack_bytes = 100;
        }),
        "workload.ack_bytes: 100 bytes; it must be at least 149, \
         the shortest SIP message of this kind with content \"full\""
    );
    // What the flow does not send is not looked at.
    let workload = SipWorkload {
        content: Content::Full,
        ack_bytes: 100,
        ..SipWorkload::default()
    };
    assert_eq!(workload.validate(), Ok(()));
}
