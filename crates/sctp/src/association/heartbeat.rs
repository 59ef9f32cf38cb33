//! Heartbeats of an idle path (RFC 9260, section 8.3).

use bytes::Bytes;
use headway_sansio::{Duration, Time};

use super::Association;
use super::state::State;
use crate::{Chunk, Parameter};

/// Type of the parameter that a heartbeat carries (section 3.3.5).
const HEARTBEAT_INFO: u16 = 1;

impl Association {
    /// Begins to watch the path for idleness.
    pub(super) fn start_heartbeat(&mut self, now: Time) {
        self.path.heartbeat.unanswered = None;
        self.path.heartbeat.due = if self.config.heartbeat_interval.is_zero() {
            Time::FAR_FUTURE
        } else {
            now + self.heartbeat_period()
        };
    }

    pub(super) fn stop_heartbeat(&mut self) {
        self.path.heartbeat.due = Time::FAR_FUTURE;
        self.path.heartbeat.unanswered = None;
    }

    /// HB.interval and the RTO, which is spread by half either way so that
    /// associations do not beat in step.
    fn heartbeat_period(&mut self) -> Duration {
        let rto = self.path.rto;
        let jitter = Duration::from_nanos(self.random.below(rto.as_nanos().saturating_add(1)));
        self.config.heartbeat_interval + rto / 2 + jitter
    }

    pub(super) fn heartbeat_timeout(&mut self, now: Time) {
        if self.path.heartbeat.unanswered.take().is_some() {
            self.path.back_off(&self.config);
            if !self.count_error() {
                return;
            }
            self.path.heartbeat.due = now + self.heartbeat_period();
            return;
        }
        // New DATA measures the path as well as a heartbeat does. It only moves
        // the mark, so that sending costs no timer.
        let period = self.heartbeat_period();
        let idle_at = self.path.last_data + period;
        if idle_at > now && self.path.last_data > Time::ZERO {
            self.path.heartbeat.due = idle_at;
            return;
        }
        let nonce = self.random.bits();
        let mut value = nonce.to_be_bytes().to_vec();
        value.extend_from_slice(&now.as_nanos().to_be_bytes());
        let mut info = Vec::with_capacity(20);
        Parameter {
            kind: HEARTBEAT_INFO,
            value: value.into(),
        }
        .encode(&mut info);
        self.control.push_back(Chunk::Heartbeat(info.into()));
        self.stats.heartbeats_sent += 1;
        self.path.decay_at_heartbeat(&self.config);
        self.path.heartbeat.unanswered = Some(nonce);
        self.path.heartbeat.due = now + self.path.rto;
    }

    /// The peer's heartbeat goes back unread.
    pub(super) fn handle_heartbeat(&mut self, info: Bytes) {
        let answers = !matches!(
            self.state,
            State::Closed | State::Listen | State::CookieWait(_) | State::ShutdownAckSent(_)
        );
        if answers {
            self.control.push_back(Chunk::HeartbeatAck(info));
        }
    }

    pub(super) fn handle_heartbeat_ack(&mut self, now: Time, info: &Bytes) {
        let Some(nonce) = self.path.heartbeat.unanswered else {
            return;
        };
        let Some((echoed, sent_at)) = read_info(info) else {
            return;
        };
        if echoed != nonce || sent_at > now {
            return;
        }
        self.path.heartbeat.unanswered = None;
        self.path.measured(&self.config, now.since(sent_at));
        self.clear_errors();
        self.path.heartbeat.due = now + self.heartbeat_period();
    }
}

/// Nonce and time of sending.
fn read_info(info: &[u8]) -> Option<(u64, Time)> {
    let nonce = info.get(4..12)?.try_into().ok()?;
    let sent_at = info.get(12..20)?.try_into().ok()?;
    Some((
        u64::from_be_bytes(nonce),
        Time::from_nanos(u64::from_be_bytes(sent_at)),
    ))
}
