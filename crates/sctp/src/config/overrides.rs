//! Single knobs laid over a profile, as a study file names them.

use headway_sansio::Duration;
use serde::Deserialize;

use super::{
    Config, CwndOvershoot, CwndWhenLimited, FastRetransmitAmount, IdleDecay, Knob, MaxBurstRule,
    RepeatFastRetransmit, RtoFormula, SackBundling, Scheduler, TimeoutMarks, TimeoutRearm,
    WindowCounts, WindowUnit,
};

/// Makes the struct of optional knobs, its application and the list of all
/// knobs from one table, so that the three cannot differ.
macro_rules! knobs {
    ($($field:ident $name:ident: $kind:ty, $from:expr, $to:expr, $rfc:literal;)*) => {
        /// Knobs that a study sets over a profile; what is left out keeps the
        /// profile's value. Each is described at the field of [`Config`] of the
        /// same name without its unit.
        #[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Overrides {
            $(#[doc = concat!("Sets [`Config::", stringify!($field), "`].")]
            pub $name: Option<$kind>,)*
        }

        impl Overrides {
            /// Lays these knobs over `config`.
            pub fn apply(&self, config: &mut Config) {
                $(if let Some(value) = self.$name { config.$field = $from(value); })*
            }
        }

        impl Config {
            /// All knobs with their values, each with the source of its default.
            pub(super) fn lines(&self) -> Vec<Knob> {
                vec![$(Knob {
                    name: stringify!($name),
                    value: shown(&$to(self.$field)),
                    source: $rfc,
                },)*]
            }
        }
    };
}

fn same<T>(value: T) -> T {
    value
}

/// Enumerations in the spelling of study files, numbers as they are.
fn shown<T: core::fmt::Debug>(value: &T) -> String {
    let mut out = String::new();
    for character in format!("{value:?}").chars() {
        if character.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

knobs! {
    rto_initial rto_initial_ns: u64, Duration::from_nanos, Duration::as_nanos,
        "RFC 9260, section 16";
    rto_min rto_min_ns: u64, Duration::from_nanos, Duration::as_nanos, "RFC 9260, section 16";
    rto_max rto_max_ns: u64, Duration::from_nanos, Duration::as_nanos, "RFC 9260, section 16";
    rto_formula rto_formula: RtoFormula, same, same, "RFC 9260, section 6.3.1";
    rto_margin_min rto_margin_min_ns: u64, Duration::from_nanos, Duration::as_nanos,
        "RFC 9260, section 6.3.1 (none)";
    time_loss_detection time_loss_detection: bool, same, same, "RFC 9260, section 7.2.4 (none)";
    tail_loss_probe tail_loss_probe: bool, same, same, "RFC 9260, section 6.3.2 (none)";
    early_retransmit early_retransmit: bool, same, same, "RFC 9260, section 7.2.4 (none)";
    immediate_sack_on_burst_end immediate_sack_on_burst_end: bool, same, same,
        "RFC 9260, section 6.1: the sender's choice";
    missing_report_threshold missing_report_threshold: u8, same, same, "RFC 9260, section 7.2.4";
    repeat_fast_retransmit repeat_fast_retransmit: RepeatFastRetransmit, same, same,
        "RFC 9260, section 7.2.4";
    fast_recovery fast_recovery: bool, same, same, "RFC 9260, section 7.2.4";
    fast_retransmit_amount fast_retransmit_amount: FastRetransmitAmount, same, same,
        "RFC 9260, section 7.2.4";
    sack_delay sack_delay_ns: u64, Duration::from_nanos, Duration::as_nanos,
        "RFC 9260, section 16";
    sack_every sack_every: u32, same, same, "RFC 9260, section 6.2";
    sack_bundling sack_bundling: SackBundling, same, same, "RFC 9260, section 6.1";
    sack_on_gap_closed sack_on_gap_closed: bool, same, same, "RFC 5681, section 4.2";
    initial_cwnd_bytes initial_cwnd_bytes: u32, same, same, "RFC 9260, section 7.2.1 (0: formula)";
    ssthresh_floor_mtus ssthresh_floor_mtus: u32, same, same, "RFC 9260, section 7.2.3";
    byte_counting_limit byte_counting_limit: u32, same, same, "RFC 9260, section 7.2.1";
    max_burst max_burst: u32, same, same, "RFC 9260, section 16";
    max_burst_rule max_burst_rule: MaxBurstRule, same, same, "RFC 9260, section 6.1, rule D";
    cwnd_when_limited cwnd_when_limited: CwndWhenLimited, same, same, "RFC 9260, section 7.2.1";
    growth_needs_advance growth_needs_advance: bool, same, same, "RFC 9260, section 7.2.1";
    window_counts window_counts: WindowCounts, same, same, "RFC 9260, section 7.2";
    window_unit window_unit: WindowUnit, same, same, "RFC 9260, section 7.2.1";
    cwnd_overshoot cwnd_overshoot: CwndOvershoot, same, same, "RFC 9260, section 6.1, rule B";
    idle_decay idle_decay: IdleDecay, same, same, "RFC 9260, section 7.2.1";
    timeout_marks timeout_marks: TimeoutMarks, same, same, "RFC 9260, section 6.3.3";
    timeout_one_packet timeout_one_packet: bool, same, same, "RFC 9260, section 7.2.3";
    timeout_rearm timeout_rearm: TimeoutRearm, same, same, "RFC 9260, section 6.3.3";
    scheduler scheduler: Scheduler, same, same, "the implementation's choice";
    interleaving interleaving: bool, same, same, "RFC 8260, section 2.2.1: the user's choice";
    partial_reliability partial_reliability: bool, same, same,
        "RFC 3758, section 4.2: the user's choice";
    reconfiguration reconfiguration: bool, same, same, "RFC 6525, section 5: the user's choice";
    nagle nagle: bool, same, same, "RFC 9260, section 6.1: the user's choice";
    mtu_bytes mtu_bytes: u32, same, same, "Ethernet";
    ip_header_bytes ip_header_bytes: u32, same, same, "RFC 791";
    send_buffer_bytes send_buffer_bytes: u32, same, same, "the implementation's choice";
    receive_buffer_bytes receive_buffer_bytes: u32, same, same, "the implementation's choice";
    peer_window_chunk_cost_bytes peer_window_chunk_cost_bytes: u32, same, same,
        "RFC 9260, section 6.2.1, rule B";
    heartbeat_interval heartbeat_interval_ns: u64, Duration::from_nanos, Duration::as_nanos,
        "RFC 9260, section 16";
    association_max_retransmits association_max_retransmits: u32, same, same,
        "RFC 9260, section 16";
    path_max_retransmits path_max_retransmits: u32, same, same, "RFC 9260, section 16";
    init_max_retransmits init_max_retransmits: u32, same, same, "RFC 9260, section 16";
    shutdown_guard shutdown_guard_ns: u64, Duration::from_nanos, Duration::as_nanos,
        "RFC 9260, section 9.2";
    cookie_lifetime cookie_lifetime_ns: u64, Duration::from_nanos, Duration::as_nanos,
        "RFC 9260, section 16";
    outbound_streams outbound_streams: u16, same, same, "the implementation's choice";
    inbound_streams inbound_streams: u16, same, same, "the implementation's choice";
}
