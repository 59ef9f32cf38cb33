//! Socket addresses as the numbers that machines know.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use headway_sansio::Address;

/// A two-way table of socket addresses and [`Address`] numbers.
///
/// It is bounded, because on a real network anybody can invent sources: where it
/// is full the address unused for longest is forgotten. A number is never given
/// twice, so a machine that still holds a forgotten one reaches nobody rather
/// than a stranger. Addresses that are in use can be pinned ([`Self::pin`]): they
/// stay, however many strangers come, and do not count against the capacity.
#[derive(Debug)]
pub struct AddressTable {
    capacity: usize,
    numbers: HashMap<SocketAddr, u32>,
    entries: BTreeMap<u32, Entry>,
    /// Numbers by their last use.
    by_use: BTreeMap<u64, u32>,
    next_number: u32,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    socket: SocketAddr,
    last_use: u64,
    /// How often it is pinned.
    pins: u32,
}

impl AddressTable {
    /// A table of so many addresses at most, whose first number is `first`.
    #[must_use]
    pub fn new(first: Address, capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            numbers: HashMap::new(),
            entries: BTreeMap::new(),
            by_use: BTreeMap::new(),
            next_number: first.0,
            uses: 0,
        }
    }

    /// The number of an address, a new one where it has none. `None` where all
    /// numbers have been given, after four thousand million addresses.
    pub fn number(&mut self, socket: SocketAddr) -> Option<Address> {
        if let Some(&number) = self.numbers.get(&socket) {
            self.touch(number);
            return Some(Address(number));
        }
        let number = self.next_number;
        self.next_number = number.checked_add(1)?;
        self.make_room();
        self.numbers.insert(socket, number);
        self.enter(number, socket);
        Some(Address(number))
    }

    /// Keeps an address until it is unpinned as often as it was pinned. Says
    /// whether the table holds it.
    pub fn pin(&mut self, number: Address) -> bool {
        let Some(entry) = self.entries.get_mut(&number.0) else {
            return false;
        };
        if entry.pins == 0 {
            self.by_use.remove(&entry.last_use);
        }
        entry.pins += 1;
        true
    }

    /// Takes one pin off. Without pins an address may be forgotten again.
    pub fn unpin(&mut self, number: Address) {
        let Some(entry) = self.entries.get_mut(&number.0) else {
            return;
        };
        if entry.pins == 1 {
            self.uses += 1;
            entry.last_use = self.uses;
            self.by_use.insert(self.uses, number.0);
        }
        entry.pins = entry.pins.saturating_sub(1);
        while self.by_use.len() > self.capacity {
            self.forget_oldest();
        }
    }

    /// From now on a number stands for another address, as when a peer's address
    /// translator gave it a new port. A number that was forgotten, or never given,
    /// comes to stand for the address as well. The address keeps the number that
    /// it has, if it has one.
    pub fn redirect(&mut self, number: Address, socket: SocketAddr) {
        self.numbers.entry(socket).or_insert(number.0);
        let Some(entry) = self.entries.get_mut(&number.0) else {
            self.make_room();
            self.enter(number.0, socket);
            self.next_number = self.next_number.max(number.0.saturating_add(1));
            return;
        };
        let before = std::mem::replace(&mut entry.socket, socket);
        if before != socket && self.numbers.get(&before) == Some(&number.0) {
            self.numbers.remove(&before);
        }
        self.touch(number.0);
    }

    fn make_room(&mut self) {
        if self.by_use.len() >= self.capacity {
            self.forget_oldest();
        }
    }

    fn enter(&mut self, number: u32, socket: SocketAddr) {
        self.uses += 1;
        self.by_use.insert(self.uses, number);
        let entry = Entry {
            socket,
            last_use: self.uses,
            pins: 0,
        };
        self.entries.insert(number, entry);
    }

    /// The address behind a number, unless it has been forgotten.
    pub fn socket(&mut self, number: Address) -> Option<SocketAddr> {
        self.touch(number.0);
        self.entries.get(&number.0).map(|entry| entry.socket)
    }

    /// How many addresses it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn touch(&mut self, number: u32) {
        if let Some(entry) = self.entries.get_mut(&number)
            && entry.pins == 0
        {
            self.by_use.remove(&entry.last_use);
            self.uses += 1;
            entry.last_use = self.uses;
            self.by_use.insert(self.uses, number);
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, number)) = self.by_use.pop_first()
            && let Some(entry) = self.entries.remove(&number)
            && self.numbers.get(&entry.socket) == Some(&number)
        {
            self.numbers.remove(&entry.socket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn numbers_lead_there_and_back() {
        let mut table = AddressTable::new(Address(10), 4);
        assert!(table.is_empty());
        for port in 1..=4 {
            let number = table.number(socket(port));
            assert_eq!(number, Some(Address(9 + u32::from(port))));
            assert_eq!(table.number(socket(port)), number);
            assert_eq!(table.socket(number.unwrap()), Some(socket(port)));
        }
        assert_eq!(table.socket(Address(9)), None);
    }

    #[test]
    fn the_one_unused_for_longest_goes_and_its_number_stays_unused() {
        let mut table = AddressTable::new(Address(0), 3);
        let first = table.number(socket(1)).unwrap();
        let second = table.number(socket(2)).unwrap();
        table.number(socket(3));
        table.socket(first);
        let fourth = table.number(socket(4)).unwrap();
        assert_eq!(table.len(), 3);
        assert_eq!(table.socket(second), None);
        assert_eq!(table.socket(first), Some(socket(1)));
        let again = table.number(socket(2)).unwrap();
        assert!(again > fourth);
        for port in 1000..5000 {
            table.number(socket(port));
        }
        assert_eq!(
            (table.len(), table.numbers.len(), table.by_use.len()),
            (3, 3, 3)
        );
    }

    #[test]
    fn what_is_pinned_stays_through_a_flood() {
        let mut table = AddressTable::new(Address(0), 3);
        let live = table.number(socket(1)).unwrap();
        assert!(table.pin(live) && table.pin(live));
        for port in 1000..5000 {
            table.number(socket(port));
        }
        assert_eq!((table.number(socket(1)), table.len()), (Some(live), 4));
        table.unpin(live);
        assert_eq!(table.socket(live), Some(socket(1)));
        table.unpin(live);
        assert_eq!(table.len(), 3);
        for port in 1000..5000 {
            table.number(socket(port));
        }
        assert_eq!(table.socket(live), None);
        assert!(!table.pin(live));
    }

    #[test]
    fn a_number_moves_to_another_address() {
        let mut table = AddressTable::new(Address(0), 8);
        let peer = table.number(socket(1)).unwrap();
        let other = table.number(socket(2)).unwrap();
        table.redirect(peer, socket(3));
        assert_eq!(table.socket(peer), Some(socket(3)));
        assert_eq!(table.number(socket(3)), Some(peer));
        assert_ne!(table.number(socket(1)), Some(peer));
        // Onto an address that has a number already: that number keeps it.
        table.redirect(peer, socket(2));
        assert_eq!(table.socket(peer), Some(socket(2)));
        assert_eq!(table.number(socket(2)), Some(other));
        // A number that was forgotten comes back.
        table.redirect(Address(77), socket(9));
        assert_eq!(table.socket(Address(77)), Some(socket(9)));
        assert_eq!(table.number(socket(9)), Some(Address(77)));
    }
}
