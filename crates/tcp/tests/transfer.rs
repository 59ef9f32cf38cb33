//! Whole connections: handshake, transfer, end.

mod pair;

use headway_sansio::{Duration, Payload, Time};
use headway_tcp::{Config, Event, Profile, State};
use pair::{Fate, Pair, Way};

const ONE_WAY: Duration = Duration::from_millis(50);

fn pair(profile: Profile) -> Pair {
    let mut config = profile.config();
    config.send_buffer_bytes = 1 << 30;
    Pair::new(config.clone(), config, ONE_WAY)
}

#[test]
fn opens_carries_and_closes_on_every_profile() {
    for profile in Profile::ALL {
        let mut pair = pair(profile).connected();
        assert_eq!(pair.now, Time::ZERO + ONE_WAY * 3, "three one-way delays");
        assert_eq!(pair.client_events, [Event::Connected]);
        pair.encode = true;
        let text: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
        for piece in text.chunks(1000) {
            assert_eq!(pair.write(Payload::from(piece.to_vec())), piece.len());
        }
        pair.client.close(pair.now);
        pair.run_for(Duration::from_secs(20));
        let got: Vec<u8> = pair
            .to_server
            .iter()
            .flat_map(|p| p.as_bytes().unwrap().to_vec())
            .collect();
        assert_eq!(got, text, "{}", profile.name());
        assert_eq!(pair.server.state(), State::CloseWait);
        assert_eq!(pair.client.state(), State::FinWait2);
        assert_eq!(pair.client.stats().retransmissions, 0);
        pair.server.close(pair.now);
        pair.run_for(Duration::from_secs(1));
        assert_eq!(pair.server.state(), State::Closed);
        assert_eq!(pair.client.state(), State::TimeWait);
        pair.run_for(Duration::from_secs(300));
        assert_eq!(pair.client.state(), State::Closed);
        assert!(pair.server_events.contains(&Event::PeerClosed));
        assert!(pair.next_at().is_none(), "nothing is left to do");
    }
}

#[test]
fn a_lost_syn_is_sent_again_and_the_window_starts_at_one() {
    for lost in [Way::Forth, Way::Back] {
        let mut count = 0;
        let mut pair = pair(Profile::Rfc)
            .with_fate(move |way, _| {
                count += u32::from(way == lost);
                if way == lost && count == 1 {
                    Fate::Drop
                } else {
                    Fate::Deliver
                }
            })
            .connected();
        assert!(pair.now >= Time::ZERO + Duration::from_secs(1));
        let lossy = if lost == Way::Forth {
            &pair.client
        } else {
            &pair.server
        };
        assert_eq!(lossy.cwnd_segments(), 1);
        pair.write(Payload::Sized(5000));
        pair.run_for(Duration::from_secs(5));
        assert_eq!(pair.received(), 5000);
    }
}

#[test]
fn the_send_buffer_refuses_what_does_not_fit() {
    let config = Config {
        send_buffer_bytes: 10_000,
        ..Config::default()
    };
    let mut pair = Pair::new(config, Config::default(), ONE_WAY).connected();
    assert_eq!(pair.write(Payload::Sized(8000)), 8000);
    assert_eq!(pair.write(Payload::Sized(8000)), 2000);
    assert_eq!(pair.client.stats().bytes_refused, 6000);
    pair.run_for(Duration::from_secs(1));
    assert!(pair.client_events.contains(&Event::Writable));
    assert_eq!(pair.received(), 10_000);
    assert_eq!(pair.client.buffered_bytes(), 0);
}

#[test]
fn a_reader_that_stops_closes_the_window_and_probes_open_it() {
    for profile in Profile::ALL {
        let mut config = profile.config();
        config.receive_buffer_bytes = 20_000;
        config.send_buffer_bytes = 1 << 20;
        let mut lost_update = false;
        let mut pair = Pair::new(config.clone(), config, ONE_WAY).connected();
        pair.reads = false;
        pair.write(Payload::Sized(100_000));
        pair.run_for(Duration::from_secs(30));
        assert!(pair.server.readable_bytes() <= 20_000);
        assert!(pair.server.readable_bytes() > 17_000, "{}", profile.name());
        assert!(pair.client.stats().window_probes > 0);
        // The update after the first read is lost; only a probe finds the room.
        pair.set_fate(move |way, segment| {
            if way == Way::Back && segment.window > 0 && !lost_update {
                lost_update = true;
                return Fate::Drop;
            }
            Fate::Deliver
        });
        pair.reads = true;
        pair.run_for(Duration::from_secs(400));
        assert_eq!(pair.received(), 100_000, "{}", profile.name());
    }
}

#[test]
fn refused_reset_and_given_up() {
    let mut pair = pair(Profile::Linux2611);
    pair.server.abort(pair.now);
    pair.run_for(Duration::from_secs(1));
    assert_eq!(pair.client.state(), State::Closed);
    assert!(pair.client_events.contains(&Event::Reset));

    let mut pair = self::pair(Profile::Linux2611).connected();
    pair.server.abort(pair.now);
    pair.run_for(Duration::from_secs(1));
    assert!(pair.client_events.contains(&Event::Reset));

    let mut pair = self::pair(Profile::Linux2611).connected();
    pair.set_fate(|_, _| Fate::Drop);
    pair.write(Payload::Sized(1));
    pair.run_for(Duration::from_secs(3600));
    assert!(pair.client_events.contains(&Event::TimedOut));
    assert_eq!(pair.client.stats().timeouts, 16);
}

#[test]
fn both_open_at_once() {
    let config = Config::default();
    let seed = headway_sansio::Seed::new(1);
    let open = |name, from, to| {
        headway_tcp::Connection::connect(
            Time::ZERO,
            config.clone(),
            &mut seed.stream(name),
            from,
            to,
        )
    };
    let (mut a, mut b) = (open("a", 1, 2), open("b", 2, 1));
    for _ in 0..4 {
        let from_a: Vec<_> = std::iter::from_fn(|| a.poll_transmit()).collect();
        let from_b: Vec<_> = std::iter::from_fn(|| b.poll_transmit()).collect();
        from_a.iter().for_each(|s| b.handle_input(Time::ZERO, s));
        from_b.iter().for_each(|s| a.handle_input(Time::ZERO, s));
    }
    assert_eq!(
        (a.state(), b.state()),
        (State::Established, State::Established)
    );
}
