//! What a link counts.

/// Totals of one link since its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounters {
    /// Packets handed to the link.
    pub packets_offered: u64,
    /// Their bytes.
    pub bytes_offered: u64,
    /// Packets that arrive, copies not counted.
    pub packets_delivered: u64,
    /// Their bytes.
    pub bytes_delivered: u64,
    /// Packets that the wire lost.
    pub packets_lost_wire: u64,
    /// Packets that the queue refused.
    pub packets_lost_queue: u64,
    /// Packets that arrive twice.
    pub packets_duplicated: u64,
    /// Packets that reordering held back, lost ones included.
    pub packets_held_back: u64,
    /// Most packets in the queue at any time, as the queue counts them: with
    /// the one being serialised, or with the whole delay line. Zero without a
    /// rate, except where the delay line is counted.
    pub queue_max_pkts: u32,
    /// Most bytes in the queue at any time.
    pub queue_max_bytes: u64,
}
