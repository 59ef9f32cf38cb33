//! What is kept of the calls that are under way.

/// A table by call number that holds memory only for calls under way: a run has
/// thousands of calls and mostly a handful of them at once.
#[derive(Clone, Debug)]
pub(super) struct CallTable<T> {
    /// Where a call's entry is, by call number.
    places: Vec<u32>,
    entries: Vec<Option<T>>,
    free: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl<T> CallTable<T> {
    pub(super) fn new() -> Self {
        Self {
            places: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Makes room for calls with numbers below `calls`.
    pub(super) fn expect(&mut self, calls: usize) {
        self.places.reserve(calls);
    }

    /// Puts a call into the table, in place of what was there.
    pub(super) fn insert(&mut self, number: u32, call: T) {
        self.remove(number);
        let index = number as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, NOWHERE);
        }
        let place = self.free.pop().unwrap_or(self.entries.len() as u32);
        match self.entries.get_mut(place as usize) {
            Some(entry) => *entry = Some(call),
            None => self.entries.push(Some(call)),
        }
        self.places[index] = place;
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        let place = *self.places.get(number as usize)?;
        self.entries.get(place as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let place = *self.places.get(number as usize)?;
        self.entries.get_mut(place as usize)?.as_mut()
    }

    pub(super) fn remove(&mut self, number: u32) {
        let Some(place) = self.places.get_mut(number as usize) else {
            return;
        };
        let place = std::mem::replace(place, NOWHERE);
        if let Some(entry) = self.entries.get_mut(place as usize) {
            *entry = None;
            self.free.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut table = CallTable::new();
        for number in 0..1_000 {
            table.insert(number, number);
            if number >= 3 {
                table.remove(number - 3);
                table.remove(number - 3);
            }
        }
        assert_eq!(table.entries.len(), 4);
        for number in 0..1_001 {
            let there = (997..1_000).contains(&number).then_some(number);
            assert_eq!(table.get(number).copied(), there);
            assert_eq!(table.get_mut(number).copied(), there);
        }
        table.insert(999, 7);
        assert_eq!(table.get(999), Some(&7));
        assert_eq!(table.entries.len(), 4);
    }
}
