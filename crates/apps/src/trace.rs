//! Messages of a recorded conversation, sent again at their times.

use std::collections::VecDeque;

use headway_sansio::{Duration, Payload, Time};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Application, Incoming, MessageId, Outgoing, Peer};

/// One message of a trace: when, counted from the start, in nanoseconds; its
/// length in bytes; whether it goes from the called side to the calling one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracedMessage(pub u64, pub u32, pub bool);

/// A recorded conversation: the `workload` keys of a run of the kind `trace`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceWorkload {
    /// Its messages by time.
    pub messages: Vec<TracedMessage>,
    /// When a message is of use at the latest, counted from when it was handed
    /// over, in nanoseconds; `None`: always.
    #[serde(default)]
    pub playout_ns: Option<u64>,
}

/// What is wrong with a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TraceError {
    /// There are no messages.
    #[error("workload.messages: there are none")]
    Empty,
    /// Times decrease.
    #[error("workload.messages: number {0} is earlier than the one before it")]
    Order(usize),
    /// A message has no bytes, or more than any transport carries whole.
    #[error("workload.messages: number {0} has {1} bytes; it must be 1 to 65507")]
    Size(usize, u32),
}

impl TraceError {
    /// The key, as a RunSpec spells it.
    pub const KEY: &'static str = "messages";
}

/// What fits a UDP datagram over IPv4, so that a trace runs over every transport.
const MAX_MESSAGE_BYTES: u32 = 65_507;

impl TraceWorkload {
    /// Checks the messages.
    ///
    /// # Errors
    /// The first message that cannot be sent.
    pub fn validate(&self) -> Result<(), TraceError> {
        if self.messages.is_empty() {
            return Err(TraceError::Empty);
        }
        let mut before = 0;
        for (number, &TracedMessage(at, bytes, _)) in self.messages.iter().enumerate() {
            if at < before {
                return Err(TraceError::Order(number));
            }
            if bytes == 0 || bytes > MAX_MESSAGE_BYTES {
                return Err(TraceError::Size(number, bytes));
            }
            before = at;
        }
        Ok(())
    }
}

/// One side of a recorded conversation. It sends at the recorded times, whatever
/// arrives: a recording does not tell what was an answer to what.
#[derive(Clone, Debug)]
pub struct TraceEnd {
    /// Number, time and length of what is still to be sent.
    left: VecDeque<(u64, Duration, u32)>,
    started: Option<Time>,
    outputs: VecDeque<Outgoing>,
    sent: u64,
    received: u64,
}

impl TraceEnd {
    /// The side that sends the messages of this direction handed over within
    /// `duration`.
    #[must_use]
    pub fn new(workload: &TraceWorkload, reverse: bool, duration: Duration) -> Self {
        let own = (0..).zip(&workload.messages);
        let left = own
            .filter(|(_, message)| message.2 == reverse)
            .map(|(number, message)| (number, Duration::from_nanos(message.0), message.1))
            .take_while(|(_, at, _)| *at < duration)
            .collect();
        Self {
            left,
            started: None,
            outputs: VecDeque::new(),
            sent: 0,
            received: 0,
        }
    }

    /// Messages handed over.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Messages that came from the other side.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }
}

impl Application for TraceEnd {
    fn start(&mut self, now: Time) {
        self.started = Some(now);
    }

    fn handle_message(&mut self, _: Time, _: Incoming) {
        self.received += 1;
    }

    fn handle_timeout(&mut self, now: Time) {
        while self.poll_timeout().is_some_and(|at| at <= now)
            && let Some((number, _, bytes)) = self.left.pop_front()
        {
            self.sent += 1;
            self.outputs.push_back(Outgoing {
                id: MessageId(number),
                to: Peer::default(),
                context: 0,
                payload: Payload::Sized(bytes),
            });
        }
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let (_, at, _) = self.left.front()?;
        Some(self.started? + *at)
    }

    fn is_done(&self) -> bool {
        self.left.is_empty() && self.outputs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::{Pipe, Side};
    use headway_sansio::Seed;

    fn trace(messages: &[(u64, u32, bool)]) -> TraceWorkload {
        TraceWorkload {
            messages: messages
                .iter()
                .map(|&(at, bytes, reverse)| TracedMessage(at * 1_000_000, bytes, reverse))
                .collect(),
            playout_ns: None,
        }
    }

    #[test]
    fn each_side_sends_its_own_at_their_times() {
        let workload = trace(&[
            (0, 100, false),
            (0, 5, false),
            (30, 7, true),
            (90, 1, false),
            (500, 9, true),
        ]);
        let end = Duration::from_millis(500);
        let mut a = TraceEnd::new(&workload, false, end);
        let mut b = TraceEnd::new(&workload, true, end);
        let mut pipe = Pipe::new(Duration::from_millis(1), Seed::new(1).stream("pipe"));
        pipe.run(&mut a, &mut b);
        let log: Vec<(u64, Side, u64, usize)> = pipe
            .log
            .iter()
            .map(|(at, side, m)| (at.as_nanos() / 1_000_000, *side, m.id.0, m.payload.len()))
            .collect();
        assert_eq!(
            log,
            [
                (0, Side::A, 0, 100),
                (0, Side::A, 1, 5),
                (30, Side::B, 2, 7),
                (90, Side::A, 3, 1)
            ]
        );
        assert_eq!((a.received(), b.received()), (1, 3));
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        assert_eq!(trace(&[]).validate(), Err(TraceError::Empty));
        let early = trace(&[(5, 1, false), (4, 1, true)]);
        assert_eq!(early.validate(), Err(TraceError::Order(1)));
        let large = trace(&[(5, 70_000, false)]);
        assert_eq!(large.validate(), Err(TraceError::Size(0, 70_000)));
    }
}
