//! What RFC 4475 tests, with messages of our own: each makes the point of the
//! section of that RFC that its test names. What an endpoint answers to sound
//! but unwelcome messages is tested with the endpoint.

use ezk_sip_types::Name;
use ezk_sip_types::uri::SipUriUserPart;

use super::{Contacts, Method, SipError, SipMessage, parse_message};

/// Headers that complete a message; a test puts its own before them.
fn with_rest(first: &str, method: &str) -> Vec<u8> {
    format!(
        "{first}Via: SIP/2.0/UDP client.test:5061;branch=z9hG4bKrest\r\n\
         From: <sip:ann@client.test>;tag=af\r\nTo: <sip:bo@server.test>\r\n\
         Call-ID: rest@client.test\r\nCSeq: 11 {method}\r\nMax-Forwards: 70\r\n\
         Content-Length: 0\r\n\r\n"
    )
    .into_bytes()
}

/// The same with one header replaced, or left out where `line` is empty.
fn with_line(name: &str, line: &str) -> Vec<u8> {
    let text = String::from_utf8(with_rest(
        "OPTIONS sip:bo@server.test SIP/2.0\r\n",
        "OPTIONS",
    ));
    let lines = text.unwrap();
    let changed = lines.split_inclusive("\r\n").map(|old| {
        if old.starts_with(&format!("{name}:")) {
            line
        } else {
            old
        }
    });
    changed.collect::<String>().into_bytes()
}

fn sound(bytes: &[u8]) -> SipMessage {
    parse_message(bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// A request that is answered with this code.
fn refused(bytes: &[u8], code: u16) -> SipError {
    let error = parse_message(bytes).expect_err("not to be taken");
    assert_eq!(error.code, code, "{error}");
    let answer = error.response().expect("an answer");
    assert!(answer.starts_with(&format!("SIP/2.0 {code} ")), "{answer}");
    error
}

/// A response, or something that cannot be answered: it is dropped.
fn dropped(bytes: &[u8]) {
    let error = parse_message(bytes).expect_err("not to be taken");
    assert_eq!(error.response(), None);
}

fn user(message: &SipMessage) -> String {
    let uri = message.request_uri().and_then(|uri| uri.sip()).unwrap();
    match &uri.user_part {
        SipUriUserPart::User(user) => user.to_string(),
        SipUriUserPart::UserPw(both) => both.user.to_string(),
        SipUriUserPart::Empty => String::new(),
    }
}

/// 3.1.1.1
#[test]
fn folding_and_white_space_everywhere() {
    let text = "INVITE sip:bo@server.test;never-heard-of SIP/2.0\r\n\
        tO  :\r\n   <sip:bo@server.test>  ;\r\n\ttag =   t0\r\n\
        F :  \"Ann \\\\ \\\"A\\\"\"\r\n <sip:ann@client.test>;tag\r\n = f0 ; flag\r\n\
        mAx-FORWARDS:  0070\r\n\
        I: white.space@client.test\r\n\
        cSEQ:\r\n  00021\r\n\t INVITE\r\n\
        V: SIP /  2.0\r\n  / TCP\r\n  one.test ; branch\r\n =z9hG4bK1 ,\r\n\tSIP/2.0/UDP two.test:5060\r\n\
        VIA:SIP/2.0/SCTP three.test;branch=z9hG4bK3;alone\r\n\
        Subject:\r\n\
        What-Is-This: ;,;=,,;\r\n  more of it\r\n\
        m: \"Q \\\"q\\\"\" <sip:ann@client.test> ; q = 0.5 ; flag,\r\n  <sip:ann@other.test>\r\n\
        l :  2\r\n\r\nhi";
    let message = sound(text.as_bytes());
    assert_eq!(message.method(), Some(&Method::Invite));
    assert_eq!(message.to.tag.as_deref(), Some("t0"));
    assert_eq!(message.from.display.as_deref(), Some("Ann \\\\ \\\"A\\\""));
    assert_eq!(message.from.tag.as_deref(), Some("f0"));
    assert_eq!(message.from.parameters, [("flag".to_string(), None)]);
    assert_eq!(message.max_forwards, Some(70));
    assert_eq!(message.cseq.number, 21);
    let transports: Vec<&str> = message
        .via
        .iter()
        .map(|via| via.transport.as_str())
        .collect();
    assert_eq!(transports, ["TCP", "UDP", "SCTP"]);
    assert_eq!(message.branch(), Some("z9hG4bK1"));
    assert_eq!(message.values(&Name::SUBJECT).collect::<Vec<_>>(), [""]);
    let odd = Name::from("what-is-this");
    assert_eq!(
        message.values(&odd).collect::<Vec<_>>(),
        [";,;=,,; more of it"]
    );
    let Contacts::List(contacts) = &message.contact else {
        panic!("a list")
    };
    assert_eq!(contacts.len(), 2);
    assert_eq!(&message.body[..], b"hi");
}

/// 3.1.1.2
#[test]
fn every_character_that_a_token_may_have() {
    let token = "aZ09-.!%*_+`'~";
    let text = format!(
        "{token} sip:a-_.!~*'()&=+$,;?/%20:b&=+$,%3a@h.test SIP/2.0\r\n\
         Via: SIP/2.0/TLS h.test;branch=z9hG4bK{token}\r\n\
         To: \"\\\u{1}\\\0\\\u{7f}\" <sip:&=+$,;?/@h.test>\r\n\
         From: {token} {token} <sip:a@h.test>;{token}=\"\u{436}\u{4e2d}\";tag={token}\r\n\
         Call-ID: {token}()<>:\\\"/[]?{{}}@}}{{\"'[\r\n\
         CSeq: 4294967295 {token}\r\nMax-Forwards: 255\r\n\
         {token}: \u{feff}\u{6f22}\u{5b57}\r\nContent-Length: 0\r\n\r\n"
    );
    let message = sound(text.as_bytes());
    assert_eq!(message.method(), Some(&Method::Other(token.into())));
    assert_eq!(message.branch(), Some(&*format!("z9hG4bK{token}")));
    assert_eq!(message.from.tag.as_deref(), Some(token));
    assert_eq!(message.to.display.as_deref(), Some("\\\u{1}\\\0\\\u{7f}"));
    assert_eq!(user(&message), "a-_.!~*'()&=+$,;?/ ");
}

/// 3.1.1.3
#[test]
fn escapes_mean_what_they_stand_for() {
    let bytes = with_rest(
        "INVITE sip:sip%3Aa%40b@h.test SIP/2.0\r\nContact: <sip:%63%61@h.test;n%61me=v%2541>\r\n",
        "INVITE",
    );
    let message = sound(&bytes);
    assert_eq!(user(&message), "sip:a@b");
    let contact = message.contact.first().and_then(|it| it.uri.sip()).unwrap();
    // Resolved once and not again.
    assert_eq!(contact.uri_params.get_val("name").unwrap(), "v%41");
}

/// 3.1.1.4
#[test]
fn escaped_nulls_do_not_end_a_name() {
    let bytes = with_rest(
        "REGISTER sip:h.test SIP/2.0\r\nContact: <sip:%00@h.test>\r\nContact: <sip:a%00%00b@h.test>\r\n",
        "REGISTER",
    );
    let message = sound(&bytes);
    let Contacts::List(contacts) = message.contact else {
        panic!("a list")
    };
    let users: Vec<String> = contacts
        .iter()
        .map(|it| match &it.uri.sip().unwrap().user_part {
            SipUriUserPart::User(user) => user.to_string(),
            _ => panic!("a user"),
        })
        .collect();
    assert_eq!(users, ["\0", "a\0\0b"]);
}

/// 3.1.1.5
#[test]
fn a_percent_sign_that_escapes_nothing() {
    let first = "INV%49TE sip:h.test SIP/2.0\r\nContact: <sip:a@h.test>\r\n\
        Cont%61ct: <sip:b@h.test>\r\nReply-To: \"%A\" <sip:c@h.test>\r\n";
    let message = sound(&with_rest(first, "INV%49TE"));
    assert_eq!(message.method(), Some(&Method::Other("INV%49TE".into())));
    let Contacts::List(contacts) = message.contact else {
        panic!("a list")
    };
    assert_eq!(contacts.len(), 1);
}

/// 3.1.1.6
#[test]
fn a_name_that_touches_its_bracket() {
    let message = sound(&with_line(
        "From",
        "From: ann<sip:ann@client.test>;tag=1\r\n",
    ));
    assert_eq!(message.from.display.as_deref(), Some("ann"));
}

/// 3.1.1.7
#[test]
fn long_values() {
    let long = "x".repeat(3_000);
    let mut text = format!(
        "INVITE sip:h.test SIP/2.0\r\nTo: \"{long}\" <sip:{long}@h.test:6000;{long}={long};{long}>\r\n\
         From: <sip:a@h.test>;tag={long};{long}={long}\r\nCall-ID: {long}\r\nCSeq: 1 INVITE\r\n\
         {long}: {long}\r\n"
    );
    for hop in 0..40 {
        text += &format!("Via  : SIP/2.0/TCP h{hop}.test;branch=z9hG4bK{long}\r\n");
    }
    text += "\r\n";
    let message = sound(text.as_bytes());
    assert_eq!(message.via.len(), 40);
    assert_eq!(message.call_id.len(), 3_000);
    assert_eq!(message.from.tag.map(|tag| tag.len()), Some(3_000));
}

/// 3.1.1.8
#[test]
fn octets_after_the_body_are_ignored() {
    let first = with_rest("REGISTER sip:h.test SIP/2.0\r\n", "REGISTER");
    let second = with_rest("INVITE sip:h.test SIP/2.0\r\n", "INVITE");
    let message = sound(&[first, second].concat());
    assert_eq!(message.method(), Some(&Method::Register));
    assert!(message.body.is_empty());
}

/// 3.1.1.9
#[test]
fn a_semicolon_in_the_user_part() {
    let message = sound(&with_rest(
        "OPTIONS sip:a;b=c%40d.test@h.test;e=f SIP/2.0\r\n",
        "OPTIONS",
    ));
    assert_eq!(user(&message), "a;b=c@d.test");
    let uri = message.request_uri().and_then(|uri| uri.sip()).unwrap();
    assert_eq!(uri.uri_params.get_val("e").unwrap(), "f");
}

/// 3.1.1.10
#[test]
fn any_transport_name() {
    let vias = ["UDP", "SCTP", "TLS", "TCP", "CARRIER-PIGEON"]
        .map(|name| format!("Via: SIP/2.0/{name} h.test;branch=z9hG4bK{name}\r\n"));
    let message = sound(&with_line("Via", &vias.concat()));
    assert_eq!(message.via[4].transport, "CARRIER-PIGEON");
}

/// 3.1.1.11
#[test]
fn a_body_of_several_parts_with_any_octets() {
    let body =
        b"--cut\r\nContent-Type: text/plain\r\n\r\nhi\r\n--cut\r\n\r\n\0\xff\r\n\r\n\0\r\n--cut--";
    let head = format!(
        "MESSAGE sip:h.test SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1:5070;branch=z9hG4bK-a--1-;rport\r\n\
         From: <sip:a@h.test>;tag=1\r\nTo: <sip:b@h.test>\r\nCall-ID: a@Zm9v..\r\nCSeq: 1 MESSAGE\r\n\
         Content-Type: multipart/mixed;boundary=cut\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let message = sound(&[head.as_bytes(), body].concat());
    assert_eq!(&message.body[..], body);
    assert_eq!(message.top_via().params.get("rport").unwrap().value, None);
}

/// 3.1.1.12 and 3.1.1.13
#[test]
fn unusual_reasons() {
    for (reason, read) in [
        (
            " = 2 * 50; \u{441}\u{442}\u{43e}",
            "= 2 * 50; \u{441}\u{442}\u{43e}",
        ),
        (" ", ""),
        ("", ""),
    ] {
        let message = sound(&with_rest(&format!("SIP/2.0 200{reason}\r\n"), "INVITE"));
        match message.start {
            super::StartLine::Response { code: 200, reason } => assert_eq!(reason, read),
            other => panic!("{other:?}"),
        }
    }
}

/// 3.1.2.1
#[test]
fn separators_without_anything_between() {
    for line in [
        "Via: SIP/2.0/UDP h.test;;\r\n",
        "Via: SIP/2.0/UDP h.test;,\r\n",
        "Via: SIP/2.0/UDP h.test,,SIP/2.0/UDP h.test\r\n",
        "Via: ,SIP/2.0/UDP h.test\r\n",
    ] {
        refused(&with_line("Via", line), 400);
    }
    let contact = "OPTIONS sip:h.test SIP/2.0\r\nContact: <sip:a@h.test>;;\r\n";
    refused(&with_rest(contact, "OPTIONS"), 400);
}

/// 3.1.2.2, 3.1.2.3 and 3.3.9
#[test]
fn wrong_content_lengths() {
    for line in [
        "Content-Length: 1\r\n",
        "Content-Length: -0\r\n",
        "Content-Length: -999\r\n",
        "Content-Length: five\r\n",
        "Content-Length: 0x0\r\n",
        "Content-Length:\r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Content-Length: 0\r\nl: 0\r\n",
    ] {
        refused(&with_line("Content-Length", line), 400);
    }
}

/// 3.1.2.4
#[test]
fn numbers_that_are_too_large() {
    refused(&with_line("CSeq", "CSeq: 4294967296 OPTIONS\r\n"), 400);
    refused(
        &with_line("CSeq", "CSeq: 99999999999999999999 OPTIONS\r\n"),
        400,
    );
    refused(&with_line("Max-Forwards", "Max-Forwards: many\r\n"), 400);
    // Only these, and the request can be served as if they were not there.
    for line in [
        "Max-Forwards: 300\r\n",
        "Expires: 99999999999999999999\r\n",
        "Contact: <sip:a@h.test>;expires=99999999999999999999\r\n",
    ] {
        assert_eq!(sound(&with_line("Max-Forwards", line)).max_forwards, None);
    }
}

/// 3.1.2.5 and 3.1.2.19
#[test]
fn wrong_responses_are_dropped() {
    let response = |code: &str, cseq: &str| {
        let text = String::from_utf8(with_rest(&format!("SIP/2.0 {code} R\r\n"), "INVITE"));
        text.unwrap().replace("11 INVITE", cseq).into_bytes()
    };
    sound(&response("200", "11 INVITE"));
    dropped(&response("200", "99999999999999999999 INVITE"));
    for code in ["99", "700", "4294967496", "-200", "20x", "1e2"] {
        dropped(&response(code, "11 INVITE"));
    }
}

/// 3.1.2.6
#[test]
fn a_quote_that_does_not_end() {
    refused(&with_line("To", "To: \"Bo <sip:bo@server.test>\r\n"), 400);
    refused(
        &with_line("To", "To: \"Bo\\\" <sip:bo@server.test>\r\n"),
        400,
    );
}

/// 3.1.2.7 to 3.1.2.11
#[test]
fn wrong_request_lines() {
    for line in [
        "OPTIONS <sip:h.test> SIP/2.0",
        "OPTIONS sip:h.test; lr SIP/2.0",
        "OPTIONS  sip:h.test SIP/2.0",
        "OPTIONS sip:h.test  SIP/2.0",
        "OPTIONS sip:h.test SIP/2.0  ",
        " OPTIONS sip:h.test SIP/2.0",
        "OPTIONS\tsip:h.test SIP/2.0",
        "OPTIONS sip:h.test\r\n SIP/2.0",
        "OPTIONS sip:a@h.test?Route=%3Csip:h.test%3E SIP/2.0",
        "OPTIONS sip:h.test",
        "OPTIONS sip:a@b@h.test SIP/2.0",
        "OPTIONS sip:h.test: SIP/2.0",
        "OPTIONS sip:h.test:70000 SIP/2.0",
        "OPTIONS sip:-h.test SIP/2.0",
        "OPTIONS sip:192.0.2.256 SIP/2.0",
        "OPTIONS sip:%zz@h.test SIP/2.0",
        "OPTIONS sip: SIP/2.0",
        "OPTIONS h.test SIP/2.0",
        "OPT@ONS sip:h.test SIP/2.0",
    ] {
        refused(&with_rest(&format!("{line}\r\n"), "OPTIONS"), 400);
    }
}

/// 3.1.2.12
#[test]
fn a_date_that_nobody_needs_is_not_looked_at() {
    let first = "OPTIONS sip:h.test SIP/2.0\r\nDate: Sat, 01 Jan 2011 12:00:00 CET\r\n";
    sound(&with_rest(first, "OPTIONS"));
}

/// 3.1.2.13
#[test]
fn a_uri_that_needs_brackets() {
    for contact in [
        "sip:a@h.test?Route=%3Csip:h.test%3E",
        "sip:a@h.test?Subject=x",
    ] {
        let first = format!("REGISTER sip:h.test SIP/2.0\r\nContact: {contact}\r\n");
        refused(&with_rest(&first, "REGISTER"), 400);
    }
}

/// 3.1.2.14 and 3.1.2.15
#[test]
fn wrong_addresses() {
    for to in [
        "Bo < sip:bo@server.test >",
        "<sip:bo@server.test >",
        "<sip:bo @server.test>",
        "Bo, Jr. <sip:bo@server.test>",
        "B(o) <sip:bo@server.test>",
        "Bo <sip:bo@server.test",
        "Bo sip:bo@server.test",
        "\"Bo\" sip:bo@server.test",
        "<>",
        "",
        "<sip:bo@server.test>;tag",
        "<sip:bo@server.test>;tag=a;tag=b",
        "<sip:bo@server.test>;=b",
        "<sip:bo@server.test>;a=",
        "<sip:bo@server.test> x",
    ] {
        refused(&with_line("To", &format!("To: {to}\r\n")), 400);
    }
}

/// 3.1.2.16
#[test]
fn another_version() {
    for version in ["SIP/7.0", "SIP/2.1", "SIP/02.0", "sip/1.0"] {
        let line = format!("OPTIONS sip:h.test {version}\r\n");
        refused(&with_rest(&line, "OPTIONS"), 505);
    }
    for version in ["HTTP/1.1", "SIP/2", "SIP/x.y", "SIP"] {
        let line = format!("OPTIONS sip:h.test {version}\r\n");
        refused(&with_rest(&line, "OPTIONS"), 400);
    }
    sound(&with_rest("OPTIONS sip:h.test sip/2.0\r\n", "OPTIONS"));
}

/// 3.1.2.17 and 3.1.2.18
#[test]
fn two_methods_that_differ() {
    refused(&with_rest("OPTIONS sip:h.test SIP/2.0\r\n", "INVITE"), 400);
    refused(&with_rest("DANCE sip:h.test SIP/2.0\r\n", "INVITE"), 501);
    // Case counts, and a method is not its beginning.
    refused(&with_rest("INVITE sip:h.test SIP/2.0\r\n", "invite"), 400);
    let message = sound(&with_rest("INVITED sip:h.test SIP/2.0\r\n", "INVITED"));
    assert_eq!(message.method(), Some(&Method::Other("INVITED".into())));
    let message = sound(&with_rest("invite sip:h.test SIP/2.0\r\n", "invite"));
    assert_eq!(message.method(), Some(&Method::Other("invite".into())));
}

/// 3.2.1
#[test]
fn a_branch_that_is_the_cookie_alone() {
    refused(
        &with_line("Via", "Via: SIP/2.0/UDP h.test;branch=z9hG4bK\r\n"),
        400,
    );
}

/// 3.3.1
#[test]
fn headers_that_must_be_there() {
    for name in ["From", "To", "Call-ID", "CSeq"] {
        refused(&with_line(name, ""), 400);
    }
    // Without a Via nobody knows where the answer would go.
    dropped(&with_line("Via", ""));
}

/// 3.3.2 to 3.3.4
#[test]
fn uris_of_other_schemes_are_sound() {
    for uri in [
        "neverHeardOf:whatever",
        "soap.beep://192.0.2.1:3002",
        "tel:+1-201-555-0123",
    ] {
        let message = sound(&with_rest(&format!("OPTIONS {uri} SIP/2.0\r\n"), "OPTIONS"));
        let read = message.request_uri().unwrap();
        assert_eq!(read.as_str(), uri);
        assert!(!read.is_sip() && read.sip().is_none());
    }
    let message = sound(&with_line("To", "To: isbn:2983792873\r\n"));
    assert_eq!(message.to.uri.as_str(), "isbn:2983792873");
    sound(&with_line(
        "From",
        "From: <http://www.example.com>;tag=1\r\n",
    ));
}

/// 3.3.8
#[test]
fn headers_that_can_be_there_once() {
    for (name, line) in [
        ("From", "f: <sip:x@h.test>;tag=2\r\n"),
        ("To", "t: <sip:x@h.test>\r\n"),
        ("Call-ID", "i: other\r\n"),
        ("CSeq", "CSeq: 12 OPTIONS\r\n"),
        ("Max-Forwards", "Max-Forwards: 5\r\n"),
    ] {
        let first = format!("OPTIONS sip:h.test SIP/2.0\r\n{line}");
        let error = refused(&with_rest(&first, "OPTIONS"), 400);
        let answer = error.response().unwrap();
        let long = format!("{name}: ");
        assert!(answer.matches(&long).count() <= 1, "{answer}");
    }
}

/// 3.3.11
#[test]
fn no_more_hops_is_sound() {
    let message = sound(&with_line("Max-Forwards", "Max-Forwards: 0\r\n"));
    assert_eq!(message.max_forwards, Some(0));
}

/// 3.3.12 to 3.3.14
#[test]
fn parameters_of_the_header_and_of_the_uri() {
    let contact = |contact: &str| {
        let first = format!("REGISTER sip:h.test SIP/2.0\r\nContact: {contact}\r\n");
        sound(&with_rest(&first, "REGISTER"))
            .contact
            .first()
            .unwrap()
            .clone()
    };
    let outside = contact("sip:a@h.test;p");
    assert_eq!(outside.parameters, [("p".to_string(), None)]);
    assert!(outside.uri.sip().unwrap().uri_params.is_empty());
    let inside = contact("<sip:a@h.test;p>");
    assert_eq!(inside.parameters, []);
    assert!(inside.uri.sip().unwrap().uri_params.get("p").is_some());
    let header = contact("<sip:a@h.test?Route=%3Csip:r.test%3E>");
    assert!(header.uri.has_headers());
    let headers = &header.uri.sip().unwrap().header_params;
    assert_eq!(headers.get_val("Route").unwrap(), "<sip:r.test>");
}

/// 3.4.1
#[test]
fn an_invite_from_before_rfc_3261() {
    let text = "INVITE sip:bo@server.test SIP/2.0\r\nVia: SIP/2.0/UDP gw.test\r\n\
        From: <sip:+12015550123@gw.test;user=phone>\r\nTo: sip:bo@server.test;user=phone\r\n\
        Record-Route: <sip:bo@server.test;maddr=p.test>\r\nCall-ID: old@gw.test\r\n\
        CSeq: 3 INVITE\r\n\r\nv=0\r\n";
    let message = sound(text.as_bytes());
    assert_eq!(message.branch(), None);
    assert_eq!(message.from.tag, None);
    assert_eq!(message.max_forwards, None);
    assert_eq!(&message.body[..], b"v=0\r\n");
}

/// Beyond RFC 4475: lines that are none.
#[test]
fn wrong_lines() {
    for line in [
        "no colon at all\r\n",
        ": no name\r\n",
        "two words: value\r\n",
        "name\u{e9}: value\r\n",
        "Subject: bare \n feed\r\n",
        "Subject: bare \r return\r\n",
        "Subject: nul \0\r\n",
        "Subject: bell \u{7}\r\n",
    ] {
        let first = format!("OPTIONS sip:h.test SIP/2.0\r\n{line}");
        let error = parse_message(&with_rest(&first, "OPTIONS")).unwrap_err();
        assert_eq!(error.code, 400, "{line}");
    }
    let mut bytes = with_rest(
        "OPTIONS sip:h.test SIP/2.0\r\nSubject: \u{e9}\r\n",
        "OPTIONS",
    );
    sound(&bytes);
    let at = bytes.iter().position(|byte| *byte == 0xa9).unwrap();
    bytes[at] = b'x';
    assert_eq!(parse_message(&bytes).unwrap_err().problem, "head not UTF-8");
    let many = "X: 1\r\n".repeat(300);
    let first = format!("OPTIONS sip:h.test SIP/2.0\r\n{many}");
    assert_eq!(
        parse_message(&with_rest(&first, "OPTIONS"))
            .unwrap_err()
            .code,
        513
    );
}
