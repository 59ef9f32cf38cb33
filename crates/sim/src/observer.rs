//! Who watches what crosses the network.

use headway_path::{DropCause, Offer};
use headway_sansio::{Datagram, Time};

use crate::topology::{LinkId, NodeId, PacketId};

/// Sees every datagram without touching any. Hooks that are not overridden cost
/// nothing.
///
/// For each packet: `on_sent` first; then exactly one `on_would_arrive`, as soon
/// as its passage is known (a packet that crosses one link: at once); then
/// `on_arrived` or `on_lost`, one of them exactly once. The exceptions are
/// packets under way when a run ends, and packets that meet an element node (see
/// [`on_transit`](Self::on_transit)).
pub trait Observer<B> {
    /// The node to which the datagram's source belongs puts it out.
    #[inline]
    fn on_sent(&mut self, now: Time, node: NodeId, packet: PacketId, datagram: &Datagram<B>) {
        let _ = (now, node, packet, datagram);
    }

    /// A link takes or refuses it.
    #[inline]
    fn on_offered(
        &mut self,
        now: Time,
        link: LinkId,
        packet: PacketId,
        datagram: &Datagram<B>,
        offer: &Offer,
    ) {
        let _ = (now, link, packet, datagram, offer);
    }

    /// It is lost on a link. `now` is when the link took it, not when the
    /// receiver misses it.
    #[inline]
    fn on_lost(
        &mut self,
        now: Time,
        link: LinkId,
        packet: PacketId,
        datagram: &Datagram<B>,
        cause: DropCause,
    ) {
        let _ = (now, link, packet, datagram, cause);
    }

    /// A link made a copy of `packet`, which goes on as a packet of its own.
    #[inline]
    fn on_duplicated(
        &mut self,
        now: Time,
        link: LinkId,
        packet: PacketId,
        copy: PacketId,
        datagram: &Datagram<B>,
    ) {
        let _ = (now, link, packet, copy, datagram);
    }

    /// It arrives at its destination `at`, or would if it had not been lost. For
    /// a lost packet a ghost goes on along the rest of the route; it waits in
    /// the queues it meets, takes no place in them, and no later link takes it.
    #[inline]
    fn on_would_arrive(&mut self, now: Time, packet: PacketId, datagram: &Datagram<B>, at: Time) {
        let _ = (now, packet, datagram, at);
    }

    /// It reaches the node that owns its destination, which has not seen it yet.
    #[inline]
    fn on_arrived(&mut self, now: Time, node: NodeId, packet: PacketId, datagram: &Datagram<B>) {
        let _ = (now, node, packet, datagram);
    }

    /// It enters an element node on its way. What the element puts out again
    /// counts as a new packet (see [`on_relayed`](Self::on_relayed)).
    #[inline]
    fn on_transit(&mut self, now: Time, node: NodeId, packet: PacketId, datagram: &Datagram<B>) {
        let _ = (now, node, packet, datagram);
    }

    /// An element node puts out a datagram of another node's.
    #[inline]
    fn on_relayed(&mut self, now: Time, node: NodeId, packet: PacketId, datagram: &Datagram<B>) {
        let _ = (now, node, packet, datagram);
    }

    /// The ghost of a lost packet reaches an element node, beyond which nobody
    /// can say when it would have arrived.
    #[inline]
    fn on_ghost_stranded(
        &mut self,
        now: Time,
        node: NodeId,
        packet: PacketId,
        datagram: &Datagram<B>,
    ) {
        let _ = (now, node, packet, datagram);
    }
}

/// Watches nothing.
impl<B> Observer<B> for () {}
