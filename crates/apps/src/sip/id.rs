//! Names of SIP messages that tell call and kind.

use crate::MessageId;

/// What a message of a call is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum MessageKind {
    /// INVITE, from caller to answerer.
    Invite = 0,
    /// 100 Trying to the INVITE.
    Trying = 1,
    /// 180 Ringing to the INVITE.
    Ringing = 2,
    /// 200 OK to the INVITE.
    Ok = 3,
    /// ACK of the 200, from caller to answerer.
    Ack = 4,
    /// BYE, from caller to answerer.
    Bye = 5,
    /// 200 OK to the BYE.
    ByeOk = 6,
}

impl MessageKind {
    /// Every kind, by its number.
    pub const ALL: [Self; 7] = [
        Self::Invite,
        Self::Trying,
        Self::Ringing,
        Self::Ok,
        Self::Ack,
        Self::Bye,
        Self::ByeOk,
    ];

    /// Whether the caller sends it; the answerer sends the others.
    #[must_use]
    pub fn is_from_caller(self) -> bool {
        matches!(self, Self::Invite | Self::Ack | Self::Bye)
    }
}

/// A [`MessageId`] of SIP taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SipId {
    /// Number of the call, from zero.
    pub call: u32,
    /// What the message is.
    pub kind: MessageKind,
    /// Zero for the first transmission, then one more for each that SIP itself
    /// repeats over an unreliable transport.
    pub copy: u32,
}

const KIND_BITS: u32 = 4;
const COPY_SHIFT: u32 = 32 + KIND_BITS;

impl SipId {
    /// The first transmission of a message.
    #[must_use]
    pub fn new(call: u32, kind: MessageKind) -> Self {
        Self {
            call,
            kind,
            copy: 0,
        }
    }

    /// Takes a number apart; `None` where it names no kind of SIP message.
    #[must_use]
    pub fn decode(id: MessageId) -> Option<Self> {
        let kind = *MessageKind::ALL.get((id.0 & 0xf) as usize)?;
        Some(Self {
            call: (id.0 >> KIND_BITS) as u32,
            kind,
            copy: (id.0 >> COPY_SHIFT) as u32,
        })
    }

    /// The number: copy, call and kind, from the high bits down, so that the
    /// first transmissions of calls 0, 1, 2... have small numbers and can index
    /// a table. 28 bits are kept of the copy.
    #[must_use]
    pub fn encode(self) -> MessageId {
        MessageId(
            u64::from(self.copy) << COPY_SHIFT
                | u64::from(self.call) << KIND_BITS
                | self.kind as u64,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_call_kind_and_copy() {
        for kind in MessageKind::ALL {
            for (call, copy) in [
                (0, 0),
                (1, 0),
                (u32::MAX, 0),
                (7, 10),
                (u32::MAX, (1 << 28) - 1),
            ] {
                let id = SipId { call, kind, copy };
                assert_eq!(SipId::decode(id.encode()), Some(id));
            }
        }
        assert_eq!(SipId::decode(MessageId(7)), None);
        assert_eq!(SipId::new(2, MessageKind::Ringing).encode(), MessageId(34));
    }
}
