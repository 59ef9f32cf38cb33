//! What a request asks for.

use std::fmt;

use bytesstr::BytesStr;

/// The method of a request. Case counts (RFC 3261 section 7.1): "invite" is an
/// unknown method.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Method {
    /// RFC 3261 section 13.
    Invite,
    /// RFC 3261 section 13.2.2.4 and 17.1.1.3.
    Ack,
    /// RFC 3261 section 15.
    Bye,
    /// RFC 3261 section 9.
    Cancel,
    /// RFC 3261 section 11.
    Options,
    /// RFC 3261 section 10.
    Register,
    /// Any other token.
    Other(BytesStr),
}

impl Method {
    /// The method of this name, which the caller has found to be a token.
    #[must_use]
    pub fn from_token(name: &str) -> Self {
        match name {
            "INVITE" => Self::Invite,
            "ACK" => Self::Ack,
            "BYE" => Self::Bye,
            "CANCEL" => Self::Cancel,
            "OPTIONS" => Self::Options,
            "REGISTER" => Self::Register,
            _ => Self::Other(name.into()),
        }
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Invite => "INVITE",
            Self::Ack => "ACK",
            Self::Bye => "BYE",
            Self::Cancel => "CANCEL",
            Self::Options => "OPTIONS",
            Self::Register => "REGISTER",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
