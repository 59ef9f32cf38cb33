//! Whether the peer and its addresses answer (RFC 9260, sections 8.1 and 8.2;
//! RFC 7829).

use headway_sansio::Time;

use super::Association;
use crate::path::Reachability;
use crate::{Event, LostReason};

/// Error counters are kept up to so many times the limit, so that of dead paths
/// the one silent for the shortest time can be told (RFC 7829, section 4.1).
const REASONABLE: u32 = 10;

impl Association {
    /// Counts an unanswered transmission on a path. Says whether the association
    /// still lives.
    pub(super) fn count_error(&mut self, now: Time, index: usize) -> bool {
        self.errors += 1;
        self.count_path_error(now, index);
        if self.errors > self.config.association_max_retransmits {
            self.lose(LostReason::PeerUnreachable);
            return false;
        }
        true
    }

    /// Counts an unanswered transmission that says nothing of the peer as a whole.
    pub(super) fn count_path_error(&mut self, now: Time, index: usize) {
        let limit = self.config.path_max_retransmits;
        let path = &mut self.paths[index];
        path.errors = (path.errors + 1).min(limit.saturating_add(1).saturating_mul(REASONABLE));
        let errors = path.errors;
        let before = path.reachability;
        if errors > limit {
            path.reachability = Reachability::Inactive;
        } else if before == Reachability::Active
            && path.confirmed
            && self
                .config
                .potentially_failed_max_retransmits
                .is_some_and(|most| errors > most)
        {
            path.reachability = Reachability::PotentiallyFailed;
        }
        let after = path.reachability;
        if after != before {
            self.events.push_back(match after {
                Reachability::Inactive => Event::PathInactive { path: index },
                _ => Event::PathPotentiallyFailed { path: index },
            });
            self.paths.choose();
            if after == Reachability::PotentiallyFailed {
                self.probe_failed_path(now, index);
            }
        }
        let switch = self.config.primary_switchover_max_retransmits;
        if index == self.paths.primary() && switch.is_some_and(|most| errors > most) {
            // RFC 7829, section 5: what carries DATA now keeps it.
            self.paths.set_primary(self.paths.data());
        }
    }

    /// The peer answered (section 8.1).
    pub(super) fn peer_answered(&mut self) {
        self.errors = 0;
    }

    /// A transmission on this path was answered (section 8.2).
    pub(super) fn path_answered(&mut self, index: usize) {
        let path = &mut self.paths[index];
        path.errors = 0;
        path.mute = false;
        if path.reachability != Reachability::Active {
            path.reachability = Reachability::Active;
            self.events.push_back(Event::PathActive { path: index });
            self.paths.choose();
        }
    }
}
