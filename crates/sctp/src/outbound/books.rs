//! Whether what is counted with every chunk is what stands there: for tests and fuzzers.

use headway_sansio::Time;

use super::limit::Limit;
use super::{Outbound, Sent, SentState};
use crate::books;
use crate::path::Paths;

impl Outbound {
    /// Goes over all chunks that were sent and adds up. Where `timed`, whatever is under
    /// way must have a T3-rtx that runs.
    pub(crate) fn check_books(&self, paths: &Paths, timed: bool) -> Result<(), String> {
        self.check_sent(paths, timed)?;
        self.check_paths(paths)?;
        let of = |wanted: fn(&Sent) -> bool| self.sent.iter().filter(|s| wanted(s)).count() as u64;
        books::equal(
            "abandoned",
            self.abandoned.into(),
            of(|s| s.state == SentState::Abandoned),
        )?;
        books::equal(
            "limited",
            self.limited.into(),
            of(|s| s.limit != Limit::None && s.state != SentState::Abandoned),
        )?;
        let payload = |sent: &Sent| sent.chunk.payload.len() as u64;
        let all = self.sent.iter().map(payload).sum();
        books::equal("sent_bytes", self.sent_bytes.into(), all)?;
        let window = |sent: &Sent| payload(sent) + u64::from(self.window_chunk_cost);
        let under_way = self.sent.iter().filter(|s| s.state == SentState::InFlight);
        books::equal(
            "window_in_flight",
            self.window_in_flight.into(),
            under_way.map(window).sum(),
        )?;
        let mut waiting = 0;
        self.queue
            .for_each(|pending| waiting += pending.payload.len() as u64);
        books::equal("queue", self.queue.bytes().into(), waiting)
    }

    fn check_sent(&self, paths: &Paths, timed: bool) -> Result<(), String> {
        let mut reported = self.acked.iter().flat_map(|s| s.low..=s.high).peekable();
        let mut marked = self.marked.iter().copied().peekable();
        for (index, sent) in (0..).zip(&self.sent) {
            let tsn = sent.chunk.tsn;
            let wrong = |what: &str| Err(format!("TSN {}: {what}: {sent:?}", tsn.0));
            if tsn != self.first.plus(index) {
                return wrong("out of its place");
            }
            let Some(path) = paths.iter().nth(usize::from(sent.path)) else {
                return wrong("on a path that there is not");
            };
            let is_reported = reported.next_if_eq(&index).is_some();
            while marked.next_if(|other| other.precedes(tsn)).is_some() {}
            let is_listed = marked.next_if_eq(&tsn).is_some();
            match sent.state {
                SentState::Abandoned => {}
                SentState::Acked if !is_reported => return wrong("reported by no SACK"),
                SentState::Acked => {}
                _ if is_reported => return wrong("not taken for reported"),
                SentState::InFlight if timed && path.t3 == Time::FAR_FUTURE => {
                    return wrong("no T3-rtx runs");
                }
                SentState::InFlight => {}
                _ if !is_listed => return wrong("nobody sends it again"),
                _ => {}
            }
        }
        match reported.next() {
            Some(index) => Err(format!("number {index} was reported and never sent")),
            None => Ok(()),
        }
    }

    fn check_paths(&self, paths: &Paths) -> Result<(), String> {
        for (index, path) in paths.iter().enumerate() {
            let here = || self.sent.iter().filter(|s| usize::from(s.path) == index);
            let under_way = here().filter(|s| s.state == SentState::InFlight);
            let flight = under_way.map(|s| u64::from(s.cost)).sum();
            books::equal(
                &format!("flight of path {index}"),
                path.flight.into(),
                flight,
            )?;
            let over = |s: &&Sent| matches!(s.state, SentState::Acked | SentState::Abandoned);
            let outstanding = here().filter(|s| !over(s)).count() as u64;
            books::equal(
                &format!("outstanding on path {index}"),
                path.outstanding.into(),
                outstanding,
            )?;
        }
        Ok(())
    }
}
