//! What a RE-CONFIG chunk carries (RFC 6525, section 4): requests and responses, as
//! parameters.
//!
//! ```text
//! |   Type = 13, Outgoing SSN Reset       |        Length         |
//! |                Request sequence number                        |
//! |                Response sequence number                       |
//! |                Sender's last assigned TSN                     |
//! |       Stream number           |       Stream number           | ...
//!
//! |   Type = 16, Response                 |        Length         |
//! |                Response sequence number                       |
//! |                           Result                              |
//! |             Sender's next TSN (optional)                      |
//! |             Receiver's next TSN (optional)                    |
//! ```

use super::Parameter;
use crate::{ReconfigResult, Tsn};

const OUTGOING_RESET: u16 = 13;
const INCOMING_RESET: u16 = 14;
const NUMBERS_RESET: u16 = 15;
const RESPONSE: u16 = 16;
const ADD_OUTGOING: u16 = 17;
const ADD_INCOMING: u16 = 18;

/// One parameter of RE-CONFIG.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reconfiguration {
    /// The sender's own streams begin anew; none listed: all (section 4.1).
    OutgoingReset {
        number: u32,
        /// The request of the receiver that this answers, or the last one seen.
        response: u32,
        last_tsn: Tsn,
        streams: Vec<u16>,
    },
    /// The receiver is asked to have its streams begin anew (section 4.2).
    IncomingReset { number: u32, streams: Vec<u16> },
    /// All numbers begin anew (section 4.3).
    NumbersReset { number: u32 },
    /// What became of a request (section 4.4); the TSNs of both sides where it was
    /// for all numbers: the responder's next, and the one that the other must use.
    Response {
        number: u32,
        result: ReconfigResult,
        next: Option<(Tsn, Tsn)>,
    },
    /// The sender wants so many more streams to send on (section 4.5).
    AddOutgoing { number: u32, streams: u16 },
    /// The receiver is asked to add so many to its own (section 4.6).
    AddIncoming { number: u32, streams: u16 },
}

/// Reads big-endian numbers off the front.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn word(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*head))
    }

    fn half(&mut self) -> Option<u16> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*head))
    }

    fn streams(mut self) -> Option<Vec<u16>> {
        let mut streams = Vec::with_capacity(self.0.len() / 2);
        while !self.0.is_empty() {
            streams.push(self.half()?);
        }
        Some(streams)
    }
}

impl Reconfiguration {
    /// Reads a parameter; `None` where it is none of these, or its length is wrong.
    pub(crate) fn read(parameter: &Parameter) -> Option<Self> {
        let mut words = Words(&parameter.value);
        let number = words.word()?;
        let read = match parameter.kind {
            OUTGOING_RESET => Self::OutgoingReset {
                number,
                response: words.word()?,
                last_tsn: Tsn(words.word()?),
                streams: words.streams()?,
            },
            INCOMING_RESET => Self::IncomingReset {
                number,
                streams: words.streams()?,
            },
            NUMBERS_RESET if words.0.is_empty() => Self::NumbersReset { number },
            RESPONSE => {
                let result = ReconfigResult::from_code(words.word()?);
                let next = match words.0.len() {
                    0 => None,
                    8 => Some((Tsn(words.word()?), Tsn(words.word()?))),
                    _ => return None,
                };
                Self::Response {
                    number,
                    result,
                    next,
                }
            }
            ADD_OUTGOING | ADD_INCOMING => {
                let streams = words.half()?;
                words.half()?;
                match parameter.kind {
                    _ if !words.0.is_empty() => return None,
                    ADD_OUTGOING => Self::AddOutgoing { number, streams },
                    _ => Self::AddIncoming { number, streams },
                }
            }
            _ => return None,
        };
        Some(read)
    }

    /// Writes it as a parameter.
    pub(crate) fn parameter(&self) -> Parameter {
        let list =
            |streams: &[u16]| -> Vec<u8> { streams.iter().flat_map(|s| s.to_be_bytes()).collect() };
        let (kind, number, rest) = match self {
            Self::OutgoingReset {
                number,
                response,
                last_tsn,
                streams,
            } => {
                let mut rest = response.to_be_bytes().to_vec();
                rest.extend_from_slice(&last_tsn.0.to_be_bytes());
                rest.extend(list(streams));
                (OUTGOING_RESET, number, rest)
            }
            Self::IncomingReset { number, streams } => (INCOMING_RESET, number, list(streams)),
            Self::NumbersReset { number } => (NUMBERS_RESET, number, Vec::new()),
            Self::Response {
                number,
                result,
                next,
            } => {
                let mut rest = result.code().to_be_bytes().to_vec();
                if let Some((sender, receiver)) = next {
                    rest.extend_from_slice(&sender.0.to_be_bytes());
                    rest.extend_from_slice(&receiver.0.to_be_bytes());
                }
                (RESPONSE, number, rest)
            }
            Self::AddOutgoing { number, streams } => {
                let [a, b] = streams.to_be_bytes();
                (ADD_OUTGOING, number, vec![a, b, 0, 0])
            }
            Self::AddIncoming { number, streams } => {
                let [a, b] = streams.to_be_bytes();
                (ADD_INCOMING, number, vec![a, b, 0, 0])
            }
        };
        let mut value = number.to_be_bytes().to_vec();
        value.extend(rest);
        Parameter {
            kind,
            value: value.into(),
        }
    }

    /// The number of a request; `None` for a response.
    pub(crate) const fn request(&self) -> Option<u32> {
        match self {
            Self::Response { .. } => None,
            Self::OutgoingReset { number, .. }
            | Self::IncomingReset { number, .. }
            | Self::NumbersReset { number }
            | Self::AddOutgoing { number, .. }
            | Self::AddIncoming { number, .. } => Some(*number),
        }
    }

    /// Whether these may stand together in one chunk (section 3.1).
    pub(crate) fn go_together(list: &[Self]) -> bool {
        match list {
            [_] => true,
            [a, b] => {
                use Reconfiguration as R;
                let pair = |a: &R, b: &R| {
                    matches!(
                        (a, b),
                        (R::OutgoingReset { .. }, R::IncomingReset { .. })
                            | (R::AddOutgoing { .. }, R::AddIncoming { .. })
                            | (R::Response { .. }, R::OutgoingReset { .. })
                            | (R::Response { .. }, R::Response { .. })
                    )
                };
                pair(a, b) || pair(b, a)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Reconfiguration> {
        vec![
            Reconfiguration::OutgoingReset {
                number: 1,
                response: 2,
                last_tsn: Tsn(3),
                streams: vec![4, 5, 6],
            },
            Reconfiguration::IncomingReset {
                number: 7,
                streams: vec![],
            },
            Reconfiguration::NumbersReset { number: 8 },
            Reconfiguration::Response {
                number: 9,
                result: ReconfigResult::Performed,
                next: None,
            },
            Reconfiguration::Response {
                number: 10,
                result: ReconfigResult::Other(77),
                next: Some((Tsn(11), Tsn(12))),
            },
            Reconfiguration::AddOutgoing {
                number: 13,
                streams: 14,
            },
            Reconfiguration::AddIncoming {
                number: 15,
                streams: 16,
            },
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for one in all() {
            assert_eq!(Reconfiguration::read(&one.parameter()), Some(one));
        }
        // Figure of section 4.5, for 3 streams.
        let parameter = all()[5].parameter();
        assert_eq!(parameter.kind, 17);
        assert_eq!(parameter.value[..], [0, 0, 0, 13, 0, 14, 0, 0]);
    }

    #[test]
    fn wrong_lengths_are_noticed() {
        for one in all() {
            let whole = one.parameter();
            for length in 0..whole.value.len() {
                let short = Parameter {
                    kind: whole.kind,
                    value: whole.value.slice(..length),
                };
                // Lists of streams may be shorter, but not by half a number.
                if let Some(read) = Reconfiguration::read(&short) {
                    assert_eq!(read.parameter(), short);
                }
            }
            let long = Parameter {
                kind: whole.kind,
                value: [&whole.value[..], &[0]].concat().into(),
            };
            assert_eq!(Reconfiguration::read(&long), None);
        }
    }

    #[test]
    fn the_combinations_of_section_3_1() {
        let all = all();
        let mut pairs = 0;
        for a in &all {
            for b in &all {
                pairs += usize::from(Reconfiguration::go_together(&[a.clone(), b.clone()]));
            }
        }
        // Two orders of three pairs, with either response, and responses in pairs.
        assert_eq!(pairs, 2 * (1 + 1 + 2) + 4);
        assert!(!Reconfiguration::go_together(&[]));
        assert!(!Reconfiguration::go_together(&all[..3]));
    }
}
