//! Sections 6.4 and 8.2 with several addresses, and RFC 7829.

use headway_sansio::{Datagram, Duration};
use headway_sctp::{Chunk, Config, Event, Packet, PathState, TimeoutMarks};

use crate::rig::{Rig, config, data, sack};

/// A peer with two addresses, 10 and 11, both confirmed.
fn two(config: Config) -> Rig {
    Rig::established_with(config, &[1, 2], &[10, 11])
}

fn confirmed(config: Config) -> Rig {
    let mut rig = Rig::connecting_to(config, &[1, 2], &[10, 11]);
    rig.sent.clear();
    rig.deliver(rig.init_ack_with_addresses());
    rig.deliver(Chunk::CookieAck);
    for path in 0..2 {
        assert_eq!(state(&rig, path), PathState::Active);
    }
    rig.forget();
    rig
}

fn state(rig: &Rig, path: usize) -> PathState {
    rig.end.path(path).unwrap().state
}

/// To which addresses DATA goes next, for one message.
fn destinations(rig: &mut Rig) -> Vec<u32> {
    let message = headway_sctp::Message {
        payload: headway_sansio::Payload::Sized(100),
        ..headway_sctp::Message::default()
    };
    rig.end.send(rig.now, message).unwrap();
    out(rig)
}

fn out(rig: &mut Rig) -> Vec<u32> {
    let mut to = Vec::new();
    while let Some(Datagram {
        destination, body, ..
    }) = rig.end.poll_datagram(rig.now)
    {
        let body: Packet = body;
        if body
            .chunks
            .iter()
            .any(|chunk| matches!(chunk, Chunk::Data(_)))
        {
            to.push(destination.0);
        }
    }
    to
}

/// Waits without a look at what is sent; says where DATA went.
fn wait(rig: &mut Rig, ms: u64) -> Vec<u32> {
    let end = rig.now + Duration::from_millis(ms);
    let mut to = Vec::new();
    while let Some(due) = rig.end.poll_timeout().filter(|&due| due <= end) {
        rig.now = rig.now.max(due);
        rig.end.handle_timeout(rig.now);
        while let Some(event) = rig.end.poll_event() {
            rig.events.push(event);
        }
        to.extend(out(rig));
    }
    rig.now = end;
    to
}

fn pf() -> Config {
    Config {
        potentially_failed_max_retransmits: Some(0),
        ..config()
    }
}

#[test]
fn section_6_4_data_goes_to_the_primary_path() {
    let mut rig = confirmed(config());
    assert_eq!(destinations(&mut rig), [10]);
    assert!(rig.end.set_primary_path(1));
    assert_eq!(destinations(&mut rig), [11]);
}

#[test]
fn section_6_4_1_what_timed_out_goes_to_another_address() {
    let mut rig = confirmed(config());
    assert_eq!(destinations(&mut rig), [10]);
    assert_eq!(wait(&mut rig, 1_000), [11]);
    // And back, after the RTO of the second path.
    assert_eq!(wait(&mut rig, 1_000), [10]);
}

/// What went out just before T3-rtx expired may still arrive, where the profile says so, and
/// stays under way on its path: rule R1 holds for it even as the rest goes elsewhere.
#[test]
fn section_6_3_2_r1_what_a_timeout_leaves_under_way_keeps_a_timer() {
    let mut rig = confirmed(Config {
        timeout_marks: TimeoutMarks::OlderThanEstimate,
        ..config()
    });
    assert_eq!(destinations(&mut rig), [10]);
    rig.wait(100);
    rig.ack(1);
    // The estimate is 300 ms, the RTO a second.
    assert_eq!(destinations(&mut rig), [10]);
    assert_eq!(wait(&mut rig, 900), [0; 0]);
    assert_eq!(destinations(&mut rig), [10]);
    assert_eq!(wait(&mut rig, 100), [11], "the first is given up");
    assert!(
        rig.end.path(0).unwrap().flight_bytes > 0,
        "the second is not"
    );
    rig.end.check_books().unwrap();
    // The first arrives by the other path. The second is lost, and nothing is heard of it.
    rig.arrive_from(11, rig.packet(rig.tag, vec![sack(2, &[])]));
    assert_eq!(wait(&mut rig, 1_999), [0; 0]);
    assert_eq!(wait(&mut rig, 1), [11], "after the doubled RTO");
}

#[test]
fn section_6_4_sacks_go_where_the_data_came_from() {
    let mut rig = confirmed(config());
    rig.arrive_from(11, rig.packet(rig.tag, vec![Chunk::Data(data(0))]));
    let sent = |rig: &Rig, path| rig.end.path(path).unwrap().stats.packets_sent;
    let before = sent(&rig, 0);
    assert_eq!(rig.take_story(), ["SACK"]);
    assert_eq!(sent(&rig, 0), before);
    rig.arrive_from(10, rig.packet(rig.tag, vec![Chunk::Data(data(1))]));
    rig.arrive_from(10, rig.packet(rig.tag, vec![Chunk::Data(data(2))]));
    assert_eq!(sent(&rig, 0), before + 1);
}

#[test]
fn section_6_4_a_duplicate_makes_the_sack_take_another_way() {
    let mut rig = confirmed(config());
    rig.arrive_from(10, rig.packet(rig.tag, vec![Chunk::Data(data(0))]));
    let sent = |rig: &Rig| rig.end.path(1).unwrap().stats.packets_sent;
    let before = sent(&rig);
    rig.arrive_from(10, rig.packet(rig.tag, vec![Chunk::Data(data(0))]));
    assert_eq!(sent(&rig), before + 1);
    // The path in doubt is asked.
    assert!(rig.story().contains(&"HEARTBEAT".to_string()));
}

#[test]
fn section_8_2_path_max_retrans_makes_a_path_inactive() {
    let mut rig = confirmed(Config {
        path_max_retransmits: 1,
        heartbeat_interval: Duration::ZERO,
        ..config()
    });
    destinations(&mut rig);
    wait(&mut rig, 1_000);
    assert_eq!(state(&rig, 0), PathState::Active);
    // Path 1 at 2 s, path 0 at 4 s: the second error of path 0.
    wait(&mut rig, 3_000);
    assert_eq!(state(&rig, 0), PathState::Inactive);
    assert!(rig.events.contains(&Event::PathInactive { path: 0 }));
    assert_eq!(destinations(&mut rig), [11; 0]);
    let carrier = (0..2).find(|&n| rig.end.path(n).unwrap().carries_data);
    assert_eq!(carrier, Some(1));
}

#[test]
fn section_8_2_an_acknowledgement_clears_the_count_of_its_path() {
    let mut rig = confirmed(config());
    destinations(&mut rig);
    wait(&mut rig, 1_000);
    assert_eq!(rig.end.path(0).unwrap().errors, 1);
    // Sent on both paths: it counts for the one where it went last.
    rig.ack(1);
    assert_eq!(rig.end.path(0).unwrap().errors, 1);
    rig.send(100);
    rig.ack(2);
    assert_eq!(rig.end.path(0).unwrap().errors, 0);
}

#[test]
fn section_7_2_windows_are_those_of_each_path() {
    let mut rig = confirmed(config());
    destinations(&mut rig);
    wait(&mut rig, 1_000);
    let cwnd = |path| rig.end.path(path).unwrap().cwnd_bytes;
    assert_eq!((cwnd(0), cwnd(1)), (1_468, 4_404));
    let rto = |path| rig.end.path(path).unwrap().rto.as_nanos() / 1_000_000;
    assert_eq!((rto(0), rto(1)), (2_000, 1_000));
}

#[test]
fn rfc_7829_section_3_2_rule_2_the_first_timeout_makes_it_potentially_failed() {
    let mut rig = confirmed(pf());
    destinations(&mut rig);
    wait(&mut rig, 1_000);
    assert_eq!(state(&rig, 0), PathState::PotentiallyFailed);
    assert!(
        rig.events
            .contains(&Event::PathPotentiallyFailed { path: 0 })
    );
}

#[test]
fn rfc_7829_section_3_2_rule_3_data_goes_to_an_active_path() {
    let mut rig = confirmed(pf());
    destinations(&mut rig);
    assert_eq!(wait(&mut rig, 1_000), [11]);
    assert_eq!(destinations(&mut rig), [11]);
    // Also where the user wants the failed one (rule 3 iii).
    assert!(rig.end.set_primary_path(0));
    assert_eq!(destinations(&mut rig), [11]);
}

#[test]
fn rfc_7829_section_3_2_rule_4_of_failed_paths_the_one_with_fewer_errors() {
    let mut rig = confirmed(pf());
    destinations(&mut rig);
    // Path 0 fails at 1 s, path 1 at 2 s.
    wait(&mut rig, 2_000);
    assert_eq!(state(&rig, 1), PathState::PotentiallyFailed);
    wait(&mut rig, 1_100);
    // The heartbeat of path 0 was not answered by second 3: two errors against one.
    let errors = |path| rig.end.path(path).unwrap().errors;
    assert!(errors(0) > errors(1), "{} {}", errors(0), errors(1));
    let carrier = (0..2).find(|&n| rig.end.path(n).unwrap().carries_data);
    assert_eq!(carrier, Some(1));
}

#[test]
fn rfc_7829_section_3_2_rule_9_what_went_both_ways_clears_nothing() {
    let mut rig = confirmed(pf());
    destinations(&mut rig);
    wait(&mut rig, 1_000);
    rig.ack(1);
    assert_eq!(state(&rig, 0), PathState::PotentiallyFailed);
}

#[test]
fn rfc_7829_section_3_2_rule_10_what_went_one_way_clears() {
    let mut rig = confirmed(pf());
    // Two packets under way; of those only one is sent again before the SACK.
    for _ in 0..2 {
        let message = headway_sctp::Message {
            payload: headway_sansio::Payload::Sized(1_400),
            ..headway_sctp::Message::default()
        };
        rig.end.send(rig.now, message).unwrap();
    }
    rig.drain();
    rig.now = rig.end.poll_timeout().unwrap();
    rig.end.handle_timeout(rig.now);
    assert_eq!(state(&rig, 0), PathState::PotentiallyFailed);
    let first = rig.end.poll_datagram(rig.now);
    assert!(first.is_some());
    // The timeout was spurious: the acknowledgement of both comes now, and the second
    // chunk was never sent elsewhere.
    rig.ack(2);
    assert_eq!(state(&rig, 0), PathState::Active);
}

#[test]
fn rfc_7829_section_5_primary_path_switchover() {
    let mut rig = confirmed(Config {
        primary_switchover_max_retransmits: Some(0),
        ..pf()
    });
    destinations(&mut rig);
    wait(&mut rig, 1_000);
    assert_eq!(rig.end.primary_path(), 1);
}

#[test]
fn section_6_4_an_init_that_times_out_goes_to_the_next_address() {
    let mut rig = Rig::connecting_to(config(), &[1, 2], &[10, 11]);
    rig.now = rig.end.poll_timeout().unwrap();
    rig.end.handle_timeout(rig.now);
    let again = rig.end.poll_datagram(rig.now).unwrap();
    assert_eq!(again.destination.0, 11);
    assert!(matches!(again.body.chunks[0], Chunk::Init(_)));
}

#[test]
fn section_5_1_2_addresses_of_a_known_peer_stay_confirmed() {
    let rig = two(config());
    assert_eq!(
        (state(&rig, 0), state(&rig, 1)),
        (PathState::Active, PathState::Active)
    );
}
