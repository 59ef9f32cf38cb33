//! What an SCTP tells the traces of its messages, ours and `dcsctp` alike.

use headway_apps::sip::Content;
use headway_apps::{Delivery, Incoming, MessageId, Outgoing, Peer};
use headway_sansio::{Payload, Time};

use super::carrier::News;
use super::watch::Traces;
use crate::attribution::{ChunkTrace, Lane};

/// SIP's port (RFC 3261, section 19.1.2), here at both ends.
pub(super) const PORT: u16 = 5060;

impl Traces<ChunkTrace> {
    /// A message was handed over at `side`. Gives the stream on which it goes, and
    /// whether unordered.
    #[inline]
    pub(super) fn handed_over(
        &mut self,
        now: Time,
        side: usize,
        delivery: Delivery,
        message: &Outgoing,
    ) -> Lane {
        let (stream, unordered) = delivery.map(message.context);
        let lane = Lane { stream, unordered };
        let size_bytes = message.payload.len() as u32;
        self.directions[side].handed_over(now, message.id.0, size_bytes, lane);
        lane
    }

    /// The message in the chunks from the first to the last of `tsns` is delivered
    /// at `side`. Gives what the application there gets: with [`Content::Size`] the
    /// length alone, whatever came over the wire.
    #[inline]
    pub(super) fn delivered(
        &mut self,
        now: Time,
        side: usize,
        tsns: Option<(u32, u32)>,
        content: Content,
        payload: Payload,
    ) -> News {
        let row =
            tsns.and_then(|(first, last)| self.directions[1 - side].delivered(now, first, last));
        if let Some(row) = &row {
            self.note(row);
        }
        News::Message(Incoming {
            id: row.map(|row| MessageId(row.id)),
            from: Peer::default(),
            payload: match content {
                Content::Size => Payload::Sized(payload.len() as u32),
                Content::Full => payload,
            },
        })
    }
}
