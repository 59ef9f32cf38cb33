//! What a message is, told by its name or by its text.

use bytes::Bytes;
use ezk_sip_types::header::typed::{CSeq, CallID};
use ezk_sip_types::msg::{Line, MessageLine, PullParser};
use ezk_sip_types::parse::Parse;
use ezk_sip_types::{Headers, Method};
use headway_sansio::Payload;

use super::{MessageKind, SipId, write::CALL_DIGITS};
use crate::Incoming;

/// The message is not SIP, or not of a call that this crate makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Malformed;

/// Which message of which call this is. Text alone counts where there is text;
/// the name of a message is used only where nothing but a length travels.
pub(super) fn identify(message: &Incoming) -> Result<SipId, Malformed> {
    match &message.payload {
        Payload::Sized(_) => message.id.and_then(SipId::decode).ok_or(Malformed),
        Payload::Bytes(bytes) => parse(bytes).ok_or(Malformed),
    }
}

fn parse(bytes: &Bytes) -> Option<SipId> {
    let mut lines = PullParser::new(bytes, 0);
    let first = std::str::from_utf8(lines.next()?.ok()?).ok()?;
    let (_, first) = MessageLine::parse(bytes)(first).ok()?;
    let mut headers = Headers::with_capacity(10);
    for line in lines {
        let line = std::str::from_utf8(line.ok()?).ok()?;
        let (_, line) = Line::parse(bytes, line).ok()?;
        headers.insert(line.name, line.value);
    }
    let cseq: CSeq = headers.get_named().ok()?;
    let call_id: CallID = headers.get_named().ok()?;
    let kind = kind_of(&first, &cseq)?;
    let call = call_number(&call_id.0)?;
    Some(SipId::new(call, kind))
}

fn kind_of(first: &MessageLine, cseq: &CSeq) -> Option<MessageKind> {
    match first {
        MessageLine::Request(line) if line.method == cseq.method => match cseq.method {
            Method::INVITE => Some(MessageKind::Invite),
            Method::ACK => Some(MessageKind::Ack),
            Method::BYE => Some(MessageKind::Bye),
            _ => None,
        },
        MessageLine::Request(_) => None,
        MessageLine::Response(line) => match (line.code.into_u16(), &cseq.method) {
            (100, &Method::INVITE) => Some(MessageKind::Trying),
            (180, &Method::INVITE) => Some(MessageKind::Ringing),
            (200, &Method::INVITE) => Some(MessageKind::Ok),
            (200, &Method::BYE) => Some(MessageKind::ByeOk),
            _ => None,
        },
    }
}

fn call_number(call_id: &str) -> Option<u32> {
    let sound = call_id.len() == CALL_DIGITS && call_id.bytes().all(|b| b.is_ascii_alphanumeric());
    sound.then(|| u32::from_str_radix(call_id, 36).ok())?
}
