//! Messages that wait to be sent, and how they are cut into chunks.

use headway_sansio::{Payload, Time};

use super::limit::Limit;
use super::schedule::Claim;
use super::waiting::Waiting;
use crate::{DataChunk, Interleaving, Message, MessageId, Mid, Scheduler, Ssn, Trace, Tsn};

/// A message, or what is left of one after its first pieces went out.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) id: MessageId,
    pub(super) payload: Payload,
    pub(super) limit: Limit,
    /// What its pieces so far were numbered with.
    pub(super) begun: Option<Begun>,
    ppid: u32,
    pub(super) stream: u16,
    unordered: bool,
    immediate_sack: bool,
}

/// Numbers are given with the first piece: the order within a stream is that of
/// sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    number: u32,
    /// Number of the next piece.
    piece: u32,
}

/// Messages not yet sent.
#[derive(Debug)]
pub(crate) struct SendQueue {
    waiting: Waiting,
    /// The message of DATA of which a piece went out already. The TSNs of a message
    /// run without a break (RFC 9260, section 6.9), so it is finished first.
    current: Option<Pending>,
    /// I-DATA goes out in place of DATA (RFC 8260).
    interleaving: bool,
    next_id: u64,
    /// For each stream used so far.
    numbers: Vec<Numbers>,
    bytes: u32,
    messages: u32,
    /// Messages of which a piece went out.
    begun: u32,
    /// When the first message expires, or earlier.
    earliest: Time,
    /// Messages that may be given up for others.
    prioritised: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    ordered: u32,
    unordered: u32,
}

impl SendQueue {
    pub(crate) fn new(scheduler: Scheduler) -> Self {
        Self {
            waiting: Waiting::new(scheduler),
            current: None,
            interleaving: false,
            next_id: 0,
            numbers: Vec::new(),
            bytes: 0,
            messages: 0,
            begun: 0,
            earliest: Time::FAR_FUTURE,
            prioritised: 0,
        }
    }

    /// Bytes of payload that wait.
    pub(crate) const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Length of a chunk's header.
    pub(crate) const fn header_bytes(&self) -> u32 {
        if self.interleaving {
            DataChunk::INTERLEAVED_HEADER_BYTES
        } else {
            DataChunk::HEADER_BYTES
        }
    }

    /// Least number of bytes that what waits takes in packets.
    pub(crate) const fn chunk_bytes(&self) -> u32 {
        self.bytes
            .saturating_add(self.messages.saturating_mul(self.header_bytes()))
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// When a message expires, at the earliest.
    pub(crate) const fn earliest(&self) -> Time {
        self.earliest
    }

    /// Whether any message may be given up for others.
    pub(super) const fn has_prioritised(&self) -> bool {
        self.prioritised > 0
    }

    /// From now on pieces of several messages may mix, or not.
    pub(crate) fn set_interleaving(&mut self, interleaving: bool) {
        if self.interleaving == interleaving {
            return;
        }
        self.interleaving = interleaving;
        if let Some(current) = self.current.take() {
            self.waiting.put_back(current);
        }
    }

    pub(super) const fn is_interleaving(&self) -> bool {
        self.interleaving
    }

    pub(crate) const fn scheduler(&self) -> Scheduler {
        self.waiting.scheduler()
    }

    /// Lets another scheduler decide from now on. A message that is under way is
    /// finished first, unless pieces may mix.
    pub(crate) fn set_scheduler(&mut self, scheduler: Scheduler) {
        self.waiting.set_scheduler(scheduler);
    }

    /// What the user has set for a stream: priority and weight.
    pub(crate) fn claim(&self, stream: u16) -> (u16, u16) {
        let claim = self.waiting.claim(stream);
        (claim.priority, claim.weight)
    }

    /// Sets the priority of a stream (zero is the highest) and its weight.
    pub(crate) fn set_claim(&mut self, stream: u16, (priority, weight): (u16, u16)) {
        let claim = Claim {
            priority,
            weight: weight.max(1),
        };
        self.waiting.set_claim(stream, claim);
    }

    /// Gives back memory, where nothing waits.
    pub(crate) fn trim(&mut self) {
        self.waiting.trim();
    }

    pub(crate) fn push(&mut self, now: Time, message: Message) -> MessageId {
        let id = self.reserve();
        self.push_reserved(id, now, message);
        id
    }

    /// The number of a message that comes later.
    pub(crate) const fn reserve(&mut self) -> MessageId {
        let id = MessageId(self.next_id);
        self.next_id += 1;
        id
    }

    #[inline]
    pub(crate) fn push_reserved(&mut self, id: MessageId, now: Time, message: Message) {
        self.bytes += message.payload.len() as u32;
        self.messages += 1;
        let limit = Limit::of(message.reliability, now);
        match limit {
            Limit::Until(end) => self.earliest = self.earliest.min(end),
            Limit::Priority(_) => self.prioritised += 1,
            Limit::None | Limit::Retransmissions(_) => {}
        }
        self.waiting.push(Pending {
            id,
            payload: message.payload,
            limit,
            begun: None,
            ppid: message.ppid,
            stream: message.stream,
            unordered: message.unordered,
            immediate_sack: message.immediate_sack,
        });
    }

    /// Begins a packet: it may carry whatever is next.
    pub(crate) const fn begin_packet(&mut self) {
        self.waiting.begin_packet();
    }

    /// A chunk of this stream is in the packet under construction.
    pub(super) const fn confine(&mut self, stream: u16) {
        self.waiting.confine(stream);
    }

    /// Whether the next chunk, of at most `most` bytes of payload, leaves nothing
    /// behind.
    pub(crate) fn is_last(&self, most: u32) -> bool {
        self.messages == 1 && self.bytes <= most
    }

    /// Payload of the next chunk in bytes, where a chunk takes at most `most`.
    pub(crate) fn next_bytes(&self, most: u32) -> Option<u32> {
        let next = match &self.current {
            Some(current) => self.waiting.admits(current.stream).then_some(current),
            None => self.waiting.first(),
        }?;
        Some((next.payload.len() as u32).min(most))
    }

    /// Takes the message out whose piece goes next. With I-DATA the scheduler is
    /// asked again for the next piece, with DATA for the next message.
    #[inline]
    fn take_next(&mut self, most: u32) -> Option<Pending> {
        if self.current.is_some() {
            return self.current.take();
        }
        let unit = if self.interleaving { most } else { u32::MAX };
        self.waiting.take(unit)
    }

    /// Takes the next chunk off, to go out as `tsn`.
    #[inline]
    pub(crate) fn pop(&mut self, tsn: Tsn, most: u32) -> Option<(DataChunk, Limit)> {
        let mut pending = self.take_next(most)?;
        let stream = pending.stream;
        let unordered = pending.unordered;
        let begin = pending.begun.is_none();
        let Begun { number, piece } = match pending.begun {
            Some(begun) => begun,
            None => Begun {
                number: self.take_number(stream, unordered),
                piece: 0,
            },
        };
        let limit = pending.limit;
        let end = pending.payload.len() <= most as usize;
        let ppid = pending.ppid;
        let immediate = end && pending.immediate_sack;
        let trace = Trace {
            retransmission: false,
            message: pending.id,
        };
        let payload = if end {
            self.messages -= 1;
            self.begun -= u32::from(!begin);
            self.prioritised -= u32::from(limit.is_priority());
            pending.payload
        } else {
            self.begun += u32::from(begin);
            pending.begun = Some(Begun {
                number,
                piece: piece.wrapping_add(1),
            });
            self.cut(pending, most)
        };
        self.bytes -= payload.len() as u32;
        self.confine(stream);
        let (ssn, ppid, interleaving) = if self.interleaving {
            let numbers = Interleaving {
                mid: Mid(number),
                fsn: piece,
            };
            (Ssn(0), if begin { ppid } else { 0 }, Some(numbers))
        } else {
            let ssn = if unordered { 0 } else { number as u16 };
            (Ssn(ssn), ppid, None)
        };
        let chunk = DataChunk {
            tsn,
            stream,
            ssn,
            ppid,
            unordered,
            begin,
            end,
            immediate,
            interleaving,
            payload,
            trace,
        };
        Some((chunk, limit))
    }

    /// Takes `most` bytes off a message, and keeps the rest.
    #[inline(never)]
    fn cut(&mut self, mut pending: Pending, most: u32) -> Payload {
        let payload = pending.payload.split_to(most as usize);
        if self.interleaving {
            self.waiting.keep(pending);
        } else {
            self.current = Some(pending);
        }
        payload
    }

    fn take_number(&mut self, stream: u16, unordered: bool) -> u32 {
        if unordered && !self.interleaving {
            return 0;
        }
        let index = usize::from(stream);
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, Numbers::default());
        }
        let numbers = &mut self.numbers[index];
        let next = if unordered {
            &mut numbers.unordered
        } else {
            &mut numbers.ordered
        };
        let number = *next;
        *next = number.wrapping_add(1);
        number
    }

    /// Numbers the messages of these streams from zero again, or of all streams
    /// where none is named (RFC 6525, section 5.1.2; RFC 8260, section 2.3.2).
    pub(crate) fn restart_numbers(&mut self, streams: &[u16]) {
        if streams.is_empty() {
            self.numbers.clear();
        }
        for &stream in streams {
            if let Some(numbers) = self.numbers.get_mut(usize::from(stream)) {
                *numbers = Numbers::default();
            }
        }
    }

    /// Whether a message, or the rest of one, waits for a stream that `wanted` names.
    pub(crate) fn any_waits(&self, wanted: impl Fn(u16) -> bool) -> bool {
        let mut any = false;
        if self.messages > 0 {
            self.for_each(|pending| any |= wanted(pending.stream));
        }
        any
    }

    /// Drops messages for streams from `limit` on: the peer does not accept them.
    pub(crate) fn drop_streams_from(&mut self, limit: u16) {
        self.withdraw(|pending| pending.stream >= limit);
    }

    /// A last piece, without content, for a message of which others went out.
    pub(super) fn last_piece(&self, pending: &Pending) -> DataChunk {
        let (number, piece) = pending.begun.map_or((0, 0), |b| (b.number, b.piece));
        let numbers = Interleaving {
            mid: Mid(number),
            fsn: piece,
        };
        let ordered = !pending.unordered && !self.interleaving;
        DataChunk {
            tsn: Tsn(0),
            stream: pending.stream,
            ssn: Ssn(if ordered { number as u16 } else { 0 }),
            ppid: 0,
            unordered: pending.unordered,
            begin: false,
            end: true,
            immediate: false,
            interleaving: self.interleaving.then_some(numbers),
            payload: Payload::Sized(0),
            trace: Trace {
                retransmission: true,
                message: pending.id,
            },
        }
    }

    /// How many messages there are of which something went out.
    pub(super) const fn begun_messages(&self) -> u32 {
        self.begun
    }

    pub(super) fn for_each(&self, mut look: impl FnMut(&Pending)) {
        self.current.iter().for_each(&mut look);
        self.waiting.for_each(look);
    }

    /// Takes the messages out that `wanted` names.
    pub(super) fn withdraw(&mut self, mut wanted: impl FnMut(&Pending) -> bool) -> Vec<Pending> {
        let mut out: Vec<Pending> = Vec::new();
        out.extend(self.current.take_if(|pending| wanted(pending)));
        self.waiting.withdraw(wanted, &mut out);
        for pending in &out {
            self.bytes -= pending.payload.len() as u32;
            self.messages -= 1;
            self.begun -= u32::from(pending.begun.is_some());
            self.prioritised -= u32::from(pending.limit.is_priority());
        }
        out
    }

    /// Nothing expires any more, as the association is over.
    pub(crate) const fn forget_deadlines(&mut self) {
        self.earliest = Time::FAR_FUTURE;
    }

    /// Takes the messages out that have expired. Those begun stay where `begun` is
    /// false, and expire no more.
    pub(super) fn withdraw_expired(&mut self, now: Time, begun: bool) -> Vec<Pending> {
        if self.earliest > now {
            return Vec::new();
        }
        let mut earliest = Time::FAR_FUTURE;
        let expired = self.withdraw(|pending| match pending.limit {
            Limit::Until(_) if pending.begun.is_some() && !begun => false,
            Limit::Until(end) if end <= now => true,
            Limit::Until(end) => {
                earliest = earliest.min(end);
                false
            }
            _ => false,
        });
        self.earliest = earliest;
        expired
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
