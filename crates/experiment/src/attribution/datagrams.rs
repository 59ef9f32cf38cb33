//! Taking delay apart where each message is one datagram of its own (UDP).
//!
//! Nothing waits at the sender, nothing is sent again by the transport and
//! nothing holds another message up, so the delay of what arrives is the
//! network's alone. A message that the application repeats is a message of its
//! own; one that is lost is never delivered and has no delay.

use std::collections::BTreeMap;

use headway_sansio::Time;

use super::{MessageRow, Moments, Totals};

/// One message on its way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    size_bytes: u32,
    handed_over: Time,
    sent: Time,
    would_arrive: Option<Time>,
    arrived: Option<Time>,
}

/// The trace of one direction of a datagram service.
#[derive(Debug, Default)]
pub struct DatagramTrace {
    totals: Totals,
    rows: Option<Vec<MessageRow>>,
    under_way: BTreeMap<u64, Pending>,
    /// `None` where nobody asks which were lost: they may be many.
    lost: Option<Vec<u64>>,
}

impl DatagramTrace {
    /// A trace that keeps a row for each message where `keep_rows` says so, and
    /// the names of the lost ones where `keep_lost` does.
    #[must_use]
    pub fn new(keep_rows: bool, keep_lost: bool) -> Self {
        Self {
            rows: keep_rows.then(Vec::new),
            lost: keep_lost.then(Vec::new),
            ..Self::default()
        }
    }

    /// What the messages add up to so far.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The rows, where they were kept, in the order of delivery.
    #[must_use]
    pub fn into_rows(self) -> Vec<MessageRow> {
        self.rows.unwrap_or_default()
    }

    /// Messages handed over and neither delivered nor lost.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.under_way.len() as u64
    }

    /// The messages that were lost, in the order of their loss, where they were
    /// kept.
    #[must_use]
    pub fn lost_messages(&self) -> &[u64] {
        self.lost.as_deref().unwrap_or_default()
    }

    /// The application handed over a message.
    pub fn handed_over(&mut self, now: Time, id: u64, size_bytes: u32) {
        self.totals.handed_over += 1;
        self.totals.handed_over_bytes += u64::from(size_bytes);
        let pending = Pending {
            size_bytes,
            handed_over: now,
            sent: now,
            would_arrive: None,
            arrived: None,
        };
        self.under_way.insert(id, pending);
    }

    /// Its datagram was put on the wire.
    pub fn sent(&mut self, now: Time, id: u64) {
        self.totals.first_transmissions += 1;
        if let Some(pending) = self.under_way.get_mut(&id) {
            pending.sent = now;
        }
    }

    /// It was lost.
    pub fn lost(&mut self, id: u64) {
        self.totals.lost_chunks += 1;
        if let Some(lost) = &mut self.lost {
            lost.push(id);
        }
        self.under_way.remove(&id);
    }

    /// It arrives at `at`; a copy that the network makes counts for nothing.
    pub fn would_arrive(&mut self, id: u64, at: Time) {
        if let Some(pending) = self.under_way.get_mut(&id) {
            pending.would_arrive.get_or_insert(at);
        }
    }

    /// It reached the receiver.
    pub fn arrived(&mut self, now: Time, id: u64) {
        if let Some(pending) = self.under_way.get_mut(&id) {
            pending.arrived.get_or_insert(now);
        }
    }

    /// The application got the message. `None` where it had got it before, or
    /// it is no message of this trace.
    pub fn delivered(&mut self, now: Time, id: u64) -> Option<MessageRow> {
        let pending = self.under_way.remove(&id)?;
        let arrived = pending.arrived.unwrap_or(now);
        let parts = Moments {
            handed_over: pending.handed_over,
            last_byte_sent: pending.sent,
            would_arrive: pending.would_arrive.unwrap_or(arrived),
            all_arrived: arrived,
            delivered: now,
        }
        .parts();
        let row = MessageRow {
            id,
            size_bytes: pending.size_bytes,
            handed_over: pending.handed_over,
            delay: now.since(pending.handed_over),
            parts,
            transmissions: 1,
            lost_first: false,
        };
        self.totals.count_delivered(&parts);
        if let Some(rows) = &mut self.rows {
            rows.push(row);
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_sansio::Duration;

    fn ms(n: u64) -> Time {
        Time::ZERO + Duration::from_millis(n)
    }

    #[test]
    fn all_delay_is_the_network_s_and_a_lost_message_has_none() {
        let mut trace = DatagramTrace::new(true, true);
        for id in [1, 2] {
            trace.handed_over(ms(id), id, 900);
            trace.sent(ms(id), id);
        }
        trace.lost(1);
        trace.would_arrive(1, ms(21));
        trace.would_arrive(2, ms(22));
        assert_eq!(trace.outstanding(), 1);
        trace.arrived(ms(22), 2);
        let row = trace.delivered(ms(22), 2).unwrap();
        assert_eq!(row.parts.network, Duration::from_millis(20));
        assert_eq!(row.parts.delay(), row.delay);
        // The network made a copy of it.
        trace.arrived(ms(23), 2);
        assert_eq!(trace.delivered(ms(23), 2), None);
        assert_eq!((trace.outstanding(), trace.totals().delivered), (0, 1));
        assert_eq!(trace.lost_messages(), [1]);
        assert_eq!(trace.into_rows().len(), 1);
    }
}
