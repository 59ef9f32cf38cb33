//! Messages over TCP: over one connection or several, whole or in pieces.

mod line;
mod schedule;
mod trace;

use std::collections::{BTreeMap, VecDeque};

use headway_apps::sip::Content;
use headway_apps::{Incoming, MessageId, Outgoing, Peer};
use headway_path::Wire;
use headway_sansio::{Duration, Payload, Seed, Time};
use headway_tcp::{Checksum, Connection, Event, Segment};

use super::carrier::{Carrier, Counters, News, StreamFigures};
use super::gauge::Gauge;
use super::watch::{SharedTraces, Traces};
use crate::attribution::{ByteTrace, Piece};
use crate::spec::{RunSpec, SpecError, WhenFull};
use line::Line;
use schedule::Chooser;

/// Header of IPv4 without options (RFC 791, section 3.1).
pub(super) const IP_HEADER_BYTES: u32 = 20;
/// SIP's port (RFC 3261, section 19.1.2) at the answering end.
const ANSWERER_PORT: u16 = 5060;
/// The first of the caller's ports, one for each connection.
const CALLER_PORTS: u16 = 40_000;

fn line_of(caller_port: u16) -> usize {
    usize::from(caller_port - CALLER_PORTS)
}

/// One end of a message transport over TCP.
pub(super) struct TcpCarrier {
    lines: Vec<Line>,
    chooser: Chooser,
    /// Pieces of each message, the time between them, and their framing.
    pieces: u32,
    piece_gap: Duration,
    frame_bytes: u32,
    when_full: WhenFull,
    drop_above_bytes: u64,
    out_of_order: bool,
    resequence: bool,
    /// In which form segments arrive, and whether messages are more than their
    /// length. Through the codec a length comes out as so many zeros, which is
    /// made a length again.
    wire: Wire,
    content: Content,
    /// Which direction of the traces this end sends in.
    side: usize,
    traces: SharedTraces<ByteTrace>,
    /// Pieces that leave later: when, message and bytes with framing.
    paced: BTreeMap<(Time, u64, u32), u32>,
    news: VecDeque<News>,
    /// Number of the next message to be delivered in order, and those that are
    /// whole before their turn: name, size and content.
    expected: u64,
    whole: BTreeMap<u64, Incoming>,
    whole_bytes: u64,
    refused: u64,
    dropped: u64,
    cwnd: Gauge,
    held: Gauge,
    started: bool,
}

/// The two ends of a transport that starts at `now`: the caller's, which
/// connects, and the answerer's; and the traces that they share.
pub(super) fn ends(
    spec: &RunSpec,
    content: Content,
    seed: Seed,
    now: Time,
) -> Result<([TcpCarrier; 2], SharedTraces<ByteTrace>), SpecError> {
    let (kind, transport) = spec
        .transport
        .tcp()
        .ok_or_else(|| SpecError::new("transport.kind", "is not one over TCP"))?;
    let config = transport.config()?;
    let connections = transport.connections(kind);
    let trace = || ByteTrace::new(usize::from(connections), spec.collect.messages);
    let traces = Traces::shared([trace(), trace()]);
    let frame_bytes = transport.frame(spec.workload.is_sip());
    let bytes_travel = content == Content::Full;
    // An end decodes what the other direction encoded.
    let [forward, reverse] = spec.path.wires();
    let ends = [("caller", reverse), ("answerer", forward)].map(|(name, wire)| {
        let side = usize::from(name != "caller");
        let lines = (0..connections).map(|i| {
            let mut random = seed.derive(name).stream(&format!("connection.{i}"));
            let connection = if side == 0 {
                let port = CALLER_PORTS + i;
                Connection::connect(now, config.clone(), &mut random, port, ANSWERER_PORT)
            } else {
                Connection::listen(now, config.clone(), &mut random, ANSWERER_PORT)
            };
            let mut line = Line::new(connection, frame_bytes, bytes_travel);
            line.drain();
            line
        });
        TcpCarrier {
            lines: lines.collect(),
            chooser: Chooser::new(transport.schedule),
            pieces: u32::from(transport.pieces(kind)),
            piece_gap: Duration::from_nanos(transport.piece_gap_ns),
            frame_bytes,
            when_full: transport.when_full,
            drop_above_bytes: transport.drop_above_bytes.unwrap_or(u64::MAX),
            out_of_order: transport.out_of_order,
            resequence: transport.resequence && !transport.out_of_order,
            wire,
            content,
            side,
            traces: SharedTraces::clone(&traces),
            paced: BTreeMap::new(),
            news: VecDeque::new(),
            expected: 0,
            whole: BTreeMap::new(),
            whole_bytes: 0,
            refused: 0,
            dropped: 0,
            cwnd: Gauge::default(),
            held: Gauge::default(),
            started: false,
        }
    });
    Ok((ends, traces))
}

impl TcpCarrier {
    /// Whether a message of so many bytes in the streams is sent at all.
    fn admits(&mut self, stream_bytes: u64) -> bool {
        if self.drop_above_bytes < u64::MAX {
            let waiting: u64 = self.lines.iter().map(Line::unsent_bytes).sum();
            if waiting > self.drop_above_bytes {
                self.dropped += 1;
                return false;
            }
        }
        if self.when_full == WhenFull::Drop {
            let room: u64 = self.lines.iter().map(Line::room).sum();
            if room < stream_bytes {
                self.refused += 1;
                return false;
            }
        }
        true
    }

    /// Puts a piece into the stream of one of the connections.
    fn append(&mut self, now: Time, message: u64, payload: Payload, bytes: u32) {
        let line = self.chooser.choose(&self.lines);
        self.traces.borrow_mut().directions[self.side].appended(message, line, u64::from(bytes));
        self.lines[line].write(now, payload, bytes);
    }

    /// What a connection has to tell after input or a time-out.
    fn hear(&mut self, now: Time, index: usize) {
        self.lines[index].drain();
        self.lines[index].feed(now);
        while let Some(event) = self.lines[index].connection.poll_event() {
            match event {
                Event::Connected => {
                    self.lines[index].connected = true;
                    if self.lines.iter().all(|line| line.connected) {
                        self.started = true;
                        self.news.push_back(News::Ready);
                    }
                }
                Event::Readable => self.read(now, index),
                Event::OutOfOrder if self.out_of_order => self.peek(now, index),
                Event::Reset | Event::TimedOut => self.news.push_back(News::Dead),
                _ => {}
            }
        }
        self.lines[index].drain();
    }

    fn read(&mut self, now: Time, index: usize) {
        self.lines[index].read(now);
        let read_to = self.lines[index].connection.read_offset();
        loop {
            let mut traces = self.traces.borrow_mut();
            let piece = traces.directions[1 - self.side].take_read(index, read_to);
            drop(traces);
            let Some(piece) = piece else { break };
            self.take(now, index, &piece);
        }
    }

    /// Takes what lies whole beyond a gap.
    fn peek(&mut self, now: Time, index: usize) {
        let ranges: Vec<_> = self.lines[index].connection.out_of_order_ranges().collect();
        for range in ranges {
            loop {
                let mut traces = self.traces.borrow_mut();
                let trace = &mut traces.directions[1 - self.side];
                let piece = trace.take_beyond(index, range.start, range.end);
                drop(traces);
                let Some(piece) = piece else { break };
                self.take(now, index, &piece);
            }
        }
    }

    fn take(&mut self, now: Time, index: usize, piece: &Piece) {
        let payload = self.lines[index].content(piece);
        if !piece.whole {
            return;
        }
        let message = Incoming {
            id: Some(MessageId(piece.id)),
            from: Peer::default(),
            payload,
        };
        if !self.resequence {
            self.deliver(now, piece.message, message);
            return;
        }
        if piece.message != self.expected {
            self.whole_bytes += message.payload.len() as u64;
            self.whole.insert(piece.message, message);
            return;
        }
        self.deliver(now, piece.message, message);
        self.expected += 1;
        while let Some(message) = self.whole.remove(&self.expected) {
            self.whole_bytes -= message.payload.len() as u64;
            self.deliver(now, self.expected, message);
            self.expected += 1;
        }
    }

    fn deliver(&mut self, now: Time, number: u64, message: Incoming) {
        let mut traces = self.traces.borrow_mut();
        if let Some(row) = traces.directions[1 - self.side].delivered(now, number) {
            traces.note(&row);
        }
        self.news.push_back(News::Message(message));
    }
}

impl Carrier for TcpCarrier {
    type Body = Segment;
    type Trace = ByteTrace;

    fn send(&mut self, now: Time, message: Outgoing) {
        let size = message.payload.len() as u32;
        let pieces = self.pieces.min(size).max(1);
        let stream_bytes = u64::from(size) + u64::from(pieces * self.frame_bytes);
        if !self.admits(stream_bytes) {
            return;
        }
        let number = self.traces.borrow_mut().directions[self.side].handed_over(
            now,
            message.id.0,
            size,
            pieces,
            stream_bytes,
        );
        if pieces == 1 {
            self.append(now, number, message.payload, stream_bytes as u32);
            return;
        }
        for piece in 0..pieces {
            // As even as whole bytes allow.
            let part = size / pieces + u32::from(piece < size % pieces) + self.frame_bytes;
            if piece == 0 || self.piece_gap.is_zero() {
                self.append(now, number, Payload::Sized(part), part);
            } else {
                let at = now + self.piece_gap * u64::from(piece);
                self.paced.insert((at, number, piece), part);
            }
        }
    }

    fn handle_input(&mut self, now: Time, mut segment: Box<Segment>) {
        if self.wire == Wire::Encoded {
            let bytes = segment.encode(Checksum::None);
            *segment =
                Segment::decode(&bytes, Checksum::None).expect("this codec reads what it wrote");
            if self.content == Content::Size {
                segment.payload = Payload::Sized(segment.payload.len() as u32);
            }
        }
        let index = line_of(segment.source_port.max(segment.destination_port));
        let Some(line) = self.lines.get_mut(index) else {
            return;
        };
        line.connection.handle_input(now, &segment);
        self.hear(now, index);
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some((&(at, number, piece), &bytes)) = self.paced.first_key_value()
            && at <= now
        {
            self.paced.remove(&(at, number, piece));
            self.append(now, number, Payload::Sized(bytes), bytes);
        }
        for index in 0..self.lines.len() {
            let connection = &mut self.lines[index].connection;
            if connection.poll_timeout().is_some_and(|at| at <= now) {
                connection.handle_timeout(now);
                self.hear(now, index);
            }
        }
    }

    fn poll_news(&mut self, _: Time) -> Option<News> {
        self.news.pop_front()
    }

    fn poll_transmit(&mut self, _: Time) -> Option<(Box<Segment>, u32)> {
        let segment = self
            .lines
            .iter_mut()
            .find_map(|line| line.output.pop_front())?;
        let size = segment.size_bytes() + IP_HEADER_BYTES;
        Some((segment, size))
    }

    fn poll_timeout(&self) -> Option<Time> {
        let never = Time::FAR_FUTURE;
        let mut first = match self.paced.first_key_value() {
            Some(((at, ..), _)) => *at,
            None => never,
        };
        for line in &self.lines {
            first = first.min(line.connection.poll_timeout().unwrap_or(never));
        }
        (first != never).then_some(first)
    }

    fn observe(&mut self, now: Time) {
        if !self.started {
            return;
        }
        let cwnd = self.lines.iter().map(|line| line.connection.cwnd_bytes());
        self.cwnd.set(now, cwnd.sum());
        let held: u64 = self.lines.iter().map(Line::held_bytes).sum();
        self.held.set(now, held + self.whole_bytes);
    }

    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        for line in &self.lines {
            let stats = line.connection.stats();
            // Tail loss probes are there to spare a time-out.
            counters.fast_retransmissions += stats.retransmissions - stats.timed_retransmissions;
            counters.timed_retransmissions += stats.timed_retransmissions;
            counters.duplicates += stats.duplicate_segments;
            counters.timeouts += stats.timeouts;
        }
        counters
    }

    fn stream_figures(&self) -> StreamFigures {
        let recoveries = self
            .lines
            .iter()
            .map(|l| l.connection.stats().fast_recoveries);
        StreamFigures {
            refused: self.refused,
            dropped: self.dropped,
            fast_recoveries: recoveries.sum(),
            mss_bytes: self.lines[0].connection.mss_bytes(),
        }
    }

    fn cwnd(&self) -> &Gauge {
        &self.cwnd
    }

    fn held(&self) -> &Gauge {
        &self.held
    }
}
