//! The program `headway-net`: what it reads from the network and from users.

mod arguments;
mod ledger;

use bytes::{Bytes, BytesMut};
use headway_programs::sip::{Health, Traffic, is_failure, split};
use headway_sansio::Time;

pub use arguments::program_arguments;

use crate::script::Script;

/// Reads `data` as what came from the network; its first byte says to whom.
///
/// * `s`: a TCP stream of SIP messages. It divides alike however it is cut; the second byte
///   says into pieces of which size.
/// * `e`: echoes, which the ledger must judge as a slower one does.
/// * `i`: the origin, type and code of ICMP reports.
///
/// # Panics
/// Where that does not hold.
pub fn program_input(data: &[u8]) {
    let mut script = Script(data);
    match script.choice() {
        b's' => sip_pieces(script),
        b'e' => ledger::echoes(script),
        b'i' => script.0.as_chunks().0.iter().for_each(icmp),
        _ => {}
    }
}

/// Divides a stream; what is left of it comes back as well.
fn divided(stream: &[u8], size: usize) -> (Vec<Bytes>, Health, BytesMut) {
    let (mut rest, mut messages) = (BytesMut::new(), Vec::new());
    for piece in stream.chunks(size) {
        rest.extend_from_slice(piece);
        if split(&mut rest, &mut messages) == Health::Closed {
            return (messages, Health::Closed, rest);
        }
    }
    (messages, Health::Open, rest)
}

fn sip_pieces(mut script: Script<'_>) {
    let size = usize::from(script.choice()).max(1);
    let stream = script.0;
    let (messages, health, rest) = divided(stream, stream.len().max(1));
    let (again, health_again, _) = divided(stream, size);
    assert_eq!((&messages, health), (&again, health_again), "by {size}");
    // Nothing but line ends gets lost.
    let kept = |bytes: &[u8]| bytes.iter().filter(|b| !b"\r\n".contains(b)).count();
    let parts = messages.iter().map(|message| kept(message)).sum::<usize>() + kept(&rest);
    assert_eq!(parts, kept(stream));

    let mut traffic = Traffic::default();
    for message in &messages {
        assert!(!message.is_empty());
        traffic.received(Time::ZERO, message);
    }
    let counts = || traffic.kinds().values();
    let read: u64 = counts().map(|kind| kind.received).sum();
    assert_eq!(read + traffic.unreadable(), messages.len() as u64);
    assert!(counts().all(|kind| kind.received > kind.received_again && kind.sent == 0));
}

/// Only ICMP reports of RFC 3261, section 18.4 are failures, and none of them because a
/// datagram was too long (RFC 792: type 3, code 4; RFC 4443: type 2).
fn icmp(&[origin, kind, code]: &[u8; 3]) {
    // Their origins as Linux numbers them (linux/errqueue.h).
    let (v4, v6) = (origin == 2, origin == 3);
    let unreachable = v4 && kind == 3 && code != 4 || v6 && kind == 1;
    let parameters = v4 && kind == 12 || v6 && kind == 4;
    assert_eq!(is_failure(origin, kind, code), unreachable || parameters);
}
