//! Counters of an association and of each of its paths.

use headway_sansio::{Address, Duration};

/// Counts since the association was created. Chunks and packets that arrive
/// count once they pass the check of the verification tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Packets handed to the network.
    pub packets_sent: u64,
    /// Packets taken from the network.
    pub packets_received: u64,
    /// Packets dropped unread: wrong port, wrong verification tag, or no state for them.
    pub packets_discarded: u64,
    /// SCTP bytes handed to the network, common headers included.
    pub bytes_sent: u64,
    /// DATA chunks transmitted for the first time.
    pub data_chunks_sent: u64,
    /// DATA chunks retransmitted after missing reports, or because they were overdue.
    pub fast_retransmissions: u64,
    /// DATA chunks retransmitted after T3-rtx expired.
    pub timed_retransmissions: u64,
    /// Tail loss probes sent, new data or a chunk once more (RFC 8985).
    pub loss_probes: u64,
    /// DATA chunks retransmitted as tail loss probes.
    pub probe_retransmissions: u64,
    /// Times T3-rtx expired.
    pub timeouts: u64,
    /// Times missing reports cut the congestion window.
    pub fast_recoveries: u64,
    /// DATA chunks received for the first time.
    pub data_chunks_received: u64,
    /// DATA chunks received that had been received before.
    pub duplicates_received: u64,
    /// DATA chunks dropped because the receive buffer was full.
    pub data_chunks_dropped: u64,
    /// Duplicates of our chunks that the peer reported.
    pub duplicates_reported: u64,
    /// SACK chunks sent.
    pub sacks_sent: u64,
    /// SACK chunks taken.
    pub sacks_received: u64,
    /// SACK chunks dropped as out of order or as acknowledging what was never sent.
    pub sacks_discarded: u64,
    /// Messages the user handed over.
    pub messages_sent: u64,
    /// Messages delivered.
    pub messages_received: u64,
    /// Heartbeats sent.
    pub heartbeats_sent: u64,
    /// Zero window probes sent.
    pub window_probes: u64,
    /// ERROR chunks sent.
    pub errors_sent: u64,
    /// ERROR chunks taken.
    pub errors_received: u64,
    /// Chunks of types that this side does not know.
    pub chunks_unrecognized: u64,
    /// Chunks acknowledged beyond a gap and then dropped because the receive
    /// buffer was full (RFC 9260, section 6.2).
    pub data_chunks_reneged: u64,
    /// FORWARD-TSN and I-FORWARD-TSN chunks sent.
    pub forwards_sent: u64,
    /// FORWARD-TSN and I-FORWARD-TSN chunks taken.
    pub forwards_received: u64,
    /// Messages given up by their reliability, all policies and streams together.
    pub messages_abandoned: Abandoned,
    /// Parts of messages delivered.
    pub parts_received: u64,
}

/// How many messages were given up (RFC 7496, section 4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Abandoned {
    /// Before any of them was sent.
    pub unsent: u64,
    /// After some of them was sent.
    pub sent: u64,
}

impl core::ops::AddAssign for Abandoned {
    fn add_assign(&mut self, other: Self) {
        self.unsent += other.unsent;
        self.sent += other.sent;
    }
}

impl Stats {
    /// DATA chunks transmitted again, for whatever reason.
    #[must_use]
    pub const fn retransmissions(&self) -> u64 {
        self.fast_retransmissions + self.timed_retransmissions + self.probe_retransmissions
    }
}

/// Counts of one path since the association was created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathStats {
    /// Packets sent to this address.
    pub packets_sent: u64,
    /// SCTP bytes sent to this address, common headers included.
    pub bytes_sent: u64,
    /// Packets that came from this address.
    pub packets_received: u64,
    /// DATA chunks sent here for the first time.
    pub data_chunks_sent: u64,
    /// DATA chunks sent here that had been sent before, here or on another path.
    pub retransmissions: u64,
    /// Times T3-rtx of this path expired.
    pub timeouts: u64,
    /// Heartbeats sent to this address.
    pub heartbeats_sent: u64,
    /// Heartbeats answered from this address.
    pub heartbeats_answered: u64,
}

/// How a path stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathStatus {
    /// This side's address.
    pub local: Address,
    /// The peer's address.
    pub remote: Address,
    /// Whether it is thought to work.
    pub state: PathState,
    /// DATA goes here now.
    pub carries_data: bool,
    /// Congestion window in bytes.
    pub cwnd_bytes: u32,
    /// Slow start threshold in bytes; `u32::MAX` before the first loss.
    pub ssthresh_bytes: u32,
    /// Bytes under way, counted as the congestion window counts them.
    pub flight_bytes: u32,
    /// Retransmission timeout, back-off included.
    pub rto: Duration,
    /// Smoothed round-trip time, once there is a measurement.
    pub srtt: Option<Duration>,
    /// Path MTU in bytes, IP header included.
    pub mtu_bytes: u32,
    /// Transmissions in a row that went unanswered.
    pub errors: u32,
    /// Counters.
    pub stats: PathStats,
}

/// Whether a path is thought to work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathState {
    /// The peer named this address and has not shown yet that it is reached there
    /// (RFC 9260, section 5.4).
    Unconfirmed,
    /// It answers.
    Active,
    /// It was silent more often than `potentially_failed_max_retransmits` allows
    /// (RFC 7829).
    PotentiallyFailed,
    /// It was silent more often than `path_max_retransmits` allows.
    Inactive,
}
