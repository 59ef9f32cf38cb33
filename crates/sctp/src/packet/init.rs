//! INIT and INIT ACK (RFC 9260, sections 3.3.2 and 3.3.3).
//!
//! ```text
//! |  Type = 1, 2  |     Flags     |            Length             |
//! |                         Initiate tag                        |
//! |            Advertised receiver window (a_rwnd)              |
//! |       Outbound streams        |       Inbound streams       |
//! |                         Initial TSN                         |
//! |                        Parameters ...                       |
//! ```

use bytes::Bytes;

use super::reader::Reader;
use super::{Parameter, ParseError, parameter};
use crate::Tsn;

/// Content of INIT and INIT ACK, which share their form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Init {
    /// The tag that the receiver puts into every packet to the sender.
    pub initiate_tag: u32,
    /// The sender's receive buffer in bytes.
    pub a_rwnd: u32,
    /// Streams that the sender wants to send on.
    pub outbound_streams: u16,
    /// Streams that the sender accepts at most.
    pub inbound_streams: u16,
    /// TSN of the sender's first DATA chunk.
    pub initial_tsn: Tsn,
    /// The rest.
    pub parameters: Vec<Parameter>,
}

impl Init {
    pub(super) fn length_bytes(&self) -> u32 {
        20 + parameter::length_bytes(&self.parameters)
    }

    /// The state cookie, if there is one.
    #[must_use]
    pub fn cookie(&self) -> Option<&Bytes> {
        self.parameters
            .iter()
            .find(|p| p.kind == parameter::STATE_COOKIE)
            .map(|p| &p.value)
    }

    pub(super) fn encode_value(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.initiate_tag.to_be_bytes());
        out.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.extend_from_slice(&self.outbound_streams.to_be_bytes());
        out.extend_from_slice(&self.inbound_streams.to_be_bytes());
        out.extend_from_slice(&self.initial_tsn.0.to_be_bytes());
        parameter::encode_list(&self.parameters, out);
    }

    pub(super) fn decode(mut value: Reader<'_>) -> Result<Self, ParseError> {
        Ok(Self {
            initiate_tag: value.u32()?,
            a_rwnd: value.u32()?,
            outbound_streams: value.u16()?,
            inbound_streams: value.u16()?,
            initial_tsn: Tsn(value.u32()?),
            parameters: parameter::decode_list(value)?,
        })
    }
}
