//! What a connection counts.

/// Counts of one connection since its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Segments sent, of any kind.
    pub segments_sent: u64,
    /// Segments taken in, of any kind.
    pub segments_received: u64,
    /// Segments with new data sent.
    pub data_segments: u64,
    /// Bytes of new data sent.
    pub data_bytes: u64,
    /// Segments sent again, for whatever reason.
    pub retransmissions: u64,
    /// Of these, sent in fast recovery.
    pub fast_retransmissions: u64,
    /// Of these, sent in the repair after a timeout.
    pub timed_retransmissions: u64,
    /// Fast recoveries begun.
    pub fast_recoveries: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Timeouts that RFC 5682 showed to be needless.
    pub needless_timeouts: u64,
    /// Reductions of the window that were taken back.
    pub undone: u64,
    /// Tail loss probes sent (RFC 8985).
    pub tail_probes: u64,
    /// Probes of a closed window sent.
    pub window_probes: u64,
    /// ACKs that showed a gap.
    pub duplicate_acks: u64,
    /// D-SACK reports received (RFC 2883).
    pub duplicate_reports: u64,
    /// Bytes of our stream that the peer acknowledged.
    pub bytes_acknowledged: u64,
    /// Bytes that `write` refused because the send buffer was full.
    pub bytes_refused: u64,
    /// Calls of `write` that were refused, in part or whole.
    pub writes_refused: u64,
    /// Segments with data that arrived beyond a gap.
    pub out_of_order_segments: u64,
    /// Segments with data all of which was there before.
    pub duplicate_segments: u64,
    /// Bytes thrown away because they lay beyond the window.
    pub bytes_beyond_window: u64,
    /// Segments sent that carry nothing but an acknowledgement.
    pub pure_acks: u64,
    /// Segments that no state of the connection takes, or that decode to
    /// nonsense.
    pub unacceptable_segments: u64,
}
