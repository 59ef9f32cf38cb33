//! Changing streams while the association lives: the peer asks (RFC 6525, section
//! 5.2).

use headway_sansio::Time;

use super::Association;
use super::reconfig::{Deferred, names};
use crate::inbound::Arrival;
use crate::packet::Reconfiguration;
use crate::{Cause, Chunk, DataChunk, Event, Parameter, ReconfigRequest, ReconfigResult, Tsn};

/// The most chunks that wait for a deferred reset; others are dropped, and sent again.
const MOST_HELD: usize = 64;
/// How far this side's TSNs leap when all numbers begin anew on the peer's request.
/// Rule G2 recommends the next one. But were the response lost, DATA of the new life
/// would then be taken for such of the old, and its messages for old ones; so far
/// ahead it is dropped until the response is there, and sent again.
const LEAP: u32 = 1 << 20;

impl Association {
    /// Takes a RE-CONFIG chunk (section 5.2.1).
    pub(super) fn handle_reconfig(&mut self, now: Time, from: usize, parameters: &[Parameter]) {
        if !self.state.sends_data() {
            return;
        }
        let read: Option<Vec<_>> = parameters.iter().map(Reconfiguration::read).collect();
        let Some(list) = read.filter(|list| Reconfiguration::go_together(list)) else {
            let cause = Cause::new(Cause::PROTOCOL_VIOLATION);
            self.answer(from, Chunk::Error(vec![cause]));
            return;
        };
        for one in &list {
            if let &Reconfiguration::Response {
                number,
                result,
                next,
            } = one
            {
                self.handle_response(now, number, result, next);
            }
        }
        let requests: Vec<_> = list.into_iter().filter(|r| r.request().is_some()).collect();
        let Some(first) = requests.first().and_then(Reconfiguration::request) else {
            return;
        };
        // What is missing should come soon.
        self.inbound.acknowledgement.at_once = true;
        self.reply_path = from;
        let Some(reconfig) = &mut self.reconfig else {
            return;
        };
        if first != reconfig.expected {
            let repeated = reconfig.answered.as_ref().filter(|(earlier, _)| {
                first.wrapping_sub(*earlier) < reconfig.expected.wrapping_sub(*earlier)
            });
            let answer = match repeated {
                Some((_, answer)) => answer.clone(),
                None => vec![response(first, ReconfigResult::BadSequenceNumber)],
            };
            self.respond(from, answer);
            return;
        }
        reconfig.expected = first.wrapping_add(requests.len() as u32);
        reconfig.answered = Some((first, Vec::new()));
        let answers: Vec<Parameter> = requests
            .into_iter()
            .filter_map(|request| self.handle_request(now, request))
            .collect();
        if let Some((_, kept)) = self.reconfig.as_mut().and_then(|r| r.answered.as_mut()) {
            kept.clone_from(&answers);
        }
        self.respond(from, answers);
        self.continue_requests(now);
    }

    fn respond(&mut self, path: usize, parameters: Vec<Parameter>) {
        if !parameters.is_empty() {
            self.answer(path, Chunk::Reconfig(parameters));
        }
    }

    /// Does what the peer asks; gives the response, unless a request of this side is
    /// one.
    fn handle_request(&mut self, now: Time, request: Reconfiguration) -> Option<Parameter> {
        let number = request.request()?;
        let result = match request {
            Reconfiguration::OutgoingReset {
                response,
                last_tsn,
                streams,
                ..
            } => {
                // Rule E1: it may answer a request of this side. Where it does not, it
                // names the last one seen all the same.
                if self.reconfig.as_ref()?.asks_for_reset(response) {
                    self.handle_response(now, response, ReconfigResult::Performed, None);
                }
                self.reset_inbound(number, last_tsn, streams)
            }
            Reconfiguration::IncomingReset { streams, .. } => {
                self.reset_on_request(number, streams)?
            }
            Reconfiguration::NumbersReset { .. } => {
                let reconfig = self.reconfig.as_mut()?;
                if reconfig.resets_numbers() || reconfig.settling.is_some() {
                    ReconfigResult::Busy
                } else {
                    reconfig.settling = Some(number);
                    return Some(match self.settle(now) {
                        Some(done) => done,
                        None => self::response(number, ReconfigResult::InProgress),
                    });
                }
            }
            Reconfiguration::AddOutgoing { streams, .. } => {
                match self.more_streams(self.inbound_streams, streams) {
                    None => ReconfigResult::Denied,
                    Some(all) => {
                        self.inbound_streams = all;
                        self.tell_streams();
                        ReconfigResult::Performed
                    }
                }
            }
            Reconfiguration::AddIncoming { streams, .. } => {
                let wish = ReconfigRequest::AddOutgoing(streams);
                let may = self.more_streams(self.outbound_streams, streams).is_some();
                if may && self.reconfig.as_mut()?.wish(wish, None) {
                    ReconfigResult::Performed
                } else {
                    ReconfigResult::Denied
                }
            }
            Reconfiguration::Response { .. } => return None,
        };
        Some(response(number, result))
    }

    /// So many streams and more, where that is not too many (sections 5.2.5, 5.2.6).
    fn more_streams(&self, so_far: u16, more: u16) -> Option<u16> {
        let all = so_far.checked_add(more)?;
        (more > 0 && all <= self.config.most_streams).then_some(all)
    }

    /// Streams of the peer begin anew, at once or when all DATA is here (section
    /// 5.2.2).
    fn reset_inbound(&mut self, number: u32, last_tsn: Tsn, streams: Vec<u16>) -> ReconfigResult {
        if streams.iter().any(|&stream| stream >= self.inbound_streams) {
            return ReconfigResult::WrongSsn;
        }
        let cumulative = self.inbound.cumulative();
        let Some(reconfig) = &mut self.reconfig else {
            return ReconfigResult::Denied;
        };
        if reconfig.deferred.is_some() {
            return ReconfigResult::Busy;
        }
        if cumulative.precedes(last_tsn) {
            reconfig.deferred = Some(Deferred {
                number,
                last_tsn,
                streams,
                held: Vec::new(),
            });
            return ReconfigResult::InProgress;
        }
        self.begin_inbound_anew(streams);
        ReconfigResult::Performed
    }

    fn begin_inbound_anew(&mut self, streams: Vec<u16>) {
        self.inbound.restart_streams(&streams);
        self.events.push_back(Event::IncomingReset { streams });
    }

    /// The peer asks this side to have streams begin anew (section 5.2.3). `None`:
    /// the request that follows says it.
    fn reset_on_request(&mut self, number: u32, streams: Vec<u16>) -> Option<ReconfigResult> {
        if streams
            .iter()
            .any(|&stream| stream >= self.outbound_streams)
        {
            return Some(ReconfigResult::WrongSsn);
        }
        let reconfig = self.reconfig.as_mut()?;
        if reconfig.is_resetting(&streams) {
            // They have just been asked about, or will be.
            return Some(ReconfigResult::NothingToDo);
        }
        if reconfig.is_asking() {
            // Its answer would be a second request under way; and were both sides to
            // wait for that, neither would get one.
            return Some(ReconfigResult::Busy);
        }
        let waits = self
            .outbound
            .queue
            .any_waits(|stream| names(&streams, stream));
        let at_once = reconfig.is_free() && !waits;
        let wish = ReconfigRequest::ResetOutgoing(streams);
        if !reconfig.wish(wish, Some(number)) {
            return Some(ReconfigResult::Busy);
        }
        (!at_once).then_some(ReconfigResult::InProgress)
    }

    /// Has all numbers begin anew, as the peer asked, where nothing of this side is
    /// under way any more (section 5.2.4). Gives the response.
    fn settle(&mut self, now: Time) -> Option<Parameter> {
        let number = self.reconfig.as_ref()?.settling?;
        if !self.outbound.is_idle() {
            return None;
        }
        let ours = self.outbound.next_tsn().plus(LEAP);
        // Far enough that nothing old can be taken for new (rule G1).
        let theirs = self.inbound.cumulative().next().plus(1 << 31);
        self.begin_numbers_anew(now, ours, theirs);
        if let Some(reconfig) = &mut self.reconfig {
            reconfig.settling = None;
        }
        self.events.push_back(Event::NumbersReset);
        self.release_held();
        let done = Reconfiguration::Response {
            number,
            result: ReconfigResult::Performed,
            next: Some((ours, theirs)),
        };
        Some(done.parameter())
    }

    /// Goes on with what waited for DATA or for acknowledgements.
    #[inline]
    pub(super) fn continue_reconfig(&mut self, now: Time) {
        if self.reconfig.is_some() {
            self.continue_waiting(now);
        }
    }

    #[inline(never)]
    fn continue_waiting(&mut self, now: Time) {
        let cumulative = self.inbound.cumulative();
        let Some(reconfig) = &mut self.reconfig else {
            return;
        };
        let ready = |deferred: &mut Deferred| !cumulative.precedes(deferred.last_tsn);
        if let Some(deferred) = reconfig.deferred.take_if(ready) {
            self.begin_inbound_anew(deferred.streams);
            for mut chunk in deferred.held {
                let arrival = self
                    .inbound
                    .take(&self.config, now, &mut chunk, &mut self.events);
                self.stats.data_chunks_received += u64::from(arrival == Arrival::New);
                self.inbound.acknowledgement.at_once = true;
            }
            self.answer_late(response(deferred.number, ReconfigResult::Performed));
        }
        if let Some(done) = self.settle(now) {
            self.answer_late(done);
        }
        self.continue_requests(now);
    }

    /// The answer to a request that was in progress.
    fn answer_late(&mut self, parameter: Parameter) {
        if let Some((_, kept)) = self.reconfig.as_mut().and_then(|r| r.answered.as_mut()) {
            *kept = vec![parameter.clone()];
        }
        self.respond(self.reply_path, vec![parameter]);
    }

    /// Keeps a chunk back that belongs to a stream's new life, which has not begun.
    #[inline(never)]
    pub(super) fn keep_for_reset(&mut self, chunk: &DataChunk) -> bool {
        let Some(deferred) = self.reconfig.as_mut().and_then(|r| r.deferred.as_mut()) else {
            return false;
        };
        let later = deferred.last_tsn.precedes(chunk.tsn);
        if !later || !names(&deferred.streams, chunk.stream) {
            return false;
        }
        let known = deferred.held.iter().any(|held| held.tsn == chunk.tsn);
        if !known && deferred.held.len() < MOST_HELD {
            deferred.held.push(chunk.clone());
        }
        true
    }
}

fn response(number: u32, result: ReconfigResult) -> Parameter {
    let response = Reconfiguration::Response {
        number,
        result,
        next: None,
    };
    response.parameter()
}
