//! Stacks by name: a set of knobs, and where each value comes from.

use serde::{Deserialize, Serialize};

use super::{
    AckPolicy, Config, CongestionControl, GrowthCounting, IdleRestart, Nagle, Recovery, Reduction,
    RetransmitMerge, RtoForm, RttSampling, SackDetection, SsthreshBasis, Validation, WindowUnit,
    WindowUpdate, WindowWhenLimited,
};

mod sources;

/// A stack, or a model of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Profile {
    /// What the RFCs say today, without options that are experimental.
    #[default]
    #[serde(rename = "rfc")]
    Rfc,
    /// The TCP of seed 4's Markov model, mechanism by mechanism.
    #[serde(rename = "model-seed4")]
    ModelSeed4,
    /// Linux 2.6.11.
    #[serde(rename = "linux-2.6.11")]
    Linux2611,
    /// Linux 2.6.17.
    #[serde(rename = "linux-2.6.17")]
    Linux2617,
    /// FreeBSD 6.1.
    #[serde(rename = "freebsd-6.1")]
    Freebsd61,
    /// Linux 6.
    #[serde(rename = "linux-6")]
    Linux6,
}

/// One knob of a profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The knob, as in [`Config::KNOBS`].
    pub knob: &'static str,
    /// Its value.
    pub value: String,
    /// Where the value comes from.
    pub source: &'static str,
}

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;

impl Profile {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Rfc,
        Self::ModelSeed4,
        Self::Linux2611,
        Self::Linux2617,
        Self::Freebsd61,
        Self::Linux6,
    ];

    /// The name in studies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rfc => "rfc",
            Self::ModelSeed4 => "model-seed4",
            Self::Linux2611 => "linux-2.6.11",
            Self::Linux2617 => "linux-2.6.17",
            Self::Freebsd61 => "freebsd-6.1",
            Self::Linux6 => "linux-6",
        }
    }

    /// The profile of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Its knobs.
    #[must_use]
    pub fn config(self) -> Config {
        match self {
            Self::Rfc => rfc(),
            Self::ModelSeed4 => model_seed4(),
            Self::Linux2611 => linux_2_6_11(),
            Self::Linux2617 => linux_2_6_17(),
            Self::Freebsd61 => freebsd_6_1(),
            Self::Linux6 => linux_6(),
        }
    }

    /// Its knobs as data, each with its source.
    #[must_use]
    pub fn lines(self) -> Vec<Line> {
        let values = self.config().values();
        Config::KNOBS
            .iter()
            .zip(values)
            .map(|(knob, value)| Line {
                knob,
                value,
                source: sources::source(self, knob),
            })
            .collect()
    }
}

#[cfg(test)]
impl Profile {
    /// Whether a knob's source is named by the profile, or one that it builds on
    /// other than `rfc`.
    pub(super) fn differs_by_own_source(self, knob: &str) -> bool {
        let chain = sources::chain(self);
        chain[..chain.len() - 1]
            .iter()
            .any(|lines| lines.iter().any(|line| line.0 == knob))
    }

    pub(super) fn source_lines(self) -> &'static [&'static [(&'static str, &'static str)]] {
        sources::chain(self)
    }
}

fn rfc() -> Config {
    Config {
        mss_bytes: 1460,
        window_scale: true,
        timestamps: false,
        timestamp_tick_ns: MILLISECOND,
        sack: true,
        dsack: true,
        send_buffer_bytes: 1 << 20,
        receive_buffer_bytes: 1 << 20,
        nagle: Nagle::On,
        coalesce: true,
        retransmit_merge: RetransmitMerge::Off,
        initial_window_segments: 0,
        initial_ssthresh_segments: 0,
        congestion_control: CongestionControl::Reno,
        hystart: false,
        slow_start_at_ssthresh: false,
        window_unit: WindowUnit::Bytes,
        growth_counting: GrowthCounting::Bytes,
        byte_counting_limit_segments: 1,
        window_when_limited: WindowWhenLimited::Grow,
        validation: Validation::Off,
        idle_restart: IdleRestart::InitialWindow,
        ssthresh_basis: SsthreshBasis::Flight,
        max_burst_segments: 0,
        moderation_segments: 0,
        recovery: Recovery::Sack,
        sack_detection: SackDetection::Rfc6675,
        duplicate_threshold: 3,
        reduction: Reduction::Immediate,
        window_inflation: true,
        limited_transmit: true,
        restart_timer_on_partial_acks: false,
        rescue_retransmission: true,
        detect_lost_retransmissions: false,
        head_timeout: false,
        undo_dsack: false,
        undo_timestamps: false,
        undo_early_ack: false,
        frto: false,
        keep_sack_after_timeout: true,
        tail_loss_probe: false,
        probe_ack_delay_ns: 200 * MILLISECOND,
        rto_form: RtoForm::Rfc6298,
        rto_initial_ns: SECOND,
        rto_min_ns: SECOND,
        rto_max_ns: 60 * SECOND,
        rto_slop_ns: 0,
        rto_rtt_multiple: 4,
        rto_backoff_limit: 16,
        clock_granularity_ns: MILLISECOND,
        rtt_sampling: RttSampling::OnePerFlight,
        max_retransmissions: 0,
        time_wait_ns: 240 * SECOND,
        ack_policy: AckPolicy::DelayedFullSized,
        ack_delay_ns: 200 * MILLISECOND,
        ack_delay_min_ns: 40 * MILLISECOND,
        ack_every_segments: 2,
        quick_acks: 0,
        ack_on_drain: false,
        ack_gap_at_once: true,
        window_update: WindowUpdate::Rfc9293,
    }
}

fn model_seed4() -> Config {
    Config {
        mss_bytes: 1448,
        nagle: Nagle::Off,
        initial_window_segments: 4,
        slow_start_at_ssthresh: true,
        window_unit: WindowUnit::Segments,
        growth_counting: GrowthCounting::Acks,
        window_when_limited: WindowWhenLimited::Keep,
        idle_restart: IdleRestart::Off,
        ssthresh_basis: SsthreshBasis::Outstanding,
        sack_detection: SackDetection::Fack,
        rto_form: RtoForm::RttMultiple,
        rto_backoff_limit: 6,
        rto_max_ns: 3600 * SECOND,
        rtt_sampling: RttSampling::EveryAck,
        ack_policy: AckPolicy::Immediate,
        ..rfc()
    }
}

fn linux_2_6_11() -> Config {
    Config {
        timestamps: true,
        send_buffer_bytes: 16_384,
        receive_buffer_bytes: 87_380,
        nagle: Nagle::Minshall,
        retransmit_merge: RetransmitMerge::One,
        congestion_control: CongestionControl::Bic,
        slow_start_at_ssthresh: true,
        window_unit: WindowUnit::Segments,
        growth_counting: GrowthCounting::Acks,
        window_when_limited: WindowWhenLimited::Keep,
        validation: Validation::Rfc2861,
        idle_restart: IdleRestart::Decay,
        ssthresh_basis: SsthreshBasis::Window,
        moderation_segments: 3,
        sack_detection: SackDetection::Fack,
        reduction: Reduction::RateHalving,
        rescue_retransmission: false,
        detect_lost_retransmissions: true,
        head_timeout: true,
        undo_dsack: true,
        undo_timestamps: true,
        rto_form: RtoForm::Linux,
        rto_initial_ns: 3 * SECOND,
        rto_min_ns: 200 * MILLISECOND,
        rto_max_ns: 120 * SECOND,
        rtt_sampling: RttSampling::EveryAck,
        max_retransmissions: 15,
        time_wait_ns: 60 * SECOND,
        ack_policy: AckPolicy::Adaptive,
        quick_acks: 16,
        ack_on_drain: true,
        window_update: WindowUpdate::Linux,
        ..rfc()
    }
}

fn linux_2_6_17() -> Config {
    Config {
        growth_counting: GrowthCounting::Bytes,
        ..linux_2_6_11()
    }
}

fn freebsd_6_1() -> Config {
    Config {
        timestamps: true,
        dsack: false,
        send_buffer_bytes: 32_768,
        receive_buffer_bytes: 65_536,
        retransmit_merge: RetransmitMerge::Full,
        slow_start_at_ssthresh: true,
        growth_counting: GrowthCounting::Acks,
        idle_restart: IdleRestart::OneSegment,
        ssthresh_basis: SsthreshBasis::SmallerWindow,
        max_burst_segments: 4,
        sack_detection: SackDetection::Holes,
        reduction: Reduction::OneSegment,
        restart_timer_on_partial_acks: true,
        rescue_retransmission: false,
        undo_early_ack: true,
        keep_sack_after_timeout: false,
        rto_form: RtoForm::Freebsd,
        rto_initial_ns: 3 * SECOND,
        rto_min_ns: 3 * MILLISECOND,
        rto_max_ns: 64 * SECOND,
        rto_slop_ns: 200 * MILLISECOND,
        max_retransmissions: 12,
        time_wait_ns: 60 * SECOND,
        ack_policy: AckPolicy::Delayed,
        ack_delay_ns: 100 * MILLISECOND,
        window_update: WindowUpdate::Freebsd,
        ..rfc()
    }
}

fn linux_6() -> Config {
    Config {
        receive_buffer_bytes: 131_072,
        retransmit_merge: RetransmitMerge::Full,
        initial_window_segments: 10,
        congestion_control: CongestionControl::Cubic,
        hystart: true,
        slow_start_at_ssthresh: false,
        growth_counting: GrowthCounting::Segments,
        window_when_limited: WindowWhenLimited::Linux,
        recovery: Recovery::RackTlp,
        sack_detection: SackDetection::Segments,
        reduction: Reduction::PrrSsrb,
        moderation_segments: 0,
        detect_lost_retransmissions: false,
        head_timeout: false,
        frto: true,
        tail_loss_probe: true,
        rto_initial_ns: SECOND,
        ..linux_2_6_11()
    }
}
