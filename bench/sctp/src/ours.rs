//! This project's stack: two endpoints, every packet through the codec.

use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Duration, Payload, Time};
use headway_sctp::{AssociationId, Config, Endpoint, EndpointEvent, Event, Host, Message, Packet};

use crate::cpu::Stopwatch;
use crate::{BUFFER_BYTES, PACKET_BYTES};

const CLIENT: Address = Address(1);
const SERVER: Address = Address(2);
const PORT: u16 = 5000;

struct Pair {
    client: Endpoint,
    server: Endpoint,
    now: Time,
    /// Associations that the client has up, and messages that the server got.
    connected: usize,
    received: usize,
}

impl Pair {
    fn new() -> Self {
        let defaults = Config::default();
        let config = Arc::new(Config {
            mtu_bytes: PACKET_BYTES + defaults.ip_header_bytes,
            send_buffer_bytes: BUFFER_BYTES,
            receive_buffer_bytes: BUFFER_BYTES,
            // Time runs by itself here, and must not decide how many may come.
            init_limit: None,
            ..defaults
        });
        let end = |address, secret| {
            let host = Arc::new(Host::new(vec![address]));
            Endpoint::new(Arc::clone(&config), host, [secret; 32])
        };
        let mut pair = Self {
            client: end(CLIENT, 1),
            server: end(SERVER, 2),
            now: Time::ZERO,
            connected: 0,
            received: 0,
        };
        pair.server.listen(PORT);
        pair
    }

    fn connect(&mut self, local_port: u16) -> AssociationId {
        self.client
            .connect(self.now, local_port, PORT, &[SERVER])
            .expect("the port is free")
    }

    /// Carries packets both ways until both ends are silent. Says whether there
    /// were any.
    fn exchange(&mut self) -> bool {
        let mut any = false;
        loop {
            self.now += Duration::from_micros(1);
            let there = carry(self.now, &mut self.client, &mut self.server);
            while let Some(event) = self.server.poll_event() {
                if let EndpointEvent::Association(_, Event::Message(_)) = event {
                    self.received += 1;
                }
            }
            let back = carry(self.now, &mut self.server, &mut self.client);
            while let Some(event) = self.client.poll_event() {
                if let EndpointEvent::Association(_, Event::Connected { .. }) = event {
                    self.connected += 1;
                }
            }
            if !there && !back {
                return any;
            }
            any = true;
        }
    }

    /// Nothing moves but time.
    fn wait(&mut self) {
        let ends = [&self.client, &self.server];
        let due = ends.into_iter().filter_map(Endpoint::poll_timeout).min();
        self.now = due.expect("something is to happen").max(self.now);
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
    }
}

/// Carries what `from` has to send, as bytes.
fn carry(now: Time, from: &mut Endpoint, to: &mut Endpoint) -> bool {
    let mut any = false;
    while let Some(datagram) = from.poll_transmit() {
        any = true;
        let mut wire = Vec::with_capacity(PACKET_BYTES as usize);
        datagram.body.encode(&mut wire);
        let packet = Packet::decode(&Bytes::from(wire)).expect("it was just written");
        to.handle_input(
            now,
            Datagram {
                source: datagram.source,
                destination: datagram.destination,
                size_bytes: datagram.size_bytes,
                body: packet,
            },
        );
    }
    any
}

/// CPU microseconds of one message.
pub(crate) fn messages(size: usize, count: usize) -> f64 {
    let mut pair = Pair::new();
    let id = pair.connect(6000);
    while pair.connected == 0 {
        if !pair.exchange() {
            pair.wait();
        }
    }
    let data = vec![0_u8; size];
    let warm = count / 10;
    let mut sent = 0;
    // From the message after the warming up on.
    let mut watch = None;
    while pair.received < count + warm {
        let now = pair.now;
        let more = count + warm - sent;
        let taken = pair.client.with(now, id, |association| {
            (0..more)
                .take_while(|_| {
                    let message = Message {
                        // The user's buffer is copied, as by the others.
                        payload: Payload::Bytes(Bytes::copy_from_slice(&data)),
                        ..Message::default()
                    };
                    association.send(now, message).is_ok()
                })
                .count()
        });
        sent += taken.expect("the association lives");
        if !pair.exchange() && taken == Some(0) {
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
    /// Associations of one endpoint.
    const BATCH: usize = 10_000;
    let watch = Stopwatch::start();
    let mut left = count;
    while left > 0 {
        let batch = left.min(BATCH);
        let mut pair = Pair::new();
        for place in 0..batch {
            pair.connect(6000 + place as u16);
            while pair.connected <= place {
                if !pair.exchange() {
                    pair.wait();
                }
            }
        }
        left -= batch;
    }
    watch.micros_each(count)
}
