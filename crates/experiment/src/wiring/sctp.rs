//! Messages over one SCTP association.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use headway_apps::sip::Content;
use headway_apps::{Delivery, Incoming, MessageId, Outgoing, Peer};
use headway_path::Wire;
use headway_sansio::{Payload, Time};
use headway_sctp::{Association, Event, Message, Packet, SendError};

use super::carrier::{Carrier, News};
use super::gauge::Gauge;
use super::watch::Traces;
use crate::attribution::Lane;

/// SIP's payload protocol identifier (RFC 4168, section 5.1).
const PPID: u32 = 0;

/// One end of an association.
pub(super) struct SctpCarrier {
    pub(super) association: Association,
    delivery: Delivery,
    wire: Wire,
    /// Whether messages are more than their length. Through the codec a length
    /// comes out as so many zeros, which is made a length again.
    content: Content,
    /// Which direction of the traces this end sends in.
    side: usize,
    traces: Rc<RefCell<Traces>>,
    /// Messages that the send buffer had no room for, in the order of handing over.
    backlog: VecDeque<Message>,
    pub(super) cwnd: Gauge,
    pub(super) held: Gauge,
    ip_header_bytes: u32,
    started: bool,
}

impl SctpCarrier {
    pub(super) fn new(
        association: Association,
        delivery: Delivery,
        wire: Wire,
        content: Content,
        ip_header_bytes: u32,
        side: usize,
        traces: Rc<RefCell<Traces>>,
    ) -> Self {
        Self {
            association,
            delivery,
            wire,
            content,
            side,
            traces,
            backlog: VecDeque::new(),
            cwnd: Gauge::default(),
            held: Gauge::default(),
            ip_header_bytes,
            started: false,
        }
    }

    /// Moves what waits into the send buffer, as far as there is room.
    fn feed(&mut self, now: Time) {
        while let Some(message) = self.backlog.front() {
            match self.association.send(now, message.clone()) {
                Ok(_) => drop(self.backlog.pop_front()),
                Err(SendError::BufferFull) => return,
                // Sizes are checked with the spec; a closing association takes nothing more.
                Err(_) => return self.backlog.clear(),
            }
        }
    }
}

impl Carrier for SctpCarrier {
    type Body = Packet;

    fn send(&mut self, now: Time, message: Outgoing) {
        let (stream, unordered) = self.delivery.map(message.context);
        self.traces.borrow_mut().directions[self.side].handed_over(
            now,
            message.id.0,
            message.payload.len() as u32,
            Lane { stream, unordered },
        );
        let message = Message {
            stream,
            ppid: PPID,
            unordered,
            payload: message.payload,
        };
        if !self.backlog.is_empty() {
            self.backlog.push_back(message);
            return;
        }
        self.backlog.push_back(message);
        self.feed(now);
    }

    fn handle_input(&mut self, now: Time, packet: Packet) {
        match self.wire {
            Wire::Structured => self.association.handle_input(now, packet),
            Wire::Encoded => {
                let mut wire = Vec::with_capacity(packet.size_bytes() as usize);
                packet.encode(&mut wire);
                let decoded = Packet::decode(&wire.into()).expect("this codec reads what it wrote");
                self.association.handle_input(now, decoded);
            }
        }
        self.feed(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.association.handle_timeout(now);
        self.feed(now);
    }

    fn poll_news(&mut self, now: Time) -> Option<News> {
        loop {
            match self.association.poll_event()? {
                Event::Connected { .. } => {
                    self.started = true;
                    return Some(News::Ready);
                }
                Event::Message(received) => {
                    let (first, last) = (received.first_tsn.0, received.last_tsn.0);
                    let payload = match self.content {
                        Content::Size => Payload::Sized(received.payload.len() as u32),
                        Content::Full => received.payload,
                    };
                    let row = self
                        .traces
                        .borrow_mut()
                        .delivered(1 - self.side, now, first, last);
                    return Some(News::Message(Incoming {
                        id: row.map(|row| MessageId(row.id)),
                        from: Peer::default(),
                        payload,
                    }));
                }
                Event::Aborted { .. } | Event::ConnectionLost { .. } => return Some(News::Dead),
                _ => {}
            }
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<(Packet, u32)> {
        let packet = self.association.poll_transmit(now)?;
        let size = packet.size_bytes() + self.ip_header_bytes;
        Some((packet, size))
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
}
