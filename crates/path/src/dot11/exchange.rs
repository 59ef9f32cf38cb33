//! One frame exchange: try, answer, failure, success.

use headway_sansio::Time;

use super::cell::Cell;
use super::record::{FrameDrop, Journey, Output, Station};
use super::station::{Answer, Content, Frame, Kind, Phase, Transmission};
use super::timing::{ACK_BYTES, CTS_BYTES, RTS_BYTES};

impl<B> Cell<B> {
    /// Station `i` sends what is due: an answer, the data after a CTS, or a try.
    pub(super) fn begin_due(&mut self, i: usize, now: u64) {
        if let Some(answer) = self.stations[i].answer.take() {
            return self.send_answer(i, now, &answer);
        }
        match self.stations[i].phase {
            Phase::Contend => self.begin_try(i, now),
            Phase::Cleared { .. } => self.send_data(i, now),
            _ => {}
        }
    }

    fn begin_try(&mut self, i: usize, now: u64) {
        let station = &mut self.stations[i];
        let Some(frame) = &mut station.frame else {
            return;
        };
        station.backoff.spend();
        station.counters.tries += 1;
        station.counters.retries += u64::from(frame.tries > 0);
        let rate = station.limits.rate;
        let data_end = now + self.timing.until_data_end(rate, frame.air, frame.rts);
        if frame.tries == 0 {
            frame.first_try_end = data_end;
        }
        frame.last_try_end = data_end;
        frame.tries = frame.tries.saturating_add(1);
        if !frame.rts {
            return self.send_data(i, now);
        }
        station.counters.rts += 1;
        let reserves =
            3 * self.timing.sifs + self.timing.cts(rate) + frame.air + self.timing.ack(rate);
        let rts = Transmission {
            kind: Kind::Rts,
            to: frame.to,
            rate: self.timing.control(rate),
            bytes: RTS_BYTES,
            ends: now + self.timing.rts(rate),
            reserves,
        };
        station.phase = Phase::Sending;
        self.begin_transmission(i, now, rts);
    }

    fn send_data(&mut self, i: usize, now: u64) {
        let station = &mut self.stations[i];
        let Some(frame) = &station.frame else {
            return;
        };
        let rate = station.limits.rate;
        let data = Transmission {
            kind: Kind::Data,
            to: frame.to,
            rate,
            bytes: frame.bytes,
            ends: now + frame.air,
            reserves: self.timing.sifs + self.timing.ack(rate),
        };
        station.phase = Phase::Sending;
        self.begin_transmission(i, now, data);
    }

    fn send_answer(&mut self, i: usize, now: u64, answer: &Answer) {
        let rate = answer.data_rate;
        let (bytes, air) = match answer.kind {
            Kind::Cts => (CTS_BYTES, self.timing.cts(rate)),
            _ => (ACK_BYTES, self.timing.ack(rate)),
        };
        // Its own answer makes the medium busy for the station too.
        self.hold(i, now);
        let frame = Transmission {
            kind: answer.kind,
            to: answer.to,
            rate: self.timing.control(rate),
            bytes,
            ends: now + air,
            reserves: answer.reserves,
        };
        self.begin_transmission(i, now, frame);
    }

    /// What station `i` sent has ended: it waits for the answer, or goes on.
    pub(super) fn sent(&mut self, i: usize, now: u64, kind: Kind) {
        let until = now + self.timing.response_timeout;
        let station = &mut self.stations[i];
        match kind {
            Kind::Rts => station.phase = Phase::AwaitCts { until },
            Kind::Data => station.phase = Phase::AwaitAck { until },
            Kind::Cts | Kind::Ack => {}
        }
        // It could not receive what was on the air meanwhile, so there is no
        // error that it knows of.
        station.ear.after_error = false;
        if station.ear.busy == 0 {
            self.medium_idle(i, now);
        }
        self.arm(i);
    }

    /// A reception has ended at station `i`; `snr_db` says whether it was a right
    /// frame for this station.
    pub(super) fn reception_over(
        &mut self,
        i: usize,
        sender: usize,
        now: u64,
        frame: &Transmission,
        snr_db: Option<f64>,
    ) {
        let phase = self.stations[i].phase;
        let right = snr_db.is_some();
        match phase {
            Phase::AwaitCts { .. } if right && frame.kind == Kind::Cts => {
                let at = now + self.timing.sifs;
                self.stations[i].phase = Phase::Cleared { at };
                return self.arm(i);
            }
            Phase::AwaitAck { .. } if right && frame.kind == Kind::Ack => {
                return self.finish(i, now, FrameDrop::TakenForDuplicate);
            }
            // IEEE 802.11-1999, section 9.2.8: anything else that is received
            // meanwhile means that the answer is lost.
            Phase::AwaitCts { .. } | Phase::AwaitAck { .. } => self.fail(i, now),
            _ => {}
        }
        let Some(snr_db) = snr_db else { return };
        match frame.kind {
            Kind::Rts => self.answer_rts(i, sender, now, frame),
            Kind::Data => self.receive_data(i, sender, now, snr_db),
            Kind::Cts | Kind::Ack => {}
        }
    }

    fn answer_rts(&mut self, i: usize, sender: usize, now: u64, frame: &Transmission) {
        // IEEE 802.11-1999, section 9.2.5.7: no CTS while the medium is reserved.
        if self.stations[i].ear.reserved_until > now {
            return;
        }
        let data_rate = self.stations[sender].limits.rate;
        let spent = self.timing.sifs + self.timing.cts(data_rate);
        self.owe(
            i,
            sender,
            now,
            Kind::Cts,
            frame.reserves.saturating_sub(spent),
        );
    }

    fn owe(&mut self, i: usize, to: usize, now: u64, kind: Kind, reserves: u64) {
        self.stations[i].answer = Some(Answer {
            at: now + self.timing.sifs,
            kind,
            to: u16::try_from(to).unwrap_or(super::NOBODY),
            data_rate: self.stations[to].limits.rate,
            reserves,
        });
        self.arm(i);
    }

    /// A data frame has arrived at `i`: it is acknowledged in any case, and
    /// handed up unless it is a repetition.
    fn receive_data(&mut self, i: usize, sender: usize, now: u64, snr_db: f64) {
        self.owe(i, sender, now, Kind::Ack, 0);
        let Some(frame) = &mut self.stations[sender].frame else {
            return;
        };
        let (sequence, retry) = (frame.sequence, frame.tries > 1);
        // IEEE 802.11-1999, section 9.2.9.
        let repeated = retry && self.stations[i].last_sequence[sender] == sequence;
        if repeated {
            self.stations[i].counters.duplicates += 1;
            return;
        }
        self.stations[i].last_sequence[sender] = sequence;
        self.deliver(i, sender, now, snr_db);
    }

    fn deliver(&mut self, to: usize, from: usize, now: u64, snr_db: f64) {
        let station = &mut self.stations[from];
        let Some(frame) = &mut station.frame else {
            return;
        };
        frame.arrived = true;
        let mut journey = frame.journey(now);
        journey.snr_db = snr_db;
        station.counters.delivered_bytes += u64::from(frame.size_bytes);
        match &mut frame.content {
            Content::Source => station.counters.source.delivered += 1,
            Content::Datagram(datagram) => {
                if let Some(datagram) = datagram.take() {
                    station.counters.delivered += 1;
                    self.outputs.push_back(Output::Delivered {
                        from: index(from),
                        to: index(to),
                        datagram,
                        journey,
                    });
                }
            }
        }
    }

    /// The try of station `i` has failed: again, or given up.
    pub(super) fn fail(&mut self, i: usize, now: u64) {
        let cw_max = self.cw_max;
        let station = &mut self.stations[i];
        let Some(frame) = &mut station.frame else {
            return;
        };
        let after_cts = frame.rts && matches!(station.phase, Phase::AwaitAck { .. });
        if after_cts {
            frame.long_failures = frame.long_failures.saturating_add(1);
        } else {
            frame.short_failures = frame.short_failures.saturating_add(1);
        }
        let limits = &station.limits;
        if frame.short_failures < limits.short_tries && frame.long_failures < limits.long_tries {
            station.phase = Phase::Contend;
            station.backoff.widen(cw_max);
            station.backoff.draw();
            self.run_backoff(i, now);
            return self.arm(i);
        }
        if frame.arrived {
            station.counters.delivered_unacknowledged += 1;
        }
        self.finish(i, now, FrameDrop::RetryLimit);
    }

    /// Station `i` is through with its frame and takes the next. If the datagram
    /// has not come out, `cause` says why.
    fn finish(&mut self, i: usize, now: u64, cause: FrameDrop) {
        let cw_min = self.cw_min;
        let station = &mut self.stations[i];
        let Some(frame) = station.frame.take() else {
            return;
        };
        if !frame.arrived {
            let journey = frame.journey(frame.last_try_end);
            match frame.content {
                Content::Source => station.counters.source.dropped_retry += 1,
                Content::Datagram(datagram) => {
                    station.counters.dropped_retry += 1;
                    if let Some(datagram) = datagram {
                        self.outputs.push_back(Output::Dropped {
                            from: index(i),
                            to: Station(frame.to),
                            datagram,
                            cause,
                            journey,
                        });
                    }
                }
            }
        }
        // IEEE 802.11-1999, section 9.2.5.2: a back-off follows every frame, also
        // where none waits.
        station.phase = Phase::Idle;
        station.backoff.reset(cw_min);
        station.backoff.draw();
        let next = station.queue.pop(now, &mut station.counters.source);
        self.run_backoff(i, now);
        match next {
            Some(waiting) => self.begin_service(i, waiting, now),
            None => {
                self.arm(i);
                self.await_source(i);
            }
        }
    }
}

impl<B> Frame<B> {
    fn journey(&self, end: u64) -> Journey {
        Journey {
            handed: Time::from_nanos(self.handed),
            head: Time::from_nanos(self.head),
            first_try_end: Time::from_nanos(self.first_try_end),
            end: Time::from_nanos(end),
            would_arrive: Time::from_nanos(end),
            tries: self.tries,
            snr_db: f64::NAN,
        }
    }
}

fn index(i: usize) -> Station {
    Station(u16::try_from(i).unwrap_or(super::NOBODY))
}
