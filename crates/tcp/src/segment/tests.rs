use bytes::Bytes;
use headway_sansio::Payload;
use proptest::prelude::*;

use super::*;

const ADDRESSES: Checksum = Checksum::Ipv4 {
    source: [192, 0, 2, 1],
    destination: [192, 0, 2, 2],
};

fn segment() -> Segment {
    Segment {
        source_port: 5060,
        destination_port: 40000,
        seq: SeqNumber(0x0102_0304),
        ack: SeqNumber(0xa0b0_c0d0),
        flags: Flags::ACK.with(Flags::PSH),
        window: 0x1234,
        options: Options::default(),
        payload: Payload::from(b"hello".to_vec()),
        offset: 0,
        retransmission: false,
    }
}

#[test]
fn fixed_header_byte_for_byte() {
    let bytes = segment().encode(Checksum::None);
    assert_eq!(
        &bytes[..],
        [
            0x13, 0xc4, 0x9c, 0x40, 1, 2, 3, 4, 0xa0, 0xb0, 0xc0, 0xd0, 0x50, 0x18, 0x12, 0x34, 0,
            0, 0, 0, b'h', b'e', b'l', b'l', b'o'
        ]
    );
    assert_eq!(segment().size_bytes(), 25);
}

#[test]
fn options_take_what_stacks_take() {
    let timestamps = Some(Timestamps { value: 7, echo: 9 });
    let syn = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps,
        ..Options::default()
    };
    assert_eq!(syn.wire_bytes(), 20);
    let mut data = Options {
        timestamps,
        ..Options::default()
    };
    assert_eq!(data.wire_bytes(), 12);
    for _ in 0..Options::sack_room(true) {
        data.sack.push(SackBlock::default());
    }
    assert_eq!(data.wire_bytes(), 40);
    // Beside more options fewer blocks go out.
    data.window_scale = Some(3);
    assert_eq!((data.wire_bytes(), data.sack_that_fits().len()), (36, 2));
    data.window_scale = None;
    data.timestamps = None;
    data.sack.push(SackBlock::default());
    assert_eq!((data.wire_bytes(), Options::sack_room(false)), (36, 4));
}

#[test]
fn a_flipped_bit_breaks_the_checksum() {
    let good = segment().encode(ADDRESSES);
    assert_eq!(Segment::decode(&good, ADDRESSES), Ok(segment()));
    for bit in 0..good.len() * 8 {
        let mut bad = good.to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        // A damaged data offset may be noticed first.
        assert!(Segment::decode(&bad.into(), ADDRESSES).is_err(), "{bit}");
    }
}

#[test]
fn malformed_options_are_errors() {
    let with = |options: &[u8; 4]| {
        let mut bytes = segment().encode(Checksum::None).to_vec();
        bytes[12] = 0x60;
        bytes.splice(20..20, *options);
        Segment::decode(&bytes.into(), Checksum::None).map(|s| s.options)
    };
    for bad in [
        [MSS_KIND, 3, 0, 0],
        [MSS_KIND, 0, 0, 0],
        [1, 1, 1, MSS_KIND],
        [8, 9, 0, 0],
        [5, 3, 0, 0],
    ] {
        assert_eq!(with(&bad), Err(DecodeError::Option), "{bad:?}");
    }
    // Unknown ones are skipped, and nothing is read after the end.
    assert_eq!(with(&[254, 4, 1, 2]), Ok(Options::default()));
    assert_eq!(with(&[0, MSS_KIND, 3, 9]), Ok(Options::default()));
}
const MSS_KIND: u8 = 2;

fn options() -> impl Strategy<Value = Options> {
    let block = any::<(u32, u32)>().prop_map(|(start, end)| SackBlock {
        start: SeqNumber(start),
        end: SeqNumber(end),
    });
    (
        any::<Option<u16>>(),
        any::<Option<u8>>(),
        any::<bool>(),
        any::<Option<(u32, u32)>>(),
        prop::collection::vec(block, 0..=4),
    )
        .prop_map(|(mss, window_scale, sack_permitted, times, blocks)| {
            let timestamps = times.map(|(value, echo)| Timestamps { value, echo });
            let mut options = Options {
                timestamps,
                ..Options::default()
            };
            // On one segment there are the options of SYN, or blocks.
            if blocks.is_empty() {
                options.mss = mss;
                options.window_scale = window_scale;
                options.sack_permitted = sack_permitted;
            }
            let room = Options::sack_room(timestamps.is_some());
            blocks
                .into_iter()
                .take(room)
                .for_each(|b| options.sack.push(b));
            options
        })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        options in options(),
        flags in 0_u8..64,
        numbers in any::<(u32, u32, u16)>(),
        data in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut segment = segment();
        segment.options = options;
        segment.flags = Flags(flags);
        (segment.seq.0, segment.ack.0, segment.window) = numbers;
        segment.payload = Payload::from(data);
        let bytes = segment.encode(ADDRESSES);
        prop_assert_eq!(bytes.len(), segment.size_bytes() as usize);
        prop_assert_eq!(Segment::decode(&bytes, ADDRESSES), Ok(segment));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let bytes = Bytes::from(bytes);
        if let Ok(segment) = Segment::decode(&bytes, Checksum::None) {
            // What was understood fits what was there.
            prop_assert!(segment.payload.len() <= bytes.len() - 20);
        }
    }
}
