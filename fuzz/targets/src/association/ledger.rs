//! What one side hands over, held against what the other hears.

use std::collections::BTreeMap;

use bytes::Bytes;
use headway_sansio::Payload;
use headway_sctp::{Message, Mid, Part, Received, Reliability};

/// Whatever follows from nothing: content is cut out of it.
static NOISE: [u8; 8192] = noise();

const fn noise() -> [u8; 8192] {
    let mut out = [0; 8192];
    let mut state: u32 = 1;
    let mut at = 0;
    while at < out.len() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        out[at] = (state >> 24) as u8;
        at += 1;
    }
    out
}

/// The content of the message with this number.
fn content(number: u32, bytes: u32) -> &'static [u8] {
    let start = (number as usize * 37) % 4096;
    &NOISE[start..start + bytes as usize]
}

/// One message.
struct Entry {
    stream: u16,
    unordered: bool,
    bytes: u32,
    heard: bool,
    /// Given up, and whether some of it had been sent.
    abandoned: Option<bool>,
}

/// A message that comes in parts.
struct Open {
    number: u32,
    next: u64,
}

/// The messages of one side, numbered as they were handed over; a message carries its
/// number as payload protocol identifier.
#[derive(Default)]
pub(super) struct Ledger {
    entries: Vec<Entry>,
    /// For each stream the ordered message that was begun last.
    last: BTreeMap<u16, u32>,
    /// For each stream the number that its next ordered message bears.
    next: BTreeMap<u16, u32>,
    open: BTreeMap<(u16, u32, bool), Open>,
    /// Messages were given up that bore numbers.
    skips: bool,
}

impl Ledger {
    /// The next message, before it is handed over.
    pub(super) fn message(
        &self,
        stream: u16,
        unordered: bool,
        bytes: u32,
        sized: bool,
        reliability: Reliability,
    ) -> Message {
        let number = self.entries.len() as u32;
        Message {
            stream,
            ppid: number,
            unordered,
            reliability,
            payload: if sized {
                Payload::Sized(bytes)
            } else {
                Payload::Bytes(Bytes::from_static(content(number, bytes)))
            },
            ..Message::default()
        }
    }

    /// It was taken.
    pub(super) fn accepted(&mut self, message: &Message) {
        self.entries.push(Entry {
            stream: message.stream,
            unordered: message.unordered,
            bytes: message.payload.len() as u32,
            heard: false,
            abandoned: None,
        });
    }

    pub(super) fn abandoned(&mut self, number: u64, sent: bool) {
        let entry = &mut self.entries[number as usize];
        assert!(entry.abandoned.is_none(), "message {number} given up twice");
        assert!(sent || !entry.heard, "{number} was never sent, and arrived");
        entry.abandoned = Some(sent);
        self.skips |= sent;
    }

    /// All was heard, or given up.
    pub(super) fn is_complete(&self) -> bool {
        let settled = |entry: &Entry| entry.heard || entry.abandoned.is_some();
        self.entries.iter().all(settled)
    }

    /// The messages that are missing, for a failure to name.
    pub(super) fn missing(&self) -> Vec<usize> {
        let waits = |entry: &Entry| !entry.heard && entry.abandoned.is_none();
        let all = self.entries.iter().enumerate();
        all.filter(|(_, entry)| waits(entry))
            .map(|(number, _)| number)
            .collect()
    }

    /// Streams begin anew with message zero; none named: all.
    pub(super) fn restart(&mut self, streams: &[u16]) {
        self.next
            .retain(|stream, _| !streams.is_empty() && !streams.contains(stream));
    }

    /// A message has begun to arrive, as this one in its stream.
    fn begin(&mut self, number: u32, stream: u16, unordered: bool, mid: Mid) {
        let entry = &self.entries[number as usize];
        assert!(!entry.heard, "message {number} came twice");
        assert_eq!((entry.stream, entry.unordered), (stream, unordered));
        assert_ne!(entry.abandoned, Some(false), "{number} was never sent");
        if unordered {
            return;
        }
        if let Some(before) = self.last.insert(stream, number) {
            assert!(before < number, "{number} after {before} in {stream}");
        }
        let next = self.next.entry(stream).or_default();
        assert!(
            mid.0 == *next || self.skips && mid.0 > *next,
            "message {number} is {mid:?} of stream {stream}, not {next}"
        );
        *next = mid.0 + 1;
    }

    /// A whole message arrived.
    pub(super) fn hear(&mut self, message: &Received) {
        let number = message.ppid;
        self.begin(number, message.stream, message.unordered, message.mid);
        let entry = &mut self.entries[number as usize];
        assert_eq!(message.payload.len(), entry.bytes as usize, "torn");
        if let Some(bytes) = message.payload.as_bytes() {
            assert_eq!(bytes, content(number, entry.bytes), "torn");
        }
        entry.heard = true;
    }

    /// A part of a message arrived.
    pub(super) fn hear_part(&mut self, part: &Part) {
        let key = (part.stream, part.mid.0, part.unordered);
        let mut open = match self.open.remove(&key) {
            Some(open) => open,
            None => {
                self.begin(part.ppid, part.stream, part.unordered, part.mid);
                Open {
                    number: part.ppid,
                    next: 0,
                }
            }
        };
        assert_eq!(part.offset_bytes, open.next, "parts out of order");
        let entry = &mut self.entries[open.number as usize];
        open.next += part.payload.len() as u64;
        let whole = open.next == u64::from(entry.bytes);
        assert!(open.next <= u64::from(entry.bytes) && part.end == whole);
        if let Some(bytes) = part.payload.as_bytes() {
            let whole = content(open.number, entry.bytes);
            let from = part.offset_bytes as usize;
            assert_eq!(bytes, &whole[from..from + bytes.len()], "torn");
        }
        entry.heard |= part.end;
        if !part.end {
            self.open.insert(key, open);
        }
    }

    /// The rest of a message will not come.
    pub(super) fn cut_short(&mut self, stream: u16, mid: Mid, unordered: bool) {
        let open = self.open.remove(&(stream, mid.0, unordered));
        let number = open.expect("some of it has come").number;
        let entry = &self.entries[number as usize];
        assert_eq!(entry.abandoned, Some(true), "{number} was not given up");
    }
}
