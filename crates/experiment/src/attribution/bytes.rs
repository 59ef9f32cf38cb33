//! Taking delay apart on transports whose unit is a byte in a stream (TCP).
//!
//! A message is one piece of a stream, or several pieces, in one stream or in
//! several: that is how it is split and striped over connections. A piece is a
//! range of offsets. Segments cut a stream wherever they like and cut it anew
//! when they are sent again, so what is known of a message is counted in bytes:
//! how many of its own have not been sent, how many have not arrived.
//!
//! What is kept is bounded by what is under way: a piece goes when it has been
//! read, a message when it and all before it are with the application.

mod ranges;

use std::collections::VecDeque;

use headway_sansio::Time;

use super::{MessageRow, Moments, Totals};
use ranges::Ranges;

/// Where a piece of a message lies.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    end: u64,
    /// Number of its message.
    message: u64,
    /// The receiver took it before the bytes below it.
    taken: bool,
}

/// One byte stream: what was written to it and not yet read.
#[derive(Debug, Default)]
struct Stream {
    spans: VecDeque<Span>,
    /// Where the next piece begins.
    written: u64,
    /// Everything below was sent at least once.
    sent_to: u64,
    /// Everything below has arrived.
    arrived_to: u64,
    /// What has arrived beyond that.
    beyond: Ranges,
    /// Sent, and every copy lost so far.
    gone: Ranges,
    /// What was sent last.
    last: (u64, u64),
    /// What of that was never sent before, or gone.
    needed: Vec<(u64, u64)>,
}

/// One message on its way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    id: u64,
    size_bytes: u32,
    handed_over: Time,
    /// Pieces that the receiver has not taken.
    pieces_left: u32,
    /// Bytes never sent.
    unsent: u64,
    /// Bytes that have not arrived.
    missing: u64,
    last_byte_sent: Time,
    would_arrive: Option<Time>,
    all_arrived: Time,
    transmissions: u32,
    lost_first: bool,
    done: bool,
}

/// A piece that the receiver took out of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Number of its message, in the order of handing over.
    pub message: u64,
    /// The application's name for the message.
    pub id: u64,
    /// Size of the whole message in bytes, as the application knows it.
    pub size_bytes: u32,
    /// Bytes of this piece in the stream, framing included.
    pub stream_bytes: u64,
    /// It was the last one that was missing.
    pub whole: bool,
}

/// The trace of one direction of one or more byte streams that carry messages.
#[derive(Debug)]
pub struct ByteTrace {
    totals: Totals,
    rows: Option<Vec<MessageRow>>,
    streams: Vec<Stream>,
    /// Messages from number `first_message` on.
    messages: VecDeque<Pending>,
    first_message: u64,
}

impl ByteTrace {
    /// The trace of so many streams. It keeps a row for each message where
    /// `keep_rows` says so.
    #[must_use]
    pub fn new(streams: usize, keep_rows: bool) -> Self {
        let mut made = Vec::new();
        made.resize_with(streams, Stream::default);
        Self {
            totals: Totals::default(),
            rows: keep_rows.then(Vec::new),
            streams: made,
            messages: VecDeque::new(),
            first_message: 0,
        }
    }

    /// What the messages add up to so far. Their units are segments.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The rows, where they were kept, in the order of delivery.
    #[must_use]
    pub fn into_rows(self) -> Vec<MessageRow> {
        self.rows.unwrap_or_default()
    }

    /// Messages handed over and not yet delivered.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.totals.handed_over - self.totals.delivered
    }

    /// The application handed over a message that takes `stream_bytes` in
    /// `pieces` pieces. Returns its number.
    pub fn handed_over(
        &mut self,
        now: Time,
        id: u64,
        size_bytes: u32,
        pieces: u32,
        stream_bytes: u64,
    ) -> u64 {
        self.totals.handed_over += 1;
        self.totals.handed_over_bytes += u64::from(size_bytes);
        self.messages.push_back(Pending {
            id,
            size_bytes,
            handed_over: now,
            pieces_left: pieces,
            unsent: stream_bytes,
            missing: stream_bytes,
            last_byte_sent: now,
            would_arrive: None,
            all_arrived: now,
            transmissions: 0,
            lost_first: false,
            done: false,
        });
        self.first_message + self.messages.len() as u64 - 1
    }

    /// The next piece of a message was put at the end of a stream.
    pub fn appended(&mut self, message: u64, stream: usize, bytes: u64) {
        let stream = &mut self.streams[stream];
        let start = stream.written;
        stream.written += bytes;
        stream.spans.push_back(Span {
            start,
            end: stream.written,
            message,
            taken: false,
        });
    }

    /// A segment with the bytes from `offset` on was put on the wire.
    pub fn sent(&mut self, now: Time, stream: usize, offset: u64, len: u64) {
        let line = &mut self.streams[stream];
        let end = offset + len;
        line.last = (offset, end);
        if end <= line.sent_to {
            self.sent_again(stream, offset, end);
            return;
        }
        let new_from = offset.max(line.sent_to);
        line.needed.clear();
        line.needed.push((new_from, end));
        line.sent_to = end;
        self.totals.first_transmissions += 1;
        let messages = (&mut self.messages, self.first_message);
        each(&line.spans, messages, new_from, end, |message, bytes| {
            message.transmissions += 1;
            message.unsent -= bytes;
            if message.unsent == 0 {
                message.last_byte_sent = now;
            }
        });
    }

    fn sent_again(&mut self, stream: usize, offset: u64, end: u64) {
        self.totals.retransmissions += 1;
        let line = &mut self.streams[stream];
        line.needed.clear();
        line.needed.extend(line.gone.within(offset, end));
        line.gone.remove(offset, end);
        self.totals.needless_retransmissions += u64::from(line.needed.is_empty());
        let messages = (&mut self.messages, self.first_message);
        each(&line.spans, messages, offset, end, |message, _| {
            message.transmissions += 1;
        });
    }

    /// A segment was lost. `again`: its bytes had been sent before.
    ///
    /// Where this is known before another segment is sent, as a single link
    /// knows it, [`Totals::needless_retransmissions`] is exact; else bytes that
    /// other copies still carry may count as gone.
    pub fn lost(&mut self, stream: usize, offset: u64, len: u64, again: bool) {
        self.totals.lost_chunks += 1;
        let line = &mut self.streams[stream];
        let end = offset + len;
        if line.last == (offset, end) {
            for (from, to) in line.needed.drain(..) {
                line.gone.insert(from, to, |_, _| {});
            }
        } else {
            line.gone
                .insert(offset.max(line.arrived_to), end, |_, _| {});
        }
        if !again {
            let messages = (&mut self.messages, self.first_message);
            each(&line.spans, messages, offset, end, |message, _| {
                message.lost_first = true;
            });
        }
    }

    /// That segment arrives at `at`, or would have, had it not been lost. Only
    /// first transmissions count.
    pub fn would_arrive(&mut self, at: Time, stream: usize, offset: u64, len: u64, again: bool) {
        if again {
            return;
        }
        let messages = (&mut self.messages, self.first_message);
        let spans = &self.streams[stream].spans;
        each(spans, messages, offset, offset + len, |message, _| {
            message.would_arrive = message.would_arrive.max(Some(at));
        });
    }

    /// A segment reached the receiver.
    pub fn arrived(&mut self, now: Time, stream: usize, offset: u64, len: u64) {
        let line = &mut self.streams[stream];
        let end = offset + len;
        if end <= line.arrived_to {
            return;
        }
        let from = offset.max(line.arrived_to);
        line.gone.remove(from, end);
        let (spans, first) = (&line.spans, self.first_message);
        let messages = &mut self.messages;
        let mut fill = |from: u64, to: u64| {
            each(
                spans,
                (&mut *messages, first),
                from,
                to,
                |message, bytes| {
                    message.missing -= bytes;
                    if message.missing == 0 {
                        message.all_arrived = now;
                    }
                },
            );
        };
        if from == line.arrived_to && line.beyond.is_empty() {
            fill(from, end);
            line.arrived_to = end;
            return;
        }
        line.beyond.insert(from, end, fill);
        if let Some(reached) = line.beyond.take_first_from(line.arrived_to) {
            line.arrived_to = reached;
        }
    }

    /// Takes the next piece that ends at or below `read_to`, up to which the
    /// receiver has read the stream. `None` where there is none.
    pub fn take_read(&mut self, stream: usize, read_to: u64) -> Option<Piece> {
        loop {
            let spans = &mut self.streams[stream].spans;
            let span = *spans.front().filter(|span| span.end <= read_to)?;
            spans.pop_front();
            if !span.taken {
                return self.taken(span);
            }
        }
    }

    /// Takes a piece that lies within `from..to`, which has arrived beyond a
    /// gap. `None` where there is none that was not taken.
    pub fn take_beyond(&mut self, stream: usize, from: u64, to: u64) -> Option<Piece> {
        let spans = &mut self.streams[stream].spans;
        let mut index = spans.partition_point(|span| span.start < from);
        while let Some(span) = spans.get_mut(index)
            && span.end <= to
        {
            if !span.taken {
                span.taken = true;
                let span = *span;
                return self.taken(span);
            }
            index += 1;
        }
        None
    }

    fn taken(&mut self, span: Span) -> Option<Piece> {
        let index = span.message.checked_sub(self.first_message)?;
        let message = self.messages.get_mut(index as usize)?;
        message.pieces_left -= 1;
        Some(Piece {
            message: span.message,
            id: message.id,
            size_bytes: message.size_bytes,
            stream_bytes: span.end - span.start,
            whole: message.pieces_left == 0,
        })
    }

    /// The application got the message of this number. Returns its row, or
    /// `None` where it had got it before.
    pub fn delivered(&mut self, now: Time, message: u64) -> Option<MessageRow> {
        let index = usize::try_from(message.checked_sub(self.first_message)?).ok()?;
        let pending = self.messages.get_mut(index).filter(|m| !m.done)?;
        pending.done = true;
        let parts = Moments {
            handed_over: pending.handed_over,
            last_byte_sent: pending.last_byte_sent,
            would_arrive: pending.would_arrive.unwrap_or(pending.all_arrived),
            all_arrived: pending.all_arrived,
            delivered: now,
        }
        .parts();
        let row = MessageRow {
            id: pending.id,
            size_bytes: pending.size_bytes,
            handed_over: pending.handed_over,
            delay: now.since(pending.handed_over),
            parts,
            transmissions: pending.transmissions,
            lost_first: pending.lost_first,
        };
        self.totals.count_delivered(&parts);
        if let Some(rows) = &mut self.rows {
            rows.push(row);
        }
        while self.messages.front().is_some_and(|m| m.done) {
            self.messages.pop_front();
            self.first_message += 1;
        }
        Some(row)
    }
}

/// Calls `act` for each message with a piece in `from..to`, with the number of
/// its bytes there.
#[inline]
fn each(
    spans: &VecDeque<Span>,
    (messages, first_message): (&mut VecDeque<Pending>, u64),
    from: u64,
    to: u64,
    mut act: impl FnMut(&mut Pending, u64),
) {
    // What is new lies in the last span, what arrives in order in the first.
    let mut index = if spans
        .back()
        .is_some_and(|span| span.start <= from && from < span.end)
    {
        spans.len() - 1
    } else if spans.front().is_some_and(|span| span.end > from) {
        0
    } else {
        spans.partition_point(|span| span.end <= from)
    };
    while let Some(span) = spans.get(index)
        && span.start < to
    {
        // A piece taken beyond a gap may outlive its message.
        if let Some(number) = span.message.checked_sub(first_message)
            && let Some(message) = messages.get_mut(number as usize)
        {
            act(message, span.end.min(to) - span.start.max(from));
        }
        index += 1;
    }
}

#[cfg(test)]
mod tests;
