//! The messages of one association, there and back.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::pending;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use headway_net::Clock;
use headway_net::sctp::{
    Association, Event, Message, MessageId, Notice, ReconfigRequest, ReconfigResult, Reliability,
};
use headway_sansio::{Duration, Time};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use super::args::ConnectArgs;
use super::ledger::{Ledger, Manner};
use super::payload::Payloads;
use super::{lock, to_std};
use crate::sip::delays::Delays;

/// Streams that a request names one by one; beyond, it means all.
const MOST_NAMED: u16 = 256;

pub(super) struct Exchange<'a> {
    args: &'a ConnectArgs,
    payloads: Payloads,
    clock: Clock,
    ledger: Mutex<Ledger>,
    round_trips: &'a Mutex<Delays>,
    resets: Mutex<Resets>,
    /// Fewer messages are under way.
    room: Notify,
    /// The association told something that somebody may wait for.
    news: Notify,
}

/// How far the resetting of streams has come.
#[derive(Default)]
struct Resets {
    /// What the peer has answered.
    answer: Option<ReconfigResult>,
    /// The streams that the peer has reset on its own.
    by_peer: BTreeSet<u16>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        args: &'a ConnectArgs,
        payloads: Payloads,
        clock: Clock,
        round_trips: &'a Mutex<Delays>,
    ) -> Self {
        let manner = Manner {
            streams: args.messages.streams,
            unordered: args.messages.unordered,
            ppid: args.messages.ppid,
            plain: args.messages.plain,
        };
        Self {
            args,
            clock,
            round_trips,
            ledger: Mutex::new(Ledger::new(payloads.clone(), manner)),
            payloads,
            resets: Mutex::default(),
            room: Notify::new(),
            news: Notify::new(),
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    pub(super) fn into_ledger(self) -> Ledger {
        self.ledger
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends everything, as often as was asked for, and takes what comes back.
    ///
    /// # Errors
    /// Why it could not go on, in words.
    pub(super) async fn run(&self, association: &Association) -> Result<(), String> {
        tokio::select! {
            result = self.rounds(association) => result,
            never = self.heed(association) => match never {},
        }
    }

    async fn rounds(&self, association: &Association) -> Result<(), String> {
        let count = self.args.messages.count;
        for round in 0..=self.args.changes.resets {
            if round > 0 {
                self.reset(association).await?;
            }
            let numbers = round * count..(round + 1) * count;
            tokio::try_join!(
                self.send(association, numbers.clone()),
                self.receive(association, numbers.end)
            )?;
        }
        Ok(())
    }

    async fn send(&self, association: &Association, numbers: Range<u64>) -> Result<(), String> {
        let begun = Instant::now();
        let messages = &self.args.messages;
        for number in numbers.clone() {
            match messages.rate {
                Some(rate) => {
                    let turn = (number - numbers.start) as f64;
                    // A turn that never comes is one in some centuries.
                    let at = Duration::from_secs_f64(turn / rate);
                    sleep_until(begun + to_std(at)).await;
                }
                None => {
                    while self.ledger().under_way() >= messages.outstanding {
                        self.room.notified().await;
                    }
                }
            }
            let payload = self.payloads.content(number);
            let bytes = payload.len();
            let stream = self.ledger().stream(number);
            let last = numbers.end - number <= u64::from(messages.streams);
            let message = Message {
                stream,
                ppid: messages.ppid,
                unordered: messages.unordered,
                reliability: self.reliability(number, last),
                ..Message::new(payload)
            };
            // Noted first: the echo may be faster than this task.
            self.ledger().sent(self.now(), number, bytes);
            association
                .send(message)
                .await
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// What is done to bring a message across. The last one on each stream comes in
    /// any case.
    fn reliability(&self, number: u64, last: bool) -> Reliability {
        if !self.args.changes.gives_up() {
            return Reliability::Full;
        }
        if last {
            self.ledger().must_come(number);
            return Reliability::Full;
        }
        self.args.changes.reliability(number)
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    /// Takes what comes until all messages below `end` are accounted for.
    async fn receive(&self, association: &Association, end: u64) -> Result<(), String> {
        let patience = to_std(self.args.ends.wait);
        while !self.is_settled(association, end) {
            let idle = self.ledger().under_way() == 0;
            let arrival = tokio::select! {
                arrival = timeout(patience, association.recv()) => arrival,
                () = self.news.notified() => continue,
            };
            let message = match arrival {
                Ok(Ok(Some(message))) => message,
                Ok(Ok(None)) => return Err("the peer shut the association down".to_owned()),
                Ok(Err(error)) => return Err(error.to_string()),
                // At a low rate there may be nothing that could come back.
                Err(_) if idle => continue,
                Err(_) => return Err(format!("nothing came back for {patience:?}")),
            };
            let delay = self.ledger().came(self.now(), &message);
            if let Some(delay) = delay {
                lock(self.round_trips).add(delay);
            }
            self.room.notify_one();
        }
        Ok(())
    }

    fn is_settled(&self, association: &Association, end: u64) -> bool {
        let given_up = if self.args.changes.gives_up() {
            let count = association.stats().messages_abandoned;
            count.sent + count.unsent
        } else {
            0
        };
        let mut ledger = self.ledger();
        ledger.tally.sent == end && ledger.is_settled(given_up)
    }

    /// Listens to what the association tells beside the messages.
    async fn heed(&self, association: &Association) -> Infallible {
        while let Some(notice) = association.notice().await {
            let Notice::Other(event) = notice else {
                continue;
            };
            match event {
                // Messages are numbered as they were handed over.
                Event::Abandoned {
                    message: MessageId(number),
                    sent,
                    ..
                } => self.ledger().gave_up(number, sent),
                Event::Reconfigured {
                    request: ReconfigRequest::ResetOutgoing(_),
                    result,
                } => lock(&self.resets).answer = Some(result),
                Event::IncomingReset { streams } => {
                    self.ledger().tally.peer_resets += 1;
                    let by_peer = &mut lock(&self.resets).by_peer;
                    match streams.as_slice() {
                        [] => by_peer.extend(0..self.args.messages.streams),
                        some => by_peer.extend(some),
                    }
                }
                _ => continue,
            }
            self.room.notify_one();
            self.news.notify_one();
        }
        // Whoever waits for messages learns of the end.
        pending().await
    }

    /// Has the streams begin anew.
    async fn reset(&self, association: &Association) -> Result<(), String> {
        *lock(&self.resets) = Resets::default();
        let named: Vec<u16> = match self.args.messages.streams {
            few @ ..=MOST_NAMED => (0..few).collect(),
            _ => Vec::new(),
        };
        association
            .reset_streams(&named)
            .map_err(|error| format!("resetting the streams: {error}"))?;
        let patience = to_std(self.args.ends.wait);
        let done = async {
            loop {
                if let Some(result) = self.reset_result() {
                    return result;
                }
                self.news.notified().await;
            }
        };
        tokio::select! {
            result = timeout(patience, done) => match result {
                Ok(result) => result,
                Err(_) => Err(format!("the streams were not reset for {patience:?}")),
            },
            ended = association.ended() => Err(match ended {
                Ok(()) => "the peer shut the association down".to_owned(),
                Err(error) => error.to_string(),
            }),
        }
    }

    /// What came of a reset, once it is known.
    fn reset_result(&self) -> Option<Result<(), String>> {
        let resets = lock(&self.resets);
        let answer = resets.answer?;
        if !answer.is_success() {
            return Some(Err(format!("the peer reset no streams: {answer:?}")));
        }
        let back = resets.by_peer.len() >= usize::from(self.args.messages.streams);
        if self.args.changes.both_ways && !back {
            return None;
        }
        drop(resets);
        self.ledger().tally.resets += 1;
        Some(Ok(()))
    }
}
