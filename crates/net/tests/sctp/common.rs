//! What the tests share: endpoints on loopback, an echo, and a way between them
//! that can be tampered with.

use std::future::Future;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use headway_net::sctp::{Association, Config, Endpoint, EndpointConfig, Message, Peer};
use headway_sansio::Duration as Nanos;

pub(crate) const PORT: u16 = 7;

pub(crate) fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// Timers for a network without distance.
pub(crate) fn fast() -> Config {
    Config {
        rto_initial: Nanos::from_millis(50),
        rto_min: Nanos::from_millis(30),
        rto_max: Nanos::from_millis(100),
        heartbeat_interval: Nanos::from_millis(100),
        association_max_retransmits: 3,
        path_max_retransmits: 3,
        init_max_retransmits: 3,
        ..Config::default()
    }
}

pub(crate) fn server(config: Config) -> Endpoint {
    Endpoint::bind(EndpointConfig::udp(loopback()).listen(PORT).sctp(config)).unwrap()
}

pub(crate) fn client(config: Config) -> Endpoint {
    Endpoint::bind(EndpointConfig::udp(loopback()).sctp(config)).unwrap()
}

pub(crate) fn peer(server: &Endpoint) -> Peer {
    Peer::new(server.local_addrs()[0], PORT)
}

/// Both ends of an association between two endpoints.
pub(crate) async fn pair(server: &Endpoint, client: &Endpoint) -> (Association, Association) {
    let (accepted, connected) = tokio::join!(server.accept(), client.connect(peer(server)));
    (accepted.unwrap(), connected.unwrap())
}

/// Nothing here takes long unless something is wrong.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what)
        .await
        .expect("in time")
}

/// Sends everything back, on all associations that come.
pub(crate) fn echo(endpoint: Endpoint) {
    tokio::spawn(async move {
        while let Ok(association) = endpoint.accept().await {
            tokio::spawn(async move {
                while let Ok(Some(message)) = association.recv().await {
                    if association.send(message.into()).await.is_err() {
                        return;
                    }
                }
                let _ = association.ended().await;
            });
        }
    });
}

pub(crate) async fn ping(association: &Association, payload: &'static [u8]) {
    soon(association.send(Message::new(payload))).await.unwrap();
    let echo = soon(association.recv()).await.unwrap().unwrap();
    assert_eq!(&echo.payload[..], payload);
}

/// A relay in the way of an address translator: what it gets from the client goes
/// to the server from a port of its own, and back.
pub(crate) struct Way {
    pub(crate) inside: SocketAddr,
    /// Which of its two outer ports it uses.
    pub(crate) port: Arc<AtomicUsize>,
    pub(crate) cut: Arc<AtomicBool>,
}

/// Changes a packet on its way; the flag tells whether it goes to the server.
pub(crate) type Tamper = fn(bool, Vec<u8>) -> Vec<u8>;

impl Way {
    pub(crate) fn to(server: SocketAddr, tamper: Tamper) -> Self {
        let open = || {
            let socket = UdpSocket::bind(loopback()).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        let inner = open();
        let outer = [open(), open()];
        let way = Self {
            inside: inner.local_addr().unwrap(),
            port: Arc::default(),
            cut: Arc::default(),
        };
        let (port, cut) = (Arc::clone(&way.port), Arc::clone(&way.cut));
        tokio::spawn(async move {
            let inner = tokio::net::UdpSocket::from_std(inner).unwrap();
            let outer = outer.map(|socket| tokio::net::UdpSocket::from_std(socket).unwrap());
            let mut client = None;
            let mut buffers = [[0; 2048]; 3];
            let [a, b, c] = &mut buffers;
            loop {
                let (to_server, bytes) = tokio::select! {
                    got = inner.recv_from(a) => {
                        let (length, from) = got.unwrap();
                        client = Some(from);
                        (true, a[..length].to_vec())
                    }
                    Ok(length) = outer[0].recv(b) => (false, b[..length].to_vec()),
                    Ok(length) = outer[1].recv(c) => (false, c[..length].to_vec()),
                };
                if cut.load(Ordering::Relaxed) {
                    continue;
                }
                let bytes = tamper(to_server, bytes);
                let sent = match (to_server, client) {
                    (true, _) => {
                        let port = port.load(Ordering::Relaxed);
                        outer[port].send_to(&bytes, server).await
                    }
                    (false, Some(client)) => inner.send_to(&bytes, client).await,
                    (false, None) => continue,
                };
                sent.unwrap();
            }
        });
        way
    }
}
