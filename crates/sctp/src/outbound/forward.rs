//! Moving the peer over what was given up (RFC 3758, section 3.5; RFC 8260,
//! section 2.3.1).

use std::collections::BTreeMap;

use headway_sansio::{Duration, Time};

use super::{Outbound, SentState};
use crate::{ForwardTsn, Mid, Skipped, SkippedMid, SkippedSsn, Ssn, Tsn};

/// Chunk header and new cumulative TSN.
const FIXED_BYTES: u32 = 8;

/// How far the peer is to go, and what it was told of that.
#[derive(Debug, Default)]
pub(crate) struct Forward {
    /// Given-up chunks right behind the cumulative TSN: the last of them is the
    /// Advanced.Peer.Ack.Point (rules A1 and C2).
    reach: u32,
    /// A FORWARD-TSN is to go out.
    pub(crate) due: bool,
    /// The point that the peer was last told of, and when.
    told: Option<(Tsn, Time)>,
    /// The last TSN before streams begin anew, until the peer has come so far.
    turn: Option<Tsn>,
}

impl Forward {
    /// The cumulative TSN moved on by so many chunks; `first` is what comes behind it.
    pub(super) fn shift(&mut self, count: u32, first: Tsn) {
        if self.turn.is_some_and(|turn| turn.precedes(first)) {
            self.turn = None;
        }
        self.reach = self.reach.saturating_sub(count);
        if self.reach == 0 {
            self.due = false;
        }
    }
}

impl Outbound {
    /// Something that was given up is still on the books.
    pub(crate) const fn has_abandoned(&self) -> bool {
        self.abandoned > 0
    }

    /// The peer is still to be moved over something.
    pub(crate) const fn is_forwarding(&self) -> bool {
        self.forward.reach > 0
    }

    /// The peer is asked to let streams begin anew behind the last TSN (RFC 6525,
    /// section 5.1.2, rule A3). Until it has come so far it is moved no further: a
    /// FORWARD-TSN that goes on names numbers of the streams' old life, and a peer
    /// that has done the reset by then would skip those of the new one.
    pub(crate) fn turn_streams(&mut self) {
        self.forward.turn = Some(self.next_tsn().previous());
    }

    /// Moves the Advanced.Peer.Ack.Point as far as it goes (rule C2), and has the
    /// peer told where that is news to it, or where the last telling may have been
    /// lost: it is that much ago at least.
    pub(crate) fn advance_point(&mut self, now: Time, patience: Duration) {
        let turn = self.forward.turn;
        let reach = &mut self.forward.reach;
        while let Some(next) = self.sent.get(*reach as usize)
            && next.state == SentState::Abandoned
            && turn.is_none_or(|turn| !turn.precedes(next.chunk.tsn))
        {
            *reach += 1;
        }
        if *reach == 0 {
            return;
        }
        let point = self.first.plus(*reach - 1);
        self.forward.due |= match self.forward.told {
            Some((told, at)) => told != point || now >= at + patience,
            None => true,
        };
    }

    /// The FORWARD-TSN or I-FORWARD-TSN that goes out now, in at most `room` bytes:
    /// where not all streams find place, the point is lower (rule C4).
    pub(crate) fn take_forward(&mut self, now: Time, room: u32) -> Option<ForwardTsn> {
        let interleaved = self.queue.is_interleaving();
        let entry_bytes = if interleaved { 8 } else { 4 };
        let most = (room.saturating_sub(FIXED_BYTES) / entry_bytes) as usize;
        let mut streams: BTreeMap<(u16, bool), u32> = BTreeMap::new();
        let mut point = None;
        for sent in self.sent.iter().take(self.forward.reach as usize) {
            let chunk = &sent.chunk;
            // FORWARD-TSN says nothing of unordered messages (section 3.2).
            if interleaved || !chunk.unordered {
                let key = (chunk.stream, chunk.unordered);
                if streams.len() >= most && !streams.contains_key(&key) {
                    break;
                }
                let number = chunk
                    .interleaving
                    .map_or(u32::from(chunk.ssn.0), |numbers| numbers.mid.0);
                streams.insert(key, number);
            }
            point = Some(chunk.tsn);
        }
        self.forward.due = false;
        let cumulative_tsn = point?;
        self.forward.told = Some((cumulative_tsn, now));
        let skipped = if interleaved {
            let entry = |(&(stream, unordered), &mid): (&(u16, bool), &u32)| SkippedMid {
                stream,
                unordered,
                mid: Mid(mid),
            };
            Skipped::Mids(streams.iter().map(entry).collect())
        } else {
            let entry = |(&(stream, _), &ssn): (&(u16, bool), &u32)| SkippedSsn {
                stream,
                ssn: Ssn(ssn as u16),
            };
            Skipped::Ssns(streams.iter().map(entry).collect())
        };
        Some(ForwardTsn {
            cumulative_tsn,
            skipped,
        })
    }
}
