use std::net::{Ipv4Addr, Ipv6Addr};

use headway_sansio::Seed;

use super::*;

fn cookie() -> Cookie {
    Cookie {
        created: Time::from_nanos(77),
        lifetime: Duration::from_secs(60),
        local_tag: 1,
        peer_tag: 2,
        local_tsn: Tsn(3),
        peer_tsn: Tsn(4),
        peer_window: 5,
        local_tie_tag: 6,
        peer_tie_tag: 7,
        local_port: 8,
        peer_port: 9,
        outbound_streams: 10,
        inbound_streams: 11,
        source: Address(0),
        extensions: Extensions::NONE,
        addresses: SmallVec::new(),
    }
}

fn ring(seed: u64) -> KeyRing {
    KeyRing::random(&mut Seed::new(seed).stream("cookie"))
}

const NOW: Time = Time::from_nanos(80);

#[test]
fn opens_what_it_sealed_and_nothing_else() {
    let full = Cookie {
        source: Address(3),
        extensions: Extensions::from_bits(5),
        addresses: [
            IpAddr::from(Ipv4Addr::new(10, 0, 0, 1)),
            IpAddr::from(Ipv6Addr::LOCALHOST),
        ]
        .into_iter()
        .collect(),
        ..cookie()
    };
    let untied = Cookie {
        local_tie_tag: 0,
        peer_tie_tag: 0,
        ..full.clone()
    };
    let known = Cookie {
        extensions: Extensions::from_bits(15),
        ..cookie()
    };
    let keys = ring(1);
    for cookie in [cookie(), full, untied, known] {
        let sealed = keys.seal(&cookie);
        let good = Opened::Good(Box::new(cookie));
        assert_eq!(keys.open(NOW, &sealed), Some(good));
        for at in 0..sealed.len() {
            let mut forged = sealed.to_vec();
            forged[at] ^= 1;
            assert_eq!(keys.open(NOW, &forged), None, "byte {at}");
            assert_eq!(keys.open(NOW, &sealed[..at]), None, "cut at {at}");
        }
        assert_eq!(ring(2).open(NOW, &sealed), None);
    }
}

#[test]
fn cookies_are_small() {
    assert_eq!(ring(1).seal(&cookie()).len(), 52 + 32);
    let of_an_endpoint = Cookie {
        local_tie_tag: 0,
        peer_tie_tag: 0,
        source: Address(0x0a00_0001),
        addresses: std::iter::once(IpAddr::from([10, 0, 0, 1])).collect(),
        ..cookie()
    };
    let sealed = ring(1).seal(&of_an_endpoint);
    assert_eq!(sealed.len(), 54 + 32);
}

#[test]
fn a_cookie_grows_stale() {
    let keys = ring(1);
    let sealed = keys.seal(&cookie());
    let last = Time::from_nanos(77) + Duration::from_secs(60);
    assert!(matches!(keys.open(last, &sealed), Some(Opened::Good(_))));
    let late = Duration::from_micros(3);
    let stale = Opened::Stale(Box::new(cookie()), late);
    assert_eq!(keys.open(last + late, &sealed), Some(stale));
}

#[test]
fn the_last_key_is_known_and_the_one_before_is_not() {
    let mut keys = ring(1);
    let sealed = keys.seal(&cookie());
    assert!(keys.is_due(NOW, Duration::from_nanos(80)));
    assert!(!keys.is_due(NOW, Duration::from_nanos(81)));
    keys.renew(NOW, [1; 64]);
    assert!(keys.open(NOW, &sealed).is_some());
    let newer = Cookie {
        created: NOW,
        ..cookie()
    };
    let newer = keys.seal(&newer);
    assert!(keys.open(NOW, &newer).is_some());
    keys.renew(NOW + Duration::from_nanos(1), [2; 64]);
    assert_eq!(keys.open(NOW, &sealed), None);
    assert!(keys.open(NOW, &newer).is_some());
}
