//! Virtual time: an event queue, nodes and links, and no protocol inside.
//!
//! A [`Network`] holds machines (see [`headway_sansio::Machine`]) and the links
//! between them, and carries each datagram from the machine that emits it to the
//! one that owns its destination. Events are ordered by time, then by kind, then
//! by the order in which they were made, so a run is a function of its machines,
//! its links and their seeds. A network is a plain value: runs share nothing,
//! and [`parallel_map`] spreads them over threads.
//!
//! ```
//! use headway_path::{Link, PathConfig};
//! use headway_sansio::{Address, Datagram, Duration, Machine, Seed, Time};
//! use headway_sim::{Network, Outcome};
//!
//! /// Sends one datagram at the start and remembers when one arrived.
//! struct Host { ready: Option<Datagram<u8>>, heard: Option<Time> }
//!
//! impl Machine for Host {
//!     type Input = Datagram<u8>;
//!     type Output = Datagram<u8>;
//!     fn handle_input(&mut self, now: Time, _: Datagram<u8>) { self.heard = Some(now); }
//!     fn handle_timeout(&mut self, _: Time) {}
//!     fn poll_output(&mut self) -> Option<Datagram<u8>> { self.ready.take() }
//!     fn poll_timeout(&self) -> Option<Time> { None }
//! }
//!
//! let (a, b) = (Address(1), Address(2));
//! let hello = Datagram { source: a, destination: b, size_bytes: 100, body: 7 };
//! let path = PathConfig::with_delay(Duration::from_millis(20));
//!
//! let mut network = Network::new(());
//! let left = network.add_node(Host { ready: Some(hello), heard: None });
//! let right = network.add_node(Host { ready: None, heard: None });
//! network.add_address(left, a)?;
//! network.add_address(right, b)?;
//! network.add_link(left, right, Link::new(&path.forward(), Seed::new(1)));
//! network.route_shortest();
//!
//! assert_eq!(network.run_until(Time::FAR_FUTURE)?, Outcome::Idle);
//! assert_eq!(network.machine(right).heard, Some(Time::from_nanos(20_000_000)));
//! # Ok::<(), headway_sim::SimError>(())
//! ```

mod error;
mod events;
mod flights;
mod network;
mod observer;
mod parallel;
mod topology;

pub use error::SimError;
pub use network::{Network, Node, Outcome};
pub use observer::Observer;
pub use parallel::parallel_map;
pub use topology::{LinkId, NodeId, PacketId};
