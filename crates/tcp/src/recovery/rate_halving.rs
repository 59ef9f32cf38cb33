//! Rate halving, as Linux 2.6 does it (`tcp_cwnd_down`): the window falls by one
//! segment for every second ACK, so that sending never stops.

use crate::sender::Sender;

impl Sender {
    pub(super) fn halve_rate(&mut self) {
        let full = self.window.full;
        let steps = self.rate_halving_count + 1;
        self.rate_halving_count = steps & 1;
        let fall = u64::from(steps >> 1) * full;
        if self.window.cwnd > self.window.ssthresh / 2 {
            self.window.cwnd = self.window.cwnd.saturating_sub(fall);
        }
        // No burst: one segment beyond what is under way.
        let most = self.board.pipe() + full;
        self.window.set_cwnd(self.window.cwnd.min(most));
    }
}
