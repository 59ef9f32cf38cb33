//! Which messages are under way, and whether what comes back is one of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use headway_net::sctp::Received;
use headway_sansio::{Duration, Time};
use serde::Serialize;

use super::payload::Payloads;

/// What came back, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    /// Messages handed over.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Messages that came back with the right content.
    pub echoed: u64,
    /// Of these: after a later one of their stream, though ordered.
    pub out_of_order: u64,
    /// Of these: with another payload protocol identifier or the other kind of
    /// delivery.
    pub altered: u64,
    /// Messages whose content is that of none under way on their stream: damaged,
    /// doubled or astray.
    pub unexpected: u64,
    /// Messages that this side gave up and that did not come back.
    pub given_up: u64,
    /// Times that this side's streams began anew.
    pub resets: u64,
    /// Times that streams of the peer began anew.
    pub peer_resets: u64,
}

impl Tally {
    /// Adds the counts of another association.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.echoed += other.echoed;
        self.out_of_order += other.out_of_order;
        self.altered += other.altered;
        self.unexpected += other.unexpected;
        self.given_up += other.given_up;
        self.resets += other.resets;
        self.peer_resets += other.peer_resets;
    }

    /// Messages of which nothing is known.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.sent - self.echoed - self.given_up
    }

    /// Whether so many messages went, and came back as they should where they were
    /// not given up.
    #[must_use]
    pub fn is_right(&self, count: u64) -> bool {
        let wrong = self.out_of_order + self.altered + self.unexpected;
        self.sent == count && self.missing() == 0 && wrong == 0
    }
}

/// How messages are sent, and so how they must come back.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Streams that they take in turn, at least one.
    pub streams: u16,
    /// Unordered, all of them.
    pub unordered: bool,
    /// Payload protocol identifier of all of them.
    pub ppid: u32,
    /// Their content alone counts.
    pub plain: bool,
}

/// The books of one association.
pub struct Ledger {
    payloads: Payloads,
    manner: Manner,
    /// Numbers of the messages under way, by stream, in their order. Given up ones
    /// are among them: what was sent of them may have been enough.
    pending: Vec<VecDeque<u64>>,
    /// By stream, the number after the highest that came back.
    past: Vec<u64>,
    sent_at: BTreeMap<u64, Time>,
    given_up: BTreeSet<u64>,
    /// How many messages are known to be given up, in whatever way.
    told: u64,
    /// Numbers of those of which nobody has told, but which must be among them.
    presumed: BTreeSet<u64>,
    /// Numbers of those under way that will not be given up, where others may be.
    faithful: BTreeSet<u64>,
    /// What came back, and how.
    pub tally: Tally,
}

impl Ledger {
    /// Books without an entry.
    #[must_use]
    pub fn new(payloads: Payloads, manner: Manner) -> Self {
        // Where the stream does not count there is one queue for all.
        let queues = if manner.plain { 1 } else { manner.streams };
        Self {
            payloads,
            manner,
            pending: vec![VecDeque::new(); usize::from(queues)],
            past: vec![0; usize::from(queues)],
            sent_at: BTreeMap::new(),
            given_up: BTreeSet::new(),
            told: 0,
            presumed: BTreeSet::new(),
            faithful: BTreeSet::new(),
            tally: Tally::default(),
        }
    }

    /// The stream of a message.
    #[must_use]
    pub fn stream(&self, number: u64) -> u16 {
        (number % u64::from(self.manner.streams)) as u16
    }

    fn queue(&self, stream: u16) -> usize {
        if self.manner.plain {
            0
        } else {
            usize::from(stream)
        }
    }

    /// Messages that are waited for.
    #[must_use]
    pub fn under_way(&self) -> u64 {
        self.tally.missing()
    }

    /// Notes that a message is handed over; numbers run upwards from zero.
    pub fn sent(&mut self, now: Time, number: u64, bytes: usize) {
        let queue = self.queue(self.stream(number));
        self.pending[queue].push_back(number);
        self.sent_at.insert(number, now);
        self.tally.sent += 1;
        self.tally.sent_bytes += bytes as u64;
    }

    /// This message goes among such as may be given up, and will not be.
    pub fn must_come(&mut self, number: u64) {
        self.faithful.insert(number);
    }

    /// Notes that a message was given up. Where some of it was sent it may come back
    /// all the same.
    pub fn gave_up(&mut self, number: u64, sent: bool) {
        // Known already where the word comes late.
        self.told += u64::from(!self.presumed.remove(&number));
        let queue = self.queue(self.stream(number));
        // Else it came back before.
        if let Ok(place) = self.pending[queue].binary_search(&number) {
            self.tally.given_up += u64::from(!self.given_up.remove(&number));
            if sent {
                self.given_up.insert(number);
            } else {
                self.pending[queue].remove(place);
                self.sent_at.remove(&number);
            }
        }
    }

    /// Whether nothing is to be waited for any more, where so many messages were
    /// given up in all. Of some of them nobody may have told: they are those that are
    /// still missing when all came that must.
    pub fn is_settled(&mut self, given_up: u64) -> bool {
        let missing = self.under_way();
        let untold = given_up.saturating_sub(self.told);
        if missing == 0 || missing > untold || !self.faithful.is_empty() {
            return missing == 0;
        }
        let pending = self.pending.iter().flatten().copied();
        let presumed = pending.filter(|number| !self.given_up.contains(number));
        self.presumed.extend(presumed);
        self.given_up.extend(&self.presumed);
        self.tally.given_up += missing;
        self.told += missing;
        true
    }

    /// Notes what came, and says how long it was under way if it is an echo.
    pub fn came(&mut self, now: Time, message: &Received) -> Option<Duration> {
        let Some((queue, place)) = self.find(message) else {
            self.tally.unexpected += 1;
            return None;
        };
        let number = self.pending[queue].remove(place)?;
        let sent_at = self.sent_at.remove(&number)?;
        self.tally.echoed += 1;
        self.tally.given_up -= u64::from(self.given_up.remove(&number));
        self.faithful.remove(&number);
        if !self.manner.plain {
            self.judge(queue, number, message);
        }
        Some(now.since(sent_at))
    }

    /// Whether an echo came in the manner in which the message went.
    fn judge(&mut self, queue: usize, number: u64, message: &Received) {
        let manner = self.manner;
        if number < self.past[queue] && !manner.unordered {
            self.tally.out_of_order += 1;
        }
        self.past[queue] = self.past[queue].max(number + 1);
        if message.ppid != manner.ppid || message.unordered != manner.unordered {
            self.tally.altered += 1;
        }
    }

    /// The message under way that has this content, and its place in its queue.
    fn find(&self, message: &Received) -> Option<(usize, usize)> {
        let queue = self.queue(message.stream);
        let pending = self.pending.get(queue)?;
        let is = |number: u64| self.payloads.content(number) == message.payload;
        if pending.front().is_some_and(|number| is(*number)) {
            return Some((queue, 0));
        }
        let place = match Payloads::number(&message.payload) {
            Some(number) => {
                let place = pending.binary_search(&number).ok()?;
                is(number).then_some(place)?
            }
            // Too short to say: the first that looks like it.
            None => pending.iter().position(|number| is(*number))?,
        };
        Some((queue, place))
    }
}

#[cfg(test)]
mod tests {
    use super::super::payload::Sizes;
    use super::*;
    use headway_sansio::Seed;

    fn ledger(manner: Manner, sizes: Sizes) -> (Ledger, Payloads) {
        let payloads = Payloads::new(sizes, Seed::new(1));
        (Ledger::new(payloads.clone(), manner), payloads)
    }

    const MANNER: Manner = Manner {
        streams: 2,
        unordered: false,
        ppid: 46,
        plain: false,
    };

    fn echo(payloads: &Payloads, number: u64) -> Received {
        Received {
            stream: (number % 2) as u16,
            ppid: 46,
            unordered: false,
            payload: payloads.content(number),
        }
    }

    fn ten(manner: Manner, sizes: Sizes) -> (Ledger, Payloads) {
        let (mut ledger, payloads) = ledger(manner, sizes);
        for number in 0..10 {
            let bytes = payloads.content(number).len();
            ledger.sent(Time::ZERO, number, bytes);
        }
        (ledger, payloads)
    }

    #[test]
    fn what_comes_back_in_order_of_its_stream_is_right() {
        for sizes in [Sizes::List(vec![100]), Sizes::List(vec![1])] {
            let (mut ledger, payloads) = ten(MANNER, sizes);
            let now = Time::ZERO + Duration::from_millis(3);
            for number in [0, 2, 4, 1, 3, 5, 7, 9, 6, 8] {
                let delay = ledger.came(now, &echo(&payloads, number));
                assert_eq!(delay, Some(Duration::from_millis(3)));
            }
            assert!(ledger.tally.is_right(10), "{:?}", ledger.tally);
            assert!(!ledger.tally.is_right(11));
        }
    }

    #[test]
    fn every_fault_is_counted() {
        let (mut ledger, payloads) = ten(MANNER, Sizes::List(vec![100]));
        // Number 2 before 0; then 0, twice.
        for number in [2, 0, 0] {
            ledger.came(Time::ZERO, &echo(&payloads, number));
        }
        let flipped = |change: fn(&mut Received)| {
            let mut message = echo(&payloads, 4);
            change(&mut message);
            message
        };
        ledger.came(Time::ZERO, &flipped(|m| m.stream = 1));
        ledger.came(Time::ZERO, &flipped(|m| m.stream = 9));
        ledger.came(Time::ZERO, &flipped(|m| m.payload = m.payload.slice(1..)));
        ledger.came(Time::ZERO, &flipped(|m| m.ppid = 0));
        let tally = ledger.tally;
        assert_eq!((tally.echoed, tally.out_of_order), (3, 1));
        assert_eq!((tally.unexpected, tally.altered), (4, 1));
        assert!(!tally.is_right(10));
        assert_eq!(ledger.under_way(), 7);
    }

    #[test]
    fn what_was_given_up_is_not_missed_and_may_come() {
        let (mut ledger, payloads) = ten(MANNER, Sizes::List(vec![100]));
        ledger.must_come(8);
        ledger.must_come(9);
        // 0 was not sent at all, 1, 2 and 3 were; 1 and 2 arrived, 2 before it was told.
        ledger.came(Time::ZERO, &echo(&payloads, 2));
        for number in 0..4 {
            ledger.gave_up(number, number > 0);
        }
        assert_eq!((ledger.tally.given_up, ledger.under_way()), (3, 6));
        for number in [1, 4, 6, 8] {
            ledger.came(Time::ZERO, &echo(&payloads, number));
        }
        assert_eq!((ledger.tally.given_up, ledger.under_way()), (2, 3));
        // Two more were given up, of which nobody told: 5 and 7, but not 9.
        assert!(!ledger.is_settled(6));
        ledger.came(Time::ZERO, &echo(&payloads, 9));
        assert!(!ledger.is_settled(5));
        assert!(ledger.is_settled(6));
        let tally = ledger.tally;
        assert_eq!(
            (tally.echoed, tally.given_up, tally.out_of_order),
            (6, 4, 0)
        );
        assert!(tally.is_right(10), "{tally:?}");
        // One of them comes after all, and late.
        ledger.came(Time::ZERO, &echo(&payloads, 5));
        assert_eq!((ledger.tally.given_up, ledger.tally.out_of_order), (3, 1));
        // What was never sent cannot come.
        ledger.came(Time::ZERO, &echo(&payloads, 0));
        assert_eq!(ledger.tally.unexpected, 1);
    }

    #[test]
    fn what_is_told_late_counts_once() {
        let (mut ledger, payloads) = ten(MANNER, Sizes::List(vec![100]));
        for number in [0, 2, 4, 6, 8] {
            ledger.came(Time::ZERO, &echo(&payloads, number));
        }
        assert!(!ledger.is_settled(4));
        assert!(ledger.is_settled(5));
        ledger.came(Time::ZERO, &echo(&payloads, 9));
        for (number, sent) in [(1, true), (3, false), (9, true)] {
            ledger.gave_up(number, sent);
        }
        assert_eq!((ledger.tally.given_up, ledger.under_way()), (4, 0));
        assert!(ledger.tally.is_right(10), "{:?}", ledger.tally);
        // One more is sent, and nothing else is known to be given up.
        ledger.sent(Time::ZERO, 10, 100);
        assert!(!ledger.is_settled(5));
        assert!(ledger.is_settled(6));
    }

    #[test]
    fn plain_echoes_may_come_anyhow() {
        let plain = Manner {
            plain: true,
            ..MANNER
        };
        let (mut ledger, payloads) = ten(plain, Sizes::List(vec![3, 100]));
        for number in (0..10).rev() {
            let message = Received {
                stream: 0,
                ppid: 0,
                ..echo(&payloads, number)
            };
            ledger.came(Time::ZERO, &message);
        }
        assert!(ledger.tally.is_right(10));
    }
}
