//! INITs of nobody: each from another address, port and tag.

use headway_sansio::{Address, Datagram, RandomStream};
use headway_sctp::{Chunk, Init, Packet, Tsn};

/// Strangers have addresses from here on.
const STRANGERS: u64 = 1 << 20;

/// A stranger's INIT to a server, 32 bytes long.
pub fn stranger(random: &mut RandomStream, server: Address, port: u16) -> Datagram<Packet> {
    let from = STRANGERS + random.below(u64::from(u32::MAX) - STRANGERS);
    let init = Init {
        initiate_tag: 1 + random.below(u64::from(u32::MAX) - 1) as u32,
        a_rwnd: 100_000,
        outbound_streams: 10,
        inbound_streams: 2048,
        initial_tsn: Tsn(random.bits() as u32),
        parameters: vec![],
    };
    let body = Packet {
        source_port: random.bits() as u16,
        destination_port: port,
        verification_tag: 0,
        chunks: std::iter::once(Chunk::Init(Box::new(init))).collect(),
    };
    Datagram {
        source: Address(from as u32),
        destination: server,
        size_bytes: body.size_bytes() + 20,
        body,
    }
}
