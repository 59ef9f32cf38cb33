//! What time tells of losses on a path (RFC 8985, sections 5 and 6): when the
//! newest chunk known to have arrived was sent, and how much reordering to allow.

use headway_sansio::{Duration, Time};

use crate::Tsn;

/// Recoveries without a duplicate after which a widened reordering window shrinks
/// again (section 6.2, step 4).
const PERSISTENCE: u8 = 16;
/// How long a least round-trip time counts (section 6.2, step 1, asks for a
/// window; Linux takes 300 s).
const MIN_WINDOW: Duration = Duration::from_secs(300);

/// State of time-based loss detection on one path.
#[derive(Debug)]
pub(crate) struct Rack {
    /// The chunk sent last of those that have arrived: when, and its TSN.
    newest: Option<(Time, Tsn)>,
    /// Its round trip.
    round_trip: Duration,
    least: Least,
    /// Highest TSN that has arrived.
    highest: Option<Tsn>,
    /// A chunk sent once has arrived after a later one.
    reordering_seen: bool,
    /// The reordering window in quarters of the least round trip.
    multiplier: u32,
    persist: u8,
    /// Duplicates count once until this TSN is acknowledged.
    round_end: Option<Tsn>,
    /// When to look again.
    pub(crate) due: Time,
}

/// The least of recent round trips, by two halves of the window.
#[derive(Debug)]
struct Least {
    since: Time,
    current: Duration,
    previous: Duration,
}

impl Least {
    const fn new() -> Self {
        Self {
            since: Time::ZERO,
            current: Duration::MAX,
            previous: Duration::MAX,
        }
    }

    fn add(&mut self, now: Time, round_trip: Duration) {
        if now.since(self.since) > MIN_WINDOW / 2 {
            self.since = now;
            self.previous = core::mem::replace(&mut self.current, Duration::MAX);
        }
        self.current = self.current.min(round_trip);
    }

    fn get(&self) -> Duration {
        self.current.min(self.previous)
    }
}

impl Rack {
    pub(crate) const fn new() -> Self {
        Self {
            newest: None,
            round_trip: Duration::ZERO,
            least: Least::new(),
            highest: None,
            reordering_seen: false,
            multiplier: 1,
            persist: 0,
            round_end: None,
            due: Time::FAR_FUTURE,
        }
    }

    /// A chunk has arrived (steps 1 to 3).
    pub(crate) fn arrived(&mut self, now: Time, tsn: Tsn, sent_at: Time, retransmitted: bool) {
        let round_trip = now.since(sent_at);
        if retransmitted {
            // Most likely the answer to an earlier transmission.
            if round_trip < self.least.get() {
                return;
            }
        } else {
            self.least.add(now, round_trip);
            match self.highest {
                Some(highest) if tsn.precedes(highest) => self.reordering_seen = true,
                _ => {}
            }
        }
        if self.highest.is_none_or(|highest| highest.precedes(tsn)) {
            self.highest = Some(tsn);
        }
        if self
            .newest
            .is_none_or(|newest| after((sent_at, tsn), newest))
        {
            self.newest = Some((sent_at, tsn));
            self.round_trip = round_trip;
        }
    }

    /// A SACK told of duplicates: something was retransmitted needlessly (step 4).
    pub(crate) fn duplicates(&mut self, cumulative: Tsn, next: Tsn) {
        self.round_ends(cumulative);
        if self.round_end.is_none() {
            self.round_end = Some(next);
            self.multiplier = self.multiplier.saturating_add(1);
            self.persist = PERSISTENCE;
        }
    }

    /// Everything up to `cumulative` is acknowledged.
    pub(crate) fn round_ends(&mut self, cumulative: Tsn) {
        if self
            .round_end
            .is_some_and(|end| !cumulative.next().precedes(end))
        {
            self.round_end = None;
        }
    }

    /// A recovery has ended.
    pub(crate) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// How long after its due time a chunk may still come. `certain`: losses are
    /// being repaired, or enough chunks beyond the gap have arrived.
    fn window(&self, certain: bool, smoothed: Duration) -> Duration {
        if certain && !self.reordering_seen {
            return Duration::ZERO;
        }
        let quarter = self.least.get().min(smoothed) / 4;
        (quarter * u64::from(self.multiplier)).min(smoothed)
    }

    /// For a chunk sent at `sent_at`: `None` where nothing sent later has arrived;
    /// else when it counts as lost (step 5).
    pub(crate) fn lost_at(
        &self,
        tsn: Tsn,
        sent_at: Time,
        certain: bool,
        smoothed: Duration,
    ) -> Option<Time> {
        let newest = self.newest?;
        after(newest, (sent_at, tsn))
            .then(|| sent_at + self.round_trip + self.window(certain, smoothed))
    }

    /// For how long T3-rtx leaves a chunk alone (section 6.3).
    pub(crate) fn patience(&self, smoothed: Duration) -> Duration {
        self.round_trip + self.window(true, smoothed)
    }
}

/// Whether the first was sent after the second.
fn after((a, a_tsn): (Time, Tsn), (b, b_tsn): (Time, Tsn)) -> bool {
    a > b || a == b && b_tsn.precedes(a_tsn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    const SMOOTHED: Duration = Duration::from_millis(40);

    #[test]
    fn what_was_sent_before_something_that_arrived_is_lost_after_the_window() {
        let mut rack = Rack::new();
        assert_eq!(rack.lost_at(Tsn(1), ms(0), false, SMOOTHED), None);
        rack.arrived(ms(45), Tsn(2), ms(5), false);
        assert_eq!(rack.lost_at(Tsn(1), ms(0), false, SMOOTHED), Some(ms(50)));
        assert_eq!(rack.lost_at(Tsn(1), ms(0), true, SMOOTHED), Some(ms(40)));
        // Sent at the same time, TSNs decide; sent later, nothing is known.
        assert!(rack.lost_at(Tsn(1), ms(5), false, SMOOTHED).is_some());
        assert_eq!(rack.lost_at(Tsn(3), ms(5), false, SMOOTHED), None);
        assert_eq!(rack.lost_at(Tsn(1), ms(6), false, SMOOTHED), None);
    }

    #[test]
    fn an_answer_to_an_earlier_transmission_is_told_by_its_haste() {
        let mut rack = Rack::new();
        rack.arrived(ms(40), Tsn(1), ms(0), false);
        rack.arrived(ms(100), Tsn(2), ms(90), true);
        assert_eq!(rack.lost_at(Tsn(3), ms(50), true, SMOOTHED), None);
        rack.arrived(ms(140), Tsn(2), ms(90), true);
        assert_eq!(rack.lost_at(Tsn(3), ms(50), true, SMOOTHED), Some(ms(100)));
    }

    #[test]
    fn the_window_widens_with_duplicates_and_shrinks_after_16_recoveries() {
        let mut rack = Rack::new();
        rack.arrived(ms(40), Tsn(5), ms(0), false);
        let window = |rack: &Rack| {
            let at = rack.lost_at(Tsn(4), ms(0), false, SMOOTHED).unwrap();
            at.since(ms(40)).as_nanos() / 1_000_000
        };
        assert_eq!(window(&rack), 10);
        // Once in a round trip.
        rack.duplicates(Tsn(5), Tsn(9));
        rack.duplicates(Tsn(6), Tsn(9));
        assert_eq!(window(&rack), 20);
        rack.duplicates(Tsn(8), Tsn(12));
        assert_eq!(window(&rack), 30);
        for round in 0..5 {
            rack.duplicates(Tsn(20 + 5 * round), Tsn(21 + 5 * round));
        }
        assert_eq!(window(&rack), 40, "never more than SRTT");
        for _ in 0..15 {
            rack.recovered();
        }
        assert_eq!(window(&rack), 40);
        rack.recovered();
        assert_eq!(window(&rack), 10);
        // Where reordering was seen, the window is kept in recovery too.
        assert_eq!(rack.lost_at(Tsn(4), ms(0), true, SMOOTHED), Some(ms(40)));
        rack.arrived(ms(41), Tsn(3), ms(0), false);
        assert_eq!(rack.lost_at(Tsn(4), ms(0), true, SMOOTHED), Some(ms(50)));
    }
}
