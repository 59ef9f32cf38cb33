//! Messages made from nothing or from the message that they answer.

use std::fmt::{Display, Write as _};

use bytes::Bytes;
use ezk_sip_types::Name;
use ezk_sip_types::print::AppendCtx;

use super::via::first_length;
use super::{Method, SipMessage, StartLine};

/// A message that is being written. Content-Length comes by itself.
#[derive(Clone, Debug)]
pub struct Draft {
    text: String,
}

impl Draft {
    /// A request, up to its first header.
    #[must_use]
    pub fn request(method: &Method, uri: &str) -> Self {
        Self::start(format_args!("{method} {uri} SIP/2.0"))
    }

    /// A response, up to its first header.
    #[must_use]
    pub fn response(code: u16, reason: &str) -> Self {
        Self::start(format_args!("SIP/2.0 {code} {reason}"))
    }

    fn start(line: impl Display) -> Self {
        let mut draft = Self {
            text: String::with_capacity(512),
        };
        draft.line(line);
        draft
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a string does not fail.
        let _ = write!(self.text, "{line}\r\n");
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Display) -> Self {
        self.line(format_args!("{name}: {value}"));
        self
    }

    /// Adds every value that another message has of a header, as it stands.
    #[must_use]
    pub fn copy(mut self, from: &SipMessage, name: &Name) -> Self {
        for value in from.values(name) {
            self.line(format_args!("{}: {value}", name.as_print_str()));
        }
        self
    }

    /// The message, with a body of this type.
    #[must_use]
    pub fn with_body(self, content_type: &str, body: &[u8]) -> Bytes {
        self.header("Content-Type", content_type).end(body)
    }

    /// The message, without a body.
    #[must_use]
    pub fn finish(self) -> Bytes {
        self.end(&[])
    }

    fn end(self, body: &[u8]) -> Bytes {
        let draft = self.header("Content-Length", body.len());
        let mut bytes = draft.text.into_bytes();
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        bytes.into()
    }
}

/// The response to a request (RFC 3261 section 8.2.6): Via, From, To, Call-ID and
/// CSeq of the request, with `tag` in To where the request has none there. A
/// response that makes a dialog also takes Record-Route along (section 12.1.1).
#[must_use]
pub fn response_to(request: &SipMessage, code: u16, reason: &str, tag: Option<&str>) -> Draft {
    let mut draft = copy_via(Draft::response(code, reason), request).copy(request, &Name::FROM);
    draft = match tag {
        Some(tag) if request.to.tag.is_none() => {
            let to = request.values(&Name::TO).next().unwrap_or_default();
            draft.header("To", format_args!("{to};tag={tag}"))
        }
        _ => draft.copy(request, &Name::TO),
    };
    if (101..300).contains(&code) {
        draft = draft.copy(request, &Name::RECORD_ROUTE);
    }
    draft
        .copy(request, &Name::CALL_ID)
        .copy(request, &Name::CSEQ)
}

/// Copies Via, and adds to the topmost where the request came from.
fn copy_via(draft: Draft, request: &SipMessage) -> Draft {
    let Some(source) = request.received else {
        return draft.copy(request, &Name::VIA);
    };
    let values = request.values(&Name::VIA).enumerate();
    values.fold(draft, |draft, (index, value)| {
        if index > 0 {
            return draft.header("Via", value);
        }
        let (first, rest) = value.split_at(first_length(value));
        draft.header("Via", format_args!("{first};received={source}{rest}"))
    })
}

/// The ACK of a response other than 2xx, which the transaction itself sends
/// (RFC 3261 section 17.1.1.3). `None` where `invite` is no request.
#[must_use]
pub fn ack_for(invite: &SipMessage, response: &SipMessage) -> Option<Bytes> {
    let StartLine::Request { uri, .. } = &invite.start else {
        return None;
    };
    let draft = Draft::request(&Method::Ack, uri.as_str())
        .header("Via", invite.top_via().default_print_ctx())
        .header("Max-Forwards", 70)
        .copy(invite, &Name::ROUTE)
        .copy(invite, &Name::FROM)
        .copy(response, &Name::TO)
        .copy(invite, &Name::CALL_ID)
        .header("CSeq", format_args!("{} ACK", invite.cseq.number));
    Some(draft.finish())
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn invite() -> SipMessage {
        let text = "INVITE sip:b@b.test SIP/2.0\r\n\
            Via: SIP/2.0/UDP a.test:5070;branch=z9hG4bK1\r\n\
            Via: SIP/2.0/UDP before.test;branch=z9hG4bK0\r\n\
            Route: <sip:p.test;lr>\r\n\
            Record-Route: <sip:q.test;lr>\r\n\
            From: A <sip:a@a.test>;tag=1\r\n\
            To: <sip:b@b.test>\r\n\
            Call-ID: x@a.test\r\n\
            CSeq: 7 INVITE\r\n\r\n";
        parse(&Bytes::from_static(text.as_bytes())).unwrap()
    }

    #[test]
    fn responses_copy_what_they_must() {
        let text = response_to(&invite(), 180, "Ringing", Some("t")).finish();
        let expected = "SIP/2.0 180 Ringing\r\n\
            Via: SIP/2.0/UDP a.test:5070;branch=z9hG4bK1\r\n\
            Via: SIP/2.0/UDP before.test;branch=z9hG4bK0\r\n\
            From: A <sip:a@a.test>;tag=1\r\n\
            To: <sip:b@b.test>;tag=t\r\n\
            Record-Route: <sip:q.test;lr>\r\n\
            Call-ID: x@a.test\r\n\
            CSeq: 7 INVITE\r\n\
            Content-Length: 0\r\n\r\n";
        assert_eq!(std::str::from_utf8(&text), Ok(expected));
        let response = parse(&text).unwrap();
        assert_eq!(response.code(), Some(180));
        assert_eq!(response.to.tag.as_deref(), Some("t"));
    }

    #[test]
    fn an_ack_of_a_refusal_keeps_the_branch() {
        let busy = response_to(&invite(), 486, "Busy Here", Some("t")).finish();
        let ack = ack_for(&invite(), &parse(&busy).unwrap()).unwrap();
        let expected = "ACK sip:b@b.test SIP/2.0\r\n\
            Via: SIP/2.0/UDP a.test:5070;branch=z9hG4bK1\r\n\
            Max-Forwards: 70\r\n\
            Route: <sip:p.test;lr>\r\n\
            From: A <sip:a@a.test>;tag=1\r\n\
            To: <sip:b@b.test>;tag=t\r\n\
            Call-ID: x@a.test\r\n\
            CSeq: 7 ACK\r\n\
            Content-Length: 0\r\n\r\n";
        assert_eq!(std::str::from_utf8(&ack), Ok(expected));
    }

    #[test]
    fn the_real_source_goes_into_the_topmost_via() {
        let text = "OPTIONS sip:b SIP/2.0\r\n\
            Via: SIP/2.0/UDP a.test;branch=z9hG4bK1;x=\",\" , SIP/2.0/UDP c.test\r\n\
            Via: SIP/2.0/UDP d.test\r\n\
            From: sip:a;tag=1\r\nTo: sip:b\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n\r\n";
        let mut request = parse(&Bytes::from_static(text.as_bytes())).unwrap();
        request.note_source("192.0.2.7".parse().unwrap());
        let answer = parse(&response_to(&request, 200, "OK", None).finish()).unwrap();
        let vias: Vec<&str> = answer.values(&Name::VIA).collect();
        let first =
            "SIP/2.0/UDP a.test;branch=z9hG4bK1;x=\",\";received=192.0.2.7 , SIP/2.0/UDP c.test";
        assert_eq!(vias, [first, "SIP/2.0/UDP d.test"]);
        // Nothing is added where Via is right.
        let mut request = parse(&Bytes::from(text.replace("a.test", "192.0.2.7"))).unwrap();
        request.note_source("192.0.2.7".parse().unwrap());
        assert_eq!(request.received, None);
    }

    #[test]
    fn a_body_is_counted() {
        let text = Draft::response(200, "OK").with_body("text/plain", b"hello");
        assert!(text.ends_with(b"Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"));
    }
}
