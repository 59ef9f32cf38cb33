//! A TCP connection without input or output of its own, each delay mechanism of
//! which is a knob.
//!
//! [`Connection`] is a state machine (RFC 9293): segments and time go in,
//! segments and events come out. What decides about delay - how losses are found
//! and repaired, how the window grows and falls, when short segments and
//! acknowledgements wait - is set by [`Config`], of which [`Profile`] names whole
//! stacks and [`Overrides`] single knobs.
//!
//! Layers, each of which knows only those before it:
//!
//! * `seq`, `range_set`, `content`: sequence numbers, sets of offsets, bytes or
//!   their number.
//! * `segment`: the wire unit and its codec.
//! * `config`: knobs, and profiles with their sources.
//! * `congestion`: the window as a number; Reno, BIC, CUBIC, HyStart, validation.
//! * `sender` with `recovery`: what is under way, what is lost, what goes next.
//! * `receiver`: the stream put together, SACK blocks, delayed ACKs.
//! * `connection`: states, handshake, and the two halves joined.
//!
//! Inside, places in a stream are 64-bit offsets from its first byte; sequence
//! numbers exist in segments only.

mod config;
mod congestion;
mod connection;
mod content;
mod range_set;
mod receiver;
mod recovery;
mod segment;
mod sender;
mod seq;
mod stats;

pub use config::{
    AckPolicy, Config, CongestionControl, GrowthCounting, IdleRestart, Line, Nagle, Overrides,
    Profile, Recovery, Reduction, RetransmitMerge, RtoForm, RttSampling, SackDetection,
    SsthreshBasis, Validation, WindowUnit, WindowUpdate, WindowWhenLimited,
};
pub use connection::{Connection, Event, State};
pub use segment::{
    Checksum, DecodeError, Flags, Options, SackBlock, SackBlocks, Segment, Timestamps,
};
pub use seq::SeqNumber;
pub use stats::Stats;
