//! The contract between an application and whatever carries its messages.

use headway_sansio::{Payload, Time};

/// Names one message of a run. The application that makes the message makes the
/// number; no two messages of a run share one, copies that the application
/// sends again included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId(pub u64);

/// The application at the other end, as the wiring numbers them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Peer(pub u32);

/// A message that an application hands over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// Its name in this run.
    pub id: MessageId,
    /// Whom it is for.
    pub to: Peer,
    /// What belongs together: the number of the call, for SIP. The mapping picks
    /// stream or connection by it.
    pub context: u32,
    /// Its content, or only its length.
    pub payload: Payload,
}

/// A message that arrived whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incoming {
    /// Its name, where the run knows it without looking into the message: in
    /// virtual time. On a real network the content has to tell.
    pub id: Option<MessageId>,
    /// Whom it comes from.
    pub from: Peer,
    /// Its content, or only its length.
    pub payload: Payload,
}

/// What the application may expect of whatever carries its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reliability {
    /// Every message arrives once (TCP, SCTP): the application sends once.
    #[default]
    Reliable,
    /// Messages can vanish or come twice (UDP): the application repeats them.
    Unreliable,
}

/// A source or sink of messages.
///
/// The rules are those of [`headway_sansio::Machine`]: after every call of
/// `start` or `handle_*` the driver calls `poll_output` until it returns `None`,
/// then `poll_timeout`; `now` never decreases; after `handle_timeout(now)` no
/// timeout at or before `now` is named.
pub trait Application {
    /// The transport is ready and the clock of the workload starts: a source
    /// counts its arrivals from here. Called once, before anything else.
    fn start(&mut self, now: Time);

    /// Takes a message that the transport delivered at `now`.
    fn handle_message(&mut self, now: Time, message: Incoming);

    /// Does what is due at `now`; does nothing where nothing is due.
    fn handle_timeout(&mut self, now: Time);

    /// The next message to hand to the transport, in the order of making.
    fn poll_output(&mut self) -> Option<Outgoing>;

    /// When the application next wants `handle_timeout`, if at all.
    fn poll_timeout(&self) -> Option<Time>;

    /// Whether nothing more will come of it unless a message arrives that it
    /// does not wait for. A run can end when all its applications are done.
    fn is_done(&self) -> bool;
}
