//! What an association costs in memory while nothing happens.

use std::alloc::System;
use std::sync::Arc;

use headway_sansio::{Address, Duration, Payload, Time};
use headway_sctp::{AssociationId, Config, Endpoint, EndpointEvent, Event, Host, Message};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const ASSOCIATIONS: usize = 10_000;
const MOST_BYTES: usize = 4 * 1024;

struct Both {
    now: Time,
    server: Endpoint,
    client: Endpoint,
    accepted: Vec<AssociationId>,
    messages: usize,
}

impl Both {
    /// Carries packets to and fro until nothing is left, without delay.
    fn exchange(&mut self) {
        loop {
            let mut quiet = true;
            while let Some(event) = self.server.poll_event() {
                match event {
                    EndpointEvent::Incoming(id) => self.accepted.push(id),
                    EndpointEvent::Association(_, Event::Message(_)) => self.messages += 1,
                    _ => {}
                }
            }
            while let Some(event) = self.client.poll_event() {
                if let EndpointEvent::Association(_, Event::Message(_)) = event {
                    self.messages += 1;
                }
            }
            while let Some(datagram) = self.client.poll_transmit() {
                self.server.handle_input(self.now, datagram);
                quiet = false;
            }
            while let Some(datagram) = self.server.poll_transmit() {
                self.client.handle_input(self.now, datagram);
                quiet = false;
            }
            if quiet {
                return;
            }
        }
    }

    /// Lets delayed SACKs go out.
    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        self.exchange();
    }
}

fn message(stream: u16, bytes: u32) -> Message {
    Message {
        stream,
        ppid: 0,
        unordered: false,
        payload: Payload::Sized(bytes),
        ..Message::default()
    }
}

fn in_use(region: &Region<'_, System>) -> usize {
    let change = region.change();
    change.bytes_allocated - change.bytes_deallocated
}

/// One test, so that no other thread allocates meanwhile.
#[test]
fn ten_thousand_idle_associations_take_at_most_4_kib_each() {
    let config = Arc::new(Config::default());
    let end = |n: u32| {
        let host = Arc::new(Host::new(vec![Address(n)]));
        Endpoint::new(Arc::clone(&config), host, [n as u8; 32])
    };
    let mut both = Both {
        now: Time::ZERO,
        server: end(1),
        client: end(2),
        accepted: Vec::with_capacity(ASSOCIATIONS),
        messages: 0,
    };
    both.server.listen(7);
    let region = Region::new(ALLOCATOR);
    let mut calls = Vec::with_capacity(ASSOCIATIONS);
    for port in 1..=ASSOCIATIONS as u16 {
        let id = both.client.connect(both.now, port, 7, &[Address(1)]);
        calls.push(id.unwrap());
        both.exchange();
    }
    assert_eq!(both.accepted.len(), ASSOCIATIONS);
    let fresh = in_use(&region) / (2 * ASSOCIATIONS);
    // A window's worth of messages on several streams each way, and silence.
    for (&call, &accepted) in calls.iter().zip(&both.accepted.clone()) {
        for stream in 0..4 {
            for _ in 0..8 {
                both.client
                    .with(both.now, call, |a| a.send(both.now, message(stream, 1_000)))
                    .unwrap()
                    .unwrap();
                both.server
                    .with(both.now, accepted, |a| {
                        a.send(both.now, message(stream, 1_000))
                    })
                    .unwrap()
                    .unwrap();
            }
        }
        both.exchange();
    }
    both.wait(Duration::from_millis(200));
    assert_eq!(both.messages, ASSOCIATIONS * 64);
    let busy = in_use(&region) / (2 * ASSOCIATIONS);
    // The first heartbeat gives back what busier times needed.
    both.wait(Duration::from_secs(40));
    let used = in_use(&region) / (2 * ASSOCIATIONS);
    println!("bytes for each idle association: {fresh} fresh, {busy} after use, {used} when idle");
    assert!(fresh <= MOST_BYTES, "{fresh}");
    assert!(used <= MOST_BYTES, "{used}");

    // All that was taken is given back when they end.
    for id in calls {
        both.client.with(both.now, id, |a| a.shutdown(both.now));
    }
    both.exchange();
    assert_eq!(
        both.server.association_count() + both.client.association_count(),
        0
    );
    let left = in_use(&region) / (2 * ASSOCIATIONS);
    println!("and {left} once it has ended");
    // Its place in the table, and its tag while a cookie that bears it is good.
    assert!(left <= 256, "{left}");
}
