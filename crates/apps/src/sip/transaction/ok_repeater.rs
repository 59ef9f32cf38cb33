//! The 200 to an INVITE, repeated until its ACK comes (RFC 3261 section 13.3.1.4).

use headway_sansio::Time;

use super::Timers;
use super::timers::Resend;

/// Repeats a 2xx after T1 and then after doubling intervals up to T2, until the
/// ACK comes or 64*T1 have passed. RFC 3261 asks for it over reliable transports
/// as well, because a later hop may not be reliable.
#[derive(Clone, Copy, Debug)]
pub struct OkRepeater {
    timers: Timers,
    waiting: Option<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    resend: Resend,
    give_up: Time,
}

/// What the owner of an [`OkRepeater`] does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum RepeatAction {
    /// Nothing.
    None,
    /// Give the 2xx to the server transaction once more.
    Send,
    /// No ACK came in 64*T1: the session is to be ended with a BYE.
    GiveUp,
}

impl OkRepeater {
    /// Begins when the first 2xx goes out.
    #[must_use]
    pub fn start(now: Time, timers: Timers) -> Self {
        Self {
            timers,
            waiting: Some(Waiting {
                resend: Resend::start(now, timers.t1),
                give_up: now + timers.patience(),
            }),
        }
    }

    /// The ACK came, or the call is over: nothing more is sent.
    pub fn stop(&mut self) {
        self.waiting = None;
    }

    /// Whether the ACK is still missing.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) -> RepeatAction {
        match &mut self.waiting {
            Some(waiting) if waiting.give_up <= now => {
                self.waiting = None;
                RepeatAction::GiveUp
            }
            Some(waiting) if waiting.resend.at <= now => {
                waiting.resend.back_off(now, self.timers.t2);
                RepeatAction::Send
            }
            _ => RepeatAction::None,
        }
    }

    /// When it next wants [`Self::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.waiting
            .map(|waiting| waiting.resend.at.min(waiting.give_up))
    }
}
