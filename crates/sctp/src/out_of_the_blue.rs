//! Packets that belong to no association (RFC 9260, section 8.4).

use crate::{Cause, Chunk, Chunks, Packet};

/// The answer to a packet of a stranger that is neither an INIT nor a COOKIE ECHO
/// that could be taken, if it gets one.
pub(crate) fn answer_stranger(packet: &Packet) -> Option<Packet> {
    let has = |wanted: fn(&Chunk) -> bool| packet.chunks.iter().any(wanted);
    // Rules 2, 6 and 7: never answer what may itself be an answer.
    let silent = has(|chunk| {
        matches!(
            chunk,
            Chunk::Abort { .. } | Chunk::ShutdownComplete { .. } | Chunk::CookieAck
        )
    }) || has(|chunk| {
        matches!(chunk, Chunk::Error(causes)
            if causes.iter().any(|cause| cause.code == Cause::STALE_COOKIE))
    });
    if silent {
        return None;
    }
    let mut tag = packet.verification_tag;
    let chunk = match packet.chunks.first()? {
        // Rule 3: nobody listens here, and the INIT brings the tag to use.
        Chunk::Init(init) if tag == 0 && init.initiate_tag != 0 => {
            tag = init.initiate_tag;
            Chunk::Abort {
                reflected_tag: false,
                causes: Vec::new(),
            }
        }
        // Section 8.5.1, rule A: only an INIT may come with a tag of zero.
        _ if tag == 0 => return None,
        // Rule 5.
        _ if has(|chunk| matches!(chunk, Chunk::ShutdownAck)) => Chunk::ShutdownComplete {
            reflected_tag: true,
        },
        // Rule 8.
        _ => Chunk::Abort {
            reflected_tag: true,
            causes: Vec::new(),
        },
    };
    Some(Packet {
        source_port: packet.destination_port,
        destination_port: packet.source_port,
        verification_tag: tag,
        chunks: Chunks::from_iter([chunk]),
    })
}
