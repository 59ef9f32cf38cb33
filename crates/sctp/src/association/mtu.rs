//! Finding out what size of packets a path takes (RFC 9260, sections 7.3 and 10;
//! RFC 8899, section 6.2: probes for SCTP).

use headway_sansio::{Address, Time};

use super::Association;
use super::heartbeat::heartbeat;
use crate::Chunk;
use crate::packet::COMMON_HEADER_BYTES;
use crate::secret::nonce;

/// Chunk header of PAD.
const PAD_HEADER_BYTES: u32 = 4;

impl Association {
    pub(super) fn search_mtu(&mut self, now: Time, index: usize) {
        let path = &mut self.paths[index];
        if self.config.mtu_discovery && path.confirmed {
            path.mtu.search(now);
        }
    }

    pub(super) fn mtu_timeout(&mut self, now: Time, index: usize) {
        let nonce = nonce(self.random.bits(), u64::from(self.peer_tag));
        // What the timer asks for is done once; a probe answered in between asks
        // again.
        let Some(bytes) = self.paths[index].mtu.timeout(now, nonce) else {
            return;
        };
        let mut packet = self.packet(self.peer_tag);
        packet.chunks.push(heartbeat(now, nonce));
        let so_far = packet.size_bytes() + self.config.ip_header_bytes + PAD_HEADER_BYTES;
        let pad = bytes.saturating_sub(so_far).min(65_528) as u16;
        packet.chunks.push(Chunk::Pad(pad));
        debug_assert!(packet.size_bytes() >= COMMON_HEADER_BYTES);
        let route = self.paths[index].route;
        self.launch(route, packet);
    }

    /// Whether this is the nonce of a probe, and if so takes it in.
    pub(super) fn mtu_probe_answered(&mut self, now: Time, echoed: u64) -> bool {
        for index in 0..self.paths.len() {
            if self.paths[index].mtu.answered(now, echoed) {
                self.paths.resize(&self.config, index);
                return true;
            }
        }
        false
    }

    /// A router says that packets to an address of the peer must not be longer
    /// than `mtu_bytes`, IP header included ("Packet Too Big", "Fragmentation
    /// Needed"). `verification_tag` is that of the packet which the message
    /// quotes, by which a forged one is told (section 10, rules ICMP6 and ICMP7).
    /// Says whether it was believed.
    pub fn packet_too_big(
        &mut self,
        now: Time,
        remote: Address,
        verification_tag: u32,
        mtu_bytes: u32,
    ) -> bool {
        if verification_tag == 0 || verification_tag != self.peer_tag {
            return false;
        }
        let Some(index) = self.paths.find(remote) else {
            return false;
        };
        let news = self.paths[index].mtu.too_big(now, mtu_bytes);
        if news {
            if !self.config.mtu_discovery {
                self.paths[index].mtu.stop();
            }
            self.paths.resize(&self.config, index);
        }
        news
    }

    /// The peer's machine says that nothing there speaks SCTP ("Protocol
    /// Unreachable"), quoting a packet with this verification tag (section 10,
    /// rule ICMP8): the association is over. Says whether it was believed.
    pub fn protocol_unreachable(&mut self, verification_tag: u32) -> bool {
        let believed = verification_tag != 0 && verification_tag == self.peer_tag;
        if believed {
            self.lose(crate::LostReason::PeerUnreachable);
        }
        believed
    }
}
