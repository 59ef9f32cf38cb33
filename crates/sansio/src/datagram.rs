//! What crosses the network.

/// Where a datagram comes from or goes to: one interface of one node.
///
/// Opaque to machines. The simulator numbers its interfaces; a real-time driver
/// keeps a table from these numbers to socket addresses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Address(pub u32);

/// One IP datagram with a body of the caller's kind.
///
/// The body is a protocol's own packet type: structured in virtual time, where
/// encoding each packet would cost more than the protocol itself, and bytes on a
/// real network. `size_bytes` is what queues and rates count: the whole IP
/// datagram, headers included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datagram<B> {
    /// The sender's interface.
    pub source: Address,
    /// The receiver's interface.
    pub destination: Address,
    /// Length on the wire in bytes, from the IP header on.
    pub size_bytes: u32,
    /// What it carries.
    pub body: B,
}

impl<B> Datagram<B> {
    /// The same datagram around another body.
    pub fn map<C>(self, f: impl FnOnce(B) -> C) -> Datagram<C> {
        Datagram {
            source: self.source,
            destination: self.destination,
            size_bytes: self.size_bytes,
            body: f(self.body),
        }
    }
}
