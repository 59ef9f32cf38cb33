//! Every state against every event: the arrows of the figures, and nothing where
//! a figure has no arrow.

use headway_sansio::{Duration, Time};

use super::*;
use crate::Reliability::Unreliable;

const LATER: Time = Time::from_nanos(1_000_000);

/// An event that a transaction can meet.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A response from the network to a client, or from the user to a server.
    Code(u16),
    /// The request again.
    Request,
    Ack,
    /// The next timer of the state fires.
    Timer,
    /// The timer that ends the state fires.
    LastTimer,
    TransportError,
}
use Event::{Ack, Code, LastTimer, Request, TransportError};

fn far() -> Time {
    LATER + Duration::from_secs(100)
}

fn timers() -> Timers {
    Timers::default()
}

/// RFC 6026 figure 5.
#[test]
fn invite_client() {
    use ClientAction as A;
    use InviteClientState::{Accepted, Calling, Completed, Proceeding, Terminated};
    let reach = |state| {
        let mut machine = InviteClient::start(Time::ZERO, timers(), Unreliable);
        let codes: &[u16] = match state {
            Calling => &[],
            Proceeding => &[180],
            Completed => &[486],
            Accepted => &[200],
            Terminated => &[486],
        };
        for code in codes {
            let _ = machine.handle_response(Time::ZERO, *code);
        }
        if state == Terminated {
            let _ = machine.handle_timeout(far());
        }
        assert_eq!(machine.state(), state);
        machine
    };
    let rows = [
        (Calling, Event::Timer, A::Send, Calling),
        (Calling, LastTimer, A::TimedOut, Terminated),
        (Calling, TransportError, A::TransportFailed, Terminated),
        (Calling, Code(100), A::PassUp, Proceeding),
        (Calling, Code(199), A::PassUp, Proceeding),
        (Calling, Code(200), A::PassUp, Accepted),
        (Calling, Code(299), A::PassUp, Accepted),
        (Calling, Code(300), A::AcknowledgeAndPassUp, Completed),
        (Calling, Code(699), A::AcknowledgeAndPassUp, Completed),
        (Proceeding, Event::Timer, A::None, Proceeding),
        (Proceeding, LastTimer, A::None, Proceeding),
        (Proceeding, TransportError, A::None, Proceeding),
        (Proceeding, Code(100), A::PassUp, Proceeding),
        (Proceeding, Code(183), A::PassUp, Proceeding),
        (Proceeding, Code(200), A::PassUp, Accepted),
        (Proceeding, Code(404), A::AcknowledgeAndPassUp, Completed),
        (Completed, LastTimer, A::None, Terminated),
        (Completed, TransportError, A::TransportFailed, Terminated),
        (Completed, Code(180), A::None, Completed),
        (Completed, Code(200), A::None, Completed),
        (Completed, Code(486), A::Acknowledge, Completed),
        (Completed, Code(603), A::Acknowledge, Completed),
        (Accepted, LastTimer, A::None, Terminated),
        (Accepted, TransportError, A::None, Accepted),
        (Accepted, Code(180), A::None, Accepted),
        (Accepted, Code(200), A::PassUp, Accepted),
        (Accepted, Code(486), A::None, Accepted),
        (Terminated, LastTimer, A::None, Terminated),
        (Terminated, TransportError, A::None, Terminated),
        (Terminated, Code(180), A::None, Terminated),
        (Terminated, Code(200), A::None, Terminated),
        (Terminated, Code(486), A::None, Terminated),
        // Not status codes at all.
        (Calling, Code(0), A::None, Calling),
        (Calling, Code(99), A::None, Calling),
        (Proceeding, Code(700), A::None, Proceeding),
    ];
    for (from, event, action, to) in rows {
        let mut machine = reach(from);
        let done = match event {
            Code(code) => machine.handle_response(LATER, code),
            Event::Timer => machine.handle_timeout(machine.poll_timeout().unwrap_or(LATER)),
            LastTimer => machine.handle_timeout(far()),
            TransportError => machine.handle_transport_error(),
            Request | Ack => unreachable!("a client gets no requests"),
        };
        assert_eq!((done, machine.state()), (action, to), "{from:?} {event:?}");
    }
}

/// RFC 3261 figure 6.
#[test]
fn client() {
    use ClientAction as A;
    use ClientState::{Completed, Proceeding, Terminated, Trying};
    let reach = |state| {
        let mut machine = Client::start(Time::ZERO, timers(), Unreliable);
        match state {
            Trying => {}
            Proceeding => drop(machine.handle_response(Time::ZERO, 100)),
            Completed => drop(machine.handle_response(Time::ZERO, 200)),
            Terminated => drop(machine.handle_timeout(far())),
        }
        assert_eq!(machine.state(), state);
        machine
    };
    let rows = [
        (Trying, Event::Timer, A::Send, Trying),
        (Trying, LastTimer, A::TimedOut, Terminated),
        (Trying, TransportError, A::TransportFailed, Terminated),
        (Trying, Code(100), A::PassUp, Proceeding),
        (Trying, Code(200), A::PassUp, Completed),
        (Trying, Code(699), A::PassUp, Completed),
        (Proceeding, Event::Timer, A::Send, Proceeding),
        (Proceeding, LastTimer, A::TimedOut, Terminated),
        (Proceeding, TransportError, A::TransportFailed, Terminated),
        (Proceeding, Code(183), A::PassUp, Proceeding),
        (Proceeding, Code(200), A::PassUp, Completed),
        (Proceeding, Code(481), A::PassUp, Completed),
        (Completed, LastTimer, A::None, Terminated),
        (Completed, TransportError, A::None, Completed),
        (Completed, Code(183), A::None, Completed),
        (Completed, Code(200), A::None, Completed),
        (Terminated, LastTimer, A::None, Terminated),
        (Terminated, TransportError, A::None, Terminated),
        (Terminated, Code(200), A::None, Terminated),
        (Trying, Code(99), A::None, Trying),
        (Proceeding, Code(700), A::None, Proceeding),
    ];
    for (from, event, action, to) in rows {
        let mut machine = reach(from);
        let done = match event {
            Code(code) => machine.handle_response(LATER, code),
            Event::Timer => machine.handle_timeout(machine.poll_timeout().unwrap_or(LATER)),
            LastTimer => machine.handle_timeout(far()),
            TransportError => machine.handle_transport_error(),
            Request | Ack => unreachable!("a client gets no requests"),
        };
        assert_eq!((done, machine.state()), (action, to), "{from:?} {event:?}");
    }
}

/// RFC 6026 figure 7.
#[test]
fn invite_server() {
    use InviteServerState::{Accepted, Completed, Confirmed, Proceeding, Terminated};
    use ServerAction as A;
    let reach = |state| {
        let start = |trying| InviteServer::start(Time::ZERO, timers(), Unreliable, trying);
        let (mut machine, action) = start(Trying::AtOnce);
        assert_eq!(action, A::SendTrying);
        match state {
            Proceeding => {}
            Completed => drop(machine.respond(Time::ZERO, 486)),
            Confirmed => {
                let _ = machine.respond(Time::ZERO, 486);
                let _ = machine.handle_ack(Time::ZERO);
            }
            Accepted => drop(machine.respond(Time::ZERO, 200)),
            Terminated => {
                let _ = machine.respond(Time::ZERO, 200);
                let _ = machine.handle_timeout(far());
            }
        }
        assert_eq!(machine.state(), state);
        machine
    };
    let rows = [
        (Proceeding, Request, A::SendTrying, Proceeding),
        (Proceeding, Ack, A::None, Proceeding),
        (Proceeding, Code(180), A::Send, Proceeding),
        (Proceeding, Code(200), A::Send, Accepted),
        (Proceeding, Code(299), A::Send, Accepted),
        (Proceeding, Code(300), A::Send, Completed),
        (Proceeding, Code(699), A::Send, Completed),
        (Proceeding, LastTimer, A::None, Proceeding),
        (Proceeding, TransportError, A::TransportFailed, Proceeding),
        (Completed, Request, A::SendAgain, Completed),
        (Completed, Event::Timer, A::SendAgain, Completed),
        (Completed, LastTimer, A::TimedOut, Terminated),
        (Completed, TransportError, A::TransportFailed, Completed),
        (Completed, Ack, A::None, Confirmed),
        (Completed, Code(180), A::None, Completed),
        (Completed, Code(200), A::None, Completed),
        (Completed, Code(486), A::None, Completed),
        (Confirmed, Request, A::None, Confirmed),
        (Confirmed, Ack, A::None, Confirmed),
        (Confirmed, LastTimer, A::None, Terminated),
        (Confirmed, TransportError, A::None, Confirmed),
        (Confirmed, Code(486), A::None, Confirmed),
        (Accepted, Request, A::None, Accepted),
        (Accepted, Ack, A::PassUp, Accepted),
        (Accepted, Code(200), A::Send, Accepted),
        (Accepted, Code(180), A::None, Accepted),
        (Accepted, Code(486), A::None, Accepted),
        (Accepted, LastTimer, A::None, Terminated),
        (Accepted, TransportError, A::TransportFailed, Accepted),
        (Terminated, Request, A::None, Terminated),
        (Terminated, Ack, A::None, Terminated),
        (Terminated, Code(200), A::None, Terminated),
        (Terminated, LastTimer, A::None, Terminated),
        (Terminated, TransportError, A::None, Terminated),
        (Proceeding, Code(99), A::None, Proceeding),
        (Proceeding, Code(700), A::None, Proceeding),
    ];
    for (from, event, action, to) in rows {
        let mut machine = reach(from);
        let done = match event {
            Code(code) => machine.respond(LATER, code),
            Request => machine.handle_invite(),
            Ack => machine.handle_ack(LATER),
            Event::Timer => machine.handle_timeout(machine.poll_timeout().unwrap_or(LATER)),
            LastTimer => machine.handle_timeout(far()),
            TransportError => machine.handle_transport_error(),
        };
        assert_eq!((done, machine.state()), (action, to), "{from:?} {event:?}");
    }
}

/// What a repeated INVITE gets while the transaction user still thinks.
#[test]
fn invite_server_repeats_the_last_provisional_response() {
    let (mut server, _) = InviteServer::start(Time::ZERO, timers(), Unreliable, Trying::WhenSlow);
    assert_eq!(server.handle_invite(), ServerAction::None);
    assert_eq!(server.respond(LATER, 180), ServerAction::Send);
    assert_eq!(server.handle_invite(), ServerAction::SendAgain);
    // The user was quick: no 100 after 200 ms.
    assert_eq!(server.poll_timeout(), None);
}

/// RFC 3261 figure 8.
#[test]
fn server() {
    use ServerAction as A;
    use ServerState::{Completed, Proceeding, Terminated, Trying};
    let reach = |state| {
        let mut machine = Server::start(timers(), Unreliable);
        match state {
            Trying => {}
            Proceeding => drop(machine.respond(Time::ZERO, 100)),
            Completed => drop(machine.respond(Time::ZERO, 200)),
            Terminated => {
                let _ = machine.respond(Time::ZERO, 200);
                machine.handle_timeout(far());
            }
        }
        assert_eq!(machine.state(), state);
        machine
    };
    let rows = [
        (Trying, Request, A::None, Trying),
        (Trying, Code(100), A::Send, Proceeding),
        (Trying, Code(200), A::Send, Completed),
        (Trying, Code(699), A::Send, Completed),
        (Trying, LastTimer, A::None, Trying),
        (Trying, TransportError, A::None, Trying),
        (Proceeding, Request, A::SendAgain, Proceeding),
        (Proceeding, Code(183), A::Send, Proceeding),
        (Proceeding, Code(404), A::Send, Completed),
        (Proceeding, LastTimer, A::None, Proceeding),
        (Proceeding, TransportError, A::TransportFailed, Terminated),
        (Completed, Request, A::SendAgain, Completed),
        (Completed, Code(200), A::None, Completed),
        (Completed, Code(100), A::None, Completed),
        (Completed, LastTimer, A::None, Terminated),
        (Completed, TransportError, A::TransportFailed, Terminated),
        (Terminated, Request, A::None, Terminated),
        (Terminated, Code(200), A::None, Terminated),
        (Terminated, LastTimer, A::None, Terminated),
        (Terminated, TransportError, A::None, Terminated),
        (Trying, Code(99), A::None, Trying),
        (Trying, Code(700), A::None, Trying),
    ];
    for (from, event, action, to) in rows {
        let mut machine = reach(from);
        let done = match event {
            Code(code) => machine.respond(LATER, code),
            Request => machine.handle_request(),
            LastTimer => {
                machine.handle_timeout(far());
                A::None
            }
            TransportError => machine.handle_transport_error(),
            Ack | Event::Timer => unreachable!("no such arrow and no way to meet it"),
        };
        assert_eq!((done, machine.state()), (action, to), "{from:?} {event:?}");
    }
}
