//! Two applications and an in-memory pipe between them, for tests.

use std::collections::BTreeMap;

use headway_sansio::{Duration, RandomStream, Time};

use crate::{Application, Incoming, Outgoing, Peer};

/// Decides from the random stream and the message whether the message is lost.
pub(crate) type Loss = Box<dyn FnMut(&mut RandomStream, Side, &Outgoing) -> bool>;

/// Delays each message by `delay` and at random up to `jitter` more, so that
/// messages can overtake, and loses some.
pub(crate) struct Pipe {
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    pub(crate) loss: Loss,
    random: RandomStream,
    under_way: BTreeMap<(Time, u64), (Side, Outgoing)>,
    serial: u64,
    /// What was handed over: when, by whom.
    pub(crate) log: Vec<(Time, Side, Outgoing)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    A,
    B,
}

impl Pipe {
    pub(crate) fn new(delay: Duration, random: RandomStream) -> Self {
        Self {
            delay,
            jitter: Duration::ZERO,
            loss: Box::new(|_, _, _| false),
            random,
            under_way: BTreeMap::new(),
            serial: 0,
            log: Vec::new(),
        }
    }

    /// Runs both applications until nothing is left to do at all. Returns the
    /// time at which both first said that they were done.
    pub(crate) fn run(&mut self, a: &mut impl Application, b: &mut impl Application) -> Time {
        let mut done = None;
        let mut now = Time::ZERO;
        a.start(now);
        b.start(now);
        loop {
            self.collect(now, Side::A, a);
            self.collect(now, Side::B, b);
            let arrival = self.under_way.keys().next().map(|(at, _)| *at);
            let timers = [a.poll_timeout(), b.poll_timeout()];
            if arrival.is_none() && a.is_done() && b.is_done() {
                done.get_or_insert(now);
            }
            let Some(next) = timers.into_iter().chain([arrival]).flatten().min() else {
                return done.expect("nothing to do is done");
            };
            now = next;
            if arrival == Some(now) {
                let (_, (to, sent)) = self.under_way.pop_first().expect("it was there");
                let incoming = Incoming {
                    id: Some(sent.id),
                    from: Peer(0),
                    payload: sent.payload,
                };
                match to {
                    Side::A => a.handle_message(now, incoming),
                    Side::B => b.handle_message(now, incoming),
                }
            } else {
                a.handle_timeout(now);
                b.handle_timeout(now);
                for timer in [a.poll_timeout(), b.poll_timeout()].into_iter().flatten() {
                    assert!(timer > now, "a timer that does not move on");
                }
            }
        }
    }

    fn collect(&mut self, now: Time, side: Side, app: &mut impl Application) {
        while let Some(out) = app.poll_output() {
            self.log.push((now, side, out.clone()));
            let late = self.random.below(self.jitter.as_nanos() + 1);
            if (self.loss)(&mut self.random, side, &out) {
                continue;
            }
            let to = match side {
                Side::A => Side::B,
                Side::B => Side::A,
            };
            let at = now + self.delay + Duration::from_nanos(late);
            self.under_way.insert((at, self.serial), (to, out));
            self.serial += 1;
        }
    }
}
