//! The associations of an endpoint, and how to find the one a packet is for.

use std::collections::BTreeMap;

use headway_sansio::{Address, Time};
use smallvec::SmallVec;

use crate::Association;

/// Names one association of an endpoint. It is never given to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AssociationId {
    pub(super) slot: u32,
    generation: u32,
}

/// Both ports and an address of the peer, which belong to one association at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct PeerKey {
    pub(super) local_port: u16,
    pub(super) remote_port: u16,
    pub(super) remote: Address,
}

/// An association and what the endpoint notes of it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) association: Box<Association>,
    /// The tag under which it can be found.
    pub(super) tag: u32,
    /// The addresses under which it can be found.
    peers: SmallVec<[Address; 2]>,
    /// When it is to be woken, at the latest.
    pub(super) scheduled: Time,
    /// It stands in the queue of those that may have events.
    pub(super) eventful: bool,
    /// It stands in the queue of those that may have packets.
    pub(super) sending: bool,
    /// The peer began it.
    pub(super) incoming: bool,
    /// The user has been told of it.
    pub(super) announced: bool,
    /// Its messages are held back.
    pub(super) held: bool,
    /// So many of its events are known to be such messages.
    pub(super) passed: usize,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

/// All associations.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_tag: BTreeMap<u32, u32>,
    by_peer: BTreeMap<PeerKey, u32>,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, association: Association, incoming: bool) -> AssociationId {
        let entry = Entry {
            association: Box::new(association),
            tag: 0,
            peers: SmallVec::new(),
            scheduled: Time::FAR_FUTURE,
            eventful: false,
            sending: false,
            incoming,
            announced: false,
            held: false,
            passed: 0,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize].entry = Some(entry);
                slot
            }
            None => {
                self.slots.push(Slot {
                    generation: 0,
                    entry: Some(entry),
                });
                self.slots.len() as u32 - 1
            }
        };
        self.register(slot);
        self.id(slot)
    }

    /// Writes the association's tag and addresses into the indices, after they
    /// may have changed.
    pub(super) fn register(&mut self, slot: u32) {
        let Some(entry) = self.slots[slot as usize].entry.as_mut() else {
            return;
        };
        let tag = entry.association.local_tag();
        if entry.tag != tag {
            self.by_tag.remove(&entry.tag);
            self.by_tag.insert(tag, slot);
            entry.tag = tag;
        }
        let remotes = entry.association.remotes();
        if entry.peers != remotes {
            let (local_port, remote_port) = entry.association.ports();
            let key = |&remote: &Address| PeerKey {
                local_port,
                remote_port,
                remote,
            };
            for old in &entry.peers {
                self.by_peer.remove(&key(old));
            }
            for new in &remotes {
                self.by_peer.entry(key(new)).or_insert(slot);
            }
            entry.peers = remotes;
        }
    }

    pub(super) fn remove(&mut self, slot: u32) -> Option<Entry> {
        let place = self.slots.get_mut(slot as usize)?;
        let entry = place.entry.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(slot);
        self.by_tag.remove(&entry.tag);
        let (local_port, remote_port) = entry.association.ports();
        for &remote in &entry.peers {
            let key = PeerKey {
                local_port,
                remote_port,
                remote,
            };
            if self.by_peer.get(&key) == Some(&slot) {
                self.by_peer.remove(&key);
            }
        }
        Some(entry)
    }

    pub(super) fn id(&self, slot: u32) -> AssociationId {
        AssociationId {
            slot,
            generation: self.slots[slot as usize].generation,
        }
    }

    pub(super) fn get(&self, id: AssociationId) -> Option<&Entry> {
        let slot = self.slots.get(id.slot as usize)?;
        slot.entry
            .as_ref()
            .filter(|_| slot.generation == id.generation)
    }

    pub(super) fn holds(&self, id: AssociationId) -> bool {
        self.get(id).is_some()
    }

    pub(super) fn slot(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.entry.as_ref()
    }

    pub(super) fn slot_mut(&mut self, slot: u32) -> Option<&mut Entry> {
        self.slots.get_mut(slot as usize)?.entry.as_mut()
    }

    /// The association that gave itself this tag.
    pub(super) fn by_tag(&self, tag: u32) -> Option<u32> {
        self.by_tag.get(&tag).copied()
    }

    pub(super) fn by_peer(&self, key: PeerKey) -> Option<u32> {
        self.by_peer.get(&key).copied()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = AssociationId> + '_ {
        let taken = |(slot, place): (usize, &Slot)| place.entry.is_some().then_some(slot as u32);
        self.slots
            .iter()
            .enumerate()
            .filter_map(taken)
            .map(|slot| self.id(slot))
    }
}
