//! Error causes of ABORT and ERROR (RFC 9260, section 3.3.10).

use bytes::Bytes;

use super::{Parameter, ParseError, parameter, reader::Reader};

/// One error cause: a code and what goes with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    /// Cause code.
    pub code: u16,
    /// Information that belongs to the cause.
    pub information: Bytes,
}

impl Cause {
    /// DATA came on a stream that does not exist (section 3.3.10.1).
    pub const INVALID_STREAM: u16 = 1;
    /// INIT or INIT ACK lacks a parameter (section 3.3.10.2).
    pub const MISSING_PARAMETER: u16 = 2;
    /// The cookie is too old (section 3.3.10.3).
    pub const STALE_COOKIE: u16 = 3;
    /// No memory left for the association (section 3.3.10.4).
    pub const OUT_OF_RESOURCE: u16 = 4;
    /// An address cannot be used (section 3.3.10.5).
    pub const UNRESOLVABLE_ADDRESS: u16 = 5;
    /// A chunk of unknown type asked to be reported (section 3.3.10.6).
    pub const UNRECOGNIZED_CHUNK: u16 = 6;
    /// A mandatory parameter has an impossible value (section 3.3.10.7).
    pub const INVALID_PARAMETER: u16 = 7;
    /// Parameters of unknown type asked to be reported (section 3.3.10.8).
    pub const UNRECOGNIZED_PARAMETERS: u16 = 8;
    /// A DATA chunk was empty (section 3.3.10.9).
    pub const NO_USER_DATA: u16 = 9;
    /// A cookie came during shutdown (section 3.3.10.10).
    pub const COOKIE_WHILE_SHUTTING_DOWN: u16 = 10;
    /// A peer that begins anew brings new addresses (section 3.3.10.11).
    pub const RESTART_WITH_NEW_ADDRESSES: u16 = 11;
    /// The user ended the association (section 3.3.10.12).
    pub const USER_ABORT: u16 = 12;
    /// A rule of the protocol was broken (section 3.3.10.13).
    pub const PROTOCOL_VIOLATION: u16 = 13;

    /// A cause without further information.
    #[must_use]
    pub const fn new(code: u16) -> Self {
        Self {
            code,
            information: Bytes::new(),
        }
    }

    /// A cause with its information.
    #[must_use]
    pub fn with(code: u16, information: impl Into<Bytes>) -> Self {
        Self {
            code,
            information: information.into(),
        }
    }
}

// Causes and parameters share their form: a code, a length, a value, padding.

pub(super) fn length_bytes(causes: &[Cause]) -> u32 {
    let Some((last, others)) = causes.split_last() else {
        return 0;
    };
    let one = |cause: &Cause| 4 + cause.information.len() as u32;
    others
        .iter()
        .map(|cause| super::padded(one(cause)))
        .sum::<u32>()
        + one(last)
}

pub(super) fn encode_list(causes: &[Cause], out: &mut Vec<u8>) {
    let as_parameters: Vec<Parameter> = causes
        .iter()
        .map(|cause| Parameter {
            kind: cause.code,
            value: cause.information.clone(),
        })
        .collect();
    parameter::encode_list(&as_parameters, out);
}

pub(super) fn decode_list(value: Reader<'_>) -> Result<Vec<Cause>, ParseError> {
    let parameters = parameter::decode_list(value)?;
    Ok(parameters
        .into_iter()
        .map(|p| Cause {
            code: p.kind,
            information: p.value,
        })
        .collect())
}
