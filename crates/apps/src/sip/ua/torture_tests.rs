//! What RFC 4475 wants of an endpoint that gets sound but unwelcome messages,
//! with messages of our own.

use bytes::Bytes;
use ezk_sip_types::Name;
use headway_sansio::{Duration, Payload, Seed, Time};

use super::{AnswerPlan, UaConfig, Uas};
use crate::sip::message::{SipMessage, parse};
use crate::sip::transaction::Timers;
use crate::{Application, Incoming, Peer, Reliability};

fn uas() -> Uas {
    let config = UaConfig {
        user: "bo".into(),
        host: "server.test".into(),
        via: "UDP",
        reliability: Reliability::Unreliable,
        timers: Timers::default(),
        seed: Seed::new(1),
    };
    let plan = AnswerPlan {
        ringing: true,
        ring_time: Duration::from_secs(1),
        refuse: None,
        max_open: usize::MAX,
    };
    Uas::new(config, plan)
}

fn feed(uas: &mut Uas, text: String) -> Vec<SipMessage> {
    uas.handle_message(
        Time::ZERO,
        Incoming {
            id: None,
            from: Peer(0),
            payload: Payload::Bytes(text.into()),
        },
    );
    let mut answers = Vec::new();
    while let Some(out) = uas.poll_output() {
        let bytes = Bytes::copy_from_slice(out.payload.as_bytes().unwrap());
        answers.push(parse(&bytes).unwrap());
    }
    answers
}

/// The codes that a request gets from a fresh endpoint.
fn answer(line: &str, method: &str, headers: &str, body: &str) -> SipMessage {
    let text = format!(
        "{line}\r\nVia: SIP/2.0/UDP client.test;branch=z9hG4bK1\r\nFrom: <sip:a@client.test>;tag=1\r\n\
         To: <sip:bo@server.test>\r\nCall-ID: c\r\nCSeq: 1 {method}\r\nMax-Forwards: 70\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answers = feed(&mut uas(), text);
    assert_eq!(answers.len(), 1);
    let answer = answers.remove(0);
    assert!(answer.to.tag.is_some());
    answer
}

const OPTIONS: &str = "OPTIONS sip:bo@server.test SIP/2.0";
const INVITE: &str = "INVITE sip:bo@server.test SIP/2.0";

fn value(message: &SipMessage, name: Name) -> Option<&str> {
    message.headers.get_raw(&name).next().map(|it| it.as_str())
}

/// 3.1.1.2, 3.1.1.5 and 3.1.2.18
#[test]
fn methods_that_nobody_knows() {
    for method in ["D%41NCE!", "INVITED", "invite"] {
        let line = format!("{method} sip:bo@server.test SIP/2.0");
        let answer = answer(&line, method, "", "");
        assert_eq!(answer.code(), Some(501));
        assert!(value(&answer, Name::ALLOW).is_some());
    }
}

/// 3.3.4 and 3.3.7
#[test]
fn methods_that_an_endpoint_does_not_serve() {
    for method in ["REGISTER", "SUBSCRIBE"] {
        let line = format!("{method} sip:server.test SIP/2.0");
        let headers = "Authorization: NeverHeardOf opaque-data=here\r\n";
        let answer = answer(&line, method, headers, "");
        assert_eq!(answer.code(), Some(405));
        assert_eq!(
            value(&answer, Name::ALLOW),
            Some("INVITE, ACK, BYE, CANCEL, OPTIONS")
        );
    }
}

/// 3.3.2 and 3.3.3
#[test]
fn schemes_that_an_endpoint_does_not_serve() {
    for uri in ["neverHeardOf:whatever", "soap.beep://192.0.2.1:3002"] {
        let line = format!("OPTIONS {uri} SIP/2.0");
        assert_eq!(answer(&line, "OPTIONS", "", "").code(), Some(416));
    }
}

/// 3.3.5
#[test]
fn extensions_that_nobody_supports() {
    let headers = "Require: oneThing, another\r\nProxy-Require: proxyThing\r\nRequire: third\r\n";
    let answer = answer(OPTIONS, "OPTIONS", headers, "");
    assert_eq!(answer.code(), Some(420));
    assert_eq!(
        value(&answer, Name::UNSUPPORTED),
        Some("oneThing, another, third")
    );
}

/// 3.3.6
#[test]
fn bodies_that_nobody_understands() {
    let headers = "Content-Type: application/neverheardof\r\n";
    let refused = answer(INVITE, "INVITE", headers, "<audio/>");
    assert_eq!(refused.code(), Some(415));
    assert_eq!(value(&refused, Name::ACCEPT), Some("application/sdp"));
    let headers = "Content-Type: application/sdp\r\nContent-Encoding: gzip\r\n";
    assert_eq!(answer(INVITE, "INVITE", headers, "x").code(), Some(415));
    let headers = "Content-Type: application/sdp\r\n";
    assert_eq!(
        answer(INVITE, "INVITE", headers, "no session").code(),
        Some(488)
    );
}

/// 3.3.11
#[test]
fn no_hops_left_do_not_matter_at_the_end() {
    let text = format!(
        "{OPTIONS}\r\nVia: SIP/2.0/UDP h.test;branch=z9hG4bK1\r\nFrom: <sip:a@h.test>;tag=1\r\n\
         To: <sip:bo@server.test>\r\nCall-ID: c\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 0\r\n\r\n"
    );
    let answers = feed(&mut uas(), text);
    assert_eq!(answers[0].code(), Some(200));
    assert!(value(&answers[0], Name::ALLOW).is_some());
}

/// 3.3.15
#[test]
fn answers_that_the_client_would_not_accept() {
    let headers = "Accept: text/neverheardof\r\n";
    assert_eq!(answer(INVITE, "INVITE", headers, "").code(), Some(406));
    for accepts in ["application/sdp", "text/plain, application/*;q=0.5", "*/*"] {
        let headers = format!("Accept: {accepts}\r\n");
        assert_eq!(answer(INVITE, "INVITE", &headers, "").code(), Some(180));
    }
}

/// 3.4.1
#[test]
fn an_invite_from_before_rfc_3261_is_served() {
    let text = "INVITE sip:bo@server.test SIP/2.0\r\nVia: SIP/2.0/UDP gw.test\r\n\
        From: <sip:+12015550123@gw.test;user=phone>\r\nTo: sip:bo@server.test;user=phone\r\n\
        Call-ID: old@gw.test\r\nCSeq: 3 INVITE\r\n\r\n";
    let mut uas = uas();
    assert_eq!(feed(&mut uas, text.into())[0].code(), Some(180));
    // The same again is the same.
    assert_eq!(feed(&mut uas, text.into())[0].code(), Some(180));
    assert_eq!(uas.open_records().count(), 1);
}

#[test]
fn requests_within_no_dialog() {
    for method in ["BYE", "CANCEL"] {
        let line = format!("{method} sip:bo@server.test SIP/2.0");
        assert_eq!(answer(&line, method, "", "").code(), Some(481));
    }
}

/// Section 8.2.2.2 of RFC 3261: the same INVITE by another way.
#[test]
fn a_copy_of_an_invite() {
    let text = |branch: &str| {
        format!(
            "{INVITE}\r\nVia: SIP/2.0/UDP h.test;branch=z9hG4bK{branch}\r\nFrom: <sip:a@h.test>;tag=1\r\n\
             To: <sip:bo@server.test>\r\nCall-ID: c\r\nCSeq: 1 INVITE\r\n\r\n"
        )
    };
    let mut uas = uas();
    assert_eq!(feed(&mut uas, text("one"))[0].code(), Some(180));
    assert_eq!(feed(&mut uas, text("two"))[0].code(), Some(482));
    assert_eq!(feed(&mut uas, text("one"))[0].code(), Some(180));
}
