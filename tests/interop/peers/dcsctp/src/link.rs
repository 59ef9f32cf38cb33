//! A dcsctp socket over UDP in real time.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use dcsctp::api::{DcSctpSocket, ErrorKind, Socket, SocketEvent, SocketTime, StreamId};

use crate::settings::Settings;

/// One association and the socket that carries it.
pub(crate) struct Link {
    pub(crate) socket: Socket,
    udp: UdpSocket,
    remote: SocketAddr,
    began: Instant,
    /// Streams that the peer has reset and that were not looked at yet.
    pub(crate) reset_by_peer: Vec<StreamId>,
    pub(crate) resets_in: usize,
    pub(crate) resets_out: usize,
    pub(crate) restarts: u32,
    pub(crate) up: bool,
    /// How it ended.
    pub(crate) ended: Option<String>,
}

/// Binds the UDP socket.
pub(crate) fn bind(settings: &Settings) -> io::Result<UdpSocket> {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, settings.udp))
}

impl Link {
    pub(crate) fn new(settings: &Settings, udp: UdpSocket, remote: SocketAddr) -> Self {
        Self {
            socket: Socket::new("peer", &settings.options()),
            udp,
            remote,
            began: Instant::now(),
            reset_by_peer: Vec::new(),
            resets_in: 0,
            resets_out: 0,
            restarts: 0,
            up: false,
            ended: None,
        }
    }

    pub(crate) fn tick(&mut self) {
        self.socket
            .advance_time(SocketTime::zero() + self.began.elapsed());
    }

    /// Waits for a packet or a timer, at most `longest`, and handles it.
    pub(crate) fn step(&mut self, longest: Duration) -> io::Result<()> {
        self.tick();
        self.drain();
        let now = SocketTime::zero() + self.began.elapsed();
        let due = self.socket.poll_timeout();
        let wait = if due == SocketTime::infinite_future() {
            longest
        } else {
            (due - now).min(longest)
        };
        // A time-out of zero would mean none.
        self.udp
            .set_read_timeout(Some(wait.max(Duration::from_micros(100))))?;
        let mut buffer = [0; 65_536];
        match self.udp.recv_from(&mut buffer) {
            Ok((length, from)) => {
                self.remote = from;
                self.tick();
                self.socket.handle_input(&buffer[..length]);
            }
            Err(error) if is_temporary(&error) => self.tick(),
            Err(error) => return Err(error),
        }
        self.drain();
        Ok(())
    }

    /// A packet that was read before the association existed.
    pub(crate) fn input(&mut self, packet: &[u8]) {
        self.tick();
        self.socket.handle_input(packet);
        self.drain();
    }

    /// Sends what is to be sent and notes what is told.
    pub(crate) fn drain(&mut self) {
        while let Some(event) = self.socket.poll_event() {
            match event {
                SocketEvent::SendPacket(packet) => {
                    // What UDP does not take is lost, as on any path.
                    let _ = self.udp.send_to(&packet, self.remote);
                }
                SocketEvent::OnConnected() => self.up = true,
                SocketEvent::OnConnectionRestarted() => self.restarts += 1,
                SocketEvent::OnClosed() => self.end("shutdown"),
                SocketEvent::OnAborted(ErrorKind::PeerReported, _) => self.end("abort"),
                SocketEvent::OnAborted(ErrorKind::TooManyRetries, _) => self.end("lost"),
                SocketEvent::OnAborted(_, text) => self.end(&text),
                SocketEvent::OnStreamsResetPerformed(streams) => self.resets_out += streams.len(),
                SocketEvent::OnIncomingStreamReset(streams) => {
                    self.resets_in += streams.len().max(1);
                    self.reset_by_peer.extend(streams);
                }
                _ => {}
            }
        }
    }

    /// What ended it first counts.
    pub(crate) fn end(&mut self, how: &str) {
        self.ended.get_or_insert_with(|| how.to_owned());
    }

    /// Whether I-DATA was agreed on.
    pub(crate) fn interleaves(&self) -> bool {
        let metrics = self.socket.get_metrics();
        metrics.is_some_and(|metrics| metrics.uses_message_interleaving)
    }
}

/// A time-out of the read, or an ICMP report, on which the association decides.
pub(crate) fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::TimedOut
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionRefused
    )
}
