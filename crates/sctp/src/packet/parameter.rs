//! Parameters of INIT and INIT ACK (RFC 9260, sections 3.2.1 and 3.3.2.1).
//!
//! ```text
//! |        Parameter type         |       Parameter length      |
//! |                       Parameter value ...                   |
//! ```

use bytes::Bytes;

use super::reader::Reader;
use super::{ParseError, padded};

/// Type of the state cookie parameter (RFC 9260, section 3.3.3.1.1).
pub(crate) const STATE_COOKIE: u16 = 7;
/// Type of the parameter that hands an unrecognised one back (section 3.3.3.1.2).
pub(crate) const UNRECOGNIZED_PARAMETER: u16 = 8;
/// Type of the host name address, which is forbidden (section 3.3.2.1.4).
pub(crate) const HOST_NAME_ADDRESS: u16 = 11;

/// One parameter, its value unread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Parameter type; its two high bits say what a receiver does that does not
    /// know it.
    pub kind: u16,
    /// What follows the parameter header.
    pub value: Bytes,
}

impl Parameter {
    pub(super) fn length_bytes(&self) -> u32 {
        4 + self.value.len() as u32
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.kind.to_be_bytes());
        out.extend_from_slice(&(self.length_bytes() as u16).to_be_bytes());
        out.extend_from_slice(&self.value);
    }
}

/// Length of a list of parameters: all are padded but the last, whose padding
/// the chunk's length leaves out (RFC 9260, section 3.2).
pub(super) fn length_bytes(parameters: &[Parameter]) -> u32 {
    let Some((last, others)) = parameters.split_last() else {
        return 0;
    };
    others.iter().map(|p| padded(p.length_bytes())).sum::<u32>() + last.length_bytes()
}

/// Writes a list of parameters with padding between them.
pub(super) fn encode_list(parameters: &[Parameter], out: &mut Vec<u8>) {
    // `out` may hold anything before, so its length says nothing of alignment.
    let start = out.len();
    for parameter in parameters {
        out.resize(start + (out.len() - start).next_multiple_of(4), 0);
        parameter.encode(out);
    }
}

/// Reads parameters until nothing is left.
pub(super) fn decode_list(mut value: Reader<'_>) -> Result<Vec<Parameter>, ParseError> {
    let mut parameters = Vec::new();
    while !value.is_empty() {
        let kind = value.u16()?;
        let length = usize::from(value.u16()?);
        let content = length.checked_sub(4).ok_or(ParseError::ParameterLength)?;
        parameters.push(Parameter {
            kind,
            value: value.bytes(content)?,
        });
        // The last parameter's padding may be missing from the chunk's length.
        let padding = (length.next_multiple_of(4) - length).min(value.remaining());
        value.part(padding)?;
    }
    Ok(parameters)
}

/// Parameters as bytes, for handing them back.
pub(crate) fn encoded(parameters: &[Parameter]) -> Bytes {
    let mut out = Vec::new();
    encode_list(parameters, &mut out);
    out.into()
}
