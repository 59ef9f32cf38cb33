//! Nothing grows without bound, whoever is slow.

use std::time::Duration;

use bytes::Bytes;
use headway_net::sctp::{
    Association, Config, ConnectError, Endpoint, EndpointConfig, Message, Peer, SendError,
};
use headway_sctp::{Chunk, Packet};
use tokio::time::timeout;

use super::common::{Way, client, fast, loopback, pair, server, soon};

const SIZE: usize = 8_000;

/// Sends until nothing more is taken for a while. Says how many messages went.
async fn stuff(association: &Association) -> u32 {
    let mut number = 0_u32;
    loop {
        let mut content = vec![0; SIZE];
        content[..4].copy_from_slice(&number.to_be_bytes());
        let sent = association.send(Message::new(content));
        match timeout(Duration::from_millis(300), sent).await {
            Ok(result) => result.unwrap(),
            Err(_) => return number,
        };
        number += 1;
    }
}

#[tokio::test]
async fn a_slow_reader_closes_the_window_and_loses_nothing() {
    let server = server(Config::default());
    let client = client(Config::default());
    let (far, near) = soon(pair(&server, &client)).await;
    let taken = stuff(&near).await;
    // The send buffer at this side, the receive buffer at the other, and what was
    // under way when it closed.
    let most = 3 * 256 * 1024 / SIZE as u32;
    assert!(taken <= most, "{taken} of at most {most}");
    assert!(taken >= 256 * 1024 / SIZE as u32, "{taken}");
    assert_eq!(
        near.try_send(Message::new(vec![0; 200_000])),
        Err(SendError::Full)
    );
    // A reader that takes it all lets the rest come, in order.
    let reader = async {
        for number in 0..taken {
            let message = far.recv().await.unwrap().unwrap();
            assert_eq!(message.payload[..4], number.to_be_bytes());
        }
    };
    soon(reader).await;
    // The window was opened by SACKs, not only by probes, which come once a second.
    assert!(near.stats().window_probes <= 2, "{:?}", near.stats());
    assert_eq!(near.stats().timeouts, 0, "{:?}", near.stats());
    soon(near.send(Message::new("more"))).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "more");
}

/// A peer that believes the window open whatever the other side says.
fn open_window(to_server: bool, bytes: Vec<u8>) -> Vec<u8> {
    let Ok(mut packet) = Packet::decode(&Bytes::from(bytes.clone())) else {
        return bytes;
    };
    if !to_server {
        for chunk in &mut packet.chunks {
            if let Chunk::Sack(sack) = chunk {
                sack.a_rwnd = 10_000_000;
            }
        }
    }
    let mut changed = Vec::new();
    packet.encode(&mut changed);
    changed
}

#[tokio::test]
async fn a_peer_that_ignores_the_window_gains_nothing() {
    let patient = Config {
        association_max_retransmits: 1_000,
        path_max_retransmits: 1_000,
        ..fast()
    };
    let server = server(patient.clone());
    let way = Way::to(server.local_addrs()[0], open_window);
    let client = client(patient);
    let target = Peer::new(way.inside, 7);
    let (far, near) = soon(async { tokio::join!(server.accept(), client.connect(target)) }).await;
    let (far, near) = (far.unwrap(), near.unwrap());
    let taken = stuff(&near).await;
    let most = 4 * 256 * 1024 / SIZE as u32;
    assert!(taken <= most, "{taken} of at most {most}");
    let reader = async {
        for number in 0..taken {
            let message = far.recv().await.unwrap().unwrap();
            assert_eq!(message.payload[..4], number.to_be_bytes());
        }
    };
    soon(reader).await;
}

#[tokio::test]
async fn one_slow_reader_does_not_hold_up_the_others() {
    let server = server(Config::default());
    let client = client(Config::default());
    let (_slow, stuffed) = soon(pair(&server, &client)).await;
    let (quick, near) = soon(pair(&server, &client)).await;
    stuff(&stuffed).await;
    for n in 0..200_u8 {
        soon(near.send(Message::new(vec![n; 4_000]))).await.unwrap();
        let message = soon(quick.recv()).await.unwrap().unwrap();
        assert_eq!(message.payload[..], [n; 4_000]);
    }
}

#[tokio::test]
async fn those_that_nobody_accepts_are_bounded() {
    let config = EndpointConfig {
        backlog: 3,
        ..EndpointConfig::udp(loopback()).listen(7)
    };
    let server = Endpoint::bind(config).unwrap();
    let target = Peer::new(server.local_addrs()[0], 7);
    let client = client(fast());
    let mut alive = Vec::new();
    for _ in 0..5 {
        // The ABORT may come before the end of the handshake or after it.
        match soon(client.connect(target.clone())).await {
            Ok(association) if alive.len() < 3 => alive.push(association),
            Ok(association) => assert!(soon(association.recv()).await.is_err()),
            Err(error) => assert!(matches!(error, ConnectError::Failed(_)), "{error}"),
        }
    }
    assert_eq!(alive.len(), 3);
    assert_eq!(server.association_count(), 3);
    assert_eq!(server.network_stats().backlog_overflows, 2);
}
