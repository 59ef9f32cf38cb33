//! Streams that change while the association lives (RFC 6525): both sides ask, and
//! the fuzzer forges what they say to each other.

use headway_sctp::{Chunk, Chunks, Packet, Parameter, Tsn};

use super::{Duel, PORTS, Side};
use crate::script::Script;

/// Type of the parameter that answers (section 4.4).
const RESPONSE: u16 = 16;

/// Where a side stands, so that what is forged in its name is not thrown away at
/// first sight.
#[derive(Default)]
pub(super) struct Standing {
    /// The number of its next request.
    request: u32,
    /// Its last TSN.
    tsn: Tsn,
}

impl Standing {
    /// Notes what a packet of the side says of it.
    pub(super) fn note(&mut self, packet: &Packet) {
        for chunk in &packet.chunks {
            match chunk {
                Chunk::Init(init) | Chunk::InitAck(init) => {
                    self.request = init.initial_tsn.0;
                    self.tsn = init.initial_tsn.previous();
                }
                Chunk::Data(data) if !data.tsn.precedes(self.tsn) => self.tsn = data.tsn,
                Chunk::Reconfig(parameters) => {
                    for parameter in parameters.iter().filter(|p| p.kind != RESPONSE) {
                        if let Some(number) = parameter.value.first_chunk() {
                            self.request = u32::from_be_bytes(*number).wrapping_add(1);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// A few streams; none: all.
fn streams(count: u8, script: &mut Script<'_>) -> Vec<u16> {
    let list = script.take(usize::from(count & 3));
    list.iter().map(|byte| u16::from(byte & 15)).collect()
}

impl Duel {
    /// A side asks for a change. Refusals are part of the contract.
    pub(super) fn ask(&mut self, side: usize, script: &mut Script<'_>) {
        let choice = script.choice();
        let count = u16::from(choice >> 3);
        let Side {
            association, asked, ..
        } = &mut self.sides[side];
        let result = match choice & 7 {
            0 | 1 => association.reset_outgoing_streams(self.now, &streams(choice >> 3, script)),
            2 => association.reset_incoming_streams(self.now, &streams(choice >> 3, script)),
            3 => association.reset_numbers(self.now),
            4 => association.add_outgoing_streams(self.now, count),
            5 => association.add_incoming_streams(self.now, count),
            6 => association.add_outgoing_streams(self.now, count << 11),
            _ => association.add_incoming_streams(self.now, count << 11),
        };
        *asked += u64::from(result.is_ok());
    }

    /// A RE-CONFIG chunk of one or two parameters in the name of a side, with numbers
    /// near those that the other side expects.
    pub(super) fn forge_reconfig(&mut self, from: usize, script: &mut Script<'_>) {
        let two = script.choice() & 1 != 0;
        let mut parameters = vec![self.parameter(from, script)];
        if two {
            parameters.push(self.parameter(from, script));
        }
        let mut packet = Packet {
            source_port: PORTS[from],
            destination_port: PORTS[1 - from],
            verification_tag: self.sides[from].tag,
            chunks: Chunks::new(),
        };
        packet.chunks.push(Chunk::Reconfig(parameters));
        self.sides[from].standing.note(&packet);
        let mut wire = Vec::new();
        packet.encode(&mut wire);
        self.receive(from, wire);
    }

    fn parameter(&self, from: usize, script: &mut Script<'_>) -> Parameter {
        let mut byte = || script.choice();
        let (kind, number, other, tsn) = (byte(), byte() as i8, byte(), byte() as i8);
        let near = |base: u32, by: i8| base.wrapping_add_signed(i32::from(by));
        let kind = 13 + u16::from(kind % 6);
        let (own, peer) = (&self.sides[from].standing, &self.sides[1 - from].standing);
        let number = match kind {
            RESPONSE => near(peer.request.wrapping_sub(1), number),
            _ => near(own.request, number),
        };
        let mut value = number.to_be_bytes().to_vec();
        let mut list = Vec::new();
        match kind {
            13 => {
                let response = near(peer.request.wrapping_sub(1), other as i8);
                value.extend_from_slice(&response.to_be_bytes());
                value.extend_from_slice(&near(own.tsn.0, tsn).to_be_bytes());
                list = streams(other >> 6, script);
            }
            14 => list = streams(other, script),
            RESPONSE => {
                value.extend_from_slice(&u32::from(other & 7).to_be_bytes());
                if other & 8 != 0 {
                    value.extend_from_slice(&near(own.tsn.0, tsn).to_be_bytes());
                    value.extend_from_slice(&near(peer.tsn.0, tsn).to_be_bytes());
                }
            }
            17 | 18 => value.extend_from_slice(&[tsn as u8, other, 0, 0]),
            _ => {}
        }
        value.extend(list.iter().flat_map(|stream| stream.to_be_bytes()));
        Parameter {
            kind,
            value: value.into(),
        }
    }
}
