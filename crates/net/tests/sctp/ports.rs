//! Addresses of peers, and ports of the encapsulation that change on the way (RFC
//! 6951, section 5.4).

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use headway_net::sctp::{Config, Endpoint, EndpointConfig, InitLimit, Message, Peer};
use headway_sctp::{Chunk, Chunks, Init, Packet, Tsn};

use super::common::{Way, client, fast, loopback, pair, ping, server, soon};

#[tokio::test]
async fn a_peer_whose_port_changes_is_followed() {
    let server = server(fast());
    let address = server.local_addrs()[0];
    let way = Way::to(address, |_, bytes| bytes);
    let client = client(fast());
    let target = Peer::new(way.inside, 7);
    let (far, near) = soon(async { tokio::join!(server.accept(), client.connect(target)) }).await;
    let (far, near) = (far.unwrap(), near.unwrap());
    let before = far.peer_addr().unwrap();
    let exchange = async |content: &'static str| {
        soon(near.send(Message::new(content))).await.unwrap();
        assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content);
        soon(far.send(Message::new(content))).await.unwrap();
        assert_eq!(soon(near.recv()).await.unwrap().unwrap().payload, content);
    };
    exchange("at first").await;
    assert_eq!(server.network_stats().ports_learnt, 0);

    // The translator forgets, and gives the flow another port.
    way.port.store(1, Ordering::Relaxed);
    exchange("from another port").await;
    assert_eq!(server.network_stats().ports_learnt, 1);
    let after = far.peer_addr().unwrap();
    assert_eq!(after.ip(), before.ip());
    assert_ne!(after.port(), before.port());
    assert_eq!(far.stats().timeouts, 0);
    assert_eq!(server.association_count(), 1);
}

#[tokio::test]
async fn a_stranger_moves_nobody() {
    let server = server(fast());
    let client = client(fast());
    let target = super::common::peer(&server);
    let address = server.local_addrs()[0];
    super::common::echo(server);
    let target = Peer {
        local_port: 5000,
        ..target
    };
    let association = soon(client.connect(target)).await.unwrap();
    ping(&association, b"hello").await;
    // From the same host, with the right ports and every tag but the right one.
    let stranger = std::net::UdpSocket::bind(loopback()).unwrap();
    for tag in 1..2_000_u32 {
        let shutdown = Chunk::Shutdown {
            cumulative_tsn: Tsn(0),
        };
        let packet = Packet {
            source_port: 5000,
            destination_port: 7,
            verification_tag: tag.wrapping_mul(2_654_435_761),
            chunks: Chunks::from_iter([shutdown]),
        };
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        stranger.send_to(&bytes, address).unwrap();
    }
    ping(&association, b"still there").await;
    assert_eq!(association.peer_addr(), Some(address));
    // Nothing came to the stranger but answers to what belongs to nobody.
    assert_eq!(association.stats().timeouts, 0);
}

fn init() -> Vec<u8> {
    let init = Init {
        initiate_tag: 1,
        a_rwnd: 100_000,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        parameters: vec![],
    };
    let packet = Packet {
        source_port: 1000,
        destination_port: 7,
        verification_tag: 0,
        chunks: Chunks::from_iter([Chunk::Init(Box::new(init))]),
    };
    let mut bytes = Vec::new();
    packet.encode(&mut bytes);
    bytes
}

/// INITs beyond the limit are counted and get no answer; those who are in notice
/// nothing.
#[tokio::test]
async fn inits_beyond_the_limit_are_not_answered() {
    const STRANGERS: u64 = 2_000;
    let limit = InitLimit {
        per_second: 1,
        burst: 1,
    };
    let server = server(Config {
        init_limit: Some(limit),
        ..fast()
    });
    let address = server.local_addrs()[0];
    let client = client(fast());
    let (far, near) = soon(pair(&server, &client)).await;
    let stranger = std::net::UdpSocket::bind(loopback()).unwrap();
    // Every second one is damaged, which is found out by whoever reads it.
    let mut inits = [init(), init()];
    inits[1][9] ^= 1;
    let malformed = || server.network_stats().malformed;
    let arrived = || {
        let stats = server.stats();
        stats.inits_answered + stats.inits_over_limit + malformed()
    };
    let before = arrived();
    for number in 0..STRANGERS {
        let init = &inits[(number % 2) as usize];
        stranger.send_to(init, address).unwrap();
        while before + number > arrived() + 100 {
            tokio::task::yield_now().await;
        }
    }
    soon(far.send(Message::new("still here"))).await.unwrap();
    let heard = soon(near.recv()).await.unwrap().unwrap();
    assert_eq!(heard.payload, "still here");
    while arrived() < before + STRANGERS {
        tokio::task::yield_now().await;
    }
    let stats = server.stats();
    assert!(stats.inits_over_limit > STRANGERS / 2, "{stats:?}");
    assert_eq!(stats.packets_discarded, stats.inits_over_limit);
    assert!(malformed() < STRANGERS / 4, "what is refused is read");
    assert_eq!(server.association_count(), 1);
    assert_eq!(near.stats().timeouts + far.stats().timeouts, 0);
}

/// More strangers than an endpoint remembers addresses of.
#[tokio::test]
async fn a_flood_of_strangers_displaces_nobody() {
    const STRANGERS: u32 = 66_000;
    // Each is to be answered, however fast they come.
    let server = server(Config {
        init_limit: None,
        ..Config::default()
    });
    let address = server.local_addrs()[0];
    let client = client(Config::default());
    let (far, near) = soon(pair(&server, &client)).await;
    let bytes = init();
    let answered = || server.stats().inits_answered;
    let before = answered();
    for number in 0..STRANGERS {
        // All of 127.0.0.0/8 is this machine.
        let [_, a, b, c] = (number + (1 << 20)).to_be_bytes();
        let stranger = std::net::UdpSocket::bind(SocketAddr::from(([127, a, b, c], 4000))).unwrap();
        stranger.send_to(&bytes, address).unwrap();
        while before + u64::from(number) > answered() + 500 {
            tokio::task::yield_now().await;
        }
    }
    soon(far.send(Message::new("still here"))).await.unwrap();
    assert_eq!(
        soon(near.recv()).await.unwrap().unwrap().payload,
        "still here"
    );
    soon(near.send(Message::new("so am I"))).await.unwrap();
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "so am I");
    assert_eq!(server.association_count(), 1);
    assert_eq!(near.stats().timeouts + far.stats().timeouts, 0);
}

/// An endpoint on `[::]` with a peer that has two addresses of IPv4.
#[tokio::test]
async fn a_socket_of_both_versions_reaches_all_of_a_peer() {
    let anywhere: SocketAddr = "[::]:0".parse().unwrap();
    let apart = std::fs::read_to_string("/proc/sys/net/ipv6/bindv6only");
    if std::net::UdpSocket::bind(anywhere).is_err() || !apart.is_ok_and(|set| set.trim() == "0") {
        // A machine without IPv6, or one that keeps the versions apart.
        return;
    }
    let both = EndpointConfig::udp(anywhere).sctp(fast());
    let homes: [SocketAddr; 2] = [1, 2].map(|n| ([127, 0, 0, n], 0).into());
    let two = EndpointConfig {
        local: homes.to_vec(),
        ..EndpointConfig::udp(loopback()).sctp(fast())
    };
    for both_listens in [true, false] {
        let (server, client) = match both_listens {
            true => (both.clone(), two.clone()),
            false => (two.clone(), both.clone()),
        };
        let server = Endpoint::bind(server.listen(7)).unwrap();
        let client = Endpoint::bind(client).unwrap();
        let port = server.local_addrs()[0].port();
        let target = Peer::new(([127, 0, 0, 1], port).into(), 7);
        let (far, near) =
            soon(async { tokio::join!(server.accept(), client.connect(target)) }).await;
        let (far, near) = (far.unwrap(), near.unwrap());
        soon(near.send(Message::new("both"))).await.unwrap();
        assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "both");
        let one = if both_listens { &far } else { &near };
        let remotes: Vec<_> = one
            .path_stats()
            .iter()
            .map(|path| path.remote.ip())
            .collect();
        assert_eq!(remotes, homes.map(|home| home.ip()));
    }
}
