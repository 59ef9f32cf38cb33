//! The terminating side: answers calls.

use std::collections::VecDeque;

use headway_sansio::Time;

use super::call_table::CallTable;
use super::script::{Course, RepeatedInvite, Script};
use super::timer_queue::{TimerQueue, earliest};
use super::transaction::{
    InviteServer, InviteServerState, OkRepeater, RepeatAction, Server, ServerAction, ServerState,
    Trying,
};
use super::{AnswerRecord, MessageKind, Odd, SipId, SipTransactions, SipWorkload, read};
use crate::{Application, Incoming, Outgoing, Peer, Reliability};

/// A call number this far beyond all that came before is not believed: the
/// table of calls is indexed by it, and its size must not be a stranger's choice.
const MAX_CALL_GAP: usize = 1 << 16;

/// Answers each INVITE at once, with 180 or with 100 and 200, and takes the call
/// as far as the workload says.
///
/// Each INVITE and each BYE runs a server transaction of RFC 3261. Over an
/// unreliable transport the 200 is repeated until its ACK comes.
#[derive(Clone, Debug)]
pub struct SipAnswerer {
    script: Script,
    reliability: Reliability,
    /// Calls to answer, in the order of their times: the ring time is constant.
    ringing: VecDeque<(Time, u32)>,
    timers: TimerQueue<(u32, Slot)>,
    outputs: VecDeque<Outgoing>,
    records: Vec<AnswerRecord>,
    calls: CallTable<Call>,
    /// Calls whose ACK is still missing.
    waiting: u32,
    odd: Odd,
}

/// What of a call goes on besides its record.
#[derive(Clone, Debug)]
struct Call {
    peer: Peer,
    invite: InviteServer,
    ok: Option<OkRepeater>,
    /// Most calls never get as far.
    bye: Option<Box<Server>>,
    tryings: u32,
    ringings: u32,
    bye_oks: u32,
}

impl Call {
    /// Whether no transaction and no repetition is left, and no BYE is to come.
    fn is_over(&self, course: Course) -> bool {
        let invite = self.invite.state() == InviteServerState::Terminated;
        let ok = self.ok.is_none_or(|ok| !ok.is_waiting());
        let bye = match &self.bye {
            Some(bye) => bye.state() == ServerState::Terminated,
            None => course != Course::Full,
        };
        invite && ok && bye
    }

    /// When one of its machines really wants to wake.
    fn due(&self, slot: Slot) -> Option<Time> {
        match slot {
            Slot::Invite => self.invite.poll_timeout(),
            Slot::Ok => self.ok.as_ref()?.poll_timeout(),
            Slot::Bye => self.bye.as_ref()?.poll_timeout(),
        }
    }
}

/// Which machine of a call a timer wakes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Slot {
    Invite,
    Ok,
    Bye,
}

impl SipAnswerer {
    /// An answerer for this workload, over a reliable transport.
    #[must_use]
    pub fn new(workload: &SipWorkload) -> Self {
        Self::with(workload.script())
    }

    /// An answerer for seed 1's transactions.
    #[must_use]
    pub fn for_transactions(workload: &SipTransactions) -> Self {
        Self::with(workload.script())
    }

    fn with(script: Script) -> Self {
        Self {
            script,
            reliability: Reliability::Reliable,
            ringing: VecDeque::new(),
            timers: TimerQueue::new(),
            outputs: VecDeque::new(),
            records: Vec::new(),
            calls: CallTable::new(),
            waiting: 0,
            odd: Odd::default(),
        }
    }

    /// The same answerer, with room for so many calls.
    #[must_use]
    pub fn expecting(mut self, calls: usize) -> Self {
        self.records.reserve(calls);
        self.calls.expect(calls);
        self
    }

    /// The same answerer over a transport of this kind, with its name in the
    /// Via header of real text, see [`SipCaller::over`](super::SipCaller::over).
    #[must_use]
    pub fn over(mut self, reliability: Reliability, via: &'static str) -> Self {
        self.reliability = reliability;
        self.script.writer.set_via(via);
        self
    }

    /// One record a call, by call number; calls that never arrived are empty.
    #[must_use]
    pub fn calls(&self) -> &[AnswerRecord] {
        &self.records
    }

    /// Messages that were of no use.
    #[must_use]
    pub fn odd(&self) -> Odd {
        self.odd
    }

    fn send(&mut self, number: u32, kind: MessageKind) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let count = match kind {
            MessageKind::Trying => &mut call.tryings,
            MessageKind::Ringing => &mut call.ringings,
            MessageKind::ByeOk => &mut call.bye_oks,
            _ => &mut self.records[number as usize].oks,
        };
        let copy = *count;
        *count += 1;
        let to = call.peer;
        self.put_out(number, kind, copy, to);
    }

    fn put_out(&mut self, call: u32, kind: MessageKind, copy: u32, to: Peer) {
        self.outputs.push_back(Outgoing {
            id: SipId { call, kind, copy }.encode(),
            to,
            context: call,
            payload: self.script.writer.write(call, kind),
        });
    }

    /// Does what the INVITE's transaction says about a response of this kind.
    fn act(&mut self, number: u32, action: ServerAction, response: MessageKind) {
        match action {
            ServerAction::SendTrying => self.send(number, MessageKind::Trying),
            ServerAction::Send | ServerAction::SendAgain => self.send(number, response),
            _ => {}
        }
    }

    fn handle_invite(&mut self, now: Time, number: u32, from: Peer) -> bool {
        let index = number as usize;
        if index >= self.records.len() {
            if index - self.records.len() >= MAX_CALL_GAP {
                return false;
            }
            self.records.resize(index + 1, AnswerRecord::default());
        }
        match self.records[index].invited {
            Some(_) => self.handle_repeated_invite(number),
            None => self.handle_first_invite(now, number, from),
        }
        true
    }

    fn handle_first_invite(&mut self, now: Time, number: u32, peer: Peer) {
        self.records[number as usize].invited = Some(now);
        let trying = match self.script.course {
            Course::Answer => Trying::AtOnce,
            // The 180 comes at once, so that no 100 is needed.
            Course::Ringing | Course::Full => Trying::WhenSlow,
        };
        let (timers, reliability) = (self.script.timers, self.reliability);
        let (mut invite, action) = InviteServer::start(now, timers, reliability, trying);
        if self.script.course == Course::Ringing && reliability == Reliability::Reliable {
            // The INVITE will not come again, so that nothing of the call is kept.
            if invite.respond(now, 180) == ServerAction::Send {
                self.put_out(number, MessageKind::Ringing, 0, peer);
            }
            return;
        }
        let call = Call {
            peer,
            invite,
            ok: None,
            bye: None,
            tryings: 0,
            ringings: 0,
            bye_oks: 0,
        };
        self.calls.insert(number, call);
        self.act(number, action, MessageKind::Trying);
        match self.script.course {
            Course::Ringing => self.ring(now, number),
            Course::Full => {
                self.ring(now, number);
                let at = now + self.script.ring_time;
                self.ringing.push_back((at, number));
            }
            Course::Answer => self.answer(now, number),
        }
    }

    fn handle_repeated_invite(&mut self, number: u32) {
        self.odd.repeated += 1;
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let action = call.invite.handle_invite();
        let answered = call.invite.state() == InviteServerState::Accepted;
        let waiting = call.ok.is_some_and(|ok| ok.is_waiting());
        self.act(number, action, MessageKind::Ringing);
        if answered && self.script.repeated_invite != RepeatedInvite::Absorb {
            self.send(number, MessageKind::Trying);
            if waiting && self.script.repeated_invite == RepeatedInvite::TryingAndOk {
                self.send(number, MessageKind::Ok);
            }
        }
    }

    fn ring(&mut self, now: Time, number: u32) {
        if let Some(call) = self.calls.get_mut(number) {
            let action = call.invite.respond(now, 180);
            self.act(number, action, MessageKind::Ringing);
        }
    }

    /// The called party answers.
    fn answer(&mut self, now: Time, number: u32) {
        let timers = self.script.timers;
        let repeats =
            self.reliability == Reliability::Unreliable || self.script.repeat_ok_when_reliable;
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        let before = call.invite.poll_timeout();
        let action = call.invite.respond(now, 200);
        let after = call.invite.poll_timeout();
        call.ok = repeats.then(|| OkRepeater::start(now, timers));
        let repeat = call.ok.and_then(|ok| ok.poll_timeout());
        self.timers.moved((number, Slot::Invite), before, after);
        self.timers.moved((number, Slot::Ok), None, repeat);
        self.waiting += u32::from(repeats);
        self.records[number as usize].answered = Some(now);
        self.act(number, action, MessageKind::Ok);
    }

    /// The 200 need not be repeated any more.
    fn stop_repeating(&mut self, number: u32) {
        if let Some(ok) = self.calls.get_mut(number).and_then(|call| call.ok.as_mut())
            && ok.is_waiting()
        {
            ok.stop();
            self.waiting -= 1;
        }
    }

    fn handle_ack(&mut self, now: Time, number: u32) -> bool {
        let Some(call) = self.calls.get_mut(number) else {
            return false;
        };
        if call.invite.handle_ack(now) != ServerAction::PassUp {
            return false;
        }
        let record = &mut self.records[number as usize];
        if record.acknowledged.is_some() {
            self.odd.repeated += 1;
        }
        record.acknowledged.get_or_insert(now);
        self.stop_repeating(number);
        true
    }

    fn handle_bye(&mut self, now: Time, number: u32) -> bool {
        let (timers, reliability) = (self.script.timers, self.reliability);
        // Without a 200 there is no dialog that a BYE could end.
        if self
            .records
            .get(number as usize)
            .is_none_or(|r| r.answered.is_none())
        {
            return false;
        }
        let Some(call) = self.calls.get_mut(number) else {
            return false;
        };
        let action = match &mut call.bye {
            Some(bye) => bye.handle_request(),
            None => {
                let mut bye = Server::start(timers, reliability);
                let action = bye.respond(now, 200);
                let due = bye.poll_timeout();
                call.bye = Some(Box::new(bye));
                self.timers.moved((number, Slot::Bye), None, due);
                self.records[number as usize].ended = Some(now);
                // Whoever hangs up has heard the answer.
                self.stop_repeating(number);
                self.send(number, MessageKind::ByeOk);
                self.drop_if_over(number);
                return action == ServerAction::Send;
            }
        };
        self.odd.repeated += 1;
        self.act(number, action, MessageKind::ByeOk);
        true
    }

    fn handle_request(&mut self, now: Time, from: Peer, id: SipId) -> bool {
        let full = self.script.course == Course::Full;
        match id.kind {
            MessageKind::Invite => self.handle_invite(now, id.call, from),
            MessageKind::Ack => self.handle_ack(now, id.call),
            MessageKind::Bye if full => self.handle_bye(now, id.call),
            _ => false,
        }
    }

    fn handle_timer(&mut self, now: Time, number: u32, slot: Slot) {
        let Some(call) = self.calls.get_mut(number) else {
            return;
        };
        match (slot, &mut call.ok, &mut call.bye) {
            (Slot::Invite, ..) => {
                let action = call.invite.handle_timeout(now);
                self.act(number, action, MessageKind::Ringing);
            }
            (Slot::Ok, Some(ok), _) => match ok.handle_timeout(now) {
                RepeatAction::None => {}
                RepeatAction::Send => {
                    let action = call.invite.respond(now, 200);
                    self.act(number, action, MessageKind::Ok);
                }
                RepeatAction::GiveUp => {
                    self.waiting -= 1;
                    self.records[number as usize].unacknowledged = Some(now);
                }
            },
            (Slot::Bye, _, Some(bye)) => bye.handle_timeout(now),
            (Slot::Ok, None, _) | (Slot::Bye, _, None) => {}
        }
        let due = self.calls.get(number).and_then(|call| call.due(slot));
        self.timers.moved((number, slot), None, due);
        self.drop_if_over(number);
    }

    fn drop_if_over(&mut self, number: u32) {
        let course = self.script.course;
        if self
            .calls
            .get(number)
            .is_some_and(|call| call.is_over(course))
        {
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

impl Application for SipAnswerer {
    fn start(&mut self, _now: Time) {}

    fn handle_message(&mut self, now: Time, message: Incoming) {
        match read::identify(&message) {
            Err(_) => self.odd.malformed += 1,
            Ok(id) => {
                if !self.handle_request(now, message.from, id) {
                    self.odd.unexpected += 1;
                }
            }
        }
        self.drop_stale_timers();
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some((_, call)) = self.ringing.front().copied().filter(|r| r.0 <= now) {
            self.ringing.pop_front();
            self.answer(now, call);
        }
        while let Some((call, slot)) = self.take_due_timer(now) {
            self.handle_timer(now, call, slot);
        }
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let answer = self.ringing.front().map(|(at, _)| *at);
        earliest(answer, self.timers.next())
    }

    fn is_done(&self) -> bool {
        self.ringing.is_empty() && self.waiting == 0
    }
}
