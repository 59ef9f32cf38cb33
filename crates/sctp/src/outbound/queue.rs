//! Messages that wait to be sent, and which of them goes next.

use std::collections::VecDeque;

use crate::{DataChunk, Message, MessageId, Scheduler, Ssn, Trace, Tsn};

/// A message, or what is left of one after its first pieces went out.
#[derive(Debug)]
struct Pending {
    id: MessageId,
    message: Message,
    /// Given with the first piece: the order within a stream is that of sending.
    ssn: Option<Ssn>,
}

/// Messages not yet sent.
#[derive(Debug)]
pub(crate) struct SendQueue {
    waiting: Waiting,
    /// The message of which a piece went out already. The TSNs of a message run
    /// without a break (RFC 9260, section 6.9), so it is finished first.
    current: Option<Pending>,
    next_id: u64,
    /// For each stream used so far.
    next_ssn: Vec<Ssn>,
    bytes: u32,
    messages: u32,
}

#[derive(Debug)]
enum Waiting {
    FirstCome(VecDeque<Pending>),
    RoundRobin {
        streams: Vec<VecDeque<Pending>>,
        turn: VecDeque<u16>,
    },
}

impl SendQueue {
    pub(crate) fn new(scheduler: Scheduler) -> Self {
        let waiting = match scheduler {
            Scheduler::FirstCome => Waiting::FirstCome(VecDeque::new()),
            Scheduler::RoundRobin => Waiting::RoundRobin {
                streams: Vec::new(),
                turn: VecDeque::new(),
            },
        };
        Self {
            waiting,
            current: None,
            next_id: 0,
            next_ssn: Vec::new(),
            bytes: 0,
            messages: 0,
        }
    }

    /// Bytes of payload that wait.
    pub(crate) const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Least number of bytes that what waits takes in packets.
    pub(crate) const fn chunk_bytes(&self) -> u32 {
        self.bytes
            .saturating_add(self.messages.saturating_mul(DataChunk::HEADER_BYTES))
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Gives back memory, where nothing waits.
    pub(crate) fn trim(&mut self) {
        match &mut self.waiting {
            Waiting::FirstCome(queue) => queue.shrink_to_fit(),
            Waiting::RoundRobin { streams, turn } => {
                streams.iter_mut().for_each(VecDeque::shrink_to_fit);
                turn.shrink_to_fit();
            }
        }
    }

    pub(crate) fn push(&mut self, message: Message) -> MessageId {
        let id = MessageId(self.next_id);
        self.next_id += 1;
        self.bytes += message.payload.len() as u32;
        self.messages += 1;
        let stream = message.stream;
        let pending = Pending {
            id,
            message,
            ssn: None,
        };
        match &mut self.waiting {
            Waiting::FirstCome(queue) => queue.push_back(pending),
            Waiting::RoundRobin { streams, turn } => {
                let index = usize::from(stream);
                if streams.len() <= index {
                    streams.resize_with(index + 1, VecDeque::new);
                }
                if streams[index].is_empty() {
                    turn.push_back(stream);
                }
                streams[index].push_back(pending);
            }
        }
        id
    }

    /// Drops messages for streams from `limit` on: the peer does not accept them.
    pub(crate) fn drop_streams_from(&mut self, limit: u16) {
        let (mut bytes, mut messages) = (0, 0);
        let mut keep = |pending: &Pending| {
            let keeps = pending.message.stream < limit;
            if !keeps {
                bytes += pending.message.payload.len() as u32;
                messages += 1;
            }
            keeps
        };
        match &mut self.waiting {
            Waiting::FirstCome(queue) => queue.retain(keep),
            Waiting::RoundRobin { streams, turn } => {
                streams.iter_mut().for_each(|queue| queue.retain(&mut keep));
                turn.retain(|&stream| stream < limit);
            }
        }
        self.bytes -= bytes;
        self.messages -= messages;
    }

    /// Whether the next chunk, of at most `most` bytes of payload, leaves nothing
    /// behind.
    pub(crate) fn is_last(&self, most: u32) -> bool {
        self.messages == 1 && self.bytes <= most
    }

    /// Payload of the next chunk in bytes, where a chunk takes at most `most`.
    pub(crate) fn next_bytes(&self, most: u32) -> Option<u32> {
        let next = self.current.as_ref().or_else(|| match &self.waiting {
            Waiting::FirstCome(queue) => queue.front(),
            Waiting::RoundRobin { streams, turn } => turn
                .front()
                .and_then(|&stream| streams[usize::from(stream)].front()),
        })?;
        Some((next.message.payload.len() as u32).min(most))
    }

    /// Takes the next chunk off, to go out as `tsn`.
    pub(crate) fn pop(&mut self, tsn: Tsn, most: u32) -> Option<DataChunk> {
        let mut pending = self.current.take().or_else(|| self.waiting.pop())?;
        let stream = pending.message.stream;
        let unordered = pending.message.unordered;
        let (begin, ssn) = match pending.ssn {
            Some(ssn) => (false, ssn),
            None if unordered => (true, Ssn::default()),
            None => (true, take_ssn(&mut self.next_ssn, stream)),
        };
        let end = pending.message.payload.len() <= most as usize;
        let ppid = pending.message.ppid;
        let trace = Trace {
            retransmission: false,
            message: pending.id,
        };
        let payload = if end {
            self.messages -= 1;
            pending.message.payload
        } else {
            let piece = pending.message.payload.split_to(most as usize);
            pending.ssn = Some(ssn);
            self.current = Some(pending);
            piece
        };
        self.bytes -= payload.len() as u32;
        Some(DataChunk {
            tsn,
            stream,
            ssn,
            ppid,
            unordered,
            begin,
            end,
            immediate: false,
            interleaving: None,
            payload,
            trace,
        })
    }
}

impl Waiting {
    fn pop(&mut self) -> Option<Pending> {
        match self {
            Self::FirstCome(queue) => queue.pop_front(),
            Self::RoundRobin { streams, turn } => {
                let stream = turn.pop_front()?;
                let queue = &mut streams[usize::from(stream)];
                let pending = queue.pop_front();
                if !queue.is_empty() {
                    turn.push_back(stream);
                }
                pending
            }
        }
    }
}

fn take_ssn(next_ssn: &mut Vec<Ssn>, stream: u16) -> Ssn {
    let index = usize::from(stream);
    if next_ssn.len() <= index {
        next_ssn.resize(index + 1, Ssn::default());
    }
    let ssn = next_ssn[index];
    next_ssn[index] = ssn.next();
    ssn
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_sansio::Payload;

    fn message(stream: u16, bytes: u32) -> Message {
        Message {
            stream,
            ppid: 0,
            unordered: false,
            payload: Payload::Sized(bytes),
        }
    }

    /// Stream, SSN and length of all chunks, in the order in which they leave.
    fn drain(queue: &mut SendQueue) -> Vec<(u16, u16, usize)> {
        core::iter::from_fn(|| queue.pop(Tsn(0), 100))
            .map(|chunk| (chunk.stream, chunk.ssn.0, chunk.payload.len()))
            .collect()
    }

    #[test]
    fn first_come_keeps_the_order_of_send() {
        let mut queue = SendQueue::new(Scheduler::FirstCome);
        for (stream, bytes) in [(1, 250), (0, 10), (1, 20)] {
            queue.push(message(stream, bytes));
        }
        assert_eq!((queue.bytes(), queue.chunk_bytes()), (280, 328));
        let expected = [(1, 0, 100), (1, 0, 100), (1, 0, 50), (0, 0, 10), (1, 1, 20)];
        assert_eq!(drain(&mut queue), expected);
        assert!(queue.is_empty() && queue.bytes() == 0);
    }

    #[test]
    fn round_robin_gives_each_stream_one_whole_message() {
        let mut queue = SendQueue::new(Scheduler::RoundRobin);
        for (stream, bytes) in [(1, 150), (1, 10), (1, 11), (7, 20), (3, 30), (7, 21)] {
            queue.push(message(stream, bytes));
        }
        let expected = [
            (1, 0, 100),
            (1, 0, 50),
            (7, 0, 20),
            (3, 0, 30),
            (1, 1, 10),
            (7, 1, 21),
            (1, 2, 11),
        ];
        assert_eq!(drain(&mut queue), expected);
    }
}
