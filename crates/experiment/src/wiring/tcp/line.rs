//! One of the connections that carry the messages.

use std::collections::VecDeque;

use bytes::{BufMut, BytesMut};
use headway_apps::sip::message::message_length;
use headway_sansio::{Payload, Time};
use headway_tcp::{Connection, Segment};

use crate::attribution::Piece;

/// A connection, what its send buffer has no room for, and what of its stream
/// is not yet divided into messages.
pub(super) struct Line {
    pub(super) connection: Connection,
    /// In the order in which it goes to the stream.
    waiting: VecDeque<Payload>,
    waiting_bytes: u64,
    /// What was read and not divided, where bytes travel.
    stream: Option<BytesMut>,
    frame_bytes: u32,
    /// Segments that left the connection. It is drained after each write and
    /// each input, as a kernel sends at once what it may.
    pub(super) output: VecDeque<Box<Segment>>,
    pub(super) connected: bool,
}

impl Line {
    pub(super) fn new(connection: Connection, frame_bytes: u32, bytes_travel: bool) -> Self {
        Self {
            connection,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            stream: bytes_travel.then(BytesMut::new),
            frame_bytes,
            output: VecDeque::new(),
            connected: false,
        }
    }

    /// Bytes in the send buffer, and behind it.
    pub(super) fn queued_bytes(&self) -> u64 {
        self.connection.buffered_bytes() + self.waiting_bytes
    }

    /// Bytes that were never sent.
    pub(super) fn unsent_bytes(&self) -> u64 {
        self.connection.unsent_bytes() + self.waiting_bytes
    }

    /// Bytes for which the send buffer has room.
    pub(super) fn room(&self) -> u64 {
        let size = self.connection.config().send_buffer_bytes;
        size.saturating_sub(self.queued_bytes())
    }

    /// Writes a piece of `bytes`, its framing included; what has no room waits.
    pub(super) fn write(&mut self, now: Time, payload: Payload, bytes: u32) {
        let framed = match payload {
            Payload::Sized(_) => Payload::Sized(bytes),
            Payload::Bytes(content) if self.frame_bytes == 0 => Payload::Bytes(content),
            Payload::Bytes(content) => {
                let mut framed = BytesMut::with_capacity(bytes as usize);
                framed.put_uint(content.len() as u64, self.frame_bytes as usize);
                framed.extend_from_slice(&content);
                Payload::Bytes(framed.freeze())
            }
        };
        if self.waiting.is_empty() && self.room() >= framed.len() as u64 {
            self.connection.write(now, framed);
            self.drain();
            return;
        }
        self.waiting_bytes += framed.len() as u64;
        self.waiting.push_back(framed);
        self.feed(now);
    }

    /// Moves what waits into the send buffer, as far as there is room, as a
    /// writer does who waits on the socket.
    pub(super) fn feed(&mut self, now: Time) {
        while let Some(first) = self.waiting.front_mut() {
            let buffer = self.connection.config().send_buffer_bytes;
            let room = buffer.saturating_sub(self.connection.buffered_bytes());
            let part = (first.len() as u64).min(room);
            if part == 0 {
                return;
            }
            let part = if part == first.len() as u64 {
                self.waiting.pop_front().unwrap_or(Payload::Sized(0))
            } else {
                first.split_to(part as usize)
            };
            self.waiting_bytes -= part.len() as u64;
            self.connection.write(now, part);
            self.drain();
        }
    }

    /// Takes what the connection has to send.
    pub(super) fn drain(&mut self) {
        while let Some(segment) = self.connection.poll_transmit() {
            self.output.push_back(Box::new(segment));
        }
    }

    /// Reads all that is there.
    pub(super) fn read(&mut self, now: Time) {
        while self.connection.readable_bytes() > 0 {
            let part = self.connection.read(now, usize::MAX);
            if let (Some(stream), Payload::Bytes(bytes)) = (&mut self.stream, part) {
                stream.extend_from_slice(&bytes);
            }
        }
    }

    /// Divides the content of the next message off the stream.
    pub(super) fn content(&mut self, piece: &Piece) -> Payload {
        let Some(stream) = &mut self.stream else {
            return Payload::Sized(piece.size_bytes);
        };
        let frame = self.frame_bytes as usize;
        let len = if frame == 0 {
            // The trace knows the length where the text should not tell it.
            let told = message_length(stream).ok().flatten();
            told.unwrap_or(piece.size_bytes as usize)
        } else {
            let header = stream.split_to(frame.min(stream.len()));
            header.iter().fold(0, |n, byte| n << 8 | usize::from(*byte))
        };
        Payload::Bytes(stream.split_to(len.min(stream.len())).freeze())
    }

    /// Bytes held beyond gaps.
    pub(super) fn held_bytes(&self) -> u64 {
        let ranges = self.connection.out_of_order_ranges();
        ranges.map(|range| range.end - range.start).sum()
    }
}
