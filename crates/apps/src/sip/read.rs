//! What a message is, told by its name or by its text.

use bytes::Bytes;
use headway_sansio::Payload;

use super::message::{self, Method, SipMessage, StartLine};
use super::{MessageKind, SipId, write::CALL_DIGITS};
use crate::Incoming;

/// The message is not SIP, or not of a call that this crate makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Malformed;

/// Which message of which call this is. Text alone counts where there is text;
/// the name of a message is used only where nothing but a length travels.
#[inline]
pub(super) fn identify(message: &Incoming) -> Result<SipId, Malformed> {
    match &message.payload {
        Payload::Sized(_) => message.id.and_then(SipId::decode).ok_or(Malformed),
        Payload::Bytes(bytes) => identify_text(bytes),
    }
}

// Apart, so that where there is no text the rest is short enough to inline.
#[inline(never)]
fn identify_text(bytes: &Bytes) -> Result<SipId, Malformed> {
    let message = message::parse(bytes).map_err(|_| Malformed)?;
    let kind = kind_of(&message).ok_or(Malformed)?;
    let call = call_number(&message.call_id).ok_or(Malformed)?;
    Ok(SipId::new(call, kind))
}

fn kind_of(message: &SipMessage) -> Option<MessageKind> {
    match &message.start {
        StartLine::Request { method, .. } => match method {
            Method::Invite => Some(MessageKind::Invite),
            Method::Ack => Some(MessageKind::Ack),
            Method::Bye => Some(MessageKind::Bye),
            _ => None,
        },
        StartLine::Response { code, .. } => match (code, &message.cseq.method) {
            (100, Method::Invite) => Some(MessageKind::Trying),
            (180, Method::Invite) => Some(MessageKind::Ringing),
            (200, Method::Invite) => Some(MessageKind::Ok),
            (200, Method::Bye) => Some(MessageKind::ByeOk),
            _ => None,
        },
    }
}

fn call_number(call_id: &str) -> Option<u32> {
    let sound = call_id.len() == CALL_DIGITS && call_id.bytes().all(|b| b.is_ascii_alphanumeric());
    sound.then(|| u32::from_str_radix(call_id, 36).ok())?
}
