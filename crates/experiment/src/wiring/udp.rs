//! Each message a UDP datagram.

use std::collections::VecDeque;

use headway_apps::{Incoming, MessageId, Outgoing, Peer};
use headway_sansio::{Payload, Time};

use super::carrier::{Carrier, Counters, News};
use super::gauge::Gauge;
use super::watch::{SharedTraces, Trace, Traces};
use crate::attribution::{DatagramTrace, MessageRow, Totals};
use crate::spec::{RunSpec, UdpTransport};

/// What a datagram carries.
#[derive(Clone, Debug)]
pub(super) struct UdpDatagram {
    /// The application's number for the message.
    id: MessageId,
    payload: Payload,
}

/// One end of a datagram service.
///
/// There is no codec between the two forms of the wire: a datagram's content is
/// the message itself.
pub(super) struct UdpCarrier {
    /// Which direction of the traces this end sends in.
    side: usize,
    traces: SharedTraces<DatagramTrace>,
    outgoing: VecDeque<UdpDatagram>,
    incoming: VecDeque<UdpDatagram>,
    /// The application was told that it may send.
    announced: bool,
    duplicates: u64,
    nothing: Gauge,
}

/// The two ends of a datagram service and the traces that they share.
pub(super) fn ends(spec: &RunSpec) -> ([UdpCarrier; 2], SharedTraces<DatagramTrace>) {
    let trace = || DatagramTrace::new(spec.collect.messages, spec.workload.is_sip());
    let traces = Traces::shared([trace(), trace()]);
    let ends = [0, 1].map(|side| UdpCarrier {
        side,
        traces: SharedTraces::clone(&traces),
        outgoing: VecDeque::new(),
        incoming: VecDeque::new(),
        announced: false,
        duplicates: 0,
        nothing: Gauge::default(),
    });
    (ends, traces)
}

impl Carrier for UdpCarrier {
    type Body = UdpDatagram;
    type Trace = DatagramTrace;

    fn send(&mut self, now: Time, message: Outgoing) {
        let size_bytes = message.payload.len() as u32;
        self.traces.borrow_mut().directions[self.side].handed_over(now, message.id.0, size_bytes);
        self.outgoing.push_back(UdpDatagram {
            id: message.id,
            payload: message.payload,
        });
    }

    fn handle_input(&mut self, _: Time, datagram: Box<UdpDatagram>) {
        self.incoming.push_back(*datagram);
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_news(&mut self, now: Time) -> Option<News> {
        if !self.announced {
            self.announced = true;
            return Some(News::Ready);
        }
        let UdpDatagram { id, payload } = self.incoming.pop_front()?;
        let mut traces = self.traces.borrow_mut();
        match traces.directions[1 - self.side].delivered(now, id.0) {
            Some(row) => traces.note(&row),
            None => self.duplicates += 1,
        }
        Some(News::Message(Incoming {
            id: Some(id),
            from: Peer::default(),
            payload,
        }))
    }

    fn poll_transmit(&mut self, _: Time) -> Option<(Box<UdpDatagram>, u32)> {
        let datagram = self.outgoing.pop_front()?;
        let size = datagram.payload.len() as u32 + UdpTransport::HEADER_BYTES;
        Some((Box::new(datagram), size))
    }

    fn poll_timeout(&self) -> Option<Time> {
        // There is nothing to set up: the application may begin at once.
        (!self.announced).then_some(Time::ZERO)
    }

    fn observe(&mut self, _: Time) {}

    fn counters(&self) -> Counters {
        Counters {
            duplicates: self.duplicates,
            ..Counters::default()
        }
    }

    fn cwnd(&self) -> &Gauge {
        &self.nothing
    }

    fn held(&self) -> &Gauge {
        &self.nothing
    }
}

impl Trace<UdpDatagram> for DatagramTrace {
    fn sent(&mut self, now: Time, datagram: &UdpDatagram) {
        self.sent(now, datagram.id.0);
    }

    fn lost(&mut self, datagram: &UdpDatagram) {
        self.lost(datagram.id.0);
    }

    fn would_arrive(&mut self, datagram: &UdpDatagram, at: Time) {
        self.would_arrive(datagram.id.0, at);
    }

    fn arrived(&mut self, now: Time, datagram: &UdpDatagram) {
        self.arrived(now, datagram.id.0);
    }

    fn totals(&self) -> &Totals {
        self.totals()
    }

    fn outstanding(&self) -> u64 {
        self.outstanding()
    }

    fn lost_messages(&self) -> &[u64] {
        self.lost_messages()
    }

    fn into_rows(self) -> Vec<MessageRow> {
        self.into_rows()
    }
}
