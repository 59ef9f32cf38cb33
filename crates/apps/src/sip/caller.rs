//! The originating side: starts calls and carries them through.

use std::collections::VecDeque;

use headway_sansio::{Duration, RandomStream, Time};

use super::arrivals::{Arrivals, Law};
use super::call_table::CallTable;
use super::script::{Course, Script};
use super::timer_queue::{TimerQueue, earliest};
use super::transaction::{Client, ClientAction, ClientState, InviteClient, InviteClientState};
use super::{
    CallRecord, Failure, MessageKind, Odd, SipId, SipTransactions, SipWorkload, read, write,
};
use crate::{Application, Incoming, Outgoing, Peer, Reliability};

/// Starts calls and takes their replies.
///
/// Each INVITE and each BYE runs a client transaction of RFC 3261; each 200 to an
/// INVITE is acknowledged at once, repeated ones again. Where the call goes that
/// far, the caller hangs up `talk_time` after the first 200.
#[derive(Clone, Debug)]
pub struct SipCaller {
    peer: Peer,
    script: Script,
    reliability: Reliability,
    arrivals: Arrivals,
    /// Calls to hang up, in the order of their times: the talk time is constant.
    hang_ups: VecDeque<(Time, u32)>,
    timers: TimerQueue<(u32, Slot)>,
    outputs: VecDeque<Outgoing>,
    records: Vec<CallRecord>,
    calls: CallTable<Call>,
    open: u32,
    odd: Odd,
}

/// What of a call goes on besides its record.
#[derive(Clone, Debug)]
struct Call {
    invite: InviteClient,
    /// Most calls never get as far.
    bye: Option<Box<Client>>,
    /// When the caller's patience ends, where it has an end and no 200 came yet.
    patience: Option<Time>,
    acks: u32,
    byes: u32,
    open: bool,
}

impl Call {
    /// Whether neither the user nor a transaction has anything left to do.
    fn is_over(&self) -> bool {
        let invite = self.invite.state() == InviteClientState::Terminated;
        let bye = self.bye.as_ref().map(|bye| bye.state());
        !self.open && invite && bye.is_none_or(|bye| bye == ClientState::Terminated)
    }

    /// When one of its machines really wants to wake.
    fn due(&self, slot: Slot) -> Option<Time> {
        match slot {
            Slot::Invite => self.invite.poll_timeout(),
            Slot::Bye => self.bye.as_ref()?.poll_timeout(),
            Slot::Patience => self.patience.filter(|_| self.open),
        }
    }
}

/// Which machine of a call a timer wakes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Slot {
    Invite,
    Bye,
    /// The caller's own patience.
    Patience,
}

impl SipCaller {
    /// A caller that makes new calls for `duration` from its start and draws
    /// their times from `arrivals`, over a reliable transport.
    #[must_use]
    pub fn new(
        workload: &SipWorkload,
        duration: Duration,
        arrivals: RandomStream,
        peer: Peer,
    ) -> Self {
        let law = Law::Poisson {
            mean_gap: Duration::from_secs_f64(1.0 / workload.call_rate),
        };
        let mut caller = Self::with(
            workload.script(),
            Arrivals::new(law, duration, arrivals),
            peer,
        );
        let calls = workload.expected_calls(duration);
        caller.records.reserve(calls);
        caller.calls.expect(calls);
        caller
    }

    /// A caller that runs transactions one after another, as seed 1 does: at
    /// most for `duration`, with pauses drawn from `pauses`.
    #[must_use]
    pub fn one_by_one(
        workload: &SipTransactions,
        duration: Duration,
        pauses: RandomStream,
        peer: Peer,
    ) -> Self {
        let law = Law::OneByOne {
            left: workload.transactions,
            pauses: workload.pauses(),
        };
        Self::with(
            workload.script(),
            Arrivals::new(law, duration, pauses),
            peer,
        )
    }

    fn with(script: Script, arrivals: Arrivals, peer: Peer) -> Self {
        Self {
            peer,
            script,
            reliability: Reliability::Reliable,
            arrivals,
            hang_ups: VecDeque::new(),
            timers: TimerQueue::new(),
            outputs: VecDeque::new(),
            records: Vec::new(),
            calls: CallTable::new(),
            open: 0,
            odd: Odd::default(),
        }
    }

    /// The same caller over a transport of this kind. `via` is the transport's
    /// name in the Via header of real text ("UDP", "TCP", "SCTP"); nothing else
    /// depends on it.
    #[must_use]
    pub fn over(mut self, reliability: Reliability, via: &'static str) -> Self {
        self.reliability = reliability;
        self.script.writer.set_via(via);
        self
    }

    /// One record a call, by call number.
    #[must_use]
    pub fn calls(&self) -> &[CallRecord] {
        &self.records
    }

    /// Messages that were of no use.
    #[must_use]
    pub fn odd(&self) -> Odd {
        self.odd
    }

    fn unreliable(&self) -> bool {
        self.reliability == Reliability::Unreliable
    }

    fn send(&mut self, call: u32, kind: MessageKind, copy: u32) {
        self.outputs.push_back(Outgoing {
            id: SipId { call, kind, copy }.encode(),
            to: self.peer,
            context: call,
            payload: self.script.writer.write(call, kind),
        });
    }

    fn send_invite(&mut self, call: u32) {
        let invites = &mut self.records[call as usize].invites;
        let copy = *invites;
        *invites += 1;
        self.send(call, MessageKind::Invite, copy);
    }

    fn send_ack(&mut self, call: u32) {
        if let Some(state) = self.calls.get_mut(call) {
            let copy = state.acks;
            state.acks += 1;
            self.send(call, MessageKind::Ack, copy);
        }
    }

    fn send_bye(&mut self, call: u32) {
        if let Some(state) = self.calls.get_mut(call) {
            let copy = state.byes;
            state.byes += 1;
            self.send(call, MessageKind::Bye, copy);
        }
    }

    fn start_call(&mut self, now: Time) {
        let number = self.records.len() as u32;
        if number == write::MAX_CALLS {
            return;
        }
        let timers = self.script.timers;
        let invite = InviteClient::start(now, timers, self.reliability);
        let due = invite.poll_timeout();
        let limited = self.unreliable() && self.script.course != Course::Ringing;
        let patience = limited.then(|| now + (timers.patience() + self.script.ring_time));
        self.records.push(CallRecord::new(now));
        let call = Call {
            invite,
            bye: None,
            patience,
            acks: 0,
            byes: 0,
            open: true,
        };
        self.calls.insert(number, call);
        self.open += 1;
        self.timers.moved((number, Slot::Invite), None, due);
        self.timers.moved((number, Slot::Patience), None, patience);
        self.send_invite(number);
    }

    /// Nothing more is awaited of the call.
    fn close(&mut self, now: Time, number: u32) {
        let Some(call) = self.calls.get_mut(number).filter(|call| call.open) else {
            return;
        };
        call.open = false;
        self.open -= 1;
        self.arrivals.call_ended(now);
        if self.script.course == Course::Ringing {
            // Nothing is sent any more, whatever comes.
            self.calls.remove(number);
        }
    }

    fn fail(&mut self, now: Time, number: u32, failure: Failure) {
        let record = &mut self.records[number as usize];
        record.failed.get_or_insert((now, failure));
        // A reliable transport still delivers the 180, and until then the
        // post-selection delay goes on, whatever the transaction says.
        if self.unreliable() || self.script.course != Course::Ringing {
            self.close(now, number);
        }
    }

    /// A response to the INVITE arrived. Whether it is of use is the answer.
    fn handle_invite_response(&mut self, now: Time, number: u32, kind: MessageKind) -> bool {
        let code = match kind {
            MessageKind::Trying => 100,
            MessageKind::Ringing => 180,
            _ => 200,
        };
        let unreliable = self.unreliable();
        let call = self.calls.get_mut(number);
        let over = |call: &&mut Call| call.invite.state() == InviteClientState::Terminated;
        let call = call.filter(|call| !unreliable || !over(call));
        let record = &mut self.records[number as usize];
        let seen = match kind {
            MessageKind::Ringing => Some(&mut record.ringing),
            MessageKind::Ok => Some(&mut record.answered),
            _ => None,
        };
        let mut first = false;
        if let Some(seen) = seen {
            first = seen.is_none();
            self.odd.repeated += u64::from(!first);
            if first && call.is_some() {
                *seen = Some(now);
            }
        }
        let Some(call) = call else {
            return !first;
        };
        if kind == MessageKind::Ok {
            call.patience = None;
        }
        let before = call.invite.poll_timeout();
        let action = call.invite.handle_response(now, code);
        let after = call.invite.poll_timeout();
        self.timers.moved((number, Slot::Invite), before, after);
        if kind == MessageKind::Ringing && first && self.script.course == Course::Ringing {
            record.finished = Some(now);
            self.close(now, number);
        }
        if kind == MessageKind::Ok && action == ClientAction::PassUp {
            self.handle_ok(now, number, first);
        }
        true
    }

    /// The transaction gave a 200 up: acknowledge it, and go on at the first.
    fn handle_ok(&mut self, now: Time, number: u32, first: bool) {
        self.send_ack(number);
        if !first || !self.calls.get(number).is_some_and(|call| call.open) {
            return;
        }
        match self.script.course {
            Course::Full => {
                let at = now + self.script.talk_time;
                self.hang_ups.push_back((at, number));
            }
            Course::Ringing | Course::Answer => {
                self.records[number as usize].finished = Some(now);
                self.close(now, number);
            }
        }
    }

    fn hang_up(&mut self, now: Time, number: u32) {
        let bye = Client::start(now, self.script.timers, self.reliability);
        self.timers
            .moved((number, Slot::Bye), None, bye.poll_timeout());
        if let Some(call) = self.calls.get_mut(number) {
            call.bye = Some(Box::new(bye));
        }
        self.send_bye(number);
    }

    /// The 200 to the BYE arrived. Whether the transaction is there at all is
    /// the answer.
    fn handle_bye_ok(&mut self, now: Time, number: u32) -> bool {
        let Some(bye) = self.calls.get_mut(number).and_then(|it| it.bye.as_mut()) else {
            // Its transaction has ended, or never was.
            return false;
        };
        let before = bye.poll_timeout();
        let action = bye.handle_response(now, 200);
        let after = bye.poll_timeout();
        self.timers.moved((number, Slot::Bye), before, after);
        if action == ClientAction::PassUp {
            self.records[number as usize].finished = Some(now);
            self.close(now, number);
        } else {
            self.odd.repeated += 1;
        }
        true
    }

    fn handle_reply(&mut self, now: Time, id: SipId) -> bool {
        if id.call as usize >= self.records.len() {
            return false;
        }
        match (id.kind, self.script.course) {
            (MessageKind::Trying, _)
            | (MessageKind::Ringing, Course::Ringing | Course::Full)
            | (MessageKind::Ok, Course::Full | Course::Answer) => {
                self.handle_invite_response(now, id.call, id.kind)
            }
            (MessageKind::ByeOk, Course::Full) => self.handle_bye_ok(now, id.call),
            _ => false,
        }
    }

    fn handle_timer(&mut self, now: Time, number: u32, slot: Slot) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let action = match (slot, &mut call.bye) {
            (Slot::Invite, _) => call.invite.handle_timeout(now),
            (Slot::Bye, Some(bye)) => bye.handle_timeout(now),
            (Slot::Bye, None) => ClientAction::None,
            (Slot::Patience, _) => ClientAction::TimedOut,
        };
        match (slot, action) {
            (Slot::Invite, ClientAction::Send) => self.send_invite(number),
            (Slot::Bye, ClientAction::Send) => self.send_bye(number),
            (Slot::Invite, ClientAction::TimedOut) => self.fail(now, number, Failure::NoResponse),
            (Slot::Bye, ClientAction::TimedOut) => self.fail(now, number, Failure::NoReplyToBye),
            (Slot::Patience, _) => self.fail(now, number, Failure::NoAnswer),
            _ => {}
        }
        let due = self.calls.get(number).and_then(|call| call.due(slot));
        self.timers.moved((number, slot), None, due);
        if self.calls.get(number).is_some_and(Call::is_over) {
            self.calls.remove(number);
        }
    }

    fn drop_stale_timers(&mut self) {
        let calls = &self.calls;
        self.timers
            .drop_stale(|(call, slot)| calls.get(call)?.due(slot));
    }

    fn take_due_timer(&mut self, now: Time) -> Option<(u32, Slot)> {
        let calls = &self.calls;
        self.timers
            .pop_due(now, |(call, slot)| calls.get(call)?.due(slot))
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
                if !self.handle_reply(now, id) {
                    self.odd.unexpected += 1;
                }
            }
        }
        self.drop_stale_timers();
    }

    fn handle_timeout(&mut self, now: Time) {
        while self.arrivals.take_due(now) {
            self.start_call(now);
        }
        while let Some((_, call)) = self.hang_ups.front().copied().filter(|h| h.0 <= now) {
            self.hang_ups.pop_front();
            self.hang_up(now, call);
        }
        while let Some((call, slot)) = self.take_due_timer(now) {
            self.handle_timer(now, call, slot);
        }
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let hang_up = self.hang_ups.front().map(|(at, _)| *at);
        earliest(self.arrivals.next(), earliest(hang_up, self.timers.next()))
    }

    fn is_done(&self) -> bool {
        self.arrivals.next().is_none() && self.open == 0
    }
}
