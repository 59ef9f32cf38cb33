//! Why chunks are sent again, as far as the wire and the clock tell.
//!
//! dcsctp counts retransmissions but not their causes. When T3-rtx expires it
//! marks every outstanding chunk and sends the first packet of them at once; the
//! others follow as acknowledgements open the window. So a retransmission is a
//! timed one where a timer sent it, or where its chunk was last sent before the
//! last expiry; else missing reports caused it.

use std::collections::BTreeMap;

use headway_sansio::Time;
use headway_sctp::{Chunk, Packet};

/// The retransmissions of one end.
#[derive(Debug, Default)]
pub(super) struct Resent {
    /// When each outstanding chunk was last sent, by its place after the first TSN.
    outstanding: BTreeMap<u64, Time>,
    /// The place and the TSN of the newest chunk.
    newest: Option<(u64, u32)>,
    /// When T3-rtx last expired.
    expired: Option<Time>,
    pub(super) fast: u64,
    pub(super) timed: u64,
    pub(super) timeouts: u64,
}

impl Resent {
    /// A packet goes out; `timer`: because a timer expired.
    pub(super) fn sent(&mut self, now: Time, packet: &Packet, timer: bool) {
        for chunk in &packet.chunks {
            let Chunk::Data(data) = chunk else { continue };
            let (newest, newest_tsn) = *self.newest.get_or_insert((0, data.tsn.0));
            let ahead = data.tsn.0.wrapping_sub(newest_tsn).cast_signed();
            let place = newest.saturating_add_signed(i64::from(ahead));
            let Some(before) = self.outstanding.insert(place, now) else {
                if place >= newest {
                    self.newest = Some((place, data.tsn.0));
                }
                continue;
            };
            if timer && self.expired != Some(now) {
                self.expired = Some(now);
                self.timeouts += 1;
            }
            if self.expired.is_some_and(|expired| before < expired) {
                self.timed += 1;
            } else {
                self.fast += 1;
            }
        }
    }

    /// A packet of the other end arrived.
    pub(super) fn acknowledged(&mut self, packet: &Packet) {
        for chunk in &packet.chunks {
            let (Chunk::Sack(sack), Some((newest, newest_tsn))) = (chunk, self.newest) else {
                continue;
            };
            let ahead = sack.cumulative_tsn.0.wrapping_sub(newest_tsn).cast_signed();
            let above = newest.checked_add_signed(i64::from(ahead) + 1).unwrap_or(0);
            self.outstanding = self.outstanding.split_off(&above);
        }
    }
}
