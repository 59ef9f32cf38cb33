//! Which stream sends next, as the user wishes (RFC 8260, sections 3 and 4.3).

use super::Association;
use crate::Scheduler;

impl Association {
    /// By which rule streams take turns.
    #[must_use]
    pub const fn scheduler(&self) -> Scheduler {
        self.outbound.queue.scheduler()
    }

    /// Lets another rule hold from now on, also for what waits already. With DATA a
    /// message that is under way is finished first.
    pub fn set_scheduler(&mut self, scheduler: Scheduler) {
        self.outbound.queue.set_scheduler(scheduler);
    }

    /// Priority and weight of a stream.
    #[must_use]
    pub fn stream_priority_and_weight(&self, stream: u16) -> (u16, u16) {
        self.outbound.queue.claim(stream)
    }

    /// Sets the priority of a stream for [`Scheduler::Priority`]: zero, which is
    /// that of all streams at first, is the highest.
    pub fn set_stream_priority(&mut self, stream: u16, priority: u16) {
        let (_, weight) = self.outbound.queue.claim(stream);
        self.outbound.queue.set_claim(stream, (priority, weight));
    }

    /// Sets the weight of a stream for [`Scheduler::WeightedFair`]: 1 at first, and
    /// zero counts as 1.
    pub fn set_stream_weight(&mut self, stream: u16, weight: u16) {
        let (priority, _) = self.outbound.queue.claim(stream);
        self.outbound.queue.set_claim(stream, (priority, weight));
    }

    /// Whether messages of several streams mix in both directions (I-DATA).
    #[must_use]
    pub const fn is_interleaving(&self) -> bool {
        self.extensions.interleaving
    }

    /// Whether messages can be given up that were sent (FORWARD-TSN). Known once
    /// the peer has answered.
    #[must_use]
    pub const fn is_partially_reliable(&self) -> bool {
        self.extensions.partial_reliability
    }
}
