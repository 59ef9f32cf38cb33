//! Socket addresses as the numbers that machines know.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use headway_sansio::Address;

/// A two-way table of socket addresses and [`Address`] numbers.
///
/// It is bounded, because on a real network anybody can invent sources: where it
/// is full the address unused for longest is forgotten. A number is never given
/// twice, so a machine that still holds a forgotten one reaches nobody rather
/// than a stranger.
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
        if self.entries.len() >= self.capacity {
            self.forget_oldest();
        }
        self.uses += 1;
        self.numbers.insert(socket, number);
        self.by_use.insert(self.uses, number);
        let last_use = self.uses;
        self.entries.insert(number, Entry { socket, last_use });
        Some(Address(number))
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
        if let Some(entry) = self.entries.get_mut(&number) {
            self.by_use.remove(&entry.last_use);
            self.uses += 1;
            entry.last_use = self.uses;
            self.by_use.insert(self.uses, number);
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, number)) = self.by_use.pop_first()
            && let Some(entry) = self.entries.remove(&number)
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
}
