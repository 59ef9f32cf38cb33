//! SCTP (RFC 9260) as a state machine without input or output of its own.
//!
//! An [`Association`] is fed with packets, time and messages, and drained of
//! packets and events. It reads no clock and opens no socket, so the same object
//! runs in virtual time and on a real network.
//!
//! ```text
//! Association::connect(now, Arc<Config>, RandomStream, local_port, remote_port) -> Self
//! Association::listen(Arc<Config>, RandomStream, local_port) -> Self
//!
//! send(now, Message) -> Result<MessageId, SendError>     shutdown(now)     abort(now)
//! handle_input(now, Packet)            handle_timeout(now)
//! poll_transmit(now) -> Option<Packet> poll_event() -> Option<Event>
//! poll_timeout() -> Option<Time>
//!
//! state()  stats()  cwnd_bytes()  ssthresh_bytes()  flight_bytes()  rto()  srtt()
//! held_bytes()  partial_bytes()  unread_bytes()  unsent_bytes()  buffered_bytes()
//! peer_window_bytes()
//! ```
//!
//! After each call of `send`, `shutdown`, `abort` and `handle_*` the driver calls
//! `poll_event` until it returns `None`, then `poll_transmit` until it returns
//! `None`, then `poll_timeout`. Reading events may open the receive window, so
//! events come first.

mod association;
mod config;
mod cookie;
mod event;
mod inbound;
mod outbound;
mod packet;
mod path;
mod stats;
mod types;

pub use association::{Association, AssociationState};
pub use config::{
    Config, CwndOvershoot, CwndWhenLimited, FastRetransmitAmount, IdleDecay, Knob, MaxBurstRule,
    Overrides, PROFILES, RepeatFastRetransmit, RtoFormula, SackBundling, Scheduler, TimeoutMarks,
    TimeoutRearm, UnknownProfile, WindowCounts, WindowUnit,
};
pub use event::{Event, LostReason, Message, MessageId, Received, SendError};
pub use packet::{
    COMMON_HEADER_BYTES, Cause, Chunk, Chunks, DataChunk, GapBlock, Init, Packet, Parameter,
    ParseError, Sack, Trace,
};
pub use stats::Stats;
pub use types::{Ssn, Tsn};
