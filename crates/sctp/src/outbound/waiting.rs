//! Messages that wait, in the order in which they go: as they came, or as their
//! streams take turns (RFC 8260, section 3).

use std::collections::{BTreeMap, VecDeque};

use super::queue::Pending;
use super::schedule::{Claim, Order, Standing};
use crate::Scheduler;

/// All messages of which not everything went out, but for one of DATA that must be
/// finished first.
#[derive(Debug)]
pub(super) struct Waiting {
    scheduler: Scheduler,
    line: Line,
    /// Of streams for which the user has set something.
    claims: BTreeMap<u16, Claim>,
    /// The stream to which the packet under construction is confined
    /// (RFC 8260, section 3.3).
    confined: Option<u16>,
}

#[derive(Debug)]
enum Line {
    FirstCome(VecDeque<Pending>),
    ByStream { lanes: Vec<Lane>, order: Order },
}

#[derive(Debug, Default)]
struct Lane {
    queue: VecDeque<Pending>,
    standing: Standing,
}

impl Waiting {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler,
            line: Line::of(scheduler),
            claims: BTreeMap::new(),
            confined: None,
        }
    }

    pub(super) const fn scheduler(&self) -> Scheduler {
        self.scheduler
    }

    /// Lets another scheduler decide from now on.
    pub(super) fn set_scheduler(&mut self, scheduler: Scheduler) {
        if self.scheduler == scheduler {
            return;
        }
        self.scheduler = scheduler;
        let mut all: Vec<Pending> = match core::mem::replace(&mut self.line, Line::of(scheduler)) {
            Line::FirstCome(queue) => queue.into(),
            Line::ByStream { lanes, .. } => lanes.into_iter().flat_map(|lane| lane.queue).collect(),
        };
        all.sort_unstable_by_key(|pending| pending.id);
        for pending in all {
            self.push(pending);
        }
    }

    /// What the user has set for a stream.
    pub(super) fn claim(&self, stream: u16) -> Claim {
        self.claims.get(&stream).copied().unwrap_or_default()
    }

    pub(super) fn set_claim(&mut self, stream: u16, claim: Claim) {
        self.claims.insert(stream, claim);
        let claim = self.effective(stream);
        if let Line::ByStream { lanes, order } = &mut self.line
            && let Some(lane) = lanes.get_mut(usize::from(stream))
            && !lane.queue.is_empty()
        {
            order.leave(stream, &lane.standing);
            order.enter(stream, &mut lane.standing, claim);
        }
    }

    /// What the scheduler makes of a stream's settings.
    fn effective(&self, stream: u16) -> Claim {
        match self.scheduler {
            Scheduler::Priority | Scheduler::WeightedFair => self.claim(stream),
            _ => Claim::default(),
        }
    }

    /// Gives back memory, where nothing waits.
    pub(super) fn trim(&mut self) {
        match &mut self.line {
            Line::FirstCome(queue) => queue.shrink_to_fit(),
            Line::ByStream { lanes, order } => {
                lanes.iter_mut().for_each(|lane| lane.queue.shrink_to_fit());
                order.trim();
            }
        }
    }

    /// Puts a message behind those of its stream, or behind all.
    #[inline]
    pub(super) fn push(&mut self, pending: Pending) {
        match &mut self.line {
            Line::FirstCome(queue) => queue.push_back(pending),
            Line::ByStream { .. } => self.enter(pending, VecDeque::push_back),
        }
    }

    /// Puts a message back before those that wait. Its stream may be off the
    /// scheduler's books.
    pub(super) fn put_back(&mut self, pending: Pending) {
        match &mut self.line {
            Line::FirstCome(queue) => queue.push_front(pending),
            Line::ByStream { .. } => self.enter(pending, VecDeque::push_front),
        }
    }

    /// Puts what is left of a message back that [`Self::take`] gave, its stream
    /// being on the scheduler's books.
    pub(super) fn keep(&mut self, pending: Pending) {
        match &mut self.line {
            Line::FirstCome(queue) => queue.push_front(pending),
            Line::ByStream { lanes, .. } => {
                lane_of(lanes, pending.stream).queue.push_front(pending);
            }
        }
    }

    /// Puts a message into its lane, at the end that `put` says.
    fn enter(&mut self, pending: Pending, put: fn(&mut VecDeque<Pending>, Pending)) {
        let stream = pending.stream;
        let claim = self.effective(stream);
        if let Line::ByStream { lanes, order } = &mut self.line {
            let lane = lane_of(lanes, stream);
            if lane.queue.is_empty() {
                order.enter(stream, &mut lane.standing, claim);
            }
            put(&mut lane.queue, pending);
        }
    }

    /// Begins a packet: it may carry whatever is next.
    pub(super) const fn begin_packet(&mut self) {
        self.confined = None;
    }

    /// A chunk of this stream is in the packet under construction.
    pub(super) const fn confine(&mut self, stream: u16) {
        if matches!(self.scheduler, Scheduler::RoundRobinPacket) {
            self.confined = Some(stream);
        }
    }

    /// Whether the packet under construction may carry this stream.
    pub(super) fn admits(&self, stream: u16) -> bool {
        self.confined.is_none_or(|to| to == stream)
    }

    /// The message that goes next.
    #[inline]
    pub(super) fn first(&self) -> Option<&Pending> {
        match &self.line {
            Line::FirstCome(queue) => queue.front(),
            Line::ByStream { lanes, order } => {
                let stream = self.confined.or_else(|| order.first())?;
                lanes.get(usize::from(stream))?.queue.front()
            }
        }
    }

    /// Takes the message out that goes next, of which at most `most` bytes do. Where
    /// that leaves something, the stream stays on the scheduler's books.
    #[inline]
    pub(super) fn take(&mut self, most: u32) -> Option<Pending> {
        match &mut self.line {
            Line::FirstCome(queue) => queue.pop_front(),
            Line::ByStream { .. } => self.take_by_stream(most),
        }
    }

    #[inline(never)]
    fn take_by_stream(&mut self, most: u32) -> Option<Pending> {
        let stream = match &self.line {
            Line::FirstCome(_) => return None,
            Line::ByStream { order, .. } => self.confined.or_else(|| order.first())?,
        };
        let claim = self.effective(stream);
        let Line::ByStream { lanes, order } = &mut self.line else {
            return None;
        };
        let Lane { queue, standing } = lanes.get_mut(usize::from(stream))?;
        let pending = queue.pop_front()?;
        let length = pending.payload.len() as u32;
        let served = length.min(most);
        let more = !queue.is_empty() || served < length;
        if self.confined.is_none() {
            order.served(stream, standing, claim, served, more);
        } else if !more {
            // Its turn is over already; it had the rest of a packet.
            order.leave(stream, standing);
        }
        Some(pending)
    }

    pub(super) fn for_each(&self, look: impl FnMut(&Pending)) {
        match &self.line {
            Line::FirstCome(queue) => queue.iter().for_each(look),
            Line::ByStream { lanes, .. } => {
                lanes.iter().flat_map(|lane| &lane.queue).for_each(look);
            }
        }
    }

    /// Moves the messages that `wanted` names to the end of `out`, in order.
    pub(super) fn withdraw(
        &mut self,
        mut wanted: impl FnMut(&Pending) -> bool,
        out: &mut Vec<Pending>,
    ) {
        match &mut self.line {
            Line::FirstCome(queue) => extract(queue, &mut wanted, out),
            Line::ByStream { lanes, order } => {
                for (stream, lane) in lanes.iter_mut().enumerate() {
                    if lane.queue.is_empty() {
                        continue;
                    }
                    extract(&mut lane.queue, &mut wanted, out);
                    if lane.queue.is_empty() {
                        order.leave(stream as u16, &lane.standing);
                    }
                }
            }
        }
    }
}

impl Line {
    fn of(scheduler: Scheduler) -> Self {
        match Order::of(scheduler) {
            None => Self::FirstCome(VecDeque::new()),
            Some(order) => Self::ByStream {
                lanes: Vec::new(),
                order,
            },
        }
    }
}

fn lane_of(lanes: &mut Vec<Lane>, stream: u16) -> &mut Lane {
    let index = usize::from(stream);
    if lanes.len() <= index {
        lanes.resize_with(index + 1, Lane::default);
    }
    &mut lanes[index]
}

fn extract(
    queue: &mut VecDeque<Pending>,
    wanted: &mut impl FnMut(&Pending) -> bool,
    out: &mut Vec<Pending>,
) {
    for _ in 0..queue.len() {
        let Some(pending) = queue.pop_front() else {
            return;
        };
        if wanted(&pending) {
            out.push(pending);
        } else {
            queue.push_back(pending);
        }
    }
}
