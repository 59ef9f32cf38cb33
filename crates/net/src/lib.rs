//! The real-time driver: runs the machines of [`headway_sansio`] against the
//! clock and the sockets of the operating system.
//!
//! The simulator runs the same machines in virtual time; neither knows the
//! other. A program puts three things together: a machine, an [`Outside`] that
//! translates between its inputs and outputs and sockets, and a [`Poller`].
//! [`run`] is the loop.
//!
//! * [`Clock`] is the monotonic clock as [`headway_sansio::Time`].
//! * [`Poller`] waits, to within the scheduler's latency of the time asked for.
//! * [`UdpPort`] is a socket with batched system calls; [`UdpHost`] makes an
//!   [`Outside`] of several.
//! * [`AddressTable`] maps socket addresses to [`headway_sansio::Address`].
//! * [`Timeouts`] keeps the times of many machines that share one driver.
//!
//! All of these belong to one thread. The descriptors are plain, so an
//! asynchronous runtime can watch a [`UdpPort`] as well.
//!
//! [`sctp`] is SCTP for programs: associations over UDP or IP, on tokio.
//!
//! ```
//! use bytes::Bytes;
//! use headway_net::{Clock, Ending, Poller, UdpHost, run};
//! use headway_sansio::{Datagram, Duration, Machine, Time};
//!
//! /// Returns every datagram to its sender.
//! #[derive(Default)]
//! struct Echo { ready: Vec<Datagram<Bytes>>, echoed: u32 }
//!
//! impl Machine for Echo {
//!     type Input = Datagram<Bytes>;
//!     type Output = Datagram<Bytes>;
//!     fn handle_input(&mut self, _: Time, mut datagram: Datagram<Bytes>) {
//!         std::mem::swap(&mut datagram.source, &mut datagram.destination);
//!         self.ready.push(datagram);
//!         self.echoed += 1;
//!     }
//!     fn handle_timeout(&mut self, _: Time) {}
//!     fn poll_output(&mut self) -> Option<Datagram<Bytes>> { self.ready.pop() }
//!     fn poll_timeout(&self) -> Option<Time> { None }
//! }
//!
//! # fn main() -> std::io::Result<()> {
//! let mut poller = Poller::new(Clock::start())?;
//! let local = "127.0.0.1:0".parse().unwrap();
//! let mut host = UdpHost::bind(&poller.registry(), &[local])?;
//! let echo = host.socket(headway_sansio::Address(0)).unwrap();
//! let client = std::net::UdpSocket::bind(local)?;
//! client.send_to(b"hello", echo)?;
//!
//! let mut machine = Echo::default();
//! let end = Time::ZERO + Duration::from_secs(5);
//! let ending = run(&mut machine, &mut host, &mut poller, Some(end), |m, _| m.echoed == 1)?;
//! assert_eq!(ending, Ending::Finished);
//! let mut buffer = [0; 16];
//! assert_eq!(client.recv(&mut buffer)?, 5);
//! # Ok(())
//! # }
//! ```

mod addresses;
mod clock;
mod driver;
mod poller;
pub mod sctp;
mod timeouts;
mod udp;
mod udp_host;

pub use addresses::AddressTable;
pub use clock::Clock;
pub use driver::{Ending, Outside, run};
pub use poller::{Interest, Poller, Ready, Registry, Token, Woken};
pub use timeouts::Timeouts;
pub use udp::{ReceiveBuffers, Received, UdpCounters, UdpPort};
pub use udp_host::{UdpHost, ip_overhead};
