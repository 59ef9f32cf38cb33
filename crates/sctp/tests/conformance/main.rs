//! Conformance to RFC 9260 and its extensions, one scenario a test, named after the
//! section that asks for it: who sends what, and what must come back.
//!
//! In most of them a peer made by hand speaks with one association under test.

#[path = "../common/mod.rs"]
mod common;
mod rig;

mod collisions;
mod congestion;
mod errors;
mod failover;
mod given_up;
mod handshake;
mod reconfig;
mod retransmission;
mod sacks;
mod shutdown;
