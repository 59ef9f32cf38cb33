//! Dialogs: what requests within a call are made of (RFC 3261 section 12).

use std::cmp::Ordering;

use ezk_sip_types::Name;

use crate::sip::message::{Address, Draft, Method, SipMessage, Uri};

/// Call-ID, tag of this side, tag of the other side.
pub(super) type DialogId = (String, String, String);

/// One side's view of a dialog.
#[derive(Clone, Debug)]
pub(super) struct Dialog {
    pub(super) id: DialogId,
    /// From of this side's requests.
    local: String,
    /// To of this side's requests.
    remote: String,
    local_seq: u32,
    remote_seq: Option<u32>,
    target: String,
    routes: Vec<Address>,
}

impl Dialog {
    /// The caller's side, from a response to its INVITE (section 12.1.2).
    pub(super) fn of_caller(invite: &SipMessage, response: &SipMessage) -> Self {
        let mut routes = routes_of(response);
        routes.reverse();
        Self {
            id: (
                invite.call_id.to_string(),
                tag_of(&invite.from),
                tag_of(&response.to),
            ),
            local: value_of(invite, &Name::FROM),
            remote: value_of(response, &Name::TO),
            local_seq: invite.cseq.number,
            remote_seq: None,
            target: target_of(response, &response.to.uri),
            routes,
        }
    }

    /// The answerer's side, from the INVITE and the tag that it puts into To
    /// (section 12.1.1).
    pub(super) fn of_answerer(invite: &SipMessage, tag: &str) -> Self {
        Self {
            id: (
                invite.call_id.to_string(),
                tag.to_string(),
                tag_of(&invite.from),
            ),
            local: format!("{};tag={tag}", value_of(invite, &Name::TO)),
            remote: value_of(invite, &Name::FROM),
            // Section 8.1.1.5: any start below 2^31.
            local_seq: 0,
            remote_seq: Some(invite.cseq.number),
            target: target_of(invite, &invite.from.uri),
            routes: routes_of(invite),
        }
    }

    /// The dialog that a request from the other side names.
    pub(super) fn named_by(request: &SipMessage) -> DialogId {
        (
            request.call_id.to_string(),
            tag_of(&request.to),
            tag_of(&request.from),
        )
    }

    /// Takes note of a request's number; `false` where it is out of order
    /// (section 12.2.2: status code 500).
    pub(super) fn take_number(&mut self, request: &SipMessage) -> bool {
        let number = request.cseq.number;
        let newer = self.remote_seq.map(|last| number.cmp(&last));
        if newer == Some(Ordering::Less) {
            return false;
        }
        self.remote_seq = Some(number);
        true
    }

    /// A request within the dialog (section 12.2.1.1), up to its own headers.
    pub(super) fn request(&mut self, method: &Method, via: &str) -> Draft {
        self.local_seq += 1;
        self.request_numbered(method, via, self.local_seq)
    }

    /// The ACK of a 2xx: the number is that of the INVITE (section 13.2.2.4).
    pub(super) fn ack(&self, invite: &SipMessage, via: &str) -> Draft {
        self.request_numbered(&Method::Ack, via, invite.cseq.number)
    }

    fn request_numbered(&self, method: &Method, via: &str, number: u32) -> Draft {
        let mut routes: Vec<String> = self.routes.iter().map(Address::to_route).collect();
        let mut uri = self.target.clone();
        // A first router that does not say "lr" rewrites the request URI on the
        // way, and so it takes the place of the target, which goes to the end.
        if let Some(first) = self.routes.first().filter(|first| !is_loose(first)) {
            routes.remove(0);
            routes.push(format!("<{uri}>"));
            uri = first.uri.to_string();
        }
        let mut draft = Draft::request(method, &uri)
            .header("Via", via)
            .header("Max-Forwards", 70);
        for route in routes {
            draft = draft.header("Route", route);
        }
        draft
            .header("From", &self.local)
            .header("To", &self.remote)
            .header("Call-ID", &self.id.0)
            .header("CSeq", format_args!("{number} {method}"))
    }
}

fn tag_of(address: &Address) -> String {
    address.tag.as_deref().unwrap_or_default().to_string()
}

fn value_of(message: &SipMessage, name: &Name) -> String {
    message.values(name).next().unwrap_or_default().to_string()
}

/// Where the other side wants the dialog's requests: its Contact, which
/// must be there; its address serves where it is not.
fn target_of(message: &SipMessage, otherwise: &Uri) -> String {
    let contact = message.contact.first().map(|contact| &contact.uri);
    contact.unwrap_or(otherwise).without_headers().to_string()
}

fn routes_of(message: &SipMessage) -> Vec<Address> {
    message.addresses(&Name::RECORD_ROUTE)
}

fn is_loose(route: &Address) -> bool {
    let parts = route.uri.sip();
    parts.is_some_and(|uri| uri.uri_params.get("lr").is_some())
}
