//! Counters of one association.

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
    /// DATA chunks retransmitted after missing reports.
    pub fast_retransmissions: u64,
    /// DATA chunks retransmitted after T3-rtx expired.
    pub timed_retransmissions: u64,
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
}

impl Stats {
    /// DATA chunks transmitted again, for whatever reason.
    #[must_use]
    pub const fn retransmissions(&self) -> u64 {
        self.fast_retransmissions + self.timed_retransmissions
    }
}
