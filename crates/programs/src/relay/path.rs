//! The path as a machine: packets go in at one end and come out at the other.

use std::collections::VecDeque;

use bytes::Bytes;
use headway_path::{ConfigError, Link, LinkCounters, Verdict};
use headway_sansio::{Address, Machine, Seed, Time};

use super::delay_line::DelayLine;
use super::lateness::Lateness;
use super::radio::{Carried, Radio, StationReport};
use super::settings::Settings;

/// Which way a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From a client to the target.
    Forward,
    /// From the target to a client.
    Reverse,
}

/// A datagram between a client and the target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parcel {
    /// Whose it is; the path does not look at it.
    pub client: Address,
    /// Where it goes.
    pub direction: Direction,
    /// Length of its IP datagram.
    pub size_bytes: u32,
    /// What it carries.
    pub payload: Bytes,
}

/// What every parcel costs in memory beside its payload, roughly.
const PARCEL_BYTES: u64 = 128;

/// The two links of a path and, if there is one, the 802.11b cell between the
/// clients and the path. All clients share them, as hosts behind one access do.
///
/// As long as the first-come packets of a direction are the same, so are the
/// packets that its wire loses and duplicates, whenever they come: a link draws
/// for each packet offered, in order (see [`headway_path::Link`]).
pub struct Path {
    links: [Link; 2],
    radio: Option<Radio>,
    line: DelayLine,
    ready: VecDeque<Parcel>,
    lateness: [Lateness; 2],
    held_bytes: u64,
    most_held_bytes: u64,
    lost_memory: [u64; 2],
}

/// What one direction counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectionCounters {
    pub(super) link: LinkCounters,
    /// Packets refused because the relay holds as much as it may.
    pub(super) lost_memory: u64,
    pub(super) lateness: Lateness,
}

impl Path {
    /// A path of these settings that holds at most so many bytes. Links draw
    /// from the same streams of `seed` as those of a simulated run.
    ///
    /// # Errors
    /// The first setting that makes no sense.
    pub fn new(settings: &Settings, seed: Seed, most_held_bytes: u64) -> Result<Self, ConfigError> {
        let path = &settings.path;
        path.validate()?;
        let radio = settings.dot11.as_ref();
        let radio = radio.map(|config| {
            let radio = Radio::new(config, seed.derive("path.dot11"));
            radio.map_err(|error| error.within("dot11"))
        });
        Ok(Self {
            links: [
                Link::new(&path.forward(), seed.derive("path.forward")),
                Link::new(&path.reverse(), seed.derive("path.reverse")),
            ],
            radio: radio.transpose()?,
            line: DelayLine::default(),
            ready: VecDeque::new(),
            lateness: [Lateness::default(); 2],
            held_bytes: 0,
            most_held_bytes,
            lost_memory: [0; 2],
        })
    }

    /// Bytes of the packets under way, and what keeping them takes.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    pub(super) fn counters(&self, direction: Direction) -> DirectionCounters {
        DirectionCounters {
            link: *self.links[direction as usize].counters(),
            lost_memory: self.lost_memory[direction as usize],
            lateness: self.lateness[direction as usize],
        }
    }

    pub(super) fn stations(&self) -> Option<Vec<StationReport>> {
        self.radio.as_ref().map(Radio::report)
    }

    /// The parcel reaches the link.
    fn enter_link(&mut self, now: Time, parcel: Parcel) {
        let link = &mut self.links[parcel.direction as usize];
        let offer = link.offer(now, parcel.size_bytes);
        if let Verdict::Delivered { at } = offer.verdict {
            if let Some(copy_at) = offer.duplicate {
                self.hold(at, parcel.clone());
                self.hold(copy_at, parcel);
            } else {
                self.hold(at, parcel);
            }
        }
    }

    fn hold(&mut self, at: Time, parcel: Parcel) {
        self.held_bytes += cost(&parcel);
        self.line.push(at, parcel);
    }

    /// The parcel reaches the cell.
    fn enter_radio(&mut self, now: Time, parcel: Parcel) {
        if let Some(radio) = &mut self.radio {
            self.held_bytes += cost(&parcel);
            radio.send(now, parcel);
        }
    }

    fn leave(&mut self, now: Time, due: Time, parcel: Parcel) {
        self.lateness[parcel.direction as usize].record(now.since(due));
        self.ready.push_back(parcel);
    }

    /// Moves everything that is due at `now`.
    fn advance(&mut self, now: Time) {
        loop {
            if let Some(carried) = self.radio.as_mut().and_then(Radio::poll) {
                match carried {
                    Carried::Lost(parcel) => self.held_bytes -= cost(&parcel),
                    Carried::Out(due, parcel) => {
                        self.held_bytes -= cost(&parcel);
                        match parcel.direction {
                            Direction::Forward => self.enter_link(now, parcel),
                            Direction::Reverse => self.leave(now, due, parcel),
                        }
                    }
                }
            } else if let Some((due, parcel)) = self.line.pop(now) {
                self.held_bytes -= cost(&parcel);
                match (parcel.direction, &self.radio) {
                    (Direction::Reverse, Some(_)) => self.enter_radio(now, parcel),
                    _ => self.leave(now, due, parcel),
                }
            } else if let Some(radio) = self.radio_due(now) {
                // A station that just got a packet may begin to send it at once.
                radio.handle_timeout(now);
            } else {
                return;
            }
        }
    }

    fn radio_due(&mut self, now: Time) -> Option<&mut Radio> {
        self.radio
            .as_mut()
            .filter(|radio| radio.poll_timeout().is_some_and(|at| at <= now))
    }
}

fn cost(parcel: &Parcel) -> u64 {
    parcel.payload.len() as u64 + PARCEL_BYTES
}

impl Machine for Path {
    type Input = Parcel;
    type Output = Parcel;

    fn handle_input(&mut self, now: Time, parcel: Parcel) {
        if self.held_bytes + cost(&parcel) > self.most_held_bytes {
            self.lost_memory[parcel.direction as usize] += 1;
            return;
        }
        match (parcel.direction, &self.radio) {
            (Direction::Forward, Some(_)) => self.enter_radio(now, parcel),
            _ => self.enter_link(now, parcel),
        }
        self.advance(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
    }

    fn poll_output(&mut self) -> Option<Parcel> {
        self.ready.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let radio = self.radio.as_ref().and_then(Radio::poll_timeout);
        [self.line.next(), radio].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests;
