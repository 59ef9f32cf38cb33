//! The crate dcsctp: two sockets.

use std::time::Duration;

use dcsctp::api::{
    DcSctpSocket, Message, Options, PpId, SendOptions, Socket, SocketEvent, SocketTime, StreamId,
};

use crate::cpu::Stopwatch;
use crate::{BUFFER_BYTES, PACKET_BYTES};

struct Pair {
    client: Socket,
    server: Socket,
    now: SocketTime,
    connected: bool,
    received: usize,
}

impl Pair {
    fn new() -> Self {
        let options = Options {
            mtu: PACKET_BYTES as usize,
            max_send_buffer_size: BUFFER_BYTES as usize,
            per_stream_send_queue_limit: BUFFER_BYTES as usize,
            max_receiver_window_buffer_size: BUFFER_BYTES as usize,
            ..Options::default()
        };
        let mut pair = Self {
            client: Socket::new("client", &options),
            server: Socket::new("server", &options),
            now: SocketTime::zero(),
            connected: false,
            received: 0,
        };
        pair.client.connect();
        pair
    }

    /// Carries packets both ways until both ends are silent. Says whether there
    /// were any.
    fn exchange(&mut self) -> bool {
        let mut any = false;
        loop {
            self.now = self.now + Duration::from_micros(1);
            self.client.advance_time(self.now);
            self.server.advance_time(self.now);
            let there = carry(&mut self.client, &mut self.server, &mut self.connected);
            while self.server.get_next_message().is_some() {
                self.received += 1;
            }
            let back = carry(&mut self.server, &mut self.client, &mut false);
            if !there && !back {
                return any;
            }
            any = true;
        }
    }

    /// Nothing moves but time.
    fn wait(&mut self) {
        self.now = self.client.poll_timeout().min(self.server.poll_timeout());
        self.client.advance_time(self.now);
        self.server.advance_time(self.now);
    }
}

/// Carries what `from` has to send, and notes that it is connected.
fn carry(from: &mut Socket, to: &mut Socket, connected: &mut bool) -> bool {
    let mut any = false;
    while let Some(event) = from.poll_event() {
        match event {
            SocketEvent::SendPacket(packet) => {
                any = true;
                to.handle_input(&packet);
            }
            SocketEvent::OnConnected() => *connected = true,
            _ => {}
        }
    }
    any
}

/// CPU microseconds of one message.
pub(crate) fn messages(size: usize, count: usize) -> f64 {
    let mut pair = Pair::new();
    while !pair.connected {
        if !pair.exchange() {
            pair.wait();
        }
    }
    let data = vec![0_u8; size];
    let options = SendOptions::default();
    let warm = count / 10;
    let mut sent = 0;
    // From the message after the warming up on.
    let mut watch = None;
    while pair.received < count + warm {
        let before = sent;
        // Many at a time share packets, one by one each would have its own.
        let room = (BUFFER_BYTES as usize).saturating_sub(pair.client.buffered_amount(StreamId(0)));
        let batch = (room / size).min(count + warm - sent);
        if batch > 0 {
            let message = |_| Message::new(StreamId(0), PpId(0), data.clone());
            let messages = (0..batch).map(message).collect();
            let taken = pair.client.send_many(messages, &options);
            taken.expect("there is room");
            sent += batch;
        }
        if !pair.exchange() && sent == before {
            pair.wait();
        }
        if watch.is_none() && pair.received >= warm {
            watch = Some((Stopwatch::start(), pair.received));
        }
    }
    let (watch, before) = watch.expect("warm is below count");
    watch.micros_each(pair.received - before)
}

/// CPU microseconds of one handshake.
pub(crate) fn handshakes(count: usize) -> f64 {
    let watch = Stopwatch::start();
    for _ in 0..count {
        let mut pair = Pair::new();
        while !pair.connected {
            if !pair.exchange() {
                pair.wait();
            }
        }
    }
    watch.micros_each(count)
}
