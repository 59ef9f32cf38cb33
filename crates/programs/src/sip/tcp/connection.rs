//! One TCP connection and the messages on it (RFC 3261 section 18.3).

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::{Buf, Bytes, BytesMut};
use headway_apps::sip::message::message_length;
use headway_net::{Interest, Registry, Token};
use socket2::Socket;

/// The longest message that is taken; a stream that announces a longer one, or
/// whose headers do not end before, is closed.
const LONGEST_MESSAGE: usize = 1 << 20;

/// Bytes that may wait for the peer to read. One that reads so little is given up.
const MOST_UNSENT: usize = 16 << 20;

/// Bytes read at a time.
const PIECE: usize = 64 << 10;

/// A connection that is being made, or is there.
#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    token: Token,
    pub(super) remote: SocketAddr,
    connecting: bool,
    input: BytesMut,
    output: BytesMut,
    watched_for_room: bool,
}

/// What is left of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// It goes on.
    Open,
    /// It has ended, or must be ended.
    Closed,
}

impl Connection {
    /// Takes a connection that exists, or one that was only begun.
    pub(super) fn new(
        socket: Socket,
        remote: SocketAddr,
        connecting: bool,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        // Small messages are to leave at once.
        socket.set_tcp_nodelay(true)?;
        let interest = if connecting {
            Interest::ReadWrite
        } else {
            Interest::Read
        };
        registry.add(&socket, token, interest)?;
        Ok(Self {
            socket,
            token,
            remote,
            connecting,
            input: BytesMut::new(),
            output: BytesMut::new(),
            watched_for_room: connecting,
        })
    }

    /// Reads what is there, a bounded amount, and appends whole messages.
    pub(super) fn read(&mut self, into: &mut Vec<Bytes>) -> Health {
        let filled = self.input.len();
        self.input.resize(filled + PIECE, 0);
        let result = self.socket.read(&mut self.input[filled..]);
        self.input.truncate(filled + *result.as_ref().unwrap_or(&0));
        let end = match result {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) if is_passing(&error) => return Health::Open,
            Err(_) => true,
        };
        match (split(&mut self.input, into), end) {
            (Health::Open, false) => Health::Open,
            _ => Health::Closed,
        }
    }

    /// Queues a message.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Health {
        if self.output.len() + bytes.len() > MOST_UNSENT {
            return Health::Closed;
        }
        self.output.extend_from_slice(bytes);
        Health::Open
    }

    /// Sends what is queued, as far as the kernel takes it.
    pub(super) fn flush(&mut self, registry: &Registry) -> Health {
        while !self.connecting && !self.output.is_empty() {
            match self.socket.write(&self.output) {
                Ok(0) => return Health::Closed,
                Ok(sent) => self.output.advance(sent),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if is_passing(&error) => {}
                Err(_) => return Health::Closed,
            }
        }
        let for_room = self.connecting || !self.output.is_empty();
        if for_room != self.watched_for_room {
            let interest = if for_room {
                Interest::ReadWrite
            } else {
                Interest::Read
            };
            if registry.change(&self.socket, self.token, interest).is_err() {
                return Health::Closed;
            }
            self.watched_for_room = for_room;
        }
        Health::Open
    }

    /// There is room to write: a connection that was being made is there, or not.
    pub(super) fn handle_room(&mut self) -> Health {
        if !self.connecting {
            return Health::Open;
        }
        self.connecting = false;
        match self.socket.take_error() {
            Ok(None) => Health::Open,
            Ok(Some(_)) | Err(_) => Health::Closed,
        }
    }

    /// Whether it is still being made.
    pub(super) fn is_connecting(&self) -> bool {
        self.connecting
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Takes whole messages off the front of a stream, and line ends between them.
pub fn split(stream: &mut BytesMut, into: &mut Vec<Bytes>) -> Health {
    loop {
        // Line ends between messages keep a connection alive and mean nothing.
        let blank = stream
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n'))
            .count();
        stream.advance(blank);
        match message_length(stream) {
            Ok(Some(length)) if length > LONGEST_MESSAGE => return Health::Closed,
            Ok(Some(length)) if length <= stream.len() => {
                into.push(stream.split_to(length).freeze());
            }
            Ok(_) if stream.len() > LONGEST_MESSAGE => return Health::Closed,
            Ok(_) => return Health::Open,
            Err(_) => return Health::Closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> String {
        format!(
            "OPTIONS sip:b SIP/2.0\r\nVia: SIP/2.0/TCP a;branch=z9hG4bK1\r\nl: {}\r\n\r\n{body}",
            body.len()
        )
    }

    fn pieces(text: &str, size: usize) -> (Vec<Bytes>, Health) {
        let mut stream = BytesMut::new();
        let mut messages = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            stream.extend_from_slice(piece);
            if split(&mut stream, &mut messages) == Health::Closed {
                return (messages, Health::Closed);
            }
        }
        (messages, Health::Open)
    }

    #[test]
    fn a_stream_divides_alike_however_it_comes() {
        let first = message("v=0\r\n\r\nOPTIONS sip:no SIP/2.0\r\n\r\n");
        let text = format!("\r\n\r\n{first}{}\r\n\r\n{}", message(""), message("x"));
        let expected = [first, message(""), message("x")];
        for size in [1, 2, 3, 7, 64, 100_000] {
            assert_eq!(
                pieces(&text, size),
                (expected.clone().map(Bytes::from).to_vec(), Health::Open)
            );
        }
    }

    #[test]
    fn what_cannot_be_divided_closes() {
        let broken = message("").replace("l: 0\r\n", "");
        assert_eq!(pieces(&broken, 5).1, Health::Closed);
        let endless = "OPTIONS sip:b SIP/2.0\r\n".to_owned() + &"a: b\r\n".repeat(200_000);
        assert_eq!(pieces(&endless, PIECE).1, Health::Closed);
        let huge = message("").replace("l: 0", "l: 1048577");
        assert_eq!(pieces(&huge, 1000), (Vec::new(), Health::Closed));
        let (good, health) = pieces(&(message("x") + "garbage\r\n\r\n"), 1000);
        assert_eq!(
            (good, health),
            (vec![Bytes::from(message("x"))], Health::Closed)
        );
    }
}
