//! Web surfing: sessions of a few pages with time to think between them (the
//! competing traffic of seed 0).
//!
//! [`WebUsers`] are all the clients behind one address and [`WebServer`] the
//! servers behind another. A [`Peer`](crate::Peer) is a connection between the
//! two: the users open one by sending on it and say through
//! [`WebUsers::poll_closed`] when they need it no longer.

mod server;
mod users;
mod workload;

pub use server::WebServer;
pub use users::{WebSeen, WebUsers};
pub use workload::{Arrivals, Connections, WebError, WebWorkload};
