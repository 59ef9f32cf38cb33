//! Web users and web servers, each with many connections that come and go.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use headway_apps::web::{WebSeen, WebServer, WebUsers};
use headway_apps::{Application, Incoming, MessageId, Outgoing, Peer};
use headway_sansio::{Payload, RandomStream, Time};
use headway_tcp::{Config, Connection, Event, Flags, Segment, State};

use crate::wiring::alarms::Alarms;

/// Where in each stream the messages under way end. Both ends share it: in
/// virtual time lengths travel, and they must be told apart somehow.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// By connection, to the servers and from them.
    streams: [BTreeMap<u32, VecDeque<(u64, MessageId)>>; 2],
}

enum App {
    Users(Box<WebUsers>),
    Server(WebServer),
}

impl App {
    fn as_application(&mut self) -> &mut dyn Application {
        match self {
            Self::Users(users) => &mut **users,
            Self::Server(server) => server,
        }
    }
}

/// A connection in its place.
struct Open {
    connection: Connection,
    /// Its number, as the application names it.
    number: u32,
    /// What the send buffer has no room for.
    waiting: u64,
}

/// One end of all connections between users and servers.
pub(in crate::wiring) struct WebEnd {
    app: App,
    /// Which stream of the ledger this end writes.
    side: usize,
    ledger: Rc<RefCell<Ledger>>,
    config: Config,
    random: RandomStream,
    places: Vec<Option<Open>>,
    free: Vec<usize>,
    /// Places by the users' port.
    ports: BTreeMap<u16, usize>,
    alarms: Alarms,
    /// Places that may have something to send.
    stirred: Vec<usize>,
    started: bool,
}

const SERVER_PORT: u16 = 80;
const FIRST_PORT: u16 = 1024;
/// Ports are used again after so many connections.
const PORTS: u32 = 60_000;

/// A connection's port at the users' end.
fn port_of(number: u32) -> u16 {
    FIRST_PORT + (number % PORTS) as u16
}

impl WebEnd {
    pub(super) fn users(
        users: WebUsers,
        ledger: Rc<RefCell<Ledger>>,
        config: Config,
        random: RandomStream,
    ) -> Self {
        Self::new(App::Users(Box::new(users)), 0, ledger, config, random)
    }

    pub(super) fn server(
        server: WebServer,
        ledger: Rc<RefCell<Ledger>>,
        config: Config,
        random: RandomStream,
    ) -> Self {
        Self::new(App::Server(server), 1, ledger, config, random)
    }

    fn new(
        app: App,
        side: usize,
        ledger: Rc<RefCell<Ledger>>,
        config: Config,
        random: RandomStream,
    ) -> Self {
        Self {
            app,
            side,
            ledger,
            config,
            random,
            places: Vec::new(),
            free: Vec::new(),
            ports: BTreeMap::new(),
            alarms: Alarms::new(16),
            stirred: Vec::new(),
            started: false,
        }
    }

    pub(super) fn seen(&self) -> Option<WebSeen> {
        match &self.app {
            App::Users(users) => Some(*users.seen()),
            App::Server(_) => None,
        }
    }

    fn place(&mut self, port: u16, open: Open) -> usize {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(open);
        self.ports.insert(port, place);
        self.alarms.reach(place);
        place
    }

    fn release(&mut self, place: usize) {
        let Some(open) = self.places[place].take() else {
            return;
        };
        let port = port_of(open.number);
        if self.ports.get(&port) == Some(&place) {
            self.ports.remove(&port);
        }
        self.alarms.set(place, None);
        self.free.push(place);
        for stream in &mut self.ledger.borrow_mut().streams {
            // The other end reads what it still has to read from its own buffer
            // before it closes, so nothing is missed here.
            if stream.get(&open.number).is_some_and(VecDeque::is_empty) {
                stream.remove(&open.number);
            }
        }
    }

    pub(super) fn handle_input(&mut self, now: Time, segment: &Segment) {
        let users = matches!(self.app, App::Users(_));
        let port = if users {
            segment.destination_port
        } else {
            segment.source_port
        };
        let fresh = !users && segment.flags.has(Flags::SYN);
        let place = match self.ports.get(&port).copied() {
            Some(place) if !(fresh && self.is_over(place)) => place,
            known if fresh => {
                if let Some(place) = known {
                    self.release(place);
                }
                let config = self.config.clone();
                let connection = Connection::listen(now, config, &mut self.random, SERVER_PORT);
                self.place(
                    port,
                    Open {
                        connection,
                        number: self.number_of(port),
                        waiting: 0,
                    },
                )
            }
            // Of a connection that is long over.
            _ => return,
        };
        if let Some(open) = &mut self.places[place] {
            open.connection.handle_input(now, segment);
        }
        self.hear(now, place);
        self.pump(now);
    }

    fn is_over(&self, place: usize) -> bool {
        let open = self.places[place].as_ref();
        open.is_none_or(|o| matches!(o.connection.state(), State::Closed | State::TimeWait))
    }

    /// The latest connection from a port: users number theirs in turn.
    fn number_of(&self, port: u16) -> u32 {
        let ledger = self.ledger.borrow();
        let asked = ledger.streams[0].keys().rev();
        let of_port = asked.copied().find(|number| port_of(*number) == port);
        of_port.unwrap_or(u32::from(port - FIRST_PORT))
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if !self.started {
            self.started = true;
            self.app.as_application().start(now);
        }
        let app = self.app.as_application();
        if app.poll_timeout().is_some_and(|at| at <= now) {
            app.handle_timeout(now);
        }
        while let Some(place) = self.alarms.due(now) {
            self.alarms.set(place, None);
            if let Some(open) = &mut self.places[place] {
                open.connection.handle_timeout(now);
            }
            self.hear(now, place);
        }
        self.pump(now);
    }

    /// What a connection has to tell, and what can be read from it.
    fn hear(&mut self, now: Time, place: usize) {
        self.stirred.push(place);
        loop {
            let Some(open) = &mut self.places[place] else {
                return;
            };
            let Some(event) = open.connection.poll_event() else {
                return;
            };
            match event {
                Event::Readable => self.read(now, place),
                Event::PeerClosed => open.connection.close(now),
                Event::Reset | Event::TimedOut => {
                    let number = open.number;
                    for stream in &mut self.ledger.borrow_mut().streams {
                        stream.remove(&number);
                    }
                    if let App::Users(users) = &mut self.app {
                        users.connection_lost(Peer(number));
                    }
                    self.release(place);
                }
                Event::Closed => self.release(place),
                Event::Connected | Event::Writable | Event::OutOfOrder => {}
            }
        }
    }

    fn read(&mut self, now: Time, place: usize) {
        let Some(open) = &mut self.places[place] else {
            return;
        };
        while !open.connection.read(now, usize::MAX).is_empty() {}
        let (number, read_to) = (open.number, open.connection.read_offset());
        loop {
            let mut ledger = self.ledger.borrow_mut();
            let Some(stream) = ledger.streams[1 - self.side].get_mut(&number) else {
                return;
            };
            if stream.front().is_none_or(|(end, _)| *end > read_to) {
                return;
            }
            let id = stream.pop_front().map(|(_, id)| id);
            drop(ledger);
            let message = Incoming {
                id,
                from: Peer(number),
                payload: Payload::Sized(0),
            };
            self.app.as_application().handle_message(now, message);
        }
    }

    /// Hands over what the application has to say.
    fn pump(&mut self, now: Time) {
        while let Some(message) = self.app.as_application().poll_output() {
            self.send(now, &message);
        }
        if let App::Users(users) = &mut self.app {
            while let Some(Peer(number)) = users.poll_closed() {
                let place = self.ports.get(&port_of(number)).copied();
                if let Some(open) = place.and_then(|place| self.places[place].as_mut()) {
                    open.connection.close(now);
                    self.stirred.extend(place);
                }
            }
        }
        let stirred = std::mem::take(&mut self.stirred);
        for &place in &stirred {
            self.feed(now, place);
        }
        self.stirred = stirred;
    }

    fn send(&mut self, now: Time, message: &Outgoing) {
        let Peer(number) = message.to;
        let port = port_of(number);
        let known = self.ports.get(&port).copied().filter(|&place| {
            let open = self.places[place].as_ref();
            open.is_some_and(|open| open.number == number)
        });
        let place = match known {
            Some(place) => place,
            None if self.side == 0 => {
                let config = self.config.clone();
                let random = &mut self.random;
                let connection = Connection::connect(now, config, random, port, SERVER_PORT);
                self.place(
                    port,
                    Open {
                        connection,
                        number,
                        waiting: 0,
                    },
                )
            }
            // The users are gone.
            None => return,
        };
        let Some(open) = &mut self.places[place] else {
            return;
        };
        let bytes = message.payload.len() as u64;
        let end = open.connection.written_offset() + open.waiting + bytes;
        open.waiting += bytes;
        let mut ledger = self.ledger.borrow_mut();
        let stream = ledger.streams[self.side].entry(number).or_default();
        stream.push_back((end, message.id));
        self.stirred.push(place);
    }

    /// Writes what has room.
    fn feed(&mut self, now: Time, place: usize) {
        let Some(open) = &mut self.places[place] else {
            return;
        };
        let buffer = open.connection.config().send_buffer_bytes;
        let room = buffer.saturating_sub(open.connection.buffered_bytes());
        let part = room.min(open.waiting).min(u64::from(u32::MAX)) as u32;
        if part > 0 {
            open.waiting -= open.connection.write(now, Payload::Sized(part)) as u64;
        }
    }

    pub(super) fn poll_transmit(&mut self, _: Time) -> Option<Segment> {
        loop {
            let place = *self.stirred.last()?;
            if let Some(open) = &mut self.places[place] {
                if let Some(segment) = open.connection.poll_transmit() {
                    return Some(segment);
                }
                self.alarms.set(place, open.connection.poll_timeout());
            }
            self.stirred.pop();
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let app = match &self.app {
            App::Users(_) if !self.started => Some(Time::ZERO),
            App::Users(users) => users.poll_timeout(),
            App::Server(_) => None,
        };
        app.into_iter().chain(self.alarms.first()).min()
    }
}
