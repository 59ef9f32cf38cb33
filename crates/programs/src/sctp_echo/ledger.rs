//! Which messages are under way, and whether what comes back is one of them.

use std::collections::{BTreeMap, VecDeque};

use headway_net::sctp::Received;
use headway_sansio::{Duration, Time};
use serde::Serialize;

use super::payload::Payloads;

/// What came back, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub(super) struct Tally {
    /// Messages handed over.
    pub(super) sent: u64,
    /// Their bytes.
    pub(super) sent_bytes: u64,
    /// Messages that came back with the right content.
    pub(super) echoed: u64,
    /// Of these: before an earlier one of their stream, though ordered.
    pub(super) out_of_order: u64,
    /// Of these: with another payload protocol identifier or the other kind of
    /// delivery.
    pub(super) altered: u64,
    /// Messages whose content is that of none under way on their stream: damaged,
    /// doubled or astray.
    pub(super) unexpected: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.echoed += other.echoed;
        self.out_of_order += other.out_of_order;
        self.altered += other.altered;
        self.unexpected += other.unexpected;
    }

    /// Whether so many messages went and came back as they should.
    pub(super) fn is_right(&self, count: u64) -> bool {
        let wrong = self.out_of_order + self.altered + self.unexpected;
        self.sent == count && self.echoed == count && wrong == 0
    }
}

/// How messages are sent, and so how they must come back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) streams: u16,
    pub(super) unordered: bool,
    pub(super) ppid: u32,
    /// Their content alone counts.
    pub(super) plain: bool,
}

/// The books of one association.
pub(super) struct Ledger {
    payloads: Payloads,
    manner: Manner,
    /// Numbers of the messages under way, by stream, in their order.
    pending: Vec<VecDeque<u64>>,
    sent_at: BTreeMap<u64, Time>,
    pub(super) tally: Tally,
}

impl Ledger {
    pub(super) fn new(payloads: Payloads, manner: Manner) -> Self {
        // Where the stream does not count there is one queue for all.
        let queues = if manner.plain { 1 } else { manner.streams };
        Self {
            payloads,
            manner,
            pending: vec![VecDeque::new(); usize::from(queues)],
            sent_at: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// The stream of a message.
    pub(super) fn stream(&self, number: u64) -> u16 {
        (number % u64::from(self.manner.streams)) as u16
    }

    fn queue(&self, stream: u16) -> usize {
        if self.manner.plain {
            0
        } else {
            usize::from(stream)
        }
    }

    pub(super) fn under_way(&self) -> u64 {
        self.tally.sent - self.tally.echoed
    }

    pub(super) fn sent(&mut self, now: Time, number: u64, bytes: usize) {
        let queue = self.queue(self.stream(number));
        self.pending[queue].push_back(number);
        self.sent_at.insert(number, now);
        self.tally.sent += 1;
        self.tally.sent_bytes += bytes as u64;
    }

    /// Notes what came, and says how long it was under way if it is an echo.
    pub(super) fn came(&mut self, now: Time, message: &Received) -> Option<Duration> {
        let Some((queue, place)) = self.find(message) else {
            self.tally.unexpected += 1;
            return None;
        };
        let number = self.pending[queue].remove(place)?;
        let sent_at = self.sent_at.remove(&number)?;
        self.tally.echoed += 1;
        if !self.manner.plain {
            self.judge(place, message);
        }
        Some(now.since(sent_at))
    }

    /// Whether an echo came in the manner in which the message went.
    fn judge(&mut self, place: usize, message: &Received) {
        let manner = self.manner;
        if place > 0 && !manner.unordered {
            self.tally.out_of_order += 1;
        }
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
