//! SIP over TCP.

mod connection;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use headway_apps::Peer;
use headway_net::{Interest, Outside, Ready, Registry, Token};
use headway_sansio::Time;
use nix::errno::Errno;
use socket2::{Domain, Socket, Type};

use self::connection::Connection;
pub use self::connection::{Health, split};
use super::agent::{FromTransport, ToTransport};

/// Connections at a time; further ones are closed at once.
const MOST_CONNECTIONS: usize = 1_000;

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: i32 = 1_024;

/// How long the first connection may take to be made.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Token of the listening socket; a connection has its peer's number.
const LISTENING: Token = Token(u32::MAX as u64 + 1);

/// The connections of a user agent; each one is a peer.
///
/// The agent's responses go back over the connection of the request (RFC 3261
/// section 18.2.2). Where that is gone they are lost: the Via's address would be
/// next, but the clients of a laboratory rarely listen there.
pub(super) struct TcpTransport {
    registry: Registry,
    listening: Option<Socket>,
    local: SocketAddr,
    connections: BTreeMap<u32, Connection>,
    /// Peers that this side connects to, and again when the connection is lost.
    dialled: BTreeMap<u32, SocketAddr>,
    last_peer: u32,
    /// Peers with something to send.
    written: Vec<u32>,
    /// Peers to whom nothing can be sent, found while writing.
    failed: Vec<u32>,
    /// Descriptors were short, and no connection is accepted until one is closed.
    full: bool,
    messages: Vec<Bytes>,
    counters: TcpCounters,
}

/// What became of connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct TcpCounters {
    /// Connections made or accepted.
    pub(super) connections: u64,
    /// Connections not accepted because there were too many.
    pub(super) refused: u64,
    /// Messages for a peer whose connection was gone.
    pub(super) unsent: u64,
}

impl TcpTransport {
    /// Takes connections on `local`.
    pub(super) fn listen(registry: &Registry, local: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(local), Type::STREAM, None)?;
        // A server that is started again finds its port free at once.
        socket.set_reuse_address(true)?;
        socket.bind(&local.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        registry.add(&socket, LISTENING, Interest::Read)?;
        let local = socket.local_addr()?.as_socket().unwrap_or(local);
        Ok(Self::new(registry, Some(socket), local))
    }

    /// Connects to `target`, which is the peer given back, and waits for success.
    pub(super) fn connect(
        registry: &Registry,
        local: SocketAddr,
        target: SocketAddr,
    ) -> io::Result<(Self, Peer)> {
        let socket = Socket::new(Domain::for_address(target), Type::STREAM, None)?;
        socket.bind(&local.into())?;
        socket.connect_timeout(&target.into(), PATIENCE)?;
        let local = socket.local_addr()?.as_socket().unwrap_or(local);
        let mut transport = Self::new(registry, None, local);
        let number = transport.insert(socket, target, false)?;
        transport.dialled.insert(number, target);
        Ok((transport, Peer(number)))
    }

    fn new(registry: &Registry, listening: Option<Socket>, local: SocketAddr) -> Self {
        Self {
            registry: registry.clone(),
            listening,
            local,
            connections: BTreeMap::new(),
            dialled: BTreeMap::new(),
            last_peer: 0,
            written: Vec::new(),
            failed: Vec::new(),
            full: false,
            messages: Vec::new(),
            counters: TcpCounters::default(),
        }
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.local
    }

    pub(super) fn counters(&self) -> TcpCounters {
        self.counters
    }

    fn insert(&mut self, socket: Socket, remote: SocketAddr, connecting: bool) -> io::Result<u32> {
        let number = self
            .last_peer
            .checked_add(1)
            .ok_or(io::ErrorKind::QuotaExceeded)?;
        self.insert_as(number, socket, remote, connecting)?;
        self.last_peer = number;
        Ok(number)
    }

    fn insert_as(
        &mut self,
        number: u32,
        socket: Socket,
        remote: SocketAddr,
        connecting: bool,
    ) -> io::Result<()> {
        let token = Token(u64::from(number));
        let connection = Connection::new(socket, remote, connecting, &self.registry, token)?;
        self.connections.insert(number, connection);
        self.counters.connections += 1;
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        let Some(listening) = &self.listening else {
            return Ok(());
        };
        match listening.accept() {
            Ok(_) if self.connections.len() >= MOST_CONNECTIONS => self.counters.refused += 1,
            Ok((socket, address)) => {
                let remote = address.as_socket().unwrap_or(self.local);
                // A connection that is gone already is the peer's own loss.
                let _ = self.insert(socket, remote, false);
            }
            // The socket would stay ready and keep the program busy for nothing.
            Err(error) if is_shortage(&error) && !self.connections.is_empty() => {
                self.registry.remove(listening)?;
                self.full = true;
            }
            Err(error) if is_shortage(&error) => return Err(error),
            // The peer went away before.
            Err(_) => {}
        }
        Ok(())
    }

    /// Begins to make a lost connection again.
    fn dial(&mut self, number: u32) -> io::Result<()> {
        let target = *self
            .dialled
            .get(&number)
            .ok_or(io::ErrorKind::NotConnected)?;
        let socket = Socket::new(Domain::for_address(target), Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        match socket.connect(&target.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(Errno::EINPROGRESS as i32) => {}
            Err(error) => return Err(error),
        }
        self.insert_as(number, socket, target, true)
    }

    fn close(&mut self, number: u32, into: &mut Vec<FromTransport>) -> io::Result<()> {
        if self.connections.remove(&number).is_some() {
            into.push(FromTransport::Failed(Peer(number)));
        }
        if let Some(listening) = &self.listening
            && std::mem::take(&mut self.full)
        {
            self.registry.add(listening, LISTENING, Interest::Read)?;
        }
        Ok(())
    }

    fn read_connection(
        &mut self,
        number: u32,
        ready: Ready,
        into: &mut Vec<FromTransport>,
    ) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&number) else {
            return Ok(());
        };
        let mut health = Health::Open;
        if ready.writable {
            health = connection.handle_room();
            self.written.push(number);
        }
        if health == Health::Open && ready.readable && !connection.is_connecting() {
            health = connection.read(&mut self.messages);
        }
        let (from, address) = (Peer(number), connection.remote.ip());
        into.extend(self.messages.drain(..).map(|bytes| FromTransport::Message {
            from,
            address,
            bytes,
        }));
        if health == Health::Closed {
            self.close(number, into)?;
        }
        Ok(())
    }
}

impl Outside for TcpTransport {
    type Input = FromTransport;
    type Output = ToTransport;

    fn read(&mut self, _now: Time, ready: Ready, into: &mut Vec<FromTransport>) -> io::Result<()> {
        match u32::try_from(ready.token.0) {
            Ok(number) => self.read_connection(number, ready, into),
            Err(_) => self.accept(),
        }
    }

    fn write(&mut self, _now: Time, output: ToTransport) {
        let number = output.to.0;
        if !self.connections.contains_key(&number) && self.dial(number).is_err() {
            self.counters.unsent += 1;
            self.failed.push(number);
            return;
        }
        if let Some(connection) = self.connections.get_mut(&number) {
            match connection.write(&output.bytes) {
                Health::Open => self.written.push(number),
                Health::Closed => self.failed.push(number),
            }
        }
    }

    fn flush(&mut self, into: &mut Vec<FromTransport>) -> io::Result<()> {
        self.written.sort_unstable();
        self.written.dedup();
        for number in self.written.drain(..) {
            if let Some(connection) = self.connections.get_mut(&number)
                && connection.flush(&self.registry) == Health::Closed
            {
                self.failed.push(number);
            }
        }
        for number in std::mem::take(&mut self.failed) {
            if self.connections.contains_key(&number) {
                self.close(number, into)?;
            } else {
                into.push(FromTransport::Failed(Peer(number)));
            }
        }
        Ok(())
    }
}

/// Whether the program or the system has no descriptors left.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::EMFILE as i32, Errno::ENFILE as i32];
    error
        .raw_os_error()
        .is_some_and(|code| shortages.contains(&code))
}
