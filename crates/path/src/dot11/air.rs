//! Frames on the air: who senses them, who receives them, and what of it is lost.

use super::cell::{Cell, Event};
use super::channel::{Drawn, Fate};
use super::station::{Kind, Phase, Transmission};
use super::{NEVER, NOBODY};

/// What a frame met on its way to one station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Reception {
    /// It is received, with this SNR.
    Right { snr_db: f64 },
    /// Another frame was on the air there, or the station itself sent.
    Overlapped,
    /// The channel destroyed it.
    Erred,
}

impl<B> Cell<B> {
    /// Station `i` begins to send.
    pub(super) fn begin_transmission(&mut self, i: usize, now: u64, frame: Transmission) {
        let slot = self.timing.slot;
        let station = &mut self.stations[i];
        station.ear.receives = NOBODY;
        station.backoff.freeze(now, slot);
        station.counters.air += headway_sansio::Duration::from_nanos(frame.ends - now);
        station.sending = Some(frame);
        self.set_wake(i, frame.ends, Event::End);
        if self.on_air == 0 {
            self.busy_since = now;
        }
        self.on_air += 1;
        for k in 0..self.hearers[i].len() {
            self.sense_begin(usize::from(self.hearers[i][k]), i, now);
        }
    }

    /// Station `i` senses that `sender` begins.
    fn sense_begin(&mut self, i: usize, sender: usize, now: u64) {
        let sense = self.timing.sense;
        let station = &mut self.stations[i];
        station.ear.busy += 1;
        if station.sending.is_some() {
            return;
        }
        if station.ear.busy > 1 {
            self.overlap(i, sender);
            return;
        }
        station.ear.receives = u16::try_from(sender).unwrap_or(NOBODY);
        station.ear.spoilt = false;
        match station.phase {
            Phase::Contend if station.answer.is_none() => {
                // Who is about to send before carrier sense can tell it of this
                // frame sends all the same.
                let due = self.wake[i] >> 2;
                if self.wake[i] != NEVER && (due <= now || due < now + sense) {
                    return;
                }
                self.hold(i, now);
                self.wake[i] = NEVER;
            }
            // The answer has perhaps begun: its end decides.
            Phase::AwaitCts { .. } | Phase::AwaitAck { .. } if station.answer.is_none() => {
                self.hold(i, now);
                self.wake[i] = NEVER;
            }
            _ => self.hold(i, now),
        }
    }

    /// A second frame begins where one is on the air already.
    fn overlap(&mut self, i: usize, newcomer: usize) {
        let Some(margin_db) = self.capture_db else {
            self.stations[i].ear.spoilt = true;
            return;
        };
        // The noise is the receiver's, so powers compare as SNRs do.
        let power = |from: usize| self.channels.present_snr_db(from, i);
        let new = power(newcomer);
        let strongest = (0..self.stations.len())
            .filter(|&other| other != newcomer && self.is_heard(other, i))
            .map(power)
            .fold(f64::NEG_INFINITY, f64::max);
        let received = usize::from(self.stations[i].ear.receives);
        let goes_on = received < self.stations.len() && power(received) - new >= margin_db;
        let ear = &mut self.stations[i].ear;
        if new - strongest >= margin_db {
            ear.receives = u16::try_from(newcomer).unwrap_or(NOBODY);
            ear.spoilt = false;
        } else if !goes_on {
            ear.spoilt = true;
        }
    }

    /// Whether a frame of station `from` is on the air at station `i`.
    fn is_heard(&self, from: usize, i: usize) -> bool {
        let by = u16::try_from(i).unwrap_or(NOBODY);
        self.stations[from].sending.is_some() && self.hearers[from].contains(&by)
    }

    /// Slots stop passing; a frame that was about to go without a back-off gets one.
    pub(super) fn hold(&mut self, i: usize, now: u64) {
        let slot = self.timing.slot;
        let station = &mut self.stations[i];
        station.backoff.freeze(now, slot);
        if station.phase == Phase::Contend && !station.backoff.is_pending() {
            station.backoff.draw();
        }
    }

    /// What station `i` has on the air ends.
    pub(super) fn end_transmission(&mut self, i: usize, now: u64) {
        let Some(frame) = self.stations[i].sending.take() else {
            return;
        };
        self.on_air -= 1;
        if self.on_air == 0 {
            self.busy += now - self.busy_since;
        }
        // The sender first: an answer can only come later.
        self.sent(i, now, frame.kind);
        let mut at_receiver = Reception::Overlapped;
        for k in 0..self.hearers[i].len() {
            let by = usize::from(self.hearers[i][k]);
            let reception = self.sense_end(by, i, now, &frame);
            if by == usize::from(frame.to) {
                at_receiver = reception;
            }
        }
        let counters = &mut self.stations[i].counters;
        match (frame.kind, at_receiver) {
            (Kind::Rts | Kind::Data, Reception::Overlapped) => counters.collisions += 1,
            (Kind::Rts | Kind::Data, Reception::Erred) => counters.channel_errors += 1,
            (Kind::Cts | Kind::Ack, Reception::Overlapped | Reception::Erred) => {
                self.stations[usize::from(frame.to)].counters.answers_lost += 1;
            }
            (_, Reception::Right { .. }) => {}
        }
    }

    /// Station `i` senses that `sender` ends.
    fn sense_end(&mut self, i: usize, sender: usize, now: u64, frame: &Transmission) -> Reception {
        let station = &mut self.stations[i];
        station.ear.busy -= 1;
        let received = usize::from(station.ear.receives) == sender;
        let mut reception = Reception::Overlapped;
        if received {
            station.ear.receives = NOBODY;
            if !station.ear.spoilt {
                let fate = self.fate(i, sender, now, frame);
                reception = if fate.lost {
                    Reception::Erred
                } else {
                    Reception::Right {
                        snr_db: fate.snr_db,
                    }
                };
            }
            let ear = &mut self.stations[i].ear;
            ear.after_error = !matches!(reception, Reception::Right { .. });
            if !ear.after_error && usize::from(frame.to) != i {
                ear.reserved_until = ear.reserved_until.max(now + frame.reserves);
            }
        }
        let ear = &self.stations[i].ear;
        if ear.busy == 0 && self.stations[i].sending.is_none() {
            self.medium_idle(i, now);
        }
        if received {
            let snr_db = match reception {
                Reception::Right { snr_db } if usize::from(frame.to) == i => Some(snr_db),
                _ => None,
            };
            self.reception_over(i, sender, now, frame, snr_db);
        }
        reception
    }

    /// What the channel does to a frame that nothing overlapped.
    fn fate(&mut self, i: usize, sender: usize, now: u64, frame: &Transmission) -> Fate {
        let drawn = match self.message_jitter(i, sender, frame) {
            Some(jitter_db) => Drawn::ByMessage(jitter_db),
            None => Drawn::ByFrame,
        };
        let kind = (frame.rate, frame.bytes, frame.kind != Kind::Data);
        self.channels.fate((sender, i), now, kind, drawn)
    }

    /// The jitter that a frame shares with others of its message.
    fn message_jitter(&self, i: usize, sender: usize, frame: &Transmission) -> Option<f64> {
        if usize::from(frame.to) != i {
            return None;
        }
        let (owner, forward) = match frame.kind {
            Kind::Rts | Kind::Data => (sender, true),
            Kind::Cts | Kind::Ack => (i, false),
        };
        let jitter = self.stations[owner].frame.as_ref()?.jitter?;
        Some(if forward {
            jitter.forward_db
        } else {
            jitter.reverse_db
        })
    }

    /// Nothing is on the air at station `i` from `now` on.
    pub(super) fn medium_idle(&mut self, i: usize, now: u64) {
        self.stations[i].ear.idle_since = now;
        self.run_backoff(i, now);
        if self.stations[i].phase == Phase::Contend {
            self.arm(i);
        }
    }

    /// Slots may pass again once the inter-frame space is over.
    pub(super) fn run_backoff(&mut self, i: usize, now: u64) {
        let (slot, difs, eifs) = (self.timing.slot, self.timing.difs, self.timing.eifs);
        let station = &mut self.stations[i];
        let ear = &station.ear;
        if ear.busy > 0 || station.sending.is_some() {
            return;
        }
        let mut base = ear.idle_since.max(ear.reserved_until) + difs;
        if ear.after_error {
            // IEEE 802.11-1999, section 9.2.3.4: reservations do not matter to it.
            base = base.max(ear.idle_since + eifs);
        }
        station.backoff.run(base, now, slot);
    }
}
