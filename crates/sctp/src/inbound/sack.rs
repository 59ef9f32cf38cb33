//! When to send a SACK and what to say in it (RFC 9260, section 6.2).

use headway_sansio::Time;
use smallvec::SmallVec;

use super::Inbound;
use crate::{Config, Sack, Tsn};

/// The most duplicates that are remembered for one SACK.
const MOST_DUPLICATES: usize = 64;

/// What is owed to the peer in acknowledgements.
#[derive(Debug)]
pub(crate) struct Acknowledgement {
    /// Packets with DATA since the last SACK.
    packets: u32,
    /// A SACK must go out without delay.
    pub(crate) at_once: bool,
    /// When a SACK must go out at the latest.
    pub(crate) due: Time,
    /// No DATA has arrived yet.
    first: bool,
    duplicates: SmallVec<[Tsn; 4]>,
    /// What the peer thinks is free: the last a_rwnd less what arrived since.
    announced: u32,
}

impl Acknowledgement {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            packets: 0,
            at_once: false,
            due: Time::FAR_FUTURE,
            first: true,
            duplicates: SmallVec::new(),
            announced: config.receive_buffer_bytes,
        }
    }

    /// Whether a SACK is owed at all.
    pub(crate) const fn is_owed(&self) -> bool {
        self.packets > 0 || self.at_once
    }

    pub(super) fn duplicate(&mut self, tsn: Tsn) {
        if self.duplicates.len() < MOST_DUPLICATES {
            self.duplicates.push(tsn);
        }
    }

    pub(crate) fn has_duplicates(&self) -> bool {
        !self.duplicates.is_empty()
    }

    pub(super) fn received(&mut self, bytes: u32) {
        self.announced = self.announced.saturating_sub(bytes);
    }

    /// Ends a packet that carried DATA: a SACK goes out at once for the first
    /// packet, for every n-th, and where `urgent`; otherwise it waits.
    pub(crate) fn packet(&mut self, config: &Config, now: Time, urgent: bool) {
        self.packets += 1;
        if urgent || self.first || self.packets >= config.sack_every {
            self.at_once = true;
        } else if self.due == Time::FAR_FUTURE {
            self.due = now + config.sack_delay;
        }
        self.first = false;
    }

    /// Whether the window that the peer knows of is less than a quarter of the buffer.
    pub(super) const fn is_nearly_closed(&self, config: &Config) -> bool {
        self.announced < config.receive_buffer_bytes / 4
    }

    /// The user read messages while the window was nearly closed: the peer hears of it
    /// where it opens by a quarter of the buffer.
    pub(super) const fn opened(&mut self, config: &Config, free: u32) {
        let quarter = config.receive_buffer_bytes / 4;
        if free.saturating_sub(self.announced) >= quarter {
            self.at_once = true;
        }
    }
}

impl Inbound {
    /// Length of the SACK that would go out now, without duplicates.
    pub(crate) fn sack_bytes(&self) -> u32 {
        Sack::FIXED_BYTES + 4 * self.tsns.gap_count() as u32
    }

    /// The SACK that goes out now, in at most `room` bytes.
    pub(crate) fn take_sack(&mut self, config: &Config, room: u32) -> Sack {
        let free = self.free_bytes(config);
        let owed = &mut self.acknowledgement;
        // Against silly windows (RFC 1122, section 4.2.3.3): a small opening is
        // not worth telling.
        let enough = config.pmdcs_bytes().min(config.receive_buffer_bytes / 2);
        let a_rwnd = if free >= enough {
            free
        } else {
            free.min(owed.announced)
        };
        owed.announced = a_rwnd;
        owed.packets = 0;
        owed.at_once = false;
        owed.due = Time::FAR_FUTURE;
        let mut places = (room.saturating_sub(Sack::FIXED_BYTES) / 4) as usize;
        let gaps = self.tsns.gap_blocks(places);
        places -= gaps.len();
        owed.duplicates.truncate(places);
        Sack {
            cumulative_tsn: self.tsns.cumulative(),
            a_rwnd,
            gaps,
            duplicates: core::mem::take(&mut owed.duplicates),
        }
    }
}
