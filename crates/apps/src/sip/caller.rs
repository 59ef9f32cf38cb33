//! The originating proxy: starts calls as a Poisson process.

use std::collections::VecDeque;

use headway_sansio::{Duration, RandomStream, Time};

use super::{CallRecord, Flow, MessageKind, Odd, SipId, SipWorkload, read, write, write::Writer};
use crate::{Application, Incoming, Outgoing, Peer};

/// Starts calls at random times and takes their replies.
///
/// In the full flow it acknowledges each 200 at once and hangs up `talk_time`
/// later.
#[derive(Clone, Debug)]
pub struct SipCaller {
    peer: Peer,
    flow: Flow,
    writer: Writer,
    arrivals: Arrivals,
    talk_time: Duration,
    /// Calls to hang up, in the order of their times: the talk time is constant.
    hang_ups: VecDeque<(Time, u32)>,
    outputs: VecDeque<Outgoing>,
    calls: Vec<CallRecord>,
    finished: u32,
    odd: Odd,
}

/// The Poisson process of new calls.
#[derive(Clone, Debug)]
struct Arrivals {
    random: RandomStream,
    mean_gap: Duration,
    duration: Duration,
    end: Time,
    next: Option<Time>,
}

impl Arrivals {
    fn start(&mut self, now: Time) {
        self.end = now + self.duration;
        self.schedule_after(now);
    }

    fn schedule_after(&mut self, time: Time) {
        let at = time + self.random.exponential_duration(self.mean_gap);
        self.next = (at < self.end).then_some(at);
    }

    /// Whether an arrival is due; each one is told once.
    fn take_due(&mut self, now: Time) -> bool {
        let Some(at) = self.next.filter(|at| *at <= now) else {
            return false;
        };
        self.schedule_after(at);
        true
    }
}

impl SipCaller {
    /// A caller that makes new calls for `duration` from its start and draws
    /// their times from `arrivals`.
    #[must_use]
    pub fn new(
        workload: &SipWorkload,
        duration: Duration,
        arrivals: RandomStream,
        peer: Peer,
    ) -> Self {
        Self {
            peer,
            flow: workload.flow,
            writer: Writer::new(workload),
            arrivals: Arrivals {
                random: arrivals,
                mean_gap: Duration::from_secs_f64(1.0 / workload.call_rate),
                duration,
                end: Time::ZERO,
                next: None,
            },
            talk_time: workload.talk_time(),
            hang_ups: VecDeque::new(),
            outputs: VecDeque::new(),
            calls: Vec::new(),
            finished: 0,
            odd: Odd::default(),
        }
    }

    /// One record a call, by call number.
    #[must_use]
    pub fn calls(&self) -> &[CallRecord] {
        &self.calls
    }

    /// Messages that were of no use.
    #[must_use]
    pub fn odd(&self) -> Odd {
        self.odd
    }

    fn send(&mut self, call: u32, kind: MessageKind) {
        self.outputs.push_back(Outgoing {
            id: SipId::new(call, kind).encode(),
            to: self.peer,
            context: call,
            payload: self.writer.write(call, kind),
        });
    }

    fn start_call(&mut self, now: Time) {
        let call = self.calls.len() as u32;
        if call == write::MAX_CALLS {
            return;
        }
        self.calls.push(CallRecord {
            started: now,
            ringing: None,
            answered: None,
            finished: None,
        });
        self.send(call, MessageKind::Invite);
    }

    /// Puts the time of a reply into its record; `None` where it is no news.
    fn record(&mut self, now: Time, id: SipId) -> Option<()> {
        let call = self.calls.get_mut(id.call as usize)?;
        let field = match (id.kind, self.flow) {
            (MessageKind::Ringing, _) => &mut call.ringing,
            (MessageKind::Ok, Flow::Full) => &mut call.answered,
            (MessageKind::ByeOk, Flow::Full) => &mut call.finished,
            _ => return None,
        };
        if field.is_some() {
            return None;
        }
        *field = Some(now);
        match (id.kind, self.flow) {
            (MessageKind::Ringing, Flow::InviteRinging) => {
                call.finished = Some(now);
                self.finished += 1;
            }
            (MessageKind::Ok, _) => {
                self.send(id.call, MessageKind::Ack);
                self.hang_ups.push_back((now + self.talk_time, id.call));
            }
            (MessageKind::ByeOk, _) => self.finished += 1,
            _ => {}
        }
        Some(())
    }
}

impl Application for SipCaller {
    fn start(&mut self, now: Time) {
        self.arrivals.start(now);
    }

    fn handle_message(&mut self, now: Time, message: Incoming) {
        match read::identify(&message) {
            Err(_) => self.odd.malformed += 1,
            Ok(id) => {
                if self.record(now, id).is_none() {
                    self.odd.unexpected += 1;
                }
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        while self.arrivals.take_due(now) {
            self.start_call(now);
        }
        while let Some((_, call)) = self.hang_ups.front().copied().filter(|(at, _)| *at <= now) {
            self.hang_ups.pop_front();
            self.send(call, MessageKind::Bye);
        }
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let hang_up = self.hang_ups.front().map(|(at, _)| *at);
        self.arrivals.next.into_iter().chain(hang_up).min()
    }

    fn is_done(&self) -> bool {
        self.arrivals.next.is_none() && self.finished as usize == self.calls.len()
    }
}
