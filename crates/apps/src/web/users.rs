//! The users' side.

use std::collections::{BTreeMap, VecDeque};

use headway_sansio::{Duration, Payload, RandomStream, Time};

use super::{Connections, WebWorkload};
use crate::media::Pace;
use crate::{Application, Incoming, MessageId, Outgoing, Peer};

/// A [`MessageId`] of the web taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WebId {
    pub(super) reply: bool,
    pub(super) connection: u32,
    /// Number of the page on its connection.
    pub(super) page: u32,
    /// Number of the object in its page.
    pub(super) object: u32,
}

const OBJECT_BITS: u32 = 12;
const PAGE_BITS: u32 = 16;
const REPLY: u64 = 1 << 63;

impl WebId {
    pub(super) fn encode(self) -> MessageId {
        let reply = if self.reply { REPLY } else { 0 };
        let connection = u64::from(self.connection) << (OBJECT_BITS + PAGE_BITS);
        MessageId(reply | connection | u64::from(self.page) << OBJECT_BITS | u64::from(self.object))
    }

    pub(super) fn decode(MessageId(id): MessageId) -> Self {
        let field = |shift: u32, bits: u32| ((id >> shift) & ((1 << bits) - 1)) as u32;
        Self {
            reply: id & REPLY != 0,
            connection: field(OBJECT_BITS + PAGE_BITS, 32),
            page: field(OBJECT_BITS, PAGE_BITS),
            object: field(0, OBJECT_BITS),
        }
    }
}

/// One user's session.
#[derive(Clone, Copy, Debug)]
struct Session {
    /// Pages that are done.
    pages: u32,
    /// Replies of this page that are missing.
    missing: u32,
    asked: Time,
    /// The connection in use, or the first one of a page.
    connection: u32,
}

/// What users saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WebSeen {
    /// Sessions begun.
    pub sessions: u64,
    /// Pages that came whole.
    pub pages: u64,
    /// Sum of the times from the first request of a page to its last byte, in
    /// nanoseconds.
    pub page_nanos: u128,
    /// Sessions that ended because a connection was lost.
    pub abandoned: u64,
}

/// All users of one side.
#[derive(Clone, Debug)]
pub struct WebUsers {
    workload: WebWorkload,
    arrivals: Pace,
    sessions: BTreeMap<u32, Session>,
    /// Whose connection it is.
    connections: BTreeMap<u32, u32>,
    next_session: u32,
    next_connection: u32,
    /// Sessions that think, by the time of their next page: all think as long.
    thinking: VecDeque<(Time, u32)>,
    outputs: VecDeque<Outgoing>,
    closed: VecDeque<u32>,
    seen: WebSeen,
}

impl WebUsers {
    /// Users who begin sessions for `duration` from the start.
    #[must_use]
    pub fn new(workload: &WebWorkload, duration: Duration, random: RandomStream) -> Self {
        Self {
            arrivals: workload.pace(duration, random),
            workload: workload.clone(),
            sessions: BTreeMap::new(),
            connections: BTreeMap::new(),
            next_session: 0,
            next_connection: 0,
            thinking: VecDeque::new(),
            outputs: VecDeque::new(),
            closed: VecDeque::new(),
            seen: WebSeen::default(),
        }
    }

    /// A connection that is needed no longer, each told once.
    pub fn poll_closed(&mut self) -> Option<Peer> {
        self.closed.pop_front().map(Peer)
    }

    /// A connection was lost: its session ends.
    pub fn connection_lost(&mut self, Peer(connection): Peer) {
        let Some(session) = self.connections.remove(&connection) else {
            return;
        };
        self.sessions.remove(&session);
        self.thinking.retain(|(_, thinker)| *thinker != session);
        let others = self.connections.iter().filter(|(_, s)| **s == session);
        let others: Vec<u32> = others.map(|(connection, _)| *connection).collect();
        others.into_iter().for_each(|other| self.close(other));
        self.seen.abandoned += 1;
    }

    /// What the users saw so far.
    #[must_use]
    pub fn seen(&self) -> &WebSeen {
        &self.seen
    }

    fn open(&mut self, session: u32) -> u32 {
        let connection = self.next_connection;
        self.next_connection += 1;
        self.connections.insert(connection, session);
        connection
    }

    fn close(&mut self, connection: u32) {
        if self.connections.remove(&connection).is_some() {
            self.closed.push_back(connection);
        }
    }

    fn begin_session(&mut self, now: Time) {
        let number = self.next_session;
        self.next_session += 1;
        self.seen.sessions += 1;
        let connection = self.open(number);
        let session = Session {
            pages: 0,
            missing: 0,
            asked: now,
            connection,
        };
        self.sessions.insert(number, session);
        self.begin_page(now, number);
    }

    fn begin_page(&mut self, now: Time, number: u32) {
        let Some(&session) = self.sessions.get(&number) else {
            return;
        };
        let fresh = session.pages > 0 && self.workload.connections != Connections::Session;
        let connection = if fresh {
            self.open(number)
        } else {
            session.connection
        };
        if let Some(session) = self.sessions.get_mut(&number) {
            session.asked = now;
            session.connection = connection;
            session.missing = self.workload.objects;
        }
        self.ask(connection, session.pages, 0);
    }

    fn ask(&mut self, connection: u32, page: u32, object: u32) {
        let id = WebId {
            reply: false,
            connection,
            page,
            object,
        };
        self.outputs.push_back(Outgoing {
            id: id.encode(),
            to: Peer(connection),
            context: connection,
            payload: Payload::Sized(self.workload.request_bytes),
        });
    }

    /// The first object of a page is there: the user asks for the others.
    fn ask_for_the_rest(&mut self, number: u32, connection: u32, page: u32) {
        for object in 1..self.workload.objects {
            let connection = match self.workload.connections {
                Connections::Object => self.open(number),
                Connections::Session | Connections::Page => connection,
            };
            self.ask(connection, page, object);
        }
    }

    fn page_is_whole(&mut self, now: Time, number: u32, connection: u32) {
        let Some(session) = self.sessions.get_mut(&number) else {
            return;
        };
        session.pages += 1;
        self.seen.pages += 1;
        self.seen.page_nanos += u128::from(now.since(session.asked).as_nanos());
        let last = session.pages == self.workload.pages;
        if last || self.workload.connections == Connections::Page {
            self.close(connection);
        }
        if last {
            self.sessions.remove(&number);
        } else {
            let next = now + self.workload.think_time();
            self.thinking.push_back((next, number));
        }
    }
}

impl Application for WebUsers {
    fn start(&mut self, now: Time) {
        self.arrivals.start(now);
    }

    fn handle_message(&mut self, now: Time, reply: Incoming) {
        let Some(id) = reply.id.map(WebId::decode).filter(|id| id.reply) else {
            return;
        };
        let Some(&number) = self.connections.get(&id.connection) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(&number) else {
            return;
        };
        session.missing = session.missing.saturating_sub(1);
        let missing = session.missing;
        if self.workload.connections == Connections::Object {
            self.close(id.connection);
        }
        if id.object == 0 {
            self.ask_for_the_rest(number, id.connection, id.page);
        }
        if missing == 0 {
            self.page_is_whole(now, number, id.connection);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        while self.arrivals.take_due(now).is_some() {
            self.begin_session(now);
        }
        while let Some(&(at, session)) = self.thinking.front()
            && at <= now
        {
            self.thinking.pop_front();
            self.begin_page(now, session);
        }
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let thinking = self.thinking.front().map(|(at, _)| *at);
        self.arrivals.next().into_iter().chain(thinking).min()
    }

    fn is_done(&self) -> bool {
        self.arrivals.next().is_none() && self.sessions.is_empty() && self.outputs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::{Pipe, Side};
    use crate::web::WebServer;
    use headway_sansio::Seed;

    fn surf(connections: Connections) -> (Vec<(u64, Side, u32, u32)>, WebUsers) {
        let workload = WebWorkload {
            session_rate: 0.1,
            connections,
            ..WebWorkload::default()
        };
        let random = Seed::new(4).stream("web");
        // Regular arrivals begin within one gap: one session.
        let mut users = WebUsers::new(&workload, Duration::from_secs(10), random);
        let mut server = WebServer::new(&workload);
        let mut pipe = Pipe::new(Duration::from_millis(50), Seed::new(1).stream("pipe"));
        pipe.run(&mut users, &mut server);
        let begin = pipe.log[0].0;
        let log = pipe.log.iter().map(|(at, side, m)| {
            let after = at.since(begin).as_nanos() / 1_000_000;
            (after, *side, m.context, m.payload.len() as u32)
        });
        (log.collect(), users)
    }

    #[test]
    fn a_session_is_three_pages_with_pauses() {
        let (log, mut users) = surf(Connections::Session);
        let requests: Vec<(u64, u32)> = log
            .iter()
            .filter(|(_, side, ..)| *side == Side::A)
            .map(|(at, _, connection, _)| (*at, *connection))
            .collect();
        let page = |at: u64| [(at, 0), (at + 100, 0), (at + 100, 0)];
        assert_eq!(requests, [page(0), page(10_200), page(20_400)].concat());
        let replies: u32 = log
            .iter()
            .filter(|(_, side, ..)| *side == Side::B)
            .map(|(.., bytes)| bytes)
            .sum();
        assert_eq!(replies, 3 * 85_000);
        assert_eq!(users.poll_closed(), Some(Peer(0)));
        assert_eq!(users.poll_closed(), None);
        let seen = users.seen();
        assert_eq!((seen.sessions, seen.pages, seen.abandoned), (1, 3, 0));
        assert_eq!(seen.page_nanos, 3 * 200_000_000);
    }

    #[test]
    fn connections_by_page_and_by_object() {
        for (connections, expected) in [(Connections::Page, 3), (Connections::Object, 9)] {
            let (log, mut users) = surf(connections);
            let mut opened: Vec<u32> = log
                .iter()
                .map(|(_, _, connection, _)| *connection)
                .collect();
            opened.sort_unstable();
            opened.dedup();
            assert_eq!(opened.len(), expected);
            let closed = core::iter::from_fn(|| users.poll_closed()).count();
            assert_eq!(closed, expected);
            assert_eq!(users.seen().pages, 3);
        }
    }

    #[test]
    fn a_lost_connection_ends_its_session() {
        let workload = WebWorkload::default();
        let random = Seed::new(4).stream("web");
        let mut users = WebUsers::new(&workload, Duration::from_secs(1), random);
        users.start(Time::ZERO);
        let at = users.poll_timeout().unwrap();
        users.handle_timeout(at);
        let request = users.poll_output().unwrap();
        users.connection_lost(request.to);
        assert!(users.is_done());
        assert_eq!(users.seen().abandoned, 1);
        // A reply that still comes is nobody's.
        let id = WebId {
            reply: true,
            ..WebId::decode(request.id)
        };
        users.handle_message(
            at,
            Incoming {
                id: Some(id.encode()),
                from: request.to,
                payload: Payload::Sized(1),
            },
        );
        assert_eq!(users.poll_output(), None);
    }
}
