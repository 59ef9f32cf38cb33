//! Endpoints under a virtual clock, with a network between their addresses that
//! loses, delays and cuts as a test asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Duration, Payload, Time};
use headway_sctp::{
    Association, AssociationId, Config, Endpoint, EndpointEvent, Event, Host, Message, Packet,
    Received,
};

/// Decides on each packet: how many packets went before it, and the packet; gives
/// one delay for each copy that arrives.
pub type Weather = Box<dyn FnMut(usize, &Datagram<Packet>) -> Vec<Duration>>;

pub struct World {
    pub now: Time,
    pub ends: Vec<Endpoint>,
    pub weather: Weather,
    /// Every packet sent: when, and what.
    pub log: Vec<(Time, Datagram<Packet>)>,
    /// Every event: when, at which end, what.
    pub events: Vec<(Time, usize, EndpointEvent)>,
    /// Packets go through the codec.
    pub encoded: bool,
    homes: BTreeMap<Address, usize>,
    flying: BTreeMap<(Time, u64), Datagram<Packet>>,
    count: u64,
}

/// One-way delay of a path that works.
pub const DELAY: Duration = Duration::from_millis(20);

impl World {
    /// Endpoints with these addresses each.
    pub fn new(config: &Config, homes: &[&[u32]]) -> Self {
        let config = Arc::new(config.clone());
        let mut world = Self {
            now: Time::ZERO + Duration::from_secs(1),
            ends: Vec::new(),
            weather: Box::new(|_, _| vec![DELAY]),
            log: Vec::new(),
            events: Vec::new(),
            encoded: true,
            homes: BTreeMap::new(),
            flying: BTreeMap::new(),
            count: 0,
        };
        for (index, home) in homes.iter().enumerate() {
            let addresses: Vec<Address> = home.iter().map(|&n| Address(n)).collect();
            for &address in &addresses {
                world.homes.insert(address, index);
            }
            let host = Arc::new(Host::new(addresses));
            let secret = [index as u8 + 1; 32];
            world
                .ends
                .push(Endpoint::new(Arc::clone(&config), host, secret));
        }
        world
    }

    /// Takes everything out of all ends.
    pub fn drain(&mut self) {
        loop {
            let mut quiet = true;
            for index in 0..self.ends.len() {
                while let Some(event) = self.ends[index].poll_event() {
                    self.events.push((self.now, index, event));
                    quiet = false;
                }
                while let Some(datagram) = self.ends[index].poll_transmit() {
                    self.launch(datagram);
                    quiet = false;
                }
            }
            if quiet {
                break;
            }
        }
        for end in &self.ends {
            let associations = end.associations().filter_map(|id| end.association(id));
            associations.for_each(|association| association.check_books().unwrap());
        }
    }

    fn launch(&mut self, mut datagram: Datagram<Packet>) {
        if self.encoded {
            let mut bytes = Vec::new();
            datagram.body.encode(&mut bytes);
            assert_eq!(bytes.len() as u32, datagram.body.size_bytes());
            let decoded = Packet::decode(&Bytes::from(bytes)).unwrap();
            // The wire carries no traces and turns sizes into zeros; all else stays.
            assert_eq!(decoded.size_bytes(), datagram.body.size_bytes());
            datagram.body = decoded;
        }
        let fate = (self.weather)(self.log.len(), &datagram);
        self.log.push((self.now, datagram.clone()));
        for delay in fate {
            self.count += 1;
            self.flying
                .insert((self.now + delay, self.count), datagram.clone());
        }
    }

    /// Puts a datagram straight before the end that has its destination.
    pub fn inject(&mut self, datagram: Datagram<Packet>) {
        let end = self.homes[&datagram.destination];
        self.ends[end].handle_input(self.now, datagram);
        self.drain();
    }

    pub fn next(&self) -> Option<Time> {
        let arrival = self.flying.keys().next().map(|key| key.0);
        let timers = self.ends.iter().filter_map(Endpoint::poll_timeout);
        timers.chain(arrival).min()
    }

    pub fn run_until(&mut self, end: Time) {
        self.drain();
        while let Some(next) = self.next().filter(|&next| next <= end) {
            self.now = self.now.max(next);
            while let Some(entry) = self.flying.first_entry()
                && entry.key().0 <= self.now
            {
                let datagram = entry.remove();
                if let Some(&end) = self.homes.get(&datagram.destination) {
                    self.ends[end].handle_input(self.now, datagram);
                }
                self.drain();
            }
            for end in &mut self.ends {
                end.handle_timeout(self.now);
                assert!(end.poll_timeout().is_none_or(|due| due > self.now));
            }
            self.drain();
        }
        self.now = end;
    }

    pub fn run_ms(&mut self, ms: u64) {
        self.run_until(self.now + Duration::from_millis(ms));
    }

    pub fn with<R>(
        &mut self,
        end: usize,
        id: AssociationId,
        deed: impl FnOnce(Time, &mut Association) -> R,
    ) -> R {
        let now = self.now;
        let result = self.ends[end].with(now, id, |association| deed(now, association));
        self.drain();
        result.expect("the association lives")
    }

    pub fn send(&mut self, end: usize, id: AssociationId, stream: u16, bytes: u32) {
        let message = Message {
            stream,
            ppid: 0,
            unordered: false,
            payload: Payload::Sized(bytes),
            ..Message::default()
        };
        self.with(end, id, |now, association| association.send(now, message))
            .unwrap();
    }

    /// Lets `a` connect to `b`, which listens on port 7, from port 1000; gives the
    /// names of the association at both ends.
    pub fn connect(&mut self, a: usize, b: usize, remotes: &[u32]) -> [AssociationId; 2] {
        let remotes: Vec<Address> = remotes.iter().map(|&n| Address(n)).collect();
        self.ends[b].listen(7);
        let id = self.ends[a].connect(self.now, 1000, 7, &remotes).unwrap();
        self.run_ms(1_000);
        let incoming = self.incoming(b);
        [id, *incoming.last().expect("the association is up")]
    }

    /// Associations that peers began at an end.
    pub fn incoming(&self, end: usize) -> Vec<AssociationId> {
        let of = |(_, at, event): &(Time, usize, EndpointEvent)| match event {
            EndpointEvent::Incoming(id) if *at == end => Some(*id),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    /// What happened to an association.
    pub fn told(&self, end: usize, id: AssociationId) -> Vec<Event> {
        let of = |(_, at, event): &(Time, usize, EndpointEvent)| match event {
            EndpointEvent::Association(of, event) if *at == end && *of == id => Some(event.clone()),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    pub fn received(&self, end: usize, id: AssociationId) -> Vec<Received> {
        let messages = self
            .told(end, id)
            .into_iter()
            .filter_map(|event| match event {
                Event::Message(message) => Some(message),
                _ => None,
            });
        messages.collect()
    }

    /// Names of the chunks of each packet with its addresses, as "1>2: INIT".
    pub fn story(&self) -> Vec<String> {
        let line = |(_, datagram): &(Time, Datagram<Packet>)| {
            let (from, to) = (datagram.source.0, datagram.destination.0);
            format!("{from}>{to}: {}", super::names(&datagram.body))
        };
        self.log.iter().map(line).collect()
    }
}

/// A datagram as one end would send it.
pub fn datagram(from: u32, to: u32, body: Packet) -> Datagram<Packet> {
    Datagram {
        source: Address(from),
        destination: Address(to),
        size_bytes: body.size_bytes() + 20,
        body,
    }
}
