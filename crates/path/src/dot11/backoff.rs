//! The back-off counter of one station (IEEE 802.11-1999, sections 9.2.4 and
//! 9.2.5.2), kept as a deadline instead of being counted slot by slot.

use headway_sansio::RandomStream;

use super::NEVER;

/// Slots to wait, and since when they pass.
pub(super) struct Backoff {
    /// Present window: a draw is uniform in 0 to this.
    window: u32,
    slots: u64,
    /// When the first of the slots begins, or began; [`NEVER`] while the medium
    /// is busy.
    base: u64,
    /// Whether a back-off was begun and not yet finished. Without one, a frame
    /// may go as soon as the medium has been idle for a DIFS.
    pending: bool,
    stream: RandomStream,
}

impl Backoff {
    pub(super) const fn new(window: u32, stream: RandomStream) -> Self {
        Self {
            window,
            slots: 0,
            base: NEVER,
            pending: false,
            stream,
        }
    }

    /// Begins a back-off from the present window.
    pub(super) fn draw(&mut self) {
        self.slots = self.stream.below(u64::from(self.window) + 1);
        self.pending = true;
    }

    /// After a failure the window doubles, up to `largest`.
    pub(super) fn widen(&mut self, largest: u32) {
        self.window = self
            .window
            .saturating_mul(2)
            .saturating_add(1)
            .min(largest)
            .max(self.window);
    }

    /// After a success or a frame given up it is the first one again.
    pub(super) const fn reset(&mut self, first: u32) {
        self.window = first;
    }

    pub(super) const fn is_pending(&self) -> bool {
        self.pending
    }

    pub(super) const fn is_running(&self) -> bool {
        self.base != NEVER
    }

    /// When access is due while nobody else begins.
    pub(super) const fn due(&self, slot: u64) -> u64 {
        if self.base == NEVER {
            return NEVER;
        }
        self.base + self.slots * slot
    }

    /// The medium is idle, and slots may pass from `base` on. Where `now` is
    /// later than that, they do from the next slot boundary on: slots are
    /// counted from the end of the busy time, also by a station that only now
    /// has reason to count.
    pub(super) const fn run(&mut self, base: u64, now: u64, slot: u64) {
        self.base = if now > base && self.pending {
            base + (now - base).div_ceil(slot) * slot
        } else {
            base
        };
    }

    /// The medium is busy from `now` on: whole slots that have passed are off
    /// the counter.
    pub(super) const fn freeze(&mut self, now: u64, slot: u64) {
        if self.base != NEVER && now >= self.base {
            let passed = (now - self.base) / slot;
            if passed >= self.slots {
                self.slots = 0;
                self.pending = false;
            } else {
                self.slots -= passed;
            }
        }
        self.base = NEVER;
    }

    /// A frame comes to an idle station at `now`. Forgets a back-off that has
    /// run out; access without one is due at once, or when the DIFS is over.
    pub(super) const fn settle(&mut self, now: u64, slot: u64) {
        if self.base != NEVER && self.due(slot) <= now {
            self.slots = 0;
            self.base = now;
            self.pending = false;
        }
    }

    /// The station sends: the counter is used up.
    pub(super) const fn spend(&mut self) {
        self.slots = 0;
        self.base = NEVER;
        self.pending = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_sansio::Seed;

    const SLOT: u64 = 20;

    fn with_slots(slots: u64) -> Backoff {
        let mut backoff = Backoff::new(31, Seed::new(1).stream("backoff"));
        backoff.draw();
        backoff.slots = slots;
        backoff
    }

    #[test]
    fn whole_slots_count_and_parts_do_not() {
        let mut backoff = with_slots(5);
        backoff.run(100, 0, SLOT);
        assert_eq!(backoff.due(SLOT), 200);
        backoff.freeze(159, SLOT);
        assert_eq!(backoff.due(SLOT), NEVER);
        backoff.run(1000, 0, SLOT);
        // Two of five passed.
        assert_eq!(backoff.due(SLOT), 1060);
    }

    #[test]
    fn nothing_passes_before_the_inter_frame_space_is_over() {
        let mut backoff = with_slots(3);
        backoff.run(100, 0, SLOT);
        backoff.freeze(99, SLOT);
        backoff.run(500, 0, SLOT);
        assert_eq!(backoff.due(SLOT), 560);
    }

    #[test]
    fn a_late_start_falls_on_the_slot_grid() {
        let mut backoff = with_slots(1);
        backoff.run(100, 222, SLOT);
        assert_eq!(backoff.due(SLOT), 260);
    }

    #[test]
    fn the_window_doubles_up_to_its_limit() {
        let mut backoff = with_slots(0);
        let windows: Vec<u32> = (0..7)
            .map(|_| {
                backoff.widen(1023);
                backoff.window
            })
            .collect();
        assert_eq!(windows, [63, 127, 255, 511, 1023, 1023, 1023]);
        backoff.reset(31);
        assert_eq!(backoff.window, 31);
    }

    #[test]
    fn draws_cover_the_window_evenly() {
        let mut backoff = Backoff::new(7, Seed::new(3).stream("backoff"));
        let mut counts = [0_u32; 8];
        for _ in 0..80_000 {
            backoff.draw();
            counts[usize::try_from(backoff.slots).unwrap()] += 1;
        }
        // Five standard deviations of a binomial: sqrt(8e4 * 7 / 64) = 94.
        assert!(
            counts.iter().all(|n| (9_530..=10_470).contains(n)),
            "{counts:?}"
        );
    }
}
