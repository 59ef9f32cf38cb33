//! What is fuzzed: every parser, and the live machines behind them.
//!
//! Each target is a function of bytes that must neither panic nor break the
//! invariant that it states. The programs in `fuzz/fuzz_targets` hand them to a
//! coverage-guided fuzzer; `tests/replay.rs` runs the committed corpora through
//! them with every test run.

mod association;
mod endpoint;
mod knobs;
mod programs;
mod script;
mod sip;
mod tcp;

use bytes::Bytes;
use headway_apps::sip::message::parse_message;
use headway_experiment::RunSpec;
use headway_sctp::Packet;
use headway_tcp::{Checksum, Segment};

pub use association::sctp_association;
pub use endpoint::sctp_endpoint;
pub use programs::{program_arguments, program_input};
pub use sip::{sip_agent, sip_stream};
pub use tcp::tcp_connection;

/// A named target.
pub type Target = (&'static str, fn(&[u8]));

/// Every target with the name of its corpus.
pub const TARGETS: [Target; 11] = [
    ("sctp_packet", sctp_packet),
    ("sctp_association", sctp_association),
    ("sctp_endpoint", sctp_endpoint),
    ("tcp_segment", tcp_segment),
    ("tcp_connection", tcp_connection),
    ("sip_message", sip_message),
    ("sip_stream", sip_stream),
    ("sip_agent", sip_agent),
    ("run_spec", run_spec),
    ("program_input", program_input),
    ("program_arguments", program_arguments),
];

/// A packet that the codec reads is written again and read as the same packet,
/// and its size is the length of what is written.
///
/// # Panics
/// Where that does not hold.
pub fn sctp_packet(data: &[u8]) {
    let mut wire = data.to_vec();
    seal(&mut wire);
    let Ok(packet) = Packet::decode(&Bytes::from(wire)) else {
        return;
    };
    let mut written = Vec::new();
    packet.encode(&mut written);
    assert_eq!(written.len(), packet.size_bytes() as usize);
    let again = Packet::decode(&Bytes::from(written)).expect("what the codec wrote");
    assert_eq!(again, packet);
}

/// Puts the checksum of an SCTP packet right (RFC 9260, appendix A), so that
/// what is behind the check is reached.
fn seal(wire: &mut [u8]) {
    if wire.len() >= 12 {
        wire[8..12].fill(0);
        let checksum = crc32c::crc32c(wire).to_le_bytes();
        wire[8..12].copy_from_slice(&checksum);
    }
}

/// A segment that the codec reads is written again and read as the same
/// segment; unknown options are left out, so only the second writing has to be
/// like the first.
///
/// # Panics
/// Where that does not hold.
pub fn tcp_segment(data: &[u8]) {
    let read = |bytes: &Bytes| Segment::decode(bytes, Checksum::None);
    let Ok(segment) = read(&Bytes::copy_from_slice(data)) else {
        return;
    };
    let written = segment.encode(Checksum::None);
    let again = read(&written).expect("what the codec wrote");
    assert_eq!(again.encode(Checksum::None), written);
}

/// The reader of SIP messages takes or refuses.
pub fn sip_message(data: &[u8]) {
    let _ = parse_message(data);
}

/// The reader of RunSpecs takes or refuses, and says why.
///
/// # Panics
/// Where a refusal has no reason.
pub fn run_spec(data: &[u8]) {
    if let Ok(text) = core::str::from_utf8(data)
        && let Err(error) = RunSpec::from_json(text)
    {
        assert!(!error.to_string().is_empty());
    }
}
