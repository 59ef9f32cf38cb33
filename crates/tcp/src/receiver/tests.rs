use headway_sansio::{Duration, Time};
use smallvec::SmallVec;

use super::*;
use crate::config::Profile;

struct Fixture {
    config: Config,
    stats: Stats,
    receiver: Receiver,
}

impl Fixture {
    fn new(profile: Profile) -> Self {
        let config = profile.config();
        Self {
            receiver: Receiver::new(&config),
            config,
            stats: Stats::default(),
        }
    }

    fn data(&mut self, start: u64, end: u64) -> Arrival {
        let payload = Payload::Sized((end - start) as u32);
        self.receiver
            .on_data(&self.config, start, payload, false, &mut self.stats)
    }

    fn blocks(&mut self) -> Vec<(u64, u64)> {
        self.receiver.blocks(4).to_vec()
    }
}

#[test]
fn d_sack_examples_of_rfc_2883() {
    // Section 4.1.1: a duplicate below the acknowledgement.
    let mut f = Fixture::new(Profile::Rfc);
    f.data(0, 4000);
    f.data(3000, 3500);
    assert_eq!(f.receiver.ack_offset(), 4000);
    assert_eq!(f.blocks(), [(3000, 3500)]);
    assert_eq!(f.blocks(), [], "reported once");
    // Section 4.1.2: beside data beyond a gap.
    f.data(4500, 5000);
    assert_eq!(f.blocks(), [(4500, 5000)]);
    f.data(3000, 3500);
    assert_eq!(f.blocks(), [(3000, 3500), (4500, 5000)]);
    // Section 4.1.3: a duplicate of data beyond the gap.
    f.data(5000, 5500);
    f.data(5000, 5500);
    assert_eq!(f.blocks(), [(5000, 5500), (4500, 5500)]);
    assert_eq!(f.stats.duplicate_segments, 3);
    // Section 4.2: only the part that was there is reported.
    let mut f = Fixture::new(Profile::Rfc);
    f.data(0, 1500);
    f.data(1000, 2000);
    assert_eq!(f.receiver.ack_offset(), 2000);
    assert_eq!(f.blocks(), [(1000, 1500)]);
}

#[test]
fn blocks_come_newest_first_and_within_the_room() {
    // RFC 2018, section 4: the block with the segment that arrived last leads.
    let mut f = Fixture::new(Profile::Rfc);
    for start in [1000, 3000, 5000, 7000, 9000] {
        f.data(start, start + 500);
    }
    assert_eq!(
        f.blocks(),
        [(9000, 9500), (7000, 7500), (5000, 5500), (3000, 3500)]
    );
    f.data(3500, 4000);
    let three: SmallVec<[(u64, u64); 4]> = f.receiver.blocks(3);
    assert_eq!(three.to_vec(), [(3000, 4000), (9000, 9500), (7000, 7500)]);
    // The gaps are closed: of what came twice the first part is reported (RFC
    // 2883, section 4.2).
    f.data(0, 10_000);
    assert_eq!(f.receiver.next(), 10_000);
    assert_eq!(f.blocks(), [(1000, 1500)]);
    assert_eq!(f.blocks(), []);
}

#[test]
fn bytes_come_together_from_any_order() {
    let mut f = Fixture::new(Profile::Rfc);
    let text: Vec<u8> = (0..100).collect();
    let put = |f: &mut Fixture, from: usize, to: usize| {
        let payload = Payload::from(text[from..to].to_vec());
        f.receiver
            .on_data(&f.config, from as u64, payload, false, &mut f.stats)
    };
    put(&mut f, 50, 70);
    put(&mut f, 90, 100);
    put(&mut f, 60, 80);
    assert_eq!(
        f.receiver.peek(55, 20),
        Some(Payload::from(text[55..75].to_vec()))
    );
    assert_eq!(f.receiver.peek(45, 10), None, "not all of it is held");
    assert_eq!(f.receiver.peek(90, 0), None);
    let arrival = put(&mut f, 0, 55);
    assert_eq!(arrival.advanced, 80);
    put(&mut f, 70, 95);
    let mut read = Vec::new();
    loop {
        let (payload, _) = f.receiver.read(&f.config, 1460, 7);
        if payload.is_empty() {
            break;
        }
        read.extend_from_slice(payload.as_bytes().unwrap());
    }
    assert_eq!(read, text);
}

#[test]
fn the_window_never_shrinks_nor_takes_more() {
    let mut f = Fixture::new(Profile::Rfc);
    f.config.receive_buffer_bytes = 10_000;
    f.receiver = Receiver::new(&f.config);
    assert_eq!(f.receiver.offer(&f.config, 1460), 10_000);
    f.data(0, 9000);
    assert_eq!(f.receiver.offer(&f.config, 1460), 1000);
    f.data(9000, 12_000);
    assert_eq!(
        f.receiver.next(),
        10_000,
        "2000 bytes were beyond the window"
    );
    assert_eq!(f.stats.bytes_beyond_window, 2000);
    // A little room is not offered (RFC 9293, section 3.8.6.2.2).
    f.receiver.read(&f.config, 1460, 1000);
    assert_eq!(f.receiver.offer(&f.config, 1460), 0);
    let (_, ack) = f.receiver.read(&f.config, 1460, 1000);
    assert!(ack, "an MSS and more");
    assert_eq!(f.receiver.offer(&f.config, 1460), 2000);
}

/// ACKs of segments of `len` bytes that come every `gap_ms`: milliseconds at
/// which they are sent, with an application that reads at once.
fn acks(config: &Config, len: u32, gap_ms: u64, count: u64) -> Vec<u64> {
    let mut receiver = Receiver::new(config);
    let mut stats = Stats::default();
    let network = Network {
        srtt: Some(Duration::from_millis(100)),
        rto: Duration::from_millis(300),
    };
    let at = |ms| Time::ZERO + Duration::from_millis(ms);
    let mut sent = Vec::new();
    for i in 0..count {
        let now = at(i * gap_ms + 1000);
        while receiver.acks.due <= now {
            let due = receiver.acks.due;
            receiver.acks.on_timer(config, due, network.rto);
            sent.push(due.as_nanos() / 1_000_000 - 1000);
            receiver.acks.sent(config, due, false);
        }
        let offset = i * u64::from(len);
        let payload = Payload::Sized(len);
        let arrival = receiver.on_data(config, offset, payload, false, &mut stats);
        receiver
            .acks
            .on_data(config, now, arrival, false, 1448, network);
        if !receiver.acks.at_once {
            receiver.read(config, 1448, usize::MAX);
        }
        if receiver.acks.at_once {
            sent.push(i * gap_ms);
            receiver.acks.sent(config, now, false);
        }
    }
    sent
}

#[test]
fn delayed_acks_of_each_policy() {
    let rfc = Profile::Rfc.config();
    // Every second full-sized segment.
    assert_eq!(acks(&rfc, 1448, 10, 6), [10, 30, 50]);
    // Small ones: only the delay counts.
    assert_eq!(acks(&rfc, 174, 20, 24), [200, 400]);
    let freebsd = Profile::Freebsd61.config();
    assert_eq!(acks(&freebsd, 174, 20, 6), [20, 60, 100]);
    assert_eq!(acks(&freebsd, 174, 150, 4), [100, 250, 400]);
    let model = Profile::ModelSeed4.config();
    assert_eq!(acks(&model, 174, 20, 3), [0, 20, 40]);
}

#[test]
fn linux_starts_quick_and_acknowledges_drained_short_segments() {
    let mut linux = Profile::Linux2611.config();
    // 16 quick ACKs, then every second full-sized segment.
    let full = acks(&linux, 1448, 10, 24);
    assert_eq!(full[..16], (0..16).map(|i| i * 10).collect::<Vec<_>>());
    assert_eq!(full[16..], [170, 190, 210, 230]);
    // One way, short, and read at once: each segment is acknowledged.
    assert_eq!(acks(&linux, 174, 20, 40).len(), 40);
    // Without that: after more than 536 bytes, or 40 ms.
    linux.ack_on_drain = false;
    let short = acks(&linux, 174, 20, 30);
    assert_eq!(short[16..], [360, 420, 480, 540]);
}
