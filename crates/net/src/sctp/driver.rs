//! The task that runs the machine: sockets, time, and wishes of the users.

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use headway_sansio::Time;
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::{Instant, Sleep, sleep_until};

use super::core::Core;
use super::endpoint::Shared;

/// Turns of the loop before other tasks get their turn.
const TURNS: usize = 16;

/// Runs until no user has the endpoint or one of its associations any more, and
/// the last association is over.
pub(super) struct Driver {
    shared: Arc<Shared>,
    /// The carrier's descriptors, for their readiness alone. Of whatever kind a
    /// socket is: this type is the one by which tokio watches any.
    sockets: Vec<UdpSocket>,
    alarm: Pin<Box<Sleep>>,
    alarm_at: Option<Time>,
}

impl Driver {
    /// # Errors
    /// Where the runtime cannot watch the sockets.
    pub(super) fn new(shared: Arc<Shared>, descriptors: Vec<OwnedFd>) -> io::Result<Self> {
        let watch = |descriptor| UdpSocket::from_std(std::net::UdpSocket::from(descriptor));
        let sockets: io::Result<_> = descriptors.into_iter().map(watch).collect();
        Ok(Self {
            shared,
            sockets: sockets?,
            alarm: Box::pin(sleep_until(Instant::now())),
            alarm_at: None,
        })
    }

    /// Takes one batch from each socket that has something. Says whether any had.
    fn read(&mut self, core: &mut Core, cx: &mut Context<'_>) -> io::Result<bool> {
        let mut any = false;
        for (local, socket) in self.sockets.iter().enumerate() {
            if socket.poll_recv_ready(cx).is_ready() {
                any = true;
                until_blocked(socket, Interest::READABLE, || core.receive(local))?;
            }
        }
        Ok(any)
    }

    /// Waits for room where packets wait for it. Says whether there is some.
    fn write(&mut self, core: &mut Core, cx: &mut Context<'_>) -> io::Result<bool> {
        let mut any = false;
        for (local, socket) in self.sockets.iter().enumerate() {
            if core.carrier.is_blocked(local) && socket.poll_send_ready(cx).is_ready() {
                any = true;
                until_blocked(socket, Interest::WRITABLE, || {
                    core.carrier.flush()?;
                    Ok(!core.carrier.is_blocked(local))
                })?;
            }
        }
        Ok(any)
    }

    /// Sets the alarm for the machine's next timeout. Says whether it has rung.
    fn wait(&mut self, core: &mut Core, cx: &mut Context<'_>) -> bool {
        let Some(at) = core.poll_timeout() else {
            self.alarm_at = None;
            return false;
        };
        if self.alarm_at != Some(at) {
            self.alarm_at = Some(at);
            let wait = std::time::Duration::from_nanos(at.since(core.now()).as_nanos());
            self.alarm.as_mut().reset(Instant::now() + wait);
        }
        let rung = self.alarm.as_mut().poll(cx).is_ready();
        if rung {
            self.alarm_at = None;
        }
        rung
    }

    fn turn(&mut self, core: &mut Core, cx: &mut Context<'_>) -> io::Result<bool> {
        let read = self.read(core, cx)?;
        core.handle_timeout();
        core.settle()?;
        let written = self.write(core, cx)?;
        let rung = self.wait(core, cx);
        Ok(read || written || rung)
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let shared = Arc::clone(&this.shared);
        let mut core = shared.lock();
        for _ in 0..TURNS {
            match this.turn(&mut core, cx) {
                Ok(true) => {}
                Ok(false) => {
                    if core.closed && core.machine.association_count() == 0 {
                        return Poll::Ready(());
                    }
                    core.driver = Some(cx.waker().clone());
                    return Poll::Pending;
                }
                Err(error) => {
                    core.network.failure = Some(error.kind());
                    return Poll::Ready(());
                }
            }
        }
        drop(core);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Driver {
    /// Also where the runtime is shut down.
    fn drop(&mut self) {
        self.shared.lock().die();
    }
}

/// Does something with a socket that is ready; where `deed` says that there is no
/// more to do, the socket has to become ready anew.
fn until_blocked(
    socket: &UdpSocket,
    interest: Interest,
    deed: impl FnOnce() -> io::Result<bool>,
) -> io::Result<()> {
    let result = socket.try_io(interest, || match deed() {
        Ok(true) => Ok(()),
        Ok(false) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(error),
    });
    match result {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(()),
    }
}
