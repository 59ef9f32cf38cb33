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
        self.paths.await_news();
        let Self {
            config,
            paths,
            outbound,
            ..
        } = self;
        let mut progress = Progress::default();
        outbound.forced = Forced::Nothing;
        outbound.advance(config, paths, now, sack.cumulative_tsn, &mut progress);
        outbound.take_gaps(config, paths, now, sack, &mut progress);
        outbound.set_peer_window(sack.a_rwnd);
        if outbound.probing && progress.chunks == 0 && sack.a_rwnd > 0 {
            // The window opened, and the peer says that it has thrown the probe
            // away: waiting for a T3-rtx that was backed off serves nobody.
            for index in 0..paths.len() {
                outbound.mark_timed_out(config, paths, index, now);
            }
            outbound.forced = Forced::OnePacket;
            outbound.probing = false;
        }
        if self.config.time_loss_detection {
            self.note_duplicates(sack);
        }
        self.progressed(sack.cumulative_tsn, &progress);
        if self.config.tail_loss_probe {
            self.probe_answered(sack);
        }
        if self.config.time_loss_detection {
            self.repair_overdue(now);
        } else {
            self.repair(&progress);
        }
        self.after_acknowledgement(now);
    }

    /// Duplicates tell that the reordering window is too small (RFC 8985, section
    /// 6.2, step 4).
    #[inline(never)]
    fn note_duplicates(&mut self, sack: &Sack) {
        let next = self.outbound.next_tsn();
        for path in self.paths.iter_mut() {
            if sack.duplicates.is_empty() {
                path.rack.round_ends(sack.cumulative_tsn);
            } else {
                path.rack.duplicates(sack.cumulative_tsn, next);
            }
        }
    }

    /// A SHUTDOWN acknowledges like a SACK that says nothing of gaps
    /// (section 9.2).
    pub(super) fn acknowledge_up_to(&mut self, now: Time, cumulative: Tsn) {
        if !self.outbound.is_plausible(cumulative) {
            return;
        }
        self.paths.await_news();
        let mut progress = Progress::default();
        let Self {
            config,
            paths,
            outbound,
            ..
        } = self;
        outbound.advance(config, paths, now, cumulative, &mut progress);
        self.progressed(cumulative, &progress);
        self.after_acknowledgement(now);
    }

    /// Error counters and congestion windows.
    fn progressed(&mut self, cumulative: Tsn, progress: &Progress) {
        let outbound = &mut self.outbound;
        if outbound
            .recovery
            .is_some_and(|exit| !cumulative.precedes(exit))
        {
            outbound.recovery = None;
            for path in self.paths.iter_mut() {
                path.rack.recovered();
            }
        }
        if progress.chunks == 0 {
            // A closed window answers probes without taking them: that is no
            // fault of the path (section 6.1, rule A).
            if outbound.probing {
                self.peer_answered();
                self.path_answered(self.paths.data());
            }
            return;
        }
        outbound.probing = false;
        let skipped = progress.skipped;
        let in_recovery = outbound.recovery.is_some();
        let all = outbound.outstanding() == 0;
        self.peer_answered();
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            path.hold = false;
            let news = path.news;
            if news.chunks == 0 {
                continue;
            }
            path.grow(
                &self.config,
                Acknowledged {
                    bytes: news.bytes,
                    flight_before: news.flight_before,
                    advanced: progress.advanced,
                    all,
                    in_recovery,
                },
            );
            // What was sent on two paths may have arrived by either, so it does
            // not bring a failed one back (RFC 7829, section 3.2, rules 9 and 10).
            if news.certain || path.is_usable() {
                self.path_answered(index);
            }
        }
        if skipped {
            // FORWARD-TSN was answered, which goes where DATA goes.
            self.path_answered(self.paths.data());
        }
    }

    /// Missing reports and what follows from them (section 7.2.4).
    fn repair(&mut self, progress: &Progress) {
        let Self {
            config,
            paths,
            outbound,
            ..
        } = self;
        let mut lossy = outbound.count_missing(config, paths, progress);
        if config.early_retransmit && !lossy && progress.chunks > 0 {
            let more = self.has_new_data_for_peer();
            let Self {
                config,
                paths,
                outbound,
                ..
            } = self;
            lossy = outbound.mark_early(config, paths, more);
        }
        if lossy {
            self.respond_to_loss(false);
        }
    }

    /// Something is marked as lost: the windows of the paths concerned are cut,
    /// once for each recovery, and one packet goes out at once. `again`: a
    /// retransmission was lost, which is a second sign of congestion (RFC 8985,
    /// section 9.3).
    #[inline(never)]
    pub(super) fn respond_to_loss(&mut self, again: bool) {
        let Self {
            config,
            paths,
            outbound,
            ..
        } = self;
        let newly_lossy = outbound.recovery.is_none();
        for path in paths.iter_mut() {
            if core::mem::take(&mut path.lossy) && (newly_lossy || again) {
                path.cut(config);
            }
        }
        if newly_lossy {
            self.stats.fast_recoveries += 1;
            if config.fast_recovery {
                outbound.recovery = Some(outbound.next_tsn().previous());
            }
        }
        outbound.forced = match config.fast_retransmit_amount {
            FastRetransmitAmount::AllMarked => Forced::AllMarked,
            FastRetransmitAmount::OnePacket if newly_lossy || again => Forced::OnePacket,
            FastRetransmitAmount::OnePacket => Forced::Nothing,
        };
    }

    /// T3-rtx of a path runs as long as anything is outstanding on it (section
    /// 6.3.2, rules R2 to R4).
    fn after_acknowledgement(&mut self, now: Time) {
        self.move_peer_on(now);
        let alone = self.paths.len() == 1;
        let forwarding = self.outbound.is_forwarding();
        let data = self.paths.data();
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            // What waits to be sent again on another path needs no timer here.
            let waits = path.flight > 0 || alone;
            // RFC 3758, section 3.5, rule C5.
            let forwards = forwarding && index == data;
            if path.outstanding == 0 && !forwards {
                path.stop_t3();
            } else if waits && (path.news.advanced || path.t3 == Time::FAR_FUTURE) {
                path.start_t3(now);
            }
            if self.paths[index].news.advanced {
                self.schedule_probe(now, index);
            }
        }
        self.continue_shutdown(now);
    }
}
