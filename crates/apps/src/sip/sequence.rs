//! The keys of a `workload` of kind `sip-transactions`.

use headway_sansio::Duration;
use serde::{Deserialize, Serialize};

use super::script::{Course, RepeatedInvite, Script};
use super::workload::{timers, validate_size, validate_timers};
use super::write::Writer;
use super::{Content, MessageKind, WorkloadError};

/// INVITE transactions one after another: the workload of seed 1.
///
/// INVITE, then 100 and 200 at once, then ACK; a pause; the next. That paper
/// gives the length of its messages only as 900 bytes at most, which is what all
/// four lengths are where a study does not say otherwise.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SipTransactions {
    /// How many transactions a run has.
    pub transactions: u32,
    /// The pauses between two transactions in nanoseconds; each time one of them
    /// is drawn, all alike probable.
    pub pauses_ns: Vec<u64>,
    /// Length of an INVITE in bytes.
    pub invite_bytes: u32,
    /// Length of a 100 in bytes.
    pub trying_bytes: u32,
    /// Length of a 200 in bytes.
    pub ok_bytes: u32,
    /// Length of an ACK in bytes.
    pub ack_bytes: u32,
    /// RFC 3261's T1 in nanoseconds.
    pub t1_ns: u64,
    /// RFC 3261's T2 in nanoseconds.
    pub t2_ns: u64,
    /// RFC 3261's T4 in nanoseconds.
    pub t4_ns: u64,
    /// What a repeated INVITE does to a server that has answered already.
    pub repeated_invite: RepeatedInvite,
    /// What the messages consist of.
    pub content: Content,
}

impl Default for SipTransactions {
    fn default() -> Self {
        Self {
            transactions: 500,
            pauses_ns: vec![1_000_000_000, 2_000_000_000],
            invite_bytes: 900,
            trying_bytes: 900,
            ok_bytes: 900,
            ack_bytes: 900,
            t1_ns: 500_000_000,
            t2_ns: 4_000_000_000,
            t4_ns: 5_000_000_000,
            repeated_invite: RepeatedInvite::default(),
            content: Content::default(),
        }
    }
}

impl SipTransactions {
    /// Checks every value.
    ///
    /// # Errors
    /// The first key whose value no run can have.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        if self.transactions == 0 {
            return Err(WorkloadError {
                key: "transactions",
                problem: "0; it must be at least 1".into(),
            });
        }
        if self.pauses_ns.is_empty() {
            return Err(WorkloadError {
                key: "pauses_ns",
                problem: "no pause; it must name at least one".into(),
            });
        }
        for (kind, key, bytes) in self.sizes() {
            validate_size(self.content, kind, key, bytes)?;
        }
        validate_timers(self.t1_ns, self.t2_ns, self.t4_ns)
    }

    fn sizes(&self) -> [(MessageKind, &'static str, u32); 4] {
        [
            (MessageKind::Invite, "invite_bytes", self.invite_bytes),
            (MessageKind::Trying, "trying_bytes", self.trying_bytes),
            (MessageKind::Ok, "ok_bytes", self.ok_bytes),
            (MessageKind::Ack, "ack_bytes", self.ack_bytes),
        ]
    }

    /// Length in bytes of a message of this kind; zero where there is none.
    #[must_use]
    pub fn bytes_of(&self, kind: MessageKind) -> u32 {
        let size = self.sizes().into_iter().find(|(of, ..)| *of == kind);
        size.map_or(0, |(.., bytes)| bytes)
    }

    pub(super) fn pauses(&self) -> Vec<Duration> {
        let pauses = self.pauses_ns.iter();
        pauses.map(|ns| Duration::from_nanos(*ns)).collect()
    }

    pub(super) fn script(&self) -> Script {
        Script {
            course: Course::Answer,
            writer: Writer::new(self.content, |kind| self.bytes_of(kind)),
            timers: timers(self.t1_ns, self.t2_ns, self.t4_ns),
            ring_time: Duration::ZERO,
            talk_time: Duration::ZERO,
            repeated_invite: self.repeated_invite,
            repeat_ok_when_reliable: false,
        }
    }
}
