//! Waiting: for sockets, for a point in time, for the user's signal to stop.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use headway_sansio::{Duration, Time};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::Clock;

/// The name that a registered descriptor is reported by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(pub u64);

/// Tokens of the poller's own; sockets have smaller ones.
const ALARM: u64 = u64::MAX;
const SIGNAL: u64 = u64::MAX - 1;

/// Most descriptors reported by one wait. The others are reported by the next.
const EVENTS: usize = 64;

/// What to wait for on a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// Something to read.
    Read,
    /// Something to read, or room to write.
    ReadWrite,
}

/// A descriptor that needs attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ready {
    /// Which one.
    pub token: Token,
    /// It can be read, or has an error or an end of stream to tell.
    pub readable: bool,
    /// It can be written.
    pub writable: bool,
}

/// Waits for whichever comes first.
///
/// Timing rests on two things. A timer descriptor is armed with an absolute time
/// of the monotonic clock; the time-out argument of `poll` and `epoll_wait` would
/// not do, because the kernel lets it slip by 0.1 % of its length (0.5 ms for
/// SIP's T1) to save wake-ups. And the alarm is set a little early, by what it
/// usually takes a sleeping processor to come back (150 us on a virtual machine);
/// the rest of the time is spent looking at the sockets.
pub struct Poller {
    registry: Registry,
    clock: Clock,
    alarm: TimerFd,
    armed: Option<Time>,
    lead: Lead,
    signals: Option<SignalFd>,
    events: Vec<EpollEvent>,
    ready: Vec<Ready>,
}

/// Where descriptors are registered with a [`Poller`]; may be kept by whoever
/// opens sockets while the poller is in use.
#[derive(Clone, Debug)]
pub struct Registry {
    epoll: Arc<Epoll>,
}

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// Sockets are ready (see [`Poller::ready`]), or the time has come, or both.
    Awake,
    /// The user or the system asks the program to stop.
    Stop,
}

impl Poller {
    /// A poller that tells time by `clock`.
    ///
    /// # Errors
    /// Where the system has no descriptors left.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let alarm = TimerFd::new(
            ClockId::CLOCK_MONOTONIC,
            TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC,
        )?;
        epoll.add(&alarm, EpollEvent::new(EpollFlags::EPOLLIN, ALARM))?;
        Ok(Self {
            registry: Registry {
                epoll: Arc::new(epoll),
            },
            clock,
            alarm,
            armed: None,
            lead: Lead::default(),
            signals: None,
            events: vec![EpollEvent::empty(); EVENTS],
            ready: Vec::with_capacity(EVENTS),
        })
    }

    /// From now on Ctrl-C and SIGTERM end a wait instead of the program. Call it
    /// before threads are started: only those of later ones obey.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn catch_stop_signals(&mut self) -> io::Result<()> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGINT);
        mask.add(Signal::SIGTERM);
        mask.thread_block()?;
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, SIGNAL);
        self.registry.epoll.add(&signals, event)?;
        self.signals = Some(signals);
        Ok(())
    }

    /// Where sockets are registered.
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.registry.clone()
    }

    /// The clock that [`Self::wait`] goes by.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Waits until a socket is ready, a signal comes, or `until`, where that is
    /// given; only looks at the sockets where `until` has passed.
    ///
    /// # Errors
    /// Where the system refuses, which a correct program does not see.
    pub fn wait(&mut self, until: Option<Time>) -> io::Result<Woken> {
        self.ready.clear();
        let alarm_at = until.map(|at| at - self.lead.get());
        if alarm_at.is_none_or(|at| at > self.clock.now()) {
            self.arm(alarm_at)?;
            if let Some(woken) = self.look(EpollTimeout::NONE)? {
                return Ok(woken);
            }
            if let Some(at) = alarm_at.filter(|_| self.armed.is_none()) {
                self.lead.learn(self.clock.now().since(at));
            }
        }
        loop {
            if let Some(woken) = self.look(EpollTimeout::ZERO)? {
                return Ok(woken);
            }
            if until.is_none_or(|at| at <= self.clock.now()) {
                return Ok(Woken::Awake);
            }
        }
    }

    /// Looks at what is there, waiting for it or not. `None` where nothing is
    /// but the alarm.
    fn look(&mut self, timeout: EpollTimeout) -> io::Result<Option<Woken>> {
        let count = match self.registry.epoll.wait(&mut self.events, timeout) {
            // Stopped and continued by the shell, for example.
            Err(Errno::EINTR) => return Ok(Some(Woken::Awake)),
            result => result?,
        };
        let mut stop = false;
        for event in &self.events[..count] {
            match event.data() {
                ALARM => {
                    // Disarmed, so that it is not ready still while the rest is waited for.
                    if self.armed.take().is_some() {
                        self.alarm.unset()?;
                    }
                }
                SIGNAL => {
                    if let Some(signals) = &mut self.signals {
                        // Taken off, so that another one wakes again.
                        while signals.read_signal()?.is_some() {}
                    }
                    stop = true;
                }
                token => {
                    let flags = event.events();
                    let hopeless = EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP;
                    self.ready.push(Ready {
                        token: Token(token),
                        readable: flags.intersects(EpollFlags::EPOLLIN | hopeless),
                        writable: flags.intersects(EpollFlags::EPOLLOUT),
                    });
                }
            }
        }
        Ok(match (stop, self.ready.is_empty()) {
            (true, _) => Some(Woken::Stop),
            (false, false) => Some(Woken::Awake),
            (false, true) => None,
        })
    }

    /// What the last wait found ready.
    #[must_use]
    pub fn ready(&self) -> &[Ready] {
        &self.ready
    }

    fn arm(&mut self, until: Option<Time>) -> io::Result<()> {
        if self.armed == until && until.is_some() {
            return Ok(());
        }
        match until {
            // Arming also takes back an expiry that was not looked at yet.
            Some(at) => self.alarm.set(
                Expiration::OneShot(self.clock.to_monotonic(at)),
                TimerSetTimeFlags::TFD_TIMER_ABSTIME,
            )?,
            None => self.alarm.unset()?,
        }
        self.armed = until;
        Ok(())
    }
}

/// How much before its time the alarm is set: a running estimate of the time that
/// nine of ten wake-ups keep within.
#[derive(Debug, Default)]
struct Lead(Duration);

impl Lead {
    /// However busy the machine is: what is waited for by looking is no more.
    const MOST: Duration = Duration::from_micros(250);
    const STEP: Duration = Duration::from_nanos(500);

    fn get(&self) -> Duration {
        self.0
    }

    /// A wake-up came so late. Nine steps down and one of nine steps up balance
    /// where one wake-up of ten is later.
    fn learn(&mut self, late: Duration) {
        self.0 = if late > self.0 {
            Self::MOST.min(self.0 + Self::STEP * 9)
        } else {
            self.0 - Self::STEP
        };
    }
}

impl Registry {
    /// Begins to watch a descriptor.
    ///
    /// # Errors
    /// Where it is watched already or the system's limit is reached.
    pub fn add(&self, source: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        self.epoll.add(source, event(token, interest))?;
        Ok(())
    }

    /// Watches a descriptor for something else.
    ///
    /// # Errors
    /// Where it is not watched.
    pub fn change(&self, source: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        self.epoll.modify(source, &mut event(token, interest))?;
        Ok(())
    }

    /// Ends the watch. Closing a descriptor does the same.
    ///
    /// # Errors
    /// Where it is not watched.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        self.epoll.delete(source)?;
        Ok(())
    }
}

fn event(token: Token, interest: Interest) -> EpollEvent {
    debug_assert!(token.0 < SIGNAL, "reserved token");
    let flags = match interest {
        Interest::Read => EpollFlags::EPOLLIN,
        Interest::ReadWrite => EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT,
    };
    EpollEvent::new(flags, token.0)
}

#[cfg(test)]
mod tests;
