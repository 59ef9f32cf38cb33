//! UDP sockets with batched system calls.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use bytes::Bytes;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, getsockopt, recvmmsg, sendmmsg,
    setsockopt, sockopt,
};

use crate::{Interest, Registry, Token};

/// Datagrams taken or given by one system call. More than this saves little and
/// lets a flood keep timers waiting for longer.
const BATCH: usize = 32;

/// The longest UDP payload.
const LONGEST: usize = 65_535;

/// What is asked of the kernel for each direction of a socket; it gives less
/// where its own limit is lower.
const SOCKET_BUFFER: usize = 4 << 20;

/// How often a datagram is given to the kernel that meets errors. The first ones may
/// be reports, which fail whatever is sent next; they come one by one.
const TRIES: u64 = 4;

/// Datagrams waiting for the socket; more than these are lost, as in a full
/// interface queue.
const OUTBOX: usize = 16_384;

/// A datagram that came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// Its sender.
    pub from: SocketAddr,
    /// Its payload.
    pub payload: Bytes,
}

/// What a socket counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UdpCounters {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams that the kernel threw away because the program did not read
    /// them in time.
    pub overflowed: u64,
    /// Datagrams that the kernel did not take.
    pub unsent: u64,
    /// Reports that an earlier datagram found nobody (ICMP). There may have been more:
    /// the kernel keeps one at a time, and one that meets a batch halfway it forgets.
    pub unreachable: u64,
}

impl std::ops::AddAssign for UdpCounters {
    fn add_assign(&mut self, other: Self) {
        self.received += other.received;
        self.sent += other.sent;
        self.overflowed += other.overflowed;
        self.unsent += other.unsent;
        self.unreachable += other.unreachable;
    }
}

/// A socket that reads and writes in batches and never waits.
#[derive(Debug)]
pub struct UdpPort {
    socket: UdpSocket,
    local: SocketAddr,
    /// It talks IPv4 as well, although its own address is one of IPv6.
    both_versions: bool,
    connected: bool,
    outbox: VecDeque<(SocketAddr, Bytes)>,
    counters: UdpCounters,
    watch: Option<Watch>,
}

/// By whom a socket is watched.
#[derive(Debug)]
struct Watch {
    registry: Registry,
    token: Token,
    /// For room to write as well.
    for_room: bool,
}

/// Buffers to receive into, shared by all sockets of a program.
pub struct ReceiveBuffers {
    buffers: Vec<Vec<u8>>,
}

impl Default for ReceiveBuffers {
    fn default() -> Self {
        Self {
            buffers: vec![vec![0; LONGEST]; BATCH],
        }
    }
}

impl UdpPort {
    /// A socket on `local` that talks to anyone. Port 0 lets the system choose.
    ///
    /// # Errors
    /// Where the address is in use or not of this machine.
    pub fn bind(local: SocketAddr) -> io::Result<Self> {
        Self::open(UdpSocket::bind(local)?, false)
    }

    /// A socket on `local` that talks to `remote` alone: nobody else's datagrams
    /// come in, and reports that `remote` is not there do.
    ///
    /// # Errors
    /// As for [`Self::bind`], and where there is no way to `remote`.
    pub fn connect(local: SocketAddr, remote: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(remote)?;
        Self::open(socket, true)
    }

    /// Any socket that sends and receives datagrams, such as a raw one.
    pub(crate) fn over(socket: UdpSocket) -> io::Result<Self> {
        Self::open(socket, false)
    }

    fn open(socket: UdpSocket, connected: bool) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        setsockopt(&socket, sockopt::RcvBuf, &SOCKET_BUFFER)?;
        setsockopt(&socket, sockopt::SndBuf, &SOCKET_BUFFER)?;
        setsockopt(&socket, sockopt::RxqOvfl, &1)?;
        let local = socket.local_addr()?;
        let both_versions = local.ip().is_unspecified()
            && local.is_ipv6()
            && !getsockopt(&socket, sockopt::Ipv6V6Only)?;
        Ok(Self {
            local,
            both_versions,
            socket,
            connected,
            outbox: VecDeque::new(),
            counters: UdpCounters::default(),
            watch: None,
        })
    }

    /// Has the socket watched, for what comes and, whenever [`Self::flush`] finds
    /// it full, for room.
    ///
    /// # Errors
    /// As for [`Registry::add`].
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.add(&self.socket, token, Interest::Read)?;
        self.watch = Some(Watch {
            registry: registry.clone(),
            token,
            for_room: false,
        });
        Ok(())
    }

    /// Its own address.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Whether it talks both IPv4 and IPv6: it is bound to `[::]`, and the system does
    /// not keep the two apart. IPv4 addresses are IPv4 addresses here all the same,
    /// not IPv6 ones that stand for them (RFC 4291, section 2.5.5.2).
    #[must_use]
    pub fn talks_both_versions(&self) -> bool {
        self.both_versions
    }

    /// What it counted so far.
    #[must_use]
    pub fn counters(&self) -> UdpCounters {
        self.counters
    }

    /// Reads what is there, one batch at most, and appends it to `into`. Says
    /// whether the batch was full, so that there may be more.
    ///
    /// # Errors
    /// Where the socket is broken; what the network reports is only counted.
    pub fn receive(
        &mut self,
        buffers: &mut ReceiveBuffers,
        into: &mut Vec<Received>,
    ) -> io::Result<bool> {
        self.receive_if(buffers, into, |_| true)
    }

    /// The same, without the datagrams that are not `wanted`: those are counted, and
    /// not copied.
    ///
    /// # Errors
    /// As for [`Self::receive`].
    pub fn receive_if(
        &mut self,
        buffers: &mut ReceiveBuffers,
        into: &mut Vec<Received>,
        mut wanted: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<bool> {
        let control = nix::cmsg_space!(u32);
        // The kernel shortens the lengths in the headers, so they serve once.
        let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(BATCH, Some(control));
        let mut slices: Vec<_> = buffers
            .buffers
            .iter_mut()
            .map(|buffer| [IoSliceMut::new(buffer)])
            .collect();
        let flags = MsgFlags::MSG_DONTWAIT;
        let fd = self.socket.as_raw_fd();
        let messages = match recvmmsg(fd, &mut headers, slices.iter_mut(), flags, None) {
            Ok(messages) => messages,
            Err(Errno::EAGAIN) => return Ok(false),
            Err(Errno::EINTR) => return Ok(true),
            Err(error) if is_report(error) => {
                self.counters.unreachable += 1;
                return Ok(true);
            }
            Err(error) => return Err(error.into()),
        };
        let mut came = Vec::with_capacity(BATCH);
        for message in messages {
            for control in message.cmsgs().into_iter().flatten() {
                if let ControlMessageOwned::RxqOvfl(total) = control {
                    self.counters.overflowed = u64::from(total);
                }
            }
            came.push((message.bytes, message.address.as_ref().and_then(to_std)));
        }
        let full = came.len() == BATCH;
        for ((length, from), buffer) in came.into_iter().zip(&buffers.buffers) {
            self.counters.received += 1;
            let payload = &buffer[..length];
            if let Some(from) = from
                && wanted(payload)
            {
                let payload = Bytes::copy_from_slice(payload);
                into.push(Received { from, payload });
            }
        }
        Ok(full)
    }

    /// Puts a datagram into the outbox, to be sent by [`Self::flush`]. A
    /// connected socket sends to its one remote address whatever `to` says.
    pub fn send(&mut self, to: SocketAddr, payload: Bytes) {
        if self.outbox.len() >= OUTBOX {
            self.counters.unsent += 1;
        } else {
            self.outbox.push_back((to, payload));
        }
    }

    /// Sends what is in the outbox. What the kernel does not take for want of
    /// room stays for the next call.
    ///
    /// # Errors
    /// Where the socket is broken.
    pub fn flush(&mut self) -> io::Result<()> {
        self.send_all()?;
        let for_room = self.is_blocked();
        if let Some(watch) = &mut self.watch
            && watch.for_room != for_room
        {
            let interest = if for_room {
                Interest::ReadWrite
            } else {
                Interest::Read
            };
            watch.registry.change(&self.socket, watch.token, interest)?;
            watch.for_room = for_room;
        }
        Ok(())
    }

    fn send_all(&mut self) -> io::Result<()> {
        // What the datagram in front has met so far.
        let mut errors = 0;
        while !self.outbox.is_empty() {
            match self.send_batch() {
                Ok(0) | Err(Errno::EAGAIN | Errno::ENOBUFS) => return Ok(()),
                Ok(sent) => {
                    self.outbox.drain(..sent);
                    self.counters.sent += sent as u64;
                    // It went after all, so they were about others before it.
                    self.counters.unreachable += std::mem::take(&mut errors);
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EBADF | Errno::ENOTSOCK) => {
                    return Err(io::Error::from(Errno::EBADF));
                }
                Err(_) if errors + 1 < TRIES => errors += 1,
                // Too long, no route, forbidden: nothing for this one, but the
                // socket is sound.
                Err(_) => {
                    self.outbox.pop_front();
                    self.counters.unsent += 1;
                    errors = 0;
                }
            }
        }
        Ok(())
    }

    /// Gives the kernel what is in front of the outbox. Says how many it took.
    fn send_batch(&self) -> nix::Result<usize> {
        let count = self.outbox.len().min(BATCH);
        if count == 1 {
            return self.send_one();
        }
        let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(count, None);
        let mut slices = Vec::with_capacity(count);
        let mut addresses: Vec<Option<SockaddrStorage>> = Vec::with_capacity(count);
        for (to, payload) in self.outbox.iter().take(count) {
            slices.push([IoSlice::new(payload)]);
            addresses.push((!self.connected).then(|| self.to_system(*to).into()));
        }
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        let fd = self.socket.as_raw_fd();
        let sent = sendmmsg(fd, &mut headers, &slices, &addresses, [], flags)?;
        Ok(sent.count())
    }

    /// One datagram, for which nothing has to be allocated.
    fn send_one(&self) -> nix::Result<usize> {
        let Some((to, payload)) = self.outbox.front() else {
            return Ok(0);
        };
        let sent = if self.connected {
            self.socket.send(payload)
        } else {
            self.socket.send_to(payload, self.to_system(*to))
        };
        match sent {
            Ok(_) => Ok(1),
            Err(error) => Err(Errno::try_from(error).unwrap_or(Errno::EIO)),
        }
    }

    /// An address as the socket takes it.
    fn to_system(&self, address: SocketAddr) -> SocketAddr {
        match address {
            SocketAddr::V4(v4) if self.local.is_ipv6() => {
                SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port())
            }
            other => other,
        }
    }

    /// Whether datagrams wait for room in the socket.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        !self.outbox.is_empty()
    }
}

impl AsFd for UdpPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Whether an error tells of an earlier datagram's fate rather than of the socket.
fn is_report(error: Errno) -> bool {
    matches!(
        error,
        Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::EHOSTDOWN
    )
}

fn to_std(address: &SockaddrStorage) -> Option<SocketAddr> {
    if let Some(v4) = address.as_sockaddr_in() {
        return Some(SocketAddr::V4((*v4).into()));
    }
    let v6 = SocketAddrV6::from(*address.as_sockaddr_in6()?);
    Some(match v6.ip().to_ipv4_mapped() {
        Some(v4) => SocketAddr::new(v4.into(), v6.port()),
        None => SocketAddr::V6(v6),
    })
}

#[cfg(test)]
mod tests;
