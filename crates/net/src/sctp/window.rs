//! A slow reader closes its peer's window.
//!
//! The machine hands its messages out as they come, and what it announces as its
//! free buffer (a_rwnd, RFC 9260, section 3.3.4) knows nothing of those that the
//! user has not taken yet. They belong to the receive buffer all the same, so what
//! they occupy is taken off each SACK on its way out, and once the user has read, a
//! SACK says that the window is open again (section 6.2). A peer that sends on into
//! the closed window finds its DATA chunks dropped (section 6.2, again).

use headway_sansio::{Address, Datagram};
use headway_sctp::{Chunk, Chunks, Packet, Sack};

use super::slot::Slot;

/// What an unread message takes of the buffer beside its payload: its own record,
/// and its share of the packet in which it came.
pub(super) const MESSAGE_BYTES: usize = 96;

/// The last SACK whose window was made smaller, and where it went.
#[derive(Clone, Debug)]
pub(super) struct Narrowed {
    packet: Packet,
    source: Address,
    destination: Address,
    /// The window that the machine would have announced.
    machine_bytes: u32,
    /// The window that was announced.
    said_bytes: u32,
}

/// Bytes of the receive buffer that the user leaves free.
fn free_bytes(slot: &Slot, buffer_bytes: u32) -> u32 {
    let taken = u32::try_from(slot.inbox_bytes).unwrap_or(u32::MAX);
    buffer_bytes.saturating_sub(taken)
}

/// Takes what the user has not read off the window that a packet announces.
pub(super) fn narrow(slot: &mut Slot, buffer_bytes: u32, datagram: &mut Datagram<Packet>) {
    let free = free_bytes(slot, buffer_bytes);
    let packet = &mut datagram.body;
    let sack = packet.chunks.iter_mut().find_map(|chunk| match chunk {
        Chunk::Sack(sack) => Some(sack),
        _ => None,
    });
    let Some(sack) = sack else {
        return;
    };
    if sack.a_rwnd <= free && slot.inbox.is_empty() {
        slot.narrowed = None;
        return;
    }
    let machine_bytes = sack.a_rwnd;
    sack.a_rwnd = machine_bytes.min(free);
    let again = Sack {
        duplicates: Default::default(),
        ..sack.clone()
    };
    slot.narrowed = Some(Box::new(Narrowed {
        said_bytes: again.a_rwnd,
        machine_bytes,
        packet: Packet {
            chunks: Chunks::from_iter([Chunk::Sack(again)]),
            ..*packet
        },
        source: datagram.source,
        destination: datagram.destination,
    }));
}

/// Whether the user has read so much that the peer should be told.
pub(super) fn has_opened(slot: &Slot, buffer_bytes: u32) -> bool {
    let Some(narrowed) = &slot.narrowed else {
        return false;
    };
    let free = free_bytes(slot, buffer_bytes).min(narrowed.machine_bytes);
    let opened = free.saturating_sub(narrowed.said_bytes);
    // Not for every message: no silly windows.
    opened > 0 && (opened >= buffer_bytes / 4 || slot.inbox.is_empty())
}

/// The last SACK once more, with the window as it is now.
pub(super) fn update(slot: &mut Slot, buffer_bytes: u32) -> Option<Datagram<Packet>> {
    let free = free_bytes(slot, buffer_bytes);
    let narrowed = slot.narrowed.as_mut()?;
    narrowed.said_bytes = free.min(narrowed.machine_bytes);
    let mut packet = narrowed.packet.clone();
    if let Some(Chunk::Sack(sack)) = packet.chunks.first_mut() {
        sack.a_rwnd = narrowed.said_bytes;
    }
    let datagram = Datagram {
        source: narrowed.source,
        destination: narrowed.destination,
        size_bytes: packet.size_bytes(),
        body: packet,
    };
    if narrowed.said_bytes == narrowed.machine_bytes {
        slot.narrowed = None;
    }
    Some(datagram)
}

/// Drops the DATA of a packet where the user's part of the buffer is full. Says
/// whether there was any.
pub(super) fn refuse(slot: &Slot, buffer_bytes: u32, packet: &mut Packet) -> bool {
    if free_bytes(slot, buffer_bytes) > 0 {
        return false;
    }
    let before = packet.chunks.len();
    packet
        .chunks
        .retain(|chunk| !matches!(chunk, Chunk::Data(_)));
    packet.chunks.len() < before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sctp::Received;
    use headway_sctp::Tsn;

    const BUFFER: u32 = 10_000;

    fn sack(a_rwnd: u32) -> Datagram<Packet> {
        let sack = Sack {
            cumulative_tsn: Tsn(7),
            a_rwnd,
            gaps: Default::default(),
            duplicates: [Tsn(5)].into_iter().collect(),
        };
        let packet = Packet {
            source_port: 7,
            destination_port: 1000,
            verification_tag: 9,
            chunks: Chunks::from_iter([Chunk::CookieAck, Chunk::Sack(sack)]),
        };
        Datagram {
            source: Address(0),
            destination: Address(5),
            size_bytes: 0,
            body: packet,
        }
    }

    fn said(datagram: &Datagram<Packet>) -> u32 {
        let windows = datagram.body.chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Sack(sack) => Some(sack.a_rwnd),
            _ => None,
        });
        windows.sum()
    }

    fn deliver(slot: &mut Slot, bytes: usize) {
        slot.deliver(Received {
            stream: 0,
            ppid: 0,
            unordered: false,
            payload: vec![0; bytes].into(),
        });
    }

    #[test]
    fn what_is_unread_closes_the_window_and_reading_opens_it() {
        let mut slot = Slot::default();
        let mut datagram = sack(BUFFER);
        narrow(&mut slot, BUFFER, &mut datagram);
        assert_eq!(said(&datagram), BUFFER);
        assert!(slot.narrowed.is_none());
        for _ in 0..2 {
            deliver(&mut slot, 6_000);
        }
        narrow(&mut slot, BUFFER, &mut datagram);
        assert_eq!(said(&datagram), 0);
        assert!(!has_opened(&slot, BUFFER));
        slot.take();
        assert!(has_opened(&slot, BUFFER));
        let update = update(&mut slot, BUFFER).unwrap();
        assert_eq!(said(&update), BUFFER - 6_000 - MESSAGE_BYTES as u32);
        // The same facts, without the duplicates, which were reported before.
        let Some(Chunk::Sack(again)) = update.body.chunks.first() else {
            panic!("{update:?}");
        };
        assert_eq!((again.cumulative_tsn, again.duplicates.len()), (Tsn(7), 0));
        assert!(!has_opened(&slot, BUFFER));
        slot.take();
        assert!(has_opened(&slot, BUFFER));
        assert_eq!(said(&super::update(&mut slot, BUFFER).unwrap()), BUFFER);
        assert!(slot.narrowed.is_none());
    }

    #[test]
    fn small_messages_count_for_what_they_cost() {
        let mut slot = Slot::default();
        for _ in 0..BUFFER / MESSAGE_BYTES as u32 {
            deliver(&mut slot, 1);
        }
        let mut datagram = sack(BUFFER);
        narrow(&mut slot, BUFFER, &mut datagram);
        assert_eq!(said(&datagram), 0);
    }
}
