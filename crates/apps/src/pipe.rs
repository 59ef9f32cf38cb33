//! Two applications and an in-memory pipe between them, for tests.

use std::collections::BTreeMap;

use headway_sansio::{Chance, Duration, RandomStream, Time};

use crate::{Application, Incoming, Outgoing, Peer};

/// Delays each message by `delay` and at random up to `jitter` more, so that
/// messages can overtake, and loses some.
pub(crate) struct Pipe {
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    pub(crate) loss: Chance,
    pub(crate) random: RandomStream,
    under_way: BTreeMap<(Time, u64), (Side, Outgoing)>,
    serial: u64,
    /// What was handed over: when, by whom.
    pub(crate) log: Vec<(Time, Side, Outgoing)>,
    pub(crate) lost: u64,
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
            loss: Chance::NEVER,
            random,
            under_way: BTreeMap::new(),
            serial: 0,
            log: Vec::new(),
            lost: 0,
        }
    }

    /// Runs both applications until nothing is left to do, or to `limit`.
    /// Returns the time of the last event.
    pub(crate) fn run(
        &mut self,
        a: &mut impl Application,
        b: &mut impl Application,
        limit: Time,
    ) -> Time {
        let mut now = Time::ZERO;
        a.start(now);
        b.start(now);
        loop {
            self.collect(now, Side::A, a);
            self.collect(now, Side::B, b);
            let arrival = self.under_way.keys().next().map(|(at, _)| *at);
            let timers = [a.poll_timeout(), b.poll_timeout()];
            let Some(next) = timers.into_iter().chain([arrival]).flatten().min() else {
                return now;
            };
            if next > limit {
                return now;
            }
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
            if self.random.happens(self.loss) {
                self.lost += 1;
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
