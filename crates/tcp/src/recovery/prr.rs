//! Proportional rate reduction (RFC 6937).

use super::AckSummary;
use crate::config::{Config, Reduction};
use crate::sender::Sender;

/// In window units.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    delivered: u64,
    out: u64,
    /// Flight size at the start of recovery: `RecoverFS`.
    flight: u64,
}

impl Prr {
    pub(super) fn begin(&mut self, flight: u64) {
        *self = Self {
            delivered: 0,
            out: 0,
            flight: flight.max(1),
        };
    }

    pub(crate) fn sent(&mut self, units: u64) {
        self.out += units;
    }

    /// How much may be sent after an ACK that delivered `delivered`, with `pipe`
    /// under way.
    fn allowance(
        &mut self,
        delivered: u64,
        pipe: u64,
        ssthresh: u64,
        full: u64,
        bank: bool,
    ) -> u64 {
        self.delivered += delivered;
        if pipe > ssthresh {
            return (self.delivered * ssthresh)
                .div_ceil(self.flight)
                .saturating_sub(self.out);
        }
        let saved = self.delivered.saturating_sub(self.out);
        let limit = if bank {
            saved
        } else {
            saved.max(delivered) + full
        };
        limit.min(ssthresh - pipe)
    }
}

impl Sender {
    /// The window becomes what is under way and what may be sent now.
    pub(super) fn reduce_proportionally(&mut self, config: &Config, summary: &AckSummary) {
        let delivered = summary.delivered.acked_units + summary.delivered.sacked_units;
        let pipe = self.board.pipe();
        let conservative = config.reduction == Reduction::PrrCrb;
        let (ssthresh, full) = (self.window.ssthresh, self.window.full);
        let allowance = self
            .prr
            .allowance(delivered, pipe, ssthresh, full, conservative);
        let least = if self.forced { full } else { 0 };
        self.window.set_cwnd(pipe + allowance.max(least));
    }
}
