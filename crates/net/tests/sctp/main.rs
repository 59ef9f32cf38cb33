//! Associations between endpoints on loopback, through the whole of the stack.

mod checksum;
mod common;
mod dtls;
mod ends;
mod flow;
mod ports;

use common::{client, echo, loopback, pair, peer, ping, server, soon};
use headway_net::sctp::{Config, ConnectError, Endpoint, EndpointConfig, Message, Peer, SendError};

#[tokio::test]
async fn many_associations_share_one_socket() {
    const MANY: usize = 200;
    let server = server(Config::default());
    let target = peer(&server);
    echo(server);
    let client = std::sync::Arc::new(client(Config::default()));
    let mut work = tokio::task::JoinSet::new();
    for n in 0..MANY {
        let (client, target) = (client.clone(), target.clone());
        work.spawn(async move {
            let association = client.connect(target).await.unwrap();
            for m in 0..5_u16 {
                let message = Message {
                    stream: m,
                    ppid: n as u32,
                    unordered: m % 2 == 1,
                    ..Message::new(format!("message {m} of {n}"))
                };
                association.send(message).await.unwrap();
                let echo = association.recv().await.unwrap().unwrap();
                assert_eq!((echo.stream, echo.ppid), (m, n as u32));
                assert_eq!(echo.unordered, m % 2 == 1);
                assert_eq!(echo.payload, format!("message {m} of {n}"));
            }
            association.shutdown().await.unwrap();
        });
    }
    soon(work.join_all()).await;
    soon(client.idle()).await;
    assert_eq!(client.association_count(), 0);
    assert_eq!(client.local_addrs().len(), 1);
    assert_eq!(client.stats().associations_ended, MANY as u64);
}

#[tokio::test]
async fn messages_from_one_byte_to_200_kilobytes() {
    let server = server(Config::default());
    let target = peer(&server);
    echo(server);
    let client = client(Config::default());
    let association = soon(client.connect(target)).await.unwrap();
    for unordered in [false, true] {
        for size in [1, 2, 3, 1_440, 1_460, 10_000, 65_536, 200_000] {
            let content: Vec<u8> = (0..size).map(|n: usize| (n ^ n >> 8) as u8).collect();
            let message = Message {
                unordered,
                ..Message::new(content.clone())
            };
            soon(association.send(message)).await.unwrap();
            let echo = soon(association.recv()).await.unwrap().unwrap();
            assert!(echo.payload == content, "{size}");
        }
    }
    let paths = association.path_stats();
    assert_eq!(paths.len(), 1);
    assert!(paths[0].status.srtt.is_some() && paths[0].primary);
    assert!(association.stats().data_chunks_sent > 300);
}

#[tokio::test]
async fn version_6() {
    let local = "[::1]:0".parse().unwrap();
    let server = Endpoint::bind(EndpointConfig::udp(local).listen(common::PORT)).unwrap();
    let client = Endpoint::bind(EndpointConfig::udp(local)).unwrap();
    let (_far, near) = soon(pair(&server, &client)).await;
    // 40 bytes of IP, 8 of UDP, 12 of SCTP and 16 before the payload: none is too
    // much for a path of 1500 bytes.
    soon(near.send(Message::new(vec![7; 1_424]))).await.unwrap();
    assert_eq!(near.stats().data_chunks_sent.max(1), 1);
}

#[tokio::test]
async fn what_cannot_be_is_refused_at_once() {
    let server = server(Config::default());
    let client = client(Config::default());
    let (_far, near) = soon(pair(&server, &client)).await;
    let refused = |message| match near.try_send(message) {
        Err(SendError::Message(error)) => error,
        other => panic!("{other:?}"),
    };
    use headway_sctp::SendError as Why;
    assert_eq!(refused(Message::default()), Why::Empty);
    assert_eq!(refused(Message::new(vec![0; 300 * 1024])), Why::TooLong);
    let stream = near.streams().0;
    let nowhere = Message {
        stream,
        ..Message::new("x")
    };
    assert_eq!(refused(nowhere), Why::InvalidStream);
    let other_family = Peer::new("[::1]:9".parse().unwrap(), 7);
    let error = client.connect(other_family).await.err();
    assert_eq!(error, Some(ConnectError::Family));
    let nonsense = Config {
        outbound_streams: 0,
        ..Config::default()
    };
    assert!(Endpoint::bind(EndpointConfig::udp(loopback()).sctp(nonsense)).is_err());
}

#[tokio::test]
async fn both_sides_send_at_once() {
    let server = server(Config::default());
    let client = client(Config::default());
    let (far, near) = soon(pair(&server, &client)).await;
    let exchange = async |a: &headway_net::sctp::Association| {
        for n in 0..500_u32 {
            a.send(Message::new(n.to_be_bytes().to_vec()))
                .await
                .unwrap();
        }
        for n in 0..500_u32 {
            let message = a.recv().await.unwrap().unwrap();
            assert_eq!(message.payload[..], n.to_be_bytes());
        }
    };
    soon(async { tokio::join!(exchange(&far), exchange(&near)) }).await;
    let (ended, shut) = soon(async { tokio::join!(far.ended(), near.shutdown()) }).await;
    assert_eq!((ended, shut), (Ok(()), Ok(())));
}

#[tokio::test]
async fn an_endpoint_on_every_address() {
    let anywhere = ([0, 0, 0, 0], 0).into();
    let server = Endpoint::bind(EndpointConfig::udp(anywhere).listen(common::PORT)).unwrap();
    let port = server.local_addrs()[0].port();
    echo(server);
    let client = client(Config::default());
    let target = Peer::new(([127, 0, 0, 1], port).into(), common::PORT);
    let association = soon(client.connect(target)).await.unwrap();
    ping(&association, b"hello").await;
}
