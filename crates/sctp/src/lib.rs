//! SCTP (RFC 9260) as a state machine without input or output of its own.
//!
//! An [`Association`] is fed with packets, time and messages, and drained of
//! packets and events. It reads no clock and opens no socket, so the same object
//! runs in virtual time and on a real network.
//!
//! ```
//! use std::sync::Arc;
//! use headway_sansio::{Duration, Payload, Seed, Time};
//! use headway_sctp::{Association, Config, Event, Message};
//!
//! let config = Arc::new(Config::profile("rfc9260").unwrap());
//! let seed = Seed::new(1);
//! let mut now = Time::ZERO;
//! let mut client = Association::connect(now, config.clone(), seed.stream("client"), 9000, 5060);
//! let mut server = Association::listen(config, seed.stream("server"), 5060);
//! let hello = Message { payload: Payload::Sized(450), ..Message::default() };
//! client.send(now, hello).unwrap();
//!
//! let mut received = None;
//! while received.is_none() {
//!     now = now + Duration::from_millis(20);
//!     while let Some(packet) = client.poll_transmit(now) {
//!         server.handle_input(now, packet);
//!     }
//!     while let Some(event) = server.poll_event() {
//!         if let Event::Message(message) = event {
//!             received = Some(message.payload.len());
//!         }
//!     }
//!     while let Some(packet) = server.poll_transmit(now) {
//!         client.handle_input(now, packet);
//!     }
//! }
//! assert_eq!(received, Some(450));
//! ```
//!
//! After each call of `send`, `shutdown`, `abort` and `handle_*` the driver calls
//! `poll_event` until it returns `None`, then `poll_transmit` until it returns
//! `None`, then `poll_timeout`. Reading events may open the receive window, so
//! events come first.
//!
//! Inside, [`Association`] holds a sending half (`outbound`), a receiving half
//! (`inbound`) and what is known of the path (`path`); `association` holds the
//! procedures of the RFC, one in each file, that move chunks between them.

mod association;
mod books;
mod config;
mod cookie;
mod endpoint;
mod event;
mod host;
mod inbound;
mod out_of_the_blue;
mod outbound;
mod packet;
mod path;
mod reconfig;
mod secret;
mod stats;
mod types;
mod welcome;

pub use association::{Association, AssociationState};
pub use config::{
    Config, ConfigError, CwndOvershoot, CwndWhenLimited, FastRetransmitAmount, IdleDecay,
    InitLimit, Knob, MaxBurstRule, Overrides, PROFILES, RepeatFastRetransmit, RtoFormula,
    SackBundling, Scheduler, TimeoutMarks, TimeoutRearm, UnknownProfile, WindowCounts, WindowUnit,
};
pub use endpoint::{
    AssociationId, ConnectError, Endpoint, EndpointEvent, EndpointOutput, EndpointStats,
};
pub use event::{
    Event, LostReason, Message, MessageId, Part, Policy, Received, Reliability, SendError,
};
pub use host::{AddressBook, Host, Numbered};
pub use packet::{
    COMMON_HEADER_BYTES, Cause, Chunk, Chunks, DataChunk, ForwardTsn, GapBlock, Init, Interleaving,
    Packet, Parameter, ParseError, Sack, Skipped, SkippedMid, SkippedSsn, Trace,
};
pub use reconfig::{ReconfigError, ReconfigRequest, ReconfigResult};
pub use stats::{Abandoned, PathState, PathStats, PathStatus, Stats};
pub use types::{Mid, Ssn, Tsn};
