//! The relay's sockets: one for all clients, and one for each towards the target.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use headway_net::{
    Outside, Ready, ReceiveBuffers, Received, Registry, Token, UdpCounters, UdpPort, ip_overhead,
};
use headway_sansio::{Address, Duration, Time};

use super::{Direction, Parcel};

/// Token of the socket that clients send to. A client's socket has its number.
const LISTENING: Token = Token(0);

/// Maps clients to sockets towards the target and back, as a NAT does.
pub(super) struct Sockets {
    listening: UdpPort,
    target: SocketAddr,
    registry: Registry,
    limits: Limits,
    numbers: HashMap<SocketAddr, u32>,
    clients: BTreeMap<u32, Client>,
    /// Never given twice, so that late packets of a forgotten client reach nobody.
    last_number: u32,
    buffers: ReceiveBuffers,
    received: Vec<Received>,
    /// Clients whose sockets have something to send.
    written: Vec<u32>,
    counters: ClientCounters,
    /// Totals of sockets that are closed.
    closed: UdpCounters,
}

/// How many clients, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) clients: usize,
    pub(super) idle: Duration,
}

struct Client {
    address: SocketAddr,
    port: UdpPort,
    last_heard: Time,
}

/// What became of clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ClientCounters {
    /// Clients that got a socket.
    pub(super) seen: u64,
    /// Of these, forgotten for another.
    pub(super) forgotten: u64,
    /// Datagrams of clients for which there was no socket.
    pub(super) refused_pkts: u64,
    /// Packets that came out of the path for a client that was forgotten.
    pub(super) orphaned_pkts: u64,
}

impl Sockets {
    pub(super) fn bind(
        registry: &Registry,
        listen: SocketAddr,
        target: SocketAddr,
        limits: Limits,
    ) -> io::Result<Self> {
        let mut listening = UdpPort::bind(listen)?;
        listening.register(registry, LISTENING)?;
        Ok(Self {
            listening,
            target,
            registry: registry.clone(),
            limits,
            numbers: HashMap::new(),
            clients: BTreeMap::new(),
            last_number: 0,
            buffers: ReceiveBuffers::default(),
            received: Vec::new(),
            written: Vec::new(),
            counters: ClientCounters::default(),
            closed: UdpCounters::default(),
        })
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.listening.local()
    }

    pub(super) fn client_counters(&self) -> ClientCounters {
        self.counters
    }

    /// Totals of all sockets, closed ones included.
    pub(super) fn udp_counters(&self) -> UdpCounters {
        let open = self.clients.values().map(|client| client.port.counters());
        open.chain([self.listening.counters()])
            .fold(self.closed, sum)
    }

    /// The number of a client, who gets a socket where there is none yet.
    fn number(&mut self, now: Time, address: SocketAddr) -> Option<u32> {
        if let Some(number) = self.numbers.get(&address) {
            return Some(*number);
        }
        if self.clients.len() >= self.limits.clients {
            self.forget_silent(now)?;
        }
        let number = self.last_number.checked_add(1)?;
        let mut port = UdpPort::connect(towards(self.target), self.target).ok()?;
        port.register(&self.registry, Token(u64::from(number)))
            .ok()?;
        self.last_number = number;
        self.numbers.insert(address, number);
        let client = Client {
            address,
            port,
            last_heard: now,
        };
        self.clients.insert(number, client);
        self.counters.seen += 1;
        Some(number)
    }

    /// Forgets the client silent for longest; `None` where all were heard lately.
    fn forget_silent(&mut self, now: Time) -> Option<()> {
        let (number, client) = self
            .clients
            .iter()
            .min_by_key(|(_, client)| client.last_heard)?;
        if now.since(client.last_heard) < self.limits.idle {
            return None;
        }
        let number = *number;
        let client = self.clients.remove(&number)?;
        self.numbers.remove(&client.address);
        self.closed = sum(self.closed, client.port.counters());
        self.counters.forgotten += 1;
        Some(())
    }

    fn read_clients(&mut self, now: Time, into: &mut Vec<Parcel>) -> io::Result<()> {
        self.listening
            .receive(&mut self.buffers, &mut self.received)?;
        let headers = ip_overhead(&self.target);
        for Received { from, payload } in std::mem::take(&mut self.received) {
            let Some(number) = self.number(now, from) else {
                self.counters.refused_pkts += 1;
                continue;
            };
            if let Some(client) = self.clients.get_mut(&number) {
                client.last_heard = now;
            }
            into.push(Parcel {
                client: Address(number),
                direction: Direction::Forward,
                size_bytes: payload.len() as u32 + headers,
                payload,
            });
        }
        Ok(())
    }

    fn read_target(&mut self, number: u32, into: &mut Vec<Parcel>) -> io::Result<()> {
        let Some(client) = self.clients.get_mut(&number) else {
            return Ok(());
        };
        client.port.receive(&mut self.buffers, &mut self.received)?;
        let headers = ip_overhead(&self.target);
        into.extend(
            self.received
                .drain(..)
                .map(|Received { payload, .. }| Parcel {
                    client: Address(number),
                    direction: Direction::Reverse,
                    size_bytes: payload.len() as u32 + headers,
                    payload,
                }),
        );
        Ok(())
    }
}

impl Outside for Sockets {
    type Input = Parcel;
    type Output = Parcel;

    fn read(&mut self, now: Time, ready: Ready, into: &mut Vec<Parcel>) -> io::Result<()> {
        // Room to write shows in the next flush.
        match (ready.token, u32::try_from(ready.token.0)) {
            (LISTENING, _) if ready.writable => self.listening.flush()?,
            (_, Ok(number)) if ready.writable => self.written.push(number),
            _ => {}
        }
        match (ready.token, u32::try_from(ready.token.0)) {
            (LISTENING, _) if ready.readable => self.read_clients(now, into),
            (_, Ok(number)) if ready.readable => self.read_target(number, into),
            _ => Ok(()),
        }
    }

    fn write(&mut self, _now: Time, parcel: Parcel) {
        let number = parcel.client.0;
        let Some(client) = self.clients.get_mut(&number) else {
            self.counters.orphaned_pkts += 1;
            return;
        };
        match parcel.direction {
            Direction::Forward => {
                client.port.send(self.target, parcel.payload);
                if self.written.last() != Some(&number) {
                    self.written.push(number);
                }
            }
            Direction::Reverse => self.listening.send(client.address, parcel.payload),
        }
    }

    fn flush(&mut self, _into: &mut Vec<Parcel>) -> io::Result<()> {
        self.listening.flush()?;
        for number in self.written.drain(..) {
            if let Some(client) = self.clients.get_mut(&number) {
                client.port.flush()?;
            }
        }
        Ok(())
    }
}

/// The local address of a socket towards `target`: any port, and nothing wider
/// than loopback where the target is on loopback.
fn towards(target: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match target.ip() {
        IpAddr::V4(ip) if ip.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(ip, 0)
}

fn sum(a: UdpCounters, b: UdpCounters) -> UdpCounters {
    UdpCounters {
        received: a.received + b.received,
        sent: a.sent + b.sent,
        overflowed: a.overflowed + b.overflowed,
        unsent: a.unsent + b.unsent,
        unreachable: a.unreachable + b.unreachable,
    }
}
