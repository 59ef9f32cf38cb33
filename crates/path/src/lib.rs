//! What lies between two nodes: delay, rate, queues, loss, reordering and
//! duplication, as pure functions of what is offered to them.
//!
//! A link is a queue, then a wire. A packet waits for the packets before it, is
//! serialised at the link's rate, and then propagates; it may be refused by the
//! queue or be lost on the wire. [`Link::offer`] gives the verdict at once, so a
//! link has no timers and no events of its own.
//!
//! ```
//! use headway_path::{Link, PathConfig, Verdict};
//! use headway_sansio::{Duration, Seed, Time};
//!
//! let config = PathConfig::with_delay(Duration::from_millis(20));
//! let mut link = Link::new(&config.forward(), Seed::new(1));
//! let offer = link.offer(Time::ZERO, 1500);
//! let at = Time::ZERO + Duration::from_millis(20);
//! assert_eq!(offer.verdict, Verdict::Delivered { at });
//! ```

mod config;
mod counters;
pub mod dot11;
mod link;
mod loss;
mod normal;
mod path_config;
mod queue;
mod validate;

pub use config::{
    DrdAbove, DrdReading, DuplicateConfig, LinkConfig, LossConfig, LossGenerator, QueueConfig,
    ReorderConfig, Wire,
};
pub use counters::LinkCounters;
pub use link::{DropCause, Link, Offer, Verdict};
pub use path_config::{LinkOverride, PathConfig};
pub use validate::ConfigError;
