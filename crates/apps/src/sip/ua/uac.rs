//! The user agent client: makes calls.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use bytes::Bytes;
use ezk_sip_types::Name;
use ezk_sip_types::print::AppendCtx;
use headway_sansio::{Duration, RandomStream, Time};

use super::checks::{content_type, refusal};
use super::core::{ALLOW, Core, UaConfig};
use super::dialog::{Dialog, DialogId};
use super::layer::{ClientId, LayerCounters, LayerEvent, ServerId};
use super::sdp;
use crate::sip::arrivals::{Arrivals, Law};
use crate::sip::message::{self, Draft, Method, SipMessage};
use crate::sip::timer_queue::{TimerQueue, earliest};
use crate::sip::{CallRecord, Failure};
use crate::{Application, Incoming, Outgoing, Peer};

/// Which calls a [`Uac`] makes.
#[derive(Clone, Debug)]
pub struct CallPlan {
    /// The request URI, "sip:user@host" for example.
    pub target: String,
    /// Where its requests go.
    pub peer: Peer,
    /// When calls begin.
    pub pace: Pace,
    /// How long new calls begin.
    pub duration: Duration,
    /// How many calls there are at most.
    pub calls: u32,
    /// From the answer until the caller hangs up.
    pub talk_time: Duration,
    /// How long a call may ring before the caller cancels it.
    pub patience: Duration,
    /// Whether the INVITE carries a session description; otherwise the ACK does.
    pub offer: bool,
}

/// When calls begin.
#[derive(Clone, Debug)]
pub enum Pace {
    /// A Poisson process of so many calls per second.
    Poisson(f64),
    /// So many calls per second, at even distances, the first one at once.
    Even(f64),
    /// Each one of these pauses after the one before ended, at random.
    OneByOne(Vec<Duration>),
}

/// Makes calls: INVITE, ACK, and after the talk BYE.
///
/// Every response that RFC 3261 knows is handled: refusals are acknowledged by
/// the transaction, each 2xx by the agent, and one from a second answerer is
/// ended at once. A call that rings too long is cancelled.
///
/// It keeps what open calls need and no more: a call's record is handed out by
/// [`Self::poll_record`] when nothing can change it any more, 64*T1 after its end.
#[derive(Debug)]
pub struct Uac {
    core: Core,
    plan: CallPlan,
    arrivals: Arrivals,
    /// Of calls that are forgotten, until they are asked for.
    records: VecDeque<CallRecord>,
    calls: BTreeMap<u32, Call>,
    /// Calls begun; the next one has this number.
    begun: u32,
    requests: BTreeMap<ClientId, (u32, Purpose)>,
    by_call_id: BTreeMap<String, u32>,
    deadlines: TimerQueue<u32>,
    open: u32,
}

#[derive(Debug)]
struct Call {
    record: CallRecord,
    invite: SipMessage,
    client: ClientId,
    phase: Phase,
    dialog: Option<Dialog>,
    /// The ACK for each answerer, to send again when its 2xx comes again.
    acks: Vec<(DialogId, Bytes)>,
    deadline: Option<Time>,
    /// Every request of the call that has a transaction.
    requests: Vec<ClientId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// No response yet; the deadline is the caller's patience.
    Calling,
    /// A provisional response came; likewise.
    Ringing,
    /// Patience ended before any response; the first one is cancelled.
    GivingUp,
    /// CANCEL is out; the deadline ends the wait for the INVITE's response.
    Cancelling,
    /// Answered; the deadline is the end of the talk.
    Talking,
    /// BYE is out.
    HangingUp,
    /// Over; what still comes is only acknowledged, until the deadline.
    Over,
}

/// What a request of a call is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    Invite,
    Cancel,
    Bye,
    /// The BYE of a dialog that is not wanted.
    StrayBye,
}

impl Uac {
    /// A caller whose times are drawn from `arrivals`.
    #[must_use]
    pub fn new(config: UaConfig, plan: CallPlan, arrivals: RandomStream) -> Self {
        let law = match &plan.pace {
            Pace::Poisson(rate) => Law::Poisson {
                mean_gap: Duration::from_secs_f64(1.0 / rate),
            },
            Pace::Even(rate) => Law::Even {
                gap: Duration::from_secs_f64(1.0 / rate),
            },
            Pace::OneByOne(pauses) => Law::OneByOne {
                left: plan.calls,
                pauses: pauses.clone(),
            },
        };
        Self {
            core: Core::new(config),
            arrivals: Arrivals::new(law, plan.duration, arrivals),
            plan,
            records: VecDeque::new(),
            calls: BTreeMap::new(),
            begun: 0,
            requests: BTreeMap::new(),
            by_call_id: BTreeMap::new(),
            deadlines: TimerQueue::new(),
            open: 0,
        }
    }

    /// The record of a call that can change no more, each one once. They wait
    /// here until somebody asks, so a caller that runs for long has to ask.
    pub fn poll_record(&mut self) -> Option<CallRecord> {
        self.records.pop_front()
    }

    /// The records of the other calls as they are now, in the order of their
    /// beginnings.
    pub fn open_records(&self) -> impl Iterator<Item = &CallRecord> {
        self.calls.values().map(|call| &call.record)
    }

    /// What the transactions have counted.
    #[must_use]
    pub fn counters(&self) -> LayerCounters {
        self.core.counters()
    }

    /// Whether no transaction is left, not even one that only waits for
    /// repetitions.
    #[must_use]
    pub fn has_no_transactions(&self) -> bool {
        self.core.layer.is_empty()
    }

    /// As [`Application::handle_message`], with the IP address that the message
    /// came from: Via notes it where the sender's own word differs (section
    /// 18.2.1).
    pub fn handle_message_from(&mut self, now: Time, address: IpAddr, message: &Incoming) {
        self.core.handle_message(now, message, Some(address));
        self.drain(now);
    }

    /// The transport could not send to this peer.
    pub fn handle_transport_error(&mut self, now: Time, peer: Peer) {
        self.core.layer.handle_transport_error(peer);
        self.drain(now);
    }

    /// No new calls; those that are there go on.
    pub fn stop(&mut self) {
        self.arrivals.stop();
    }

    fn start_call(&mut self, now: Time) {
        let number = self.begun;
        self.begun += 1;
        let (via, tag, call_id) = (
            self.core.new_via(),
            self.core.new_word(),
            self.core.new_call_id(),
        );
        let draft = Draft::request(&Method::Invite, &self.plan.target)
            .header("Via", via)
            .header("Max-Forwards", 70)
            .header("From", format_args!("{};tag={tag}", self.core.address()))
            .header("To", format_args!("<{}>", self.plan.target))
            .header("Call-ID", &call_id)
            .header("CSeq", "1 INVITE")
            .header("Contact", self.core.contact())
            .header("Allow", ALLOW);
        let bytes = if self.plan.offer {
            let id = self.core.random.bits();
            draft.with_body("application/sdp", &sdp::offer(id, &self.core.config.host))
        } else {
            draft.finish()
        };
        let mut record = CallRecord::new(now);
        let invite = message::parse(&bytes).ok();
        let client = self.core.layer.request(now, self.plan.peer, bytes);
        let (Some(invite), Some(client)) = (invite, client) else {
            // Only a plan whose target is no URI comes here.
            record.failed = Some((now, Failure::NotSent));
            self.records.push_back(record);
            self.arrivals.call_ended(now);
            return;
        };
        self.open += 1;
        self.requests.insert(client, (number, Purpose::Invite));
        self.by_call_id.insert(call_id, number);
        let call = Call {
            record,
            invite,
            client,
            phase: Phase::Calling,
            dialog: None,
            acks: Vec::new(),
            deadline: None,
            requests: vec![client],
        };
        self.calls.insert(number, call);
        self.set_deadline(number, Some(now + self.plan.patience));
    }

    fn call(&mut self, number: u32) -> Option<&mut Call> {
        self.calls.get_mut(&number)
    }

    fn set_deadline(&mut self, number: u32, at: Option<Time>) {
        if let Some(call) = self.call(number) {
            let before = call.deadline;
            call.deadline = at;
            self.deadlines.moved(number, before, at);
        }
    }

    /// The call needs nothing more but acknowledgements, and those only while
    /// its transaction can pass a repeated 2xx up (timer M).
    fn close(&mut self, now: Time, number: u32) {
        let patience = self.core.config.timers.patience();
        self.set_deadline(number, Some(now + patience));
        let before = self
            .call(number)
            .map(|call| std::mem::replace(&mut call.phase, Phase::Over));
        if before.is_some_and(|phase| phase != Phase::Over) {
            self.open -= 1;
            self.arrivals.call_ended(now);
        }
    }

    fn finish(&mut self, now: Time, number: u32) {
        if let Some(call) = self.call(number) {
            call.record.finished = Some(now);
        }
        self.close(now, number);
    }

    fn fail(&mut self, now: Time, number: u32, failure: Failure) {
        if let Some(call) = self.call(number) {
            call.record.failed.get_or_insert((now, failure));
        }
        self.close(now, number);
    }

    /// A response to an INVITE.
    fn handle_invite_response(&mut self, now: Time, number: u32, response: &SipMessage) {
        let code = response.code().unwrap_or_default();
        let Some(call) = self.call(number) else {
            return;
        };
        if code == 180 {
            call.record.ringing.get_or_insert(now);
        }
        match (code, call.phase) {
            (100..=199, Phase::Calling) => call.phase = Phase::Ringing,
            (100..=199, Phase::GivingUp) => self.cancel(now, number),
            (200..=299, _) => self.handle_answer(now, number, response),
            (300..=699, Phase::GivingUp | Phase::Cancelling) => {
                self.fail(now, number, Failure::NoAnswer);
            }
            (300..=699, _) => self.fail(now, number, Failure::Refused(code)),
            _ => {}
        }
    }

    /// A 2xx to an INVITE: each is acknowledged, and the first one counts
    /// (section 13.2.2.4).
    fn handle_answer(&mut self, now: Time, number: u32, response: &SipMessage) {
        let via = self.core.new_via();
        let id = self.core.random.bits();
        let (host, peer) = (self.core.config.host.clone(), self.plan.peer);
        let (offered, talk_time) = (self.plan.offer, self.plan.talk_time);
        let Some(call) = self.call(number) else {
            return;
        };
        let mut dialog = Dialog::of_caller(&call.invite, response);
        if let Some((_, ack)) = call.acks.iter().find(|(id, _)| *id == dialog.id) {
            let ack = ack.clone();
            self.core.acknowledge(peer, ack);
            return;
        }
        let draft = dialog.ack(&call.invite, &via);
        let sdp = content_type(response).is_some_and(|it| it == "application/sdp");
        let answer = match sdp && !offered {
            true => sdp::answer(&response.body, id, &host),
            false => None,
        };
        let ack = match answer {
            Some(answer) => draft.with_body("application/sdp", &answer),
            None => draft.finish(),
        };
        call.acks.push((dialog.id.clone(), ack.clone()));
        let phase = call.phase;
        let wanted = matches!(phase, Phase::Calling | Phase::Ringing);
        let given_up = matches!(phase, Phase::GivingUp | Phase::Cancelling);
        if wanted || given_up {
            call.phase = Phase::Talking;
            call.dialog = Some(dialog.clone());
        }
        if wanted {
            call.record.answered = Some(now);
        }
        self.core.acknowledge(peer, ack);
        if wanted {
            self.set_deadline(number, Some(now + talk_time));
        } else if given_up {
            // The answer and the CANCEL crossed.
            self.hang_up(now, number);
        } else {
            let via = self.core.new_via();
            let bye = dialog.request(&Method::Bye, &via).finish();
            self.send(now, number, Purpose::StrayBye, bye);
        }
    }

    fn send(&mut self, now: Time, number: u32, purpose: Purpose, bytes: Bytes) {
        if let Some(id) = self.core.layer.request(now, self.plan.peer, bytes) {
            self.requests.insert(id, (number, purpose));
            if let Some(call) = self.call(number) {
                call.requests.push(id);
            }
        }
    }

    fn hang_up(&mut self, now: Time, number: u32) {
        let via = self.core.new_via();
        self.set_deadline(number, None);
        let Some(call) = self.call(number) else {
            return;
        };
        call.phase = Phase::HangingUp;
        let bye = call.dialog.as_mut();
        let bye = bye.map(|dialog| dialog.request(&Method::Bye, &via).finish());
        if let Some(bye) = bye {
            self.send(now, number, Purpose::Bye, bye);
        }
    }

    /// Section 9.1: not before a provisional response; and 64*T1 later the INVITE
    /// counts as cancelled whatever comes.
    fn cancel(&mut self, now: Time, number: u32) {
        let patience = self.core.config.timers.patience();
        let Some(call) = self.call(number) else {
            return;
        };
        call.phase = Phase::Cancelling;
        let invite = &call.invite;
        let uri = invite.request_uri().map(ToString::to_string);
        let cancel = Draft::request(&Method::Cancel, &uri.unwrap_or_default())
            .header("Via", invite.top_via().default_print_ctx())
            .header("Max-Forwards", 70)
            .copy(invite, &Name::FROM)
            .copy(invite, &Name::TO)
            .copy(invite, &Name::CALL_ID)
            .header("CSeq", format_args!("{} CANCEL", invite.cseq.number))
            .finish();
        self.set_deadline(number, Some(now + patience));
        self.send(now, number, Purpose::Cancel, cancel);
    }

    fn handle_deadline(&mut self, now: Time, number: u32) {
        let Some(call) = self.call(number) else {
            return;
        };
        call.deadline = None;
        match call.phase {
            Phase::Calling => call.phase = Phase::GivingUp,
            Phase::Ringing => self.cancel(now, number),
            Phase::Cancelling => {
                let client = call.client;
                self.core.layer.forget(client);
                self.requests.remove(&client);
                self.fail(now, number, Failure::NoAnswer);
            }
            Phase::Talking => self.hang_up(now, number),
            Phase::Over => self.drop_call(number),
            Phase::GivingUp | Phase::HangingUp => {}
        }
    }

    /// Forgets a call and hands its record out.
    fn drop_call(&mut self, number: u32) {
        if let Some(call) = self.calls.remove(&number) {
            self.records.push_back(call.record);
            self.by_call_id.remove(call.invite.call_id.as_str());
            for id in call.requests {
                self.requests.remove(&id);
            }
        }
    }

    /// No final response will come.
    fn handle_lost_request(&mut self, now: Time, id: ClientId, sent: bool) {
        let Some((number, purpose)) = self.requests.remove(&id) else {
            return;
        };
        let failure = match (purpose, sent) {
            (Purpose::Cancel | Purpose::StrayBye, _) => return,
            (_, false) => Failure::NotSent,
            (Purpose::Invite, true) => Failure::NoResponse,
            (Purpose::Bye, true) => Failure::NoReplyToBye,
        };
        self.fail(now, number, failure);
    }

    fn handle_response(&mut self, now: Time, id: ClientId, response: &SipMessage) {
        let code = response.code().unwrap_or_default();
        match self.requests.get(&id).copied() {
            Some((number, Purpose::Invite)) => self.handle_invite_response(now, number, response),
            Some((number, Purpose::Bye)) if code >= 300 => {
                self.fail(now, number, Failure::Refused(code));
            }
            Some((number, Purpose::Bye)) if code >= 200 => self.finish(now, number),
            _ => {}
        }
    }

    /// A request from the other side: its BYE, or something to refuse.
    fn handle_request(&mut self, now: Time, id: ServerId, request: &SipMessage) {
        if let Some(refusal) = refusal(&mut self.core, request) {
            self.core.answer(now, id, refusal);
            return;
        }
        let response = match request.cseq.method {
            Method::Bye => self.handle_bye(now, request),
            Method::Options => {
                let response = self.core.final_response(request, 200, "OK");
                response
                    .header("Allow", ALLOW)
                    .header("Accept", "application/sdp")
            }
            Method::Cancel => self
                .core
                .final_response(request, 481, "No Such Transaction"),
            _ if request.to.tag.is_some() => {
                self.core
                    .final_response(request, 488, "Not Acceptable Here")
            }
            _ => self
                .core
                .final_response(request, 480, "Temporarily Unavailable"),
        };
        self.core.answer(now, id, response);
    }

    fn handle_bye(&mut self, now: Time, request: &SipMessage) -> Draft {
        let named = Dialog::named_by(request);
        let number = self.by_call_id.get(&named.0).copied();
        // The answerer may end a call whose 200s were all lost: then this side
        // knows its own tag alone.
        let own_tag = |call: &Call| call.invite.from.tag.as_deref() == Some(&named.1);
        let known = number.filter(|number| {
            let call = self.call(*number);
            call.is_some_and(|call| match &mut call.dialog {
                Some(dialog) => dialog.id == named && dialog.take_number(request),
                None => own_tag(call) && call.phase != Phase::Over,
            })
        });
        let Some(number) = known else {
            return self.core.final_response(request, 481, "No Such Call");
        };
        match self.call(number).map(|call| (call.phase, call.client)) {
            Some((Phase::Talking | Phase::HangingUp, _)) => self.finish(now, number),
            Some((Phase::Over, _)) | None => {}
            Some((_, client)) => {
                self.core.layer.forget(client);
                self.requests.remove(&client);
                self.fail(now, number, Failure::NoAnswer);
            }
        }
        self.core.final_response(request, 200, "OK")
    }

    fn drain(&mut self, now: Time) {
        loop {
            let (requests, calls) = (&self.requests, &mut self.calls);
            let event = self.core.next_event(|id| {
                if let Some((number, Purpose::Invite)) = requests.get(&id)
                    && let Some(call) = calls.get_mut(number)
                {
                    call.record.invites += 1;
                }
            });
            match event {
                None => break,
                Some(LayerEvent::Request { id, message, .. }) => {
                    self.handle_request(now, id, &message);
                }
                Some(LayerEvent::Response { id, message }) => {
                    self.handle_response(now, id, &message);
                }
                Some(LayerEvent::ClientTimedOut(id)) => self.handle_lost_request(now, id, true),
                Some(LayerEvent::ClientFailed(id)) => self.handle_lost_request(now, id, false),
                Some(
                    LayerEvent::Ack(_)
                    | LayerEvent::ServerTimedOut(_)
                    | LayerEvent::ServerFailed(_),
                ) => {}
            }
        }
        let mut deadlines = std::mem::replace(&mut self.deadlines, TimerQueue::new());
        deadlines.drop_stale(|number| self.calls.get(&number)?.deadline);
        self.deadlines = deadlines;
    }

    /// Entries in all its tables, waiting records aside.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        let calls = self.calls.len() + self.requests.len() + self.by_call_id.len();
        calls + self.deadlines.len() + self.core.entries()
    }

    fn take_deadline(&mut self, now: Time) -> Option<u32> {
        let mut deadlines = std::mem::replace(&mut self.deadlines, TimerQueue::new());
        let due = deadlines.pop_due(now, |number| self.calls.get(&number)?.deadline);
        self.deadlines = deadlines;
        due
    }
}

impl Application for Uac {
    fn start(&mut self, now: Time) {
        self.arrivals.start(now);
    }

    fn handle_message(&mut self, now: Time, message: Incoming) {
        self.core.handle_message(now, &message, None);
        self.drain(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        while self.arrivals.take_due(now) {
            if self.begun < self.plan.calls {
                self.start_call(now);
            } else {
                self.arrivals.stop();
            }
        }
        while let Some(number) = self.take_deadline(now) {
            self.handle_deadline(now, number);
        }
        self.core.layer.handle_timeout(now);
        self.drain(now);
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.core.poll_output()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let own = earliest(self.arrivals.next(), self.deadlines.next());
        earliest(own, self.core.layer.poll_timeout())
    }

    fn is_done(&self) -> bool {
        self.arrivals.next().is_none() && self.open == 0
    }
}
