//! Every timer, to the nanosecond.

use headway_sansio::{Duration, Time};

use super::*;
use crate::Reliability::{Reliable, Unreliable};

/// Milliseconds after the start at which something is done, and the end.
fn millis(times: &[u64]) -> Vec<Time> {
    let at = |ms: &u64| Time::ZERO + Duration::from_millis(*ms);
    times.iter().map(at).collect()
}

/// Wakes a machine at exactly the times that it names. Returns when it said
/// `send`, and what it said last and when.
fn run<M, A: PartialEq + Copy>(
    machine: &mut M,
    poll: impl Fn(&M) -> Option<Time>,
    wake: impl Fn(&mut M, Time) -> A,
    send: A,
) -> (Vec<Time>, Option<(Time, A)>) {
    let mut sent = Vec::new();
    let mut last = None;
    while let Some(at) = poll(machine) {
        let action = wake(machine, at);
        assert!(poll(machine).is_none_or(|next| next > at));
        if action == send {
            sent.push(at);
        } else {
            last = Some((at, action));
        }
    }
    (sent, last)
}

fn invite_client(reliability: crate::Reliability) -> InviteClient {
    InviteClient::start(Time::ZERO, Timers::default(), reliability)
}

fn client(reliability: crate::Reliability) -> Client {
    Client::start(Time::ZERO, Timers::default(), reliability)
}

#[test]
fn invite_without_a_response() {
    // Seed 1's table: timer A doubles without a limit, timer B ends it at 32 s.
    let (sent, last) = run(
        &mut invite_client(Unreliable),
        InviteClient::poll_timeout,
        InviteClient::handle_timeout,
        ClientAction::Send,
    );
    assert_eq!(sent, millis(&[500, 1_500, 3_500, 7_500, 15_500, 31_500]));
    assert_eq!(last, Some((millis(&[32_000])[0], ClientAction::TimedOut)));
}

#[test]
fn invite_over_a_reliable_transport_is_sent_once() {
    let (sent, last) = run(
        &mut invite_client(Reliable),
        InviteClient::poll_timeout,
        InviteClient::handle_timeout,
        ClientAction::Send,
    );
    assert_eq!(sent, []);
    assert_eq!(last, Some((millis(&[32_000])[0], ClientAction::TimedOut)));
}

#[test]
fn ok_without_an_ack() {
    // Seed 1's table: doubling up to T2, ten repetitions, given up at 32 s.
    let (sent, last) = run(
        &mut OkRepeater::start(Time::ZERO, Timers::default()),
        OkRepeater::poll_timeout,
        OkRepeater::handle_timeout,
        RepeatAction::Send,
    );
    let expected = [
        500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
    ];
    assert_eq!(sent, millis(&expected));
    assert_eq!(last, Some((millis(&[32_000])[0], RepeatAction::GiveUp)));
}

#[test]
fn request_without_a_response() {
    // Timers E and F: 500 ms, 1 s, 2 s, then every 4 s.
    let (sent, last) = run(
        &mut client(Unreliable),
        Client::poll_timeout,
        Client::handle_timeout,
        ClientAction::Send,
    );
    let expected = [
        500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
    ];
    assert_eq!(sent, millis(&expected));
    assert_eq!(last, Some((millis(&[32_000])[0], ClientAction::TimedOut)));
    let (sent, last) = run(
        &mut client(Reliable),
        Client::poll_timeout,
        Client::handle_timeout,
        ClientAction::Send,
    );
    assert_eq!(sent, []);
    assert_eq!(last, Some((millis(&[32_000])[0], ClientAction::TimedOut)));
}

#[test]
fn request_with_a_provisional_response_alone() {
    // The running interval ends as it would have, then timer E is T2.
    let mut client = client(Unreliable);
    let now = Time::ZERO + Duration::from_millis(100);
    assert_eq!(client.handle_response(now, 100), ClientAction::PassUp);
    let (sent, last) = run(
        &mut client,
        Client::poll_timeout,
        Client::handle_timeout,
        ClientAction::Send,
    );
    let expected = [500, 4_500, 8_500, 12_500, 16_500, 20_500, 24_500, 28_500];
    assert_eq!(sent, millis(&expected));
    assert_eq!(last, Some((millis(&[32_000])[0], ClientAction::TimedOut)));
}

#[test]
fn refusal_without_an_ack() {
    // Timers G and H.
    for (reliability, expected) in [
        (
            Unreliable,
            &[
                500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
            ][..],
        ),
        (Reliable, &[]),
    ] {
        let timers = Timers::default();
        let (mut server, _) =
            InviteServer::start(Time::ZERO, timers, reliability, Trying::WhenSlow);
        assert_eq!(server.respond(Time::ZERO, 486), ServerAction::Send);
        let (sent, last) = run(
            &mut server,
            InviteServer::poll_timeout,
            InviteServer::handle_timeout,
            ServerAction::SendAgain,
        );
        assert_eq!(sent, millis(expected));
        assert_eq!(last, Some((millis(&[32_000])[0], ServerAction::TimedOut)));
    }
}

#[test]
fn a_slow_user_makes_the_transaction_say_trying() {
    let timers = Timers::default();
    let (mut server, action) =
        InviteServer::start(Time::ZERO, timers, Unreliable, Trying::WhenSlow);
    assert_eq!(action, ServerAction::None);
    let (sent, _) = run(
        &mut server,
        InviteServer::poll_timeout,
        InviteServer::handle_timeout,
        ServerAction::SendTrying,
    );
    assert_eq!(sent, millis(&[200]));
    assert_eq!(server.handle_invite(), ServerAction::SendTrying);
}

/// How long each state that only absorbs repetitions lasts: timers D, I, J, K, L, M.
#[test]
fn waiting_states_end_in_time() {
    let timers = Timers::default();
    let at = |ms: u64| Some(millis(&[ms])[0]);
    // Time of the end over an unreliable and a reliable transport; None: at once.
    let cases = [("D", at(32_000), None), ("M", at(32_000), at(32_000))];
    for (name, unreliable, reliable) in cases {
        for (reliability, end) in [(Unreliable, unreliable), (Reliable, reliable)] {
            let code = if name == "D" { 486 } else { 200 };
            let mut client = invite_client(reliability);
            let _ = client.handle_response(Time::ZERO, code);
            assert_eq!(client.poll_timeout(), end, "{name}");
        }
    }
    for (reliability, end) in [(Unreliable, at(5_000)), (Reliable, None)] {
        let mut client = client(reliability);
        let _ = client.handle_response(Time::ZERO, 200);
        assert_eq!(client.poll_timeout(), end, "K");
        let (mut server, _) = InviteServer::start(Time::ZERO, timers, reliability, Trying::AtOnce);
        let _ = server.respond(Time::ZERO, 486);
        let _ = server.handle_ack(Time::ZERO);
        assert_eq!(server.poll_timeout(), end, "I");
    }
    for (reliability, end) in [(Unreliable, at(32_000)), (Reliable, None)] {
        let mut server = Server::start(timers, reliability);
        let _ = server.respond(Time::ZERO, 200);
        assert_eq!(server.poll_timeout(), end, "J");
    }
    for reliability in [Unreliable, Reliable] {
        let (mut server, _) = InviteServer::start(Time::ZERO, timers, reliability, Trying::AtOnce);
        let _ = server.respond(Time::ZERO, 200);
        assert_eq!(server.poll_timeout(), at(32_000), "L");
    }
}

#[test]
fn all_scales_with_the_base_values() {
    let timers = Timers {
        t1: Duration::from_millis(100),
        t2: Duration::from_millis(300),
        t4: Duration::from_millis(700),
    };
    let (sent, last) = run(
        &mut InviteClient::start(Time::ZERO, timers, Unreliable),
        InviteClient::poll_timeout,
        InviteClient::handle_timeout,
        ClientAction::Send,
    );
    assert_eq!(sent, millis(&[100, 300, 700, 1_500, 3_100, 6_300]));
    assert_eq!(last, Some((millis(&[6_400])[0], ClientAction::TimedOut)));
    let (sent, _) = run(
        &mut OkRepeater::start(Time::ZERO, timers),
        OkRepeater::poll_timeout,
        OkRepeater::handle_timeout,
        RepeatAction::Send,
    );
    assert_eq!(sent[..4], millis(&[100, 300, 600, 900]));
    // Timer D stays at 32 s: the server's T1 may be larger than ours.
    let mut client = InviteClient::start(Time::ZERO, timers, Unreliable);
    let _ = client.handle_response(Time::ZERO, 404);
    assert_eq!(client.poll_timeout(), Some(millis(&[32_000])[0]));
}

#[test]
fn an_early_wake_does_nothing() {
    let mut client = invite_client(Unreliable);
    let early = Time::from_nanos(499_999_999);
    assert_eq!(client.handle_timeout(early), ClientAction::None);
    assert_eq!(client.poll_timeout(), Some(millis(&[500])[0]));
    let due = Time::from_nanos(500_000_000);
    assert_eq!(client.handle_timeout(due), ClientAction::Send);
}
