//! One connection: RFC 9293, section 3.3.2, and the two halves joined.

mod close;
mod handshake;
mod input;
mod output;

use core::ops::Range;

use headway_sansio::{Duration, Machine, Payload, RandomStream, Time};

use crate::config::Config;
use crate::receiver::Receiver;
use crate::segment::Segment;
use crate::sender::{Agreed, Phase, Sender};
use crate::seq::SeqNumber;
use crate::stats::Stats;
use handshake::Handshake;

/// The states of RFC 9293, section 3.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// No connection: over, refused, or given up.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received and answered.
    SynReceived,
    /// Data may flow both ways.
    Established,
    /// Closed here; FIN is not acknowledged.
    FinWait1,
    /// Closed here; the peer may still send.
    FinWait2,
    /// The peer closed; this side may still send.
    CloseWait,
    /// Both sides closed at once.
    Closing,
    /// Closed here after the peer; FIN is not acknowledged.
    LastAck,
    /// Over; old segments are still caught.
    TimeWait,
}

/// What happened. Each is told once, however often it happened since the last
/// time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Event {
    /// The handshake is done.
    Connected,
    /// There is data in order to read.
    Readable,
    /// Something arrived beyond a gap; see [`Connection::out_of_order_ranges`].
    OutOfOrder,
    /// The send buffer was full and has room again.
    Writable,
    /// The peer sends no more; all of its data is in order.
    PeerClosed,
    /// The peer reset or refused the connection.
    Reset,
    /// The peer did not answer `max_retransmissions` times.
    TimedOut,
    /// Nothing is left of the connection.
    Closed,
}

impl Event {
    const ALL: [Self; 8] = [
        Self::Connected,
        Self::Readable,
        Self::OutOfOrder,
        Self::Writable,
        Self::PeerClosed,
        Self::Reset,
        Self::TimedOut,
        Self::Closed,
    ];
}

/// One end of a TCP connection.
///
/// The driver's part is that of [`Machine`]: after each call that takes `now` it
/// drains [`Connection::poll_transmit`] and [`Connection::poll_event`] and asks
/// [`Connection::poll_timeout`] anew. A kernel sends the ACK of a segment before
/// the application wakes up and reads, so a driver that wants window fields like
/// a kernel's drains before it reads, and again after it.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    state: State,
    local_port: u16,
    remote_port: u16,
    /// Sequence number of our first byte, and of the peer's.
    first_sent: SeqNumber,
    first_received: SeqNumber,
    handshake: Handshake,
    sender: Sender,
    receiver: Receiver,
    /// Shifts of the window fields we send and get.
    our_shift: u8,
    peer_shift: u8,
    /// RFC 7323's `TS.Recent`.
    recent_timestamp: u32,
    /// RFC 7323's `Last.ACK.sent`, as an offset.
    last_ack_sent: u64,
    time_wait_until: Time,
    /// A segment outside of the stream: RST.
    reply: Option<Box<Segment>>,
    write_was_refused: bool,
    /// Something happened since there was last nothing to send.
    stirred: bool,
    events: u8,
    now: Time,
    stats: Stats,
}

impl Connection {
    fn new(now: Time, config: Config, random: &mut RandomStream, state: State) -> Self {
        let initial = SeqNumber(random.bits() as u32);
        let agreed = Agreed {
            mss: config.mss_bytes.max(1),
            sack: config.sack,
            timestamps: config.timestamps,
        };
        Self {
            state,
            local_port: 0,
            remote_port: 0,
            first_sent: initial.plus(1),
            first_received: SeqNumber(0),
            handshake: Handshake::default(),
            sender: Sender::new(&config, agreed, now),
            receiver: Receiver::new(&config),
            our_shift: 0,
            peer_shift: 0,
            recent_timestamp: 0,
            last_ack_sent: 0,
            time_wait_until: Time::FAR_FUTURE,
            reply: None,
            write_was_refused: false,
            stirred: true,
            events: 0,
            now,
            stats: Stats::default(),
            config,
        }
    }

    /// Opens a connection to a peer: sends SYN.
    #[must_use]
    pub fn connect(
        now: Time,
        config: Config,
        random: &mut RandomStream,
        local_port: u16,
        remote_port: u16,
    ) -> Self {
        let mut connection = Self::new(now, config, random, State::SynSent);
        connection.local_port = local_port;
        connection.remote_port = remote_port;
        connection.start_handshake(now);
        connection
    }

    /// Waits for one peer.
    #[must_use]
    pub fn listen(now: Time, config: Config, random: &mut RandomStream, local_port: u16) -> Self {
        let mut connection = Self::new(now, config, random, State::Listen);
        connection.local_port = local_port;
        connection
    }

    // ---- the user's side

    /// Hands data over; returns how many bytes fit the send buffer. What did not
    /// fit is counted in [`Stats::bytes_refused`] and not kept. The end of the
    /// write is where a segment gets its PSH bit.
    ///
    /// A write of [`Payload::Sized`] costs one entry, however long it is.
    pub fn write(&mut self, now: Time, payload: Payload) -> usize {
        self.now = now;
        self.stirred = true;
        let len = payload.len();
        let taken = if self.may_write() {
            self.sender.write(&self.config, payload)
        } else {
            0
        };
        if taken < len {
            self.stats.bytes_refused += (len - taken) as u64;
            self.stats.writes_refused += 1;
            self.write_was_refused = true;
        }
        taken
    }

    fn may_write(&self) -> bool {
        !self.sender.is_finished()
            && matches!(
                self.state,
                State::SynSent | State::SynReceived | State::Established | State::CloseWait
            )
    }

    /// Takes up to `max` bytes that are in order: all of them where only their
    /// number travels, else the rest of one segment. Empty where there is
    /// nothing.
    pub fn read(&mut self, now: Time, max: usize) -> Payload {
        self.now = now;
        let mss = self.sender.agreed.mss;
        let (payload, ack) = self.receiver.read(&self.config, mss, max);
        if ack && self.synchronised() {
            self.receiver.acks.at_once = true;
            self.stirred = true;
        }
        payload
    }

    /// What is held beyond a gap: ranges of offsets in the peer's stream, lowest
    /// first. They stay where they are and are read in order later.
    pub fn out_of_order_ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.receiver.beyond().iter().map(|(start, end)| start..end)
    }

    /// The content of a range held beyond a gap, without taking it; `None` where
    /// not all of it is held.
    #[must_use]
    pub fn out_of_order_peek(&self, range: Range<u64>) -> Option<Payload> {
        let len = u32::try_from(range.end.checked_sub(range.start)?).ok()?;
        self.receiver.peek(range.start, len)
    }

    // ---- figures

    /// The state.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// The knobs.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Our port.
    #[must_use]
    pub fn local_port(&self) -> u16 {
        self.local_port
    }

    /// The peer's port; 0 while listening.
    #[must_use]
    pub fn remote_port(&self) -> u16 {
        self.remote_port
    }

    /// The counts.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Largest payload of a segment, in bytes, options counted off.
    #[must_use]
    pub fn mss_bytes(&self) -> u32 {
        self.sender.agreed.mss
    }

    /// Congestion window in bytes; counted in segments it is that many MSS.
    #[must_use]
    pub fn cwnd_bytes(&self) -> u64 {
        self.sender.window.bytes(self.sender.window.cwnd)
    }

    /// Congestion window in full-sized segments, rounded down.
    #[must_use]
    pub fn cwnd_segments(&self) -> u64 {
        self.sender.window.cwnd / self.sender.window.full
    }

    /// Slow-start threshold in bytes; `None` before the first loss.
    #[must_use]
    pub fn ssthresh_bytes(&self) -> Option<u64> {
        let ssthresh = self.sender.window.ssthresh;
        (ssthresh != u64::MAX).then(|| self.sender.window.bytes(ssthresh))
    }

    /// Sequence numbers sent and not acknowledged (RFC 5681's FlightSize).
    #[must_use]
    pub fn flight_bytes(&self) -> u64 {
        self.sender.next - self.sender.una
    }

    /// Segments sent and not acknowledged.
    #[must_use]
    pub fn flight_segments(&self) -> usize {
        self.sender.board.len()
    }

    /// Smoothed round-trip time; `None` before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.rtt.srtt()
    }

    /// The retransmission timeout, back-off included.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.sender.rto(&self.config)
    }

    /// Whether losses are being repaired after a timeout.
    #[must_use]
    pub fn in_timeout(&self) -> bool {
        self.sender.phase == Phase::Loss
    }

    /// Whether losses are being repaired in fast recovery.
    #[must_use]
    pub fn in_recovery(&self) -> bool {
        self.sender.phase == Phase::Recovery
    }

    /// Bytes that `write` has taken so far: the offset of the next one.
    #[must_use]
    pub fn written_offset(&self) -> u64 {
        self.sender.written()
    }

    /// Offset in our stream below which everything is acknowledged.
    #[must_use]
    pub fn acknowledged_offset(&self) -> u64 {
        self.sender.una.min(self.sender.written())
    }

    /// Bytes written and never sent.
    #[must_use]
    pub fn unsent_bytes(&self) -> u64 {
        self.sender.unsent()
    }

    /// Bytes in the send buffer: written and not acknowledged.
    #[must_use]
    pub fn buffered_bytes(&self) -> u64 {
        self.sender.buffered()
    }

    /// Bytes in order that wait to be read.
    #[must_use]
    pub fn readable_bytes(&self) -> u64 {
        self.receiver.unread()
    }

    /// Offset in the peer's stream below which everything has arrived.
    #[must_use]
    pub fn received_offset(&self) -> u64 {
        self.receiver.next()
    }

    /// Offset in the peer's stream below which everything was read.
    #[must_use]
    pub fn read_offset(&self) -> u64 {
        self.receiver.read_offset()
    }

    // ---- the driver's side

    /// When the connection next wants [`Connection::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let due = self
            .sender
            .due()
            .min(self.receiver.acks.due)
            .min(self.handshake.due)
            .min(self.time_wait_until);
        (due != Time::FAR_FUTURE).then_some(due)
    }

    /// Counts anew what is otherwise counted along the way of the segments sent, and sees
    /// whether a timer runs for what is under way. For tests and fuzzers, as it goes over
    /// all of them.
    ///
    /// # Errors
    /// Says which sum is wrong.
    pub fn check_books(&self) -> Result<(), String> {
        self.sender.check_books(self.state != State::Closed)
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        self.stirred = true;
        if self.handshake.due <= now {
            self.on_handshake_timer(now);
        }
        if self.sender.on_timer(&self.config, now, &mut self.stats) {
            self.give_up();
        }
        if self.receiver.acks.due <= now {
            let rto = self.sender.rto(&self.config);
            self.receiver.acks.on_timer(&self.config, now, rto);
        }
        if self.time_wait_until <= now {
            self.time_wait_until = Time::FAR_FUTURE;
            self.end(Event::Closed);
        }
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.receiver.readable {
            self.receiver.readable = false;
            self.tell(Event::Readable);
        }
        if self.events == 0 {
            return None;
        }
        let first = self.events.trailing_zeros() as usize;
        self.events &= self.events - 1;
        Some(Event::ALL[first])
    }

    fn tell(&mut self, event: Event) {
        self.events |= 1 << event as u8;
    }
}

impl Machine for Connection {
    type Input = Segment;
    type Output = Segment;

    fn handle_input(&mut self, now: Time, input: Segment) {
        Self::handle_input(self, now, &input);
    }

    fn handle_timeout(&mut self, now: Time) {
        Self::handle_timeout(self, now);
    }

    fn poll_output(&mut self) -> Option<Segment> {
        self.poll_transmit()
    }

    fn poll_timeout(&self) -> Option<Time> {
        Self::poll_timeout(self)
    }
}

#[cfg(test)]
mod tests;
