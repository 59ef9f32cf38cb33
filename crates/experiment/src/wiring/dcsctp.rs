//! Messages over one association of the crate `dcsctp`, the SCTP of WebRTC's
//! data channels: a second implementation over the same path.
//!
//! It is sans-IO too, but its packets are bytes and it draws its tags and its
//! first TSN from `fastrand`'s generator of the thread. That generator is seeded
//! from the run's own stream before each call that may draw (`connect` and
//! `handle_input`), so that a run stays a function of its seed.
//!
//! It does not tell which TSNs a message had. The payload protocol identifier,
//! which SCTP hands through untouched (RFC 9260, section 3.3.1), carries the
//! number of the message instead, and the chunks that arrived under it are
//! noted.

mod inbox;
mod resent;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration as StdDuration;

use bytes::Bytes;
use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, Options, PpId, SendError, SendOptions, Socket, SocketEvent,
    SocketTime, StreamId,
};
use headway_apps::sip::Content;
use headway_apps::{Delivery, Outgoing};
use headway_sansio::{Payload, RandomStream, Seed, Time};
use headway_sctp::Packet;

use super::carrier::{Carrier, Counters, News};
use super::chunks::PORT;
use super::gauge::Gauge;
use super::watch::{SharedTraces, Trace, Traces};
use crate::attribution::{ChunkTrace, Lane, MessageRow, Totals};
use crate::spec::{DcsctpTransport, RunSpec};
use inbox::Inbox;
use resent::Resent;

/// A packet as dcsctp wrote it, and what it says.
#[derive(Clone)]
pub(super) struct DcsctpPacket {
    wire: Bytes,
    read: Rc<Packet>,
}

/// One end of an association.
pub(super) struct DcsctpCarrier {
    socket: Socket,
    options: Options,
    random: RandomStream,
    delivery: Delivery,
    /// Whether messages are more than their length; else they are zeros on the
    /// wire and a length again when they come out.
    content: Content,
    /// Which direction of the traces this end sends in.
    side: usize,
    traces: SharedTraces<ChunkTrace>,
    ip_header_bytes: u32,
    /// Number of the next message.
    next_label: u32,
    /// Messages that the send buffer had no room for, in the order of handing over.
    backlog: VecDeque<(Message, bool)>,
    packets: VecDeque<DcsctpPacket>,
    news: VecDeque<News>,
    inbox: Inbox,
    resent: Resent,
    cwnd: Gauge,
    held: Gauge,
    started: bool,
    /// This end connects, and dials again where a handshake fails.
    connects: bool,
}

/// The two ends of an association: the caller's, which connects, and the
/// answerer's; and the traces that they share. They draw from streams of `seed`.
pub(super) fn ends(
    spec: &RunSpec,
    transport: &DcsctpTransport,
    content: Content,
    seed: Seed,
    now: Time,
) -> ([DcsctpCarrier; 2], SharedTraces<ChunkTrace>) {
    let rows = spec.collect.messages;
    let traces = Traces::shared([ChunkTrace::new(rows), ChunkTrace::new(rows)]);
    let options = transport.options(PORT);
    let end = |side: usize, name: &str| DcsctpCarrier {
        socket: Socket::new(name, &options),
        options: options.clone(),
        random: seed.stream(&format!("dcsctp.{name}")),
        delivery: transport.delivery(),
        content,
        side,
        traces: SharedTraces::clone(&traces),
        ip_header_bytes: transport.ip_header_bytes(),
        next_label: 0,
        backlog: VecDeque::new(),
        packets: VecDeque::new(),
        news: VecDeque::new(),
        inbox: Inbox::default(),
        resent: Resent::default(),
        cwnd: Gauge::default(),
        held: Gauge::default(),
        started: false,
        connects: side == 0,
    };
    let mut caller = end(0, "caller");
    caller.dial(now);
    ([caller, end(1, "answerer")], traces)
}

fn socket_time(now: Time) -> SocketTime {
    SocketTime::zero() + StdDuration::from_nanos(now.as_nanos())
}

impl DcsctpCarrier {
    fn dial(&mut self, now: Time) {
        self.socket.advance_time(socket_time(now));
        fastrand::seed(self.random.bits());
        self.socket.connect();
        self.drain(now, false);
    }

    /// Moves what waits into the send buffer, as far as there is room.
    fn feed(&mut self, now: Time) {
        while let Some((message, unordered)) = self.backlog.front() {
            let options = SendOptions {
                unordered: *unordered,
                ..SendOptions::default()
            };
            let copy = Message::new(message.stream_id, message.ppid, message.payload.clone());
            match self.socket.send(copy, &options) {
                Ok(()) => drop(self.backlog.pop_front()),
                Err(SendError::ResourceExhaustion) => return,
                // Sizes are checked with the spec; a closing association takes nothing more.
                Err(_) => return self.backlog.clear(),
            }
            self.drain(now, false);
        }
    }

    /// Takes over what the socket has to send and to tell. `timer`: a timer was
    /// the cause.
    fn drain(&mut self, now: Time, timer: bool) {
        while let Some(event) = self.socket.poll_event() {
            match event {
                SocketEvent::SendPacket(wire) => self.queue(now, wire.into(), timer),
                SocketEvent::OnConnected() if !self.started => {
                    self.started = true;
                    self.news.push_back(News::Ready);
                }
                SocketEvent::OnAborted(ErrorKind::TooManyRetries, _)
                    if self.connects && !self.started =>
                {
                    // Handshakes follow one another until one succeeds: a burst of
                    // losses at the very start is no reason to run without any call.
                    self.socket = Socket::new("caller", &self.options);
                    self.socket.advance_time(socket_time(now));
                    fastrand::seed(self.random.bits());
                    self.socket.connect();
                }
                SocketEvent::OnAborted(..) | SocketEvent::OnClosed() => {
                    self.news.push_back(News::Dead);
                }
                _ => {}
            }
        }
        while let Some(message) = self.socket.get_next_message() {
            self.deliver(now, message);
        }
    }

    fn queue(&mut self, now: Time, wire: Bytes, timer: bool) {
        // A packet that our codec cannot read would go unseen by the trace.
        let read = Packet::decode(&wire).expect("dcsctp writes packets that can be read");
        self.resent.sent(now, &read, timer);
        let read = Rc::new(read);
        self.packets.push_back(DcsctpPacket { wire, read });
    }

    fn deliver(&mut self, now: Time, message: Message) {
        let tsns = self.inbox.delivered(message.ppid.0);
        let payload = message.payload.into();
        let mut traces = self.traces.borrow_mut();
        let news = traces.delivered(now, self.side, tsns, self.content, payload);
        self.news.push_back(news);
    }
}

impl Carrier for DcsctpCarrier {
    type Body = DcsctpPacket;
    type Trace = ChunkTrace;

    fn send(&mut self, now: Time, message: Outgoing) {
        let Lane { stream, unordered } =
            self.traces
                .borrow_mut()
                .handed_over(now, self.side, self.delivery, &message);
        let payload = match message.payload {
            Payload::Sized(length) => vec![0; length as usize],
            Payload::Bytes(bytes) => bytes.into(),
        };
        let label = PpId(self.next_label);
        self.next_label = self.next_label.wrapping_add(1);
        self.backlog
            .push_back((Message::new(StreamId(stream), label, payload), unordered));
        self.socket.advance_time(socket_time(now));
        self.drain(now, true);
        self.feed(now);
    }

    fn handle_input(&mut self, now: Time, packet: Box<DcsctpPacket>) {
        self.socket.advance_time(socket_time(now));
        self.drain(now, true);
        self.inbox.arrived(&packet.read);
        self.resent.acknowledged(&packet.read);
        fastrand::seed(self.random.bits());
        self.socket.handle_input(&packet.wire);
        self.drain(now, false);
        self.feed(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.socket.advance_time(socket_time(now));
        self.drain(now, true);
        self.feed(now);
    }

    fn poll_news(&mut self, _: Time) -> Option<News> {
        self.news.pop_front()
    }

    fn poll_transmit(&mut self, _: Time) -> Option<(Box<DcsctpPacket>, u32)> {
        let packet = self.packets.pop_front()?;
        let size = packet.wire.len() as u32 + self.ip_header_bytes;
        Some((Box::new(packet), size))
    }

    fn poll_timeout(&self) -> Option<Time> {
        let at = self.socket.poll_timeout();
        (at != SocketTime::infinite_future()).then(|| {
            let since_zero = at - SocketTime::zero();
            Time::from_nanos(u64::try_from(since_zero.as_nanos()).unwrap_or(u64::MAX))
        })
    }

    fn observe(&mut self, now: Time) {
        if self.started
            && let Some(metrics) = self.socket.get_metrics()
        {
            self.cwnd.set(now, metrics.cwnd_bytes as u64);
            self.held.set(now, self.inbox.held_bytes());
        }
    }

    fn counters(&self) -> Counters {
        Counters {
            fast_retransmissions: self.resent.fast,
            timed_retransmissions: self.resent.timed,
            duplicates: self.inbox.duplicates(),
            timeouts: self.resent.timeouts,
        }
    }

    fn cwnd(&self) -> &Gauge {
        &self.cwnd
    }

    fn held(&self) -> &Gauge {
        &self.held
    }
}

impl Trace<DcsctpPacket> for ChunkTrace {
    fn sent(&mut self, now: Time, packet: &DcsctpPacket) {
        Trace::<Packet>::sent(self, now, &packet.read);
    }

    fn lost(&mut self, packet: &DcsctpPacket) {
        Trace::<Packet>::lost(self, &packet.read);
    }

    fn would_arrive(&mut self, packet: &DcsctpPacket, at: Time) {
        Trace::<Packet>::would_arrive(self, &packet.read, at);
    }

    fn arrived(&mut self, now: Time, packet: &DcsctpPacket) {
        Trace::<Packet>::arrived(self, now, &packet.read);
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
