//! One association: a TCB of RFC 9260, section 14.2, and its procedures, one
//! in each file.

mod abort;
mod accept;
mod addresses;
mod birth;
mod books;
mod connect;
mod errors;
mod heartbeat;
mod input;
mod mtu;
mod observe;
mod partial;
mod receive;
mod reconfig;
mod reconfig_peer;
mod retransmit;
mod sack;
mod scheduling;
mod shutdown;
mod state;
mod tail;
mod transmit;

pub(crate) use accept::report_stale;
pub(crate) use birth::Birth;
pub use state::AssociationState;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use headway_sansio::{Datagram, Duration, RandomStream, Time};

use crate::cookie::KeyRing;
use crate::host::Host;
use crate::inbound::Inbound;
use crate::outbound::{Limit, Outbound};
use crate::packet::Extensions;
use crate::path::Paths;
use crate::{
    Abandoned, Chunk, Config, Event, Message, MessageId, Packet, Policy, SendError, Stats, Tsn,
};
use state::State;

/// One SCTP association with one peer.
///
/// See the [crate documentation](crate) for the order of calls.
#[derive(Debug)]
pub struct Association {
    config: Arc<Config>,
    host: Arc<Host>,
    random: RandomStream,
    state: State,
    local_port: u16,
    remote_port: u16,
    /// The tag that the peer puts into its packets.
    local_tag: u32,
    /// The tag that this side puts into its packets; zero where it is not known.
    peer_tag: u32,
    local_initial_tsn: Tsn,
    outbound_streams: u16,
    inbound_streams: u16,
    /// What both sides know beyond RFC 9260.
    extensions: Extensions,
    /// The keys of an association that belongs to no endpoint.
    keys: Option<Box<KeyRing>>,
    paths: Paths,
    outbound: Outbound,
    inbound: Inbound,
    /// The path from which DATA last came, where SACKs go (section 6.4).
    reply_path: usize,
    /// Transmissions in a row that the peer did not answer (section 8.1).
    errors: u32,
    /// Timer T5: when the shutdown has taken too long.
    guard: Time,
    /// When to probe a closed window, and the wait after which to do it again.
    probe: Time,
    probe_interval: Duration,
    /// The probe may go out.
    probe_now: bool,
    /// Whole packets, with tags of their own.
    packets: VecDeque<Datagram<Packet>>,
    /// Chunks for the front of the next packet, each with its path.
    control: VecDeque<(usize, Chunk)>,
    events: VecDeque<Event>,
    /// Messages that were given up, by stream and policy.
    abandoned: BTreeMap<(u16, Policy), Abandoned>,
    /// Where both sides know RFC 6525.
    reconfig: Option<Box<reconfig::Reconfig>>,
    stats: Stats,
}

/// The most chunks that wait in answer to what the peer sent; a peer that asks
/// for more answers at once gets none.
const MOST_ANSWERS: usize = 64;

impl Association {
    /// Hands a message over for sending. Messages handed over before the
    /// association is up wait.
    ///
    /// # Errors
    /// Where the message can never be sent, or has to be handed over again later
    /// because the send buffer is full. Nothing of it is kept then.
    pub fn send(&mut self, now: Time, message: Message) -> Result<MessageId, SendError> {
        if !self.state.takes_messages() {
            return Err(SendError::Closing);
        }
        let bytes = message.payload.len();
        if bytes == 0 {
            return Err(SendError::Empty);
        }
        if message.stream >= self.outbound_streams {
            return Err(SendError::InvalidStream);
        }
        let limit = self.config.send_buffer_bytes as usize;
        if bytes > limit {
            return Err(SendError::TooLong);
        }
        self.give_up(now);
        let needed = self.buffered_bytes() as usize + bytes;
        if needed > limit {
            let reach = Limit::of(message.reliability, now);
            if !self.make_room(now, (needed - limit) as u32, reach) {
                return Err(SendError::BufferFull);
            }
        }
        self.stats.messages_sent += 1;
        self.paths.next_opportunity();
        let id = if self.is_paused(message.stream) {
            self.hold_for_reset(now, message)
        } else {
            self.outbound.queue.push(now, message)
        };
        self.watch_window(now);
        Ok(id)
    }

    /// Whether [`Self::poll_event`] has something to tell.
    #[inline]
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next thing that happened, in the order in which it did.
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        let read = match &event {
            Event::Message(message) => {
                self.stats.messages_received += 1;
                message.payload.len()
            }
            Event::Part(part) => {
                self.stats.parts_received += 1;
                self.stats.messages_received += u64::from(part.end);
                part.payload.len()
            }
            _ => return Some(event),
        };
        self.inbound.read(&self.config, read as u32);
        Some(event)
    }

    /// The next thing that happened other than a message, or what changes how
    /// messages are numbered; those stay. The first `passed` events are known to be
    /// such.
    pub(crate) fn poll_notice(&mut self, passed: &mut usize) -> Option<Event> {
        let stays = |event: &&Event| {
            matches!(
                event,
                Event::Message(_)
                    | Event::Part(_)
                    | Event::PartAbandoned { .. }
                    | Event::IncomingReset { .. }
                    | Event::NumbersReset
            )
        };
        let events = self.events.iter().skip(*passed);
        *passed += events.take_while(stays).count();
        self.events.remove(*passed)
    }

    /// When `handle_timeout` wants to be called, if at all.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let due = self
            .paths
            .next_timeout()
            .min(self.outbound.deadline())
            .min(self.inbound.acknowledgement.due)
            .min(self.probe)
            .min(self.guard)
            .min(self.reconfig.as_ref().map_or(Time::FAR_FUTURE, |r| r.due))
            .min(self.state.due());
        (due != Time::FAR_FUTURE).then_some(due)
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.paths.next_opportunity();
        if self.state.due() <= now {
            self.state_timeout(now);
        }
        if self.guard <= now {
            self.guard_timeout();
        }
        if self.reconfig.as_ref().is_some_and(|r| r.due <= now) {
            self.reconfig_timeout(now);
        }
        for index in 0..self.paths.len() {
            if self.paths[index].rack.due <= now {
                self.reorder_timeout(now, index);
            }
            if self.paths[index].tail.due <= now {
                self.probe_timeout(now, index);
            }
            if self.paths[index].t3 <= now {
                self.retransmission_timeout(now, index);
            }
            if self.paths[index].heartbeat.due <= now {
                self.heartbeat_timeout(now, index);
            }
            if self.paths[index].mtu.due <= now {
                self.mtu_timeout(now, index);
            }
        }
        let acknowledgement = &mut self.inbound.acknowledgement;
        if acknowledgement.due <= now {
            acknowledgement.due = Time::FAR_FUTURE;
            acknowledgement.at_once = true;
        }
        if self.probe <= now {
            self.probe = Time::FAR_FUTURE;
            self.probe_now = true;
        }
        self.give_up(now);
    }

    /// Queues a chunk for the front of the next packet on the path where DATA goes.
    fn push_control(&mut self, chunk: Chunk) {
        self.control.push_back((self.paths.data(), chunk));
    }

    /// Queues an answer to the peer for the path on which it asked (section 6.4).
    fn answer(&mut self, path: usize, chunk: Chunk) {
        if self.control.len() < MOST_ANSWERS {
            if let Chunk::Error(_) = chunk {
                self.stats.errors_sent += 1;
            }
            self.control.push_back((path, chunk));
        }
    }
}
