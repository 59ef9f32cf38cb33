//! Named stack profiles: what the stacks of 2005 to 2007 did, line by line, and
//! what a sender can do today.
//!
//! Sources. *lksctp* is `net/sctp` of the Linux kernel of that version
//! (`outqueue.c`, `transport.c`, `output.c`, `sm_sideeffect.c`,
//! `include/net/sctp/constants.h`); *sctp-refimpl* is the KAME and FreeBSD SCTP
//! of August 2006 (`sctp_indata.c`, `sctp_output.c`, `sctp_timer.c`,
//! `sctputil.c`, `sctp_constants.h`), which FreeBSD 6.1 took as a patch; *dcsctp*
//! is the crate of that name, version 0.1.16 (`api/mod.rs` with its `Options`,
//! `tx/retransmission_queue.rs`, `tx/outstanding_data.rs`, `rx/data_tracker.rs`).

use headway_sansio::Duration;

use super::{
    Config, CwndOvershoot, FastRetransmitAmount, IdleDecay, MaxBurstRule, RepeatFastRetransmit,
    RtoFormula, SackBundling, Scheduler, TimeoutMarks, TimeoutRearm, WindowCounts, WindowUnit,
};

/// The names that [`Config::profile`] knows.
pub const PROFILES: [&str; 6] = [
    "rfc9260",
    "lksctp-2.6.11",
    "lksctp-2.6.18",
    "freebsd-6.1",
    "dcsctp",
    "low-delay",
];

/// There is no profile of this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "unknown SCTP profile {0:?}; known are rfc9260, lksctp-2.6.11, lksctp-2.6.18, freebsd-6.1, \
     dcsctp, low-delay"
)]
pub struct UnknownProfile(pub String);

/// One knob of a profile, for reports.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Knob {
    /// Its name, as in [`super::Overrides`] where it can be set by itself.
    pub name: &'static str,
    /// Its value; durations in nanoseconds, sizes in bytes.
    pub value: String,
    /// Where the value comes from.
    pub source: &'static str,
}

const BOTH_LKSCTP: &[(&str, &str)] = &[
    ("rto_initial_ns", "lksctp constants.h: 3 s"),
    ("rto_min_ns", "lksctp constants.h: 1 s"),
    ("rto_max_ns", "lksctp constants.h: 60 s"),
    ("rto_formula", "lksctp transport.c: SRTT + 4 RTTVAR"),
    (
        "fast_recovery",
        "lksctp outqueue.c: no such state before 2.6.28",
    ),
    (
        "fast_retransmit_amount",
        "lksctp outqueue.c: one packet, whatever cwnd says",
    ),
    ("sack_delay_ns", "lksctp: 200 ms"),
    (
        "sack_every",
        "lksctp sm_sideeffect.c: every second packet with DATA",
    ),
    (
        "sack_bundling",
        "lksctp output.c: only while a_rwnd exceeds rwnd",
    ),
    (
        "sack_on_gap_closed",
        "lksctp sm_sideeffect.c: at once only while a gap exists",
    ),
    ("initial_cwnd_bytes", "lksctp: min(4 MTU, max(2 MTU, 4380))"),
    ("ssthresh_floor_mtus", "lksctp transport.c: 4 MTU"),
    (
        "byte_counting_limit",
        "lksctp transport.c: min(bytes acked, PMTU)",
    ),
    ("max_burst", "lksctp constants.h: 4"),
    (
        "max_burst_rule",
        "lksctp output.c: cuts cwnd for good, on every chunk",
    ),
    (
        "cwnd_when_limited",
        "lksctp transport.c: grows only if flight >= cwnd",
    ),
    (
        "growth_needs_advance",
        "lksctp transport.c: only if the cumulative TSN advances",
    ),
    ("window_counts", "lksctp: user bytes only"),
    ("window_unit", "lksctp transport.c: PMTU"),
    (
        "cwnd_overshoot",
        "lksctp output.c: a chunk may go if flight < cwnd",
    ),
    (
        "idle_decay",
        "lksctp transport.c: max(cwnd/2, 4 MTU) at a heartbeat only",
    ),
    (
        "timeout_marks",
        "lksctp outqueue.c: all not gap-acked, before 2.6.24",
    ),
    (
        "timeout_one_packet",
        "lksctp outqueue.c: new data waits for the retransmit queue only",
    ),
    (
        "timeout_rearm",
        "lksctp sm_statefuns.c: retransmits, then doubles the RTO, to 2.6.20",
    ),
    (
        "scheduler",
        "lksctp outqueue.c: one queue for the association",
    ),
    ("nagle", "lksctp: off before 2.6.20"),
    ("heartbeat_interval_ns", "lksctp: 30 s"),
    ("association_max_retransmits", "lksctp: 10"),
    ("path_max_retransmits", "lksctp: 5"),
    ("init_max_retransmits", "lksctp: 8"),
    (
        "send_buffer_bytes",
        "lksctp: rmem_default = 256 * (sizeof(sk_buff) + 256), about 108 KiB",
    ),
    (
        "peer_window_chunk_cost_bytes",
        "lksctp: payload only, before 2.6.20",
    ),
];

const LKSCTP_2_6_11: &[(&str, &str)] = &[
    (
        "missing_report_threshold",
        "lksctp 2.6.11 outqueue.c: 4, as in RFC 2960",
    ),
    (
        "repeat_fast_retransmit",
        "lksctp 2.6.11 outqueue.c: flag and counter return to zero",
    ),
    (
        "receive_buffer_bytes",
        "lksctp 2.6.11: a_rwnd starts at sk_rcvbuf, about 108 KiB",
    ),
];

const LKSCTP_2_6_18: &[(&str, &str)] = &[
    ("missing_report_threshold", "lksctp 2.6.18 outqueue.c: 3"),
    (
        "repeat_fast_retransmit",
        "lksctp 2.6.18 outqueue.c: never again after the first",
    ),
    (
        "receive_buffer_bytes",
        "lksctp 2.6.18: a_rwnd starts at sk_rcvbuf / 2, about 54 KiB",
    ),
];

const FREEBSD_6_1: &[(&str, &str)] = &[
    ("rto_initial_ns", "sctp-refimpl sctp_constants.h: 3 s"),
    ("rto_min_ns", "sctp-refimpl sctp_constants.h: 1 s"),
    ("rto_max_ns", "sctp-refimpl sctp_constants.h: 60 s"),
    (
        "rto_formula",
        "sctp-refimpl sctputil.c before June 2007: SRTT + 2 RTTVAR",
    ),
    (
        "missing_report_threshold",
        "sctp-refimpl sctp_indata.c since May 2005: 3",
    ),
    (
        "repeat_fast_retransmit",
        "sctp-refimpl sctp_indata.c: multiple fast retransmit, marker TSN",
    ),
    (
        "fast_recovery",
        "sctp-refimpl sctp_indata.c: once per association and window",
    ),
    (
        "fast_retransmit_amount",
        "sctp-refimpl sctp_output.c: all marked chunks",
    ),
    ("sack_delay_ns", "sctp-refimpl: 200 ms"),
    ("sack_every", "sctp-refimpl sctp_indata.c: second packet"),
    (
        "sack_on_gap_closed",
        "sctp-refimpl sctp_indata.c: at once when a gap has just closed",
    ),
    (
        "initial_cwnd_bytes",
        "sctp-refimpl sctp_pcb.c: min(4 MTU, max(2 MTU, 4380))",
    ),
    ("ssthresh_floor_mtus", "sctp-refimpl: 2 MTU"),
    ("byte_counting_limit", "sctp-refimpl 2006: L = 1"),
    ("max_burst", "sctp-refimpl since February 2006: 4"),
    (
        "max_burst_rule",
        "sctp-refimpl: cuts cwnd, raises ssthresh to what it was",
    ),
    (
        "growth_needs_advance",
        "sctp-refimpl sctp_indata.c: needs a cumulative advance",
    ),
    ("window_counts", "sctp-refimpl: user bytes only"),
    ("window_unit", "sctp-refimpl: MTU"),
    (
        "cwnd_overshoot",
        "sctp-refimpl sctp_output.c: tested before each chunk",
    ),
    ("idle_decay", "sctp-refimpl: none"),
    (
        "timeout_marks",
        "sctp-refimpl sctp_timer.c: sent longer ago than the unbounded RTO",
    ),
    ("timeout_rearm", "sctp-refimpl sctp_timer.c: doubles first"),
    (
        "scheduler",
        "sctp-refimpl: a wheel of streams, one message a visit",
    ),
    (
        "nagle",
        "sctp-refimpl: on unless SCTP_NODELAY; signalling sets it",
    ),
    (
        "peer_window_chunk_cost_bytes",
        "sctp-refimpl: 256 B for each chunk",
    ),
    ("send_buffer_bytes", "sctp-refimpl: 128 KiB"),
    (
        "receive_buffer_bytes",
        "sctp-refimpl: 128 * (1024 + sizeof(sockaddr_in6))",
    ),
    ("heartbeat_interval_ns", "sctp-refimpl: 30 s"),
    ("association_max_retransmits", "sctp-refimpl: 10"),
    ("path_max_retransmits", "sctp-refimpl 2006: 4"),
    ("init_max_retransmits", "sctp-refimpl: 8"),
    ("outbound_streams", "sctp-refimpl: 10"),
];

const DCSCTP: &[(&str, &str)] = &[
    ("rto_initial_ns", "dcsctp Options::rto_initial: 500 ms"),
    ("rto_min_ns", "dcsctp Options::rto_min: 400 ms"),
    ("rto_max_ns", "dcsctp Options::rto_max: 60 s"),
    (
        "rto_margin_min_ns",
        "dcsctp Options::min_rtt_variance: 220 ms, of which an eighth is the least RTTVAR, four times",
    ),
    (
        "missing_report_threshold",
        "dcsctp outstanding_data.rs: NUMBER_OF_NACKS_FOR_RETRANSMISSION, 3",
    ),
    (
        "repeat_fast_retransmit",
        "dcsctp outstanding_data.rs: a chunk sent again counts its reports from zero",
    ),
    (
        "fast_recovery",
        "dcsctp retransmission_queue.rs: fast_recovery_exit_tsn",
    ),
    (
        "fast_retransmit_amount",
        "dcsctp socket/data.rs: one packet, whatever cwnd says",
    ),
    (
        "sack_delay_ns",
        "dcsctp Options::delayed_ack_max_timeout: 200 ms, at most half the RTO",
    ),
    (
        "sack_every",
        "dcsctp Options::immediate_sack_under_cwnd_mtus: 10; the first loss takes cwnd below it",
    ),
    (
        "sack_on_gap_closed",
        "dcsctp data_tracker.rs: at once only while a gap exists",
    ),
    (
        "initial_cwnd_bytes",
        "dcsctp Options::cwnd_mtus_initial: 10, of Options::mtu",
    ),
    ("ssthresh_floor_mtus", "dcsctp Options::cwnd_mtus_min: 4"),
    (
        "byte_counting_limit",
        "dcsctp retransmission_queue.rs: min(bytes acked, MTU)",
    ),
    ("max_burst", "dcsctp Options::max_burst: 4"),
    (
        "max_burst_rule",
        "dcsctp socket/context.rs: counts packets, leaves cwnd alone",
    ),
    (
        "cwnd_when_limited",
        "dcsctp retransmission_queue.rs: grows only if within an MTU of full",
    ),
    (
        "growth_needs_advance",
        "dcsctp retransmission_queue.rs: handle_increased_cumulative_tsn_ack",
    ),
    (
        "window_counts",
        "dcsctp outstanding_data.rs: unacked_packet_bytes, headers and padding included",
    ),
    (
        "window_unit",
        "dcsctp retransmission_queue.rs: Options::mtu",
    ),
    (
        "cwnd_overshoot",
        "dcsctp retransmission_queue.rs: what is left of cwnd bounds each chunk",
    ),
    ("idle_decay", "dcsctp: none"),
    ("timeout_marks", "dcsctp outstanding_data.rs: nack_all"),
    (
        "timeout_one_packet",
        "dcsctp retransmission_queue.rs: all that a window of one MTU takes",
    ),
    (
        "timeout_rearm",
        "dcsctp timer.rs: the first restart is not doubled",
    ),
    (
        "scheduler",
        "dcsctp stream_scheduler.rs: round robin by message without interleaving",
    ),
    ("nagle", "dcsctp: none"),
    (
        "mtu_bytes",
        "dcsctp Options::mtu: 1191 bytes above an IP header of 20",
    ),
    (
        "send_buffer_bytes",
        "dcsctp Options::max_send_buffer_size: 2,000,000",
    ),
    (
        "receive_buffer_bytes",
        "dcsctp Options::max_receiver_window_buffer_size: 5 MiB",
    ),
    (
        "heartbeat_interval_ns",
        "dcsctp Options::heartbeat_interval: 30 s",
    ),
    (
        "association_max_retransmits",
        "dcsctp Options::max_retransmissions: 10",
    ),
    (
        "path_max_retransmits",
        "dcsctp: one path, given up with the association",
    ),
    (
        "init_max_retransmits",
        "dcsctp Options::max_init_retransmits: 8",
    ),
];

const LOW_DELAY: &[(&str, &str)] = &[
    (
        "rto_min_ns",
        "RFC 8985, section 1: clock granularity of 1 ms; rto_margin_min_ns bounds it",
    ),
    (
        "rto_margin_min_ns",
        "RFC 9260, section 6.2: the longest delay of a SACK; Linux TCP has the same floor",
    ),
    ("time_loss_detection", "RFC 8985, section 6"),
    ("tail_loss_probe", "RFC 8985, section 7"),
    ("early_retransmit", "RFC 5827, section 3"),
    ("immediate_sack_on_burst_end", "RFC 7053, section 4"),
];

/// rmem_default of a 2.6 kernel on 32 bits: 256 * (176 + 256), "about 108 KiB".
const LKSCTP_BUFFER_BYTES: u32 = 256 * (176 + 256);

fn lksctp() -> Config {
    Config {
        rto_initial: Duration::from_secs(3),
        fast_recovery: false,
        sack_bundling: SackBundling::WhileUnread,
        sack_on_gap_closed: false,
        initial_cwnd_bytes: 4380,
        max_burst_rule: MaxBurstRule::Permanent,
        growth_needs_advance: true,
        window_counts: WindowCounts::Payload,
        window_unit: WindowUnit::Mtu,
        cwnd_overshoot: CwndOvershoot::Chunk,
        idle_decay: IdleDecay::AtHeartbeat,
        timeout_one_packet: false,
        timeout_rearm: TimeoutRearm::Undoubled,
        send_buffer_bytes: LKSCTP_BUFFER_BYTES,
        receive_buffer_bytes: LKSCTP_BUFFER_BYTES,
        ..Config::default()
    }
}

fn freebsd() -> Config {
    Config {
        rto_initial: Duration::from_secs(3),
        rto_formula: RtoFormula::Freebsd2006,
        repeat_fast_retransmit: RepeatFastRetransmit::Qualified,
        fast_retransmit_amount: FastRetransmitAmount::AllMarked,
        initial_cwnd_bytes: 4380,
        ssthresh_floor_mtus: 2,
        max_burst_rule: MaxBurstRule::PermanentRaisingSsthresh,
        growth_needs_advance: true,
        window_counts: WindowCounts::Payload,
        window_unit: WindowUnit::Mtu,
        cwnd_overshoot: CwndOvershoot::Chunk,
        idle_decay: IdleDecay::Never,
        timeout_marks: TimeoutMarks::OlderThanEstimate,
        scheduler: Scheduler::RoundRobin,
        peer_window_chunk_cost_bytes: 256,
        send_buffer_bytes: 128 * 1024,
        receive_buffer_bytes: 128 * (1024 + 28),
        path_max_retransmits: 4,
        outbound_streams: 10,
        ..Config::default()
    }
}

/// The SCTP of WebRTC's data channels with its own defaults, as far as knobs
/// express it. `docs/interop.md` says what they do not express.
fn dcsctp() -> Config {
    /// `Options::mtu`, which counts no IP header.
    const MTU_BYTES: u32 = 1191;
    Config {
        rto_initial: Duration::from_millis(500),
        rto_min: Duration::from_millis(400),
        rto_margin_min: Duration::from_millis(4 * 220 / 8),
        repeat_fast_retransmit: RepeatFastRetransmit::Unqualified,
        sack_every: 1,
        sack_on_gap_closed: false,
        initial_cwnd_bytes: 10 * MTU_BYTES,
        growth_needs_advance: true,
        window_unit: WindowUnit::Mtu,
        cwnd_overshoot: CwndOvershoot::Chunk,
        idle_decay: IdleDecay::Never,
        timeout_one_packet: false,
        timeout_rearm: TimeoutRearm::Undoubled,
        scheduler: Scheduler::RoundRobin,
        mtu_bytes: MTU_BYTES + 20,
        send_buffer_bytes: 2_000_000,
        receive_buffer_bytes: 5 * 1024 * 1024,
        path_max_retransmits: 10,
        ..Config::default()
    }
}

/// RFC 9260 with a sender that finds losses as soon as it safely can. Any peer
/// tolerates it: nothing on the wire is new.
fn low_delay() -> Config {
    Config {
        rto_min: Duration::from_millis(1),
        rto_margin_min: Duration::from_millis(200),
        time_loss_detection: true,
        tail_loss_probe: true,
        early_retransmit: true,
        immediate_sack_on_burst_end: true,
        ..Config::default()
    }
}

impl Config {
    /// The settings of a named profile.
    ///
    /// # Errors
    /// Where there is no profile of this name.
    pub fn profile(name: &str) -> Result<Self, UnknownProfile> {
        match name {
            "rfc9260" => Ok(Self::default()),
            "lksctp-2.6.11" => Ok(Self {
                missing_report_threshold: 4,
                repeat_fast_retransmit: RepeatFastRetransmit::Unqualified,
                ..lksctp()
            }),
            "lksctp-2.6.18" => Ok(Self {
                missing_report_threshold: 3,
                receive_buffer_bytes: LKSCTP_BUFFER_BYTES / 2,
                ..lksctp()
            }),
            "freebsd-6.1" => Ok(freebsd()),
            "dcsctp" => Ok(dcsctp()),
            "low-delay" => Ok(low_delay()),
            other => Err(UnknownProfile(other.to_owned())),
        }
    }

    /// Every knob of a profile with its value and where that comes from.
    ///
    /// # Errors
    /// Where there is no profile of this name.
    pub fn knobs(profile: &str) -> Result<Vec<Knob>, UnknownProfile> {
        let config = Self::profile(profile)?;
        let sources: &[&[(&str, &str)]] = match profile {
            "lksctp-2.6.11" => &[LKSCTP_2_6_11, BOTH_LKSCTP],
            "lksctp-2.6.18" => &[LKSCTP_2_6_18, BOTH_LKSCTP],
            "freebsd-6.1" => &[FREEBSD_6_1],
            "dcsctp" => &[DCSCTP],
            "low-delay" => &[LOW_DELAY],
            _ => &[],
        };
        let mut knobs = config.lines();
        for knob in &mut knobs {
            let found = sources
                .iter()
                .copied()
                .flatten()
                .find(|(name, _)| *name == knob.name);
            if let Some((_, source)) = found {
                knob.source = source;
            }
        }
        Ok(knobs)
    }
}
