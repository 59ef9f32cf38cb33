//! An 802.11b cell at packet level: stations that share one channel under the
//! distributed coordination function.
//!
//! [`Cell`] is a machine as any other. A datagram goes in at one station
//! ([`Input`]) and comes out exactly once ([`Output`]): delivered at another, or
//! dropped with the cause; either way with its [`Journey`].
//!
//! ```
//! use headway_path::dot11::{Cell, CellConfig, Input, Output, Station, StationConfig};
//! use headway_sansio::{Address, Datagram, Duration, Machine, Seed, Time};
//!
//! let config = CellConfig {
//!     stations: vec![StationConfig::default(); 2],
//!     ..CellConfig::default()
//! };
//! let mut cell = Cell::new(&config, Seed::new(1)).unwrap();
//! let datagram = Datagram {
//!     source: Address(0),
//!     destination: Address(1),
//!     size_bytes: 928,
//!     body: "INVITE",
//! };
//! let (from, to) = (Station(0), Station(1));
//! let start = Time::ZERO + Duration::from_secs(1);
//! cell.handle_input(start, Input { from, to, datagram });
//! let arrival = loop {
//!     let now = cell.poll_timeout().unwrap();
//!     cell.handle_timeout(now);
//!     if let Some(Output::Delivered { journey, .. }) = cell.poll_output() {
//!         break journey.end;
//!     }
//! };
//! // 192 us of preamble and header, then 964 bytes at 1 Mb/s.
//! assert_eq!(arrival.since(start), Duration::from_micros(7_904));
//! ```
//!
//! # The model
//!
//! **Access** (IEEE 802.11-1999, section 9.2). A station sends when the medium
//! has been idle for DIFS, or for EIFS after a frame that it received in error.
//! A station that finds the medium busy, one whose try failed, and every station
//! after every frame waits for a back-off besides: a number of slots, uniform in
//! 0 to the contention window (31; doubled by each failure up to 1023; 31 again
//! when the frame is done), which pass only while the medium is idle. The
//! machine counts no slots. It keeps the time at which the back-off would run out
//! and corrects it when the medium becomes busy, so a try costs four events,
//! whatever its back-off: data begin, data end, ACK begin, ACK end.
//!
//! **Exchange.** Data, SIFS, ACK; above the RTS threshold RTS, SIFS, CTS, SIFS
//! before them. Control frames go at the fastest basic rate that is not above the
//! data rate. An answer must have begun within SIFS + slot + preamble and header;
//! otherwise, or where what began is not the answer, the try has failed. Frames
//! reserve the medium for what follows them (network allocation vector), at every
//! station that receives them rightly and is not their receiver. After as many
//! failures as the retry limit allows the frame is given up; there are two limits,
//! as in section 9.2.5.3, and two readings of what they count ([`RetryCount`]).
//! A receiver filters repeated frames by sequence number and retry bit, and
//! acknowledges them nevertheless.
//!
//! **Who hears whom** ([`HearingConfig`]). Carrier sense and interference reach
//! exactly the stations that the hearing says. A station that is due to send less
//! than `sense_ns` after another began does so: it cannot know yet. That is how
//! stations collide that run on one slot grid (the same slot) and on different
//! ones.
//!
//! **Collisions.** A frame is lost at a receiver that hears another at any time
//! while it lasts, or that sends itself. With `capture_db` the stronger survives.
//!
//! **The channel** ([`ErrorConfig`]). Each ordered pair of stations has its own
//! SNR, as the receiver's card reports it: constant, set from outside
//! ([`Cell::set_snr`]) or following a trace, with Gaussian jitter for each try,
//! each message or each transaction, or without. The receiver has `offset_db`
//! less; the curves of [`curves`] turn that into the probability of a frame
//! error. In place of curve and offset there may be a table. Each frame is drawn
//! for each station that hears it and that no other frame disturbs: an error at a
//! third station costs it EIFS and the reservation.
//!
//! **Own traffic** ([`SourceConfig`]). Background stations (constant bit rate, or
//! always a frame waiting) need no driver. While one has frames waiting, arrivals
//! cost no events.
//!
//! # What network delay is
//!
//! Retries of the link are part of the network's delay, not of anybody's
//! recovery: a frame that arrives at its fifth try arrives when it arrives, and a
//! frame given up would have arrived when its last try ended
//! ([`Journey::would_arrive`]). [`Journey::first_try_end`] tells the two apart
//! where a study wants to know.
//!
//! # Sources
//!
//! Rules and constants: IEEE 802.11-1999 and 802.11b-1999, by section where they
//! are applied. Error curves: see [`curves`]. Checks: air times of single frames;
//! Bianchi's saturation throughput (IEEE JSAC 18(3), 2000) for his own parameters
//! with and without RTS and for those of 802.11b, where the cell stays within 1 %
//! of his formula (and his collision probability within 0.01) from 1 to 50
//! stations; independent tries, q^(r+1).
//!
//! # Limits
//!
//! * One channel, one hop: an access point that relays between stations is two
//!   inputs, made by whoever drives the cell. No beacons, probes, association,
//!   power save, point coordination, broadcast or fragmentation.
//! * Rates are settings; no rate is chosen by success or SNR.
//! * Carrier sense does not depend on the SNR: the hearing is a setting of its own.
//! * Interference does not add up. Without capture any overlap destroys, with it
//!   powers are compared one by one, as means without jitter, and the survivor
//!   meets no more errors than it would alone.
//! * Preamble and header never fail by themselves; at 1 Mb/s they are 48 of some
//!   8000 bits with the same modulation, at higher rates they are more robust
//!   than the data.
//! * Propagation is one constant for all pairs (0 unless set). Clocks agree.
//! * A datagram that comes to a station within `sense_ns` of the beginning of
//!   another's frame already finds the medium busy.
//! * A station that received an RTS keeps its reservation even where no data
//!   follow; the standard allows it to give that up.
//! * The lifetime of a frame in the queue is not limited.

mod air;
mod backoff;
mod cell;
mod channel;
mod config;
pub mod curves;
mod exchange;
mod record;
mod source;
mod station;
mod timing;
mod validate;

pub use cell::Cell;
pub use config::{
    CellConfig, ErrorConfig, ErrorPoint, HearingConfig, JitterConfig, JitterPer, RetryCount, Snr,
    SnrConfig, SourceConfig, StationConfig, TimingConfig, TracePoint,
};
pub use record::{FrameDrop, Input, Journey, Output, SourceCounters, Station, StationCounters};
pub use timing::{ACK_BYTES, CTS_BYTES, Preamble, RTS_BYTES, Rate};

/// A time that does not come.
const NEVER: u64 = u64::MAX;
/// The index of no station.
const NOBODY: u16 = u16::MAX;
