//! What every machine of Headway shares, and nothing else: time, the machine
//! contract, datagrams, payloads and named random streams.
//!
//! A protocol is a state machine without input or output of its own. Two kinds
//! of driver run it: the simulator in virtual time, the network programs in real
//! time. The machine cannot tell which, because everything it knows about the
//! world arrives through [`Machine`].
//!
//! ```
//! use headway_sansio::{Duration, Machine, Time};
//!
//! /// Answers each number with its double, one second later.
//! #[derive(Default)]
//! struct Doubler { due: Option<(Time, u32)>, ready: Option<u32> }
//!
//! impl Machine for Doubler {
//!     type Input = u32;
//!     type Output = u32;
//!     fn handle_input(&mut self, now: Time, n: u32) {
//!         self.due = Some((now + Duration::from_secs(1), 2 * n));
//!     }
//!     fn handle_timeout(&mut self, now: Time) {
//!         if let Some((at, n)) = self.due && at <= now {
//!             self.due = None;
//!             self.ready = Some(n);
//!         }
//!     }
//!     fn poll_output(&mut self) -> Option<u32> { self.ready.take() }
//!     fn poll_timeout(&self) -> Option<Time> { self.due.map(|(at, _)| at) }
//! }
//!
//! let mut machine = Doubler::default();
//! machine.handle_input(Time::ZERO, 21);
//! assert_eq!(machine.poll_output(), None);
//! let wake = machine.poll_timeout().unwrap();
//! machine.handle_timeout(wake);
//! assert_eq!(machine.poll_output(), Some(42));
//! ```

mod datagram;
mod machine;
mod payload;
mod random;
mod time;

pub use datagram::{Address, Datagram};
pub use machine::Machine;
pub use payload::Payload;
pub use random::{Chance, RandomStream, Seed};
pub use time::{Duration, Time};
