//! A flood of INITs from sources that nobody is at: it leaves nothing behind, and
//! the association that is there goes on.

#[path = "common/stranger.rs"]
#[allow(unreachable_pub, reason = "other test programs have it in a module")]
mod stranger;

use std::alloc::System;
use std::sync::Arc;

use headway_sansio::{Address, Duration, Payload, RandomStream, Seed, Time};
use headway_sctp::{
    AssociationId, Chunk, Config, Endpoint, EndpointEvent, Event, Host, InitLimit, Message,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stranger::stranger;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const INITS: u64 = 1_000_000;
/// A message goes over the association after so many INITs.
const BETWEEN: u64 = 100;

struct Service {
    now: Time,
    server: Endpoint,
    client: Endpoint,
    call: AssociationId,
    incoming: u64,
    delivered: u64,
    answers: u64,
}

fn end(n: u32, init_limit: Option<InitLimit>) -> Endpoint {
    let host = Arc::new(Host::new(vec![Address(n)]));
    let config = Config {
        init_limit,
        ..Config::default()
    };
    Endpoint::new(Arc::new(config), host, [n as u8; 32])
}

impl Service {
    fn new(init_limit: Option<InitLimit>) -> Self {
        let (mut server, mut client) = (end(1, init_limit), end(2, None));
        server.listen(7);
        let now = Time::ZERO + Duration::from_secs(1);
        let call = client.connect(now, 1000, 7, &[Address(1)]).unwrap();
        let mut service = Self {
            now,
            server,
            client,
            call,
            incoming: 0,
            delivered: 0,
            answers: 0,
        };
        service.exchange();
        service
    }

    fn exchange(&mut self) {
        loop {
            let mut quiet = true;
            while let Some(event) = self.server.poll_event() {
                match event {
                    EndpointEvent::Incoming(_) => self.incoming += 1,
                    EndpointEvent::Association(_, Event::Message(_)) => self.delivered += 1,
                    _ => {}
                }
            }
            while self.client.poll_event().is_some() {}
            while let Some(datagram) = self.client.poll_transmit() {
                self.server.handle_input(self.now, datagram);
                quiet = false;
            }
            while let Some(datagram) = self.server.poll_transmit() {
                if datagram.destination == Address(2) {
                    self.client.handle_input(self.now, datagram);
                } else {
                    assert!(matches!(datagram.body.chunks[0], Chunk::InitAck(_)));
                    self.answers += 1;
                }
                quiet = false;
            }
            if quiet {
                return;
            }
        }
    }

    fn talk(&mut self) {
        let now = self.now;
        let message = Message {
            stream: 0,
            ppid: 0,
            unordered: false,
            payload: Payload::Sized(450),
            ..Message::default()
        };
        let sent = self.client.with(now, self.call, |a| a.send(now, message));
        sent.unwrap().unwrap();
        self.exchange();
    }

    /// Lets time pass, so that delayed SACKs go out.
    fn settle(&mut self) {
        self.now += Duration::from_millis(500);
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        self.exchange();
    }
}

fn in_use(region: &Region<'_, System>) -> i64 {
    let change = region.change();
    change.bytes_allocated as i64 - change.bytes_deallocated as i64
}

/// A million INITs in a second, with messages in between. Leaves the service as it is
/// afterwards.
fn endure(init_limit: Option<InitLimit>, random: &mut RandomStream) -> Service {
    let mut service = Service::new(init_limit);
    for _ in 0..100 {
        service.talk();
    }
    service.settle();
    let region = Region::new(ALLOCATOR);
    let before = in_use(&region);
    for n in 1..=INITS {
        let init = stranger(random, Address(1), 7);
        service.server.handle_input(service.now, init);
        if n % BETWEEN == 0 {
            service.now += Duration::from_micros(100);
            service.talk();
        }
    }
    service.settle();
    let stats = *service.server.stats();
    // The first INIT was that of the association.
    assert_eq!(stats.inits_answered, service.answers + 1);
    assert_eq!(service.answers + stats.inits_over_limit, INITS);
    assert_eq!(service.delivered, 100 + INITS / BETWEEN);
    assert_eq!(
        (service.server.association_count(), service.incoming),
        (1, 1)
    );
    assert_eq!(stats.cookies_accepted, 1);
    // Room for a burst of answers is kept, and nothing that grows with the flood.
    let left = in_use(&region) - before;
    assert!(left < 64 * 1024, "{left} bytes");
    service
}

/// One test, so that no other thread allocates meanwhile.
#[test]
fn a_million_inits_leave_nothing_and_stop_nobody() {
    let mut random = Seed::new(9260).stream("flood");
    // As many are answered as may be: those of a second, and a burst.
    let limit = InitLimit::default();
    let service = endure(Some(limit), &mut random);
    let most = u64::from(limit.per_second) + u64::from(limit.burst);
    assert!((most - 100..=most).contains(&service.answers));

    // All are.
    let mut service = endure(None, &mut random);
    assert_eq!(service.answers, INITS);

    // A driver that sends nothing while the flood lasts: the answers that wait are
    // bounded too, and the association's packets are not among those thrown away.
    let region = Region::new(ALLOCATOR);
    let discarded = service.server.stats().packets_discarded;
    for _ in 0..100_000 {
        let init = stranger(&mut random, Address(1), 7);
        service.server.handle_input(service.now, init);
    }
    let thrown = service.server.stats().packets_discarded - discarded;
    assert_eq!(thrown, 100_000 - 4_096);
    assert!(in_use(&region) < 4_096 * 1_024, "{} bytes", in_use(&region));
    let delivered = service.delivered;
    service.talk();
    assert_eq!(service.delivered, delivered + 1);
}
