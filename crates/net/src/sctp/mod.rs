//! SCTP for programs, on tokio, in the way of its TCP.
//!
//! An [`Endpoint`] owns sockets and a driver task; an [`Association`] is one of
//! many behind it. The protocol itself is the machine of [`headway_sctp`].
//!
//! ```
//! use headway_net::sctp::{Endpoint, EndpointConfig, Message, Peer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let anywhere = "127.0.0.1:0".parse()?;
//! let server = Endpoint::bind(EndpointConfig::udp(anywhere).listen(7))?;
//! let address = server.local_addrs()[0];
//! tokio::spawn(async move {
//!     let association = server.accept().await?;
//!     while let Some(message) = association.recv().await? {
//!         association.send(message.into()).await?;
//!     }
//!     association.ended().await?;
//!     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
//! });
//!
//! let client = Endpoint::bind(EndpointConfig::udp(anywhere))?;
//! let association = client.connect(Peer::new(address, 7)).await?;
//! association.send(Message { stream: 3, ppid: 46, ..Message::new("hello") }).await?;
//! let echo = association.recv().await?.ok_or("it ended")?;
//! assert_eq!((echo.stream, echo.ppid, &echo.payload[..]), (3, 46, &b"hello"[..]));
//! association.shutdown().await?;
//! # Ok(())
//! # }
//! ```

mod association;
mod carrier;
mod config;
mod core;
mod driver;
mod dtls;
mod endpoint;
mod error;
mod peers;
mod raw;
mod slot;
mod trust;

pub use association::{Association, Message};
pub use config::{ENCAPSULATION_PORT, EndpointConfig, Peer, Transport};
pub use endpoint::{Endpoint, NetworkStats};
pub use error::{AssociationError, ConnectError, SendError};
pub use headway_sctp::{
    Abandoned, AssociationState, Cause, Config, EndpointStats, Event, InitLimit, LostReason,
    MessageId, Overrides, PathState, PathStats, PathStatus, Policy, ReconfigError, ReconfigRequest,
    ReconfigResult, Reliability, Stats,
};
pub use slot::{Notice, PathReport, Received};
pub use trust::DtlsConfig;
