//! What the user may ask of paths (RFC 9260, section 11.1.2).

use std::net::IpAddr;

use headway_sansio::Time;

use super::Association;
use super::state::State;
use crate::path::{Paths, Route};

impl Association {
    /// Makes this the path that DATA takes while it works. Says whether there is
    /// such a path and the peer has shown that it is reached there.
    pub fn set_primary_path(&mut self, path: usize) -> bool {
        let exists = self.paths.iter().nth(path).is_some_and(|p| p.confirmed);
        if exists {
            self.paths.set_primary(path);
        }
        exists
    }

    /// Turns the heartbeat of one path off or on again (section 8.3, A and C).
    pub fn set_heartbeat(&mut self, now: Time, path: usize, wanted: bool) {
        let Some(entry) = self.paths.iter_mut().nth(path) else {
            return;
        };
        if entry.heartbeat.wanted != wanted {
            entry.heartbeat.wanted = wanted;
            if self.state.has_heartbeats() {
                self.start_heartbeat(now, path);
            }
        }
    }

    /// Sends a heartbeat on one path now (section 8.3, D).
    pub fn request_heartbeat(&mut self, now: Time, path: usize) {
        if path < self.paths.len() && self.state.has_heartbeats() {
            self.send_heartbeat(now, path);
        }
    }

    /// Lays out the paths anew to a peer that was heard at `first` and listed
    /// further addresses. Those that `is_known` vouches for need no proof
    /// (section 5.4).
    pub(super) fn lay_paths(
        &mut self,
        first: Route,
        listed: &[IpAddr],
        is_known: impl Fn(Route) -> bool,
    ) {
        let routes = self.host.routes(first, listed);
        self.paths = Paths::new(&self.config, routes);
        for path in self.paths.iter_mut() {
            path.confirmed = is_known(path.route);
        }
        self.paths.choose();
        self.reply_path = 0;
    }

    /// Brings the paths in line with what the peer says of its addresses: those
    /// that it does not have go, others that it has come, as yet unconfirmed
    /// (sections 5.1.2 and 5.4, rules 1 and 3).
    ///
    /// DATA that went out with COOKIE ECHO may be under way when a crossing handshake
    /// says something else than INIT ACK did: it counts on where its path stands now.
    pub(super) fn extend_paths(&mut self, now: Time, heard: Route, listed: &[IpAddr]) {
        let routes = self.host.routes(heard, listed);
        let places = self.paths.retain_or_add(&self.config, &routes);
        self.outbound.follow_paths(&mut self.paths, &places, now);
        let data = self.paths.data();
        for (path, _) in &mut self.control {
            *path = places.get(*path).copied().flatten().unwrap_or(data);
        }
        self.reply_path = self.paths.find(heard.remote).unwrap_or(0);
    }

    /// The path on which something arrived; `None` where the peer has no such
    /// address.
    pub(super) fn arrival_path(&self, route: Route) -> Option<usize> {
        self.paths.find(route.remote)
    }

    /// Whether the association is still being set up.
    pub(super) const fn is_beginning(&self) -> bool {
        matches!(
            self.state,
            State::CookieWait(_) | State::CookieEchoed { .. }
        )
    }
}
