//! A calling and an answering agent against each other.

use bytes::Bytes;
use headway_sansio::{Chance, Duration, Payload, Seed, Time};

use super::dialog::Dialog;
use super::*;
use crate::pipe::{Loss, Pipe, Side};
use crate::sip::message::{Method, SipMessage, parse, response_to};
use crate::sip::transaction::Timers;
use crate::sip::{AnswerRecord, CallRecord, Failure, answer_signal_delay};
use crate::{Application, Incoming, Outgoing, Peer, Reliability};

const DELAY: Duration = Duration::from_millis(20);
const RING: Duration = Duration::from_millis(800);
const TALK: Duration = Duration::from_millis(1_500);

fn config(name: &str, reliability: Reliability) -> UaConfig {
    UaConfig {
        user: name.into(),
        host: format!("{name}.test:5062"),
        via: match reliability {
            Reliability::Reliable => "TCP",
            Reliability::Unreliable => "UDP",
        },
        reliability,
        timers: Timers::default(),
        seed: Seed::new(9).derive(name),
    }
}

fn plan(calls: u32) -> CallPlan {
    CallPlan {
        target: "sip:bo@bo.test".into(),
        peer: Peer(0),
        pace: Pace::Poisson(20.0),
        duration: Duration::MAX,
        calls,
        talk_time: TALK,
        patience: Duration::from_secs(180),
        offer: true,
    }
}

const ANSWER: AnswerPlan = AnswerPlan {
    ringing: true,
    ring_time: RING,
    refuse: None,
    max_open: usize::MAX,
};

struct Run {
    uac: Uac,
    uas: Uas,
    /// In the order of their beginnings.
    calls: Vec<CallRecord>,
    answers: Vec<AnswerRecord>,
    pipe: Pipe,
}

fn run(plan: CallPlan, answer: AnswerPlan, reliability: Reliability, loss: Loss) -> Run {
    let arrivals = Seed::new(4).stream("arrivals");
    let mut uac = Uac::new(config("ann", reliability), plan, arrivals);
    let mut uas = Uas::new(config("bo", reliability), answer);
    let mut pipe = Pipe::new(DELAY, Seed::new(4).stream("pipe"));
    pipe.loss = loss;
    pipe.run(&mut uac, &mut uas);
    assert_eq!(uac.counters().malformed + uas.counters().malformed, 0);
    let mut calls: Vec<CallRecord> = std::iter::from_fn(|| uac.poll_record()).collect();
    let mut answers: Vec<AnswerRecord> = std::iter::from_fn(|| uas.poll_record()).collect();
    calls.extend(uac.open_records());
    answers.extend(uas.open_records());
    calls.sort_by_key(|call| call.started);
    answers.sort_by_key(|answer| answer.invited);
    Run {
        uac,
        uas,
        calls,
        answers,
        pipe,
    }
}

fn unreliable(plan: CallPlan, answer: AnswerPlan, loss: Loss) -> Run {
    run(plan, answer, Reliability::Unreliable, loss)
}

fn never() -> Loss {
    Box::new(|_, _, _| false)
}

fn at_random(rate: f64) -> Loss {
    let chance = Chance::new(rate);
    Box::new(move |random, _, _| random.happens(chance))
}

fn read(out: &Outgoing) -> SipMessage {
    parse(&Bytes::copy_from_slice(out.payload.as_bytes().unwrap())).unwrap()
}

/// Method and code of a message; requests have code 0.
fn kind(out: &Outgoing) -> (String, u16) {
    let message = read(out);
    let method = message.cseq.method.to_string();
    (method, message.code().unwrap_or(0))
}

fn count(run: &Run, method: &str, code: u16) -> usize {
    let wanted = (method.to_string(), code);
    let log = run.pipe.log.iter();
    log.filter(|(_, _, out)| kind(out) == wanted).count()
}

#[test]
fn calls_go_their_way() {
    for reliability in [Reliability::Reliable, Reliability::Unreliable] {
        for offer in [true, false] {
            let plan = CallPlan { offer, ..plan(50) };
            let run = run(plan, ANSWER, reliability, never());
            assert_eq!(run.calls.len(), 50);
            for (call, answer) in run.calls.iter().zip(&run.answers) {
                assert_eq!(call.post_selection_delay(), Some(DELAY * 2));
                assert_eq!(answer_signal_delay(call, answer), Some(DELAY));
                let end = call.started + DELAY * 4 + RING + TALK;
                assert_eq!(call.finished, Some(end));
                assert_eq!(answer.acknowledged, Some(call.started + DELAY * 3 + RING));
                assert_eq!((call.invites, answer.oks), (1, 1));
            }
            assert_eq!(run.pipe.log.len(), 50 * 6);
            let (uac, uas) = (run.uac.counters(), run.uas.counters());
            assert_eq!((uac.repeated_requests, uas.repeated_responses), (0, 0));
            // Every offer has its answer, wherever they travel.
            let sdp = run.pipe.log.iter().map(|(_, _, out)| read(out));
            let sdp = sdp.filter(|message| !message.body.is_empty()).count();
            assert_eq!(sdp, 100);
        }
    }
}

#[test]
fn every_call_ends_under_loss() {
    for rate in [0.05, 0.3] {
        let run = unreliable(plan(400), ANSWER, at_random(rate));
        let calls = &run.calls;
        let finished = calls.iter().filter(|call| call.finished.is_some()).count();
        let failed = calls.iter().filter(|call| call.failed.is_some()).count();
        assert_eq!((calls.len(), finished + failed), (400, 400));
        assert!(failed <= 12, "{failed} at {rate}");
        assert!(run.uac.has_no_transactions() && run.uas.has_no_transactions());
        if rate < 0.1 {
            assert_eq!(failed, 0);
            assert!(run.answers.iter().all(|answer| answer.ended.is_some()));
        }
    }
}

#[test]
fn refusals_end_calls_under_loss() {
    let refuse = AnswerPlan {
        refuse: Some(486),
        ..ANSWER
    };
    let run = unreliable(plan(200), refuse, at_random(0.2));
    let refused =
        |failed: Option<(Time, Failure)>| matches!(failed, Some((_, Failure::Refused(486))));
    let count = run.calls.iter().filter(|call| refused(call.failed)).count();
    // (1 - 0.8^2)^7 of the calls hear nothing at all: less than one in a thousand.
    assert!(count >= 198, "{count}");
    assert!(run.answers.is_empty());
    assert!(run.uac.has_no_transactions() && run.uas.has_no_transactions());
}

#[test]
fn a_call_that_rings_too_long_is_cancelled() {
    let patient = CallPlan {
        patience: Duration::from_millis(300),
        ..plan(100)
    };
    for (loss, rate) in [(never(), 0.0), (at_random(0.2), 0.2)] {
        let run = unreliable(patient.clone(), ANSWER, loss);
        let calls = &run.calls;
        assert!(
            calls
                .iter()
                .all(|call| call.finished.is_some() != call.failed.is_some())
        );
        if rate == 0.0 {
            for call in calls {
                let end = call.started + Duration::from_millis(300) + DELAY * 2;
                assert_eq!(call.failed, Some((end, Failure::NoAnswer)));
            }
            assert_eq!(count(&run, "CANCEL", 200), 100);
            assert_eq!(count(&run, "INVITE", 487), 100);
        }
        assert!(run.uac.has_no_transactions() && run.uas.has_no_transactions());
        assert!(run.uac.is_done() && run.uas.is_done());
    }
}

#[test]
fn a_cancel_and_an_answer_that_cross_end_with_a_bye() {
    let patient = CallPlan {
        // The CANCEL leaves while the 200 is under way.
        patience: RING + DELAY + Duration::from_millis(10),
        ..plan(1)
    };
    let run = unreliable(patient, ANSWER, never());
    assert_eq!(count(&run, "INVITE", 200), 1);
    assert_eq!(count(&run, "CANCEL", 200), 1);
    assert_eq!(count(&run, "INVITE", 487), 0);
    assert_eq!(count(&run, "BYE", 200), 1);
    let call = &run.calls[0];
    assert!(call.answered.is_none() && call.finished.is_some());
}

#[test]
fn calls_beyond_the_room_are_refused_until_others_end() {
    // The first twenty are still talking when the others call.
    let talk = CallPlan {
        talk_time: Duration::from_secs(1_000),
        ..plan(100)
    };
    let small = AnswerPlan {
        max_open: 20,
        ..ANSWER
    };
    let run = unreliable(talk, small, never());
    let refused = |call: &&CallRecord| matches!(call.failed, Some((_, Failure::Refused(503))));
    let (first, rest) = run.calls.split_at(20);
    assert_eq!(first.iter().filter(refused).count(), 0);
    assert_eq!(rest.iter().filter(refused).count(), 80);
    assert_eq!(run.answers.len(), 20);
    assert_eq!(count(&run, "INVITE", 503), 80);
    for (.., out) in run.pipe.log.iter().filter(|(.., out)| kind(out).1 == 503) {
        let text = String::from_utf8_lossy(out.payload.as_bytes().unwrap());
        assert!(text.contains("Retry-After: 32\r\n"), "{text}");
    }
}

#[test]
fn a_cancel_waits_for_a_first_response() {
    // Every response is lost for the first 2 s of the only call.
    let patient = CallPlan {
        patience: Duration::from_millis(300),
        ..plan(1)
    };
    let ring = AnswerPlan {
        ring_time: Duration::from_secs(60),
        ..ANSWER
    };
    let mut lost = 0;
    let loss: Loss = Box::new(move |_, side, _| {
        lost += u32::from(side == Side::B);
        side == Side::B && lost <= 2
    });
    let run = unreliable(patient, ring, loss);
    let times = |method: &str| {
        let log = run.pipe.log.iter();
        let of_method = log.filter(|(_, side, out)| *side == Side::A && kind(out).0 == method);
        let start = run.calls[0].started;
        let since = of_method.map(|(at, ..)| at.since(start).as_nanos() / 1_000_000);
        since.collect::<Vec<u64>>()
    };
    // The 180 to the third INVITE arrives, and then the CANCEL leaves.
    assert_eq!(times("CANCEL"), [1_540]);
    assert_eq!(count(&run, "INVITE", 487), 1);
}

#[test]
fn a_call_without_an_ack_is_ended_by_the_answerer() {
    let ack = |out: &Outgoing| kind(out) == ("ACK".to_string(), 0);
    let loss: Loss = Box::new(move |_, _, out| ack(out));
    let talk = CallPlan {
        talk_time: Duration::from_secs(100),
        ..plan(1)
    };
    let run = unreliable(talk, ANSWER, loss);
    assert_eq!(count(&run, "INVITE", 200), 11);
    assert_eq!(count(&run, "ACK", 0), 11);
    let (call, answer) = (&run.calls[0], &run.answers[0]);
    let gave_up = call.started + DELAY + RING + Duration::from_secs(32);
    assert_eq!((answer.oks, answer.unacknowledged), (11, Some(gave_up)));
    // The answerer's BYE reaches the caller, who answers it.
    assert_eq!(call.finished, Some(gave_up + DELAY));
    assert_eq!(count(&run, "BYE", 200), 1);
}

#[test]
fn a_call_whose_answers_are_all_lost_is_ended_by_the_answerer() {
    let ok = |out: &Outgoing| kind(out) == ("INVITE".to_string(), 200);
    let loss: Loss = Box::new(move |_, _, out| ok(out));
    let run = unreliable(plan(1), ANSWER, loss);
    assert_eq!(count(&run, "INVITE", 200), 11);
    let call = &run.calls[0];
    let end = call.started + DELAY * 2 + RING + Duration::from_secs(32);
    assert_eq!(call.failed, Some((end, Failure::NoAnswer)));
    assert!(run.uac.has_no_transactions() && run.uas.has_no_transactions());
}

#[test]
fn the_2xx_is_repeated_over_reliable_transports_too() {
    // RFC 3261 section 13.3.1.4: a later hop may be unreliable.
    let mut acks = 0;
    let loss: Loss = Box::new(move |_, _, out| {
        let ack = kind(out) == ("ACK".to_string(), 0);
        acks += u32::from(ack);
        ack && acks <= 2
    });
    let run = run(plan(1), ANSWER, Reliability::Reliable, loss);
    assert_eq!(run.answers[0].oks, 3);
    assert!(run.calls[0].finished.is_some());
}

#[test]
fn a_second_answerer_is_acknowledged_and_ended() {
    let arrivals = Seed::new(4).stream("arrivals");
    let mut uac = Uac::new(config("ann", Reliability::Unreliable), plan(1), arrivals);
    uac.start(Time::ZERO);
    let at = uac.poll_timeout().unwrap();
    uac.handle_timeout(at);
    let invite = read(&uac.poll_output().unwrap());
    let mut feed = |tag: &str| {
        let contact = format!("<sip:{tag}@elsewhere.test>");
        let ok = response_to(&invite, 200, "OK", Some(tag)).header("Contact", contact);
        uac.handle_message(
            at,
            Incoming {
                id: None,
                from: Peer(0),
                payload: Payload::Bytes(ok.finish()),
            },
        );
        let mut sent = Vec::new();
        while let Some(out) = uac.poll_output() {
            let message = read(&out);
            let uri = message.request_uri().unwrap().to_string();
            sent.push((message.method().unwrap().clone(), uri, message.cseq.number));
        }
        sent
    };
    let one = || "sip:one@elsewhere.test".to_string();
    let two = || "sip:two@elsewhere.test".to_string();
    assert_eq!(feed("one"), [(Method::Ack, one(), 1)]);
    assert_eq!(
        feed("two"),
        [(Method::Ack, two(), 1), (Method::Bye, two(), 2)]
    );
    assert_eq!(feed("one"), [(Method::Ack, one(), 1)]);
    assert_eq!(feed("two"), [(Method::Ack, two(), 1)]);
    let call = uac.open_records().next().unwrap();
    assert!(call.answered.is_some() && call.failed.is_none());
}

#[test]
fn requests_of_a_dialog_follow_its_route() {
    let invite = "INVITE sip:bo@bo.test SIP/2.0\r\nVia: SIP/2.0/UDP ann.test;branch=z9hG4bK1\r\n\
        From: Ann <sip:ann@ann.test>;tag=a\r\nTo: <sip:bo@bo.test>\r\nCall-ID: c\r\nCSeq: 7 INVITE\r\n\
        Contact: <sip:ann@here.test?x=y>\r\nRecord-Route: <sip:p2.test;lr>, <sip:p1.test;lr>\r\n\r\n";
    let invite = parse(&Bytes::from(invite)).unwrap();
    let ok = response_to(&invite, 200, "OK", Some("b")).header("Contact", "<sip:bo@there.test>");
    let ok = parse(&ok.finish()).unwrap();
    let via = "SIP/2.0/UDP h.test;branch=z9hG4bK2";
    let routes = |message: &SipMessage| -> Vec<String> {
        let routes = message.addresses(&ezk_sip_types::Name::ROUTE);
        routes.iter().map(|route| route.uri.to_string()).collect()
    };
    // The caller goes back the way that the response came.
    let mut caller = Dialog::of_caller(&invite, &ok);
    let bye = parse(&caller.request(&Method::Bye, via).finish()).unwrap();
    assert_eq!(bye.request_uri().unwrap().as_str(), "sip:bo@there.test");
    assert_eq!(routes(&bye), ["sip:p1.test;lr", "sip:p2.test;lr"]);
    assert_eq!(bye.cseq.number, 8);
    assert_eq!(bye.from.tag.as_deref(), Some("a"));
    assert_eq!(bye.to.tag.as_deref(), Some("b"));
    // The answerer goes the way that the INVITE came; each names the other's dialog.
    let mut answerer = Dialog::of_answerer(&invite, "b");
    assert_eq!(Dialog::named_by(&bye), answerer.id);
    let back = parse(&answerer.request(&Method::Bye, via).finish()).unwrap();
    assert_eq!(back.request_uri().unwrap().as_str(), "sip:ann@here.test");
    assert_eq!(routes(&back), ["sip:p2.test;lr", "sip:p1.test;lr"]);
    assert_eq!(Dialog::named_by(&back), caller.id);
    assert!(answerer.take_number(&bye));
    assert!(!answerer.take_number(&invite));
    // A router that does not say "lr" takes the target's place.
    let text = String::from_utf8(ok_text(&invite)).unwrap();
    let strict = text
        .replace("p1.test;lr", "p1.test")
        .replace("p2.test;lr", "p2.test");
    let strict = parse(&Bytes::from(strict)).unwrap();
    let bye = parse(
        &Dialog::of_caller(&invite, &strict)
            .request(&Method::Bye, via)
            .finish(),
    );
    let bye = bye.unwrap();
    assert_eq!(bye.request_uri().unwrap().as_str(), "sip:p1.test");
    assert_eq!(routes(&bye), ["sip:p2.test", "sip:bo@there.test"]);
}

fn ok_text(invite: &SipMessage) -> Vec<u8> {
    let ok = response_to(invite, 200, "OK", Some("b")).header("Contact", "<sip:bo@there.test>");
    ok.finish().to_vec()
}

#[test]
fn a_plan_without_a_uri_fails_and_does_not_panic() {
    let nowhere = CallPlan {
        target: "nowhere at all".into(),
        ..plan(3)
    };
    let run = unreliable(nowhere, ANSWER, never());
    assert_eq!(run.calls.len(), 3);
    for call in &run.calls {
        assert_eq!(call.failed, Some((call.started, Failure::NotSent)));
    }
    assert!(run.pipe.log.is_empty());
}
