//! One association: a TCB of RFC 9260, section 14.2, and its procedures, one
//! in each file.

mod abort;
mod accept;
mod connect;
mod heartbeat;
mod input;
mod receive;
mod retransmit;
mod sack;
mod shutdown;
mod state;
mod transmit;

pub use state::AssociationState;

use std::collections::VecDeque;
use std::sync::Arc;

use headway_sansio::{Duration, RandomStream, Time};

use crate::cookie::CookieKey;
use crate::inbound::Inbound;
use crate::outbound::Outbound;
use crate::path::Path;
use crate::{Chunk, Config, Event, Message, MessageId, Packet, SendError, Stats, Tsn};
use state::State;

/// One SCTP association of one peer, with one path.
///
/// See the [crate documentation](crate) for the order of calls.
#[derive(Debug)]
pub struct Association {
    config: Arc<Config>,
    random: RandomStream,
    state: State,
    local_port: u16,
    remote_port: u16,
    /// The tag that the peer puts into its packets.
    local_tag: u32,
    /// The tag that this side puts into its packets.
    peer_tag: u32,
    local_initial_tsn: Tsn,
    outbound_streams: u16,
    inbound_streams: u16,
    key: CookieKey,
    path: Path,
    outbound: Outbound,
    inbound: Inbound,
    /// Transmissions in a row that the peer did not answer (section 8.1).
    errors: u32,
    /// Timer T5: when the shutdown has taken too long.
    guard: Time,
    /// When to probe a closed window, and the wait after which to do it again.
    probe: Time,
    probe_interval: Duration,
    /// The probe may go out.
    probe_now: bool,
    /// How far the flight size may rise in this opportunity to send; `None`
    /// where something happened since it was worked out.
    burst_limit: Option<u32>,
    /// Whole packets, with tags of their own.
    packets: VecDeque<Packet>,
    /// Chunks for the front of the next packet.
    control: VecDeque<Chunk>,
    events: VecDeque<Event>,
    stats: Stats,
}

impl Association {
    fn new(
        config: Arc<Config>,
        mut random: RandomStream,
        state: State,
        local_port: u16,
        remote_port: u16,
    ) -> Self {
        let key = CookieKey::random(&mut random);
        let local_tag = random_tag(&mut random);
        let local_initial_tsn = initial_tsn(&config, &mut random);
        Self {
            state,
            local_port,
            remote_port,
            local_tag,
            peer_tag: 0,
            local_initial_tsn,
            outbound_streams: config.outbound_streams,
            inbound_streams: config.inbound_streams,
            key,
            path: Path::new(&config),
            outbound: Outbound::new(&config, local_initial_tsn, 0),
            inbound: Inbound::new(&config, Tsn(0)),
            errors: 0,
            guard: Time::FAR_FUTURE,
            probe: Time::FAR_FUTURE,
            probe_interval: Duration::ZERO,
            probe_now: false,
            burst_limit: None,
            packets: VecDeque::new(),
            control: VecDeque::new(),
            events: VecDeque::new(),
            stats: Stats::default(),
            random,
            config,
        }
    }

    /// A passive association: it answers INITs without keeping state, and comes
    /// into being with the first good COOKIE ECHO.
    #[must_use]
    pub fn listen(config: Arc<Config>, random: RandomStream, local_port: u16) -> Self {
        Self::new(config, random, State::Listen, local_port, 0)
    }

    /// Hands a message over for sending. Messages handed over before the
    /// association is up wait.
    ///
    /// # Errors
    /// Where the message can never be sent, or has to be handed over again later
    /// because the send buffer is full. Nothing has happened then.
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
        if self.outbound.buffered_bytes() as usize + bytes > limit {
            return Err(SendError::BufferFull);
        }
        self.stats.messages_sent += 1;
        self.burst_limit = None;
        let id = self.outbound.queue.push(message);
        self.watch_window(now);
        Ok(id)
    }

    /// The next thing that happened, in the order in which it did.
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if let Event::Message(message) = &event {
            self.stats.messages_received += 1;
            self.inbound
                .read(&self.config, message.payload.len() as u32);
        }
        Some(event)
    }

    /// When `handle_timeout` wants to be called, if at all.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let due = self
            .path
            .next_timeout()
            .min(self.inbound.acknowledgement.due)
            .min(self.probe)
            .min(self.guard)
            .min(self.state.due());
        (due != Time::FAR_FUTURE).then_some(due)
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.burst_limit = None;
        if self.state.due() <= now {
            self.state_timeout(now);
        }
        if self.guard <= now {
            self.guard_timeout();
        }
        if self.path.t3 <= now {
            self.retransmission_timeout(now);
        }
        if self.path.heartbeat.due <= now {
            self.heartbeat_timeout(now);
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
    }

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

    /// Congestion window in bytes.
    #[must_use]
    pub const fn cwnd_bytes(&self) -> u32 {
        self.path.cwnd
    }

    /// Slow start threshold in bytes; `u32::MAX` before the first loss.
    #[must_use]
    pub const fn ssthresh_bytes(&self) -> u32 {
        self.path.ssthresh
    }

    /// Bytes under way, counted as the congestion window counts them.
    #[must_use]
    pub const fn flight_bytes(&self) -> u32 {
        self.path.flight
    }

    /// Retransmission timeout, back-off included.
    #[must_use]
    pub const fn rto(&self) -> Duration {
        self.path.rto
    }

    /// Smoothed round-trip time, once there is a measurement.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.path.rtt.smoothed()
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
        self.outbound.buffered_bytes()
    }

    /// What the peer's receive buffer takes beyond what is under way, in bytes.
    #[must_use]
    pub const fn peer_window_bytes(&self) -> u32 {
        self.outbound.peer_window
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Counts an unanswered transmission. Says whether the association still lives.
    fn count_error(&mut self) -> bool {
        self.errors += 1;
        self.path.errors += 1;
        if self.path.active && self.path.errors > self.config.path_max_retransmits {
            self.path.active = false;
            self.events.push_back(Event::PathInactive { path: 0 });
        }
        if self.errors > self.config.association_max_retransmits {
            self.lose(crate::LostReason::PeerUnreachable);
            return false;
        }
        true
    }

    /// The peer answered (section 8.1 and 8.2).
    fn clear_errors(&mut self) {
        self.errors = 0;
        self.path.errors = 0;
        if !self.path.active {
            self.path.active = true;
            self.events.push_back(Event::PathActive { path: 0 });
        }
    }
}

/// A tag is never zero (section 5.3.1).
fn random_tag(random: &mut RandomStream) -> u32 {
    1 + random.below(u64::from(u32::MAX)) as u32
}

fn initial_tsn(config: &Config, random: &mut RandomStream) -> Tsn {
    let drawn = Tsn(random.bits() as u32);
    config.initial_tsn.unwrap_or(drawn)
}
