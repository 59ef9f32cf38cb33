//! What a host asks of a transport.

use headway_apps::{Incoming, Outgoing};
use headway_sansio::Time;

use super::gauge::Gauge;
use super::watch::Trace;

/// A packet of a transport as the simulator moves it from hand to hand: a packet
/// may be long, a box is not.
pub(super) type Parcel<C> = Box<<C as Carrier>::Body>;

/// One end of a transport that carries messages, with its trace.
pub(super) trait Carrier: Sized {
    /// What its datagrams carry.
    type Body: Clone;
    /// What takes the delay of its messages apart.
    type Trace: Trace<Self::Body>;

    /// Takes a message from the application. A carrier without room keeps it
    /// until it has.
    fn send(&mut self, now: Time, message: Outgoing);

    /// A datagram arrived.
    fn handle_input(&mut self, now: Time, body: Parcel<Self>);

    /// A timer may be due.
    fn handle_timeout(&mut self, now: Time);

    /// What the transport has to tell the application; drained before
    /// `poll_transmit`, because reading may open a window.
    fn poll_news(&mut self, now: Time) -> Option<News>;

    /// A packet for the wire and its size as an IP datagram in bytes.
    fn poll_transmit(&mut self, now: Time) -> Option<(Parcel<Self>, u32)>;

    /// When a timer is due.
    fn poll_timeout(&self) -> Option<Time>;

    /// Called after each drain: the moment to read levels off.
    fn observe(&mut self, now: Time);

    /// What the transport counted.
    fn counters(&self) -> Counters;

    /// What only transports of byte streams count.
    fn stream_figures(&self) -> StreamFigures {
        StreamFigures::default()
    }

    /// The congestion window in bytes over time, since the transport was ready.
    fn cwnd(&self) -> &Gauge;

    /// Bytes that wait in the receive buffer because of HOLB, over time.
    fn held(&self) -> &Gauge;
}

/// Counts of one end, in the transport's own units (chunks, segments).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counters {
    /// Retransmissions that missing reports or duplicate acknowledgements caused.
    pub(super) fast_retransmissions: u64,
    /// Retransmissions that a time-out caused.
    pub(super) timed_retransmissions: u64,
    /// Units received that had been received before.
    pub(super) duplicates: u64,
    /// Times the retransmission timer expired.
    pub(super) timeouts: u64,
}

impl Counters {
    /// Those of both ends.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            fast_retransmissions: self.fast_retransmissions + other.fast_retransmissions,
            timed_retransmissions: self.timed_retransmissions + other.timed_retransmissions,
            duplicates: self.duplicates + other.duplicates,
            timeouts: self.timeouts + other.timeouts,
        }
    }
}

/// What only transports of byte streams count, at one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct StreamFigures {
    /// Messages that the send buffer had no room for.
    pub(super) refused: u64,
    /// Messages not sent because too much was waiting.
    pub(super) dropped: u64,
    /// Fast recoveries begun.
    pub(super) fast_recoveries: u64,
    /// Largest payload of a segment.
    pub(super) mss_bytes: u32,
}

impl StreamFigures {
    /// Those of several flows; the MSS is that of the first one.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            refused: self.refused + other.refused,
            dropped: self.dropped + other.dropped,
            fast_recoveries: self.fast_recoveries + other.fast_recoveries,
            mss_bytes: if self.mss_bytes > 0 {
                self.mss_bytes
            } else {
                other.mss_bytes
            },
        }
    }
}

/// What a transport tells.
pub(super) enum News {
    /// Messages may be sent.
    Ready,
    /// A message came out.
    Message(Incoming),
    /// The transport gave up; nothing more will come.
    Dead,
}
