//! Where each value of each profile comes from. What a profile does not name it
//! takes from `rfc`.
//!
//! "source" means the released source of that kernel, read file by file; "paper"
//! is seed 4, the study of TCP's delay for real-time media.

use super::Profile;

type Lines = &'static [(&'static str, &'static str)];

/// The source of one knob's value in a profile.
pub(super) fn source(profile: Profile, knob: &str) -> &'static str {
    chain(profile)
        .iter()
        .flat_map(|lines| lines.iter())
        .find(|(name, _)| *name == knob)
        .map_or("", |(_, source)| source)
}

/// A profile's own lines, and then those that it builds on.
pub(super) fn chain(profile: Profile) -> &'static [Lines] {
    match profile {
        Profile::Rfc => &[RFC],
        Profile::ModelSeed4 => &[MODEL_SEED4, RFC],
        Profile::Linux2611 => &[LINUX_2_6_11, RFC],
        Profile::Linux2617 => &[LINUX_2_6_17, LINUX_2_6_11, RFC],
        Profile::Freebsd61 => &[FREEBSD_6_1, RFC],
        Profile::Linux6 => &[LINUX_6, LINUX_2_6_11, RFC],
    }
}

const RFC: Lines = &[
    (
        "mss_bytes",
        "RFC 9293, 3.7.1: 1500 bytes of Ethernet less 40 of headers",
    ),
    ("window_scale", "RFC 7323, 2"),
    (
        "timestamps",
        "RFC 7323: optional; off, so that nothing depends on its clock",
    ),
    ("timestamp_tick_ns", "RFC 7323, 5.4: 1 ms to 1 s"),
    ("sack", "RFC 2018"),
    ("dsack", "RFC 2883"),
    (
        "send_buffer_bytes",
        "not in any RFC: large enough not to matter",
    ),
    (
        "receive_buffer_bytes",
        "not in any RFC: large enough not to matter",
    ),
    ("nagle", "RFC 9293, 3.7.4: should be on"),
    (
        "coalesce",
        "RFC 9293, 3.9.1.2: data may be combined unless pushed",
    ),
    (
        "retransmit_merge",
        "RFC 9293, 3.8.1: allowed, not asked for",
    ),
    ("initial_window_segments", "RFC 5681, 3.1, after RFC 3390"),
    (
        "initial_ssthresh_segments",
        "RFC 5681, 3.1: arbitrarily high",
    ),
    ("congestion_control", "RFC 5681"),
    ("hystart", "not in RFC 5681"),
    ("slow_start_at_ssthresh", "RFC 5681, 3.1: either way"),
    ("window_unit", "RFC 5681, 2: bytes"),
    (
        "growth_counting",
        "RFC 5681, 3.1: recommended, after RFC 3465",
    ),
    (
        "byte_counting_limit_segments",
        "RFC 5681, 3.1, equation 2: at most one SMSS",
    ),
    ("window_when_limited", "RFC 5681 says nothing against it"),
    ("validation", "RFC 2861 and 7661 are experimental"),
    ("idle_restart", "RFC 5681, 4.1: should"),
    ("ssthresh_basis", "RFC 5681, 3.1, equation 4"),
    ("max_burst_segments", "RFC 5681 sets no limit"),
    (
        "moderation_segments",
        "RFC 6582, 3.2: encouraged, left open",
    ),
    ("recovery", "RFC 6675"),
    ("sack_detection", "RFC 6675, 4: IsLost"),
    ("duplicate_threshold", "RFC 5681, 3.2; RFC 6675, 2"),
    ("reduction", "RFC 6675, 5, step 4.2"),
    ("window_inflation", "RFC 5681, 3.2, steps 3 and 4"),
    (
        "limited_transmit",
        "RFC 5681, 3.2, step 1, after RFC 3042: should",
    ),
    (
        "restart_timer_on_partial_acks",
        "RFC 6582, 3.2: the first only",
    ),
    (
        "rescue_retransmission",
        "RFC 6675, 4, NextSeg rule 4: should",
    ),
    ("detect_lost_retransmissions", "not in RFC 6675"),
    ("head_timeout", "not in RFC 6298"),
    ("undo_dsack", "RFC 3708 is experimental"),
    ("undo_timestamps", "RFC 3522 is experimental"),
    ("undo_early_ack", "not in any RFC"),
    ("frto", "RFC 5682: optional"),
    (
        "keep_sack_after_timeout",
        "RFC 6675, 5.1: should use what was SACKed",
    ),
    ("tail_loss_probe", "RFC 8985: with RACK only"),
    (
        "probe_ack_delay_ns",
        "RFC 8985, 7.2: TLP.max_ack_delay, as the delayed ACK",
    ),
    ("rto_form", "RFC 6298, 2"),
    ("rto_initial_ns", "RFC 6298, 2.1: 1 s"),
    ("rto_min_ns", "RFC 6298, 2.4: 1 s"),
    ("rto_max_ns", "RFC 6298, 2.5: at least 60 s"),
    ("rto_slop_ns", "not in RFC 6298"),
    ("rto_rtt_multiple", "not in RFC 6298"),
    ("rto_backoff_limit", "RFC 6298, 5.5: none but the maximum"),
    ("clock_granularity_ns", "RFC 6298, 4: 100 ms or finer"),
    ("rtt_sampling", "RFC 6298, 3: at least one in a round trip"),
    (
        "max_retransmissions",
        "RFC 9293, 3.8.3: R2 is the user's; never",
    ),
    ("time_wait_ns", "RFC 9293, 3.4.2: twice 2 minutes"),
    (
        "ack_policy",
        "RFC 5681, 4.2: every second full-sized segment",
    ),
    (
        "ack_delay_ns",
        "RFC 5681, 4.2: below 500 ms; 200 ms as BSD made usual",
    ),
    ("ack_delay_min_ns", "not in any RFC; adaptive policy only"),
    ("ack_every_segments", "RFC 5681, 4.2: two"),
    ("quick_acks", "not in any RFC"),
    ("ack_on_drain", "not in any RFC"),
    ("ack_gap_at_once", "RFC 5681, 4.2: should"),
    ("window_update", "RFC 9293, 3.8.6.2.2"),
];

const MODEL_SEED4: Lines = &[
    (
        "mss_bytes",
        "paper, 3: 1448 bytes of payload, no options counted",
    ),
    ("nagle", "paper, 8.1: disabled"),
    ("initial_window_segments", "paper, 8.1: four segments"),
    (
        "slow_start_at_ssthresh",
        "paper, Table 2: slow start where w <= r/2",
    ),
    ("window_unit", "paper, 3: the window counts segments"),
    ("growth_counting", "paper, 8.1: byte counting off"),
    (
        "window_when_limited",
        "paper, 3 and Table 6: no growth while application-limited",
    ),
    ("idle_restart", "paper, 8.1: window validation off"),
    (
        "ssthresh_basis",
        "paper, Table 6: (w + 3)/2, and (r + 3)/2 while application-limited",
    ),
    (
        "sack_detection",
        "paper, Table 6: three later segments show all losses at once",
    ),
    ("rto_form", "paper, equation 5: T0 of about 4 RTT"),
    ("rto_rtt_multiple", "paper, equation 5: 4"),
    (
        "rto_max_ns",
        "paper, equation 5: no bound but the back-off's",
    ),
    ("rto_backoff_limit", "paper, equation 5: up to 64 T0"),
    ("rtt_sampling", "T0 follows the round-trip time at once"),
    ("ack_policy", "paper, 4: delayed ACKs are left out"),
];

const LINUX_2_6_11: Lines = &[
    ("timestamps", "source: sysctl_tcp_timestamps = 1"),
    ("timestamp_tick_ns", "source: jiffies at HZ 1000"),
    ("send_buffer_bytes", "source: tcp_wmem default 16 kB"),
    ("receive_buffer_bytes", "source: tcp_rmem default 87380"),
    ("nagle", "source: tcp_minshall_check, unless TCP_NODELAY"),
    (
        "coalesce",
        "source: tcp_sendmsg fills the last waiting segment",
    ),
    (
        "retransmit_merge",
        "source: tcp_retrans_try_collapse, first below MSS/2",
    ),
    (
        "initial_window_segments",
        "source: tcp_init_cwnd, the segments of RFC 3390",
    ),
    ("congestion_control", "source: tcp_bic = 1"),
    (
        "slow_start_at_ssthresh",
        "source: tcp_cong_avoid, cwnd <= ssthresh",
    ),
    ("window_unit", "source: snd_cwnd counts segments"),
    (
        "growth_counting",
        "source: one step an ACK; byte counting came later",
    ),
    (
        "window_when_limited",
        "source: tcp_cong_avoid needs in_flight >= cwnd",
    ),
    (
        "validation",
        "source: tcp_cwnd_validate, always on; the paper says off",
    ),
    ("idle_restart", "source: tcp_cwnd_restart"),
    ("ssthresh_basis", "source: tcp_recalc_ssthresh, cwnd/2"),
    (
        "moderation_segments",
        "source: tcp_moderate_cwnd on doubtful ACKs and after recovery, tcp_max_burst = 3",
    ),
    ("recovery", "source: sysctl_tcp_sack = 1"),
    (
        "sack_detection",
        "source: sysctl_tcp_fack = 1, fackets_out > reordering",
    ),
    (
        "duplicate_threshold",
        "source: sysctl_tcp_reordering = 3, not adapted here",
    ),
    ("reduction", "source: tcp_cwnd_down"),
    (
        "limited_transmit",
        "source: a SACKed segment leaves in_flight",
    ),
    ("rescue_retransmission", "source: none"),
    (
        "detect_lost_retransmissions",
        "source: tcp_sacktag_write_queue, lost_retrans",
    ),
    ("head_timeout", "source: tcp_head_timedout"),
    ("undo_dsack", "source: tcp_try_undo_dsack"),
    ("undo_timestamps", "source: tcp_packet_delayed"),
    ("rto_form", "source: tcp_rtt_estimator, tcp_set_rto"),
    ("rto_initial_ns", "source: TCP_TIMEOUT_INIT = 3 s"),
    (
        "rto_min_ns",
        "source: TCP_RTO_MIN = 200 ms, floor of the variance",
    ),
    ("rto_max_ns", "source: TCP_RTO_MAX = 120 s"),
    ("clock_granularity_ns", "source: jiffies at HZ 1000"),
    ("rtt_sampling", "source: tcp_ack_update_rtt on every ACK"),
    ("max_retransmissions", "source: TCP_RETR2 = 15"),
    ("time_wait_ns", "source: TCP_TIMEWAIT_LEN = 60 s"),
    (
        "ack_policy",
        "source: __tcp_ack_snd_check, tcp_send_delayed_ack",
    ),
    ("ack_delay_ns", "source: TCP_DELACK_MAX = 200 ms"),
    ("ack_delay_min_ns", "source: TCP_DELACK_MIN = 40 ms"),
    ("quick_acks", "source: TCP_MAX_QUICKACKS = 16"),
    ("ack_on_drain", "source: cleanup_rbuf, TCP_ACK_PUSHED"),
    (
        "window_update",
        "source: cleanup_rbuf, at least twice the window",
    ),
];

const LINUX_2_6_17: Lines = &[
    (
        "growth_counting",
        "source: tcp_abc = 1 when introduced in 2.6.15 and 0 in 2.6.18, so most likely on; the paper says off",
    ),
    ("byte_counting_limit_segments", "source: tcp_abc = 1"),
];

const FREEBSD_6_1: Lines = &[
    ("timestamps", "source of 6.2: tcp_do_rfc1323 = 1"),
    ("timestamp_tick_ns", "source of 6.2: ticks at HZ 1000"),
    ("dsack", "source of 6.2: not sent"),
    ("send_buffer_bytes", "source of 6.2: tcp_sendspace 32 kB"),
    ("receive_buffer_bytes", "source of 6.2: tcp_recvspace 64 kB"),
    (
        "retransmit_merge",
        "source of 6.2: tcp_output cuts segments anew",
    ),
    (
        "initial_window_segments",
        "source of 6.2: tcp_do_rfc3390 = 1, host cache empty",
    ),
    (
        "slow_start_at_ssthresh",
        "source of 6.2: congestion avoidance where cwnd > ssthresh",
    ),
    ("window_unit", "source of 6.2: snd_cwnd counts bytes"),
    ("growth_counting", "source of 6.2: one step an ACK"),
    ("window_when_limited", "source of 6.2: no test of use"),
    ("idle_restart", "source of 6.2: tcp_output, ss_fltsz = 1"),
    (
        "ssthresh_basis",
        "source of 6.2: half of min(snd_wnd, snd_cwnd)",
    ),
    ("max_burst_segments", "source of 6.2: TCP_MAXBURST 4"),
    ("recovery", "source of 6.2: net.inet.tcp.sack.enable = 1"),
    (
        "sack_detection",
        "source of 6.2: tcp_sack.c, holes in order after three duplicates",
    ),
    (
        "reduction",
        "source of 6.2: tcp_input and tcp_sack_partialack",
    ),
    ("limited_transmit", "source of 6.2: tcp_do_rfc3042 = 1"),
    (
        "restart_timer_on_partial_acks",
        "source of 6.2: every ACK of new data",
    ),
    ("rescue_retransmission", "source of 6.2: none"),
    ("undo_early_ack", "source of 6.2: t_badrxtwin"),
    (
        "keep_sack_after_timeout",
        "source of 6.2: tcp_timer_rexmt frees the holes",
    ),
    (
        "rto_form",
        "source of 6.2: TCPT_RANGESET with tcp_rexmit_slop",
    ),
    ("rto_initial_ns", "source of 6.2: TCPTV_RTOBASE 3 s"),
    ("rto_min_ns", "source of 6.2: three ticks at HZ 1000"),
    ("rto_max_ns", "source of 6.2: TCPTV_REXMTMAX 64 s"),
    ("rto_slop_ns", "source of 6.2: tcp_rexmit_slop 200 ms"),
    (
        "rtt_sampling",
        "source of 6.2: one segment, or each ACK with timestamps",
    ),
    ("max_retransmissions", "source of 6.2: TCP_MAXRXTSHIFT 12"),
    ("time_wait_ns", "source of 6.2: twice tcp_msl of 30 s"),
    (
        "ack_policy",
        "source of 6.2: DELAY_ACK, every second segment",
    ),
    (
        "ack_delay_ns",
        "source of 6.2: TCPTV_DELACK, hz/5/2; seed 3 says 200 ms",
    ),
    (
        "window_update",
        "source of 6.2: tcp_output, two segments or half the buffer",
    ),
];

const LINUX_6: Lines = &[
    (
        "receive_buffer_bytes",
        "ip-sysctl documentation: tcp_rmem default 131072, without autotuning",
    ),
    (
        "retransmit_merge",
        "source of 6.8: tcp_retrans_try_collapse takes all that fit",
    ),
    (
        "initial_window_segments",
        "source of 6.8: TCP_INIT_CWND 10 (RFC 6928)",
    ),
    (
        "congestion_control",
        "source of 6.8: CUBIC; beta 717/1024 taken as 0.7",
    ),
    ("hystart", "source of 6.8: tcp_cubic.c, hystart = 1"),
    (
        "slow_start_at_ssthresh",
        "source of 6.8: tcp_in_slow_start, cwnd < ssthresh",
    ),
    (
        "growth_counting",
        "source of 6.8: tcp_slow_start(acked) in segments",
    ),
    ("window_when_limited", "source of 6.8: tcp_is_cwnd_limited"),
    (
        "validation",
        "source of 6.8: tcp_cwnd_validate with slow_start_after_idle = 1",
    ),
    ("recovery", "source of 6.8: tcp_recovery = 1 (RFC 8985)"),
    (
        "sack_detection",
        "source of 6.8: FACK is gone; RACK decides",
    ),
    (
        "reduction",
        "source of 6.8: tcp_cwnd_reduction (RFC 6937, PRR-SSRB)",
    ),
    (
        "moderation_segments",
        "source of 6.8: recovery ends at ssthresh",
    ),
    ("detect_lost_retransmissions", "source of 6.8: RACK does it"),
    ("head_timeout", "source of 6.8: gone"),
    ("frto", "source of 6.8: tcp_frto = 2"),
    ("tail_loss_probe", "source of 6.8: tcp_early_retrans = 3"),
    (
        "probe_ack_delay_ns",
        "source of 6.8: tcp_rto_min of 200 ms for one segment",
    ),
    ("rto_initial_ns", "source of 6.8: TCP_TIMEOUT_INIT = 1 s"),
    (
        "ack_policy",
        "source of 6.8: as 2.6; SACK compression is left out",
    ),
];
