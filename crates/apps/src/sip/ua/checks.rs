//! Which requests a user agent server refuses before it looks at what they are
//! for (RFC 3261 section 8.2).

use ezk_sip_types::Name;

use super::core::{ALLOW, Core};
use crate::sip::message::{Draft, Method, SipMessage};

/// Methods of other RFCs: known, though not allowed here.
const KNOWN: [&str; 9] = [
    "REGISTER",
    "INFO",
    "PRACK",
    "UPDATE",
    "SUBSCRIBE",
    "NOTIFY",
    "PUBLISH",
    "MESSAGE",
    "REFER",
];

/// The refusal that a request deserves, if any. Order as in section 8.2.
pub(super) fn refusal(core: &mut Core, request: &SipMessage) -> Option<Draft> {
    let method = request.method()?;
    if matches!(method, Method::Register | Method::Other(_)) {
        let (code, reason) = if KNOWN.contains(&method.as_str()) {
            (405, "Method Not Allowed")
        } else {
            (501, "Not Implemented")
        };
        return Some(
            core.final_response(request, code, reason)
                .header("Allow", ALLOW),
        );
    }
    if !request.request_uri().is_some_and(|uri| uri.is_sip()) {
        return Some(core.final_response(request, 416, "Unsupported URI Scheme"));
    }
    // Section 8.2.2.3: what a CANCEL or an ACK requires is ignored.
    if *method != Method::Cancel {
        let required: Vec<&str> = items(request, &Name::REQUIRE).collect();
        if !required.is_empty() {
            let response = core.final_response(request, 420, "Bad Extension");
            return Some(response.header("Unsupported", required.join(", ")));
        }
    }
    if let Some(refusal) = refused_body(core, request) {
        return Some(refusal);
    }
    let accepts = items(request, &Name::ACCEPT).map(|item| item.split(';').next().unwrap_or(item));
    let accepts: Vec<String> = accepts.map(|item| item.trim().to_lowercase()).collect();
    let fits = |item: &String| ["application/sdp", "application/*", "*/*"].contains(&&**item);
    if *method == Method::Invite && !accepts.is_empty() && !accepts.iter().any(fits) {
        return Some(core.final_response(request, 406, "Not Acceptable"));
    }
    None
}

/// Section 8.2.3: a body that is not understood.
fn refused_body(core: &mut Core, request: &SipMessage) -> Option<Draft> {
    if request.body.is_empty() {
        return None;
    }
    let sdp = content_type(request).is_some_and(|it| it == "application/sdp");
    let plain =
        items(request, &Name::CONTENT_ENCODING).all(|it| it.eq_ignore_ascii_case("identity"));
    if sdp && plain {
        return None;
    }
    let response = core.final_response(request, 415, "Unsupported Media Type");
    Some(response.header("Accept", "application/sdp"))
}

/// Type and subtype of the body in lower case, without parameters.
pub(super) fn content_type(message: &SipMessage) -> Option<String> {
    let value = message.values(&Name::CONTENT_TYPE).next()?;
    let bare = value.split(';').next().unwrap_or(value);
    let no_space = bare.chars().filter(|c| !c.is_whitespace());
    Some(no_space.collect::<String>().to_lowercase())
}

/// The items of a header that is a list of tokens.
fn items<'a>(message: &'a SipMessage, name: &Name) -> impl Iterator<Item = &'a str> {
    let items = message.values(name).flat_map(|value| value.split(','));
    items.map(str::trim).filter(|item| !item.is_empty())
}
