//! Traffic that competes with the flows under study for the path.

mod build;
mod reader;
mod web;
mod writer;

use headway_apps::web::WebSeen;
use headway_sansio::Time;
use headway_tcp::Segment;

pub(super) use build::{Cast, cast};
use reader::Reader;
use web::WebEnd;
use writer::Writer;

/// One end of competing traffic.
pub(super) enum Rival {
    /// Writes to one connection.
    Writer(Box<Writer>),
    /// Reads from it.
    Reader(Box<Reader>),
    /// Surfs, or serves those who do.
    Web(Box<WebEnd>),
}

impl Rival {
    pub(super) fn handle_input(&mut self, now: Time, segment: &Segment) {
        match self {
            Self::Writer(end) => end.handle_input(now, segment),
            Self::Reader(end) => end.handle_input(now, segment),
            Self::Web(end) => end.handle_input(now, segment),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        match self {
            Self::Writer(end) => end.handle_timeout(now),
            Self::Reader(end) => end.handle_timeout(now),
            Self::Web(end) => end.handle_timeout(now),
        }
    }

    /// A segment and its size as an IP datagram in bytes.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<(Box<Segment>, u32)> {
        let segment = match self {
            Self::Writer(end) => end.poll_transmit(now),
            Self::Reader(end) => end.poll_transmit(),
            Self::Web(end) => end.poll_transmit(now),
        }?;
        let size = segment.size_bytes() + super::tcp::IP_HEADER_BYTES;
        Some((Box::new(segment), size))
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Writer(end) => end.poll_timeout(),
            Self::Reader(end) => end.poll_timeout(),
            Self::Web(end) => end.poll_timeout(),
        }
    }

    /// Bytes that came out of its connection in order.
    pub(super) fn read_bytes(&self) -> u64 {
        match self {
            Self::Reader(end) => end.read_bytes(),
            Self::Writer(_) | Self::Web(_) => 0,
        }
    }

    /// What its users saw, where it has any.
    pub(super) fn web_seen(&self) -> Option<WebSeen> {
        match self {
            Self::Web(end) => end.seen(),
            Self::Writer(_) | Self::Reader(_) => None,
        }
    }
}
