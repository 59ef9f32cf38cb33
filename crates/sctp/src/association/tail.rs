//! Losses that time shows, and the probe for a lost tail (RFC 8985, sections 6.2,
//! 7.2 to 7.4).

use headway_sansio::{Duration, Time};

use super::Association;
use crate::outbound::Forced;
use crate::{Sack, Tsn};

/// The probe's interval while no round trip is known (section 7.2).
const FIRST_INTERVAL: Duration = Duration::from_secs(1);

impl Association {
    /// The reordering timer of a path expired.
    pub(super) fn reorder_timeout(&mut self, now: Time, index: usize) {
        self.paths[index].rack.due = Time::FAR_FUTURE;
        self.repair_overdue(now);
    }

    /// Marks what is overdue, and answers the loss as congestion.
    #[inline(never)]
    pub(super) fn repair_overdue(&mut self, now: Time) {
        let Self {
            config,
            paths,
            outbound,
            ..
        } = self;
        let found = outbound.mark_overdue(config, paths, now);
        if found.any {
            self.respond_to_loss(found.again);
        }
    }

    /// Starts or restarts the probe's timer, after new data went out or the
    /// cumulative TSN moved (section 7.2). Other mechanisms serve where a gap or
    /// a retransmission is under way.
    #[inline]
    pub(super) fn schedule_probe(&mut self, now: Time, index: usize) {
        if self.config.tail_loss_probe {
            self.start_probe(now, index);
        }
    }

    #[inline(never)]
    fn start_probe(&mut self, now: Time, index: usize) {
        let in_order = self.outbound.recovery.is_none() && self.outbound.is_in_order();
        let asks = self.outbound.newest_asks();
        let delay = self.config.sack_delay;
        let path = &mut self.paths[index];
        path.tail.due = Time::FAR_FUTURE;
        if path.outstanding == 0 || !in_order {
            return;
        }
        let mut interval = path.rtt.smoothed().map_or(FIRST_INTERVAL, |srtt| srtt * 2);
        if path.outstanding == 1 && !asks {
            // The peer may wait for a second packet.
            interval += delay;
        }
        path.tail.due = (now + interval).min(path.t3);
    }

    /// The timer expired (section 7.3).
    pub(super) fn probe_timeout(&mut self, now: Time, index: usize) {
        let path = &mut self.paths[index];
        path.tail.due = Time::FAR_FUTURE;
        if path.outstanding == 0 {
            return;
        }
        let may = path.tail.under_way.is_none() && core::mem::take(&mut path.sampled);
        if may {
            let next = self.outbound.next_tsn();
            let fresh = self.has_new_data_for_peer() && index == self.paths.data();
            let sends = fresh || {
                let Self {
                    config,
                    paths,
                    outbound,
                    ..
                } = self;
                outbound.mark_probe(config, paths, index, now)
            };
            if sends {
                self.stats.loss_probes += 1;
                let end = if fresh { next.next() } else { next };
                self.paths[index].tail.under_way = Some((end, !fresh));
                self.outbound.forced = Forced::OnePacket;
            }
        }
        self.paths[index].start_t3(now);
    }

    /// New data waits that fits the peer's window.
    pub(super) fn has_new_data_for_peer(&self) -> bool {
        let most = self.fragment_bytes();
        let payload = self.outbound.queue.next_bytes(most);
        payload.is_some_and(|payload| self.peer_has_room(payload))
    }

    /// What the answer to a probe says (section 7.4).
    #[inline(never)]
    pub(super) fn probe_answered(&mut self, sack: &Sack) {
        let mut repaired = false;
        for path in self.paths.iter_mut() {
            let Some((end, repeated)) = path.tail.under_way else {
                continue;
            };
            let last: Tsn = end.previous();
            if sack.cumulative_tsn.precedes(last) {
                continue;
            }
            if !repeated || sack.duplicates.contains(&last) {
                // It was new data, or both copies arrived.
                path.tail.under_way = None;
            } else if last.precedes(sack.cumulative_tsn) {
                // One copy was lost, and the other made good for it.
                path.tail.under_way = None;
                path.lossy = true;
                repaired = true;
            }
        }
        if repaired && self.outbound.recovery.is_none() {
            for path in self.paths.iter_mut() {
                if core::mem::take(&mut path.lossy) {
                    path.cut(&self.config);
                }
            }
        }
    }
}
