//! T3-rtx expires (RFC 9260, section 6.3.3).

use headway_sansio::Time;

use super::Association;
use crate::TimeoutRearm;
use crate::outbound::Forced;

impl Association {
    pub(super) fn retransmission_timeout(&mut self, now: Time, index: usize) {
        self.paths[index].t3 = Time::FAR_FUTURE;
        if self.paths[index].outstanding == 0 && !self.outbound.is_forwarding() {
            return;
        }
        self.stats.timeouts += 1;
        self.paths[index].stats.timeouts += 1;
        let path = &mut self.paths[index];
        if self.config.timeout_rearm == TimeoutRearm::Undoubled {
            path.t3_next = Some(path.rto);
        }
        // Before errors are counted: the heartbeat that asks a path which has just
        // become potentially failed waits for the doubled RTO.
        path.back_off(&self.config);
        // While the association begins, T1 counts.
        if !self.is_beginning() && !self.count_error(now, index) {
            return;
        }
        let Self {
            config,
            paths,
            outbound,
            ..
        } = self;
        let path = &mut paths[index];
        // A probe that the peer has no room for says nothing of congestion
        // (section 6.1, rule A).
        if !outbound.probing {
            path.collapse(config);
        }
        path.tail.under_way = None;
        path.rack.due = Time::FAR_FUTURE;
        path.tail.due = Time::FAR_FUTURE;
        path.hold = config.timeout_one_packet;
        if config.mtu_discovery && path.mtu.suspect(now, path.errors) {
            paths.resize(config, index);
        }
        outbound.mark_timed_out(config, paths, index, now);
        // What was sent too late to be given up with the rest stays under way here, even
        // where the rest goes to another path or is abandoned (section 6.3.2, rule R1).
        if paths[index].flight > 0 {
            paths[index].start_t3(now);
        }
        // Slow start begins anew; a recovery that was under way ends with it, as
        // in RFC 6582, section 3.2, step 4.
        outbound.recovery = None;
        outbound.forced = Forced::OnePacket;
        // RFC 3758, section 3.5, rule A5.
        outbound.forward.due = outbound.is_forwarding();
    }
}
