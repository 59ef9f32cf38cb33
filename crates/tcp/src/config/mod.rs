//! The knobs of a connection: each mechanism that delays or hurries a byte.

mod kinds;
mod profile;

pub use kinds::{
    AckPolicy, CongestionControl, GrowthCounting, IdleRestart, Nagle, Recovery, Reduction,
    RetransmitMerge, RtoForm, RttSampling, SackDetection, SsthreshBasis, Validation, WindowUnit,
    WindowUpdate, WindowWhenLimited,
};
pub use profile::{Line, Profile};

use serde::{Deserialize, Serialize};

/// Declares the knobs once, for [`Config`], [`Overrides`] and the lists.
macro_rules! knobs {
    ($($(#[$meta:meta])* $name:ident: $kind:ty),* $(,)?) => {
        /// All knobs of one connection. The defaults follow the RFCs
        /// ([`Profile::Rfc`]).
        #[derive(Clone, PartialEq, Debug)]
        pub struct Config { $($(#[$meta])* pub $name: $kind),* }

        /// Single knobs laid over a profile; what is left out stays.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Overrides {
            $(
                $(#[$meta])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<$kind>
            ),*
        }

        impl Overrides {
            /// Puts the knobs that are named here into `config`.
            pub fn apply(&self, config: &mut Config) {
                $(if let Some(value) = &self.$name { config.$name.clone_from(value); })*
            }
        }

        impl Config {
            /// The names of all knobs, in the order of their declaration.
            pub const KNOBS: &'static [&'static str] = &[$(stringify!($name)),*];

            /// All knobs as overrides: what a result file keeps of a run.
            #[must_use]
            pub fn to_overrides(&self) -> Overrides {
                Overrides { $($name: Some(self.$name.clone())),* }
            }

            /// The values of all knobs as text, in the order of [`Config::KNOBS`].
            pub(crate) fn values(&self) -> Vec<String> {
                vec![$(spelled(&format!("{:?}", self.$name))),*]
            }
        }
    };
}

knobs! {
    // ---- segments and buffers
    /// Largest TCP payload without options that this side takes, announced to
    /// the peer. The MSS in use is the smaller one of both sides, less 12 bytes
    /// where timestamps are on (RFC 9293, section 3.7.1; RFC 6691).
    mss_bytes: u32,
    /// Offer window scaling (RFC 7323, section 2).
    window_scale: bool,
    /// Offer timestamps (RFC 7323, section 3).
    timestamps: bool,
    /// Length of a tick of the timestamp clock; round-trip times from
    /// timestamps are whole ticks.
    timestamp_tick_ns: u64,
    /// Offer SACK (RFC 2018).
    sack: bool,
    /// Report duplicates in the first SACK block (RFC 2883).
    dsack: bool,
    /// Bytes that were written and not yet acknowledged; more are refused.
    send_buffer_bytes: u64,
    /// Bytes received and not read, and the largest window offered.
    receive_buffer_bytes: u64,

    // ---- what becomes a segment
    /// When short segments wait.
    nagle: Nagle,
    /// Put several waiting writes into one segment, up to the MSS. Off: a
    /// segment never crosses the end of a write.
    coalesce: bool,
    /// How retransmissions are put together anew.
    retransmit_merge: RetransmitMerge,

    // ---- congestion window
    /// Initial window in segments; 0 takes RFC 3390's min(4 MSS, max(2 MSS,
    /// 4380 bytes)).
    initial_window_segments: u32,
    /// Slow-start threshold at the start, as inherited from an earlier
    /// connection; 0 is none.
    initial_ssthresh_segments: u32,
    /// The function by which the window grows.
    congestion_control: CongestionControl,
    /// Leave slow start when delays rise (Ha and Rhee 2008, Linux with CUBIC).
    hystart: bool,
    /// A window equal to ssthresh still grows as in slow start (Linux 2.6, BSD;
    /// RFC 5681, section 3.1, leaves it open).
    slow_start_at_ssthresh: bool,
    /// What the window is counted in.
    window_unit: WindowUnit,
    /// What makes it grow.
    growth_counting: GrowthCounting,
    /// L of RFC 3465: the most segments by which one ACK lets the window grow
    /// in slow start. After a timeout it is 1 (section 2.3).
    byte_counting_limit_segments: u32,
    /// Growth while the application leaves the window unfilled.
    window_when_limited: WindowWhenLimited,
    /// Shrinking while it leaves it unfilled.
    validation: Validation,
    /// The window after an idle time.
    idle_restart: IdleRestart,
    /// What ssthresh is half of.
    ssthresh_basis: SsthreshBasis,
    /// Most new segments sent in response to one ACK or write; 0 is no limit.
    max_burst_segments: u32,
    /// While ACKs show a gap, in the repair after a timeout, and after recovery,
    /// keep the window to what is in flight and this many segments more; 0 is no
    /// limit (Linux 2.6, `tcp_moderate_cwnd`).
    moderation_segments: u32,

    // ---- recovery
    /// The way of fast recovery.
    recovery: Recovery,
    /// How SACK finds losses.
    sack_detection: SackDetection,
    /// Duplicate ACKs, or SACKed segments, that show a loss (RFC 5681: 3).
    duplicate_threshold: u32,
    /// How the window falls.
    reduction: Reduction,
    /// Inflate the window for each duplicate ACK of a recovery without SACK
    /// (RFC 5681, section 3.2, steps 3 and 4).
    window_inflation: bool,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    limited_transmit: bool,
    /// Restart the retransmission timer on every partial ACK instead of on the
    /// first (RFC 6582, section 4: slow-but-steady, or impatient).
    restart_timer_on_partial_acks: bool,
    /// One retransmission of the last segment where recovery would stall (RFC
    /// 6675, section 4, rule 4).
    rescue_retransmission: bool,
    /// A retransmission is lost when something sent after it was SACKed (Linux
    /// with FACK).
    detect_lost_retransmissions: bool,
    /// Begin recovery when the oldest segment has waited for an RTO, though the
    /// timer was restarted (Linux 2.6).
    head_timeout: bool,
    /// Take a reduction back when D-SACK shows that every retransmission was
    /// needless (RFC 3708, Linux).
    undo_dsack: bool,
    /// Take it back when the echoed timestamp is older than the first
    /// retransmission (RFC 3522, Linux).
    undo_timestamps: bool,
    /// Take a timeout back when an ACK comes within SRTT/2 of it (BSD).
    undo_early_ack: bool,
    /// Find needless timeouts by sending new data after them (RFC 5682).
    frto: bool,
    /// Keep what was SACKed across a timeout (RFC 6675, section 5.1); off: forget
    /// it (RFC 2018, section 8).
    keep_sack_after_timeout: bool,
    /// Tail loss probes, with `rack-tlp` only (RFC 8985, section 7).
    tail_loss_probe: bool,
    /// Added to the probe timeout where one segment is in flight (RFC 8985,
    /// `TLP.max_ack_delay`).
    probe_ack_delay_ns: u64,

    // ---- timeouts
    /// How the RTO follows from round-trip times.
    rto_form: RtoForm,
    /// RTO before the first round-trip time is known.
    rto_initial_ns: u64,
    /// Lower bound of the RTO, or of its variance term (`linux`).
    rto_min_ns: u64,
    /// Upper bound of the RTO, back-off included.
    rto_max_ns: u64,
    /// Added to the RTO (`freebsd`).
    rto_slop_ns: u64,
    /// Round-trip times in one RTO (`rtt-multiple`).
    rto_rtt_multiple: u32,
    /// Most doublings of the RTO; beyond them it stays.
    rto_backoff_limit: u32,
    /// Clock granularity G of RFC 6298.
    clock_granularity_ns: u64,
    /// Which round-trip times are taken.
    rtt_sampling: RttSampling,
    /// Timeouts in a row after which the connection is given up (RFC 9293,
    /// section 3.8.3, R2); 0 is never.
    max_retransmissions: u32,
    /// How long a closed connection is remembered: twice the maximum segment
    /// lifetime (RFC 9293, section 3.3.2).
    time_wait_ns: u64,

    // ---- acknowledgements
    /// When data in order is acknowledged.
    ack_policy: AckPolicy,
    /// Longest delay of an ACK.
    ack_delay_ns: u64,
    /// Shortest delay of an ACK (`adaptive`).
    ack_delay_min_ns: u64,
    /// Segments that are acknowledged at the latest together.
    ack_every_segments: u32,
    /// ACKs sent at once at the start of a connection and after a pause
    /// (`adaptive`).
    quick_acks: u32,
    /// Send a waiting ACK when the application has read everything and a short
    /// segment was among it (Linux).
    ack_on_drain: bool,
    /// Acknowledge at once what arrives beyond a gap, into it, or twice (RFC
    /// 5681, section 4.2).
    ack_gap_at_once: bool,
    /// When reading sends an ACK.
    window_update: WindowUpdate,
}

/// The name of a knob's value as studies spell it: kebab case.
fn spelled(debug: &str) -> String {
    let mut name = String::with_capacity(debug.len() + 4);
    for (i, c) in debug.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

impl Default for Config {
    fn default() -> Self {
        Profile::Rfc.config()
    }
}

impl Config {
    /// A profile with single knobs laid over it.
    #[must_use]
    pub fn new(profile: Profile, overrides: &Overrides) -> Self {
        let mut config = profile.config();
        overrides.apply(&mut config);
        config
    }

    /// The initial window in bytes for an MSS.
    #[must_use]
    pub fn initial_window_bytes(&self, mss: u32) -> u64 {
        let mss = u64::from(mss);
        match self.initial_window_segments {
            // RFC 3390, equation 1.
            0 => (4 * mss).min((2 * mss).max(4380)),
            n => u64::from(n) * mss,
        }
    }
}

#[cfg(test)]
mod tests;
