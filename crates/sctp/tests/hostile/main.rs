//! Peers and strangers that mean harm: no panic, no unbounded memory, and the
//! association that is there lives.

#[path = "../common/mod.rs"]
mod common;
#[path = "../conformance/rig.rs"]
#[allow(dead_code, reason = "the conformance scenarios use the rest")]
mod rig;

mod anything;
mod lying;
mod spoofed;
