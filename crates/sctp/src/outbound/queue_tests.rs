use super::*;

fn message(stream: u16, bytes: u32) -> Message {
    Message {
        stream,
        payload: Payload::Sized(bytes),
        ..Message::default()
    }
}

fn push(queue: &mut SendQueue, messages: &[(u16, u32)]) {
    for &(stream, bytes) in messages {
        queue.push(Time::ZERO, message(stream, bytes));
    }
}

/// Stream, SSN and length of all chunks, in the order in which they leave.
fn drain(queue: &mut SendQueue) -> Vec<(u16, u16, usize)> {
    core::iter::from_fn(|| queue.pop(Tsn(0), 100))
        .map(|(chunk, _)| (chunk.stream, chunk.ssn.0, chunk.payload.len()))
        .collect()
}

/// Stream, message, piece and length.
fn drain_mixed(queue: &mut SendQueue) -> Vec<(u16, u32, u32, usize)> {
    core::iter::from_fn(|| queue.pop(Tsn(0), 100))
        .map(|(chunk, _)| {
            let Interleaving { mid, fsn } = chunk.interleaving.unwrap();
            (chunk.stream, mid.0, fsn, chunk.payload.len())
        })
        .collect()
}

#[test]
fn first_come_keeps_the_order_of_send() {
    let mut queue = SendQueue::new(Scheduler::FirstCome);
    push(&mut queue, &[(1, 250), (0, 10), (1, 20)]);
    assert_eq!((queue.bytes(), queue.chunk_bytes()), (280, 328));
    let expected = [(1, 0, 100), (1, 0, 100), (1, 0, 50), (0, 0, 10), (1, 1, 20)];
    assert_eq!(drain(&mut queue), expected);
    assert!(queue.is_empty() && queue.bytes() == 0);
}

#[test]
fn first_come_keeps_the_order_with_i_data_too() {
    let mut queue = SendQueue::new(Scheduler::FirstCome);
    queue.set_interleaving(true);
    push(&mut queue, &[(1, 150), (0, 10), (1, 20)]);
    assert_eq!((queue.bytes(), queue.chunk_bytes()), (180, 240));
    let expected = [(1, 0, 0, 100), (1, 0, 1, 50), (0, 0, 0, 10), (1, 1, 0, 20)];
    assert_eq!(drain_mixed(&mut queue), expected);
}

#[test]
fn round_robin_gives_each_stream_one_whole_message() {
    let mut queue = SendQueue::new(Scheduler::RoundRobin);
    push(
        &mut queue,
        &[(1, 150), (1, 10), (1, 11), (7, 20), (3, 30), (7, 21)],
    );
    let expected = [
        (1, 0, 100),
        (1, 0, 50),
        (7, 0, 20),
        (3, 0, 30),
        (1, 1, 10),
        (7, 1, 21),
        (1, 2, 11),
    ];
    assert_eq!(drain(&mut queue), expected);
}

#[test]
fn round_robin_gives_each_stream_one_chunk_of_i_data() {
    let mut queue = SendQueue::new(Scheduler::RoundRobin);
    queue.set_interleaving(true);
    push(&mut queue, &[(1, 250), (1, 10), (7, 120)]);
    let expected = [
        (1, 0, 0, 100),
        (7, 0, 0, 100),
        (1, 0, 1, 100),
        (7, 0, 1, 20),
        (1, 0, 2, 50),
        (1, 1, 0, 10),
    ];
    assert_eq!(drain_mixed(&mut queue), expected);
}

#[test]
fn ordered_and_unordered_messages_of_i_data_are_counted_apart() {
    let mut queue = SendQueue::new(Scheduler::FirstCome);
    queue.set_interleaving(true);
    for unordered in [false, true, true, false] {
        let message = Message {
            unordered,
            ..message(4, 10)
        };
        queue.push(Time::ZERO, message);
    }
    let mids: Vec<_> = drain_mixed(&mut queue).iter().map(|c| c.1).collect();
    assert_eq!(mids, [0, 0, 1, 1]);
}

#[test]
fn a_packet_of_round_robin_per_packet_holds_one_stream() {
    for interleaving in [false, true] {
        let mut queue = SendQueue::new(Scheduler::RoundRobinPacket);
        queue.set_interleaving(interleaving);
        push(
            &mut queue,
            &[(1, 20), (1, 21), (2, 30), (1, 22), (2, 31), (1, 23)],
        );
        let mut packets = Vec::new();
        while !queue.is_empty() {
            // Two chunks fit a packet.
            queue.begin_packet();
            let mut packet = Vec::new();
            while packet.len() < 2 && queue.next_bytes(100).is_some() {
                let (chunk, _) = queue.pop(Tsn(0), 100).unwrap();
                packet.push((chunk.stream, chunk.payload.len()));
            }
            packets.push(packet);
        }
        let expected = [
            vec![(1, 20), (1, 21)],
            vec![(2, 30), (2, 31)],
            vec![(1, 22), (1, 23)],
        ];
        assert_eq!(packets, expected);
    }
}

#[test]
fn round_robin_per_packet_changes_streams_within_a_message_of_i_data_only() {
    for (interleaving, expected) in [(false, [1, 1, 2]), (true, [1, 2, 1])] {
        let mut queue = SendQueue::new(Scheduler::RoundRobinPacket);
        queue.set_interleaving(interleaving);
        push(&mut queue, &[(1, 200), (2, 50)]);
        let streams = expected.map(|_| {
            queue.begin_packet();
            queue.pop(Tsn(0), 100).unwrap().0.stream
        });
        assert_eq!(streams, expected);
    }
}

#[test]
fn the_highest_priority_goes_first() {
    for (interleaving, expected) in [(false, [2, 2, 1, 3]), (true, [2, 1, 2, 3])] {
        let mut queue = SendQueue::new(Scheduler::Priority);
        queue.set_interleaving(interleaving);
        queue.set_claim(2, (5, 1));
        queue.set_claim(3, (9, 1));
        push(&mut queue, &[(3, 40), (2, 150)]);
        let mut streams = vec![queue.pop(Tsn(0), 100).unwrap().0.stream];
        push(&mut queue, &[(1, 10)]);
        streams.extend(core::iter::from_fn(|| queue.pop(Tsn(0), 100)).map(|(c, _)| c.stream));
        // A message of DATA that is under way is finished first.
        assert_eq!(streams, expected);
    }
}

#[test]
fn streams_of_one_priority_take_turns() {
    let mut queue = SendQueue::new(Scheduler::Priority);
    push(&mut queue, &[(1, 10), (1, 11), (2, 20), (2, 21)]);
    let lengths: Vec<_> = drain(&mut queue).iter().map(|c| c.2).collect();
    assert_eq!(lengths, [10, 20, 11, 21]);
}

#[test]
fn a_priority_changes_for_what_waits_already() {
    let mut queue = SendQueue::new(Scheduler::Priority);
    push(&mut queue, &[(1, 10), (2, 20), (3, 30), (1, 11)]);
    queue.set_claim(1, (2, 1));
    queue.set_claim(2, (1, 1));
    let lengths: Vec<_> = drain(&mut queue).iter().map(|c| c.2).collect();
    assert_eq!(lengths, [30, 20, 10, 11]);
}

/// Bytes that each of three streams sends of `total`, where all have enough.
fn shares(
    scheduler: Scheduler,
    interleaving: bool,
    weights: [u16; 3],
    sizes: [u32; 3],
    total: u32,
) -> [u32; 3] {
    let mut queue = SendQueue::new(scheduler);
    queue.set_interleaving(interleaving);
    for (stream, weight) in (0..).zip(weights) {
        queue.set_claim(stream, (0, weight));
        for _ in 0..=total / sizes[usize::from(stream)] {
            queue.push(Time::ZERO, message(stream, sizes[usize::from(stream)]));
        }
    }
    let mut sent = [0; 3];
    while sent.iter().sum::<u32>() < total {
        let (chunk, _) = queue.pop(Tsn(0), 100).unwrap();
        sent[usize::from(chunk.stream)] += chunk.payload.len() as u32;
    }
    sent
}

#[test]
fn fair_bandwidth_gives_equal_shares_whatever_the_sizes() {
    for interleaving in [false, true] {
        // Weights are not those of this scheduler.
        let sizes = [20, 90, 1000];
        let sent = shares(
            Scheduler::FairBandwidth,
            interleaving,
            [1, 5, 9],
            sizes,
            90_000,
        );
        let slack = if interleaving { 100 } else { 1000 };
        for bytes in sent {
            assert!(bytes.abs_diff(30_000) <= slack, "{sent:?}");
        }
    }
}

#[test]
fn round_robin_shares_by_messages_and_not_by_bytes() {
    let sent = shares(Scheduler::RoundRobin, false, [1; 3], [20, 80, 100], 20_000);
    assert!(sent[2] > 4 * sent[0], "{sent:?}");
}

#[test]
fn weighted_fair_shares_by_weight() {
    for interleaving in [false, true] {
        let weights = [1, 3, 6];
        let sent = shares(
            Scheduler::WeightedFair,
            interleaving,
            weights,
            [70, 90, 400],
            100_000,
        );
        for (bytes, weight) in sent.iter().zip(weights) {
            let due = 10_000 * u32::from(weight);
            assert!(bytes.abs_diff(due) <= 500, "{sent:?}");
        }
    }
}

#[test]
fn a_stream_earns_no_credit_by_silence() {
    let mut queue = SendQueue::new(Scheduler::FairBandwidth);
    queue.set_interleaving(true);
    push(&mut queue, &[(1, 10_000)]);
    for _ in 0..50 {
        queue.pop(Tsn(0), 100).unwrap();
    }
    push(&mut queue, &[(2, 10_000)]);
    let streams: Vec<_> = (0..20)
        .map(|_| queue.pop(Tsn(0), 100).unwrap().0.stream)
        .collect();
    assert_eq!(streams.iter().filter(|&&stream| stream == 2).count(), 10);
}

#[test]
fn another_scheduler_takes_over_what_waits() {
    for interleaving in [false, true] {
        for from in Scheduler::ALL {
            for to in Scheduler::ALL {
                let mut queue = SendQueue::new(from);
                queue.set_interleaving(interleaving);
                let messages = [(1, 250), (2, 150), (1, 30), (3, 40), (2, 50)];
                push(&mut queue, &messages);
                let mut sent = vec![queue.pop(Tsn(0), 100).unwrap().0];
                sent.push(queue.pop(Tsn(0), 100).unwrap().0);
                queue.set_scheduler(to);
                while !queue.is_empty() {
                    queue.begin_packet();
                    sent.extend(queue.pop(Tsn(0), 100).map(|(chunk, _)| chunk));
                }
                let bytes: usize = sent.iter().map(|chunk| chunk.payload.len()).sum();
                assert_eq!((bytes, queue.bytes()), (520, 0));
                for stream in 1..4 {
                    let ids = sent.iter().filter(|c| c.stream == stream);
                    assert!(ids.map(|c| c.trace.message).is_sorted(), "{from:?} {to:?}");
                }
                if !interleaving {
                    let whole = sent.chunk_by(|a, b| !a.end && a.trace.message == b.trace.message);
                    assert_eq!(whole.count(), messages.len(), "{from:?} {to:?}");
                }
            }
        }
    }
}
