//! Heartbeats of idle paths, and the proof that an address is the peer's
//! (RFC 9260, sections 5.4 and 8.3; RFC 7829, section 3.2).

use bytes::Bytes;
use headway_sansio::{Duration, Time};

use super::Association;
use super::state::State;
use crate::path::{Path, Reachability};
use crate::secret::nonce;
use crate::{Chunk, Event, Parameter};

/// Type of the parameter that a heartbeat carries (section 3.3.5).
const HEARTBEAT_INFO: u16 = 1;
/// Header of the parameter, nonce, time of sending.
const INFO_BYTES: usize = 4 + 8 + 8;

impl Association {
    /// Begins to watch a path for idleness; one that is not confirmed is asked
    /// for its proof at once.
    pub(super) fn start_heartbeat(&mut self, now: Time, index: usize) {
        let heartbeat = &mut self.paths[index].heartbeat;
        heartbeat.unanswered = None;
        heartbeat.due = Time::FAR_FUTURE;
        if !self.paths[index].confirmed {
            self.send_heartbeat(now, index);
        } else if self.paths[index].heartbeat.wanted && !self.config.heartbeat_interval.is_zero() {
            self.paths[index].heartbeat.due = now + self.heartbeat_period(index);
        }
    }

    pub(super) fn stop_heartbeats(&mut self) {
        for path in self.paths.iter_mut() {
            path.heartbeat.due = Time::FAR_FUTURE;
            path.heartbeat.unanswered = None;
            path.mtu.stop();
        }
    }

    /// HB.interval and the RTO, which is spread by half either way so that
    /// associations do not beat in step.
    fn heartbeat_period(&mut self, index: usize) -> Duration {
        let rto = self.paths[index].rto;
        let jitter = Duration::from_nanos(self.random.below(rto.as_nanos().saturating_add(1)));
        self.config.heartbeat_interval + rto / 2 + jitter
    }

    pub(super) fn heartbeat_timeout(&mut self, now: Time, index: usize) {
        if let Some((_, sent_at)) = self.paths[index].heartbeat.unanswered.take() {
            self.heartbeat_unanswered(now, index, sent_at);
            return;
        }
        let wanted =
            self.paths[index].heartbeat.wanted && !self.config.heartbeat_interval.is_zero();
        if !wanted && self.paths[index].confirmed {
            self.paths[index].heartbeat.due = Time::FAR_FUTURE;
            return;
        }
        // New DATA measures the path as well as a heartbeat does. It only moves
        // the mark, so that sending costs no timer.
        let period = self.heartbeat_period(index);
        let path = &mut self.paths[index];
        let idle_at = path.last_data + period;
        if idle_at > now && path.last_data > Time::ZERO && path.is_usable() {
            path.heartbeat.due = idle_at;
            return;
        }
        self.trim();
        self.send_heartbeat(now, index);
    }

    /// Gives back memory that was used in busier times. Done where a path is
    /// found idle, and so not in the middle of things.
    fn trim(&mut self) {
        if self.outbound.is_idle() {
            self.outbound.trim();
        }
        self.inbound.trim();
        self.events.shrink_to_fit();
        self.packets.shrink_to_fit();
        self.control.shrink_to_fit();
    }

    pub(super) fn send_heartbeat(&mut self, now: Time, index: usize) {
        // One that is asked for twice is not sent twice.
        if self.paths[index].heartbeat.unanswered.is_some() {
            return;
        }
        let nonce = nonce(self.random.bits(), u64::from(self.peer_tag));
        self.control.push_back((index, heartbeat(now, nonce)));
        self.stats.heartbeats_sent += 1;
        let path = &mut self.paths[index];
        path.stats.heartbeats_sent += 1;
        path.decay_at_heartbeat(&self.config);
        path.heartbeat.unanswered = Some((nonce, now));
        path.heartbeat.due = now + path.rto;
    }

    /// An RTO passed without an answer.
    fn heartbeat_unanswered(&mut self, now: Time, index: usize, sent_at: Time) {
        self.paths[index].back_off(&self.config);
        // Section 8.1: only the path that carries DATA tells of the peer; section
        // 5.4: and only a confirmed one.
        if index == self.paths.data() && self.paths[index].confirmed {
            if !self.count_error(now, index) {
                return;
            }
        } else {
            self.count_path_error(now, index);
        }
        let path = &self.paths[index];
        let failing = path.reachability == Reachability::PotentiallyFailed;
        let unproven = !path.confirmed && path.reachability == Reachability::Active;
        if path.heartbeat.unanswered.is_some() {
            // The path has just become potentially failed and is being asked.
        } else if failing || unproven {
            self.send_heartbeat(now, index);
        } else {
            // Section 8.3 counts from one heartbeat to the next, so the wait for
            // the answer is a part of it. A later call does no harm.
            let next = sent_at + self.heartbeat_period(index);
            self.paths[index].heartbeat.due = next.max(now + Duration::from_nanos(1));
        }
    }

    /// A path that has just become potentially failed is asked at once, and then
    /// once in each RTO, if it may be asked at all (RFC 7829, section 3.2, rules
    /// 5 and 6).
    pub(super) fn probe_failed_path(&mut self, now: Time, index: usize) {
        let wanted =
            self.paths[index].heartbeat.wanted && !self.config.heartbeat_interval.is_zero();
        if wanted && self.state.has_heartbeats() {
            self.send_heartbeat(now, index);
        }
    }

    /// Where duplicates suggest that SACKs do not get through, a heartbeat shows
    /// within a round trip whether that is so.
    pub(super) fn ask_mute_path(&mut self, now: Time, index: usize) {
        if self.paths[index].heartbeat.wanted && self.state.has_heartbeats() {
            self.send_heartbeat(now, index);
        }
    }

    /// The peer's heartbeat goes back unread on the path on which it came.
    pub(super) fn handle_heartbeat(&mut self, from: usize, info: Bytes) {
        let answers = !matches!(
            self.state,
            State::Closed | State::Listen | State::CookieWait(_) | State::ShutdownAckSent(_)
        );
        if answers {
            self.answer(from, Chunk::HeartbeatAck(info));
        }
    }

    pub(super) fn handle_heartbeat_ack(&mut self, now: Time, info: &Bytes) {
        let Some(echoed) = read_nonce(info) else {
            return;
        };
        if self.mtu_probe_answered(now, echoed) {
            return;
        }
        // The nonce tells which address was asked, whichever one answers.
        let asked = |path: &Path| match path.heartbeat.unanswered {
            Some((nonce, sent_at)) if nonce == echoed => Some(sent_at),
            _ => None,
        };
        let mut paths = self.paths.iter().enumerate();
        let Some((index, sent_at)) = paths.find_map(|(n, path)| Some((n, asked(path)?))) else {
            return;
        };
        let path = &mut self.paths[index];
        path.heartbeat.unanswered = None;
        path.stats.heartbeats_answered += 1;
        path.measured(&self.config, now.since(sent_at));
        if !path.confirmed {
            path.confirmed = true;
            self.events.push_back(Event::PathConfirmed { path: index });
            self.paths.choose();
            self.search_mtu(now, index);
        }
        self.peer_answered();
        self.path_answered(index);
        self.start_heartbeat(now, index);
    }
}

/// A heartbeat that says nothing but this.
pub(super) fn heartbeat(now: Time, nonce: u64) -> Chunk {
    let mut value = nonce.to_be_bytes().to_vec();
    value.extend_from_slice(&now.as_nanos().to_be_bytes());
    let mut info = Vec::with_capacity(INFO_BYTES);
    Parameter {
        kind: HEARTBEAT_INFO,
        value: value.into(),
    }
    .encode(&mut info);
    Chunk::Heartbeat(info.into())
}

fn read_nonce(info: &[u8]) -> Option<u64> {
    let nonce = info.get(4..12)?.try_into().ok()?;
    Some(u64::from_be_bytes(nonce))
}
