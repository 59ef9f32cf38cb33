//! Datagrams under way, kept apart from the events that move them.

use headway_sansio::Datagram;

use crate::topology::{NodeId, PacketId};

/// A datagram between two nodes.
#[derive(Clone, Debug)]
pub(crate) struct Flight<B> {
    pub(crate) packet: PacketId,
    pub(crate) datagram: Datagram<B>,
    /// The node that it reaches next.
    pub(crate) next: NodeId,
    /// Links that it has crossed.
    pub(crate) hops: u8,
}

/// Flights by number; the numbers of flights that ended are used again.
#[derive(Clone, Debug)]
pub(crate) struct Flights<B> {
    slots: Vec<Option<Flight<B>>>,
    free: Vec<u32>,
}

const ONE_EVENT: &str = "each flight has exactly one event";

impl<B> Default for Flights<B> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<B> Flights<B> {
    #[inline(always)]
    pub(crate) fn insert(&mut self, flight: Flight<B>) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slots[index as usize] = Some(flight);
            return index;
        }
        self.slots.push(Some(flight));
        // The event queue refuses indices far below 2^32.
        (self.slots.len() - 1) as u32
    }

    pub(crate) fn get(&self, index: u32) -> &Flight<B> {
        self.slots[index as usize].as_ref().expect(ONE_EVENT)
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, index: u32) -> Flight<B> {
        self.free.push(index);
        self.slots[index as usize].take().expect(ONE_EVENT)
    }
}
