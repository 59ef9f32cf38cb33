//! Every knob of the stack, the named stack profiles, and single knobs laid
//! over a profile.

mod check;
mod init_limit;
mod overrides;
mod profile;
#[cfg(test)]
mod tests;

pub use check::ConfigError;
pub use init_limit::InitLimit;
pub use overrides::Overrides;
pub use profile::{Knob, PROFILES, UnknownProfile};

use headway_sansio::Duration;
use serde::{Deserialize, Serialize};

use crate::Tsn;

/// All settings of an association. [`Config::default`] is RFC 9260; where a
/// stack profile differs, [`Config::knobs`] names the source of its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// RTO before the first measurement (RTO.Initial, section 16: 1 s).
    pub rto_initial: Duration,
    /// Least RTO (RTO.Min, section 16: 1 s).
    pub rto_min: Duration,
    /// Greatest RTO, also when backed off (RTO.Max, section 16: 60 s).
    pub rto_max: Duration,
    /// How the RTO follows from measurements (section 6.3.1).
    pub rto_formula: RtoFormula,
    /// How far the RTO lies above the smoothed round trip at least (RFC 9260: no
    /// such floor). Beside a low `rto_min` it leaves a peer the time to delay its
    /// SACK.
    pub rto_margin_min: Duration,
    /// Whether losses are found by time: a chunk is lost once one sent later has
    /// arrived and a reordering window has passed (RFC 8985, section 6; RFC 9260:
    /// no). Takes the place of missing reports.
    pub time_loss_detection: bool,
    /// Whether a probe goes out before T3-rtx where the end of a flight may be lost
    /// (RFC 8985, section 7; RFC 9260: no).
    pub tail_loss_probe: bool,
    /// Whether missing reports suffice that fewer chunks can give, where fewer than
    /// four are outstanding (RFC 5827; RFC 9260: no).
    pub early_retransmit: bool,
    /// Whether the last chunk of a burst asks for a SACK without delay (the I bit,
    /// RFC 9260, section 6.1; RFC 7053): one that ends several packets in a row,
    /// that comes after an idle time longer than `sack_delay`, that fills a window,
    /// that T3-rtx retransmits, or that is the last before the end of the
    /// association.
    pub immediate_sack_on_burst_end: bool,
    /// Missing reports that start a fast retransmit (section 7.2.4: 3; RFC 2960: 4).
    pub missing_report_threshold: u8,
    /// Whether a chunk is fast-retransmitted more than once (section 7.2.4: off).
    pub repeat_fast_retransmit: RepeatFastRetransmit,
    /// Whether further losses within one window leave cwnd alone (section 7.2.4: yes).
    pub fast_recovery: bool,
    /// How much a fast retransmit sends without regard to cwnd (section 7.2.4, step 3).
    pub fast_retransmit_amount: FastRetransmitAmount,
    /// Longest wait before a SACK (SACK.Delay, section 16: 200 ms).
    pub sack_delay: Duration,
    /// A SACK goes out at once for every n-th packet with DATA (section 6.2: 2).
    pub sack_every: u32,
    /// Whether a waiting SACK travels with outgoing DATA (section 6.1: yes).
    pub sack_bundling: SackBundling,
    /// Whether the packet that closes the last gap is acknowledged at once
    /// (RFC 5681, section 4.2, to which section 6.2 refers: yes).
    pub sack_on_gap_closed: bool,
    /// First cwnd in bytes; zero: `min(4 u, max(2 u, 4404))` with `u` the window
    /// unit (section 7.2.1, IPv4).
    pub initial_cwnd_bytes: u32,
    /// Least ssthresh after a loss in window units (section 7.2.3: 4).
    pub ssthresh_floor_mtus: u32,
    /// The most that one SACK adds to cwnd in slow start, in window units (L,
    /// section 7.2.1: 1).
    pub byte_counting_limit: u32,
    /// Packets sent in a row (Max.Burst, section 16: 4); zero: no limit.
    pub max_burst: u32,
    /// How `max_burst` is applied (section 6.1, rule D: not permanently).
    pub max_burst_rule: MaxBurstRule,
    /// Whether cwnd grows while it is not full (section 7.2.1: no).
    pub cwnd_when_limited: CwndWhenLimited,
    /// Whether cwnd grows only on a SACK that advances the cumulative TSN
    /// (RFC 4960, section 7.2.1: yes; RFC 9260: no).
    pub growth_needs_advance: bool,
    /// What of a chunk counts against cwnd (section 7.2: the chunk with padding).
    pub window_counts: WindowCounts,
    /// The unit of cwnd (section 7.2.1: PMDCS).
    pub window_unit: WindowUnit,
    /// By how much the last transmission may pass cwnd (section 6.1, rule B).
    pub cwnd_overshoot: CwndOvershoot,
    /// What an idle time does to cwnd (section 7.2.1: halve it each RTO).
    pub idle_decay: IdleDecay,
    /// Which chunks a T3-rtx expiry gives up for lost (section 6.3.3: all).
    pub timeout_marks: TimeoutMarks,
    /// Whether after a T3-rtx expiry one packet must be acknowledged before
    /// another goes out (section 7.2.3: yes).
    pub timeout_one_packet: bool,
    /// RTO for the packet that T3-rtx resends (section 6.3.3, E2 before E4: doubled).
    pub timeout_rearm: TimeoutRearm,
    /// Which stream sends next. Can be changed while the association lasts.
    pub scheduler: Scheduler,
    /// Whether I-DATA is offered, so that messages of several streams mix (RFC 8260;
    /// section 2.2.1: not unless the user asks for it).
    pub interleaving: bool,
    /// Whether FORWARD-TSN is offered, so that messages may be given up that were
    /// sent (RFC 3758; section 4.2 recommends: not unless the user asks for it). With
    /// `interleaving` it is I-FORWARD-TSN.
    pub partial_reliability: bool,
    /// Whether streams may be reset and added while an association lives (RFC 6525).
    pub reconfiguration: bool,
    /// The most streams that there may be each way after the peer has added some
    /// (RFC 6525, sections 5.2.5 and 5.2.6).
    pub most_streams: u16,
    /// By which method what carries the packets finds errors in them, so that this
    /// side takes packets without a checksum, and sends such where the peer has
    /// offered the same method (RFC 9653; 1: SCTP over DTLS); `None`: all packets
    /// have a checksum.
    pub zero_checksum_method: Option<u32>,
    /// Whether a message comes in parts, as [`Event::Part`](crate::Event::Part), where
    /// the receive buffer is about to be full of messages that are not whole
    /// (RFC 9260, section 6.9). Otherwise a message of up to twice the receive buffer
    /// is taken, slowly; a longer one ends the association.
    pub partial_delivery: bool,
    /// Whether a small packet waits while data is outstanding (section 6.1: the
    /// user decides; off here).
    pub nagle: bool,
    /// Path MTU in bytes, IP header included (Ethernet: 1500).
    pub mtu_bytes: u32,
    /// Whether each path's MTU is found by probes, up to `mtu_bytes` (RFC 8899);
    /// otherwise `mtu_bytes` it is, until a router objects.
    pub mtu_discovery: bool,
    /// IP header in bytes (IPv4: 20).
    pub ip_header_bytes: u32,
    /// Messages not yet acknowledged, in bytes of payload.
    pub send_buffer_bytes: u32,
    /// Receive buffer in bytes of payload; announced to the peer as a_rwnd.
    pub receive_buffer_bytes: u32,
    /// What each chunk costs of the peer's window beyond its payload (section
    /// 6.2.1, rule B: nothing).
    pub peer_window_chunk_cost_bytes: u32,
    /// Idle time before a heartbeat (HB.interval, section 16: 30 s); zero: none.
    pub heartbeat_interval: Duration,
    /// Unanswered transmissions until the peer is given up
    /// (Association.Max.Retrans, section 16: 10).
    pub association_max_retransmits: u32,
    /// Unanswered transmissions until a path is inactive (Path.Max.Retrans,
    /// section 16: 5).
    pub path_max_retransmits: u32,
    /// Retransmissions of INIT and of COOKIE ECHO (Max.Init.Retransmits,
    /// section 16: 8).
    pub init_max_retransmits: u32,
    /// Longest time of a graceful shutdown (T5, section 9.2: five times RTO.Max);
    /// zero: no limit.
    pub shutdown_guard: Duration,
    /// How long a cookie is good (Valid.Cookie.Life, section 16: 60 s).
    pub cookie_lifetime: Duration,
    /// Streams that this side asks for.
    pub outbound_streams: u16,
    /// Streams that this side accepts at most.
    pub inbound_streams: u16,
    /// How long cookies are signed with one key (section 5.1.3: changed "reasonably
    /// frequently", such as hourly). Not shorter than `cookie_lifetime`.
    pub cookie_key_lifetime: Duration,
    /// How many INITs an endpoint lets in, whoever sends them (RFC 9260, section
    /// 12.2.4.1); `None`: all. Has no effect on associations that this side begins, nor
    /// on an [`Association`](crate::Association) without an endpoint.
    pub init_limit: Option<InitLimit>,
    /// Unanswered transmissions until a path is potentially failed and DATA goes
    /// elsewhere (PFMR of RFC 7829, which recommends 0); `None`: there is no such
    /// state (RFC 9260).
    pub potentially_failed_max_retransmits: Option<u32>,
    /// Unanswered transmissions on the primary path until the path that carries
    /// DATA becomes the primary one (PSMR of RFC 7829, section 5); `None`: never.
    pub primary_switchover_max_retransmits: Option<u32>,
    /// TSN of the first DATA chunk; `None`: random (section 5.1).
    pub initial_tsn: Option<Tsn>,
}

/// How the RTO follows from round-trip measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFormula {
    /// RFC 9260, section 6.3.1: SRTT + 4 RTTVAR.
    Rfc,
    /// sctp-refimpl before June 2007: SRTT + 2 RTTVAR in shifted integers, with a
    /// first sample that is stored unscaled, so that the RTO starts too low.
    Freebsd2006,
}

/// Whether missing reports may retransmit a chunk again that they retransmitted before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatFastRetransmit {
    /// Never: after the first time only T3-rtx does (RFC 9260, section 7.2.4, step 5).
    Off,
    /// Once chunks sent after the retransmission are acknowledged (multiple fast
    /// retransmit, sctp-refimpl).
    Qualified,
    /// After as many further reports, whatever they are caused by (lksctp to 2.6.14).
    Unqualified,
}

/// How much a fast retransmit sends at once, whatever cwnd says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FastRetransmitAmount {
    /// One packet, on entering fast recovery (RFC 9260, section 7.2.4, step 3).
    /// Without fast recovery: one packet each time.
    OnePacket,
    /// All marked chunks (sctp-refimpl).
    AllMarked,
}

/// When a waiting SACK travels with outgoing DATA.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SackBundling {
    /// Whenever it fits (RFC 9260, section 6.1).
    Always,
    /// Only while delivered messages are still unread (lksctp).
    WhileUnread,
}

/// How the limit on bursts is applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaxBurstRule {
    /// For this opportunity to send only (RFC 9260, section 6.1, rule D).
    Temporary,
    /// cwnd itself is cut, before every chunk (lksctp).
    Permanent,
    /// cwnd itself is cut and ssthresh raised to what it was (sctp-refimpl).
    PermanentRaisingSsthresh,
}

/// What happens to cwnd while the application sends less than it allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CwndWhenLimited {
    /// It stays (RFC 9260, section 7.2.1).
    Keep,
    /// It grows with every acknowledgement all the same.
    Grow,
}

/// What of a DATA chunk is counted as in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowCounts {
    /// Header, payload and padding (RFC 9260, section 7.2).
    Chunk,
    /// Payload alone (lksctp, sctp-refimpl).
    Payload,
}

/// The unit in which cwnd grows and thresholds are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowUnit {
    /// PMDCS: the MTU less IP and SCTP headers (RFC 9260, section 7.2.1).
    Pmdcs,
    /// The whole MTU (RFC 2960 and the stacks after it).
    Mtu,
}

/// By how much the last transmission may pass cwnd.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CwndOvershoot {
    /// A packet begun below cwnd is filled up (RFC 9260, section 6.1, rule B).
    Packet,
    /// A chunk begun below cwnd goes out whole; the next waits (lksctp).
    Chunk,
}

/// What an idle time does to cwnd.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleDecay {
    /// Halved once per RTO, not below four units (RFC 9260, section 7.2.1).
    EachRto,
    /// Set to `max(cwnd / 2, 4 units)` when a heartbeat is due (lksctp).
    AtHeartbeat,
    /// Nothing (sctp-refimpl).
    Never,
}

/// Which chunks T3-rtx gives up for lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutMarks {
    /// All that are not acknowledged (RFC 9260, section 6.3.3).
    All,
    /// Those sent longer ago than the RTO as it would be without its bounds
    /// (sctp-refimpl).
    OlderThanEstimate,
}

/// Which RTO runs for the packet that T3-rtx resends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutRearm {
    /// The doubled one (RFC 9260, section 6.3.3).
    Doubled,
    /// The one before doubling, so that waits go 1, 1, 2, 4 (lksctp to 2.6.20).
    Undoubled,
}

/// Which stream's message is sent next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The message that was handed over first (RFC 8260, section 3.1).
    FirstCome,
    /// One message of each stream that has any, in turn; with I-DATA one chunk of
    /// each (RFC 8260, section 3.2).
    RoundRobin,
    /// The same, but a packet carries new chunks of one stream only (RFC 8260,
    /// section 3.3).
    RoundRobinPacket,
    /// Of the streams of highest priority one after another (RFC 8260, section 3.4).
    /// All have the same until the user sets it.
    Priority,
    /// All streams send the same number of bytes while they have any (RFC 8260,
    /// section 3.5).
    FairBandwidth,
    /// Streams send bytes in proportion to their weights (RFC 8260, section 3.6),
    /// which are equal until the user sets them.
    WeightedFair,
}

impl Scheduler {
    /// All of them, in the order of RFC 8260.
    pub const ALL: [Self; 6] = [
        Self::FirstCome,
        Self::RoundRobin,
        Self::RoundRobinPacket,
        Self::Priority,
        Self::FairBandwidth,
        Self::WeightedFair,
    ];
}

impl Default for Config {
    /// RFC 9260; buffers of 256 KiB and 64 streams each way, which the RFC leaves
    /// to the implementation.
    fn default() -> Self {
        Self {
            rto_initial: Duration::from_secs(1),
            rto_min: Duration::from_secs(1),
            rto_max: Duration::from_secs(60),
            rto_formula: RtoFormula::Rfc,
            rto_margin_min: Duration::ZERO,
            time_loss_detection: false,
            tail_loss_probe: false,
            early_retransmit: false,
            immediate_sack_on_burst_end: false,
            missing_report_threshold: 3,
            repeat_fast_retransmit: RepeatFastRetransmit::Off,
            fast_recovery: true,
            fast_retransmit_amount: FastRetransmitAmount::OnePacket,
            sack_delay: Duration::from_millis(200),
            sack_every: 2,
            sack_bundling: SackBundling::Always,
            sack_on_gap_closed: true,
            initial_cwnd_bytes: 0,
            ssthresh_floor_mtus: 4,
            byte_counting_limit: 1,
            max_burst: 4,
            max_burst_rule: MaxBurstRule::Temporary,
            cwnd_when_limited: CwndWhenLimited::Keep,
            growth_needs_advance: false,
            window_counts: WindowCounts::Chunk,
            window_unit: WindowUnit::Pmdcs,
            cwnd_overshoot: CwndOvershoot::Packet,
            idle_decay: IdleDecay::EachRto,
            timeout_marks: TimeoutMarks::All,
            timeout_one_packet: true,
            timeout_rearm: TimeoutRearm::Doubled,
            scheduler: Scheduler::FirstCome,
            interleaving: false,
            partial_reliability: false,
            reconfiguration: false,
            most_streams: 2048,
            zero_checksum_method: None,
            partial_delivery: false,
            nagle: false,
            mtu_bytes: 1500,
            mtu_discovery: false,
            ip_header_bytes: 20,
            send_buffer_bytes: 256 * 1024,
            receive_buffer_bytes: 256 * 1024,
            peer_window_chunk_cost_bytes: 0,
            heartbeat_interval: Duration::from_secs(30),
            association_max_retransmits: 10,
            path_max_retransmits: 5,
            init_max_retransmits: 8,
            shutdown_guard: Duration::from_secs(300),
            cookie_lifetime: Duration::from_secs(60),
            outbound_streams: 64,
            inbound_streams: 64,
            cookie_key_lifetime: Duration::from_secs(3600),
            init_limit: Some(InitLimit::default()),
            potentially_failed_max_retransmits: None,
            primary_switchover_max_retransmits: None,
            initial_tsn: None,
        }
    }
}

impl Config {
    /// The most bytes that the chunks of one packet take together (PMDCS of
    /// RFC 9260, section 2: the MTU less IP and SCTP headers).
    #[must_use]
    pub const fn pmdcs_bytes(&self) -> u32 {
        self.pmdcs_of(self.mtu_bytes)
    }

    /// The same for a path with this MTU.
    pub(crate) const fn pmdcs_of(&self, mtu_bytes: u32) -> u32 {
        // Fragments end on a multiple of four; a chunk's length has 16 bits; and
        // there is no IP path of less than 68 bytes (RFC 791).
        let room = mtu_bytes.saturating_sub(self.ip_header_bytes.saturating_add(12));
        if room < 32 {
            32
        } else if room > 65_532 {
            65_532
        } else {
            room & !3
        }
    }

    /// The unit in which cwnd is counted, in bytes.
    #[must_use]
    pub const fn window_unit_bytes(&self) -> u32 {
        match self.window_unit {
            WindowUnit::Pmdcs => self.pmdcs_bytes(),
            WindowUnit::Mtu => self.mtu_bytes,
        }
    }

    /// cwnd before anything is known of the path, in bytes.
    #[must_use]
    pub fn first_cwnd_bytes(&self) -> u32 {
        if self.initial_cwnd_bytes > 0 {
            return self.initial_cwnd_bytes;
        }
        let unit = self.window_unit_bytes();
        (4 * unit).min((2 * unit).max(4404))
    }

    /// What a chunk with such a header and so much payload counts against cwnd, in bytes.
    #[must_use]
    pub(crate) const fn window_cost(&self, header: u32, payload: u32) -> u32 {
        match self.window_counts {
            WindowCounts::Chunk => crate::packet::padded(header + payload),
            WindowCounts::Payload => payload,
        }
    }
}
