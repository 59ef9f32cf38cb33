//! Which chunks of which message have arrived and were not delivered yet.

use std::collections::{BTreeMap, BTreeSet};

use headway_sctp::{Chunk, Packet};

/// The messages of one direction at their receiver, by the number that their
/// chunks carry as payload protocol identifier.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// Every message below this number was delivered.
    floor: u32,
    /// Delivered messages above it.
    beyond: BTreeSet<u32>,
    waiting: BTreeMap<u32, Waiting>,
    /// Bytes of messages that have arrived whole and were not delivered.
    held_bytes: u64,
    duplicates: u64,
}

/// One message that was not delivered yet.
#[derive(Debug, Default)]
struct Waiting {
    first: Option<u32>,
    last: Option<u32>,
    /// The TSNs that have arrived, and their bytes.
    chunks: BTreeMap<u32, u32>,
}

impl Waiting {
    fn tsns(&self) -> Option<(u32, u32)> {
        Some((self.first?, self.last?))
    }

    fn is_whole(&self) -> bool {
        self.tsns()
            .is_some_and(|(first, last)| last.wrapping_sub(first) as usize + 1 == self.chunks.len())
    }

    fn bytes(&self) -> u64 {
        self.chunks.values().map(|&bytes| u64::from(bytes)).sum()
    }
}

impl Inbox {
    /// A packet reached the receiver.
    pub(super) fn arrived(&mut self, packet: &Packet) {
        for chunk in &packet.chunks {
            let Chunk::Data(data) = chunk else { continue };
            let label = data.ppid;
            if label < self.floor || self.beyond.contains(&label) {
                self.duplicates += 1;
                continue;
            }
            let waiting = self.waiting.entry(label).or_default();
            let bytes = data.payload.len() as u32;
            if waiting.chunks.insert(data.tsn.0, bytes).is_some() {
                self.duplicates += 1;
                continue;
            }
            if data.begin {
                waiting.first = Some(data.tsn.0);
            }
            if data.end {
                waiting.last = Some(data.tsn.0);
            }
            if waiting.is_whole() {
                self.held_bytes += waiting.bytes();
            }
        }
    }

    /// The application got a message: the TSNs of its first and last chunk.
    /// `None` where it had got it before.
    pub(super) fn delivered(&mut self, label: u32) -> Option<(u32, u32)> {
        let waiting = self.waiting.remove(&label)?;
        self.held_bytes -= waiting.bytes();
        self.beyond.insert(label);
        while self.beyond.remove(&self.floor) {
            self.floor += 1;
        }
        waiting.tsns()
    }

    /// Bytes that wait for other messages.
    pub(super) const fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Chunks received that had been received before.
    pub(super) const fn duplicates(&self) -> u64 {
        self.duplicates
    }
}
