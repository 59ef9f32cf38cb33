//! Messages for the wire: only a length, or SIP text of exactly that length.

use std::fmt::Write as _;

use ezk_sip_types::header::typed::{CSeq, CallID, Contact, FromTo, MaxForwards, Via};
use ezk_sip_types::host::HostPort;
use ezk_sip_types::msg::{MessageLine, RequestLine, StatusLine};
use ezk_sip_types::print::{AppendCtx, Print};
use ezk_sip_types::uri::{NameAddr, SipUri};
use ezk_sip_types::{Method, StatusCode};
use headway_sansio::Payload;

use super::{Content, MessageKind};

/// Digits of a call number in a message, to base 36.
pub(super) const CALL_DIGITS: usize = 6;
/// So many calls can be told apart by that many digits.
pub(super) const MAX_CALLS: u32 = 36_u32.pow(CALL_DIGITS as u32);

/// The longest transport name that a Via has here: the least length of a
/// message must not depend on the transport.
const LONGEST_VIA: &str = "SCTP";

/// Makes the messages of one side of a workload.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    content: Content,
    bytes: [u32; MessageKind::ALL.len()],
    via: &'static str,
}

impl Writer {
    pub(super) fn new(content: Content, bytes_of: impl Fn(MessageKind) -> u32) -> Self {
        Self {
            content,
            bytes: MessageKind::ALL.map(bytes_of),
            via: LONGEST_VIA,
        }
    }

    /// Sets the transport's name in Via.
    pub(super) fn set_via(&mut self, via: &'static str) {
        self.via = via;
    }

    pub(super) fn write(&self, call: u32, kind: MessageKind) -> Payload {
        let bytes = self.bytes[kind as usize];
        match self.content {
            Content::Size => Payload::Sized(bytes),
            Content::Full => Payload::from(text(call, kind, bytes as usize, self.via).into_bytes()),
        }
    }
}

/// Length in bytes of the shortest message of this kind.
pub(super) fn minimum_bytes(kind: MessageKind) -> u32 {
    // Messages are short, far below the limit of the type.
    text(0, kind, 0, LONGEST_VIA).len() as u32
}

/// A message with the headers that RFC 3261 section 8.1.1 and 8.2.6 ask for,
/// padded to `bytes`.
///
/// The names of the two proxies are one letter long and headers take their
/// compact form (section 7.3.3), so that the short messages of seed 0 are
/// possible at all.
fn text(call: u32, kind: MessageKind, bytes: usize, via: &'static str) -> String {
    let call = call_digits(call);
    let request = request_of(kind);
    let mut text = String::with_capacity(bytes);
    let line = match status_of(kind) {
        None => MessageLine::Request(RequestLine {
            method: request.method.clone(),
            uri: proxy("b"),
        }),
        Some((code, reason)) => MessageLine::Response(StatusLine {
            code,
            reason: Some(reason.into()),
        }),
    };
    put(&mut text, "", &line);
    let branch = format!("z9hG4bK{call}{}", request.cseq_letter);
    put(
        &mut text,
        "v:",
        &Via::new(via, HostPort::host_name("a"), branch),
    );
    if kind.is_from_caller() {
        put(&mut text, "Max-Forwards:", &MaxForwards(70).0);
    }
    put(&mut text, "f:", &party("a", Some(&call)));
    // The answerer's tag stands in all but the INVITE that starts the dialog and
    // its 100 (section 17.2.1).
    let tagged = !matches!(kind, MessageKind::Invite | MessageKind::Trying);
    put(&mut text, "t:", &party("b", tagged.then_some(&call)));
    put(&mut text, "i:", &CallID::new(call.as_str()).0);
    let cseq = CSeq::new(request.cseq, request.method);
    put(
        &mut text,
        "CSeq:",
        &format_args!("{} {}", cseq.cseq, cseq.method),
    );
    match kind {
        MessageKind::Invite => put(&mut text, "m:", &Contact::new(NameAddr::uri(proxy("a")))),
        MessageKind::Ringing | MessageKind::Ok => {
            put(&mut text, "m:", &Contact::new(NameAddr::uri(proxy("b"))));
        }
        _ => {}
    }
    pad(&mut text, bytes);
    text
}

/// Ends the head so that the message has `bytes` bytes, where that many are
/// there to fill: with a header of no meaning, or, where that is too long, with
/// spaces before a value (section 7.3.1 allows them).
fn pad(text: &mut String, bytes: usize) {
    const HEADER: &str = "Pad:";
    const END: &str = "l:0\r\n\r\n";
    let missing = bytes.saturating_sub(text.len() + END.len());
    if let Some(filler) = missing.checked_sub(HEADER.len() + 3) {
        text.push_str(HEADER);
        text.extend(std::iter::repeat_n('x', filler + 1));
        text.push_str("\r\n");
        text.push_str(END);
    } else {
        text.push_str("l:");
        text.extend(std::iter::repeat_n(' ', missing));
        text.push_str("0\r\n\r\n");
    }
}

fn put(text: &mut String, name: &str, value: &impl Print) {
    write!(text, "{name}{}\r\n", value.default_print_ctx()).expect("a string takes all");
}

struct Request {
    method: Method,
    cseq: u32,
    cseq_letter: char,
}

/// The request that a message is or answers.
fn request_of(kind: MessageKind) -> Request {
    let (method, cseq, cseq_letter) = match kind {
        MessageKind::Invite | MessageKind::Trying | MessageKind::Ringing | MessageKind::Ok => {
            (Method::INVITE, 1, 'i')
        }
        // The ACK of a 200 has the INVITE's number and a branch of its own (section 13.2.2.4).
        MessageKind::Ack => (Method::ACK, 1, 'a'),
        MessageKind::Bye | MessageKind::ByeOk => (Method::BYE, 2, 'b'),
    };
    Request {
        method,
        cseq,
        cseq_letter,
    }
}

fn status_of(kind: MessageKind) -> Option<(StatusCode, &'static str)> {
    match kind {
        MessageKind::Trying => Some((StatusCode::TRYING, "Trying")),
        MessageKind::Ringing => Some((StatusCode::RINGING, "Ringing")),
        MessageKind::Ok | MessageKind::ByeOk => Some((StatusCode::OK, "OK")),
        MessageKind::Invite | MessageKind::Ack | MessageKind::Bye => None,
    }
}

fn proxy(host: &'static str) -> SipUri {
    SipUri::new(HostPort::host_name(host))
}

fn party(host: &'static str, tag: Option<&String>) -> FromTo {
    FromTo::new(
        NameAddr::uri(proxy(host)),
        tag.map(|tag| tag.as_str().into()),
    )
}

/// A call number as it stands in Call-ID, tags and branches.
fn call_digits(call: u32) -> String {
    let mut digits = [b'0'; CALL_DIGITS];
    let mut rest = call;
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[(rest % 36) as usize];
        rest /= 36;
    }
    String::from_utf8_lossy(&digits).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sip::{Flow, SipId, SipWorkload, read};
    use crate::{Incoming, Peer};

    #[test]
    fn every_size_from_the_least_is_met_and_read_back() {
        for kind in MessageKind::ALL {
            let least = minimum_bytes(kind) as usize;
            for bytes in least..least + 40 {
                for call in [0, 35, 36, 1_000_000, MAX_CALLS - 1] {
                    let text = text(call, kind, bytes, "UDP");
                    assert_eq!(text.len(), bytes, "{text}");
                    let message = Incoming {
                        id: None,
                        from: Peer(0),
                        payload: text.clone().into_bytes().into(),
                    };
                    assert_eq!(
                        read::identify(&message),
                        Ok(SipId::new(call, kind)),
                        "{text}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_least_sizes_allow_the_defaults() {
        let workload = SipWorkload {
            content: Content::Full,
            flow: Flow::Full,
            ..SipWorkload::default()
        };
        assert_eq!(workload.validate(), Ok(()));
    }

    #[test]
    fn an_invite_of_225_bytes() {
        let text = text(7, MessageKind::Invite, 225, "SCTP");
        let expected = "INVITE sip:b SIP/2.0\r\n\
            v:SIP/2.0/SCTP a;branch=z9hG4bK000007i\r\n\
            Max-Forwards:70\r\n\
            f:<sip:a>;tag=000007\r\n\
            t:<sip:b>\r\n\
            i:000007\r\n\
            CSeq:1 INVITE\r\n\
            m:<sip:a>\r\n";
        assert_eq!(&text[..expected.len()], expected);
        assert!(text.ends_with("x\r\nl:0\r\n\r\n"));
    }
}
