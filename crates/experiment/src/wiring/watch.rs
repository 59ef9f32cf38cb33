//! What crosses the wire, told to the traces.

use std::cell::RefCell;
use std::rc::Rc;

use headway_path::DropCause;
use headway_sansio::{Address, Datagram, Time};
use headway_sim::{LinkId, NodeId, Observer, PacketId};

use crate::attribution::{MessageRow, Totals};

/// The trace of one direction of a transport, told of every packet that
/// carries `B`.
pub(super) trait Trace<B> {
    /// A packet was put on the wire.
    fn sent(&mut self, now: Time, body: &B);
    /// It was lost.
    fn lost(&mut self, body: &B);
    /// It arrives at `at`, or would have, had it not been lost.
    fn would_arrive(&mut self, body: &B, at: Time);
    /// It reached the receiver.
    fn arrived(&mut self, now: Time, body: &B);
    /// What the messages add up to so far.
    fn totals(&self) -> &Totals;
    /// Messages handed over and not yet delivered.
    fn outstanding(&self) -> u64;
    /// The rows, where they were kept, in the order of delivery.
    fn into_rows(self) -> Vec<MessageRow>;
}

/// The traces of both directions of a run. The observer of the network writes
/// them, and so do the carriers, which alone know when the application hands
/// over and gets a message.
pub(super) struct Traces<T> {
    /// From the caller's side, and to it.
    pub(super) directions: [T; 2],
    /// Messages a piece of which was lost on its first transmission.
    pub(super) lost_first: Vec<u64>,
}

/// Traces as hosts and observer share them.
pub(super) type SharedTraces<T> = Rc<RefCell<Traces<T>>>;

impl<T> Traces<T> {
    pub(super) fn shared(directions: [T; 2]) -> SharedTraces<T> {
        Rc::new(RefCell::new(Self {
            directions,
            lost_first: Vec::new(),
        }))
    }

    /// Notes a row that a trace returned at delivery.
    pub(super) fn note(&mut self, row: &MessageRow) {
        if row.lost_first {
            self.lost_first.push(row.id);
        }
    }

    pub(super) fn outstanding<B>(&self) -> u64
    where
        T: Trace<B>,
    {
        self.directions.iter().map(T::outstanding).sum()
    }
}

/// Tells the traces what is sent, lost and received.
pub(super) struct Watcher<T> {
    traces: SharedTraces<T>,
    /// Whose packets are of the first direction.
    caller: Address,
}

impl<T> Watcher<T> {
    pub(super) fn new(traces: SharedTraces<T>, caller: Address) -> Self {
        Self { traces, caller }
    }

    fn direction<B>(&self, datagram: &Datagram<B>) -> usize {
        usize::from(datagram.source != self.caller)
    }
}

impl<B, T: Trace<B>> Observer<B> for Watcher<T> {
    fn on_sent(&mut self, now: Time, _: NodeId, _: PacketId, datagram: &Datagram<B>) {
        let direction = self.direction(datagram);
        self.traces.borrow_mut().directions[direction].sent(now, &datagram.body);
    }

    fn on_lost(&mut self, _: Time, _: LinkId, _: PacketId, datagram: &Datagram<B>, _: DropCause) {
        let direction = self.direction(datagram);
        self.traces.borrow_mut().directions[direction].lost(&datagram.body);
    }

    fn on_would_arrive(&mut self, _: Time, _: PacketId, datagram: &Datagram<B>, at: Time) {
        let direction = self.direction(datagram);
        self.traces.borrow_mut().directions[direction].would_arrive(&datagram.body, at);
    }

    fn on_arrived(&mut self, now: Time, _: NodeId, _: PacketId, datagram: &Datagram<B>) {
        let direction = self.direction(datagram);
        self.traces.borrow_mut().directions[direction].arrived(now, &datagram.body);
    }
}
