//! Two endpoints with two addresses each, the network between them and strangers at
//! their doors in the hands of the fuzzer.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use headway_sansio::{Address, Datagram, Duration, Payload, Time};
use headway_sctp::{
    AssociationId, AssociationState, Config, Endpoint, EndpointEvent, Host, Message, Packet,
    Reliability,
};

use crate::knobs::config;
use crate::script::Script;

/// Addresses of the two sites.
const HOMES: [[u32; 2]; 2] = [[1, 2], [3, 4]];
/// The port on which both take associations.
const PORT: u16 = 5060;
/// Datagrams kept in flight from each site, and of those that have been there.
const MAX_IN_FLIGHT: usize = 64;
const MAX_REMEMBERED: usize = 32;
/// What waits gets across within so long once the network works: an association is given up
/// after eleven timeouts of up to a minute, on each of two paths.
const PATIENCE: Duration = Duration::from_secs(7_200);
/// The path's MTU.
const MTU_BYTES: u32 = 1500;

struct Site {
    endpoint: Endpoint,
    associations: Vec<AssociationId>,
    outbox: VecDeque<Datagram<Packet>>,
}

struct Street {
    now: Time,
    sites: [Site; 2],
    /// The most associations of a site.
    most: usize,
    /// Nothing is forged, damaged or brought up again by others.
    honest: bool,
    /// Packets that were sent, to be sent again by somebody else.
    past: VecDeque<Datagram<Packet>>,
}

/// The first byte as for an association. The second: whether RFC 6525 is offered, how
/// many associations there may be, whether paths can be potentially failed, whether
/// their MTU is probed, whether the primary path changes, whether all are honest.
fn settings(script: &mut Script<'_>) -> (Config, usize, bool) {
    let mut config = config(script.choice());
    let choice = script.choice();
    config.reconfiguration = choice & 1 != 0;
    config.potentially_failed_max_retransmits = (choice & 8 != 0).then_some(0);
    config.mtu_discovery = choice & 16 != 0;
    config.primary_switchover_max_retransmits = (choice & 32 != 0).then_some(1);
    (config, 1 << (choice >> 1 & 3), choice & 64 != 0)
}

/// Reads `data` as a script: associations begun, used and ended, packets delivered,
/// lost, doubled, damaged, forged from any address or sent again from another one,
/// routers that object, time. Both endpoints must survive it, send nothing that is
/// longer than the path takes, have no more associations than they may, and remember
/// none in the end. Where nobody forges, damages or objects, all that waits gets across or
/// is given up once the network works.
///
/// # Panics
/// Where that does not hold.
pub fn sctp_endpoint(data: &[u8]) {
    let mut script = Script(data);
    let (config, most, honest) = settings(&mut script);
    let config = Arc::new(config);
    let sites = [0, 1].map(|index: usize| {
        let host = Host::new(HOMES[index].map(Address).to_vec());
        let mut endpoint = Endpoint::new(Arc::clone(&config), Arc::new(host), [index as u8; 32]);
        endpoint.limit_associations(most);
        endpoint.listen(PORT);
        Site {
            endpoint,
            associations: Vec::new(),
            outbox: VecDeque::new(),
        }
    });
    let mut street = Street {
        now: Time::ZERO,
        sites,
        most,
        honest,
        past: VecDeque::new(),
    };
    while let Some(op) = script.byte() {
        street.play(op, &mut script);
    }
    if honest {
        street.settle();
    }
    street.finish();
}

/// The site that lives at an address.
fn owner(address: Address) -> Option<usize> {
    HOMES.iter().position(|home| home.contains(&address.0))
}

impl Street {
    /// One step of the script: the low bit chooses the site, the rest the deed.
    fn play(&mut self, op: u8, script: &mut Script<'_>) {
        let site = usize::from(op & 1);
        let outbox = &mut self.sites[site].outbox;
        match (op >> 1) & 15 {
            0..=3 => {
                if let Some(datagram) = outbox.pop_front() {
                    self.deliver(datagram);
                }
            }
            4 => drop(outbox.pop_front()),
            5 => outbox.extend(outbox.front().cloned()),
            6 => {
                if let Some(datagram) = outbox.pop_front() {
                    outbox.push_back(datagram);
                }
            }
            7..=9 | 15 if self.honest => drop(outbox.pop_front()),
            7 => self.damage(site, script),
            8 => self.forge(site, script),
            9 => self.replay(script),
            10 => self.connect(site, script),
            11 => self.send(site, script),
            12 => {
                let scale = [1, 20, 1_000, 60_000][usize::from(op >> 6)];
                let wait = u64::from(script.choice()) * scale;
                self.now += Duration::from_millis(wait);
                self.timers();
            }
            13 => self.wait_for_timer(),
            14 => self.command(site, op >> 5, script),
            _ => self.object(site, op >> 5, script),
        }
        self.drain(0);
        self.drain(1);
    }

    fn deliver(&mut self, datagram: Datagram<Packet>) {
        if let Some(to) = owner(datagram.destination) {
            let endpoint = &mut self.sites[to].endpoint;
            endpoint.handle_input(self.now, datagram);
        }
    }

    /// Lets the codec and the receiver judge bytes, with their checksum put right.
    fn receive(&mut self, source: Address, destination: Address, mut wire: Vec<u8>) {
        crate::seal(&mut wire);
        if let Some(to) = owner(destination)
            && !self.sites[to].endpoint.admits(self.now, &wire)
        {
            return;
        }
        let size_bytes = wire.len() as u32 + 20;
        if let Ok(body) = Packet::decode(&Bytes::from(wire)) {
            self.deliver(Datagram {
                source,
                destination,
                size_bytes,
                body,
            });
        }
    }

    fn damage(&mut self, site: usize, script: &mut Script<'_>) {
        let (place, value) = (script.choice(), script.choice());
        if let Some(datagram) = self.sites[site].outbox.pop_front() {
            let mut wire = Vec::new();
            datagram.body.encode(&mut wire);
            let place = usize::from(place) % wire.len();
            wire[place] ^= value;
            self.receive(datagram.source, datagram.destination, wire);
        }
    }

    /// A packet out of the script itself, from anywhere. It may bear the ports and
    /// the tag of the last packet to the site.
    fn forge(&mut self, to: usize, script: &mut Script<'_>) {
        let (source, choice) = (script.choice(), script.choice());
        let length = usize::from(script.choice()) % 128;
        let chunks = script.take(length);
        let to_site = |d: &&Datagram<Packet>| owner(d.destination) == Some(to);
        let last = self.past.iter().rev().find(to_site).map(|d| &d.body);
        let ports = last.map_or((PORT, PORT), |p| (p.source_port, p.destination_port));
        let (from, port) = match choice >> 2 & 3 {
            0 => ports,
            1 => (PORT, PORT),
            _ => (u16::from(choice), PORT),
        };
        let tag = match choice & 3 {
            0 => 0,
            _ => last.map_or(0, |p| p.verification_tag),
        };
        let mut wire = Vec::with_capacity(12 + chunks.len());
        wire.extend_from_slice(&from.to_be_bytes());
        wire.extend_from_slice(&port.to_be_bytes());
        wire.extend_from_slice(&tag.to_be_bytes());
        wire.extend_from_slice(&[0; 4]);
        wire.extend_from_slice(chunks);
        let home = HOMES[to][usize::from(choice >> 7)];
        self.receive(Address(u32::from(source)), Address(home), wire);
    }

    /// Somebody sends an earlier packet again, from where he is.
    fn replay(&mut self, script: &mut Script<'_>) {
        let (which, source) = (script.choice(), script.choice());
        if self.past.is_empty() {
            return;
        }
        let mut datagram = self.past[usize::from(which) % self.past.len()].clone();
        if source != 0 {
            datagram.source = Address(u32::from(source));
        }
        self.deliver(datagram);
    }

    fn connect(&mut self, site: usize, script: &mut Script<'_>) {
        let choice = script.choice();
        let local = [0, PORT, 5000, 5001][usize::from(choice & 3)];
        let remote = PORT + u16::from(choice >> 7);
        let remotes = HOMES[1 - site].map(Address);
        let remotes = &remotes[..1 + usize::from(choice >> 2 & 1)];
        let endpoint = &mut self.sites[site].endpoint;
        // Refusals are part of the contract.
        if let Ok(id) = endpoint.connect(self.now, local, remote, remotes) {
            self.sites[site].associations.push(id);
        }
    }

    /// One of the site's associations.
    fn pick(&self, site: usize, choice: u8) -> Option<AssociationId> {
        let list = &self.sites[site].associations;
        let place = usize::from(choice).checked_rem(list.len())?;
        Some(list[place])
    }

    fn send(&mut self, site: usize, script: &mut Script<'_>) {
        let (which, size, kind) = (script.choice(), script.choice(), script.choice());
        let message = Message {
            stream: u16::from(kind & 3),
            unordered: kind & 4 != 0,
            reliability: match kind & 8 {
                0 => Reliability::Full,
                _ => Reliability::Retransmissions(u32::from(kind >> 4)),
            },
            payload: Payload::Sized((u32::from(size) << 4).max(1)),
            ..Message::default()
        };
        if let Some(id) = self.pick(site, which) {
            let endpoint = &mut self.sites[site].endpoint;
            // Refusals are part of the contract.
            let _ = endpoint.with(self.now, id, |a| a.send(self.now, message));
        }
    }

    /// What else a user may want of an association.
    fn command(&mut self, site: usize, what: u8, script: &mut Script<'_>) {
        let choice = script.choice();
        let Some(id) = self.pick(site, choice & 15) else {
            return;
        };
        let path = usize::from(choice >> 4 & 3);
        let now = self.now;
        self.sites[site].endpoint.with(now, id, |a| match what {
            0 => a.shutdown(now),
            1 => a.abort(now),
            2 => drop(a.set_primary_path(path)),
            3 => a.set_heartbeat(now, path, choice & 128 != 0),
            4 => a.request_heartbeat(now, path),
            5 => drop(a.reset_outgoing_streams(now, &[])),
            6 => drop(a.reset_numbers(now)),
            _ => drop(a.add_incoming_streams(now, 1)),
        });
    }

    /// A router or the peer's machine objects to a packet of the site.
    fn object(&mut self, site: usize, what: u8, script: &mut Script<'_>) {
        let (which, size) = (script.choice(), script.choice());
        let sent = |d: &&Datagram<Packet>| owner(d.source) == Some(site);
        let Some(quoted) = self.past.iter().rev().find(sent) else {
            return;
        };
        let ports = (quoted.body.source_port, quoted.body.destination_port);
        let (remote, tag) = (quoted.destination, quoted.body.verification_tag);
        let mtu = [u32::from(size), u32::from(size) * 6][usize::from(what & 1)];
        if what < 6 {
            let endpoint = &mut self.sites[site].endpoint;
            endpoint.packet_too_big(self.now, remote, ports, tag, mtu);
        } else if let Some(id) = self.pick(site, which) {
            let endpoint = &mut self.sites[site].endpoint;
            endpoint.with(self.now, id, |a| a.protocol_unreachable(tag));
        }
    }

    fn wait_for_timer(&mut self) {
        let due = self.sites.iter().filter_map(|s| s.endpoint.poll_timeout());
        if let Some(at) = due.min() {
            self.now = self.now.max(at);
            self.timers();
        }
    }

    fn timers(&mut self) {
        for site in &mut self.sites {
            site.endpoint.handle_timeout(self.now);
            let next = site.endpoint.poll_timeout();
            assert!(next.is_none_or(|at| at > self.now), "a timeout in the past");
        }
    }

    fn drain(&mut self, index: usize) {
        let site = &mut self.sites[index];
        // The last packet of an association makes its end known.
        for _ in 0..2 {
            while let Some(event) = site.endpoint.poll_event() {
                match event {
                    EndpointEvent::Incoming(id) => site.associations.push(id),
                    EndpointEvent::Association(id, _) => {
                        assert!(site.associations.contains(&id), "of an unknown one");
                    }
                    EndpointEvent::Gone(id) => {
                        assert!(site.endpoint.association(id).is_none());
                        let before = site.associations.len();
                        site.associations.retain(|&other| other != id);
                        assert_eq!(site.associations.len() + 1, before, "gone twice");
                    }
                }
            }
            while let Some(datagram) = site.endpoint.poll_transmit() {
                assert!(datagram.size_bytes <= MTU_BYTES, "{}", datagram.size_bytes);
                assert_eq!(owner(datagram.source), Some(index));
                self.past.push_back(datagram.clone());
                if self.past.len() > MAX_REMEMBERED {
                    self.past.pop_front();
                }
                if site.outbox.len() < MAX_IN_FLIGHT {
                    site.outbox.push_back(datagram);
                }
            }
        }
        for &id in &site.associations {
            let association = site.endpoint.association(id);
            association.expect("it is there").check_books().unwrap();
        }
        let count = site.endpoint.association_count();
        assert!(count <= self.most, "{count}");
        assert_eq!(count, site.associations.len());
    }

    /// The network works from now on, until nothing waits any more.
    fn settle(&mut self) {
        let end = self.now + PATIENCE;
        while self.is_busy() {
            let waits = |site: &Site| -> Vec<_> {
                let of = |&id: &AssociationId| site.endpoint.association(id);
                let all = site.associations.iter().filter_map(of);
                all.map(|a| (a.state(), a.buffered_bytes())).collect()
            };
            assert!(
                self.now < end,
                "stuck: {:?}",
                self.sites.each_ref().map(waits)
            );
            if self.sites.iter().all(|site| site.outbox.is_empty()) {
                let due = self.sites.iter().filter_map(|s| s.endpoint.poll_timeout());
                // Where there is none, nothing would ever happen again.
                self.now = due.min().map_or(end, |at| self.now.max(at));
            } else {
                self.now += Duration::from_millis(5);
            }
            self.timers();
            for site in [0, 1] {
                for _ in 0..self.sites[site].outbox.len() {
                    if let Some(datagram) = self.sites[site].outbox.pop_front() {
                        self.deliver(datagram);
                    }
                }
            }
            self.drain(0);
            self.drain(1);
        }
    }

    /// Something waits, or an association begins or ends.
    fn is_busy(&self) -> bool {
        self.sites.iter().any(|site| {
            let of = |&id: &AssociationId| site.endpoint.association(id);
            let mut all = site.associations.iter().filter_map(of);
            all.any(|a| a.buffered_bytes() > 0 || a.state() != AssociationState::Established)
        })
    }

    /// All associations end.
    fn finish(&mut self) {
        for site in [0, 1] {
            let Site {
                endpoint,
                associations,
                ..
            } = &mut self.sites[site];
            for &id in associations.iter() {
                endpoint.with(self.now, id, |a| a.abort(self.now));
            }
            self.drain(site);
            let Site {
                endpoint,
                associations,
                ..
            } = &self.sites[site];
            assert!(associations.is_empty() && endpoint.poll_timeout().is_none());
        }
    }
}
