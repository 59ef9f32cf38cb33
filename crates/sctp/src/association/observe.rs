//! What can be seen of an association from outside.

use headway_sansio::{Address, Duration};
use smallvec::SmallVec;

use super::{Association, AssociationState};
use crate::path::{Path, Reachability};
use crate::{Chunk, Config, Packet, PathState, PathStatus, Stats};

impl Association {
    /// Where the association stands.
    #[must_use]
    pub const fn state(&self) -> AssociationState {
        self.state.name()
    }

    /// Counters since the beginning.
    #[must_use]
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The path that carries DATA.
    fn data_path(&self) -> &Path {
        &self.paths[self.paths.data()]
    }

    /// Congestion window in bytes, of the path that carries DATA.
    #[must_use]
    pub fn cwnd_bytes(&self) -> u32 {
        self.data_path().cwnd
    }

    /// Slow start threshold in bytes, of the path that carries DATA; `u32::MAX`
    /// before the first loss.
    #[must_use]
    pub fn ssthresh_bytes(&self) -> u32 {
        self.data_path().ssthresh
    }

    /// Bytes under way on all paths, counted as the congestion window counts them.
    #[must_use]
    pub fn flight_bytes(&self) -> u32 {
        self.paths.flight()
    }

    /// Retransmission timeout, back-off included, of the path that carries DATA.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.data_path().rto
    }

    /// Smoothed round-trip time of the path that carries DATA, once there is a
    /// measurement.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.data_path().rtt.smoothed()
    }

    /// Bytes of whole messages that wait in the receive buffer for an earlier
    /// message of their stream: what head-of-line blocking holds back.
    #[must_use]
    pub const fn held_bytes(&self) -> u32 {
        self.inbound.held_bytes()
    }

    /// Bytes in the receive buffer of messages that are not whole yet.
    #[must_use]
    pub const fn partial_bytes(&self) -> u32 {
        self.inbound.partial_bytes()
    }

    /// Bytes of messages that `poll_event` has not handed out yet.
    #[must_use]
    pub const fn unread_bytes(&self) -> u32 {
        self.inbound.unread_bytes()
    }

    /// Bytes of messages, or of the rest of one, that were never sent.
    #[must_use]
    pub const fn unsent_bytes(&self) -> u32 {
        self.outbound.queue.bytes()
    }

    /// Bytes in the send buffer: unsent, or sent and not acknowledged for good.
    #[must_use]
    pub fn buffered_bytes(&self) -> u32 {
        self.outbound.buffered_bytes() + self.held_for_reset_bytes()
    }

    /// What the peer's receive buffer takes beyond what is under way, in bytes.
    #[must_use]
    pub const fn peer_window_bytes(&self) -> u32 {
        self.outbound.peer_window
    }

    /// Streams that this side may send on and the peer may send on.
    #[must_use]
    pub const fn streams(&self) -> (u16, u16) {
        (self.outbound_streams, self.inbound_streams)
    }

    /// This side's port and the peer's; zero while that is not known.
    #[must_use]
    pub const fn ports(&self) -> (u16, u16) {
        (self.local_port, self.remote_port)
    }

    /// How many paths there are. They are numbered from zero.
    #[must_use]
    pub fn path_count(&self) -> usize {
        self.paths.len()
    }

    /// How a path stands.
    #[must_use]
    pub fn path(&self, index: usize) -> Option<PathStatus> {
        let path = self.paths.iter().nth(index)?;
        Some(PathStatus {
            local: path.route.local,
            remote: path.route.remote,
            state: match path.reachability {
                Reachability::Inactive => PathState::Inactive,
                _ if !path.confirmed => PathState::Unconfirmed,
                Reachability::PotentiallyFailed => PathState::PotentiallyFailed,
                Reachability::Active => PathState::Active,
            },
            carries_data: index == self.paths.data(),
            cwnd_bytes: path.cwnd,
            ssthresh_bytes: path.ssthresh,
            flight_bytes: path.flight,
            rto: path.rto,
            srtt: path.rtt.smoothed(),
            mtu_bytes: path.mtu.bytes(),
            errors: path.errors,
            stats: path.stats,
        })
    }

    /// The path to which this side would send DATA if all worked.
    #[must_use]
    pub const fn primary_path(&self) -> usize {
        self.paths.primary()
    }

    /// Whether this packet of the association may go without a checksum: the peer
    /// has offered to take such, by the error detection that this side uses as well,
    /// and the packet is none that somebody might take who has agreed on nothing
    /// (RFC 9653: INIT, COOKIE ECHO, and answers to strangers; INIT ACK has one too).
    #[must_use]
    pub fn omits_checksum(&self, packet: &Packet) -> bool {
        let foreign = |chunk: &Chunk| {
            matches!(
                chunk,
                Chunk::Init(_)
                    | Chunk::InitAck(_)
                    | Chunk::CookieEcho(_)
                    | Chunk::Abort {
                        reflected_tag: true,
                        ..
                    }
                    | Chunk::ShutdownComplete {
                        reflected_tag: true
                    }
            )
        };
        self.extensions.zero_checksum
            && self.peer_tag != 0
            && packet.verification_tag == self.peer_tag
            && !packet.chunks.iter().any(foreign)
    }

    pub(crate) const fn local_tag(&self) -> u32 {
        self.local_tag
    }

    /// The peer's addresses.
    pub(crate) fn remotes(&self) -> SmallVec<[Address; 2]> {
        self.paths.iter().map(|path| path.route.remote).collect()
    }

    /// It is over, and there is nothing left to hear of it or to send.
    pub(crate) fn is_finished(&self) -> bool {
        self.state() == AssociationState::Closed
            && self.events.is_empty()
            && self.packets.is_empty()
            && self.control.is_empty()
    }
}
