//! Characters and words of SIP (RFC 3261 section 25.1).

use super::SipError;

/// Characters of a token.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-.!%*_+`'~".contains(&byte)
}

/// Characters of a word, as in Call-ID.
pub(super) fn is_word(byte: u8) -> bool {
    is_token(byte) || b"()<>:\\\"/[]?{}".contains(&byte)
}

/// Characters that stand for themselves in a URI.
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte)
}

/// Whether `text` is made of such characters and of %-escapes alone.
pub(super) fn is_escaped_text(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let sound = if byte == b'%' {
            let is_hex = |digit: Option<u8>| digit.is_some_and(|digit| digit.is_ascii_hexdigit());
            is_hex(bytes.next()) && is_hex(bytes.next())
        } else {
            allowed(byte)
        };
        if !sound {
            return false;
        }
    }
    true
}

/// A place in the value of a header. Folded lines are joined by now, so that
/// white space is spaces and tabs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.bytes().next()
    }

    /// Goes over white space and says whether there was any.
    pub(super) fn skip_space(&mut self) -> bool {
        let before = self.rest.len();
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        self.rest.len() < before
    }

    /// Takes this character, where it comes next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        // Only ASCII is asked for, so that the cut is between characters.
        let comes = byte.is_ascii() && self.peek() == Some(byte);
        if comes {
            self.rest = &self.rest[1..];
        }
        comes
    }

    /// Takes a separator with the white space that may stand around it.
    pub(super) fn eat_separator(&mut self, byte: u8) -> bool {
        let mut ahead = *self;
        ahead.skip_space();
        if !ahead.eat(byte) {
            return false;
        }
        ahead.skip_space();
        *self = ahead;
        true
    }

    /// Takes as many of these ASCII characters as come.
    pub(super) fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let end = self
            .rest
            .bytes()
            .position(|byte| !byte.is_ascii() || !wanted(byte))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Takes everything up to this character, which stays, or to the end.
    pub(super) fn take_until(&mut self, byte: u8) -> &'a str {
        let end = self
            .rest
            .bytes()
            .position(|here| here == byte)
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    pub(super) fn token(&mut self, problem: &'static str) -> Result<&'a str, SipError> {
        let token = self.take_while(is_token);
        if token.is_empty() {
            return Err(SipError::new(problem));
        }
        Ok(token)
    }

    /// Takes a quoted string and gives what is between the quotes, pairs of
    /// backslash and character left as they are.
    pub(super) fn quoted(&mut self) -> Result<&'a str, SipError> {
        let unterminated = SipError::new("unterminated quoted string");
        if !self.eat(b'"') {
            return Err(unterminated);
        }
        let mut escaped = false;
        for (at, byte) in self.rest.bytes().enumerate() {
            match byte {
                _ if escaped => {
                    if !byte.is_ascii() {
                        return Err(SipError::new("backslash before a non-ASCII character"));
                    }
                    escaped = false;
                }
                b'\\' => escaped = true,
                b'"' => {
                    let text = &self.rest[..at];
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                _ => {}
            }
        }
        Err(unterminated)
    }

    /// Takes the value of a parameter: a token, a host or a quoted string.
    pub(super) fn parameter_value(&mut self) -> Result<&'a str, SipError> {
        if self.peek() == Some(b'"') {
            return self.quoted();
        }
        let value = self.take_while(|byte| is_token(byte) || b"[]:".contains(&byte));
        if value.is_empty() {
            return Err(SipError::new("parameter without the value that = promises"));
        }
        Ok(value)
    }

    /// Takes `;name=value` as often as it comes. Names are given in lower case,
    /// because they are compared without regard to it.
    pub(super) fn parameters(
        &mut self,
        mut take: impl FnMut(String, Option<&'a str>) -> Result<(), SipError>,
    ) -> Result<(), SipError> {
        while self.eat_separator(b';') {
            let name = self.token("empty parameter")?;
            let value = if self.eat_separator(b'=') {
                Some(self.parameter_value()?)
            } else {
                None
            };
            take(name.to_ascii_lowercase(), value)?;
        }
        Ok(())
    }

    /// Nothing but white space may follow.
    pub(super) fn end(mut self, problem: &'static str) -> Result<(), SipError> {
        self.skip_space();
        if self.is_at_end() {
            Ok(())
        } else {
            Err(SipError::new(problem))
        }
    }
}

/// A number in decimal digits alone; `None` where it is none or does not fit.
pub(super) fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}
