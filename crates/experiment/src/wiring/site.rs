//! All that stands on one side of a shared path: the hosts under study and
//! those that compete with them.
//!
//! Between the hosts of a side and the router at its end of the path lie links
//! that neither delay nor limit, so that side, links and router are one node of
//! the network. What is for one of its hosts is told by the address.

use headway_apps::Application;
use headway_sansio::{Address, Datagram, Machine, Time};
use headway_tcp::Segment;

use super::alarms::Alarms;
use super::carrier::Carrier;
use super::host::Host;
use super::rivals::Rival;

/// What crosses a shared path.
#[derive(Clone, Debug)]
pub(super) enum Mixed<B> {
    /// A packet of a transport under study.
    Study(Box<B>),
    /// A segment of competing traffic.
    Rival(Box<Segment>),
}

/// Hosts come in pairs, one on each side: pair `n` has the addresses `2 n` on
/// the left, where connections under study begin, and `2 n + 1`.
pub(super) fn address(pair: usize, right: bool) -> Address {
    Address(2 * pair as u32 + u32::from(right))
}

/// The pair that an address belongs to.
pub(super) fn pair_of(address: Address) -> usize {
    (address.0 / 2) as usize
}

/// The hosts of one side: first those under study, then the others.
pub(super) struct Site<A, C: Carrier> {
    right: bool,
    /// How many hosts under study there will be. They come when the others have
    /// settled.
    awaited: usize,
    pub(super) study: Vec<Host<A, C>>,
    pub(super) rivals: Vec<Rival>,
    alarms: Alarms,
    /// Hosts that may have something to send.
    stirred: Vec<u32>,
    now: Time,
}

impl<A: Application, C: Carrier> Site<A, C> {
    pub(super) fn new(right: bool, awaited: usize, rivals: Vec<Rival>) -> Self {
        let hosts = awaited + rivals.len();
        Self {
            right,
            awaited,
            study: Vec::new(),
            alarms: Alarms::new(hosts),
            stirred: (awaited as u32..hosts as u32).rev().collect(),
            rivals,
            now: Time::ZERO,
        }
    }

    /// The hosts under study begin.
    pub(super) fn begin(&mut self, now: Time, hosts: Vec<Host<A, C>>) {
        debug_assert_eq!(hosts.len(), self.awaited);
        self.now = now;
        self.stirred.extend((0..hosts.len() as u32).rev());
        self.study = hosts;
    }

    /// Whether each source under study has nothing more to do.
    pub(super) fn is_done(&self) -> bool {
        self.study.len() == self.awaited && self.study.iter().all(|host| host.app.is_done())
    }

    /// Whether an end under study gave up.
    pub(super) fn is_dead(&self) -> bool {
        self.study.iter().any(|host| host.dead)
    }

    /// Whether every transport under study got ready.
    pub(super) fn has_started(&self) -> bool {
        self.study.iter().all(|host| host.started.is_some())
    }

    fn due(&self, host: usize) -> Option<Time> {
        match host.checked_sub(self.awaited) {
            None => self.study.get(host)?.poll_timeout(),
            Some(rival) => self.rivals[rival].poll_timeout(),
        }
    }
}

impl<A: Application, C: Carrier> Machine for Site<A, C> {
    type Input = Datagram<Mixed<C::Body>>;
    type Output = Datagram<Mixed<C::Body>>;

    fn handle_input(&mut self, now: Time, datagram: Self::Input) {
        self.now = now;
        let host = pair_of(datagram.destination);
        self.stirred.push(host as u32);
        let Datagram {
            source,
            destination,
            size_bytes,
            body,
        } = datagram;
        match body {
            Mixed::Rival(segment) => self.rivals[host - self.awaited].handle_input(now, &segment),
            Mixed::Study(body) => {
                if let Some(host) = self.study.get_mut(host) {
                    host.handle_input(
                        now,
                        Datagram {
                            source,
                            destination,
                            size_bytes,
                            body,
                        },
                    );
                }
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        while let Some(host) = self.alarms.due(now) {
            // Set anew when the host has sent what it has to send.
            self.alarms.set(host, None);
            self.stirred.push(host as u32);
            match host.checked_sub(self.awaited) {
                None => self.study[host].handle_timeout(now),
                Some(rival) => self.rivals[rival].handle_timeout(now),
            }
        }
    }

    fn poll_output(&mut self) -> Option<Self::Output> {
        loop {
            let host = *self.stirred.last()? as usize;
            let packet = match host.checked_sub(self.awaited) {
                None => self.study[host]
                    .poll_packet()
                    .map(|(body, size_bytes)| (Mixed::Study(body), size_bytes)),
                Some(rival) => self.rivals[rival]
                    .poll_transmit(self.now)
                    .map(|(segment, size_bytes)| (Mixed::Rival(segment), size_bytes)),
            };
            if let Some((body, size_bytes)) = packet {
                return Some(Datagram {
                    source: address(host, self.right),
                    destination: address(host, !self.right),
                    size_bytes,
                    body,
                });
            }
            self.stirred.pop();
            self.alarms.set(host, self.due(host));
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.alarms.first()
    }
}
