//! An application over a transport: the machine that the simulator hosts.

use std::cell::Cell;
use std::rc::Rc;

use headway_apps::Application;
use headway_sansio::{Address, Datagram, Machine, Time};

use super::carrier::{Carrier, News, Parcel};
use crate::results::WindowSample;

/// One end of a run.
pub(super) struct Host<A, C> {
    local: Address,
    remote: Address,
    pub(super) app: A,
    pub(super) carrier: C,
    /// When the transport was ready and the application started.
    pub(super) started: Option<Time>,
    /// The transport gave up.
    pub(super) dead: bool,
    /// Contexts that were begun so far in the run, whichever host began them:
    /// they are numbered from zero.
    contexts: Rc<Cell<u32>>,
    /// The congestion window at each change, where it is wanted.
    windows: Option<Vec<(Time, u64)>>,
    now: Time,
}

impl<A: Application, C: Carrier> Host<A, C> {
    pub(super) fn new(
        [local, remote]: [Address; 2],
        app: A,
        carrier: C,
        contexts: Rc<Cell<u32>>,
    ) -> Self {
        Self {
            local,
            remote,
            app,
            carrier,
            started: None,
            dead: false,
            contexts,
            windows: None,
            now: Time::ZERO,
        }
    }

    /// Keeps the congestion window over time, if `wanted`.
    pub(super) fn keeping_windows(mut self, wanted: bool) -> Self {
        self.windows = wanted.then(Vec::new);
        self
    }

    /// The congestion window at each change, as samples of flow number `flow`.
    pub(super) fn take_windows(
        &mut self,
        flow: u32,
        forward: bool,
    ) -> impl Iterator<Item = WindowSample> + use<A, C> {
        let kept = self.windows.take().into_iter().flatten();
        kept.map(move |(at, cwnd_bytes)| WindowSample {
            flow,
            forward,
            at,
            cwnd_bytes,
        })
    }

    /// The application, once the run is over.
    pub(super) fn into_app(self) -> A {
        self.app
    }

    /// A packet for the other end and its size as an IP datagram in bytes.
    #[inline]
    pub(super) fn poll_packet(&mut self) -> Option<(Parcel<C>, u32)> {
        self.carrier.poll_transmit(self.now)
    }

    /// Passes news up and messages down until both are silent.
    #[inline(always)]
    fn pump(&mut self, now: Time) {
        self.now = now;
        loop {
            while let Some(news) = self.carrier.poll_news(now) {
                match news {
                    News::Ready => {
                        self.started = Some(now);
                        self.app.start(now);
                    }
                    News::Message(message) => self.app.handle_message(now, message),
                    News::Dead => self.dead = true,
                }
            }
            let mut sent = false;
            while let Some(message) = self.app.poll_output() {
                sent = true;
                let begun = self.contexts.get().max(message.context.saturating_add(1));
                self.contexts.set(begun);
                self.carrier.send(now, message);
            }
            // News can only follow from what was sent.
            if !sent {
                break;
            }
        }
        self.carrier.observe(now);
        if let Some(windows) = &mut self.windows
            && let Some(level) = self.carrier.cwnd().level()
            && windows.last().is_none_or(|(_, last)| *last != level)
        {
            windows.push((now, level));
        }
    }
}

impl<A: Application, C: Carrier> Machine for Host<A, C> {
    type Input = Datagram<Parcel<C>>;
    type Output = Datagram<Parcel<C>>;

    fn handle_input(&mut self, now: Time, datagram: Datagram<Parcel<C>>) {
        self.carrier.handle_input(now, datagram.body);
        self.pump(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.app.poll_timeout().is_some_and(|at| at <= now) {
            self.app.handle_timeout(now);
        }
        if self.carrier.poll_timeout().is_some_and(|at| at <= now) {
            self.carrier.handle_timeout(now);
        }
        self.pump(now);
    }

    fn poll_output(&mut self) -> Option<Datagram<Parcel<C>>> {
        let (body, size_bytes) = self.poll_packet()?;
        Some(Datagram {
            source: self.local,
            destination: self.remote,
            size_bytes,
            body,
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        match (self.app.poll_timeout(), self.carrier.poll_timeout()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
