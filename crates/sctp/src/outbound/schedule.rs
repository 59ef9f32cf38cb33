//! Which stream sends next (RFC 8260, section 3).
//!
//! A scheduler is asked once for each unit: a whole message of DATA, whose TSNs
//! run without a break, or a single chunk of I-DATA.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::Scheduler;

/// Streams with something to send, in the order in which they will.
#[derive(Debug)]
pub(super) enum Order {
    /// In turn (sections 3.2 and 3.3).
    Turns(VecDeque<u16>),
    /// Those of the highest rank in turn; zero is the highest (section 3.4).
    Ranks(BTreeMap<u16, VecDeque<u16>>),
    /// By the service had so far (sections 3.5 and 3.6).
    Fair(Fair),
}

/// Start-time fair queueing (Goyal, Vin and Cheng 1997): each stream's clock runs on
/// by the bytes that it sent, divided by its weight; the stream goes next whose
/// clock is furthest behind.
#[derive(Debug, Default)]
pub(super) struct Fair {
    ready: BTreeSet<(u128, u16)>,
    /// The clock of the stream that was served last, at which a stream begins that
    /// had nothing to send meanwhile: silence earns no credit.
    now: u128,
}

/// What a scheduler keeps of one stream, whether it has something to send or not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    clock: u128,
    /// Under which it waits in [`Order::Ranks`].
    rank: u16,
}

/// What the user has set for one stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) priority: u16,
    /// Above zero.
    pub(super) weight: u16,
}

impl Default for Claim {
    fn default() -> Self {
        Self {
            priority: 0,
            weight: 1,
        }
    }
}

/// Fractions of a byte by which clocks run.
const FRACTION: u32 = 32;

impl Order {
    /// The order of a scheduler that looks at streams; `None` of one that does not.
    pub(super) fn of(scheduler: Scheduler) -> Option<Self> {
        match scheduler {
            Scheduler::FirstCome => None,
            Scheduler::RoundRobin | Scheduler::RoundRobinPacket => {
                Some(Self::Turns(VecDeque::new()))
            }
            Scheduler::Priority => Some(Self::Ranks(BTreeMap::new())),
            Scheduler::FairBandwidth | Scheduler::WeightedFair => Some(Self::Fair(Fair::default())),
        }
    }

    /// A stream that had nothing to send has.
    pub(super) fn enter(&mut self, stream: u16, standing: &mut Standing, claim: Claim) {
        match self {
            Self::Turns(turns) => turns.push_back(stream),
            Self::Ranks(ranks) => {
                standing.rank = claim.priority;
                ranks.entry(claim.priority).or_default().push_back(stream);
            }
            Self::Fair(fair) => {
                standing.clock = standing.clock.max(fair.now);
                fair.ready.insert((standing.clock, stream));
            }
        }
    }

    /// The stream that goes next.
    pub(super) fn first(&self) -> Option<u16> {
        match self {
            Self::Turns(turns) => turns.front().copied(),
            Self::Ranks(ranks) => ranks
                .first_key_value()
                .and_then(|(_, turns)| turns.front().copied()),
            Self::Fair(fair) => fair.ready.first().map(|&(_, stream)| stream),
        }
    }

    /// A stream was served with so many bytes. `more`: it has still something to send.
    pub(super) fn served(
        &mut self,
        stream: u16,
        standing: &mut Standing,
        claim: Claim,
        bytes: u32,
        more: bool,
    ) {
        if let Self::Fair(fair) = self {
            fair.now = standing.clock;
        }
        self.leave(stream, standing);
        standing.clock += (u128::from(bytes) << FRACTION) / u128::from(claim.weight);
        if more {
            self.enter(stream, standing, claim);
        }
    }

    /// A stream has nothing to send any more.
    pub(super) fn leave(&mut self, stream: u16, standing: &Standing) {
        match self {
            Self::Turns(turns) => leave_turns(turns, stream),
            Self::Ranks(ranks) => {
                if let Some(turns) = ranks.get_mut(&standing.rank) {
                    leave_turns(turns, stream);
                    if turns.is_empty() {
                        ranks.remove(&standing.rank);
                    }
                }
            }
            Self::Fair(fair) => {
                fair.ready.remove(&(standing.clock, stream));
            }
        }
    }

    pub(super) fn trim(&mut self) {
        if let Self::Turns(turns) = self {
            turns.shrink_to_fit();
        }
    }
}

/// Mostly it is the first one that leaves.
fn leave_turns(turns: &mut VecDeque<u16>, stream: u16) {
    if turns.front() == Some(&stream) {
        turns.pop_front();
    } else if let Some(place) = turns.iter().position(|&waiting| waiting == stream) {
        turns.remove(place);
    }
}
