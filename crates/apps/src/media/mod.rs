//! Real-time media: packets at a constant rate, voice with pauses, and packets
//! at random (the flows of seed 4).
//!
//! [`MediaEnd`] is an application at either end: it sends what its
//! [`MediaWorkload`] says, or only receives. Packets travel as lengths, known by
//! their [`MediaId`].

mod end;
mod id;
mod pace;
mod workload;

pub use end::{MediaEnd, Received};
pub use id::MediaId;
pub use pace::Pace;
pub use workload::{Codec, MediaDirection, MediaError, MediaWorkload, Silence};
