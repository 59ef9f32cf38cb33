//! Two ends with two addresses each, and two paths between them that fail and come
//! back: where DATA goes, when each side notices, and that nothing is lost or told
//! twice (RFC 9260, sections 6.4 and 8; RFC 7829).

mod common;

use common::has_data;
use common::world::World;
use headway_sansio::{Address, Datagram, Duration, Time};
use headway_sctp::{
    AssociationId, AssociationState, Chunk, Config, Event, LostReason, Packet, PathState,
};

/// Addresses of the client and of the server; the first of each make path 0.
const CLIENT: [u32; 2] = [1, 2];
const SERVER: [u32; 2] = [3, 4];

/// One direction of one path: from whom.
type Way = u32;

/// All that path 0 carries, or path 1.
const PATH: [[Way; 2]; 2] = [[1, 3], [2, 4]];

struct Duo {
    world: World,
    client: AssociationId,
    server: AssociationId,
    /// How many messages each end has handed over.
    sent: [u32; 2],
}

impl Duo {
    fn new(config: Config) -> Self {
        Self::over(config, [20, 20])
    }

    /// Paths of these one-way delays.
    fn over(config: Config, delays_ms: [u64; 2]) -> Self {
        let mut world = World::new(&config, &[&CLIENT, &SERVER]);
        world.weather = Box::new(move |_, datagram| {
            let path = usize::from(PATH[1].contains(&datagram.source.0));
            vec![Duration::from_millis(delays_ms[path])]
        });
        let [client, server] = world.connect(0, 1, &SERVER);
        // Both sides have confirmed all addresses by now (section 5.4).
        let mut duo = Self {
            world,
            client,
            server,
            sent: [0; 2],
        };
        for end in [0, 1] {
            for path in [0, 1] {
                assert_eq!(duo.state(end, path), PathState::Active);
            }
        }
        duo.forget();
        duo
    }

    fn forget(&mut self) {
        self.world.log.clear();
        self.world.events.clear();
    }

    fn id(&self, end: usize) -> AssociationId {
        [self.client, self.server][end]
    }

    fn state(&self, end: usize, path: usize) -> PathState {
        self.path(end, path).state
    }

    fn path(&self, end: usize, path: usize) -> headway_sctp::PathStatus {
        let association = self.world.ends[end].association(self.id(end)).unwrap();
        association.path(path).unwrap()
    }

    /// The path that carries new DATA.
    fn carrier(&self, end: usize) -> usize {
        (0..2)
            .find(|&path| self.path(end, path).carries_data)
            .unwrap()
    }

    /// From now on nothing that these addresses send arrives; all else takes 20 ms.
    fn cut(&mut self, ways: &[Way]) {
        let dead = ways.to_vec();
        self.world.weather = Box::new(move |_, datagram| {
            if dead.contains(&datagram.source.0) {
                vec![]
            } else {
                vec![common::world::DELAY]
            }
        });
    }

    /// An end sends a message of which the length is its number, so that order and
    /// completeness can be told.
    fn send(&mut self, end: usize) {
        self.sent[end] += 1;
        self.world.send(end, self.id(end), 0, self.sent[end]);
    }

    /// A message every `gap_ms`.
    fn talk(&mut self, end: usize, count: u32, gap_ms: u64) {
        for _ in 0..count {
            self.send(end);
            self.world.run_ms(gap_ms);
        }
    }

    /// Everything that `end` sent has come, once and in order.
    fn assert_delivered(&self, end: usize) {
        let other = 1 - end;
        let received = self.world.received(other, self.id(other));
        let lengths: Vec<u32> = received.iter().map(|m| m.payload.len() as u32).collect();
        assert_eq!(lengths, (1..=self.sent[end]).collect::<Vec<_>>());
    }

    /// Events of one end, messages left out, with their times.
    fn news(&self, end: usize) -> Vec<(Time, Event)> {
        let mut all = Vec::new();
        for (at, of, event) in &self.world.events {
            if let headway_sctp::EndpointEvent::Association(_, event) = event
                && *of == end
                && !matches!(event, Event::Message(_))
            {
                all.push((*at, event.clone()));
            }
        }
        all
    }

    fn when(&self, end: usize, wanted: &Event) -> Option<Time> {
        let news = self.news(end);
        news.into_iter()
            .find(|(_, event)| event == wanted)
            .map(|(at, _)| at)
    }

    /// Packets with what `is` looks for that left from an address: when.
    fn departures(&self, from: Way, is: impl Fn(&Packet) -> bool) -> Vec<Time> {
        let of = |(at, datagram): &(Time, Datagram<Packet>)| {
            (datagram.source == Address(from) && is(&datagram.body)).then_some(*at)
        };
        self.world.log.iter().filter_map(of).collect()
    }

    fn seconds_since(&self, start: Time, at: Time) -> f64 {
        at.since(start).as_secs_f64()
    }
}

fn is_sack(packet: &Packet) -> bool {
    packet.chunks.iter().any(|c| matches!(c, Chunk::Sack(_)))
}

fn is_heartbeat(packet: &Packet) -> bool {
    let is = |chunk: &Chunk| matches!(chunk, Chunk::Heartbeat(_));
    packet.chunks.iter().any(is)
}

fn potentially_failed() -> Config {
    Config {
        potentially_failed_max_retransmits: Some(0),
        ..Config::default()
    }
}

#[test]
fn section_8_2_a_dead_path_is_left_after_path_max_retrans() {
    let mut duo = Duo::new(Config::default());
    duo.cut(&PATH[0]);
    let start = duo.world.now;
    duo.talk(0, 400, 200);
    let inactive = duo.when(0, &Event::PathInactive { path: 0 }).unwrap();
    // New DATA stays on the primary path, so that T3-rtx expires there again after
    // each retransmission that path 1 carried: six times, at 1, 2, 4, 8, 16 and
    // 32 s after the packet that started it.
    let elapsed = duo.seconds_since(start, inactive);
    assert!((63.0..66.0).contains(&elapsed), "{elapsed}");
    assert_eq!(duo.path(0, 0).stats.timeouts, 6);
    assert_eq!(duo.path(0, 0).errors, 6);
    assert_eq!((duo.carrier(0), duo.state(0, 1)), (1, PathState::Active));
    // From then on no DATA goes where nothing arrives.
    let late = duo.departures(CLIENT[0], has_data);
    assert!(late.iter().all(|&at| at <= inactive));
    duo.world.run_ms(1_000);
    duo.assert_delivered(0);
    // The peer, which sent nothing, does not notice by DATA.
    assert_eq!(duo.path(1, 0).stats.timeouts, 0);
}

#[test]
fn section_6_4_1_what_timed_out_goes_by_the_other_path() {
    let mut duo = Duo::new(Config::default());
    duo.cut(&PATH[0]);
    let start = duo.world.now;
    // A flight of three packets is under way when the path fails.
    for _ in 0..3 {
        duo.send(0);
    }
    duo.world.run_ms(1_500);
    assert_eq!(duo.departures(CLIENT[0], has_data), [start; 3]);
    // RTO.Min later they go together, on path 1.
    let again = duo.departures(CLIENT[1], has_data);
    assert_eq!(again, [start + Duration::from_secs(1)]);
    duo.assert_delivered(0);
    let (failed, other) = (duo.path(0, 0), duo.path(0, 1));
    assert_eq!((failed.flight_bytes, other.flight_bytes), (0, 0));
    assert_eq!((failed.errors, other.errors), (1, 0));
    assert_eq!(
        (failed.rto, other.rto),
        (Duration::from_secs(2), Duration::from_secs(1))
    );
    // Congestion control is that of each path (section 7.2.3).
    assert_eq!((failed.cwnd_bytes, other.cwnd_bytes), (1_468, 4_404));
    assert_eq!(other.stats.retransmissions, 3);
}

#[test]
fn data_in_flight_moves_as_fast_as_the_other_path_allows() {
    let mut duo = Duo::new(potentially_failed());
    duo.cut(&PATH[0]);
    for _ in 0..12 {
        duo.world.send(0, duo.client, 0, 1_400);
    }
    let under_way = duo.path(0, 0).flight_bytes;
    assert!(under_way >= 4_404, "{under_way}");
    duo.world.run_ms(1_010);
    // T3-rtx has expired: what was under way on path 0 is so on path 1, within its
    // own window, and nothing more is on path 0.
    assert_eq!(duo.path(0, 0).flight_bytes, 0);
    let moved = duo.path(0, 1).flight_bytes;
    assert!((1_416..=4_404 + 1_416).contains(&moved), "{moved}");
    duo.world.run_ms(20_000);
    assert_eq!(duo.world.received(1, duo.server).len(), 12);
    assert_eq!(
        duo.world.ends[0]
            .association(duo.client)
            .unwrap()
            .buffered_bytes(),
        0
    );
}

#[test]
fn only_the_way_there_fails() {
    let mut duo = Duo::new(Config::default());
    duo.cut(&[CLIENT[0]]);
    duo.talk(0, 400, 200);
    assert!(duo.when(0, &Event::PathInactive { path: 0 }).is_some());
    assert_eq!(duo.carrier(0), 1);
    duo.world.run_ms(2_000);
    duo.assert_delivered(0);
    // The server's DATA still gets there by path 0, and is acknowledged on it: in
    // vain, so the server leaves the path too, as its SACKs do not come.
    duo.talk(1, 400, 200);
    duo.world.run_ms(200_000);
    duo.assert_delivered(1);
}

#[test]
fn only_the_way_back_fails() {
    let mut duo = Duo::new(Config::default());
    duo.cut(&[SERVER[0]]);
    let start = duo.world.now;
    duo.send(0);
    duo.world.run_ms(2_000);
    // The message came by path 0, its SACK did not. The retransmission came by
    // path 1, a duplicate, and its SACK went back that way (section 6.4).
    assert_eq!(
        duo.departures(CLIENT[1], has_data),
        [start + Duration::from_secs(1)]
    );
    let association = duo.world.ends[0].association(duo.client).unwrap();
    assert_eq!(
        (association.buffered_bytes(), duo.path(0, 1).stats.timeouts),
        (0, 0)
    );
    duo.talk(0, 200, 200);
    duo.world.run_ms(2_000);
    duo.assert_delivered(0);
    // Duplicates were told of, and nothing was delivered twice.
    let association = duo.world.ends[1].association(duo.server).unwrap();
    assert_eq!(association.stats().duplicates_received, 1);
    // One was enough: the server asked path 0 for an answer, got none, and kept its
    // SACKs off it. The DATA went on as if nothing had happened.
    assert_eq!(duo.path(0, 0).stats.timeouts, 1);
    let beats = duo.departures(SERVER[0], is_heartbeat);
    assert_eq!(beats[0], start + Duration::from_millis(1_020));
    // The way back works again, and a heartbeat clears it.
    duo.cut(&[]);
    duo.world.run_ms(200_000);
    duo.forget();
    duo.world.send(0, duo.client, 0, 100);
    duo.world.run_ms(500);
    assert_eq!(
        SERVER.map(|from| duo.departures(from, is_sack).len()),
        [1, 0]
    );
}

#[test]
fn section_6_4_a_needless_retransmission_moves_sacks_for_a_round_trip_only() {
    let mut duo = Duo::new(Config::default());
    duo.talk(0, 2, 50);
    // One SACK is lost, and with it the only one that would have come.
    duo.cut(&[SERVER[0]]);
    duo.send(0);
    duo.world.run_ms(900);
    duo.cut(&[]);
    duo.world.run_ms(600);
    assert_eq!(duo.path(0, 0).stats.timeouts, 1);
    duo.forget();
    duo.world.send(0, duo.client, 0, 100);
    duo.world.run_ms(500);
    assert_eq!(
        SERVER.map(|from| duo.departures(from, is_sack).len()),
        [1, 0]
    );
}

#[test]
fn section_6_4_a_sack_for_duplicates_on_one_path_takes_another() {
    let mut duo = Duo::new(Config::default());
    // Path 1 is dead, and the server knows it; then the way back of path 0 fails.
    duo.cut(&PATH[1]);
    duo.world.run_ms(600_000);
    assert_eq!(
        (duo.state(0, 1), duo.state(1, 1)),
        (PathState::Inactive, PathState::Inactive)
    );
    duo.cut(&[SERVER[0]]);
    duo.forget();
    duo.send(0);
    duo.world.run_ms(1_500);
    // The retransmission also takes path 0, as path 1 is thought to be dead. It is
    // a duplicate there, but the server has no better way for its SACK.
    assert_eq!(duo.departures(CLIENT[0], has_data).len(), 2);
    duo.world.run_ms(600_000);
    // Heartbeats find path 1 alive again, and all is well.
    assert_eq!(duo.state(1, 1), PathState::Active);
    duo.assert_delivered(0);
    assert_eq!(
        duo.world.ends[0]
            .association(duo.client)
            .unwrap()
            .buffered_bytes(),
        0
    );
}

#[test]
fn section_8_3_a_path_that_comes_back_carries_data_again() {
    let mut duo = Duo::new(Config::default());
    duo.cut(&PATH[0]);
    duo.talk(0, 400, 200);
    assert_eq!(duo.carrier(0), 1);
    duo.forget();
    duo.sent = [0; 2];
    duo.cut(&[]);
    let start = duo.world.now;
    duo.talk(0, 1_000, 200);
    let active = duo.when(0, &Event::PathActive { path: 0 }).unwrap();
    // The next heartbeat shows it: HB.interval, and the RTO that was backed off to
    // RTO.Max, more or less a half.
    let waited = duo.seconds_since(start, active);
    assert!(waited <= 30.0 + 90.0 + 0.1, "{waited}");
    let first = duo.departures(CLIENT[0], has_data)[0];
    assert!(first >= active && first.since(active) <= Duration::from_millis(200));
    assert_eq!((duo.path(0, 0).errors, duo.carrier(0)), (0, 0));
    duo.world.run_ms(1_000);
    duo.assert_delivered(0);
    // It begins with the window of a path that timed out (section 7.2.3).
    let before = duo.departures(CLIENT[1], has_data);
    assert!(before.iter().all(|&at| at <= active));
}

#[test]
fn the_user_changes_the_primary_path() {
    let mut duo = Duo::new(Config::default());
    duo.talk(0, 5, 50);
    assert!(duo.departures(CLIENT[1], has_data).is_empty());
    duo.world.with(0, duo.client, |_, association| {
        assert!(association.set_primary_path(1))
    });
    let changed = duo.world.now;
    duo.talk(0, 5, 50);
    assert_eq!(duo.carrier(0), 1);
    assert_eq!(duo.departures(CLIENT[1], has_data).len(), 5);
    let rest = duo.departures(CLIENT[0], has_data);
    assert!(rest.len() == 5 && rest.iter().all(|&at| at < changed));
    // SACKs go where the DATA came from (section 6.4).
    assert!(
        duo.departures(SERVER[1], is_sack)
            .iter()
            .all(|&at| at >= changed)
    );
    duo.world.run_ms(500);
    duo.assert_delivered(0);
    // A path that does not exist is refused.
    duo.world.with(0, duo.client, |_, association| {
        assert!(!association.set_primary_path(2))
    });
}

#[test]
fn rfc_7829_a_path_fails_potentially_at_the_first_timeout() {
    let mut duo = Duo::new(potentially_failed());
    duo.cut(&PATH[0]);
    let start = duo.world.now;
    duo.talk(0, 100, 100);
    let failed = duo.when(0, &Event::PathPotentiallyFailed { path: 0 });
    assert_eq!(failed, Some(start + Duration::from_secs(1)));
    // Rule 3: from then on DATA takes path 1.
    let late = duo.departures(CLIENT[0], has_data);
    assert!(late.iter().all(|&at| at < failed.unwrap()));
    assert_eq!(
        (duo.carrier(0), duo.state(0, 0)),
        (1, PathState::PotentiallyFailed)
    );
    // Rules 5 and 6: a heartbeat at once and then one after each RTO, backed off.
    let probes = duo.departures(CLIENT[0], is_heartbeat);
    let times: Vec<f64> = probes
        .iter()
        .map(|&at| duo.seconds_since(start, at))
        .collect();
    assert_eq!(times, [1.0, 3.0, 7.0]);
    duo.world.run_ms(1_000);
    duo.assert_delivered(0);
}

#[test]
fn rfc_7829_rule_8_more_silence_makes_it_inactive() {
    let mut duo = Duo::new(potentially_failed());
    duo.cut(&PATH[0]);
    let start = duo.world.now;
    duo.talk(0, 700, 100);
    let inactive = duo.when(0, &Event::PathInactive { path: 0 });
    // One T3-rtx and five heartbeats, at 1, 3, 7, 15, 31 and 63 s.
    assert_eq!(inactive, Some(start + Duration::from_secs(63)));
    assert_eq!(duo.path(0, 0).errors, 6);
    assert_eq!(duo.path(0, 0).stats.timeouts, 1);
    duo.world.run_ms(1_000);
    duo.assert_delivered(0);
}

#[test]
fn rfc_7829_rule_7_a_spurious_failure_is_over_with_the_next_answer() {
    let mut duo = Duo::new(potentially_failed());
    duo.cut(&PATH[0]);
    duo.send(0);
    duo.world.run_ms(1_500);
    assert_eq!(duo.carrier(0), 1);
    duo.cut(&[]);
    duo.talk(0, 50, 100);
    // The heartbeat of second 3 is answered.
    assert_eq!((duo.carrier(0), duo.state(0, 0)), (0, PathState::Active));
    assert!(duo.when(0, &Event::PathActive { path: 0 }).is_some());
    assert_eq!(duo.path(0, 0).errors, 0);
    duo.world.run_ms(1_000);
    duo.assert_delivered(0);
}

#[test]
fn rfc_7829_rule_5_no_heartbeats_where_the_user_wants_none() {
    let mut duo = Duo::new(potentially_failed());
    duo.world.with(0, duo.client, |now, association| {
        association.set_heartbeat(now, 0, false);
    });
    duo.cut(&PATH[0]);
    duo.talk(0, 300, 100);
    assert_eq!(duo.state(0, 0), PathState::PotentiallyFailed);
    assert!(duo.departures(CLIENT[0], is_heartbeat).is_empty());
}

#[test]
fn rfc_7829_section_5_the_working_path_becomes_the_primary_one() {
    let mut duo = Duo::new(Config {
        primary_switchover_max_retransmits: Some(1),
        ..potentially_failed()
    });
    duo.cut(&PATH[0]);
    duo.talk(0, 20, 100);
    let primary = |duo: &Duo| {
        let association = duo.world.ends[0].association(duo.client).unwrap();
        association.primary_path()
    };
    // One error: the path is potentially failed, and still the primary one.
    assert_eq!(
        (duo.path(0, 0).errors, primary(&duo), duo.carrier(0)),
        (1, 0, 1)
    );
    duo.talk(0, 20, 100);
    assert_eq!((duo.path(0, 0).errors, primary(&duo)), (2, 1));
    // It comes back, and DATA stays where it is.
    duo.cut(&[]);
    duo.talk(0, 100, 100);
    assert_eq!((duo.state(0, 0), duo.carrier(0)), (PathState::Active, 1));
    duo.world.run_ms(1_000);
    duo.assert_delivered(0);
}

#[test]
fn section_8_1_all_paths_fail_and_the_association_with_them() {
    for (config, seconds) in [
        // T3-rtx by turns on both paths: 1, 1, 2, 2, 4, 4, 8, 8, 16, 16 and 32 s.
        (Config::default(), 94.0),
        (
            Config {
                association_max_retransmits: 3,
                ..Config::default()
            },
            6.0,
        ),
    ] {
        let mut duo = Duo::new(config.clone());
        duo.cut(&[1, 2, 3, 4]);
        let start = duo.world.now;
        duo.send(0);
        duo.world.run_ms(300_000);
        let lost = Event::ConnectionLost {
            reason: LostReason::PeerUnreachable,
        };
        let at = duo.when(0, &lost).unwrap();
        let elapsed = duo.seconds_since(start, at);
        assert_eq!(elapsed, seconds, "{config:?}");
        assert!(duo.world.ends[0].association(duo.client).is_none());
        // One transmission, and one more for each error but the last.
        let sent =
            duo.departures(CLIENT[0], has_data).len() + duo.departures(CLIENT[1], has_data).len();
        assert_eq!(sent as u32, 1 + config.association_max_retransmits);
    }
}

#[test]
fn section_8_1_an_idle_association_notices_by_its_heartbeats() {
    let mut duo = Duo::new(Config::default());
    duo.cut(&[1, 2, 3, 4]);
    duo.world.run_ms(3_600_000);
    for end in [0, 1] {
        let news = duo.news(end);
        let events: Vec<&Event> = news.iter().map(|(_, event)| event).collect();
        assert!(
            events.contains(&&Event::PathInactive { path: 0 }),
            "{events:?}"
        );
        assert!(
            events.contains(&&Event::PathInactive { path: 1 }),
            "{events:?}"
        );
        let lost = Event::ConnectionLost {
            reason: LostReason::PeerUnreachable,
        };
        assert_eq!(events.last(), Some(&&lost));
    }
}

#[test]
fn rfc_7829_section_4_1_a_dormant_association_goes_on_trying() {
    // More errors are allowed than both paths need to be inactive.
    let mut duo = Duo::new(Config {
        association_max_retransmits: 30,
        path_max_retransmits: 2,
        ..potentially_failed()
    });
    duo.cut(&[1, 2, 3, 4]);
    duo.send(0);
    duo.world.run_ms(60_000);
    assert_eq!(
        (duo.state(0, 0), duo.state(0, 1)),
        (PathState::Inactive, PathState::Inactive)
    );
    // Path 1 alone comes back, and the message gets through without anybody asking.
    duo.cut(&PATH[0]);
    duo.world.run_ms(200_000);
    duo.assert_delivered(0);
    assert_eq!((duo.carrier(0), duo.state(0, 1)), (1, PathState::Active));
}

#[test]
fn section_8_3_heartbeats_of_an_idle_path() {
    let mut duo = Duo::new(Config::default());
    duo.talk(0, 2_000, 100);
    // Path 0 carries DATA all the time, and so needs none; path 1 is idle: one each
    // HB.interval and RTO, more or less half an RTO, which is 1 s.
    assert_eq!(duo.departures(CLIENT[0], is_heartbeat).len(), 0);
    let beats = duo.departures(CLIENT[1], is_heartbeat);
    assert!(beats.len() >= 6, "{beats:?}");
    let mut gaps: Vec<f64> = beats
        .windows(2)
        .map(|pair| duo.seconds_since(pair[0], pair[1]))
        .collect();
    // The wait begins with the answer, a round trip later.
    assert!(
        gaps.iter().all(|gap| (30.54..=31.54).contains(gap)),
        "{gaps:?}"
    );
    gaps.dedup();
    assert!(gaps.len() > 1, "they are spread");
    assert_eq!(
        duo.path(0, 1).stats.heartbeats_answered,
        duo.path(0, 1).stats.heartbeats_sent
    );
    // One on request, at once.
    let before = duo.departures(CLIENT[1], is_heartbeat).len();
    duo.world.with(0, duo.client, |now, association| {
        association.request_heartbeat(now, 1)
    });
    assert_eq!(duo.departures(CLIENT[1], is_heartbeat).len(), before + 1);
}

#[test]
fn section_8_3_an_idle_path_that_dies_is_found_and_found_again() {
    let mut duo = Duo::new(Config::default());
    duo.cut(&PATH[1]);
    let start = duo.world.now;
    duo.talk(0, 3_000, 200);
    let inactive = duo.when(0, &Event::PathInactive { path: 1 }).unwrap();
    // Six heartbeats go unanswered, each with an RTO twice as long as the last.
    let beats = duo.departures(CLIENT[1], is_heartbeat);
    let until: Vec<Time> = beats.into_iter().filter(|&at| at <= inactive).collect();
    assert_eq!(until.len(), 6, "{:?}", duo.seconds_since(start, inactive));
    // It costs the DATA nothing, and the association no error.
    assert_eq!(duo.path(0, 0).stats.timeouts, 0);
    duo.cut(&[]);
    duo.world.run_ms(130_000);
    assert_eq!(duo.state(0, 1), PathState::Active);
    duo.assert_delivered(0);
}

#[test]
fn section_6_3_1_each_path_has_its_own_round_trip() {
    let config = Config {
        rto_min: Duration::from_millis(50),
        sack_every: 1,
        ..Config::default()
    };
    let mut duo = Duo::over(config, [20, 150]);
    duo.talk(0, 30, 100);
    duo.world.with(0, duo.client, |_, association| {
        association.set_primary_path(1)
    });
    duo.talk(0, 60, 400);
    let srtt = |path| duo.path(0, path).srtt.unwrap().as_nanos() / 1_000_000;
    assert!((40..60).contains(&srtt(0)), "{}", srtt(0));
    assert!((290..320).contains(&srtt(1)), "{}", srtt(1));
    assert!(duo.path(0, 1).rto > duo.path(0, 0).rto);
    duo.world.run_ms(1_000);
    duo.assert_delivered(0);
}

#[test]
fn section_7_2_each_path_has_its_own_window() {
    let mut duo = Duo::new(Config::default());
    for _ in 0..200 {
        duo.world.send(0, duo.client, 0, 1_000);
    }
    duo.world.run_ms(2_000);
    let (used, idle) = (duo.path(0, 0), duo.path(0, 1));
    assert!(used.cwnd_bytes > 20_000, "{}", used.cwnd_bytes);
    assert_eq!(idle.cwnd_bytes, 4_404);
    assert_eq!(duo.world.received(1, duo.server).len(), 200);
}

#[test]
fn the_first_address_is_dead_from_the_beginning() {
    let mut world = World::new(&Config::default(), &[&CLIENT, &SERVER]);
    world.weather = Box::new(|_, datagram| {
        let dead = PATH[0].contains(&datagram.source.0);
        if dead {
            vec![]
        } else {
            vec![common::world::DELAY]
        }
    });
    world.ends[1].listen(7);
    let remotes = SERVER.map(Address);
    let client = world.ends[0].connect(world.now, 1000, 7, &remotes).unwrap();
    world.run_ms(3_000);
    // The INIT of T1 went to the second address (section 6.4).
    let inits: Vec<String> = world
        .story()
        .into_iter()
        .filter(|s| s.ends_with(": INIT"))
        .collect();
    assert_eq!(inits, ["1>3: INIT", "2>4: INIT"]);
    let server = *world.incoming(1).last().unwrap();
    for (end, id) in [(0, client), (1, server)] {
        assert_eq!(
            world.ends[end].association(id).unwrap().state(),
            AssociationState::Established
        );
        world.send(end, id, 0, 1_000);
    }
    world.run_ms(10_000);
    assert_eq!(world.received(0, client).len(), 1);
    assert_eq!(world.received(1, server).len(), 1);
    // What is not proven carries nothing (section 5.4).
    let association = world.ends[1].association(server).unwrap();
    let unproven: Vec<PathState> = (0..association.path_count())
        .filter_map(|path| association.path(path))
        .filter(|path| path.remote == Address(CLIENT[0]))
        .map(|path| path.state)
        .collect();
    assert_eq!(unproven, [PathState::Unconfirmed]);
}

#[test]
fn section_9_2_a_shutdown_finds_the_other_path() {
    for config in [Config::default(), potentially_failed()] {
        let mut duo = Duo::new(config);
        duo.send(0);
        duo.send(1);
        duo.world.run_ms(500);
        duo.cut(&PATH[0]);
        duo.world
            .with(0, duo.client, |now, association| association.shutdown(now));
        duo.world.run_ms(20_000);
        for end in [0, 1] {
            let news = duo.news(end);
            assert_eq!(
                news.last().map(|(_, event)| event),
                Some(&Event::ShutdownComplete)
            );
            assert_eq!(duo.world.ends[end].association_count(), 0);
        }
        duo.assert_delivered(0);
        duo.assert_delivered(1);
    }
}

#[test]
fn paths_that_fail_by_turns_lose_nothing_either_way() {
    for config in [Config::default(), potentially_failed()] {
        let mut duo = Duo::new(config);
        for round in 0..6 {
            let (dead, one_way) = (round % 2, round % 3 == 2);
            duo.cut(if one_way {
                &PATH[dead][..1]
            } else {
                &PATH[dead]
            });
            for _ in 0..30 {
                duo.talk(0, 1, 100);
                duo.talk(1, 1, 100);
            }
            duo.cut(&[]);
            duo.talk(0, 10, 100);
        }
        duo.world.run_ms(120_000);
        duo.assert_delivered(0);
        duo.assert_delivered(1);
    }
}
