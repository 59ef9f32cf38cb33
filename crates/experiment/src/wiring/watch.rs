//! What crosses the wire, told to the traces.

use std::cell::RefCell;
use std::rc::Rc;

use headway_path::DropCause;
use headway_sansio::{Address, Datagram, Time};
use headway_sim::{LinkId, NodeId, Observer, PacketId};

use super::delays::DelayLog;
use crate::attribution::{MessageRow, Totals};
use crate::results::MessageSample;

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
    /// Messages lost for good, on a transport that sends none again.
    fn lost_messages(&self) -> &[u64] {
        &[]
    }
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
    /// Where only the distribution of delays is wanted, which does not grow with
    /// the run as the list does.
    pub(super) delays: Option<Box<DelayLog>>,
}

/// Traces as hosts and observer share them.
pub(super) type SharedTraces<T> = Rc<RefCell<Traces<T>>>;

impl<T> Traces<T> {
    pub(super) fn shared(directions: [T; 2]) -> SharedTraces<T> {
        Rc::new(RefCell::new(Self {
            directions,
            lost_first: Vec::new(),
            delays: None,
        }))
    }

    /// Notes a row that a trace returned at delivery.
    pub(super) fn note(&mut self, row: &MessageRow) {
        if let Some(delays) = &mut self.delays {
            delays.note(row);
        } else if row.lost_first {
            self.lost_first.push(row.id);
        }
    }

    pub(super) fn outstanding<B>(&self) -> u64
    where
        T: Trace<B>,
    {
        self.directions.iter().map(T::outstanding).sum()
    }

    pub(super) fn totals<B>(&self, direction: usize) -> &Totals
    where
        T: Trace<B>,
    {
        self.directions[direction].totals()
    }

    /// The messages of which a first transmission was lost, and the rows of the
    /// others by the time of handing over, where rows were kept.
    pub(super) fn into_lost_and_rows<B>(self) -> (Vec<u64>, Vec<MessageSample>)
    where
        T: Trace<B>,
    {
        let mut lost = self.lost_first;
        let mut messages = Vec::new();
        for (forward, trace) in [true, false].into_iter().zip(self.directions) {
            lost.extend_from_slice(trace.lost_messages());
            let rows = trace.into_rows().into_iter();
            messages.extend(rows.map(|row| MessageSample { forward, row }));
        }
        messages.sort_by_key(|m| (m.row.handed_over, m.row.id));
        (lost, messages)
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

impl<B, T: Trace<B>> Observer<Box<B>> for Watcher<T> {
    fn on_sent(&mut self, now: Time, _: NodeId, _: PacketId, datagram: &Datagram<Box<B>>) {
        let direction = self.direction(datagram);
        self.traces.borrow_mut().directions[direction].sent(now, &datagram.body);
    }

    fn on_lost(
        &mut self,
        _: Time,
        _: LinkId,
        _: PacketId,
        datagram: &Datagram<Box<B>>,
        _: DropCause,
    ) {
        let direction = self.direction(datagram);
        self.traces.borrow_mut().directions[direction].lost(&datagram.body);
    }

    fn on_would_arrive(&mut self, _: Time, _: PacketId, datagram: &Datagram<Box<B>>, at: Time) {
        let direction = self.direction(datagram);
        self.traces.borrow_mut().directions[direction].would_arrive(&datagram.body, at);
    }

    fn on_arrived(&mut self, now: Time, _: NodeId, _: PacketId, datagram: &Datagram<Box<B>>) {
        let direction = self.direction(datagram);
        self.traces.borrow_mut().directions[direction].arrived(now, &datagram.body);
    }
}
