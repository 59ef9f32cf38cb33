//! A SACK arrives (RFC 9260, sections 6.2.1 and 7.2).

use headway_sansio::Time;

use super::Association;
use crate::outbound::{Forced, Progress};
use crate::path::Acknowledged;
use crate::{FastRetransmitAmount, Sack, Tsn};

impl Association {
    pub(super) fn handle_sack(&mut self, now: Time, sack: &Sack) {
        if !self.state.takes_sacks() {
            return;
        }
        if !self.outbound.is_plausible(sack.cumulative_tsn) {
            self.stats.sacks_discarded += 1;
            return;
        }
        self.stats.sacks_received += 1;
        self.stats.duplicates_reported += sack.duplicates.len() as u64;
        let flight_before = self.path.flight;
        let Self {
            config,
            path,
            outbound,
            ..
        } = self;
        let mut progress = Progress::default();
        outbound.forced = Forced::Nothing;
        outbound.advance(config, path, now, sack.cumulative_tsn, &mut progress);
        outbound.take_gaps(config, path, now, sack, &mut progress);
        outbound.set_peer_window(sack.a_rwnd);
        if outbound.probing && progress.chunks == 0 && sack.a_rwnd > 0 {
            // The window opened, and the peer says that it has thrown the probe
            // away: waiting for a T3-rtx that was backed off serves nobody.
            outbound.mark_timed_out(config, path, now);
            outbound.forced = Forced::OnePacket;
            outbound.probing = false;
        }
        self.progressed(flight_before, sack.cumulative_tsn, &progress);
        self.repair(&progress);
        self.after_acknowledgement(now, &progress);
    }

    /// A SHUTDOWN acknowledges like a SACK that says nothing of gaps
    /// (section 9.2).
    pub(super) fn acknowledge_up_to(&mut self, now: Time, cumulative: Tsn) {
        if !self.outbound.is_plausible(cumulative) {
            return;
        }
        let flight_before = self.path.flight;
        let mut progress = Progress::default();
        let Self {
            config,
            path,
            outbound,
            ..
        } = self;
        outbound.advance(config, path, now, cumulative, &mut progress);
        self.progressed(flight_before, cumulative, &progress);
        self.after_acknowledgement(now, &progress);
    }

    /// Round trip, error counters and congestion window.
    fn progressed(&mut self, flight_before: u32, cumulative: Tsn, progress: &Progress) {
        if self
            .outbound
            .recovery
            .is_some_and(|exit| !cumulative.precedes(exit))
        {
            self.outbound.recovery = None;
        }
        if let Some(round_trip) = progress.round_trip {
            self.path.measured(&self.config, round_trip);
        }
        if progress.chunks == 0 {
            // A closed window answers probes without taking them: that is no
            // fault of the path (section 6.1, rule A).
            if self.outbound.probing {
                self.clear_errors();
            }
            return;
        }
        self.clear_errors();
        self.outbound.hold = false;
        self.outbound.probing = false;
        self.path.grow(
            &self.config,
            Acknowledged {
                bytes: progress.bytes,
                flight_before,
                advanced: progress.advanced,
                all: self.outbound.outstanding() == 0,
                in_recovery: self.outbound.recovery.is_some(),
            },
        );
    }

    /// Missing reports and what follows from them (section 7.2.4).
    fn repair(&mut self, progress: &Progress) {
        let Self {
            config,
            path,
            outbound,
            ..
        } = self;
        if !outbound.count_missing(config, path, progress) {
            return;
        }
        let newly_lossy = outbound.recovery.is_none();
        if newly_lossy {
            path.cut(config);
            self.stats.fast_recoveries += 1;
            if config.fast_recovery {
                outbound.recovery = Some(outbound.next_tsn().previous());
            }
        }
        outbound.forced = match config.fast_retransmit_amount {
            FastRetransmitAmount::AllMarked => Forced::AllMarked,
            FastRetransmitAmount::OnePacket if newly_lossy => Forced::OnePacket,
            FastRetransmitAmount::OnePacket => Forced::Nothing,
        };
    }

    /// T3-rtx runs as long as anything is outstanding (section 6.3.2, rules R2 to
    /// R4).
    fn after_acknowledgement(&mut self, now: Time, progress: &Progress) {
        if self.outbound.outstanding() == 0 {
            self.path.stop_t3();
        } else if progress.advanced || self.path.t3 == Time::FAR_FUTURE {
            self.path.start_t3(now);
        }
        self.continue_shutdown(now);
    }
}
