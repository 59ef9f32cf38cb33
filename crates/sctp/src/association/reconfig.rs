//! Changing streams while the association lives: this side asks (RFC 6525, sections
//! 5.1 and 5.2.7).
//!
//! One request is under way at a time. Streams that are to begin anew send what was
//! handed over before; what is handed over after waits here until the peer has
//! answered.

use std::collections::VecDeque;

use headway_sansio::{Duration, Time};

use super::Association;
use super::state::State;
use crate::packet::Reconfiguration;
use crate::{
    Chunk, DataChunk, Event, Message, MessageId, Parameter, ReconfigError, ReconfigRequest,
    ReconfigResult, Tsn,
};

/// The most requests that wait.
const MOST_WAITING: usize = 16;
/// Between two resets of all numbers: the life of a segment (section 5.1.4).
const BETWEEN_RESETS: Duration = Duration::from_secs(30);

/// Both sides' requests and what they hold up.
#[derive(Debug)]
pub(crate) struct Reconfig {
    /// Number of this side's next request.
    next: u32,
    /// Number of the peer's next request.
    pub(super) expected: u32,
    /// Number of the first request in the peer's last chunk, and the answer to it.
    pub(super) answered: Option<(u32, Vec<Parameter>)>,
    waiting: VecDeque<Wish>,
    flight: Option<Flight>,
    /// When to send the request again, or the next one.
    pub(super) due: Time,
    /// When all numbers last began anew.
    numbers_reset: Option<Time>,
    /// A reset of the peer's streams that waits for DATA.
    pub(super) deferred: Option<Deferred>,
    /// The peer's request for a reset of all numbers, which waits until everything
    /// of this side is acknowledged.
    pub(super) settling: Option<u32>,
    /// Messages for streams that are to begin anew.
    held: VecDeque<(MessageId, Time, Message)>,
    held_bytes: u32,
}

#[derive(Debug)]
struct Wish {
    request: ReconfigRequest,
    /// The peer's request that this one answers.
    answers: Option<u32>,
}

#[derive(Debug)]
struct Flight {
    number: u32,
    request: ReconfigRequest,
    parameter: Parameter,
    /// The peer said that it is at it: its next silence is no error.
    in_progress: bool,
}

/// Deferred reset processing (section 5.2.2, rule E2).
#[derive(Debug)]
pub(super) struct Deferred {
    pub(super) number: u32,
    pub(super) last_tsn: Tsn,
    pub(super) streams: Vec<u16>,
    /// DATA of these streams with higher TSNs.
    pub(super) held: Vec<DataChunk>,
}

/// Whether a list names a stream; an empty one names all.
pub(super) fn names(streams: &[u16], stream: u16) -> bool {
    streams.is_empty() || streams.contains(&stream)
}

fn overlap(a: &[u16], b: &[u16]) -> bool {
    a.is_empty() || b.is_empty() || a.iter().any(|stream| b.contains(stream))
}

impl ReconfigRequest {
    fn pauses(&self, stream: u16) -> bool {
        match self {
            Self::ResetOutgoing(streams) => names(streams, stream),
            Self::ResetNumbers => true,
            _ => false,
        }
    }
}

impl Reconfig {
    pub(super) fn new(local: Tsn, peer: Tsn) -> Self {
        Self {
            next: local.0,
            expected: peer.0,
            answered: None,
            waiting: VecDeque::new(),
            flight: None,
            due: Time::FAR_FUTURE,
            numbers_reset: None,
            deferred: None,
            settling: None,
            held: VecDeque::new(),
            held_bytes: 0,
        }
    }

    fn requests(&self) -> impl Iterator<Item = &ReconfigRequest> {
        let waiting = self.waiting.iter().map(|wish| &wish.request);
        self.flight.iter().map(|f| &f.request).chain(waiting)
    }

    /// Whether messages for a stream must wait.
    fn pauses(&self, stream: u16) -> bool {
        self.settling.is_some() || self.requests().any(|request| request.pauses(stream))
    }

    /// Whether streams of this side are about to begin anew.
    pub(super) fn is_resetting(&self, streams: &[u16]) -> bool {
        self.requests().any(|request| match request {
            ReconfigRequest::ResetOutgoing(others) => overlap(streams, others),
            ReconfigRequest::ResetNumbers => true,
            _ => false,
        })
    }

    /// Whether this side has asked that all numbers begin anew.
    pub(super) fn resets_numbers(&self) -> bool {
        let is = |request: &ReconfigRequest| *request == ReconfigRequest::ResetNumbers;
        self.requests().any(is)
    }

    /// Lets a request wait for its turn. Says whether there was room.
    pub(super) fn wish(&mut self, request: ReconfigRequest, answers: Option<u32>) -> bool {
        let room = self.waiting.len() < MOST_WAITING;
        if room {
            self.waiting.push_back(Wish { request, answers });
        }
        room
    }

    /// A request is under way.
    pub(super) const fn is_asking(&self) -> bool {
        self.flight.is_some()
    }

    /// Nothing is under way or waits.
    pub(super) fn is_free(&self) -> bool {
        self.flight.is_none() && self.waiting.is_empty()
    }

    /// Whether the peer is asked, by the request of this number, to have streams
    /// begin anew.
    pub(super) fn asks_for_reset(&self, number: u32) -> bool {
        self.flight.as_ref().is_some_and(|flight| {
            let incoming = matches!(flight.request, ReconfigRequest::ResetIncoming(_));
            incoming && flight.number == number
        })
    }
}

impl Association {
    /// Has streams of this side begin anew with message zero, or all where none is
    /// named. Messages handed over before go out before; those handed over after
    /// wait for the peer's answer, [`Event::Reconfigured`].
    ///
    /// # Errors
    /// Where there is no such stream, or the request cannot be made now.
    pub fn reset_outgoing_streams(
        &mut self,
        now: Time,
        streams: &[u16],
    ) -> Result<(), ReconfigError> {
        if streams
            .iter()
            .any(|&stream| stream >= self.outbound_streams)
        {
            return Err(ReconfigError::InvalidStream);
        }
        let reconfig = self.open_for_requests()?;
        if reconfig.is_resetting(streams) {
            return Err(ReconfigError::Busy);
        }
        self.ask(now, ReconfigRequest::ResetOutgoing(streams.to_vec()))
    }

    /// Asks the peer to have streams of its own begin anew, or all where none is
    /// named. [`Event::IncomingReset`] tells when they do.
    ///
    /// # Errors
    /// Where there is no such stream, or the request cannot be made now.
    pub fn reset_incoming_streams(
        &mut self,
        now: Time,
        streams: &[u16],
    ) -> Result<(), ReconfigError> {
        if streams.iter().any(|&stream| stream >= self.inbound_streams) {
            return Err(ReconfigError::InvalidStream);
        }
        self.ask(now, ReconfigRequest::ResetIncoming(streams.to_vec()))
    }

    /// Has the TSNs and all streams of both sides begin anew, once everything that
    /// was handed over before is acknowledged. At most once in 30 s; a request that
    /// comes sooner waits.
    ///
    /// # Errors
    /// Where the request cannot be made now.
    pub fn reset_numbers(&mut self, now: Time) -> Result<(), ReconfigError> {
        if self.open_for_requests()?.is_resetting(&[]) {
            return Err(ReconfigError::Busy);
        }
        self.ask(now, ReconfigRequest::ResetNumbers)
    }

    /// Adds streams to send on. They may be used once [`Event::StreamsChanged`] has
    /// told of them.
    ///
    /// # Errors
    /// Where there would be too many, or the request cannot be made now.
    pub fn add_outgoing_streams(&mut self, now: Time, count: u16) -> Result<(), ReconfigError> {
        if count == 0 || self.outbound_streams.checked_add(count).is_none() {
            return Err(ReconfigError::StreamCount);
        }
        self.ask(now, ReconfigRequest::AddOutgoing(count))
    }

    /// Asks the peer to add streams to those that it sends on.
    ///
    /// # Errors
    /// Where there would be too many, or the request cannot be made now.
    pub fn add_incoming_streams(&mut self, now: Time, count: u16) -> Result<(), ReconfigError> {
        if count == 0 || self.inbound_streams.checked_add(count).is_none() {
            return Err(ReconfigError::StreamCount);
        }
        self.ask(now, ReconfigRequest::AddIncoming(count))
    }

    fn open_for_requests(&self) -> Result<&Reconfig, ReconfigError> {
        let reconfig = self.reconfig.as_deref().ok_or(ReconfigError::NotAgreed)?;
        match self.state {
            State::Established => Ok(reconfig),
            _ => Err(ReconfigError::NotEstablished),
        }
    }

    fn ask(&mut self, now: Time, request: ReconfigRequest) -> Result<(), ReconfigError> {
        self.open_for_requests()?;
        let room = self
            .reconfig
            .as_mut()
            .is_some_and(|r| r.wish(request, None));
        if !room {
            return Err(ReconfigError::Busy);
        }
        self.continue_requests(now);
        Ok(())
    }

    /// Bytes of messages that wait for a stream to begin anew.
    pub(super) fn held_for_reset_bytes(&self) -> u32 {
        self.reconfig.as_ref().map_or(0, |r| r.held_bytes)
    }

    /// Whether a stream is to begin anew, so that messages for it must wait.
    #[inline]
    pub(super) fn is_paused(&self, stream: u16) -> bool {
        let reconfig = self.reconfig.as_ref();
        reconfig.is_some_and(|reconfig| reconfig.pauses(stream))
    }

    /// Keeps a message back whose stream is to begin anew.
    pub(super) fn hold_for_reset(&mut self, now: Time, message: Message) -> MessageId {
        let id = self.outbound.queue.reserve();
        if let Some(reconfig) = &mut self.reconfig {
            reconfig.held_bytes += message.payload.len() as u32;
            reconfig.held.push_back((id, now, message));
        }
        id
    }

    /// Lets go of the messages whose streams need not wait any more.
    pub(super) fn release_held(&mut self) {
        let Some(reconfig) = &mut self.reconfig else {
            return;
        };
        for (id, at, message) in core::mem::take(&mut reconfig.held) {
            if reconfig.pauses(message.stream) {
                reconfig.held.push_back((id, at, message));
            } else {
                reconfig.held_bytes -= message.payload.len() as u32;
                self.outbound.queue.push_reserved(id, at, message);
            }
        }
    }

    /// Sends the next request that may go.
    #[inline(never)]
    pub(super) fn continue_requests(&mut self, now: Time) {
        let sends = self.state.sends_data();
        let Some(reconfig) = &mut self.reconfig else {
            return;
        };
        let Some(wish) = reconfig.waiting.front() else {
            return;
        };
        if reconfig.flight.is_some() || !sends {
            return;
        }
        let ready = match &wish.request {
            // Section 5.1.2: the last TSN assigned must cover what was handed over
            // before.
            ReconfigRequest::ResetOutgoing(streams) => {
                let queue = &self.outbound.queue;
                !queue.any_waits(|stream| names(streams, stream))
            }
            ReconfigRequest::ResetNumbers => {
                let soonest = reconfig.numbers_reset.map(|at| at + BETWEEN_RESETS);
                if let Some(soonest) = soonest.filter(|&soonest| soonest > now) {
                    reconfig.due = soonest;
                    return;
                }
                self.outbound.is_idle()
            }
            _ => true,
        };
        if !ready {
            return;
        }
        let Some(Wish { request, answers }) = reconfig.waiting.pop_front() else {
            return;
        };
        let number = reconfig.next;
        reconfig.next = number.wrapping_add(1);
        if matches!(request, ReconfigRequest::ResetOutgoing(_)) {
            self.outbound.turn_streams();
        }
        let content = match &request {
            ReconfigRequest::ResetOutgoing(streams) => Reconfiguration::OutgoingReset {
                number,
                response: answers.unwrap_or(reconfig.expected.wrapping_sub(1)),
                last_tsn: self.outbound.next_tsn().previous(),
                streams: streams.clone(),
            },
            ReconfigRequest::ResetIncoming(streams) => Reconfiguration::IncomingReset {
                number,
                streams: streams.clone(),
            },
            ReconfigRequest::ResetNumbers => Reconfiguration::NumbersReset { number },
            &ReconfigRequest::AddOutgoing(streams) => {
                Reconfiguration::AddOutgoing { number, streams }
            }
            &ReconfigRequest::AddIncoming(streams) => {
                Reconfiguration::AddIncoming { number, streams }
            }
        };
        let parameter = content.parameter();
        reconfig.flight = Some(Flight {
            number,
            request,
            parameter: parameter.clone(),
            in_progress: false,
        });
        let path = self.paths.data();
        reconfig.due = now + self.paths[path].rto;
        self.control
            .push_back((path, Chunk::Reconfig(vec![parameter])));
    }

    /// The reconfiguration timer expired (section 5.1.1).
    pub(super) fn reconfig_timeout(&mut self, now: Time) {
        let Some(reconfig) = &mut self.reconfig else {
            return;
        };
        reconfig.due = Time::FAR_FUTURE;
        let Some(flight) = &mut reconfig.flight else {
            // The next request may go now.
            self.continue_requests(now);
            return;
        };
        let counts = !core::mem::take(&mut flight.in_progress);
        let chunk = Chunk::Reconfig(vec![flight.parameter.clone()]);
        let path = self.paths.data();
        self.paths[path].back_off(&self.config);
        if counts && !self.count_error(now, path) {
            return;
        }
        let due = now + self.paths[path].rto;
        let other = self.paths.alternate(path);
        if let Some(reconfig) = &mut self.reconfig {
            reconfig.due = due;
        }
        self.control.push_back((other, chunk));
    }

    /// The peer answered a request (section 5.2.7).
    pub(super) fn handle_response(
        &mut self,
        now: Time,
        number: u32,
        result: ReconfigResult,
        next: Option<(Tsn, Tsn)>,
    ) {
        let Some(reconfig) = &mut self.reconfig else {
            return;
        };
        let rto = self.paths[self.paths.data()].rto;
        let Some(mut flight) = reconfig.flight.take_if(|f| f.number == number) else {
            return;
        };
        if result == ReconfigResult::InProgress {
            flight.in_progress = true;
            reconfig.flight = Some(flight);
            reconfig.due = now + rto;
            self.peer_answered();
            return;
        }
        reconfig.due = Time::FAR_FUTURE;
        self.peer_answered();
        let mut result = result;
        match &flight.request {
            _ if !result.is_success() => {}
            ReconfigRequest::ResetOutgoing(streams) => {
                self.outbound.queue.restart_numbers(streams);
            }
            ReconfigRequest::ResetNumbers => match next {
                Some((theirs, ours)) => self.begin_numbers_anew(now, ours, theirs),
                // The answer says nothing of where to begin.
                None => result = ReconfigResult::Other(result.code()),
            },
            &ReconfigRequest::AddOutgoing(count) => {
                self.outbound_streams = self.outbound_streams.saturating_add(count);
                self.tell_streams();
            }
            ReconfigRequest::ResetIncoming(_) | ReconfigRequest::AddIncoming(_) => {}
        }
        let request = flight.request;
        self.events
            .push_back(Event::Reconfigured { request, result });
        self.release_held();
        self.continue_requests(now);
    }

    pub(super) fn tell_streams(&mut self) {
        self.events.push_back(Event::StreamsChanged {
            outbound_streams: self.outbound_streams,
            inbound_streams: self.inbound_streams,
        });
    }

    /// Both sides go on with these TSNs, and with message zero in every stream
    /// (rules G3 to G5 and H5). Nothing of this side is outstanding.
    pub(super) fn begin_numbers_anew(&mut self, now: Time, local: Tsn, peer: Tsn) {
        self.outbound.restart(local);
        self.outbound.queue.restart_numbers(&[]);
        self.inbound.restart(peer);
        for path in self.paths.iter_mut() {
            path.forget_numbers();
        }
        if let Some(reconfig) = &mut self.reconfig {
            reconfig.numbers_reset = Some(now);
        }
    }
}
