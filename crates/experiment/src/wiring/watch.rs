//! What crosses the wire, told to the traces.

use std::cell::RefCell;
use std::rc::Rc;

use headway_path::DropCause;
use headway_sansio::{Address, Datagram, Time};
use headway_sctp::{Chunk, DataChunk, Packet};
use headway_sim::{LinkId, NodeId, Observer, PacketId};

use crate::attribution::{ChunkTrace, Lane, MessageRow, SeenChunk};

/// The traces of both directions of a run. The observer of the network writes
/// them, and so do the hosts, which alone know when the application hands over
/// and gets a message.
pub(super) struct Traces {
    /// From the caller's side, and to it.
    pub(super) directions: [ChunkTrace; 2],
    /// Messages a piece of which was lost on its first transmission.
    pub(super) lost_first: Vec<u64>,
}

impl Traces {
    pub(super) fn new(keep_rows: bool) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            directions: [ChunkTrace::new(keep_rows), ChunkTrace::new(keep_rows)],
            lost_first: Vec::new(),
        }))
    }

    pub(super) fn delivered(
        &mut self,
        direction: usize,
        now: Time,
        first_tsn: u32,
        last_tsn: u32,
    ) -> Option<MessageRow> {
        let row = self.directions[direction].delivered(now, first_tsn, last_tsn)?;
        if row.lost_first {
            self.lost_first.push(row.id);
        }
        Some(row)
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.directions.iter().map(ChunkTrace::outstanding).sum()
    }
}

/// Tells the traces which chunks are sent, lost and received.
pub(super) struct Watcher {
    traces: Rc<RefCell<Traces>>,
    /// Whose packets are of the first direction.
    caller: Address,
}

impl Watcher {
    pub(super) fn new(traces: Rc<RefCell<Traces>>, caller: Address) -> Self {
        Self { traces, caller }
    }

    fn each(
        &mut self,
        datagram: &Datagram<Packet>,
        mut tell: impl FnMut(&mut ChunkTrace, &DataChunk),
    ) {
        let direction = usize::from(datagram.source != self.caller);
        let mut traces = None;
        for chunk in &datagram.body.chunks {
            if let Chunk::Data(data) = chunk {
                let traces = traces.get_or_insert_with(|| self.traces.borrow_mut());
                tell(&mut traces.directions[direction], data);
            }
        }
    }
}

impl Observer<Packet> for Watcher {
    fn on_sent(&mut self, now: Time, _: NodeId, _: PacketId, datagram: &Datagram<Packet>) {
        self.each(datagram, |trace, data| {
            trace.sent(
                now,
                SeenChunk {
                    tsn: data.tsn.0,
                    lane: Lane {
                        stream: data.stream,
                        unordered: data.unordered,
                    },
                    begin: data.begin,
                    end: data.end,
                },
            );
        });
    }

    fn on_lost(
        &mut self,
        _: Time,
        _: LinkId,
        _: PacketId,
        datagram: &Datagram<Packet>,
        _: DropCause,
    ) {
        self.each(datagram, |trace, data| trace.lost(data.tsn.0));
    }

    fn on_would_arrive(&mut self, _: Time, _: PacketId, datagram: &Datagram<Packet>, at: Time) {
        self.each(datagram, |trace, data| trace.would_arrive(data.tsn.0, at));
    }

    fn on_arrived(&mut self, now: Time, _: NodeId, _: PacketId, datagram: &Datagram<Packet>) {
        self.each(datagram, |trace, data| trace.arrived(now, data.tsn.0));
    }
}
