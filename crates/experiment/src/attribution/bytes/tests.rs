use super::*;
use headway_sansio::Duration;
use proptest::prelude::*;

fn ms(n: u64) -> Time {
    Time::ZERO + Duration::from_millis(n)
}

fn millis(d: Duration) -> u64 {
    d.as_nanos() / 1_000_000
}

/// One message that is one piece of stream 0.
fn hand_over(trace: &mut ByteTrace, at: u64, id: u64, bytes: u32) -> u64 {
    let number = trace.handed_over(ms(at), id, bytes, 1, u64::from(bytes));
    trace.appended(number, 0, u64::from(bytes));
    number
}

/// A segment is sent, and its arrival is foreseen, as a simulator does it.
fn send(trace: &mut ByteTrace, at: u64, (from, to): (u64, u64), again: bool) {
    trace.sent(ms(at), 0, from, to - from);
    trace.would_arrive(ms(at + 20), 0, from, to - from, again);
}

#[test]
fn a_lost_segment_recovers_and_what_came_after_it_waits() {
    let mut trace = ByteTrace::new(1, true);
    for n in 0..3 {
        hand_over(&mut trace, n, n, 100);
        send(&mut trace, n, (n * 100, n * 100 + 100), false);
    }
    trace.lost(0, 0, 100, false);
    trace.arrived(ms(21), 0, 100, 100);
    trace.arrived(ms(22), 0, 200, 100);
    assert_eq!(trace.take_read(0, 0), None);
    send(&mut trace, 50, (0, 100), true);
    trace.arrived(ms(70), 0, 0, 100);
    let mut rows = Vec::new();
    while let Some(piece) = trace.take_read(0, 300) {
        assert!(piece.whole);
        rows.push(trace.delivered(ms(70), piece.message).unwrap());
    }
    let parts: Vec<[u64; 4]> = rows
        .iter()
        .map(|row| {
            let p = row.parts;
            [p.sender_wait, p.network, p.recovery, p.hol_blocking].map(millis)
        })
        .collect();
    assert_eq!(parts, [[0, 20, 50, 0], [0, 20, 0, 49], [0, 20, 0, 48]]);
    assert_eq!(
        rows.iter().map(|r| r.lost_first).collect::<Vec<_>>(),
        [true, false, false]
    );
    let totals = trace.totals();
    assert_eq!((totals.first_transmissions, totals.retransmissions), (3, 1));
    assert_eq!(
        (totals.lost_chunks, totals.needless_retransmissions),
        (1, 0)
    );
    // What was read already is sent again in vain.
    send(&mut trace, 80, (100, 200), true);
    assert_eq!(trace.totals().needless_retransmissions, 1);
    assert_eq!(trace.outstanding(), 0);
}

#[test]
fn a_message_waits_until_its_last_byte_is_sent() {
    let mut trace = ByteTrace::new(1, false);
    let number = hand_over(&mut trace, 0, 7, 3000);
    for (at, range) in [(0, (0, 1448)), (30, (1448, 2896)), (60, (2896, 3000))] {
        send(&mut trace, at, range, false);
        trace.arrived(ms(at + 20), 0, range.0, range.1 - range.0);
    }
    assert!(trace.take_read(0, 2999).is_none());
    assert_eq!(trace.take_read(0, 3000).unwrap().id, 7);
    let row = trace.delivered(ms(80), number).unwrap();
    assert_eq!(millis(row.parts.sender_wait), 60);
    assert_eq!(millis(row.parts.network), 20);
    assert_eq!(row.transmissions, 3);
    assert_eq!(trace.delivered(ms(81), number), None);
}

#[test]
fn a_split_message_is_whole_with_its_last_piece_in_any_stream() {
    let mut trace = ByteTrace::new(2, false);
    let number = trace.handed_over(ms(0), 1, 1000, 2, 1004);
    trace.appended(number, 0, 502);
    trace.sent(ms(0), 0, 0, 502);
    trace.would_arrive(ms(20), 0, 0, 502, false);
    // The second piece goes ten milliseconds later, by the other stream.
    trace.appended(number, 1, 502);
    trace.sent(ms(10), 1, 0, 502);
    trace.would_arrive(ms(30), 1, 0, 502, false);
    trace.arrived(ms(20), 0, 0, 502);
    assert!(!trace.take_read(0, 502).unwrap().whole);
    trace.arrived(ms(30), 1, 0, 502);
    assert!(trace.take_read(1, 502).unwrap().whole);
    let row = trace.delivered(ms(30), number).unwrap();
    assert_eq!(millis(row.parts.sender_wait), 10);
    assert_eq!(millis(row.delay), 30);
}

#[test]
fn a_piece_beyond_a_gap_is_taken_once() {
    let mut trace = ByteTrace::new(1, false);
    let numbers: Vec<u64> = (0..3).map(|n| hand_over(&mut trace, 0, n, 100)).collect();
    send(&mut trace, 0, (0, 300), false);
    trace.arrived(ms(20), 0, 150, 150);
    let piece = trace.take_beyond(0, 150, 300).unwrap();
    assert_eq!((piece.id, piece.whole), (2, true));
    trace.delivered(ms(20), numbers[2]).unwrap();
    assert_eq!(trace.take_beyond(0, 150, 300), None);
    trace.arrived(ms(90), 0, 0, 150);
    let ids: Vec<u64> = std::iter::from_fn(|| trace.take_read(0, 300))
        .map(|piece| piece.id)
        .collect();
    assert_eq!(ids, [0, 1]);
}

/// What a plain account of single bytes says of a message.
#[derive(Clone, Copy, Debug)]
struct Expected {
    handed_over: u64,
    last_sent: u64,
    would_arrive: u64,
    arrived: u64,
}

/// A stream of messages under a random adversary, with each byte's history
/// kept beside the trace.
struct Account {
    trace: ByteTrace,
    /// Number of the message, its first byte and the byte after its last.
    messages: Vec<(u64, usize, usize, u64)>,
    first_sent: Vec<Option<u64>>,
    would_arrive: Vec<u64>,
    arrived: Vec<Option<u64>>,
    /// Copies that were not lost.
    alive: Vec<u32>,
    needless: u64,
    read_to: usize,
}

impl Account {
    fn hand_over(&mut self, now: u64, bytes: usize) {
        let at = self.first_sent.len();
        let number = hand_over(&mut self.trace, now, now, bytes as u32);
        self.messages.push((number, at, at + bytes, now));
        self.first_sent.resize(at + bytes, None);
        self.would_arrive.resize(at + bytes, 0);
        self.arrived.resize(at + bytes, None);
        self.alive.resize(at + bytes, 0);
    }

    /// Sends `from..to`; returns whether it was sent before.
    fn send(&mut self, now: u64, (from, to): (usize, usize), lost: bool, travel: u64) -> bool {
        let again = self.first_sent[from].is_some();
        let (offset, len) = (from as u64, (to - from) as u64);
        if again && self.alive[from..to].iter().all(|&n| n > 0) {
            self.needless += 1;
        }
        self.trace.sent(ms(now), 0, offset, len);
        if lost {
            self.trace.lost(0, offset, len, again);
        }
        self.trace
            .would_arrive(ms(now + travel), 0, offset, len, again);
        for i in from..to {
            if !again {
                self.first_sent[i] = Some(now);
                self.would_arrive[i] = now + travel;
            }
            self.alive[i] += u32::from(!lost);
        }
        again
    }

    fn arrive(&mut self, now: u64, (from, to): (usize, usize)) {
        self.trace
            .arrived(ms(now), 0, from as u64, (to - from) as u64);
        for seen in &mut self.arrived[from..to] {
            seen.get_or_insert(now);
        }
        while self.arrived.get(self.read_to).is_some_and(Option::is_some) {
            self.read_to += 1;
        }
    }

    fn expected(&self, message: u64) -> Expected {
        let (_, from, to, handed_over) = self.messages[message as usize];
        let most = |of: &dyn Fn(usize) -> u64| (from..to).map(of).max().unwrap_or(0);
        Expected {
            handed_over,
            last_sent: most(&|i| self.first_sent[i].unwrap_or(0)),
            would_arrive: most(&|i| self.would_arrive[i]),
            arrived: most(&|i| self.arrived[i].unwrap_or(0)),
        }
    }

    fn deliver(&mut self, now: u64) -> Result<(), TestCaseError> {
        while let Some(piece) = self.trace.take_read(0, self.read_to as u64) {
            let row = self.trace.delivered(ms(now), piece.message).unwrap();
            let e = self.expected(piece.message);
            let parts = Moments {
                handed_over: ms(e.handed_over),
                last_byte_sent: ms(e.last_sent),
                would_arrive: ms(e.would_arrive),
                all_arrived: ms(e.arrived),
                delivered: ms(now),
            }
            .parts();
            prop_assert_eq!(row.parts, parts);
            prop_assert_eq!(row.parts.delay(), row.delay);
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn as_an_account_of_single_bytes(seed in any::<u64>()) {
        let mut random = headway_sansio::Seed::new(seed).stream("adversary");
        let mut account = Account {
            trace: ByteTrace::new(1, false),
            messages: Vec::new(),
            first_sent: Vec::new(),
            would_arrive: Vec::new(),
            arrived: Vec::new(),
            alive: Vec::new(),
            needless: 0,
            read_to: 0,
        };
        let mut sent_to = 0;
        // Arrival, and what arrives.
        let mut under_way: Vec<(u64, (usize, usize))> = Vec::new();
        let mut now = 0;
        while now < 400 || account.trace.outstanding() > 0 {
            now += 1;
            if now < 400 && random.below(3) == 0 {
                account.hand_over(now, 1 + random.below(40) as usize);
            }
            let written = account.first_sent.len();
            let mut send = |account: &mut Account, range, random: &mut headway_sansio::RandomStream| {
                let lost = now < 900 && random.below(4) == 0;
                let travel = 5 + random.below(20);
                account.send(now, range, lost, travel);
                if !lost {
                    under_way.push((now + travel, range));
                }
            };
            if sent_to < written && random.below(2) == 0 {
                let to = written.min(sent_to + 1 + random.below(50) as usize);
                send(&mut account, (sent_to, to), &mut random);
                sent_to = to;
            }
            if sent_to > account.read_to && random.below(6) == 0 {
                // Something that was sent before, cut anew.
                let from = account.read_to + random.below((sent_to - account.read_to) as u64) as usize;
                let to = sent_to.min(from + 1 + random.below(50) as usize);
                send(&mut account, (from, to), &mut random);
            }
            let (due, later) = under_way.iter().partition(|(at, _)| *at <= now);
            under_way = later;
            let due: Vec<(u64, (usize, usize))> = due;
            for (_, range) in due {
                account.arrive(now, range);
            }
            account.deliver(now)?;
        }
        prop_assert_eq!(account.trace.totals().needless_retransmissions, account.needless);
        prop_assert_eq!(account.trace.totals().delivered, account.messages.len() as u64);
        prop_assert!(account.trace.messages.is_empty() && account.trace.streams[0].spans.is_empty());
    }
}
