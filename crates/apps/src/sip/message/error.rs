//! What is wrong with a message, and what its receiver owes the sender.

use std::fmt;

use super::head::Head;

/// Why a message was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SipError {
    /// What rule it breaks, in a few words.
    pub problem: &'static str,
    /// The status code that answers it were it a request: 400 (Bad Request), 501
    /// (Not Implemented), 505 (Version Not Supported) or 513 (Message Too Large).
    pub code: u16,
    /// The answer, ready to send, where the message is a request other than ACK
    /// and says by a Via whom to answer. Responses that are wrong are dropped
    /// (RFC 3261 section 18.1.2).
    response: Option<String>,
}

impl SipError {
    pub(super) fn new(problem: &'static str) -> Self {
        Self::with_code(400, problem)
    }

    pub(super) fn with_code(code: u16, problem: &'static str) -> Self {
        Self {
            problem,
            code,
            response: None,
        }
    }

    /// The answer to send, if any.
    #[must_use]
    pub fn response(&self) -> Option<&str> {
        self.response.as_deref()
    }

    /// Adds the answer that a message with this head gets. Its headers are
    /// copied as they stand, because what is wrong may be in one of them.
    pub(super) fn answering(mut self, head: &Head<'_>) -> Self {
        let is_request = !head.is_response();
        if is_request && !head.start.starts_with("ACK ") {
            self.response = head.copy_for_response().map(|copied| {
                let reason = match self.code {
                    501 => "Not Implemented",
                    505 => "Version Not Supported",
                    _ => "Bad Request",
                };
                format!(
                    "SIP/2.0 {} {reason}\r\n{copied}Content-Length: 0\r\n\r\n",
                    self.code
                )
            });
        }
        self
    }
}

impl fmt::Display for SipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.problem, self.code)
    }
}

impl std::error::Error for SipError {}
