//! The radio channel of each ordered pair of stations: its SNR and what that
//! does to a frame.

use headway_sansio::{Chance, RandomStream, Seed};

use super::config::{
    CellConfig, ErrorConfig, ErrorPoint, JitterConfig, JitterPer, Snr, TracePoint,
};
use super::curves;
use super::timing::Rate;

/// The largest value that a normal draw takes: Box and Muller's radius with 53
/// random bits is at most sqrt(2 * 53 * ln 2).
const LARGEST_NORMAL: f64 = 8.572;
/// The longest frame that 802.11 knows, for what "no frame is ever lost" means.
const LONGEST_FRAME: u32 = 2_346;

/// All ordered pairs.
pub(super) struct Channels {
    stations: usize,
    model: Model,
    jitter: JitterConfig,
    control_errors: bool,
    /// Row: sender; column: receiver.
    list: Vec<Channel>,
}

/// One ordered pair.
struct Channel {
    snr_db: f64,
    trace: Option<Trace>,
    /// The draw of the present transaction.
    jitter_db: f64,
    /// By rate: no frame is ever lost, so nothing needs to be drawn.
    clean: [bool; 4],
    /// The last two lengths and rates (mostly data and ACK) with their chances.
    known: [(u64, Chance); 2],
    stream: RandomStream,
}

/// What holds for all tries of one datagram, drawn where the jitter is per message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageJitter {
    pub(super) forward_db: f64,
    pub(super) reverse_db: f64,
}

/// Which jitter a frame meets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Drawn {
    /// That of its own draw, or of the transaction.
    ByFrame,
    /// That of its message, in dB.
    ByMessage(f64),
}

/// What the channel did to one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    pub(super) lost: bool,
    /// The SNR that the frame met, as the card reports it.
    pub(super) snr_db: f64,
}

impl Channels {
    pub(super) fn new(config: &CellConfig, seed: Seed) -> Self {
        let stations = config.stations.len();
        let model = Model::new(&config.errors);
        let mut list: Vec<Channel> = (0..stations * stations)
            .map(|pair| {
                let (from, to) = (pair / stations, pair % stations);
                Channel {
                    snr_db: config.snr_db.unwrap_or(f64::INFINITY),
                    trace: None,
                    jitter_db: 0.0,
                    clean: [true; 4],
                    known: [(u64::MAX, Chance::NEVER); 2],
                    stream: seed.stream(&format!("channel.{from}.{to}")),
                }
            })
            .collect();
        for link in &config.links {
            let channel = &mut list[usize::from(link.from) * stations + usize::from(link.to)];
            match &link.snr {
                Snr::Constant { snr_db } => channel.snr_db = *snr_db,
                Snr::Trace { points, linear } => {
                    channel.snr_db = points[0].snr_db;
                    channel.trace = Some(Trace {
                        points: points.clone(),
                        linear: *linear,
                        next: 0,
                    });
                }
            }
        }
        let mut channels = Self {
            stations,
            model,
            jitter: config.jitter,
            control_errors: config.control_errors,
            list,
        };
        for channel in &mut channels.list {
            channel.refresh(&channels.model, channels.jitter.sigma_db);
        }
        channels.begin_transaction();
        channels
    }

    /// Sets the mean SNR of one pair, in place of its trace if it has one.
    pub(super) fn set_snr(&mut self, from: usize, to: usize, snr_db: f64) {
        let channel = &mut self.list[from * self.stations + to];
        channel.trace = None;
        channel.snr_db = snr_db;
        channel.refresh(&self.model, self.jitter.sigma_db);
    }

    /// The mean SNR of one pair at `now`.
    pub(super) fn snr_db(&self, from: usize, to: usize, now: u64) -> f64 {
        let channel = &self.list[from * self.stations + to];
        match &channel.trace {
            Some(trace) => trace.clone().at(now),
            None => channel.snr_db,
        }
    }

    /// The mean SNR of one pair when it last carried a frame.
    pub(super) fn present_snr_db(&self, from: usize, to: usize) -> f64 {
        self.list[from * self.stations + to].snr_db
    }

    /// Draws the jitter of the next transaction, where it lasts that long.
    pub(super) fn begin_transaction(&mut self) {
        if self.jitter.per == JitterPer::Transaction && self.jitter.sigma_db > 0.0 {
            for channel in &mut self.list {
                channel.jitter_db = self.jitter.sigma_db * channel.stream.normal();
            }
        }
    }

    /// Draws what all tries of a datagram have in common, where they have.
    pub(super) fn begin_message(&mut self, from: usize, to: usize) -> Option<MessageJitter> {
        if self.jitter.per != JitterPer::Message || self.jitter.sigma_db <= 0.0 {
            return None;
        }
        let (sigma, stations) = (self.jitter.sigma_db, self.stations);
        let mut draw =
            |from: usize, to: usize| sigma * self.list[from * stations + to].stream.normal();
        Some(MessageJitter {
            forward_db: draw(from, to),
            reverse_db: draw(to, from),
        })
    }

    /// What happens at `now` to a frame that meets no other.
    pub(super) fn fate(
        &mut self,
        (from, to): (usize, usize),
        now: u64,
        (rate, bytes, control): (Rate, u32, bool),
        drawn: Drawn,
    ) -> Fate {
        let channel = &mut self.list[from * self.stations + to];
        if let Some(trace) = &mut channel.trace {
            let snr_db = trace.at(now);
            if snr_db != channel.snr_db {
                channel.snr_db = snr_db;
                channel.known = [(u64::MAX, Chance::NEVER); 2];
            }
        }
        if channel.clean[rate as usize] || (control && !self.control_errors) {
            return Fate {
                lost: false,
                snr_db: channel.snr_db,
            };
        }
        let jitter_db = match (drawn, self.jitter.per) {
            _ if self.jitter.sigma_db <= 0.0 => 0.0,
            (Drawn::ByMessage(db), _) => db,
            (Drawn::ByFrame, JitterPer::Transaction) => channel.jitter_db,
            (Drawn::ByFrame, _) => self.jitter.sigma_db * channel.stream.normal(),
        };
        let snr_db = channel.snr_db + jitter_db;
        let chance = if jitter_db == 0.0 {
            channel.known_chance(&self.model, rate, bytes)
        } else {
            Chance::new(self.model.frame_error(rate, snr_db, bytes))
        };
        Fate {
            lost: channel.stream.happens(chance),
            snr_db,
        }
    }
}

impl Channel {
    /// Brings what follows from the SNR up to date.
    fn refresh(&mut self, model: &Model, sigma_db: f64) {
        self.known = [(u64::MAX, Chance::NEVER); 2];
        let (low, high) = match &self.trace {
            None => (self.snr_db, self.snr_db),
            Some(trace) => trace.range(),
        };
        let spread = LARGEST_NORMAL * sigma_db.max(0.0);
        for rate in Rate::ALL {
            self.clean[rate as usize] = model.never_loses(rate, low - spread, high + spread);
        }
    }

    fn known_chance(&mut self, model: &Model, rate: Rate, bytes: u32) -> Chance {
        let key = u64::from(bytes) << 2 | rate as u64;
        if self.known[0].0 != key {
            self.known.swap(0, 1);
            if self.known[0].0 != key {
                let chance = Chance::new(model.frame_error(rate, self.snr_db, bytes));
                self.known[0] = (key, chance);
            }
        }
        self.known[0].1
    }
}

/// A step or linear function of time, asked in the order of time.
#[derive(Clone)]
struct Trace {
    points: Vec<TracePoint>,
    linear: bool,
    /// Index of the first point later than the last time asked for.
    next: usize,
}

impl Trace {
    fn at(&mut self, now: u64) -> f64 {
        while self.points.get(self.next).is_some_and(|p| p.at_ns <= now) {
            self.next += 1;
        }
        let before = self.next.checked_sub(1).map(|i| self.points[i]);
        match (before, self.points.get(self.next)) {
            (Some(a), Some(b)) if self.linear => {
                let part = (now - a.at_ns) as f64 / (b.at_ns - a.at_ns) as f64;
                a.snr_db + (b.snr_db - a.snr_db) * part
            }
            (Some(a), _) => a.snr_db,
            (None, Some(b)) => b.snr_db,
            (None, None) => f64::INFINITY,
        }
    }

    fn range(&self) -> (f64, f64) {
        let all = self.points.iter().map(|p| p.snr_db);
        (
            all.clone().fold(f64::INFINITY, f64::min),
            all.fold(f64::NEG_INFINITY, f64::max),
        )
    }
}

/// From the SNR that a card reports to the probability of a frame error.
enum Model {
    Textbook {
        offset_db: f64,
    },
    Table {
        points: Vec<ErrorPoint>,
        frame_bytes: Option<u32>,
    },
}

impl Model {
    fn new(config: &ErrorConfig) -> Self {
        match config {
            ErrorConfig::Textbook { offset_db } => Self::Textbook {
                offset_db: *offset_db,
            },
            ErrorConfig::Table {
                points,
                frame_bytes,
            } => Self::Table {
                points: points.clone(),
                frame_bytes: *frame_bytes,
            },
        }
    }

    fn frame_error(&self, rate: Rate, snr_db: f64, bytes: u32) -> f64 {
        match self {
            Self::Textbook { offset_db } => curves::frame_error(rate, snr_db - offset_db, bytes),
            Self::Table {
                points,
                frame_bytes,
            } => {
                let p = interpolate(points, snr_db);
                match frame_bytes {
                    None => p,
                    Some(whole) => {
                        // Bits fail independently, so the success of a frame is
                        // a power of the table's.
                        let share = f64::from(bytes) / f64::from(*whole);
                        -libm::expm1(share * libm::log1p(-p))
                    }
                }
            }
        }
    }

    /// Whether no frame is ever lost between two SNRs.
    fn never_loses(&self, rate: Rate, low_db: f64, high_db: f64) -> bool {
        match self {
            Self::Textbook { .. } => {
                let worst = self.frame_error(rate, low_db, LONGEST_FRAME);
                Chance::new(worst) == Chance::NEVER
            }
            Self::Table { points, .. } => {
                low_db == f64::INFINITY
                    || points
                        .iter()
                        .filter(|p| (low_db..=high_db).contains(&p.snr_db))
                        .map(|p| p.probability)
                        .chain([interpolate(points, low_db), interpolate(points, high_db)])
                        .all(|p| p <= 0.0)
            }
        }
    }
}

/// Linear between points, constant outside.
fn interpolate(points: &[ErrorPoint], snr_db: f64) -> f64 {
    let after = points.partition_point(|p| p.snr_db <= snr_db);
    match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
        (Some(a), Some(b)) => {
            let part = (snr_db - a.snr_db) / (b.snr_db - a.snr_db);
            a.probability + (b.probability - a.probability) * part
        }
        (Some(a), None) => a.probability,
        (None, Some(b)) => b.probability,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_interpolate_and_scale_with_length() {
        let points = [(2.0, 0.9), (4.0, 0.5), (8.0, 0.0)].map(|(snr_db, probability)| ErrorPoint {
            snr_db,
            probability,
        });
        for (snr, p) in [(0.0, 0.9), (3.0, 0.7), (4.0, 0.5), (6.0, 0.25), (9.0, 0.0)] {
            assert!((interpolate(&points, snr) - p).abs() < 1e-12, "{snr}");
        }
        let scaled = Model::Table {
            points: points.to_vec(),
            frame_bytes: Some(1000),
        };
        // Half the length: 1 - sqrt(1 - 0.5).
        let half = scaled.frame_error(Rate::Mbps1, 4.0, 500);
        assert!((half - 0.292_893_2).abs() < 1e-6, "{half}");
        assert!(scaled.never_loses(Rate::Mbps1, 8.0, 20.0));
        assert!(!scaled.never_loses(Rate::Mbps1, 7.0, 20.0));
    }

    #[test]
    fn traces_hold_or_interpolate() {
        let points =
            [(10, 5.0), (20, 15.0), (40, -5.0)].map(|(at_ns, snr_db)| TracePoint { at_ns, snr_db });
        let walk = |linear| {
            let mut trace = Trace {
                points: points.to_vec(),
                linear,
                next: 0,
            };
            [0, 10, 15, 20, 30, 39, 41].map(|at| trace.at(at))
        };
        assert_eq!(walk(false), [5.0, 5.0, 5.0, 15.0, 15.0, 15.0, -5.0]);
        assert_eq!(walk(true), [5.0, 5.0, 10.0, 15.0, 5.0, -4.0, -5.0]);
    }
}
