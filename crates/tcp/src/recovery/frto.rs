//! Forward RTO-recovery (RFC 5682): after a timeout, new data shows whether the
//! timeout was needless.

use super::AckSummary;
use crate::config::Config;
use crate::sender::Sender;
use crate::stats::Stats;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Frto {
    /// Conventional recovery.
    #[default]
    Off,
    /// Step 2 waits for the first ACK; the retransmission ends here.
    First {
        /// End of the segment that was retransmitted.
        resent_end: u64,
    },
    /// Step 3 waits for the second ACK; new data only is sent.
    Second,
}

impl Frto {
    pub(crate) fn holds_retransmissions(self) -> bool {
        self == Self::Second
    }
}

impl Sender {
    /// Steps 2 and 3 of section 2.1.
    pub(super) fn frto_on_ack(&mut self, config: &Config, summary: &AckSummary, stats: &mut Stats) {
        match self.frto {
            Frto::Off => {}
            _ if summary.acked_bytes == 0 && !summary.duplicate => {}
            Frto::First { resent_end } => {
                let advances = summary.acked_bytes > 0
                    && !summary.duplicate
                    && self.una >= resent_end
                    && self.una < self.recovery_point;
                self.frto = if advances && self.unsent() > 0 && self.peer_takes(1) {
                    Frto::Second
                } else {
                    Frto::Off
                };
            }
            Frto::Second => {
                self.frto = Frto::Off;
                if summary.acked_bytes > 0 && summary.delivered.original {
                    stats.needless_timeouts += 1;
                    self.take_back(config, stats);
                    self.recover = Some(self.una);
                } else {
                    // Two round trips have passed since the timeout.
                    let most = 3 * self.window.full;
                    self.window.set_cwnd(self.window.cwnd.min(most));
                }
            }
        }
    }
}
