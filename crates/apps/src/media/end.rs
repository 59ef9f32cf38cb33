//! One end of a media flow.

use std::collections::VecDeque;

use headway_sansio::{Payload, Time};

use super::{MediaId, MediaWorkload, Pace};
use crate::{Application, Incoming, MessageId, Outgoing, Peer};

/// What an end received.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Received {
    /// Packets with sound or picture.
    pub packets: u64,
    /// Packets of silences.
    pub fillers: u64,
    /// Packets that came after one with a higher number.
    pub out_of_order: u64,
    /// Packets that no flow sends.
    pub strange: u64,
}

/// Sends media packets, or only takes them in.
#[derive(Clone, Debug)]
pub struct MediaEnd {
    pace: Option<Pace>,
    packet_bytes: u32,
    filler_bytes: u32,
    /// The next packet's name.
    next: MediaId,
    outputs: VecDeque<Outgoing>,
    sent: u64,
    received: Received,
    /// One more than the highest number received.
    expected: u64,
}

impl MediaEnd {
    /// The end of flow number `flow` that sends at the times of `pace`, or does
    /// not send where there is none. `reverse` tells the called side.
    #[must_use]
    pub fn new(workload: &MediaWorkload, flow: u32, reverse: bool, pace: Option<Pace>) -> Self {
        Self {
            pace,
            packet_bytes: workload.packet_bytes(),
            filler_bytes: workload.filler_bytes(),
            next: MediaId {
                flow,
                reverse,
                filler: false,
                sequence: 0,
            },
            outputs: VecDeque::new(),
            sent: 0,
            received: Received::default(),
            expected: 0,
        }
    }

    /// Packets with sound or picture that were handed over.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// What came from the other end.
    #[must_use]
    pub fn received(&self) -> &Received {
        &self.received
    }
}

impl MediaEnd {
    fn send(&mut self, filler: bool) {
        let id = MediaId {
            filler,
            ..self.next
        };
        self.next.sequence += 1;
        self.sent += u64::from(!filler);
        let bytes = if filler {
            self.filler_bytes
        } else {
            self.packet_bytes
        };
        self.outputs.push_back(Outgoing {
            id: id.encode(),
            to: Peer::default(),
            context: id.flow,
            payload: Payload::Sized(bytes),
        });
    }
}

impl Application for MediaEnd {
    fn start(&mut self, now: Time) {
        if let Some(pace) = &mut self.pace {
            pace.start(now);
        }
    }

    fn handle_message(&mut self, _: Time, message: Incoming) {
        let Some(MessageId(id)) = message.id else {
            self.received.strange += 1;
            return;
        };
        let id = MediaId::decode(MessageId(id));
        if id.filler {
            self.received.fillers += 1;
        } else {
            self.received.packets += 1;
        }
        // A copy of the last one is not behind another.
        self.received.out_of_order += u64::from(id.sequence + 1 < self.expected);
        self.expected = self.expected.max(id.sequence + 1);
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some(filler) = self.pace.as_mut().and_then(|pace| pace.take_due(now)) {
            self.send(filler);
        }
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.pace.as_ref()?.next()
    }

    fn is_done(&self) -> bool {
        self.poll_timeout().is_none() && self.outputs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::Pipe;
    use headway_sansio::{Duration, Seed};

    #[test]
    fn a_flow_arrives_and_counts() {
        let workload = MediaWorkload::default();
        let ten = Duration::from_secs(10);
        let pace = workload.pace(ten, Seed::new(1).stream("source"));
        let mut source = MediaEnd::new(&workload, 3, false, Some(pace));
        let mut sink = MediaEnd::new(&workload, 3, true, None);
        let mut pipe = Pipe::new(Duration::from_millis(50), Seed::new(1).stream("pipe"));
        pipe.jitter = Duration::from_millis(30);
        pipe.run(&mut source, &mut sink);
        assert_eq!(source.sent(), 500);
        assert_eq!(sink.received().packets, 500);
        assert!(sink.received().out_of_order > 0);
        assert!(pipe.log.iter().all(|(_, _, m)| m.payload.len() == 172));
    }
}
