//! URIs (RFC 3261 section 19.1 and the grammar of section 25).

use std::fmt;

use bytesstr::BytesStr;
use ezk_sip_types::host::{Host, HostPort};
use ezk_sip_types::uri::SipUri;

use super::SipError;
use super::lexis::{is_escaped_text, is_unreserved};

/// A URI that follows the grammar of its scheme, or of any URI where the scheme
/// is not SIP's.
#[derive(Clone, Debug)]
pub struct Uri {
    text: BytesStr,
    sip: Option<SipUri>,
}

impl Uri {
    /// The URI as it stands.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the scheme is sip or sips.
    #[must_use]
    pub fn is_sip(&self) -> bool {
        scheme_of(&self.text).is_some_and(|(scheme, _)| is_sip(scheme))
    }

    /// The parts of a sip or sips URI, escapes resolved once. `None` for other
    /// schemes, and where the escapes give no UTF-8.
    #[must_use]
    pub fn sip(&self) -> Option<&SipUri> {
        self.sip.as_ref()
    }

    /// Whether headers are appended to a sip or sips URI (`?name=value`).
    #[must_use]
    pub fn has_headers(&self) -> bool {
        self.is_sip() && split_sip(&self.text).is_some_and(|parts| parts.headers.is_some())
    }

    /// The URI as a request line may have it: a sip or sips URI without the
    /// headers appended to it (section 19.1.1).
    #[must_use]
    pub fn without_headers(&self) -> &str {
        let headers = match self.is_sip() {
            true => split_sip(&self.text).and_then(|parts| parts.headers),
            false => None,
        };
        let cut = headers.map_or(0, |headers| headers.len() + 1);
        &self.text[..self.text.len() - cut]
    }

    /// Reads a URI that fills `text`.
    pub(super) fn read(text: &str) -> Result<Self, SipError> {
        let (scheme, rest) = scheme_of(text).ok_or(SipError::new("URI without a scheme"))?;
        if !is_sip(scheme) {
            let sound = !rest.is_empty()
                && is_escaped_text(rest, |b| is_unreserved(b) || b";/?:@&=+$,".contains(&b));
            if !sound {
                return Err(SipError::new("URI with characters that none may have"));
            }
            return Ok(Self {
                text: text.into(),
                sip: None,
            });
        }
        check_sip(text)?;
        Ok(Self {
            text: text.into(),
            sip: text.parse().ok(),
        })
    }
}

impl PartialEq for Uri {
    /// Compares the text, which suffices to know a repeated message by.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_sip(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("sip") || scheme.eq_ignore_ascii_case("sips")
}

fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let first = scheme.bytes().next()?;
    let sound = first.is_ascii_alphabetic()
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    sound.then_some((scheme, rest))
}

/// The parts of a sip URI, by their delimiters alone.
struct Parts<'a> {
    user_info: Option<&'a str>,
    host_port: &'a str,
    parameters: Option<&'a str>,
    headers: Option<&'a str>,
}

fn split_sip(text: &str) -> Option<Parts<'_>> {
    let (_, rest) = scheme_of(text)?;
    // An at sign is always escaped but where it ends the user part, and a user
    // part may hold ; and ? itself.
    let (user_info, rest) = match rest.split_once('@') {
        Some((user_info, rest)) => (Some(user_info), rest),
        None => (None, rest),
    };
    let (rest, headers) = match rest.split_once('?') {
        Some((rest, headers)) => (rest, Some(headers)),
        None => (rest, None),
    };
    let (host_port, parameters) = match rest.split_once(';') {
        Some((host_port, parameters)) => (host_port, Some(parameters)),
        None => (rest, None),
    };
    Some(Parts {
        user_info,
        host_port,
        parameters,
        headers,
    })
}

fn check_sip(text: &str) -> Result<(), SipError> {
    let parts = split_sip(text).ok_or(SipError::new("URI without a scheme"))?;
    if let Some(user_info) = parts.user_info {
        let (user, password) = match user_info.split_once(':') {
            Some((user, password)) => (user, password),
            None => (user_info, ""),
        };
        let is_user = |b| is_unreserved(b) || b"&=+$,;?/".contains(&b);
        let is_password = |b| is_unreserved(b) || b"&=+$,".contains(&b);
        if user.is_empty() || !is_escaped_text(user, is_user) {
            return Err(SipError::new("user part of a URI"));
        }
        if !is_escaped_text(password, is_password) {
            return Err(SipError::new("password of a URI"));
        }
    }
    if host_port(parts.host_port).is_none() {
        return Err(SipError::new("host of a URI"));
    }
    let is_parameter = |b| is_unreserved(b) || b"[]/:&+$".contains(&b);
    for parameter in parts
        .parameters
        .into_iter()
        .flat_map(|list| list.split(';'))
    {
        let (name, value) = split_pair(parameter);
        let sound = |text: &str| !text.is_empty() && is_escaped_text(text, is_parameter);
        if !sound(name) || value.is_some_and(|value| !sound(value)) {
            return Err(SipError::new("parameter of a URI"));
        }
    }
    let is_header = |b| is_unreserved(b) || b"[]/?:+$".contains(&b);
    for header in parts.headers.into_iter().flat_map(|list| list.split('&')) {
        let (name, value) = split_pair(header);
        let sound = |text: &str| is_escaped_text(text, is_header);
        if name.is_empty() || !sound(name) || !value.is_some_and(sound) {
            return Err(SipError::new("header of a URI"));
        }
    }
    Ok(())
}

fn split_pair(text: &str) -> (&str, Option<&str>) {
    match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}

/// Host and port that fill `text`. The library takes host names that are no
/// names by the grammar (all digits), and reads ports only up to a point.
pub(super) fn host_port(text: &str) -> Option<HostPort> {
    let host_port: HostPort = text.parse().ok()?;
    if let Host::Name(name) = &host_port.host {
        let labels = name.strip_suffix('.').unwrap_or(name);
        let top = labels.rsplit('.').next()?;
        if !top.bytes().next()?.is_ascii_alphabetic() {
            return None;
        }
    }
    Some(host_port)
}
