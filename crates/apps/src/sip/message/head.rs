//! Lines, header names, and where the body begins (RFC 3261 sections 7.3.1 and 7.5).

use std::borrow::Cow;

use super::SipError;
use super::lexis::{is_token, number};

/// Start line and header lines of a message.
#[derive(Debug)]
pub(super) struct Head<'a> {
    pub(super) start: &'a str,
    pub(super) lines: Vec<Line<'a>>,
    /// Where the body begins, counted from the beginning of the bytes.
    pub(super) body_at: usize,
}

/// One header line, continuation lines included.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) field: Field,
    pub(super) name: &'a str,
    pub(super) value: Cow<'a, str>,
}

/// The headers that are looked into here, and all others. Comparing these is
/// what makes reading fast: the library compares names as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    CallId,
    Contact,
    ContentLength,
    ContentType,
    CSeq,
    From,
    MaxForwards,
    RecordRoute,
    Route,
    To,
    Via,
    Other,
}

impl Field {
    /// The field of a header name, long or compact (RFC 3261 section 7.3.3).
    fn of(name: &str) -> Self {
        const NAMES: [(&str, Field); 18] = [
            ("v", Field::Via),
            ("Via", Field::Via),
            ("f", Field::From),
            ("From", Field::From),
            ("t", Field::To),
            ("To", Field::To),
            ("i", Field::CallId),
            ("Call-ID", Field::CallId),
            ("CSeq", Field::CSeq),
            ("m", Field::Contact),
            ("Contact", Field::Contact),
            ("l", Field::ContentLength),
            ("Content-Length", Field::ContentLength),
            ("c", Field::ContentType),
            ("Content-Type", Field::ContentType),
            ("Max-Forwards", Field::MaxForwards),
            ("Route", Field::Route),
            ("Record-Route", Field::RecordRoute),
        ];
        let known = NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map_or(Self::Other, |(_, field)| *field)
    }
}

/// So many header lines are read. Looking a header up goes over all of them,
/// and a stranger is not to choose how long that takes.
const MAX_LINES: usize = 256;

/// Takes the head apart.
pub(super) fn split(bytes: &[u8]) -> Result<Head<'_>, SipError> {
    // Line ends before the start line are ignored; some keep a path open with them.
    let skipped = bytes
        .iter()
        .take_while(|b| **b == b'\r' || **b == b'\n')
        .count();
    let bytes = &bytes[skipped..];
    let end = head_end(bytes).ok_or(SipError::new("no empty line after the headers"))?;
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| SipError::new("head not UTF-8"))?;
    check_characters(head)?;
    let mut rest = head;
    let start = next_line(&mut rest);
    let mut lines = Vec::new();
    while !rest.is_empty() {
        if lines.len() == MAX_LINES {
            return Err(SipError::with_code(513, "too many header lines"));
        }
        lines.push(split_line(next_line(&mut rest))?);
    }
    Ok(Head {
        start,
        lines,
        body_at: skipped + end + 2,
    })
}

/// Index of the empty line that ends the head, after the last line's CRLF.
fn head_end(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some(at + 2)
}

/// Control characters stand only after a backslash, as in a quoted string, and
/// CR and LF only together.
fn check_characters(head: &str) -> Result<(), SipError> {
    let mut escaped = false;
    let mut bytes = head.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let sound = match byte {
            b'\r' => bytes.next_if_eq(&b'\n').is_some(),
            b'\n' => false,
            b'\t' => true,
            0..0x20 | 0x7f => escaped,
            _ => true,
        };
        if !sound {
            return Err(SipError::new("control character"));
        }
        escaped = byte == b'\\' && !escaped;
    }
    Ok(())
}

/// Takes the next line and its continuations; the last CRLF is not part of it.
fn next_line<'a>(rest: &mut &'a str) -> &'a str {
    let mut from = 0;
    loop {
        let Some(end) = rest[from..].find("\r\n").map(|at| from + at) else {
            let line = *rest;
            *rest = "";
            return line;
        };
        let after = end + 2;
        if rest[after..].starts_with([' ', '\t']) {
            from = after;
            continue;
        }
        let line = &rest[..end];
        *rest = &rest[after..];
        return line;
    }
}

fn split_line(line: &str) -> Result<Line<'_>, SipError> {
    let (name, value) = line
        .split_once(':')
        .ok_or(SipError::new("header line without a colon"))?;
    // White space, but no line end, may stand before the colon.
    let name = name.trim_end_matches([' ', '\t']);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(SipError::new("header name is no token"));
    }
    Ok(Line {
        field: Field::of(name),
        name,
        value: unfold(value),
    })
}

/// Joins continuation lines: a line end and the white space around it are one space.
fn unfold(value: &str) -> Cow<'_, str> {
    let space = [' ', '\t'];
    let value = value.trim_matches([' ', '\t', '\r', '\n']);
    if !value.contains("\r\n") {
        return Cow::Borrowed(value);
    }
    let mut joined = String::with_capacity(value.len());
    for part in value.split("\r\n").map(|part| part.trim_matches(space)) {
        if !joined.is_empty() && !part.is_empty() {
            joined.push(' ');
        }
        joined.push_str(part);
    }
    Cow::Owned(joined)
}

impl Head<'_> {
    pub(super) fn is_response(&self) -> bool {
        let version = self.start.get(..4);
        version.is_some_and(|version| version.eq_ignore_ascii_case("SIP/"))
    }

    /// The values of a header, one for each line that has it.
    pub(super) fn values(&self, field: Field) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter().filter(move |line| line.field == field);
        lines.map(|line| line.value.as_ref())
    }

    /// Via, From, To, Call-ID and CSeq as they stand (section 8.2.6.2); of what
    /// is there once only the first. Without a Via there is nobody to answer.
    pub(super) fn copy_for_response(&self) -> Option<String> {
        self.values(Field::Via).next()?;
        let mut copied = String::new();
        for (name, field, most) in [
            ("Via", Field::Via, usize::MAX),
            ("From", Field::From, 1),
            ("To", Field::To, 1),
            ("Call-ID", Field::CallId, 1),
            ("CSeq", Field::CSeq, 1),
        ] {
            for value in self.values(field).take(most) {
                copied.push_str(name);
                copied.push_str(": ");
                copied.push_str(value);
                copied.push_str("\r\n");
            }
        }
        Some(copied)
    }

    /// Content-Length, where there is one.
    pub(super) fn content_length(&self) -> Result<Option<usize>, SipError> {
        let mut lengths = self.values(Field::ContentLength);
        let Some(first) = lengths.next() else {
            return Ok(None);
        };
        if lengths.next().is_some() {
            return Err(SipError::new("more than one Content-Length"));
        }
        let length = number(first).ok_or(SipError::new("Content-Length is no number"))?;
        Ok(Some(length))
    }
}

/// How many bytes of a stream the first message takes, line ends before it
/// included; `None` where more must come before that is known.
///
/// # Errors
/// Where the stream cannot be divided into messages from here on: the connection
/// is to be closed (RFC 4475 section 3.1.2.3).
pub fn message_length(stream: &[u8]) -> Result<Option<usize>, SipError> {
    let skipped = stream
        .iter()
        .take_while(|b| **b == b'\r' || **b == b'\n')
        .count();
    if head_end(&stream[skipped..]).is_none() {
        return Ok(None);
    }
    let head = split(stream)?;
    // Section 18.3: over a stream Content-Length must be there.
    let body = head
        .content_length()?
        .ok_or(SipError::new("no Content-Length in a stream"))?;
    let length = head
        .body_at
        .checked_add(body)
        .ok_or(SipError::new("Content-Length is too large"))?;
    Ok(Some(length))
}
