//! What a host asks of a transport.

use headway_apps::{Incoming, Outgoing};
use headway_sansio::Time;

/// One end of a transport that carries messages, with its trace.
pub(super) trait Carrier {
    /// What its datagrams carry.
    type Body: Clone;

    /// Takes a message from the application. A carrier without room keeps it
    /// until it has.
    fn send(&mut self, now: Time, message: Outgoing);

    /// A datagram arrived.
    fn handle_input(&mut self, now: Time, body: Self::Body);

    /// A timer may be due.
    fn handle_timeout(&mut self, now: Time);

    /// What the transport has to tell the application; drained before
    /// `poll_transmit`, because reading may open a window.
    fn poll_news(&mut self, now: Time) -> Option<News>;

    /// A packet for the wire and its size as an IP datagram in bytes.
    fn poll_transmit(&mut self, now: Time) -> Option<(Self::Body, u32)>;

    /// When a timer is due.
    fn poll_timeout(&self) -> Option<Time>;

    /// Called after each drain: the moment to read levels off.
    fn observe(&mut self, now: Time);
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
