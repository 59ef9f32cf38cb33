//! The cell of a path of kind `dot11` as an element between the two hosts.

use std::cell::Cell as Shared;
use std::collections::VecDeque;
use std::rc::Rc;

use headway_path::dot11::{
    Cell, FrameDrop, Input, Journey, Output, SourceCounters, Station, StationCounters,
};
use headway_path::{ConfigError, LinkCounters};
use headway_sansio::{Address, Datagram, Duration, Machine, RandomStream, Time};

use super::carrier::{Carrier, Parcel};
use super::watch::{SharedTraces, Trace};
use crate::spec::{Dot11Path, RunSpec, Side, Voice};

const CLIENT: Station = Side::Client.station();
const SERVER: Station = Side::Server.station();

/// A machine that takes the datagrams of both hosts and puts out those that
/// come through.
pub(super) struct Radio<C: Carrier> {
    cell: Cell<Cargo<Parcel<C>>>,
    /// Number of background stations.
    others: u16,
    caller: Address,
    traces: SharedTraces<C::Trace>,
    /// Contexts (transactions) that the caller has begun, as the host counts them.
    contexts: Rc<Shared<u32>>,
    begun: u32,
    snr: Option<SnrDraw>,
    voice: Option<VoiceStream>,
    outputs: VecDeque<Datagram<Parcel<C>>>,
    /// Datagrams of the hosts that the cell took, by direction: at the retry
    /// limit and at the queue.
    dropped: [[u64; 2]; 2],
    /// Sum over the frames that the client received, in dB, and their number.
    reported: (f64, u64),
}

/// What a frame carries.
enum Cargo<B> {
    Host(B),
    Voice,
}

/// The mean SNR of each transaction.
struct SnrDraw {
    mean_db: f64,
    sigma_db: f64,
    symmetric: bool,
    stream: RandomStream,
}

/// Voice packets, one each interval, from the start of the run.
struct VoiceStream {
    from: Side,
    size_bytes: u32,
    interval: Duration,
    next: Time,
    seen: VoiceSeen,
}

/// What became of the voice packets.
#[derive(Clone, Debug, Default)]
pub(super) struct VoiceSeen {
    /// Packets that arrived or were lost.
    pub(super) packets: u64,
    /// Those that were lost.
    pub(super) lost: u64,
    /// Delay of each that arrived.
    pub(super) delays: Vec<Duration>,
    /// Sum of the waits for packets before them, in nanoseconds.
    pub(super) queue_wait: u128,
}

/// What is known of the cell afterwards.
#[derive(Clone, Debug)]
pub(super) struct RadioReport {
    pub(super) client: StationCounters,
    pub(super) server: StationCounters,
    /// Sums over the background stations.
    pub(super) background: SourceCounters,
    pub(super) background_air: Duration,
    /// Share of the time during which the channel was busy.
    pub(super) busy_share: f64,
    /// Mean over the frames that the client received; NaN without any.
    pub(super) reported_snr_db: f64,
    pub(super) voice: Option<VoiceSeen>,
}

impl<C: Carrier> Radio<C> {
    /// The cell of `path` with streams of the run's seed. `caller` is the
    /// address of the client's host.
    pub(super) fn new(
        spec: &RunSpec,
        path: &Dot11Path,
        caller: Address,
        contexts: Rc<Shared<u32>>,
        traces: SharedTraces<C::Trace>,
    ) -> Result<Self, ConfigError> {
        let config = path.cell();
        let others = config.stations.len() - 2;
        Ok(Self {
            cell: Cell::new(&config, spec.seed.derive("path.cell"))?,
            others: u16::try_from(others).unwrap_or(u16::MAX),
            caller,
            traces,
            contexts,
            begun: 0,
            snr: (path.snr_sigma_db > 0.0).then(|| SnrDraw {
                mean_db: path.snr_db,
                sigma_db: path.snr_sigma_db,
                symmetric: path.symmetric,
                stream: spec.seed.stream("path.snr"),
            }),
            voice: path.voice.map(|voice| {
                let mut start = spec.seed.stream("path.voice");
                VoiceStream::new(voice, Duration::from_nanos(start.below(voice.interval_ns)))
            }),
            outputs: VecDeque::new(),
            dropped: [[0; 2]; 2],
            reported: (0.0, 0),
        })
    }

    /// The counters of a link, as those of the cell for one direction: what
    /// `offered` counted before it, and what the cell took.
    pub(super) fn link_counters(&self, offered: &LinkCounters, direction: usize) -> LinkCounters {
        let [retry_limit, queue] = self.dropped[direction];
        LinkCounters {
            packets_lost_wire: retry_limit,
            packets_lost_queue: queue,
            ..*offered
        }
    }

    /// What is known at the end of the run.
    pub(super) fn report(&self, now: Time) -> RadioReport {
        let counters = |station| self.cell.counters(station).copied().unwrap_or_default();
        let mut background = SourceCounters::default();
        let mut background_air = Duration::ZERO;
        for station in 2..2 + self.others {
            let own = counters(Station(station));
            background.offered += own.source.offered;
            background.delivered += own.source.delivered;
            background.dropped_queue += own.source.dropped_queue;
            background.dropped_retry += own.source.dropped_retry;
            background_air += own.air;
        }
        RadioReport {
            client: counters(CLIENT),
            server: counters(SERVER),
            background,
            background_air,
            busy_share: self.cell.busy_share(now),
            reported_snr_db: self.reported.0 / self.reported.1 as f64,
            voice: self.voice.as_ref().map(|voice| voice.seen.clone()),
        }
    }

    /// A transaction has begun since the last datagram: the channel may draw
    /// anew. Transactions that begin at one instant share a draw.
    fn begin_transactions(&mut self, now: Time) {
        if self.contexts.get() == self.begun {
            return;
        }
        self.begun = self.contexts.get();
        self.cell.begin_transaction(now);
        if let Some(snr) = &mut self.snr {
            let snr_db = snr.mean_db + snr.sigma_db * snr.stream.normal();
            self.cell.set_snr(now, SERVER, CLIENT, snr_db);
            if snr.symmetric {
                self.cell.set_snr(now, CLIENT, SERVER, snr_db);
            }
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.cell.poll_output() {
            match output {
                Output::Delivered {
                    to,
                    datagram,
                    journey,
                    ..
                } => self.delivered(to, datagram, &journey),
                Output::Dropped {
                    from,
                    datagram,
                    cause,
                    journey,
                    ..
                } => self.lost(from, datagram.body, cause, &journey),
            }
        }
    }

    fn delivered(&mut self, to: Station, datagram: Datagram<Cargo<Parcel<C>>>, journey: &Journey) {
        if to == CLIENT {
            self.reported.0 += journey.snr_db;
            self.reported.1 += 1;
        }
        match datagram.body {
            Cargo::Host(body) => self.outputs.push_back(Datagram {
                source: datagram.source,
                destination: datagram.destination,
                size_bytes: datagram.size_bytes,
                body,
            }),
            Cargo::Voice => {
                if let Some(VoiceStream { seen, .. }) = &mut self.voice {
                    seen.packets += 1;
                    seen.delays.push(journey.end.since(journey.handed));
                    seen.queue_wait += u128::from(journey.queue_wait().as_nanos());
                }
            }
        }
    }

    fn lost(&mut self, from: Station, body: Cargo<Parcel<C>>, cause: FrameDrop, journey: &Journey) {
        match body {
            Cargo::Host(body) => {
                let direction = usize::from(from != CLIENT);
                self.dropped[direction][usize::from(cause == FrameDrop::QueueFull)] += 1;
                let trace = &mut self.traces.borrow_mut().directions[direction];
                trace.lost(&body);
                trace.would_arrive(&body, journey.would_arrive);
            }
            Cargo::Voice => {
                if let Some(VoiceStream { seen, .. }) = &mut self.voice {
                    seen.packets += 1;
                    seen.lost += 1;
                }
            }
        }
    }
}

impl VoiceStream {
    fn new(voice: Voice, start: Duration) -> Self {
        Self {
            from: voice.sender,
            size_bytes: voice.size_bytes,
            interval: Duration::from_nanos(voice.interval_ns),
            next: Time::ZERO + start,
            seen: VoiceSeen::default(),
        }
    }

    /// The packet that is due at `now`, if one is.
    fn take<B>(&mut self, now: Time) -> Option<Input<Cargo<B>>> {
        if self.next > now {
            return None;
        }
        self.next += self.interval;
        let (from, to) = match self.from {
            Side::Client => (CLIENT, SERVER),
            Side::Server => (SERVER, CLIENT),
        };
        let address = |station: Station| Address(u32::from(station.0));
        Some(Input {
            from,
            to,
            datagram: Datagram {
                source: address(from),
                destination: address(to),
                size_bytes: self.size_bytes,
                body: Cargo::Voice,
            },
        })
    }
}

impl<C: Carrier> Machine for Radio<C> {
    type Input = Datagram<Parcel<C>>;
    type Output = Datagram<Parcel<C>>;

    fn handle_input(&mut self, now: Time, datagram: Datagram<Parcel<C>>) {
        self.begin_transactions(now);
        let (from, to) = if datagram.source == self.caller {
            (CLIENT, SERVER)
        } else {
            (SERVER, CLIENT)
        };
        let datagram = Datagram {
            source: datagram.source,
            destination: datagram.destination,
            size_bytes: datagram.size_bytes,
            body: Cargo::Host(datagram.body),
        };
        self.cell.handle_input(now, Input { from, to, datagram });
        self.drain();
    }

    fn handle_timeout(&mut self, now: Time) {
        self.cell.handle_timeout(now);
        while let Some(input) = self.voice.as_mut().and_then(|voice| voice.take(now)) {
            self.cell.handle_input(now, input);
        }
        self.drain();
    }

    fn poll_output(&mut self) -> Option<Datagram<Parcel<C>>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let voice = self.voice.as_ref().map(|voice| voice.next);
        match (self.cell.poll_timeout(), voice) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
