//! The writing end of one connection.

use headway_apps::bulk::BulkSource;
use headway_apps::media::Pace;
use headway_sansio::{Payload, RandomStream, Time};
use headway_tcp::{Config, Connection, Segment};

/// What is written, and when.
pub(super) enum Source {
    /// Whenever there is room.
    Bulk(BulkSource),
    /// Messages of one size at the times of a pace. What has no room waits, and
    /// only its bytes are remembered.
    Messages {
        pace: Pace,
        bytes: u32,
        waiting: u64,
    },
}

/// Connects at its time and writes.
pub(in crate::wiring) struct Writer {
    connection: Connecting,
    source: Source,
}

enum Connecting {
    At(Time, Box<(Config, RandomStream)>),
    Done(Box<Connection>),
}

const LOCAL_PORT: u16 = 30_000;
/// Where readers listen.
pub(super) const READER_PORT: u16 = 5001;
/// A bulk source writes so much ahead; a length costs nothing, however large.
const AHEAD: u64 = 1 << 30;

impl Writer {
    pub(super) fn new(at: Time, config: Config, random: RandomStream, source: Source) -> Self {
        Self {
            connection: Connecting::At(at, Box::new((config, random))),
            source,
        }
    }

    pub(super) fn handle_input(&mut self, now: Time, segment: &Segment) {
        if let Connecting::Done(connection) = &mut self.connection {
            connection.handle_input(now, segment);
            while connection.poll_event().is_some() {}
            self.write(now);
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        match &mut self.connection {
            Connecting::At(at, with) if *at <= now => {
                let (config, random) = &mut **with;
                let config = config.clone();
                let connection = Connection::connect(now, config, random, LOCAL_PORT, READER_PORT);
                self.connection = Connecting::Done(Box::new(connection));
                if let Source::Messages { pace, .. } = &mut self.source {
                    pace.start(now);
                }
            }
            Connecting::At(..) => {}
            Connecting::Done(connection) => {
                if connection.poll_timeout().is_some_and(|at| at <= now) {
                    connection.handle_timeout(now);
                    while connection.poll_event().is_some() {}
                }
                if let Source::Messages {
                    pace,
                    bytes,
                    waiting,
                } = &mut self.source
                {
                    while pace.take_due(now).is_some() {
                        *waiting += u64::from(*bytes);
                    }
                }
            }
        }
        self.write(now);
    }

    fn write(&mut self, now: Time) {
        let Connecting::Done(connection) = &mut self.connection else {
            return;
        };
        let buffer = connection.config().send_buffer_bytes;
        match &mut self.source {
            Source::Bulk(source) => {
                let room = buffer
                    .min(AHEAD)
                    .saturating_sub(connection.buffered_bytes());
                // In one piece that is worth a write, unless the buffer is small.
                if (room >= AHEAD / 2 || buffer < AHEAD)
                    && let Some(payload) = source.write(room)
                {
                    connection.write(now, payload);
                }
            }
            Source::Messages { bytes, waiting, .. } => {
                while *waiting > 0 {
                    let room = buffer.saturating_sub(connection.buffered_bytes());
                    let part = u64::from(*bytes).min(*waiting).min(room);
                    if part == 0 {
                        return;
                    }
                    connection.write(now, Payload::Sized(part as u32));
                    *waiting -= part;
                }
            }
        }
    }

    pub(super) fn poll_transmit(&mut self, _: Time) -> Option<Segment> {
        match &mut self.connection {
            Connecting::At(..) => None,
            Connecting::Done(connection) => connection.poll_transmit(),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match (&self.connection, &self.source) {
            (Connecting::At(at, _), _) => Some(*at),
            (Connecting::Done(connection), Source::Bulk(_)) => connection.poll_timeout(),
            (Connecting::Done(connection), Source::Messages { pace, .. }) => pace
                .next()
                .into_iter()
                .chain(connection.poll_timeout())
                .min(),
        }
    }
}
