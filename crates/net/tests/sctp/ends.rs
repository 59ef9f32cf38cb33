//! How associations end, and what each side hears of it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use headway_net::sctp::{
    AssociationError, AssociationState, Cause, Config, ConnectError, Endpoint, EndpointConfig,
    LostReason, Message, Notice, Peer, SendError,
};

use super::common::{Way, client, echo, fast, loopback, pair, peer, ping, server, soon};

#[tokio::test]
async fn either_side_shuts_down() {
    for by_server in [false, true] {
        let server = server(Config::default());
        let client = client(Config::default());
        let (far, near) = soon(pair(&server, &client)).await;
        let (active, passive) = if by_server { (far, near) } else { (near, far) };
        // What was handed over before is still delivered.
        for n in 0..50_u8 {
            active.send(Message::new(vec![n; 1000])).await.unwrap();
        }
        let reader = tokio::spawn(async move {
            for n in 0..50_u8 {
                let message = passive.recv().await.unwrap().unwrap();
                assert_eq!(message.payload[..], [n; 1000]);
            }
            assert_eq!(passive.recv().await, Ok(None));
            assert_eq!(passive.notice().await, Some(Notice::PeerShutdown));
            assert_eq!(passive.ended().await, Ok(()));
            assert_eq!(passive.notice().await, None);
            assert_eq!(
                passive.try_send(Message::new("late")),
                Err(SendError::Closing)
            );
        });
        soon(active.shutdown()).await.unwrap();
        soon(reader).await.unwrap();
        assert_eq!(active.state(), AssociationState::Closed);
        // Counters can still be read.
        assert_eq!(active.stats().messages_sent, 50);
        assert_eq!(active.path_stats().len(), 1);
        soon(client.idle()).await;
    }
}

#[tokio::test]
async fn an_abort_says_why() {
    let server = server(Config::default());
    let client = client(Config::default());
    let (far, near) = soon(pair(&server, &client)).await;
    near.send(Message::new("first")).await.unwrap();
    soon(near.drained()).await.unwrap();
    assert_eq!(near.stats().sacks_received, 1);
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "first");
    near.abort("enough");
    let error = soon(far.recv()).await.unwrap_err();
    assert_eq!(
        error,
        AssociationError::Aborted(vec![Cause::with(Cause::USER_ABORT, "enough")])
    );
    assert_eq!(
        error.to_string(),
        "the peer aborted the association: cause 12 (enough)"
    );
    let own = AssociationError::Lost(LostReason::UserAbort);
    assert_eq!(soon(near.drained()).await, Err(own.clone()));
    assert_eq!(soon(near.recv()).await, Err(own.clone()));
    assert_eq!(near.try_send(Message::new("x")), Err(SendError::Over(own)));
}

#[tokio::test]
async fn a_dropped_handle_ends_the_association() {
    let server = server(Config::default());
    let client = client(Config::default());
    // Gracefully, with what was handed over.
    let (far, near) = soon(pair(&server, &client)).await;
    near.send(Message::new("last words")).await.unwrap();
    drop(near);
    assert_eq!(
        soon(far.recv()).await.unwrap().unwrap().payload,
        "last words"
    );
    assert_eq!(soon(far.recv()).await, Ok(None));
    assert_eq!(soon(far.ended()).await, Ok(()));
    // At once, where something was not read.
    let (far, near) = soon(pair(&server, &client)).await;
    far.send(Message::new("unread")).await.unwrap();
    while near.stats().messages_received == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(near);
    let error = soon(far.recv()).await.unwrap_err();
    assert!(matches!(error, AssociationError::Aborted(_)), "{error}");
    soon(client.idle()).await;
    soon(server.idle()).await;
}

#[tokio::test]
async fn an_endpoint_that_is_dropped_takes_nobody_more() {
    let server = server(fast());
    let target = peer(&server);
    let client = client(fast());
    let (far, near) = soon(pair(&server, &client)).await;
    // One more, which nobody accepts.
    let unwanted = soon(client.connect(target.clone())).await.unwrap();
    drop(server);
    let error = soon(unwanted.recv()).await.unwrap_err();
    assert!(matches!(error, AssociationError::Aborted(_)), "{error}");
    // The other one lives.
    near.send(Message::new("still here")).await.unwrap();
    assert_eq!(
        soon(far.recv()).await.unwrap().unwrap().payload,
        "still here"
    );
}

#[tokio::test]
async fn nobody_listens() {
    let server = Endpoint::bind(EndpointConfig::udp(loopback()).listen(9)).unwrap();
    let client = client(fast());
    let error = soon(client.connect(peer(&server))).await.err();
    let aborted = AssociationError::Aborted(vec![]);
    assert_eq!(error, Some(ConnectError::Failed(aborted)));
}

#[tokio::test]
async fn a_peer_that_never_answers_is_given_up() {
    let silent = std::net::UdpSocket::bind(loopback()).unwrap();
    let client = client(fast());
    let nobody = Peer::new(silent.local_addr().unwrap(), 7);
    let error = soon(client.connect(nobody)).await.err();
    let lost = AssociationError::Lost(LostReason::HandshakeTimeout);
    assert_eq!(error, Some(ConnectError::Failed(lost)));
    assert_eq!(client.association_count(), 0);
}

#[tokio::test]
async fn a_peer_that_falls_silent_is_given_up() {
    let server = server(fast());
    let way = Way::to(server.local_addrs()[0], |_, bytes| bytes);
    echo(server);
    let client = client(fast());
    let association = soon(client.connect(Peer::new(way.inside, 7)))
        .await
        .unwrap();
    ping(&association, b"hello").await;
    way.cut.store(true, Ordering::Relaxed);
    association.send(Message::new("anybody?")).await.unwrap();
    let lost = AssociationError::Lost(LostReason::PeerUnreachable);
    assert_eq!(soon(association.recv()).await, Err(lost));
}

#[tokio::test]
async fn a_peer_that_starts_anew_takes_its_place() {
    let server = server(Config::default());
    let target = Peer {
        local_port: 5000,
        ..peer(&server)
    };
    let local = std::net::UdpSocket::bind(loopback())
        .unwrap()
        .local_addr()
        .unwrap();
    // The first life ends with its runtime, without a word to the peer.
    let first = {
        let target = target.clone();
        let life = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let handles = runtime.block_on(async {
                let client = Endpoint::bind(EndpointConfig::udp(local)).unwrap();
                let association = client.connect(target).await.unwrap();
                association.send(Message::new("first life")).await.unwrap();
                while association.stats().sacks_received == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                (association, client)
            });
            // Without a driver nothing of this end reaches the peer.
            drop(runtime);
            drop(handles);
        };
        tokio::task::spawn_blocking(life)
    };
    let far = soon(server.accept()).await.unwrap();
    assert_eq!(
        soon(far.recv()).await.unwrap().unwrap().payload,
        "first life"
    );
    soon(first).await.unwrap();
    let client = Endpoint::bind(EndpointConfig::udp(local)).unwrap();
    let near = soon(client.connect(target)).await.unwrap();
    assert_eq!(soon(far.notice()).await, Some(Notice::Restarted));
    near.send(Message::new("second life")).await.unwrap();
    assert_eq!(
        soon(far.recv()).await.unwrap().unwrap().payload,
        "second life"
    );
    far.send(Message::new("welcome back")).await.unwrap();
    assert_eq!(
        soon(near.recv()).await.unwrap().unwrap().payload,
        "welcome back"
    );
    assert_eq!(server.association_count(), 1);
}
