//! The terminating proxy: answers calls.

use std::collections::VecDeque;

use headway_sansio::{Duration, Time};

use super::{AnswerRecord, Flow, MessageKind, Odd, SipId, SipWorkload, read, write::Writer};
use crate::{Application, Incoming, Outgoing, Peer};

/// A call number this far beyond all that came before is not believed: the
/// table of calls is indexed by it, and its size must not be a stranger's choice.
const MAX_CALL_GAP: usize = 1 << 16;

/// Answers each INVITE with 180 at once; in the full flow sends 200 after
/// `ring_time` and answers the BYE.
#[derive(Clone, Debug)]
pub struct SipAnswerer {
    flow: Flow,
    writer: Writer,
    ring_time: Duration,
    /// Calls to answer, in the order of their times: the ring time is constant.
    ringing: VecDeque<(Time, u32, Peer)>,
    outputs: VecDeque<Outgoing>,
    calls: Vec<AnswerRecord>,
    open: u32,
    odd: Odd,
}

impl SipAnswerer {
    /// An answerer for this workload.
    #[must_use]
    pub fn new(workload: &SipWorkload) -> Self {
        Self {
            flow: workload.flow,
            writer: Writer::new(workload),
            ring_time: workload.ring_time(),
            ringing: VecDeque::new(),
            outputs: VecDeque::new(),
            calls: Vec::new(),
            open: 0,
            odd: Odd::default(),
        }
    }

    /// One record a call, by call number; calls that never arrived are empty.
    #[must_use]
    pub fn calls(&self) -> &[AnswerRecord] {
        &self.calls
    }

    /// Messages that were of no use.
    #[must_use]
    pub fn odd(&self) -> Odd {
        self.odd
    }

    fn send(&mut self, to: Peer, call: u32, kind: MessageKind) {
        self.outputs.push_back(Outgoing {
            id: SipId::new(call, kind).encode(),
            to,
            context: call,
            payload: self.writer.write(call, kind),
        });
    }

    /// The record of a call, made where its INVITE is the first to name it.
    fn call_mut(&mut self, call: u32, make: bool) -> Option<&mut AnswerRecord> {
        let index = call as usize;
        if make && index >= self.calls.len() && index - self.calls.len() < MAX_CALL_GAP {
            self.calls.resize(index + 1, AnswerRecord::default());
        }
        self.calls.get_mut(index)
    }

    /// Takes a request; `None` where it is no news.
    fn answer(&mut self, now: Time, from: Peer, id: SipId) -> Option<()> {
        let full = self.flow == Flow::Full;
        let call = self.call_mut(id.call, id.kind == MessageKind::Invite)?;
        let field = match id.kind {
            MessageKind::Invite => &mut call.invited,
            // Unordered delivery can bring the ACK after the BYE; both only need the answer.
            MessageKind::Ack if call.answered.is_some() => &mut call.acknowledged,
            MessageKind::Bye if call.answered.is_some() => &mut call.ended,
            _ => return None,
        };
        if field.is_some() {
            return None;
        }
        *field = Some(now);
        match id.kind {
            MessageKind::Invite => {
                self.send(from, id.call, MessageKind::Ringing);
                if full {
                    self.open += 1;
                    self.ringing
                        .push_back((now + self.ring_time, id.call, from));
                }
            }
            MessageKind::Bye => {
                self.open -= 1;
                self.send(from, id.call, MessageKind::ByeOk);
            }
            _ => {}
        }
        Some(())
    }
}

impl Application for SipAnswerer {
    fn start(&mut self, _now: Time) {}

    fn handle_message(&mut self, now: Time, message: Incoming) {
        match read::identify(&message) {
            Err(_) => self.odd.malformed += 1,
            Ok(id) => {
                if self.answer(now, message.from, id).is_none() {
                    self.odd.unexpected += 1;
                }
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some((_, call, peer)) = self.ringing.front().copied().filter(|r| r.0 <= now) {
            self.ringing.pop_front();
            self.calls[call as usize].answered = Some(now);
            self.send(peer, call, MessageKind::Ok);
        }
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.ringing.front().map(|(at, ..)| *at)
    }

    fn is_done(&self) -> bool {
        self.open == 0
    }
}
