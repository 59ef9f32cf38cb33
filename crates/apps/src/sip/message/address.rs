//! From, To, Contact and Route: addresses with parameters (RFC 3261 section 20.10).

use bytesstr::BytesStr;

use super::lexis::{Scan, is_token};
use super::{SipError, Uri};

/// An address with what follows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Address {
    /// The name for people, without quotes.
    pub display: Option<BytesStr>,
    /// The address.
    pub uri: Uri,
    /// The tag, which From and To have.
    pub tag: Option<BytesStr>,
    /// The other parameters, names in lower case.
    pub parameters: Vec<(String, Option<BytesStr>)>,
}

/// What the Contact headers of a message say.
#[derive(Clone, PartialEq, Debug)]
pub enum Contacts {
    /// These addresses, or none.
    List(Vec<Address>),
    /// All that are registered: a lone asterisk.
    All,
}

impl Contacts {
    /// The first address.
    #[must_use]
    pub fn first(&self) -> Option<&Address> {
        match self {
            Self::List(list) => list.first(),
            Self::All => None,
        }
    }
}

impl Address {
    /// Reads an address with its parameters that fills a header's value.
    pub(super) fn read(value: &str) -> Result<Self, SipError> {
        let mut scan = Scan::new(value);
        let address = Self::take(&mut scan)?;
        scan.end("something after an address")?;
        Ok(address)
    }

    /// Takes one address and its parameters.
    fn take(scan: &mut Scan<'_>) -> Result<Self, SipError> {
        scan.skip_space();
        let (display, uri) = match display_name(scan)? {
            Some(display) => {
                let uri = scan.take_until(b'>');
                if !scan.eat(b'>') {
                    return Err(SipError::new("< without >"));
                }
                (display, Uri::read(uri)?)
            }
            None => (None, bare_uri(scan)?),
        };
        let mut address = Self {
            display,
            uri,
            tag: None,
            parameters: Vec::new(),
        };
        scan.parameters(|name, value| {
            if name == "tag" {
                let tag = value.ok_or(SipError::new("tag without a value"))?;
                if !tag.bytes().all(is_token) || address.tag.is_some() {
                    return Err(SipError::new("tag is no single token"));
                }
                address.tag = Some(tag.into());
            } else {
                address.parameters.push((name, value.map(BytesStr::from)));
            }
            Ok(())
        })?;
        Ok(address)
    }

    /// The address as an entry of a Route: URI and parameters, without a name.
    #[must_use]
    pub fn to_route(&self) -> String {
        let mut text = format!("<{}>", self.uri);
        for (name, value) in &self.parameters {
            text.push(';');
            text.push_str(name);
            if let Some(value) = value {
                text.push('=');
                text.push_str(value);
            }
        }
        text
    }

    /// Reads a list of addresses, as of Contact and Route.
    pub(super) fn read_list(value: &str) -> Result<Vec<Self>, SipError> {
        let mut scan = Scan::new(value);
        let mut list = vec![Self::take(&mut scan)?];
        while scan.eat_separator(b',') {
            list.push(Self::take(&mut scan)?);
        }
        scan.end("something after an address")?;
        Ok(list)
    }
}

/// Takes the display name, if any, and the < that follows it. `None` where the
/// address stands without angle brackets.
fn display_name<'a>(scan: &mut Scan<'a>) -> Result<Option<Option<BytesStr>>, SipError> {
    if scan.peek() == Some(b'"') {
        let display = scan.quoted()?;
        scan.skip_space();
        if !scan.eat(b'<') {
            return Err(SipError::new("quoted name without <"));
        }
        return Ok(Some(Some(display.into())));
    }
    // Tokens with white space between them; the last may touch the < (RFC 4475
    // section 3.1.1.6).
    let mut ahead = *scan;
    let before = ahead.rest();
    while !ahead.take_while(is_token).is_empty() || ahead.skip_space() {}
    if ahead.peek() != Some(b'<') {
        return Ok(None);
    }
    let name = before[..before.len() - ahead.rest().len()].trim();
    ahead.eat(b'<');
    *scan = ahead;
    Ok(Some((!name.is_empty()).then(|| name.into())))
}

/// Takes a URI without angle brackets. What follows a semicolon then belongs to
/// the header; a comma or a question mark would need brackets.
fn bare_uri(scan: &mut Scan<'_>) -> Result<Uri, SipError> {
    let text = scan.take_while(|byte| !b" \t;,<>\"".contains(&byte));
    if text.contains('?') {
        return Err(SipError::new("URI with ? needs angle brackets"));
    }
    Uri::read(text)
}
