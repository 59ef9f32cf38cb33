//! Start line and headers of a message whose lines are apart.

use bytes::Bytes;
use bytesstr::BytesStr;
use ezk_sip_types::{Headers, Name};

use super::head::{Field, Head};
use super::lexis::{Scan, is_token, is_word, number};
use super::{Address, Contacts, Method, SipError, SipMessage, StartLine, Uri, via};

/// Number and method of a request (RFC 3261 section 20.16).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CSeq {
    /// Counts the requests of a dialog.
    pub number: u32,
    /// The request's method.
    pub method: Method,
}

/// Headers of which there is one at most.
const SINGLE: [Field; 7] = [
    Field::From,
    Field::To,
    Field::CallId,
    Field::CSeq,
    Field::MaxForwards,
    Field::ContentLength,
    Field::ContentType,
];

/// Reads everything after the lines are apart.
pub(super) fn read(bytes: &Bytes, head: &Head<'_>) -> Result<SipMessage, SipError> {
    let start = start_line(head)?;
    for field in SINGLE {
        if head.values(field).nth(1).is_some() {
            return Err(SipError::new("header twice that can be there once"));
        }
    }
    let cseq = cseq(required(head, Field::CSeq)?)?;
    if let StartLine::Request { method, .. } = &start
        && *method != cseq.method
    {
        // RFC 4475 section 3.1.2.18: an unknown method matters more than the mismatch.
        let code = match method {
            Method::Other(_) => 501,
            _ => 400,
        };
        return Err(SipError::with_code(code, "CSeq of another method"));
    }
    let mut vias = Vec::new();
    for value in head.values(Field::Via) {
        via::read_list(value, &mut vias)?;
    }
    if vias.is_empty() {
        return Err(SipError::new("no Via"));
    }
    for value in head
        .values(Field::Route)
        .chain(head.values(Field::RecordRoute))
    {
        Address::read_list(value)?;
    }
    if let Some(value) = head.values(Field::ContentType).next() {
        check_content_type(value)?;
    }
    let message = SipMessage {
        start,
        via: vias,
        from: Address::read(required(head, Field::From)?)?,
        to: Address::read(required(head, Field::To)?)?,
        call_id: call_id(required(head, Field::CallId)?)?,
        cseq,
        max_forwards: max_forwards(head)?,
        contact: contacts(head)?,
        body: body(bytes, head)?,
        headers: headers(head),
        received: None,
    };
    Ok(message)
}

fn required<'a>(head: &'a Head<'_>, field: Field) -> Result<&'a str, SipError> {
    let missing = SipError::new("From, To, Call-ID, CSeq or Via missing");
    head.values(field).next().ok_or(missing)
}

fn start_line(head: &Head<'_>) -> Result<StartLine, SipError> {
    if head.start.contains("\r\n") {
        return Err(SipError::new("folded start line"));
    }
    if head.is_response() {
        status_line(head.start)
    } else {
        request_line(head.start)
    }
}

/// Exactly one space between the parts, and none after them.
fn request_line(line: &str) -> Result<StartLine, SipError> {
    let mut parts = line.split(' ');
    let (Some(method), Some(uri), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(SipError::new("request line is not three words"));
    };
    if method.is_empty() || !method.bytes().all(is_token) {
        return Err(SipError::new("method is no token"));
    }
    check_version(version)?;
    let uri = Uri::read(uri)?;
    if uri.has_headers() {
        return Err(SipError::new("request URI with headers"));
    }
    Ok(StartLine::Request {
        method: Method::from_token(method),
        uri,
    })
}

fn status_line(line: &str) -> Result<StartLine, SipError> {
    let (version, rest) = line.split_once(' ').unwrap_or((line, ""));
    check_version(version)?;
    // The space after the code is required, but a code without it is clear too.
    let (code, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    let code = number(code).filter(|code| (100..=699).contains(code));
    let code = code.ok_or(SipError::new("status code not of 100 to 699"))?;
    Ok(StartLine::Response {
        code,
        reason: reason.into(),
    })
}

fn check_version(version: &str) -> Result<(), SipError> {
    let numbers = version
        .get(..4)
        .filter(|name| name.eq_ignore_ascii_case("SIP/"))
        .and_then(|_| version[4..].split_once('.'));
    let Some((major, minor)) = numbers else {
        return Err(SipError::new("no SIP version"));
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(major) || !digits(minor) {
        return Err(SipError::new("no SIP version"));
    }
    if (major, minor) != ("2", "0") {
        return Err(SipError::with_code(505, "SIP version other than 2.0"));
    }
    Ok(())
}

fn cseq(value: &str) -> Result<CSeq, SipError> {
    let mut scan = Scan::new(value);
    let digits = scan.take_while(|b| b.is_ascii_digit());
    let number = number(digits).ok_or(SipError::new("CSeq is no number of 32 bits"))?;
    if !scan.skip_space() {
        return Err(SipError::new("CSeq without white space"));
    }
    let method = Method::from_token(scan.token("CSeq without a method")?);
    scan.end("something after CSeq")?;
    Ok(CSeq { number, method })
}

/// One word, or two with an at sign between them.
fn call_id(value: &str) -> Result<BytesStr, SipError> {
    let is_word = |text: &str| !text.is_empty() && text.bytes().all(is_word);
    let sound = match value.split_once('@') {
        Some((local, host)) => is_word(local) && is_word(host),
        None => is_word(value),
    };
    if sound {
        Ok(value.into())
    } else {
        Err(SipError::new("Call-ID"))
    }
}

fn max_forwards(head: &Head<'_>) -> Result<Option<u8>, SipError> {
    let Some(value) = head.values(Field::MaxForwards).next() else {
        return Ok(None);
    };
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    if digits {
        Ok(number(value))
    } else {
        Err(SipError::new("Max-Forwards is no number"))
    }
}

fn contacts(head: &Head<'_>) -> Result<Contacts, SipError> {
    let mut list = Vec::new();
    let mut all = false;
    for value in head.values(Field::Contact) {
        if value == "*" {
            all = true;
        } else {
            list.append(&mut Address::read_list(value)?);
        }
    }
    match (all, list.is_empty()) {
        (true, true) => Ok(Contacts::All),
        (true, false) => Err(SipError::new("Contact * beside others")),
        (false, _) => Ok(Contacts::List(list)),
    }
}

fn check_content_type(value: &str) -> Result<(), SipError> {
    let problem = "Content-Type without type and subtype";
    let mut scan = Scan::new(value);
    scan.token(problem)?;
    if !scan.eat_separator(b'/') {
        return Err(SipError::new(problem));
    }
    scan.token(problem)?;
    scan.parameters(|_, value| {
        let missing = SipError::new("parameter of Content-Type without a value");
        value.map(|_| ()).ok_or(missing)
    })?;
    scan.end("something after Content-Type")
}

fn body(bytes: &Bytes, head: &Head<'_>) -> Result<Bytes, SipError> {
    let rest = bytes.slice(head.body_at..);
    match head.content_length()? {
        None => Ok(rest),
        Some(length) if length <= rest.len() => Ok(rest.slice(..length)),
        Some(_) => Err(SipError::new("body shorter than Content-Length")),
    }
}

fn headers(head: &Head<'_>) -> Headers {
    let mut headers = Headers::with_capacity(head.lines.len());
    for line in &head.lines {
        headers.insert(Name::from(line.name), line.value.as_ref());
    }
    headers
}
