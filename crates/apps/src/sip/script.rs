//! What both ends of a call go by, from whichever workload it comes.

use headway_sansio::Duration;
use serde::{Deserialize, Serialize};

use super::transaction::Timers;
use super::write::Writer;

/// How a call goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Course {
    /// INVITE, 180.
    Ringing,
    /// INVITE, 180, 200, ACK, BYE, 200.
    Full,
    /// INVITE, 100 and 200, ACK.
    Answer,
}

/// What a repeated INVITE does to a server that has sent its 200 already.
///
/// RFC 6026 absorbs it. The server of seed 1 answers each INVITE with 100; that
/// paper does not say whether a 200 outside the 200's own timer comes with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatedInvite {
    /// Nothing (RFC 6026 section 7.1).
    Absorb,
    /// One more 100 (seed 1, table of timers).
    #[default]
    Trying,
    /// One more 100 and one more 200, which leaves the 200's timer alone.
    TryingAndOk,
}

/// The part of a workload that the machines need.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) course: Course,
    pub(super) writer: Writer,
    pub(super) timers: Timers,
    pub(super) ring_time: Duration,
    pub(super) talk_time: Duration,
    pub(super) repeated_invite: RepeatedInvite,
    pub(super) repeat_ok_when_reliable: bool,
}
