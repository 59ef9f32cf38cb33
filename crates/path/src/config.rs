//! The settings of one direction of a path, as they stand in a RunSpec.
//!
//! Names and defaults are those of `docs/runspec.md`. Unknown keys are errors;
//! the variants without keys are empty structs rather than units because serde
//! would let any key pass beside the tag of a unit.

use serde::{Deserialize, Serialize};

/// Everything that one direction of a path does to packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Propagation delay in nanoseconds.
    pub one_way_delay_ns: u64,
    /// Serialisation rate in bits per second; `None`: serialisation takes no time.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// Which packets the wire loses.
    #[serde(default)]
    pub loss: LossConfig,
    /// Which packets the queue refuses.
    #[serde(default)]
    pub queue: QueueConfig,
    /// Which packets are held back on the wire.
    #[serde(default)]
    pub reorder: ReorderConfig,
    /// Which packets arrive twice.
    #[serde(default)]
    pub duplicate: DuplicateConfig,
    /// In what form packets cross. The link itself treats both alike.
    #[serde(default)]
    pub wire: Wire,
}

/// The loss process of a wire. It advances once for each packet offered to the
/// link, so the n-th packet meets the same fate whatever the queue does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossConfig {
    /// Nothing is lost.
    #[serde(rename = "none")]
    Lossless {},
    /// Each packet is lost with the same probability.
    Bernoulli {
        /// Share of packets lost, 0 to 1. Kept at every correlation.
        rate: f64,
        /// Correlation between the fates of successive packets, 0 up to but
        /// not including 1; what exactly is correlated depends on the generator.
        #[serde(default)]
        correlation: f64,
        /// How correlated losses are drawn.
        #[serde(default)]
        generator: LossGenerator,
    },
    /// Two states with a loss rate each (Gilbert 1960, Elliott 1963). A packet
    /// meets the loss rate of the state that it finds; then the state may change.
    /// The first state is drawn from the stationary distribution.
    GilbertElliott {
        /// Probability of going from good to bad after a packet.
        good_to_bad: f64,
        /// Probability of going from bad to good after a packet.
        bad_to_good: f64,
        /// Loss rate in the good state.
        loss_good: f64,
        /// Loss rate in the bad state.
        loss_bad: f64,
    },
    /// A recorded sequence: 1 for a lost packet, 0 for one that passes.
    /// It starts again when it ends.
    Trace {
        /// The fates, one for each packet offered.
        lost: Vec<u8>,
    },
}

impl Default for LossConfig {
    fn default() -> Self {
        Self::Lossless {}
    }
}

/// Generators of correlated losses that keep the loss rate.
///
/// The filter `x = (1 - rho) U + rho x_last` of the netem emulator is not among
/// them: its `x` is not uniform, so the rate of `x <= p` collapses as `rho` grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossGenerator {
    /// Two states, lost and not lost. The correlation of the loss indicators
    /// of successive packets is exactly the given one.
    #[default]
    Markov,
    /// A Gaussian first-order autoregression with the given coefficient behind
    /// the loss indicators: a packet is lost where the variate lies below the
    /// rate's quantile. The indicators themselves are correlated less; this is
    /// the kind of correlation that emulators ask for, that of the random number.
    Copula,
}

/// What holds packets before the wire, and when it refuses one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueConfig {
    /// Takes everything.
    Unlimited {},
    /// Refuses a packet that finds `limit_pkts` packets. The packet being
    /// serialised counts, those on the wire do not (as in dummynet). Needs a rate.
    DropTailPackets {
        /// Most packets held, at least 1.
        limit_pkts: u32,
    },
    /// Refuses a packet by the bytes held. All bytes of the packet being
    /// serialised count until it has left. Needs a rate.
    DropTailBytes {
        /// Most bytes held.
        limit_bytes: u64,
        /// `false`: a packet is refused where it would take the bytes held over
        /// the limit. `true`: as in dummynet, only where the bytes held are over
        /// the limit before it, so that one packet may overshoot.
        #[serde(default)]
        overshoot: bool,
    },
    /// Derivative random drop as in NIST Net: the probability depends on the
    /// number of packets that a packet finds (itself not counted). It is 0 up
    /// to `min_pkts` and rises linearly to 0.95 at `max_pkts`.
    Drd {
        /// Longest queue that drops nothing.
        min_pkts: u32,
        /// Queue at which 95 % are dropped.
        max_pkts: u32,
        /// Which packets make up the queue.
        #[serde(default)]
        reading: DrdReading,
        /// What happens above `max_pkts`.
        #[serde(default)]
        above: DrdAbove,
    },
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self::Unlimited {}
    }
}

/// Which packets derivative random drop counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrdReading {
    /// All that the emulator holds: waiting, being serialised, or in its delay
    /// line. Needs no rate. A packet counts for the regular delay, also where
    /// reordering holds it back longer.
    #[default]
    DelayLine,
    /// What waits for a finite-rate server or is in service. Needs a rate.
    Server,
}

/// What derivative random drop does above its second threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum DrdAbove {
    /// Everything is dropped, which bounds the queue at `max_pkts` + 1.
    #[default]
    #[serde(rename = "all")]
    All,
    /// The probability stays at 0.95, as reported of NIST Net itself.
    #[serde(rename = "0.95")]
    Same,
}

/// Packets that are held back on the wire and may be overtaken.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderConfig {
    /// Share of packets held back, 0 to 1.
    #[serde(default)]
    pub probability: f64,
    /// How much longer they take, in nanoseconds.
    #[serde(default)]
    pub extra_delay_ns: u64,
}

/// Packets that arrive twice. The copy is made on the wire of a packet that
/// arrives; it takes no place in the queue and arrives right behind it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DuplicateConfig {
    /// Share of arriving packets that are duplicated, 0 to 1.
    #[serde(default)]
    pub probability: f64,
}

/// In what form a packet's content crosses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// As the protocol's own data structure.
    #[default]
    Structured,
    /// Encoded to bytes by the sender and decoded by the receiver.
    Encoded,
}
