//! Messages over one SCTP association.

use std::collections::VecDeque;
use std::sync::Arc;

use headway_apps::sip::Content;
use headway_apps::{Delivery, Outgoing};
use headway_path::Wire;
use headway_sansio::{Seed, Time};
use headway_sctp::{
    Association, Chunk, Chunks, Config, DataChunk, Event, LostReason, Message, Packet, SendError,
};

use super::carrier::{Carrier, Counters, News};
use super::chunks::PORT;
use super::gauge::Gauge;
use super::watch::{SharedTraces, Trace, Traces};
use crate::attribution::{ChunkTrace, Lane, MessageRow, SeenChunk, Totals};
use crate::spec::{RunSpec, SctpTransport, SpecError};

/// SIP's payload protocol identifier (RFC 4168, section 5.1).
const PPID: u32 = 0;

/// An end keeps so many packets that arrived for those that it sends.
const MOST_SPARE: usize = 64;

/// One end of an association.
pub(super) struct SctpCarrier {
    association: Association,
    delivery: Delivery,
    wire: Wire,
    /// Whether messages are more than their length. Through the codec a length
    /// comes out as so many zeros, which is made a length again.
    content: Content,
    /// Which direction of the traces this end sends in.
    side: usize,
    traces: SharedTraces<ChunkTrace>,
    /// Messages that the send buffer had no room for, in the order of handing over.
    backlog: VecDeque<Message>,
    /// Packets that arrived, to be filled anew.
    #[expect(
        clippy::vec_box,
        reason = "the boxes are kept, in which packets travel"
    )]
    spare: Vec<Box<Packet>>,
    cwnd: Gauge,
    held: Gauge,
    ip_header_bytes: u32,
    started: bool,
    /// The connecting end's: how to dial again.
    redial: Option<Redial>,
}

/// Handshakes follow one another until one succeeds: a burst of losses at the
/// very start is no reason to run without any call, and a SIP proxy tries again.
struct Redial {
    config: Arc<Config>,
    seed: Seed,
    attempts: u32,
}

impl Redial {
    fn dial(&mut self, now: Time) -> Association {
        let random = self.seed.stream(&format!("association.{}", self.attempts));
        self.attempts += 1;
        Association::connect(now, Arc::clone(&self.config), random, PORT, PORT)
    }
}

/// The two ends of an association: the caller's, which connects, and the
/// answerer's; and the traces that they share. They begin at `now` and draw from
/// streams of `seed`.
pub(super) fn ends(
    spec: &RunSpec,
    transport: &SctpTransport,
    content: Content,
    seed: Seed,
    now: Time,
) -> Result<([SctpCarrier; 2], SharedTraces<ChunkTrace>), SpecError> {
    let config = Arc::new(transport.config()?);
    let rows = spec.collect.messages;
    let traces = Traces::shared([ChunkTrace::new(rows), ChunkTrace::new(rows)]);
    let mut redial = Redial {
        config: Arc::clone(&config),
        seed: seed.derive("caller"),
        attempts: 0,
    };
    let connecting = redial.dial(now);
    let listening = Association::listen(
        Arc::clone(&config),
        seed.stream("answerer.association"),
        PORT,
    );
    // An end decodes what the other direction encoded.
    let [forward, reverse] = spec.path.wires();
    let wires = [reverse, forward];
    let end = |side: usize, association| {
        let traces = SharedTraces::clone(&traces);
        SctpCarrier::new(
            association,
            &config,
            transport.delivery(),
            wires[side],
            content,
            side,
            traces,
        )
    };
    let mut caller = end(0, connecting);
    caller.redial = Some(redial);
    Ok(([caller, end(1, listening)], traces))
}

impl SctpCarrier {
    fn new(
        association: Association,
        config: &Config,
        delivery: Delivery,
        wire: Wire,
        content: Content,
        side: usize,
        traces: SharedTraces<ChunkTrace>,
    ) -> Self {
        Self {
            association,
            delivery,
            wire,
            content,
            side,
            traces,
            backlog: VecDeque::new(),
            spare: Vec::new(),
            cwnd: Gauge::default(),
            held: Gauge::default(),
            ip_header_bytes: config.ip_header_bytes,
            started: false,
            redial: None,
        }
    }

    /// Moves what waits into the send buffer, as far as there is room.
    #[inline]
    fn feed(&mut self, now: Time) {
        if !self.backlog.is_empty() {
            self.feed_waiting(now);
        }
    }

    #[inline(never)]
    fn feed_waiting(&mut self, now: Time) {
        while let Some(message) = self.backlog.front() {
            match self.association.send(now, message.clone()) {
                Ok(_) => drop(self.backlog.pop_front()),
                Err(SendError::BufferFull) => return,
                // Sizes are checked with the spec; a closing association takes nothing more.
                Err(_) => return self.backlog.clear(),
            }
        }
    }

    /// The next packet and its size as an IP datagram.
    #[inline(never)]
    fn next_packet(&mut self, now: Time) -> Option<(Box<Packet>, u32)> {
        let mut packet = self.spare.pop().unwrap_or_else(empty);
        match self.association.poll_transmit_into(now, &mut packet) {
            Some(bytes) => Some((packet, bytes + self.ip_header_bytes)),
            None => {
                self.spare.push(packet);
                None
            }
        }
    }

    /// What the next event that concerns the application tells it.
    #[inline(never)]
    fn next_news(&mut self, now: Time) -> Option<News> {
        loop {
            match self.association.poll_event()? {
                Event::Connected { .. } => {
                    self.started = true;
                    return Some(News::Ready);
                }
                Event::Message(received) => {
                    let tsns = Some((received.first_tsn.0, received.last_tsn.0));
                    let mut traces = self.traces.borrow_mut();
                    let (side, content) = (self.side, self.content);
                    return Some(traces.delivered(now, side, tsns, content, received.payload));
                }
                Event::ConnectionLost {
                    reason: LostReason::HandshakeTimeout,
                } if self.redial.is_some() => {
                    self.association = self.redial.as_mut()?.dial(now);
                }
                Event::Aborted { .. } | Event::ConnectionLost { .. } => return Some(News::Dead),
                _ => {}
            }
        }
    }
}

impl Carrier for SctpCarrier {
    type Body = Packet;
    type Trace = ChunkTrace;

    fn send(&mut self, now: Time, message: Outgoing) {
        let Lane { stream, unordered } =
            self.traces
                .borrow_mut()
                .handed_over(now, self.side, self.delivery, &message);
        let message = Message {
            stream,
            ppid: PPID,
            unordered,
            payload: message.payload,
            ..Message::default()
        };
        // Sizes are checked with the spec, so that nothing but a full buffer stands
        // in a message's way; a closing association takes nothing more.
        if !self.backlog.is_empty()
            || self.association.send(now, message.clone()) == Err(SendError::BufferFull)
        {
            self.backlog.push_back(message);
        }
    }

    fn handle_input(&mut self, now: Time, mut packet: Box<Packet>) {
        match self.wire {
            Wire::Structured => self.association.handle_packet(now, &mut packet),
            Wire::Encoded => {
                let mut wire = Vec::with_capacity(packet.size_bytes() as usize);
                packet.encode(&mut wire);
                let decoded = Packet::decode(&wire.into()).expect("this codec reads what it wrote");
                self.association.handle_input(now, decoded);
            }
        }
        if self.spare.len() < MOST_SPARE {
            self.spare.push(packet);
        }
        self.feed(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.association.handle_timeout(now);
        self.feed(now);
    }

    fn poll_news(&mut self, now: Time) -> Option<News> {
        if self.association.has_events() {
            self.next_news(now)
        } else {
            None
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<(Box<Packet>, u32)> {
        if self.association.is_silent() {
            None
        } else {
            self.next_packet(now)
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.association.poll_timeout()
    }

    fn observe(&mut self, now: Time) {
        if self.started {
            self.cwnd.set(now, u64::from(self.association.cwnd_bytes()));
            self.held.set(now, self.association.held_bytes() as u64);
        }
    }

    fn counters(&self) -> Counters {
        let stats = self.association.stats();
        Counters {
            fast_retransmissions: stats.fast_retransmissions,
            timed_retransmissions: stats.timed_retransmissions,
            duplicates: stats.duplicates_received,
            timeouts: stats.timeouts,
        }
    }

    fn cwnd(&self) -> &Gauge {
        &self.cwnd
    }

    fn held(&self) -> &Gauge {
        &self.held
    }
}

/// A packet to be filled.
#[cold]
fn empty() -> Box<Packet> {
    Box::new(Packet {
        source_port: PORT,
        destination_port: PORT,
        verification_tag: 0,
        chunks: Chunks::new(),
    })
}

/// Tells each DATA chunk of a packet.
fn data(packet: &Packet) -> impl Iterator<Item = &DataChunk> {
    packet.chunks.iter().filter_map(|chunk| match chunk {
        Chunk::Data(data) => Some(data),
        _ => None,
    })
}

impl Trace<Packet> for ChunkTrace {
    fn sent(&mut self, now: Time, packet: &Packet) {
        for data in data(packet) {
            let lane = Lane {
                stream: data.stream,
                unordered: data.unordered,
            };
            let (tsn, begin, end) = (data.tsn.0, data.begin, data.end);
            self.sent(
                now,
                SeenChunk {
                    tsn,
                    lane,
                    begin,
                    end,
                },
            );
        }
    }

    fn lost(&mut self, packet: &Packet) {
        data(packet).for_each(|data| self.lost(data.tsn.0));
    }

    fn would_arrive(&mut self, packet: &Packet, at: Time) {
        data(packet).for_each(|data| self.would_arrive(data.tsn.0, at));
    }

    fn arrived(&mut self, now: Time, packet: &Packet) {
        data(packet).for_each(|data| self.arrived(now, data.tsn.0));
    }

    fn totals(&self) -> &Totals {
        self.totals()
    }

    fn outstanding(&self) -> u64 {
        self.outstanding()
    }

    fn into_rows(self) -> Vec<MessageRow> {
        self.into_rows()
    }
}
