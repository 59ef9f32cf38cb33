//! The ledger of sctp-echo beside one that is slow and plain.

use bytes::Bytes;
use headway_net::sctp::Received;
use headway_programs::sctp_echo::{Ledger, Manner, Payloads, Sizes, Tally};
use headway_sansio::{Duration, Seed, Time};

use crate::script::Script;

/// The most messages of a script.
const MOST_MESSAGES: u64 = 64;

/// What is known of a message that was handed over.
struct Sent {
    at: Time,
    state: State,
    /// The program was told that it was given up.
    told: bool,
    /// It must have been, as everything else came.
    presumed: bool,
    /// It was promised that it will not be.
    faithful: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    UnderWay,
    /// It may come all the same.
    GivenUp,
    /// It cannot come.
    NeverSent,
    Echoed,
}

struct Books {
    now: Time,
    manner: Manner,
    payloads: Payloads,
    ledger: Ledger,
    /// By their numbers.
    sent: Vec<Sent>,
    /// By stream, the number after the highest that came back.
    past: Vec<u64>,
    tally: Tally,
}

/// The first byte says how messages are sent and of which sizes they are; then they go, come
/// back changed or unchanged, and are given up. At every step the ledger says of each echo
/// whether it is one and how long it was under way, and counts right.
pub(super) fn echoes(mut script: Script<'_>) {
    let choice = script.choice();
    let manner = Manner {
        streams: [1, 2, 5, 16][usize::from(choice & 3)],
        unordered: choice & 4 != 0,
        ppid: u32::from(choice >> 6),
        plain: choice & 8 != 0,
    };
    let sizes = ["9B", "1B,2B", "1B..12B", "8B,3B,20B"][usize::from(choice >> 4 & 3)];
    let sizes = Sizes::parse(sizes).expect("good sizes");
    let payloads = Payloads::new(sizes, Seed::new(1));
    let mut books = Books {
        now: Time::ZERO,
        manner,
        ledger: Ledger::new(payloads.clone(), manner),
        payloads,
        sent: Vec::new(),
        past: vec![0; usize::from(manner.streams)],
        tally: Tally::default(),
    };
    while let Some(op) = script.byte() {
        books.play(op, &mut script);
        books.compare();
    }
}

impl Books {
    /// One step: the low three bits choose the deed, the rest how.
    fn play(&mut self, op: u8, script: &mut Script<'_>) {
        let how = op >> 3;
        match op & 7 {
            0 | 1 => self.send(how & 1 != 0),
            2 | 3 => {
                let number = u64::from(script.choice());
                let message = self.echo(number, how);
                self.come(&message);
            }
            4 => {
                let length = usize::from(script.choice()) % 24;
                let message = Received {
                    stream: u16::from(how & 7),
                    ppid: self.manner.ppid,
                    unordered: self.manner.unordered,
                    payload: Bytes::copy_from_slice(script.take(length)),
                };
                self.come(&message);
            }
            5 => {
                let number = u64::from(script.choice());
                self.give_up(number, how & 1 != 0);
            }
            6 => self.settle(u64::from(how)),
            _ => self.now += Duration::from_millis(u64::from(how)),
        }
    }

    fn stream(&self, number: u64) -> u16 {
        (number % u64::from(self.manner.streams)) as u16
    }

    fn send(&mut self, faithful: bool) {
        let number = self.sent.len() as u64;
        if number == MOST_MESSAGES {
            return;
        }
        let bytes = self.payloads.content(number).len();
        assert_eq!(self.ledger.stream(number), self.stream(number));
        self.ledger.sent(self.now, number, bytes);
        if faithful {
            self.ledger.must_come(number);
        }
        self.tally.sent += 1;
        self.tally.sent_bytes += bytes as u64;
        self.sent.push(Sent {
            at: self.now,
            state: State::UnderWay,
            told: false,
            presumed: false,
            faithful,
        });
    }

    /// A message as it went, or with one thing changed.
    fn echo(&self, number: u64, change: u8) -> Received {
        let Manner {
            ppid, unordered, ..
        } = self.manner;
        let payload = self.payloads.content(number);
        Received {
            stream: self.stream(number) + u16::from(change == 1),
            ppid: ppid ^ u32::from(change == 2),
            unordered: unordered ^ (change == 3),
            payload: match change {
                4 => payload.slice(1..),
                5 => [&payload[..], &[0]].concat().into(),
                _ => payload,
            },
        }
    }

    fn come(&mut self, message: &Received) {
        let expected = self.sent.iter().zip(0..).find(|(sent, number)| {
            matches!(sent.state, State::UnderWay | State::GivenUp)
                && (self.manner.plain || self.stream(*number) == message.stream)
                && self.payloads.content(*number) == message.payload
        });
        let number = expected.map(|(_, number)| number);
        let delay = self.ledger.came(self.now, message);
        let Some(number) = number else {
            assert_eq!(delay, None, "{message:?}");
            self.tally.unexpected += 1;
            return;
        };
        let sent = &mut self.sent[number as usize];
        assert_eq!(delay, Some(self.now.since(sent.at)), "{message:?}");
        self.tally.echoed += 1;
        self.tally.given_up -= u64::from(sent.state == State::GivenUp);
        sent.state = State::Echoed;
        let Manner {
            ppid,
            unordered,
            plain,
            ..
        } = self.manner;
        if !plain {
            let past = &mut self.past[usize::from(message.stream)];
            self.tally.out_of_order += u64::from(number < *past && !unordered);
            *past = (*past).max(number + 1);
            let same = message.ppid == ppid && message.unordered == unordered;
            self.tally.altered += u64::from(!same);
        }
    }

    /// The program is told of each message once, and of none that must come; perhaps only
    /// after it has been settled that the message was given up, or after it came back.
    fn give_up(&mut self, number: u64, partly_sent: bool) {
        let Some(sent) = self.sent.get_mut(number as usize) else {
            return;
        };
        if sent.told || sent.faithful {
            return;
        }
        sent.told = true;
        self.ledger.gave_up(number, partly_sent);
        self.tally.given_up += u64::from(sent.state == State::UnderWay);
        match sent.state {
            State::UnderWay | State::GivenUp if partly_sent => sent.state = State::GivenUp,
            State::UnderWay | State::GivenUp => sent.state = State::NeverSent,
            State::NeverSent | State::Echoed => {}
        }
    }

    /// So many `more` messages were given up than are known of.
    fn settle(&mut self, more: u64) {
        let under_way = |sent: &&mut Sent| sent.state == State::UnderWay;
        let missing = self.sent.iter_mut().filter(under_way).count() as u64;
        assert_eq!(self.ledger.under_way(), missing);
        let known = self.sent.iter().filter(|sent| sent.told || sent.presumed);
        let known = known.count() as u64;
        let promised = |sent: &Sent| sent.faithful && sent.state == State::UnderWay;
        let settled = missing == 0 || missing <= more && !self.sent.iter().any(promised);
        assert_eq!(self.ledger.is_settled(known + more), settled);
        if settled {
            self.tally.given_up += missing;
            for sent in self.sent.iter_mut().filter(under_way) {
                sent.state = State::GivenUp;
                sent.presumed = true;
            }
        }
    }

    fn compare(&self) {
        assert_eq!(self.ledger.tally, self.tally);
        let count = self.sent.len() as u64;
        let Tally {
            out_of_order,
            altered,
            unexpected,
            ..
        } = self.tally;
        let right = self.tally.missing() == 0 && out_of_order + altered + unexpected == 0;
        assert_eq!(self.tally.is_right(count), right);
        assert!(!self.tally.is_right(count + 1));
    }
}
