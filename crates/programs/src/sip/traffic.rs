//! Which messages went and came, and which of them again.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use headway_apps::sip::message::{self, Method, SipMessage};
use headway_sansio::{Duration, Time};
use serde::Serialize;

/// A message that SIP repeats comes within 64*T1 of the first, 32 s with the
/// usual T1. Twice that is remembered, and again as much.
const GENERATION: Duration = Duration::from_secs(64);

/// Messages remembered in a generation at most, so that a flood does not take
/// the memory. At 16 bytes each this is some 100 MB.
const MOST_REMEMBERED: usize = 4 << 20;

/// Counts of one kind of message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Sent, every time.
    pub sent: u64,
    /// Of these, not the first time.
    pub sent_again: u64,
    /// Received, every time.
    pub received: u64,
    /// Of these, not the first time; copies that the network makes included.
    pub received_again: u64,
}

/// The ledger of SIP messages.
///
/// A repeated message is byte by byte the one before: RFC 3261 has transactions
/// repeat what they sent, and so does the core with its 2xx and its ACK. So a
/// message is known by a hash of its bytes, and no call state is needed.
#[derive(Debug)]
pub struct Traffic {
    kinds: BTreeMap<String, Counts>,
    unreadable: u64,
    hasher: RandomState,
    sent: Memory,
    received: Memory,
    turns_at: Time,
}

/// Messages of the present generation and of the one before.
#[derive(Debug, Default)]
struct Memory {
    present: HashSet<u64>,
    past: HashSet<u64>,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            kinds: BTreeMap::new(),
            unreadable: 0,
            hasher: RandomState::new(),
            sent: Memory::default(),
            received: Memory::default(),
            turns_at: Time::ZERO + GENERATION,
        }
    }
}

impl Memory {
    /// Whether the message was there before; it is remembered.
    fn knows(&mut self, hash: u64) -> bool {
        if self.present.len() >= MOST_REMEMBERED {
            self.turn();
        }
        let known = self.past.contains(&hash) || self.present.contains(&hash);
        // Known ones move on, so that the last of a long row is still known.
        self.present.insert(hash);
        known
    }

    fn turn(&mut self) {
        self.past = std::mem::take(&mut self.present);
    }
}

impl Traffic {
    pub(super) fn sent(&mut self, bytes: &Bytes) {
        let again = self.sent.knows(self.hasher.hash_one(bytes));
        if let Some(counts) = self.counts(bytes) {
            counts.sent += 1;
            counts.sent_again += u64::from(again);
        }
    }

    /// A message came.
    pub fn received(&mut self, now: Time, bytes: &Bytes) {
        self.turn(now);
        let again = self.received.knows(self.hasher.hash_one(bytes));
        match self.counts(bytes) {
            Some(counts) => {
                counts.received += 1;
                counts.received_again += u64::from(again);
            }
            None => self.unreadable += 1,
        }
    }

    /// Forgets what is too old to come again.
    pub(super) fn turn(&mut self, now: Time) {
        if now >= self.turns_at {
            self.turns_at = now + GENERATION;
            self.sent.turn();
            self.received.turn();
        }
    }

    /// Counts by kind: `INVITE`, `180 INVITE` and the like.
    #[must_use]
    pub fn kinds(&self) -> &BTreeMap<String, Counts> {
        &self.kinds
    }

    /// Messages that came and were no SIP.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    fn counts(&mut self, bytes: &Bytes) -> Option<&mut Counts> {
        let message = message::parse(bytes).ok()?;
        Some(self.kinds.entry(kind(&message)).or_default())
    }
}

/// A method, or a status code and the method that it answers. Methods that SIP
/// does not know share a kind, so that a stranger cannot make the table long.
fn kind(message: &SipMessage) -> String {
    let method = match &message.cseq.method {
        Method::Other(_) => "other",
        known => known.as_str(),
    };
    match message.code() {
        Some(code) => format!("{code} {method}"),
        None => method.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(start: &str, cseq: &str, branch: u32) -> Bytes {
        let text = format!(
            "{start}\r\nVia: SIP/2.0/UDP a.test;branch=z9hG4bK{branch}\r\nFrom: <sip:a@a.test>;\
             tag=1\r\nTo: <sip:b@b.test>\r\nCall-ID: x\r\nCSeq: {cseq}\r\nContent-Length: 0\r\n\r\n"
        );
        text.into()
    }

    fn invite(branch: u32) -> Bytes {
        message("INVITE sip:b@b.test SIP/2.0", "1 INVITE", branch)
    }

    #[test]
    fn copies_are_told_from_firsts_in_each_direction() {
        let mut traffic = Traffic::default();
        for branch in [1, 1, 2, 1] {
            traffic.sent(&invite(branch));
        }
        let ok = message("SIP/2.0 200 OK", "1 INVITE", 1);
        traffic.received(Time::ZERO, &ok);
        traffic.received(Time::ZERO, &ok);
        traffic.received(Time::ZERO, &invite(1));
        traffic.received(Time::ZERO, &Bytes::from_static(b"hello"));
        let counts = |sent, sent_again, received, received_again| Counts {
            sent,
            sent_again,
            received,
            received_again,
        };
        assert_eq!(traffic.kinds()["INVITE"], counts(4, 2, 1, 0));
        assert_eq!(traffic.kinds()["200 INVITE"], counts(0, 0, 2, 1));
        assert_eq!((traffic.kinds().len(), traffic.unreadable()), (2, 1));
    }

    #[test]
    fn repetitions_are_known_for_a_generation_and_longer_while_they_come() {
        let mut traffic = Traffic::default();
        let at = |s| Time::ZERO + Duration::from_secs(s);
        for seconds in [0, 32, 65, 100, 140, 200] {
            traffic.received(at(seconds), &invite(1));
        }
        assert_eq!(traffic.kinds()["INVITE"].received_again, 5);
        traffic.turn(at(300));
        traffic.turn(at(400));
        assert!(traffic.received.past.is_empty() && traffic.received.present.is_empty());
        traffic.received(at(401), &invite(1));
        assert_eq!(traffic.kinds()["INVITE"].received_again, 5);
    }

    #[test]
    fn unknown_methods_share_a_row() {
        let mut traffic = Traffic::default();
        for method in ["FOO", "BAR"] {
            let start = format!("{method} sip:b SIP/2.0");
            traffic.received(Time::ZERO, &message(&start, &format!("1 {method}"), 1));
        }
        assert_eq!(traffic.kinds()["other"].received, 2);
    }
}
