//! The user agent server: takes calls.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use bytes::Bytes;
use headway_sansio::{Duration, Time};

use super::checks::refusal;
use super::core::{ALLOW, Core, UaConfig};
use super::dialog::{Dialog, DialogId};
use super::layer::{LayerCounters, LayerEvent, ServerId};
use super::sdp;
use crate::sip::AnswerRecord;
use crate::sip::message::{Draft, Method, SipMessage, response_to};
use crate::sip::timer_queue::{TimerQueue, earliest};
use crate::sip::transaction::{OkRepeater, RepeatAction};
use crate::{Application, Incoming, Outgoing, Peer};

/// How a [`Uas`] takes calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerPlan {
    /// Whether a 180 goes out at once.
    pub ringing: bool,
    /// From the INVITE's arrival until the 200 goes out.
    pub ring_time: Duration,
    /// A status code of 300 to 699 that refuses every call instead.
    pub refuse: Option<u16>,
    /// Calls that may be open at one time; further ones get a 503.
    pub max_open: usize,
}

/// When a caller that found no room may try again, in seconds: the time that a
/// transaction of the core's default timers takes to end, 64*T1.
const RETRY_AFTER_S: u32 = 32;

/// Takes calls: 180, 200 after the ring time, and 200 to the BYE.
///
/// The 200 is repeated until its ACK comes; where none comes in 64*T1 the agent
/// ends the call itself (RFC 3261 section 13.3.1.4). CANCEL, OPTIONS and all
/// that is to be refused are answered as section 8.2 and RFC 4475 say.
///
/// It keeps what open calls need and no more: a call's record is handed out by
/// [`Self::poll_record`] when nothing can change it any more. A call is open until
/// one side ends it; this side never ends one that was acknowledged. Callers that
/// die in mid-call would fill its memory, so more than [`AnswerPlan::max_open`]
/// calls are refused (RFC 3261 section 21.5.4).
#[derive(Debug)]
pub struct Uas {
    core: Core,
    plan: AnswerPlan,
    /// Of calls that are forgotten, until they are asked for.
    records: VecDeque<AnswerRecord>,
    calls: BTreeMap<u64, Call>,
    /// Calls taken; the next one has this number.
    taken: u64,
    dialogs: BTreeMap<DialogId, u64>,
    by_server: BTreeMap<ServerId, u64>,
    /// INVITEs under way, by what a copy that came another way shares with them
    /// (section 8.2.2.2).
    under_way: BTreeMap<(String, String, u32), u64>,
    wakes: TimerQueue<(u64, Wake)>,
    /// Calls that still have to ring or to be acknowledged.
    busy: u32,
}

#[derive(Debug)]
struct Call {
    record: AnswerRecord,
    peer: Peer,
    server: ServerId,
    invite: SipMessage,
    tag: String,
    dialog: Dialog,
    answer_at: Option<Time>,
    ok: Option<(Bytes, OkRepeater)>,
}

/// Why a call is to be woken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Wake {
    Answer,
    Ok,
}

impl Call {
    fn due(&self, wake: Wake) -> Option<Time> {
        match wake {
            Wake::Answer => self.answer_at,
            Wake::Ok => self.ok.as_ref()?.1.poll_timeout(),
        }
    }

    fn is_busy(&self) -> bool {
        self.answer_at.is_some() || self.ok.as_ref().is_some_and(|(_, ok)| ok.is_waiting())
    }
}

impl Uas {
    /// An agent without calls.
    #[must_use]
    pub fn new(config: UaConfig, plan: AnswerPlan) -> Self {
        Self {
            core: Core::new(config),
            plan,
            records: VecDeque::new(),
            calls: BTreeMap::new(),
            taken: 0,
            dialogs: BTreeMap::new(),
            by_server: BTreeMap::new(),
            under_way: BTreeMap::new(),
            wakes: TimerQueue::new(),
            busy: 0,
        }
    }

    /// The record of a call that can change no more, each one once. They wait
    /// here until somebody asks, so an agent that runs for long has to be asked.
    pub fn poll_record(&mut self) -> Option<AnswerRecord> {
        self.records.pop_front()
    }

    /// The records of the other calls as they are now, in the order of their
    /// arrivals.
    pub fn open_records(&self) -> impl Iterator<Item = &AnswerRecord> {
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

    fn handle_request(&mut self, now: Time, id: ServerId, from: Peer, request: SipMessage) {
        if let Some(refusal) = refusal(&mut self.core, &request) {
            self.core.answer(now, id, refusal);
            return;
        }
        let named = Dialog::named_by(&request);
        let call = self.dialogs.get(&named.clone()).copied();
        let response = match (&request.cseq.method, call) {
            (Method::Options, _) => {
                let response = self.core.final_response(&request, 200, "OK");
                response
                    .header("Allow", ALLOW)
                    .header("Accept", "application/sdp")
            }
            (Method::Cancel, _) => self.handle_cancel(now, &request),
            (Method::Invite, None) if request.to.tag.is_none() => {
                self.handle_invite(now, id, from, request);
                return;
            }
            (Method::Bye, Some(index)) => self.handle_bye(now, index, &request),
            // A session that has no media has nothing to change (section 14.2).
            (Method::Invite, Some(_)) => {
                self.core
                    .final_response(&request, 488, "Not Acceptable Here")
            }
            _ => self.core.final_response(&request, 481, "No Such Call"),
        };
        self.core.answer(now, id, response);
    }

    fn handle_invite(&mut self, now: Time, id: ServerId, from: Peer, invite: SipMessage) {
        if let Some(code) = self.plan.refuse {
            let response = self.core.final_response(&invite, code, "Refused");
            self.core.answer(now, id, response);
            return;
        }
        if self.calls.len() >= self.plan.max_open {
            let response = self
                .core
                .final_response(&invite, 503, "Service Unavailable");
            let response = response.header("Retry-After", RETRY_AFTER_S);
            self.core.answer(now, id, response);
            return;
        }
        let copy = copy_key(&invite);
        if self.under_way.contains_key(&copy) {
            let response = self.core.final_response(&invite, 482, "Loop Detected");
            self.core.answer(now, id, response);
            return;
        }
        if !invite.body.is_empty() && sdp::answer(&invite.body, 0, "h").is_none() {
            let response = self
                .core
                .final_response(&invite, 488, "Not Acceptable Here");
            self.core.answer(now, id, response);
            return;
        }
        let index = self.taken;
        self.taken += 1;
        let tag = self.core.new_word();
        let dialog = Dialog::of_answerer(&invite, &tag);
        let answer_at = now + self.plan.ring_time;
        self.dialogs.insert(dialog.id.clone(), index);
        self.by_server.insert(id, index);
        self.under_way.insert(copy, index);
        self.busy += 1;
        let contact = self.core.contact();
        let ringing = response_to(&invite, 180, "Ringing", Some(&tag)).header("Contact", contact);
        let call = Call {
            record: AnswerRecord {
                invited: Some(now),
                ..AnswerRecord::default()
            },
            peer: from,
            server: id,
            invite,
            tag,
            dialog,
            answer_at: Some(answer_at),
            ok: None,
        };
        self.calls.insert(index, call);
        if self.plan.ringing {
            self.core.answer(now, id, ringing);
        }
        if self.plan.ring_time.is_zero() {
            self.answer(now, index);
        } else {
            self.wakes
                .moved((index, Wake::Answer), None, Some(answer_at));
        }
    }

    fn call(&mut self, index: u64) -> Option<&mut Call> {
        self.calls.get_mut(&index)
    }

    /// The called party answers.
    fn answer(&mut self, now: Time, index: u64) {
        let (contact, session) = (self.core.contact(), self.core.random.bits());
        let (host, timers) = (self.core.config.host.clone(), self.core.config.timers);
        let Some(call) = self.call(index) else {
            return;
        };
        call.answer_at = None;
        call.record.answered = Some(now);
        let sdp = match call.invite.body.is_empty() {
            true => Some(sdp::offer(session, &host)),
            false => sdp::answer(&call.invite.body, session, &host),
        };
        let draft = response_to(&call.invite, 200, "OK", Some(&call.tag))
            .header("Contact", contact)
            .header("Allow", ALLOW)
            .header("Supported", "");
        let ok = draft.with_body("application/sdp", &sdp.unwrap_or_default());
        let server = call.server;
        let repeater = OkRepeater::start(now, timers);
        call.ok = Some((ok.clone(), repeater));
        self.wakes
            .moved((index, Wake::Ok), None, repeater.poll_timeout());
        self.send_ok(now, index, server, ok);
    }

    fn send_ok(&mut self, now: Time, index: u64, server: ServerId, ok: Bytes) {
        let taken = self.core.layer.respond(now, server, ok);
        if let Some(call) = self.call(index) {
            call.record.oks += u32::from(taken);
        }
    }

    fn handle_ack(&mut self, now: Time, ack: &SipMessage) {
        let Some(index) = self.dialogs.get(&Dialog::named_by(ack)).copied() else {
            return;
        };
        let Some(call) = self.call(index) else {
            return;
        };
        call.record.acknowledged.get_or_insert(now);
        if let Some((_, ok)) = &mut call.ok
            && ok.is_waiting()
        {
            ok.stop();
            self.busy -= 1;
        }
    }

    fn handle_bye(&mut self, now: Time, index: u64, bye: &SipMessage) -> Draft {
        let Some(call) = self.call(index) else {
            return self.core.final_response(bye, 481, "No Such Call");
        };
        if !call.dialog.take_number(bye) {
            return self.core.final_response(bye, 500, "Out Of Order");
        }
        call.record.ended = Some(now);
        self.refuse_invite(now, index);
        self.drop_call(index);
        self.core.final_response(bye, 200, "OK")
    }

    fn handle_cancel(&mut self, now: Time, cancel: &SipMessage) -> Draft {
        let server = self.core.layer.invite_to_cancel(cancel);
        let Some(index) = server.and_then(|server| self.by_server.get(&server).copied()) else {
            return self.core.final_response(cancel, 481, "No Such Transaction");
        };
        let tag = self.call(index).map(|call| call.tag.clone());
        if self.refuse_invite(now, index) {
            self.drop_call(index);
        }
        // Section 9.2: the tag is that of the INVITE's responses.
        response_to(cancel, 200, "OK", tag.as_deref())
    }

    /// Ends an INVITE that has not been answered with 487. Whether there was one
    /// is the answer.
    fn refuse_invite(&mut self, now: Time, index: u64) -> bool {
        let Some(call) = self.call(index).filter(|call| call.ok.is_none()) else {
            return false;
        };
        let response = response_to(&call.invite, 487, "Request Terminated", Some(&call.tag));
        let server = call.server;
        self.core.answer(now, server, response);
        true
    }

    /// Forgets a call and hands its record out.
    fn drop_call(&mut self, index: u64) {
        let Some(call) = self.calls.remove(&index) else {
            return;
        };
        self.records.push_back(call.record);
        self.busy -= u32::from(call.is_busy());
        self.dialogs.remove(&call.dialog.id);
        self.by_server.remove(&call.server);
        self.under_way.remove(&copy_key(&call.invite));
    }

    fn handle_wake(&mut self, now: Time, index: u64, wake: Wake) {
        let Some(call) = self.call(index) else {
            return;
        };
        match (wake, &mut call.ok) {
            (Wake::Answer, _) => self.answer(now, index),
            (Wake::Ok, None) => {}
            (Wake::Ok, Some((ok, repeater))) => {
                let action = repeater.handle_timeout(now);
                let due = repeater.poll_timeout();
                let (ok, server) = (ok.clone(), call.server);
                self.wakes.moved((index, Wake::Ok), None, due);
                match action {
                    RepeatAction::None => {}
                    RepeatAction::Send => self.send_ok(now, index, server, ok),
                    RepeatAction::GiveUp => self.give_up(now, index),
                }
            }
        }
    }

    /// No ACK came: the dialog is there all the same and is ended.
    fn give_up(&mut self, now: Time, index: u64) {
        self.busy -= 1;
        let via = self.core.new_via();
        if let Some(call) = self.call(index) {
            call.record.unacknowledged = Some(now);
            let bye = call.dialog.request(&Method::Bye, &via).finish();
            let peer = call.peer;
            // What becomes of it changes nothing.
            let _ = self.core.layer.request(now, peer, bye);
        }
        self.drop_call(index);
    }

    fn drain(&mut self, now: Time) {
        while let Some(event) = self.core.next_event(|_| {}) {
            match event {
                LayerEvent::Request { id, from, message } => {
                    self.handle_request(now, id, from, *message);
                }
                LayerEvent::Ack(ack) => self.handle_ack(now, &ack),
                LayerEvent::Response { .. }
                | LayerEvent::ClientTimedOut(_)
                | LayerEvent::ClientFailed(_)
                | LayerEvent::ServerTimedOut(_)
                | LayerEvent::ServerFailed(_) => {}
            }
        }
        let mut wakes = std::mem::replace(&mut self.wakes, TimerQueue::new());
        wakes.drop_stale(|(index, wake)| self.calls.get(&index)?.due(wake));
        self.wakes = wakes;
    }

    /// Entries in all its tables, waiting records aside.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        let calls = self.calls.len() + self.dialogs.len() + self.by_server.len();
        calls + self.under_way.len() + self.wakes.len() + self.core.entries()
    }

    fn take_wake(&mut self, now: Time) -> Option<(u64, Wake)> {
        let mut wakes = std::mem::replace(&mut self.wakes, TimerQueue::new());
        let due = wakes.pop_due(now, |(index, wake)| self.calls.get(&index)?.due(wake));
        self.wakes = wakes;
        due
    }
}

/// What two copies of an INVITE share that came different ways.
fn copy_key(invite: &SipMessage) -> (String, String, u32) {
    let tag = invite.from.tag.as_deref().unwrap_or_default();
    (
        invite.call_id.to_string(),
        tag.to_string(),
        invite.cseq.number,
    )
}

impl Application for Uas {
    fn start(&mut self, _now: Time) {}

    fn handle_message(&mut self, now: Time, message: Incoming) {
        self.core.handle_message(now, &message, None);
        self.drain(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.core.layer.handle_timeout(now);
        while let Some((index, wake)) = self.take_wake(now) {
            self.handle_wake(now, index, wake);
        }
        self.drain(now);
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.core.poll_output()
    }

    fn poll_timeout(&self) -> Option<Time> {
        earliest(self.wakes.next(), self.core.layer.poll_timeout())
    }

    fn is_done(&self) -> bool {
        self.busy == 0
    }
}
