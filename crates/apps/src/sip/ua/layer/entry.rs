//! A transaction with its messages, and what tells it from others.

use bytes::Bytes;
use ezk_sip_types::print::AppendCtx;
use headway_sansio::Time;

use crate::Peer;
use crate::sip::message::{MAGIC_COOKIE, Method, SipMessage};
use crate::sip::transaction::{
    Client, ClientAction, ClientState, InviteClient, InviteClientState, InviteServer,
    InviteServerState, Server, ServerAction, ServerState,
};

/// What tells client transactions apart (RFC 3261 section 17.1.3): branch and
/// method. A CANCEL has the branch of its INVITE.
pub(super) type ClientKey = (String, Method);

#[derive(Debug)]
pub(super) struct ClientEntry {
    pub(super) peer: Peer,
    pub(super) key: ClientKey,
    pub(super) request: SipMessage,
    pub(super) bytes: Bytes,
    pub(super) ack: Option<Bytes>,
    pub(super) machine: ClientMachine,
}

#[derive(Debug)]
pub(super) enum ClientMachine {
    Invite(InviteClient),
    Other(Client),
}

impl ClientMachine {
    pub(super) fn handle_response(&mut self, now: Time, code: u16) -> ClientAction {
        match self {
            Self::Invite(machine) => machine.handle_response(now, code),
            Self::Other(machine) => machine.handle_response(now, code),
        }
    }

    pub(super) fn handle_transport_error(&mut self) -> ClientAction {
        match self {
            Self::Invite(machine) => machine.handle_transport_error(),
            Self::Other(machine) => machine.handle_transport_error(),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time) -> ClientAction {
        match self {
            Self::Invite(machine) => machine.handle_timeout(now),
            Self::Other(machine) => machine.handle_timeout(now),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Invite(machine) => machine.poll_timeout(),
            Self::Other(machine) => machine.poll_timeout(),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Invite(machine) => machine.state() == InviteClientState::Terminated,
            Self::Other(machine) => machine.state() == ClientState::Terminated,
        }
    }
}

#[derive(Debug)]
pub(super) struct ServerEntry {
    pub(super) peer: Peer,
    pub(super) key: ServerKey,
    pub(super) request: SipMessage,
    /// The user's last response.
    pub(super) last: Option<Bytes>,
    /// The tag that it put into To.
    pub(super) tag: Option<String>,
    pub(super) machine: ServerMachine,
}

impl ServerEntry {
    /// Whether the To tag of a request with the same key fits too. It is part of
    /// the old kind of key; an ACK has the tag of the response, a repeated
    /// request that of the request.
    pub(super) fn has_to_tag_of(&self, request: &SipMessage) -> bool {
        let tag = request.to.tag.as_deref();
        match self.key {
            ServerKey::Branch { .. } => true,
            ServerKey::Old { .. } if request.cseq.method == Method::Ack => {
                tag == self.tag.as_deref()
            }
            ServerKey::Old { .. } => tag == self.request.to.tag.as_deref(),
        }
    }
}

#[derive(Debug)]
pub(super) enum ServerMachine {
    Invite(InviteServer),
    Other(Server),
}

impl ServerMachine {
    /// A request with this transaction's key came: the same again, or the ACK.
    pub(super) fn handle_request(&mut self, now: Time, method: &Method) -> ServerAction {
        match self {
            Self::Invite(machine) if *method == Method::Ack => machine.handle_ack(now),
            Self::Invite(machine) => machine.handle_invite(),
            Self::Other(machine) => machine.handle_request(),
        }
    }

    pub(super) fn respond(&mut self, now: Time, code: u16) -> ServerAction {
        match self {
            Self::Invite(machine) => machine.respond(now, code),
            Self::Other(machine) => machine.respond(now, code),
        }
    }

    pub(super) fn handle_transport_error(&mut self) -> ServerAction {
        match self {
            Self::Invite(machine) => machine.handle_transport_error(),
            Self::Other(machine) => machine.handle_transport_error(),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time) -> ServerAction {
        match self {
            Self::Invite(machine) => machine.handle_timeout(now),
            Self::Other(machine) => {
                machine.handle_timeout(now);
                ServerAction::None
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Invite(machine) => machine.poll_timeout(),
            Self::Other(machine) => machine.poll_timeout(),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Invite(machine) => machine.state() == InviteServerState::Terminated,
            Self::Other(machine) => machine.state() == ServerState::Terminated,
        }
    }
}

/// What tells server transactions apart (RFC 3261 section 17.2.3). ACK has the
/// key of its INVITE.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ServerKey {
    Branch {
        branch: String,
        sent_by: String,
        method: Method,
    },
    /// Of a client from before RFC 3261, whose branch is not unique.
    Old {
        uri: String,
        from_tag: String,
        call_id: String,
        cseq: u32,
        via: String,
        method: Method,
    },
}

impl ServerKey {
    /// The key of a request.
    pub(super) fn of(request: &SipMessage) -> Self {
        match &request.cseq.method {
            Method::Ack => Self::with_method(request, Method::Invite),
            method => Self::with_method(request, method.clone()),
        }
    }

    /// The key that this request would have with another method.
    pub(super) fn with_method(request: &SipMessage, method: Method) -> Self {
        let via = request.top_via();
        match request.branch().filter(|it| it.starts_with(MAGIC_COOKIE)) {
            Some(branch) => Self::Branch {
                branch: branch.to_string(),
                sent_by: via.sent_by.default_print_ctx().to_string().to_lowercase(),
                method,
            },
            None => Self::Old {
                uri: request
                    .request_uri()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                from_tag: request.from.tag.as_deref().unwrap_or_default().to_string(),
                call_id: request.call_id.to_string(),
                cseq: request.cseq.number,
                via: via.default_print_ctx().to_string(),
                method,
            },
        }
    }
}
