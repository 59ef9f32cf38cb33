//! SIP messages: read from bytes, strictly by the grammar of RFC 3261.
//!
//! [`parse_message`] takes one datagram (or one framed piece of a stream, see
//! [`message_length`]) and gives a [`SipMessage`] or a [`SipError`] that says what
//! the receiver owes the sender: a status code, or silence. It never panics.
//!
//! The library `ezk-sip-types` supplies header names, header storage, hosts, URIs,
//! Via and the printing of all of them. It is a lenient reader, though: it takes a
//! method by its beginning and leaves out what follows a value. So the grammar is
//! checked here first, and the library gets nothing that the grammar refuses.

mod address;
mod build;
mod error;
mod fields;
mod head;
mod lexis;
mod method;
mod uri;
mod via;

#[cfg(test)]
mod proptests;
#[cfg(test)]
mod torture_tests;

use std::net::IpAddr;

use bytes::Bytes;
use bytesstr::BytesStr;
use ezk_sip_types::header::typed::Via;
use ezk_sip_types::{Headers, Name};

pub use address::{Address, Contacts};
pub use build::{Draft, ack_for, response_to};
pub use error::SipError;
pub use fields::CSeq;
pub use head::message_length;
pub use method::Method;
pub use uri::Uri;
pub use via::MAGIC_COOKIE;

/// A SIP request or response, read and checked.
#[derive(Clone, Debug)]
pub struct SipMessage {
    /// Request or status line.
    pub start: StartLine,
    /// Every header, in order, by its long name, with folded lines joined.
    pub headers: Headers,
    /// The Via values, topmost first; at least one.
    pub via: Vec<Via>,
    /// Who sent the request.
    pub from: Address,
    /// Whom the request is for.
    pub to: Address,
    /// Which call this belongs to.
    pub call_id: BytesStr,
    /// Number and method of the request that this is or answers.
    pub cseq: CSeq,
    /// How many more hops; `None` where absent or out of range, which RFC 4475
    /// section 3.1.2.4 allows to treat alike.
    pub max_forwards: Option<u8>,
    /// Where the sender wants to be reached.
    pub contact: Contacts,
    /// The body, exactly as long as Content-Length says.
    pub body: Bytes,
    /// Where a request really came from, where its topmost Via says otherwise;
    /// set by [`Self::note_source`].
    pub received: Option<IpAddr>,
}

/// The first line.
#[derive(Clone, Debug)]
pub enum StartLine {
    /// Of a request.
    Request {
        /// What is asked for.
        method: Method,
        /// Of whom.
        uri: Uri,
    },
    /// Of a response.
    Response {
        /// 100 to 699.
        code: u16,
        /// For people to read; may be empty.
        reason: BytesStr,
    },
}

impl SipMessage {
    /// The method of a request.
    #[must_use]
    pub fn method(&self) -> Option<&Method> {
        match &self.start {
            StartLine::Request { method, .. } => Some(method),
            StartLine::Response { .. } => None,
        }
    }

    /// The status code of a response.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match &self.start {
            StartLine::Request { .. } => None,
            StartLine::Response { code, .. } => Some(*code),
        }
    }

    /// The request URI of a request.
    #[must_use]
    pub fn request_uri(&self) -> Option<&Uri> {
        match &self.start {
            StartLine::Request { uri, .. } => Some(uri),
            StartLine::Response { .. } => None,
        }
    }

    /// The topmost Via.
    #[must_use]
    pub fn top_via(&self) -> &Via {
        &self.via[0]
    }

    /// The branch of the topmost Via, where there is one.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.top_via()
            .params
            .get_val("branch")
            .map(BytesStr::as_str)
    }

    /// Notes the address that a request came from. Where the topmost Via says
    /// another, responses carry it there (RFC 3261 section 18.2.1).
    pub fn note_source(&mut self, source: IpAddr) {
        self.received = (self.top_via().sent_by.ip() != Some(source)).then_some(source);
    }

    /// The addresses of Route or Record-Route, in order.
    #[must_use]
    pub fn addresses(&self, name: &Name) -> Vec<Address> {
        let lists = self.values(name).map(Address::read_list);
        lists.filter_map(Result::ok).flatten().collect()
    }

    /// The values of a header as they stand, one for each line that has it.
    pub fn values(&self, name: &Name) -> impl Iterator<Item = &str> {
        self.headers.get_raw(name).map(BytesStr::as_str)
    }
}

/// Reads one message that fills a datagram.
///
/// Octets beyond Content-Length are ignored, and a missing Content-Length means
/// that the body goes to the end (RFC 3261 section 18.3).
///
/// # Errors
/// Where the message breaks the grammar or lacks what every message has.
pub fn parse_message(bytes: &[u8]) -> Result<SipMessage, SipError> {
    parse(&Bytes::copy_from_slice(bytes))
}

/// Like [`parse_message`], without copying the body.
///
/// # Errors
/// As for [`parse_message`].
pub fn parse(bytes: &Bytes) -> Result<SipMessage, SipError> {
    let head = head::split(bytes)?;
    fields::read(bytes, &head).map_err(|error| error.answering(&head))
}
