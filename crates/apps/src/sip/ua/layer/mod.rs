//! The transaction layer: which message belongs to which transaction (RFC 3261
//! sections 17.1.3 and 17.2.3, RFC 6026), and running all of them.

mod entry;
mod event;

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use bytes::Bytes;
use headway_sansio::Time;

use self::entry::{ClientEntry, ClientKey, ClientMachine, ServerEntry, ServerKey, ServerMachine};
use self::event::context_of;
pub use self::event::{ClientId, LayerCounters, LayerEvent, LayerOutput, ServerId};
use crate::sip::message::{self, Method, SipMessage, ack_for, response_to};
use crate::sip::timer_queue::TimerQueue;
use crate::sip::transaction::{
    Client, ClientAction, InviteClient, InviteServer, Server, ServerAction, Timers, Trying,
};
use crate::{Peer, Reliability};

/// The transactions of one transport.
#[derive(Debug)]
pub struct TransactionLayer {
    timers: Timers,
    reliability: Reliability,
    clients: BTreeMap<ClientId, ClientEntry>,
    client_keys: BTreeMap<ClientKey, ClientId>,
    servers: BTreeMap<ServerId, ServerEntry>,
    server_keys: BTreeMap<ServerKey, ServerId>,
    queue: TimerQueue<Entry>,
    outputs: VecDeque<LayerOutput>,
    next_id: u64,
    counters: LayerCounters,
}

/// A machine with a timer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Entry {
    Client(ClientId),
    Server(ServerId),
}

impl TransactionLayer {
    /// A layer without transactions.
    #[must_use]
    pub fn new(timers: Timers, reliability: Reliability) -> Self {
        Self {
            timers,
            reliability,
            clients: BTreeMap::new(),
            client_keys: BTreeMap::new(),
            servers: BTreeMap::new(),
            server_keys: BTreeMap::new(),
            queue: TimerQueue::new(),
            outputs: VecDeque::new(),
            next_id: 0,
            counters: LayerCounters::default(),
        }
    }

    /// What it has counted.
    #[must_use]
    pub fn counters(&self) -> LayerCounters {
        self.counters
    }

    /// Whether no transaction is left, not even one that only waits for
    /// repetitions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty() && self.servers.is_empty()
    }

    /// Sends a request other than ACK, in a transaction of its own. `None` where
    /// `bytes` is no such request with a unique branch.
    pub fn request(&mut self, now: Time, to: Peer, bytes: Bytes) -> Option<ClientId> {
        let request = message::parse(&bytes).ok()?;
        let method = request.method()?.clone();
        let branch = request.branch()?.to_string();
        let key = (branch, method.clone());
        if method == Method::Ack || self.client_keys.contains_key(&key) {
            return None;
        }
        let machine = match method {
            Method::Invite => {
                ClientMachine::Invite(InviteClient::start(now, self.timers, self.reliability))
            }
            _ => ClientMachine::Other(Client::start(now, self.timers, self.reliability)),
        };
        let id = ClientId(self.new_id());
        self.queue
            .moved(Entry::Client(id), None, machine.poll_timeout());
        self.client_keys.insert(key.clone(), id);
        self.counters.requests += 1;
        let context = context_of(&request.call_id);
        self.send(to, bytes.clone(), Some(id), context);
        let entry = ClientEntry {
            peer: to,
            key,
            request,
            bytes,
            ack: None,
            machine,
        };
        self.clients.insert(id, entry);
        Some(id)
    }

    /// Sends the ACK of a 2xx, which has no transaction.
    pub fn acknowledge(&mut self, to: Peer, bytes: Bytes) {
        let ack = message::parse(&bytes);
        let context = ack.map_or(0, |ack| context_of(&ack.call_id));
        self.send(to, bytes, None, context);
    }

    /// Forgets a request: its responses are strays from now on. An INVITE that
    /// was cancelled and gets no final response ends so (section 9.1).
    pub fn forget(&mut self, id: ClientId) {
        if let Some(entry) = self.clients.remove(&id) {
            self.client_keys.remove(&entry.key);
        }
        self.drop_stale_timers();
    }

    /// Sends a response, or a 2xx to INVITE again. Whether the transaction took
    /// it is the answer.
    pub fn respond(&mut self, now: Time, id: ServerId, bytes: Bytes) -> bool {
        let Ok(response) = message::parse(&bytes) else {
            return false;
        };
        let (Some(code), Some(entry)) = (response.code(), self.servers.get_mut(&id)) else {
            return false;
        };
        let before = entry.machine.poll_timeout();
        let action = entry.machine.respond(now, code);
        let taken = action == ServerAction::Send;
        if taken {
            entry.last = Some(bytes);
            entry.tag = response.to.tag.map(|tag| tag.to_string());
        }
        self.finish_server(id, before, action);
        self.drop_stale_timers();
        taken
    }

    /// The INVITE that a CANCEL asks to cancel, where its transaction is there
    /// (section 9.2).
    #[must_use]
    pub fn invite_to_cancel(&self, cancel: &SipMessage) -> Option<ServerId> {
        let key = ServerKey::with_method(cancel, Method::Invite);
        self.server_keys.get(&key).copied()
    }

    /// The transport could not send to this peer: tells every transaction that
    /// is still about to send there.
    pub fn handle_transport_error(&mut self, peer: Peer) {
        let clients: Vec<ClientId> = self.clients.keys().copied().collect();
        for id in clients {
            if let Some(entry) = self.clients.get_mut(&id).filter(|entry| entry.peer == peer) {
                let before = entry.machine.poll_timeout();
                let action = entry.machine.handle_transport_error();
                self.finish_client(id, before, action, None);
            }
        }
        let servers: Vec<ServerId> = self.servers.keys().copied().collect();
        for id in servers {
            if let Some(entry) = self.servers.get_mut(&id).filter(|entry| entry.peer == peer) {
                let before = entry.machine.poll_timeout();
                let action = entry.machine.handle_transport_error();
                self.finish_server(id, before, action);
            }
        }
        self.drop_stale_timers();
    }

    /// Takes a message from the transport, with the IP address that it came from
    /// where there is one: the server notes it in Via where the client's own word
    /// differs (section 18.2.1).
    pub fn handle_message(
        &mut self,
        now: Time,
        from: Peer,
        address: Option<IpAddr>,
        bytes: &Bytes,
    ) {
        match message::parse(bytes) {
            Err(error) => {
                self.counters.malformed += 1;
                // The answer makes no transaction: whoever sends such a request
                // will send more of them (RFC 4475 section 3.2.1).
                if let Some(response) = error.response() {
                    self.counters.responses += 1;
                    let bytes = Bytes::copy_from_slice(response.as_bytes());
                    self.send(from, bytes, None, 0);
                }
            }
            Ok(message) if message.code().is_some() => self.handle_response(now, message),
            Ok(message) => self.handle_request(now, from, address, message),
        }
        self.drop_stale_timers();
    }

    fn handle_response(&mut self, now: Time, response: SipMessage) {
        let id = response.branch().and_then(|branch| {
            let key = (branch.to_string(), response.cseq.method.clone());
            self.client_keys.get(&key).copied()
        });
        // An endpoint's response has one Via, its own; more of them mean that it
        // came here by mistake (section 8.1.3.3).
        let entry = id.filter(|_| response.via.len() == 1).and_then(|id| {
            let entry = self.clients.get_mut(&id)?;
            Some((id, entry))
        });
        let (Some((id, entry)), Some(code)) = (entry, response.code()) else {
            self.counters.stray_responses += 1;
            return;
        };
        let before = entry.machine.poll_timeout();
        let action = entry.machine.handle_response(now, code);
        if action == ClientAction::AcknowledgeAndPassUp {
            entry.ack = ack_for(&entry.request, &response);
        }
        self.finish_client(id, before, action, Some(response));
    }

    fn handle_request(
        &mut self,
        now: Time,
        from: Peer,
        address: Option<IpAddr>,
        mut request: SipMessage,
    ) {
        let key = ServerKey::of(&request);
        let is_ack = request.cseq.method == Method::Ack;
        let known = self.server_keys.get(&key).copied();
        let entry = known.and_then(|id| {
            let entry = self.servers.get_mut(&id)?;
            entry.has_to_tag_of(&request).then_some((id, entry))
        });
        if let Some((id, entry)) = entry {
            let before = entry.machine.poll_timeout();
            let action = entry.machine.handle_request(now, &request.cseq.method);
            if action == ServerAction::PassUp {
                self.event(LayerEvent::Ack(Box::new(request)));
            }
            self.finish_server(id, before, action);
            return;
        }
        if is_ack {
            self.event(LayerEvent::Ack(Box::new(request)));
            return;
        }
        if let Some(address) = address {
            request.note_source(address);
        }
        let (machine, action) = if request.cseq.method == Method::Invite {
            let (timers, reliability) = (self.timers, self.reliability);
            let (machine, action) = InviteServer::start(now, timers, reliability, Trying::WhenSlow);
            (ServerMachine::Invite(machine), action)
        } else {
            let machine = Server::start(self.timers, self.reliability);
            (ServerMachine::Other(machine), ServerAction::None)
        };
        let id = ServerId(self.new_id());
        self.server_keys.insert(key.clone(), id);
        let entry = ServerEntry {
            peer: from,
            key,
            request: request.clone(),
            last: None,
            tag: None,
            machine,
        };
        self.servers.insert(id, entry);
        self.finish_server(id, None, action);
        self.event(LayerEvent::Request {
            id,
            from,
            message: Box::new(request),
        });
    }

    fn finish_client(
        &mut self,
        id: ClientId,
        before: Option<Time>,
        action: ClientAction,
        response: Option<SipMessage>,
    ) {
        let Some(entry) = self.clients.get(&id) else {
            return;
        };
        let after = entry.machine.poll_timeout();
        self.queue.moved(Entry::Client(id), before, after);
        let (peer, over) = (entry.peer, entry.machine.is_over());
        let context = context_of(&entry.request.call_id);
        match action {
            ClientAction::Send => {
                let bytes = entry.bytes.clone();
                self.counters.repeated_requests += 1;
                self.send(peer, bytes, Some(id), context);
            }
            ClientAction::Acknowledge | ClientAction::AcknowledgeAndPassUp => {
                if let Some(ack) = entry.ack.clone() {
                    self.send(peer, ack, None, context);
                }
            }
            _ => {}
        }
        match (action, response) {
            (ClientAction::PassUp | ClientAction::AcknowledgeAndPassUp, Some(response)) => {
                let message = Box::new(response);
                self.event(LayerEvent::Response { id, message });
            }
            (ClientAction::TimedOut, _) => self.event(LayerEvent::ClientTimedOut(id)),
            (ClientAction::TransportFailed, _) => self.event(LayerEvent::ClientFailed(id)),
            _ => {}
        }
        if over && let Some(entry) = self.clients.remove(&id) {
            self.client_keys.remove(&entry.key);
        }
    }

    fn finish_server(&mut self, id: ServerId, before: Option<Time>, action: ServerAction) {
        let Some(entry) = self.servers.get(&id) else {
            return;
        };
        let after = entry.machine.poll_timeout();
        self.queue.moved(Entry::Server(id), before, after);
        let (peer, over) = (entry.peer, entry.machine.is_over());
        let context = context_of(&entry.request.call_id);
        let bytes = match action {
            ServerAction::Send | ServerAction::SendAgain => entry.last.clone(),
            ServerAction::SendTrying => {
                Some(response_to(&entry.request, 100, "Trying", None).finish())
            }
            _ => None,
        };
        if let Some(bytes) = bytes {
            self.counters.responses += 1;
            self.counters.repeated_responses += u64::from(action == ServerAction::SendAgain);
            self.send(peer, bytes, None, context);
        }
        match action {
            ServerAction::TimedOut => self.event(LayerEvent::ServerTimedOut(id)),
            ServerAction::TransportFailed => self.event(LayerEvent::ServerFailed(id)),
            _ => {}
        }
        if over && let Some(entry) = self.servers.remove(&id) {
            // An old key may have been taken over by a request with another To tag.
            if self.server_keys.get(&entry.key) == Some(&id) {
                self.server_keys.remove(&entry.key);
            }
        }
    }

    /// Entries in all its tables.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        let clients = self.clients.len() + self.client_keys.len();
        let servers = self.servers.len() + self.server_keys.len();
        clients + servers + self.queue.len() + self.outputs.len()
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn send(&mut self, to: Peer, bytes: Bytes, request: Option<ClientId>, context: u32) {
        self.outputs.push_back(LayerOutput::Send {
            to,
            bytes,
            request,
            context,
        });
    }

    fn event(&mut self, event: LayerEvent) {
        self.outputs.push_back(LayerOutput::Event(event));
    }

    fn due(&self, entry: Entry) -> Option<Time> {
        match entry {
            Entry::Client(id) => self.clients.get(&id)?.machine.poll_timeout(),
            Entry::Server(id) => self.servers.get(&id)?.machine.poll_timeout(),
        }
    }

    fn drop_stale_timers(&mut self) {
        let mut queue = std::mem::replace(&mut self.queue, TimerQueue::new());
        queue.drop_stale(|entry| self.due(entry));
        self.queue = queue;
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        loop {
            let mut queue = std::mem::replace(&mut self.queue, TimerQueue::new());
            let due = queue.pop_due(now, |entry| self.due(entry));
            self.queue = queue;
            match due {
                None => return,
                Some(Entry::Client(id)) => {
                    if let Some(entry) = self.clients.get_mut(&id) {
                        let action = entry.machine.handle_timeout(now);
                        self.finish_client(id, None, action, None);
                    }
                }
                Some(Entry::Server(id)) => {
                    if let Some(entry) = self.servers.get_mut(&id) {
                        let action = entry.machine.handle_timeout(now);
                        self.finish_server(id, None, action);
                    }
                }
            }
        }
    }

    /// The next output.
    pub fn poll_output(&mut self) -> Option<LayerOutput> {
        self.outputs.pop_front()
    }

    /// When it next wants [`Self::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.queue.next()
    }
}
