use super::*;

fn any() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// Reads until `count` datagrams have come; loopback delivers before `send` returns.
fn drain(port: &mut UdpPort, count: usize) -> Vec<Received> {
    let mut buffers = ReceiveBuffers::default();
    let mut came = Vec::new();
    for _ in 0..=count {
        port.receive(&mut buffers, &mut came).unwrap();
    }
    came
}

#[test]
fn batches_keep_order_content_and_sender() {
    let mut a = UdpPort::bind(any()).unwrap();
    let mut b = UdpPort::bind(any()).unwrap();
    let payloads: Vec<Bytes> = (0..100_u32)
        .map(|n| Bytes::from(vec![n as u8; n as usize * 11]))
        .collect();
    for payload in &payloads {
        a.send(b.local(), payload.clone());
    }
    assert!(a.is_blocked());
    a.flush().unwrap();
    assert!(!a.is_blocked());
    let came = drain(&mut b, 100);
    assert!(came.iter().all(|datagram| datagram.from == a.local()));
    let came: Vec<Bytes> = came.into_iter().map(|datagram| datagram.payload).collect();
    assert_eq!(came, payloads);
    assert_eq!((a.counters().sent, b.counters().received), (100, 100));
    assert_eq!(b.counters().overflowed, 0);
}

#[test]
fn the_longest_datagram_passes_and_a_longer_one_is_counted() {
    let mut a = UdpPort::bind(any()).unwrap();
    let mut b = UdpPort::bind(any()).unwrap();
    a.send(b.local(), Bytes::from(vec![1; 65_508]));
    a.send(b.local(), Bytes::from(vec![2; 65_507]));
    a.flush().unwrap();
    let came = drain(&mut b, 1);
    assert_eq!(came.len(), 1);
    assert_eq!(came[0].payload, vec![2; 65_507]);
    assert_eq!((a.counters().sent, a.counters().unsent), (1, 1));
}

#[test]
fn a_connected_socket_hears_its_remote_alone() {
    let mut server = UdpPort::bind(any()).unwrap();
    let mut stranger = UdpPort::bind(any()).unwrap();
    let mut client = UdpPort::connect(any(), server.local()).unwrap();
    stranger.send(client.local(), Bytes::from_static(b"forged"));
    stranger.flush().unwrap();
    server.send(client.local(), Bytes::from_static(b"real"));
    server.flush().unwrap();
    let came = drain(&mut client, 1);
    assert_eq!(came.len(), 1);
    assert_eq!(came[0].payload, "real");
}

#[test]
fn nobody_there_is_counted_and_no_error() {
    let gone = UdpPort::bind(any()).unwrap().local();
    let mut client = UdpPort::connect(any(), gone).unwrap();
    for _ in 0..3 {
        client.send(gone, Bytes::from_static(b"?"));
        client.flush().unwrap();
    }
    drain(&mut client, 1);
    assert!(
        client.counters().unreachable >= 1,
        "{:?}",
        client.counters()
    );
    assert_eq!(client.counters().unsent, 0);
}

#[test]
fn what_the_kernel_threw_away_is_counted() {
    // Far more than any receive buffer holds, and nobody reads.
    let mut a = UdpPort::bind(any()).unwrap();
    let mut b = UdpPort::bind(any()).unwrap();
    let big = Bytes::from(vec![0; 60_000]);
    for _ in 0..400 {
        a.send(b.local(), big.clone());
        a.flush().unwrap();
    }
    let kept = drain(&mut b, 400).len();
    assert!(kept < 400);
    // The count travels with the next datagram that finds room.
    a.send(b.local(), Bytes::from_static(b"last"));
    a.flush().unwrap();
    assert_eq!(drain(&mut b, 1).len(), 1);
    assert_eq!(b.counters().overflowed, 400 - kept as u64);
}

#[test]
fn version_6_works_with_the_same_buffers() {
    let Ok(mut a) = UdpPort::bind("[::1]:0".parse().unwrap()) else {
        // A machine without version 6 has nothing to test here.
        return;
    };
    let mut b = UdpPort::bind("[::1]:0".parse().unwrap()).unwrap();
    let mut buffers = ReceiveBuffers::default();
    let mut came = Vec::new();
    let mut v4 = UdpPort::bind(any()).unwrap();
    let mut from_v4 = UdpPort::bind(any()).unwrap();
    from_v4.send(v4.local(), Bytes::from_static(b"4"));
    from_v4.flush().unwrap();
    v4.receive(&mut buffers, &mut came).unwrap();
    a.send(b.local(), Bytes::from_static(b"6"));
    a.flush().unwrap();
    b.receive(&mut buffers, &mut came).unwrap();
    let senders: Vec<_> = came.iter().map(|datagram| datagram.from).collect();
    assert_eq!(senders, [from_v4.local(), a.local()]);
}

#[test]
fn a_report_fails_no_other_datagram() {
    let gone = UdpPort::bind(any()).unwrap().local();
    let mut there = UdpPort::bind(any()).unwrap();
    // A socket that is connected to nobody hears of reports where it asks for them.
    let mut client = UdpPort::bind(any()).unwrap();
    setsockopt(&client.socket, sockopt::Ipv4RecvErr, &true).unwrap();
    for number in 0..10_u8 {
        client.send(gone, Bytes::from_static(b"?"));
        client.flush().unwrap();
        client.send(there.local(), Bytes::from(vec![number]));
        client.flush().unwrap();
    }
    let came = drain(&mut there, 10);
    let numbers: Vec<u8> = came.iter().map(|datagram| datagram.payload[0]).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<u8>>());
    let counted = client.counters();
    assert_eq!((counted.sent, counted.unsent), (20, 0));
    assert!(counted.unreachable >= 9, "{counted:?}");
}

#[test]
fn an_error_of_its_own_ends_the_tries() {
    let there = UdpPort::bind(any()).unwrap();
    let mut port = UdpPort::connect(any(), there.local()).unwrap();
    for _ in 0..3 {
        port.send(there.local(), Bytes::from(vec![0; 65_508]));
    }
    port.flush().unwrap();
    assert!(!port.is_blocked());
    let counted = port.counters();
    assert_eq!((counted.sent, counted.unsent), (0, 3));
    assert_eq!(counted.unreachable, 0);
}

#[test]
fn a_socket_of_both_versions_knows_ipv4_by_its_own_addresses() {
    let Ok(mut both) = UdpPort::bind("[::]:0".parse().unwrap()) else {
        // A machine without version 6 has nothing to test here.
        return;
    };
    if !both.talks_both_versions() {
        // One that keeps the versions apart neither (net.ipv6.bindv6only).
        return;
    }
    let mut v4 = UdpPort::bind(any()).unwrap();
    assert!(!v4.talks_both_versions());
    let there = SocketAddr::from(([127, 0, 0, 1], both.local().port()));
    v4.send(there, Bytes::from_static(b"hello"));
    v4.flush().unwrap();
    let came = drain(&mut both, 1);
    assert_eq!(came[0].from, v4.local());
    both.send(came[0].from, Bytes::from_static(b"hello yourself"));
    both.flush().unwrap();
    let came = drain(&mut v4, 1);
    assert_eq!(
        (came[0].from, &came[0].payload[..]),
        (there, &b"hello yourself"[..])
    );
}
