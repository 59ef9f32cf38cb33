//! Every message's delay taken apart into its causes.
//!
//! The traces of this module watch what crosses the wire, never the inside of a
//! protocol: which chunk or byte was put on the wire when, when it arrived or
//! would have arrived, and when the application got the message. The same
//! knowledge can be read from a capture file.

mod bytes;
mod chunks;
mod datagrams;
mod parts;
mod totals;

pub use bytes::{ByteTrace, Piece};
pub use chunks::{ChunkTrace, Lane, SeenChunk};
pub use datagrams::DatagramTrace;
pub use parts::{Moments, Parts};
pub use totals::{MessageRow, Totals};
