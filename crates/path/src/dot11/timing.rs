//! Rates, preambles and the times that follow from them.

use serde::{Deserialize, Serialize};

use super::config::CellConfig;

/// Length of an ACK frame in bytes (IEEE 802.11-1999, section 7.2.1.3).
pub const ACK_BYTES: u32 = 14;
/// Length of an RTS frame in bytes (section 7.2.1.1).
pub const RTS_BYTES: u32 = 20;
/// Length of a CTS frame in bytes (section 7.2.1.2).
pub const CTS_BYTES: u32 = 14;

/// A bit rate of 802.11b, written in bits per second wherever it is a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub enum Rate {
    /// 1 Mb/s, DBPSK.
    #[default]
    Mbps1,
    /// 2 Mb/s, DQPSK.
    Mbps2,
    /// 5.5 Mb/s, CCK.
    Mbps5_5,
    /// 11 Mb/s, CCK.
    Mbps11,
}

impl Rate {
    /// All of them, slowest first.
    pub const ALL: [Self; 4] = [Self::Mbps1, Self::Mbps2, Self::Mbps5_5, Self::Mbps11];

    /// Bits per second.
    #[must_use]
    pub const fn bps(self) -> u64 {
        match self {
            Self::Mbps1 => 1_000_000,
            Self::Mbps2 => 2_000_000,
            Self::Mbps5_5 => 5_500_000,
            Self::Mbps11 => 11_000_000,
        }
    }

    /// Time for `bytes` at this rate, without a preamble, rounded up to a whole
    /// nanosecond.
    #[must_use]
    pub const fn nanos(self, bytes: u32) -> u64 {
        let bytes = bytes as u64;
        match self {
            Self::Mbps1 => bytes * 8_000,
            Self::Mbps2 => bytes * 4_000,
            Self::Mbps5_5 => (bytes * 16_000).div_ceil(11),
            Self::Mbps11 => (bytes * 8_000).div_ceil(11),
        }
    }
}

impl TryFrom<u64> for Rate {
    type Error = String;

    fn try_from(bps: u64) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|rate| rate.bps() == bps)
            .ok_or_else(|| {
                format!(
                    "{bps} b/s is no rate of 802.11b (1000000, 2000000, 5500000 or 11000000 b/s)"
                )
            })
    }
}

impl From<Rate> for u64 {
    fn from(rate: Rate) -> Self {
        rate.bps()
    }
}

/// The PLCP preamble and header before each frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preamble {
    /// 144 + 48 bits at 1 Mb/s (IEEE 802.11b-1999, section 18.2.2.1).
    #[default]
    Long,
    /// 72 bits at 1 Mb/s and 48 at 2 Mb/s (section 18.2.2.2). A frame at 1 Mb/s
    /// has the long one all the same.
    Short,
}

/// What the machine needs of the settings, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    pub(super) slot: u64,
    pub(super) sifs: u64,
    pub(super) difs: u64,
    pub(super) eifs: u64,
    pub(super) sense: u64,
    pub(super) response_timeout: u64,
    /// By data rate: the rate of the control frames that go with it.
    control: [Rate; 4],
    /// By data rate: air time of a control frame.
    ack: [u64; 4],
    cts: [u64; 4],
    rts: [u64; 4],
    /// Preamble and header by rate, with the propagation of one frame.
    before: [u64; 4],
    /// Mean of the first back-off.
    mean_backoff: u64,
}

impl Timing {
    pub(super) fn new(config: &CellConfig) -> Self {
        let t = &config.timing;
        let before = Rate::ALL.map(|rate| {
            let short = config.preamble == Preamble::Short && rate != Rate::Mbps1;
            t.air_delay_ns
                + if short {
                    t.short_plcp_ns
                } else {
                    t.long_plcp_ns
                }
        });
        let control = Rate::ALL.map(|rate| control_rate(rate, &config.basic_rates_bps));
        let air = |bytes| control.map(|rate| before[rate as usize] + rate.nanos(bytes));
        let slowest_ack = before[0] + Rate::Mbps1.nanos(ACK_BYTES);
        Self {
            slot: t.slot_ns,
            sifs: t.sifs_ns,
            difs: t.difs_ns,
            eifs: t
                .eifs_ns
                .unwrap_or(t.sifs_ns + slowest_ack + t.difs_ns)
                .max(t.difs_ns),
            sense: t.sense_ns,
            response_timeout: t
                .response_timeout_ns
                .unwrap_or(t.sifs_ns + t.slot_ns + before[0]),
            control,
            ack: air(ACK_BYTES),
            cts: air(CTS_BYTES),
            rts: air(RTS_BYTES),
            before,
            mean_backoff: u64::from(t.cw_min) * t.slot_ns / 2,
        }
    }

    /// Rate of control frames that go with data at `rate`.
    pub(super) const fn control(&self, rate: Rate) -> Rate {
        self.control[rate as usize]
    }

    /// Air time of a frame, preamble and propagation included.
    pub(super) const fn air(&self, rate: Rate, bytes: u32) -> u64 {
        self.before[rate as usize] + rate.nanos(bytes)
    }

    /// Air time of the ACK to data at `rate`.
    pub(super) const fn ack(&self, rate: Rate) -> u64 {
        self.ack[rate as usize]
    }

    /// Air time of the CTS before data at `rate`.
    pub(super) const fn cts(&self, rate: Rate) -> u64 {
        self.cts[rate as usize]
    }

    /// Air time of the RTS before data at `rate`.
    pub(super) const fn rts(&self, rate: Rate) -> u64 {
        self.rts[rate as usize]
    }

    /// From the start of an exchange to the end of its data frame.
    pub(super) const fn until_data_end(&self, rate: Rate, air: u64, rts: bool) -> u64 {
        if rts {
            self.rts(rate) + self.cts(rate) + 2 * self.sifs + air
        } else {
            air
        }
    }

    /// DIFS, mean back-off and exchange up to the end of the data: what one try
    /// takes in an idle cell.
    pub(super) const fn uncontended(&self, rate: Rate, air: u64, rts: bool) -> u64 {
        self.difs + self.mean_backoff + self.until_data_end(rate, air, rts)
    }
}

/// The fastest basic rate that is not faster than the data (IEEE 802.11-1999,
/// section 9.6); 1 Mb/s where there is none.
fn control_rate(data: Rate, basic: &[Rate]) -> Rate {
    let fitting = basic.iter().copied().filter(|&rate| rate <= data);
    fitting.max().unwrap_or(Rate::Mbps1)
}
