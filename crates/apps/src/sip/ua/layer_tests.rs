//! Which message belongs to which transaction.

use bytes::Bytes;
use headway_sansio::{Duration, Time};

use super::{LayerEvent, LayerOutput, ServerId, TransactionLayer};
use crate::sip::message::{SipMessage, parse, response_to};
use crate::sip::transaction::Timers;
use crate::{Peer, Reliability};

const PEER: Peer = Peer(3);
const NOW: Time = Time::from_nanos(1_000);

fn layer() -> TransactionLayer {
    TransactionLayer::new(Timers::default(), Reliability::Unreliable)
}

/// What a layer handed out, in short.
#[derive(Debug, Default)]
struct Got {
    requests: Vec<(ServerId, SipMessage)>,
    responses: Vec<u16>,
    acks: usize,
    sent: Vec<SipMessage>,
    other: Vec<&'static str>,
}

fn drain(layer: &mut TransactionLayer) -> Got {
    let mut got = Got::default();
    while let Some(output) = layer.poll_output() {
        match output {
            LayerOutput::Send { to, bytes, .. } => {
                assert_eq!(to, PEER);
                got.sent.push(parse(&bytes).unwrap());
            }
            LayerOutput::Event(LayerEvent::Request { id, message, .. }) => {
                got.requests.push((id, *message));
            }
            LayerOutput::Event(LayerEvent::Response { message, .. }) => {
                got.responses.push(message.code().unwrap());
            }
            LayerOutput::Event(LayerEvent::Ack(_)) => got.acks += 1,
            LayerOutput::Event(LayerEvent::ClientTimedOut(_)) => got.other.push("timed out"),
            LayerOutput::Event(LayerEvent::ServerTimedOut(_)) => got.other.push("no ACK"),
            LayerOutput::Event(LayerEvent::ClientFailed(_)) => got.other.push("client failed"),
            LayerOutput::Event(LayerEvent::ServerFailed(_)) => got.other.push("server failed"),
        }
    }
    got
}

fn request(method: &str, via: &str, to_tag: &str) -> Bytes {
    format!(
        "{method} sip:b@b.test SIP/2.0\r\nVia: SIP/2.0/UDP {via}\r\nFrom: <sip:a@a.test>;tag=1\r\n\
         To: <sip:b@b.test>{to_tag}\r\nCall-ID: c\r\nCSeq: 1 {method}\r\nContent-Length: 0\r\n\r\n"
    )
    .into()
}

fn feed(layer: &mut TransactionLayer, bytes: &Bytes) -> Got {
    layer.handle_message(NOW, PEER, None, bytes);
    drain(layer)
}

fn codes(got: &Got) -> Vec<u16> {
    got.sent.iter().filter_map(SipMessage::code).collect()
}

fn respond(layer: &mut TransactionLayer, to: &(ServerId, SipMessage), code: u16) -> Got {
    let bytes = response_to(&to.1, code, "R", Some("t")).finish();
    assert!(layer.respond(NOW, to.0, bytes));
    drain(layer)
}

const BRANCH: &str = "a.test:5060;branch=z9hG4bKx";

#[test]
fn a_request_is_known_by_branch_sent_by_and_method() {
    let mut layer = layer();
    let first = feed(&mut layer, &request("INVITE", BRANCH, ""));
    assert_eq!(first.requests.len(), 1);
    // The same again is absorbed, and gets what the user said last.
    let again = feed(&mut layer, &request("INVITE", BRANCH, ""));
    assert!(again.requests.is_empty() && again.sent.is_empty());
    assert_eq!(codes(&respond(&mut layer, &first.requests[0], 183)), [183]);
    let again = feed(&mut layer, &request("INVITE", BRANCH, ""));
    assert!(again.requests.is_empty());
    assert_eq!(codes(&again), [183]);
    // Another branch, another sent-by, another method: other transactions.
    for (method, via) in [
        ("INVITE", "a.test:5060;branch=z9hG4bKX"),
        ("INVITE", "a.test:5061;branch=z9hG4bKx"),
        ("INVITE", "c.test:5060;branch=z9hG4bKx"),
        ("CANCEL", BRANCH),
    ] {
        assert_eq!(
            feed(&mut layer, &request(method, via, "")).requests.len(),
            1
        );
    }
    // Host names are compared without regard to case.
    let upper = "A.TEST:5060;branch=z9hG4bKx";
    assert!(
        feed(&mut layer, &request("INVITE", upper, ""))
            .requests
            .is_empty()
    );
}

#[test]
fn a_cancel_finds_its_invite() {
    let mut layer = layer();
    let invite = feed(&mut layer, &request("INVITE", BRANCH, ""));
    let cancel = feed(&mut layer, &request("CANCEL", BRANCH, ""));
    let found = layer.invite_to_cancel(&cancel.requests[0].1);
    assert_eq!(found, Some(invite.requests[0].0));
    let other = feed(&mut layer, &request("CANCEL", "a.test;branch=z9hG4bKy", ""));
    assert_eq!(layer.invite_to_cancel(&other.requests[0].1), None);
}

#[test]
fn the_ack_of_a_refusal_is_absorbed_and_that_of_a_2xx_is_not() {
    let mut layer = layer();
    let invite = feed(&mut layer, &request("INVITE", BRANCH, ""));
    assert_eq!(codes(&respond(&mut layer, &invite.requests[0], 486)), [486]);
    let ack = feed(&mut layer, &request("ACK", BRANCH, ";tag=t"));
    assert_eq!((ack.acks, ack.requests.len(), ack.sent.len()), (0, 0, 0));
    // No more repetitions, and timer I ends it after T4.
    assert_eq!(layer.poll_timeout(), Some(NOW + Duration::from_secs(5)));
    layer.handle_timeout(NOW + Duration::from_secs(5));
    assert!(layer.is_empty());
    // A 2xx is acknowledged with a branch of its own, which matches nothing.
    let via = "a.test;branch=z9hG4bKz";
    let invite = feed(&mut layer, &request("INVITE", via, ""));
    assert_eq!(codes(&respond(&mut layer, &invite.requests[0], 200)), [200]);
    let ack = feed(
        &mut layer,
        &request("ACK", "a.test;branch=z9hG4bKack", ";tag=t"),
    );
    assert_eq!(ack.acks, 1);
    // Some send it with the INVITE's branch all the same.
    assert_eq!(feed(&mut layer, &request("ACK", via, ";tag=t")).acks, 1);
    // RFC 6026: the INVITE still matches.
    let again = feed(&mut layer, &request("INVITE", via, ""));
    assert!(again.requests.is_empty() && again.sent.is_empty());
}

#[test]
fn clients_from_before_rfc_3261_are_known_by_the_whole_request() {
    for via in ["a.test", "a.test;branch=1"] {
        let mut layer = layer();
        let invite = feed(&mut layer, &request("INVITE", via, ""));
        assert_eq!(invite.requests.len(), 1);
        assert!(
            feed(&mut layer, &request("INVITE", via, ""))
                .requests
                .is_empty()
        );
        // The To tag counts.
        assert_eq!(
            feed(&mut layer, &request("INVITE", via, ";tag=u"))
                .requests
                .len(),
            1
        );
    }
    let mut layer = layer();
    let invite = feed(&mut layer, &request("INVITE", "a.test", ""));
    respond(&mut layer, &invite.requests[0], 486);
    // An ACK with another tag is of another answerer's response.
    assert_eq!(
        feed(&mut layer, &request("ACK", "a.test", ";tag=other")).acks,
        1
    );
    assert_eq!(
        feed(&mut layer, &request("ACK", "a.test", ";tag=t")).acks,
        0
    );
    assert_eq!(layer.poll_timeout(), Some(NOW + Duration::from_secs(5)));
}

#[test]
fn an_old_ack_of_a_2xx_goes_to_the_user() {
    // RFC 6026 section 6, last paragraph.
    let mut layer = layer();
    let invite = feed(&mut layer, &request("INVITE", "a.test", ""));
    respond(&mut layer, &invite.requests[0], 200);
    assert_eq!(
        feed(&mut layer, &request("ACK", "a.test", ";tag=t")).acks,
        1
    );
    assert_eq!(
        feed(&mut layer, &request("ACK", "a.test", ";tag=t")).acks,
        1
    );
}

#[test]
fn a_response_is_known_by_branch_and_method() {
    let mut layer = layer();
    let invite = request("INVITE", "a.test;branch=z9hG4bKme", "");
    let cancel = request("CANCEL", "a.test;branch=z9hG4bKme", "");
    assert!(layer.request(NOW, PEER, invite.clone()).is_some());
    assert!(layer.request(NOW, PEER, cancel).is_some());
    // The same transaction cannot be there twice, and an ACK has none.
    assert_eq!(layer.request(NOW, PEER, invite.clone()), None);
    let ack = request("ACK", "a.test;branch=z9hG4bKother", "");
    assert_eq!(layer.request(NOW, PEER, ack), None);
    assert_eq!(drain(&mut layer).sent.len(), 2);
    let invite = parse(&invite).unwrap();
    let ringing = response_to(&invite, 180, "Ringing", Some("t")).finish();
    assert_eq!(feed(&mut layer, &ringing).responses, [180]);
    let text = String::from_utf8(ringing.to_vec()).unwrap();
    for stray in [
        text.replace("z9hG4bKme", "z9hG4bKyou"),
        text.replace("1 INVITE", "1 OPTIONS"),
        // A second Via: the response is for somebody further back.
        text.replace(
            "From:",
            "Via: SIP/2.0/UDP 255.255.255.255;branch=z9hG4bKb\r\nFrom:",
        ),
    ] {
        assert!(feed(&mut layer, &stray.into()).responses.is_empty());
    }
    assert_eq!(layer.counters().stray_responses, 3);
    // A refusal is passed up once and acknowledged every time.
    let busy = response_to(&invite, 486, "Busy", Some("t")).finish();
    let first = feed(&mut layer, &busy);
    let second = feed(&mut layer, &busy);
    assert_eq!((first.responses, second.responses), (vec![486], vec![]));
    for got in [&first.sent, &second.sent] {
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].method().unwrap().as_str(), "ACK");
        assert_eq!(got[0].branch(), Some("z9hG4bKme"));
    }
}

#[test]
fn a_response_that_nobody_gives_is_a_hundred() {
    let mut layer = layer();
    feed(&mut layer, &request("INVITE", BRANCH, ""));
    assert_eq!(layer.poll_timeout(), Some(NOW + Duration::from_millis(200)));
    layer.handle_timeout(NOW + Duration::from_millis(200));
    let got = drain(&mut layer);
    assert_eq!(codes(&got), [100]);
    assert_eq!(got.sent[0].to.tag, None);
}

#[test]
fn what_cannot_be_read_is_answered_without_a_transaction() {
    let mut layer = layer();
    let text = String::from_utf8(request("OPTIONS", BRANCH, "").to_vec()).unwrap();
    layer.handle_message(
        NOW,
        PEER,
        None,
        &text.replace("1 OPTIONS", "1 INVITE").into(),
    );
    let Some(LayerOutput::Send { bytes, .. }) = layer.poll_output() else {
        panic!("an answer")
    };
    assert!(bytes.starts_with(b"SIP/2.0 400 "));
    assert_eq!(layer.counters().malformed, 1);
    assert!(layer.is_empty() && layer.poll_output().is_none());
    // ACKs and responses get none.
    let mut layer = self::layer();
    for text in [
        text.replace("OPTIONS sip", "ACK sip"),
        "SIP/2.0 200 OK\r\n\r\n".into(),
    ] {
        layer.handle_message(NOW, PEER, None, &text.into());
        assert!(layer.poll_output().is_none());
    }
}

#[test]
fn transport_errors_reach_the_user() {
    let mut layer = layer();
    let options = request("OPTIONS", "a.test;branch=z9hG4bKo", "");
    layer.request(NOW, PEER, options).unwrap();
    feed(&mut layer, &request("INVITE", BRANCH, ""));
    layer.handle_transport_error(Peer(4));
    assert!(drain(&mut layer).other.is_empty());
    layer.handle_transport_error(PEER);
    assert_eq!(drain(&mut layer).other, ["client failed", "server failed"]);
    // The INVITE's transaction stays (RFC 6026 section 7.1).
    assert!(!layer.is_empty());
    assert!(
        feed(&mut layer, &request("INVITE", BRANCH, ""))
            .requests
            .is_empty()
    );
}

#[test]
fn requests_and_refusals_time_out() {
    let mut layer = layer();
    let options = request("OPTIONS", "a.test;branch=z9hG4bKo", "");
    layer.request(NOW, PEER, options).unwrap();
    let invite = feed(&mut layer, &request("INVITE", BRANCH, ""));
    respond(&mut layer, &invite.requests[0], 486);
    let mut sent = 0;
    let mut other = Vec::new();
    while let Some(at) = layer.poll_timeout() {
        layer.handle_timeout(at);
        let got = drain(&mut layer);
        sent += got.sent.len();
        other.extend(got.other);
    }
    assert_eq!(sent, 10 + 10);
    assert_eq!(other, ["timed out", "no ACK"]);
    assert!(layer.is_empty());
    let counters = layer.counters();
    assert_eq!(
        (counters.repeated_requests, counters.repeated_responses),
        (10, 10)
    );
}

#[test]
fn the_source_of_a_request_is_noted() {
    let mut layer = layer();
    let source = "192.0.2.9".parse().ok();
    layer.handle_message(NOW, PEER, source, &request("OPTIONS", BRANCH, ""));
    let got = drain(&mut layer);
    let sent = respond(&mut layer, &got.requests[0], 200).sent;
    let received = sent[0].top_via().params.get_val("received");
    assert_eq!(received.map(|it| it.as_str()), Some("192.0.2.9"));
}
