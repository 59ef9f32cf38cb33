//! What crosses a shared path, told to the traces and counted for each pair of
//! hosts.

use std::cell::RefMut;

use headway_path::{DropCause, Offer, Verdict};
use headway_sansio::{Datagram, Duration, Time};
use headway_sim::{LinkId, NodeId, Observer, PacketId};

use super::site::{Mixed, pair_of};
use super::watch::{SharedTraces, Trace};

/// What the path did to the packets of one pair of hosts in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Meter {
    pub(super) offered: u64,
    pub(super) lost: u64,
    /// Sum over the packets that arrived, from the router before the path to the
    /// router after it, in nanoseconds.
    pub(super) transit: u128,
}

impl Meter {
    /// Mean time on the path.
    pub(super) fn mean_transit(&self) -> Option<Duration> {
        let arrived = u128::from(self.offered - self.lost);
        (arrived > 0).then(|| Duration::from_nanos((self.transit / arrived) as u64))
    }

    /// Share of the packets that the path lost.
    pub(super) fn loss(&self) -> f64 {
        self.lost as f64 / self.offered as f64
    }

    /// These and others.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            offered: self.offered + other.offered,
            lost: self.lost + other.lost,
            transit: self.transit + other.transit,
        }
    }
}

/// The observer of a shared path.
pub(super) struct Meters<T> {
    /// Those of the flows under study, pair by pair, once they have begun.
    traces: Vec<SharedTraces<T>>,
    /// From left to right, then back, for each pair.
    meters: Vec<[Meter; 2]>,
}

impl<T> Meters<T> {
    pub(super) fn new(pairs: usize) -> Self {
        Self {
            traces: Vec::new(),
            meters: vec![[Meter::default(); 2]; pairs],
        }
    }

    /// The flows under study begin. What was counted before was for settling.
    pub(super) fn begin(&mut self, traces: Vec<SharedTraces<T>>) {
        self.traces = traces;
        self.meters.fill([Meter::default(); 2]);
    }

    pub(super) fn into_meters(self) -> Vec<[Meter; 2]> {
        self.meters
    }

    /// The trace of the pair and the direction of a packet under study.
    #[inline]
    fn trace<B>(&self, datagram: &Datagram<B>) -> Option<RefMut<'_, T>> {
        let traces = self.traces.get(pair_of(datagram.source))?.borrow_mut();
        let direction = direction(datagram);
        Some(RefMut::map(traces, |traces| {
            &mut traces.directions[direction]
        }))
    }
}

/// 0 from left to right, 1 back.
fn direction<B>(datagram: &Datagram<B>) -> usize {
    (datagram.source.0 & 1) as usize
}

impl<B, T: Trace<B>> Observer<Mixed<B>> for Meters<T> {
    #[inline]
    fn on_sent(&mut self, now: Time, _: NodeId, _: PacketId, datagram: &Datagram<Mixed<B>>) {
        if let Mixed::Study(body) = &datagram.body
            && let Some(mut trace) = self.trace(datagram)
        {
            trace.sent(now, body);
        }
    }

    #[inline]
    fn on_offered(
        &mut self,
        now: Time,
        _: LinkId,
        _: PacketId,
        datagram: &Datagram<Mixed<B>>,
        offer: &Offer,
    ) {
        let meter = &mut self.meters[pair_of(datagram.source)][direction(datagram)];
        meter.offered += 1;
        match offer.verdict {
            Verdict::Delivered { at } => meter.transit += u128::from(at.since(now).as_nanos()),
            Verdict::Dropped { .. } => meter.lost += 1,
        }
    }

    fn on_lost(
        &mut self,
        _: Time,
        _: LinkId,
        _: PacketId,
        datagram: &Datagram<Mixed<B>>,
        _: DropCause,
    ) {
        if let Mixed::Study(body) = &datagram.body
            && let Some(mut trace) = self.trace(datagram)
        {
            trace.lost(body);
        }
    }

    #[inline]
    fn on_would_arrive(&mut self, _: Time, _: PacketId, datagram: &Datagram<Mixed<B>>, at: Time) {
        if let Mixed::Study(body) = &datagram.body
            && let Some(mut trace) = self.trace(datagram)
        {
            trace.would_arrive(body, at);
        }
    }

    #[inline]
    fn on_arrived(&mut self, now: Time, _: NodeId, _: PacketId, datagram: &Datagram<Mixed<B>>) {
        if let Mixed::Study(body) = &datagram.body
            && let Some(mut trace) = self.trace(datagram)
        {
            trace.arrived(now, body);
        }
    }
}
