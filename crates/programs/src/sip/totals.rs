//! What became of calls, in sums that stay small however many there are.

use std::collections::BTreeMap;

use headway_apps::sip::{AnswerRecord, CallRecord, Failure};

use super::delays::Delays;

/// The caller's side.
#[derive(Clone, Debug, Default)]
pub(super) struct CallTotals {
    pub(super) calls: u64,
    /// Calls that went as a call should.
    pub(super) finished: u64,
    pub(super) failed: u64,
    pub(super) no_response: u64,
    pub(super) no_answer: u64,
    pub(super) no_reply_to_bye: u64,
    pub(super) not_sent: u64,
    /// Calls that were refused, by status code.
    pub(super) refused: BTreeMap<u16, u64>,
    /// Calls that had neither finished nor failed.
    pub(super) open: u64,
    pub(super) psd: Delays,
    pub(super) transaction: Delays,
}

impl CallTotals {
    pub(super) fn add(&mut self, call: &CallRecord) {
        self.calls += 1;
        match (call.failed, call.finished) {
            (Some((_, failure)), _) => {
                self.failed += 1;
                *self.of(failure) += 1;
            }
            (None, Some(_)) => self.finished += 1,
            (None, None) => self.open += 1,
        }
        call.post_selection_delay()
            .into_iter()
            .for_each(|delay| self.psd.add(delay));
        call.transaction_delay()
            .into_iter()
            .for_each(|delay| self.transaction.add(delay));
    }

    fn of(&mut self, failure: Failure) -> &mut u64 {
        match failure {
            Failure::NoResponse => &mut self.no_response,
            Failure::NoAnswer => &mut self.no_answer,
            Failure::NoReplyToBye => &mut self.no_reply_to_bye,
            Failure::NotSent => &mut self.not_sent,
            Failure::Refused(code) => self.refused.entry(code).or_default(),
        }
    }
}

/// The answerer's side.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerTotals {
    pub(super) calls: u64,
    pub(super) answered: u64,
    pub(super) acknowledged: u64,
    pub(super) ended: u64,
    pub(super) no_ack: u64,
    /// From the first 200 to the first ACK.
    pub(super) ack: Delays,
}

impl AnswerTotals {
    pub(super) fn add(&mut self, answer: &AnswerRecord) {
        self.calls += 1;
        self.answered += u64::from(answer.answered.is_some());
        self.acknowledged += u64::from(answer.acknowledged.is_some());
        self.ended += u64::from(answer.ended.is_some());
        self.no_ack += u64::from(answer.unacknowledged.is_some());
        if let (Some(answered), Some(acknowledged)) = (answer.answered, answer.acknowledged) {
            self.ack.add(acknowledged.since(answered));
        }
    }
}

#[cfg(test)]
mod tests {
    use headway_sansio::{Duration, Time};

    use super::*;

    fn call(finished: Option<Time>, failed: Option<Failure>) -> CallRecord {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        CallRecord {
            started: at(100),
            ringing: Some(at(150)),
            answered: failed.is_none().then(|| at(300)),
            finished,
            failed: failed.map(|failure| (at(900), failure)),
            invites: 1,
        }
    }

    #[test]
    fn every_call_counts_once() {
        let mut totals = CallTotals::default();
        let end = Some(Time::ZERO + Duration::from_secs(2));
        totals.add(&call(None, None));
        totals.add(&call(end, None));
        // Its BYE crossed the other one's and was refused.
        totals.add(&call(end, Some(Failure::Refused(481))));
        totals.add(&call(None, Some(Failure::NoAnswer)));
        let CallTotals {
            calls,
            finished,
            failed,
            open,
            ..
        } = totals;
        assert_eq!((calls, finished, failed, open), (4, 1, 2, 1));
        assert_eq!((totals.refused[&481], totals.no_answer), (1, 1));
        assert_eq!((totals.psd.count(), totals.transaction.count()), (4, 2));
        assert_eq!(totals.transaction.quantile(1.0), Some(0.2));
    }
}
