//! Nothing that comes from a network makes the reader panic, and what it takes
//! keeps what it promises.

use bytes::Bytes;
use proptest::prelude::*;

use super::{ack_for, message_length, parse, parse_message, response_to};

const SEEDS: [&str; 3] = [
    "INVITE sip:b;x=y@b.test:5060;transport=udp SIP/2.0\r\n\
     Via: SIP/2.0/UDP a.test:5070;branch=z9hG4bK1;received=192.0.2.1, \
     SIP/2.0/TCP [2001:db8::1]:5060 ;branch=z9hG4bK2;ttl=3\r\n\
     Route: <sip:p.test;lr>, <sip:q.test;lr>\r\n\
     From: \"A \\\" B\" <sip:a%20b@a.test>;tag=1\r\n\
     To: B C <sip:b@b.test>;p=\"q\"\r\n\
     Call-ID: x@a.test\r\n\
     CSeq: 7 INVITE\r\n\
     Contact: <sip:a@a.test?h=v>;expires=3\r\n\
     Subject: folded\r\n\tline\r\n\
     Content-Type: text/plain;charset=utf-8\r\n\
     Content-Length: 5\r\n\r\nhello",
    "SIP/2.0 180 Ringing\r\nv: SIP/2.0/SCTP a;branch=z9hG4bK000007i\r\nf:<sip:a>;tag=1\r\n\
     t:<sip:b>;tag=2\r\ni:000007\r\nCSeq:1 INVITE\r\nm:<sip:b>\r\nl:0\r\n\r\n",
    "OPTIONS tel:+1-201-555-0123 SIP/2.0\r\nVia: SIP/2.0/TLS h.test\r\nFrom: sip:a@a.test;tag=1\r\n\
     To: urn:service:sos\r\nCall-ID: 1\r\nCSeq: 2 OPTIONS\r\nContact: *\r\n\r\n",
];

/// What every message that was taken must stand.
fn check(bytes: &[u8]) {
    let _ = message_length(bytes);
    match parse_message(bytes) {
        Ok(message) => {
            assert!(!message.via.is_empty());
            let _ = message.branch();
            let _ = message.code();
            if message.method().is_some() {
                // Our answer to what we took is something that we take.
                let answer = response_to(&message, 200, "OK", Some("tag")).finish();
                let answer = parse(&answer).expect("an answer can be read");
                assert_eq!(answer.cseq, message.cseq);
                assert_eq!(answer.call_id, message.call_id);
                assert_eq!(answer.via.len(), message.via.len());
                assert_eq!(answer.branch(), message.branch());
                let ack = ack_for(&message, &answer).expect("of a request");
                let ack = parse(&ack).expect("an ACK can be read");
                assert_eq!(ack.branch(), message.branch());
            }
        }
        Err(error) => {
            let _ = error.response();
            assert!([400, 501, 505, 513].contains(&error.code));
        }
    }
}

#[test]
fn the_seeds_are_sound() {
    for seed in SEEDS {
        let message = parse_message(seed.as_bytes()).unwrap();
        assert!(message.headers.contains(&ezk_sip_types::Name::VIA));
        check(seed.as_bytes());
    }
}

/// Every message cut short, and every byte of it replaced by each of some bytes.
#[test]
fn every_cut_and_every_change_of_one_byte() {
    for seed in SEEDS {
        for end in 0..seed.len() {
            check(&seed.as_bytes()[..end]);
        }
        for at in 0..seed.len() {
            for byte in *b"\0\r\n \t\"\\<>;,:@?=%/[]*0aZ\x7f\x80\xc3\xff" {
                let mut bytes = seed.as_bytes().to_vec();
                bytes[at] = byte;
                check(&bytes);
            }
        }
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        check(&bytes);
    }

    #[test]
    fn random_text(text in "(SIP/2.0 200 |INVITE sip:[a@;?:%<\"]{0,9} SIP/2.0)\r\n([a-zA-Z]{1,8}:[^\r\n]{0,40}\r\n){0,9}\r\n") {
        check(text.as_bytes());
    }

    #[test]
    fn random_values_of_known_headers(
        values in prop::collection::vec("[ -~é\t]{0,30}", 7),
        escapes in "(%[0-9a-fA-F]{2}){0,4}",
    ) {
        let text = format!(
            "INVITE sip:{escapes}x@h.test SIP/2.0\r\nVia: SIP/2.0/UDP h{}\r\nFrom: <sip:{escapes}a@b>{}\r\n\
             To: {}\r\nCall-ID: 1{}\r\nCSeq: 1{}\r\nContact: {}\r\nContent-Length: {}\r\n\r\n",
            values[0], values[1], values[2], values[3], values[4], values[5], values[6],
        );
        check(text.as_bytes());
    }

    #[test]
    fn seeds_with_pieces_moved(
        seed in 0..SEEDS.len(),
        from in 0..400_usize,
        length in 0..60_usize,
        to in 0..400_usize,
        noise in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let seed = SEEDS[seed].as_bytes();
        let from = from % seed.len();
        let piece = &seed[from..(from + length).min(seed.len())];
        let to = to % seed.len();
        let mut bytes = seed[..to].to_vec();
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(&noise);
        bytes.extend_from_slice(&seed[to..]);
        check(&bytes);
    }
}

#[test]
fn a_stream_is_divided() {
    let one = SEEDS[0].as_bytes();
    let two = SEEDS[1].as_bytes();
    let stream = [b"\r\n\r\n", one, b"\r\n", two].concat();
    let first = message_length(&stream).unwrap().unwrap();
    assert_eq!(first, 4 + one.len());
    let message = parse(&Bytes::copy_from_slice(&stream[..first])).unwrap();
    assert_eq!(&message.body[..], b"hello");
    let second = message_length(&stream[first..]).unwrap().unwrap();
    assert_eq!(first + second, stream.len());
    // Not yet known while the head is incomplete, known before the body is.
    assert_eq!(message_length(&one[..one.len() - 12]).unwrap(), None);
    assert_eq!(
        message_length(&one[..one.len() - 1]).unwrap(),
        Some(one.len())
    );
    // Nobody knows where such a message ends.
    for length in [
        "",
        "Content-Length: -1\r\n",
        "l: 1\r\nl: 2\r\n",
        "l: 18446744073709551615\r\n",
    ] {
        let text = format!("INVITE sip:b SIP/2.0\r\n{length}\r\n");
        assert!(message_length(text.as_bytes()).is_err(), "{length}");
    }
}
