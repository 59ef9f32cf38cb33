use std::net::UdpSocket;

use nix::sys::signal::raise;

use super::*;

fn poller() -> Poller {
    Poller::new(Clock::start()).unwrap()
}

/// Waits until a time and tells how late each wake-up was.
fn lateness(poller: &mut Poller, wait: Duration, rounds: usize) -> Vec<Duration> {
    (0..rounds)
        .map(|_| {
            let until = poller.clock().now() + wait;
            loop {
                assert_eq!(poller.wait(Some(until)).unwrap(), Woken::Awake);
                let now = poller.clock().now();
                if now >= until {
                    return now.since(until);
                }
            }
        })
        .collect()
}

/// Lets the poller find out how long this machine takes to wake up.
fn practised() -> Poller {
    let mut poller = poller();
    lateness(&mut poller, Duration::from_micros(400), 500);
    poller
}

#[test]
fn wakes_on_time() {
    // The lower quartile is the timer's own error; what is slower waited for
    // other programs on the machine to give up a processor.
    let mut poller = practised();
    for (wait, rounds) in [
        (Duration::from_micros(200), 500),
        (Duration::from_millis(20), 50),
    ] {
        let mut late = lateness(&mut poller, wait, rounds);
        late.sort_unstable();
        let quartile = late[rounds / 4];
        assert!(quartile <= Duration::from_micros(100), "{wait:?}: {late:?}");
    }
}

#[test]
fn a_long_wait_is_as_exact_as_a_short_one() {
    // The time-out of epoll_wait itself would slip by 0.1 %, 500 us here.
    let late = lateness(&mut practised(), Duration::from_millis(500), 6);
    assert!(
        late.iter().min() <= Some(&Duration::from_micros(100)),
        "{late:?}"
    );
}

#[test]
fn the_lead_settles_where_one_wake_up_of_ten_is_later() {
    let mut lead = Lead::default();
    let micros = Duration::from_micros;
    for round in 0..5_000 {
        // Nine of ten wake-ups take 10 to 90 us, one takes a millisecond.
        let late = match round % 10 {
            0 => micros(1_000),
            n => micros(n * 10),
        };
        lead.learn(late);
    }
    assert!((micros(85)..=micros(100)).contains(&lead.get()), "{lead:?}");
    for _ in 0..1_000 {
        lead.learn(micros(9_000));
    }
    assert_eq!(lead.get(), Lead::MOST);
    for _ in 0..1_000 {
        lead.learn(Duration::ZERO);
    }
    assert!(lead.get() <= Lead::STEP * 9);
}

#[test]
fn a_past_time_only_looks() {
    let mut poller = poller();
    let before = poller.clock().now();
    assert_eq!(poller.wait(Some(Time::ZERO)).unwrap(), Woken::Awake);
    assert!(poller.ready().is_empty());
    assert!(poller.clock().now().since(before) < Duration::from_secs(1));
}

#[test]
fn an_alarm_that_fired_does_not_wake_again() {
    let mut poller = poller();
    let until = poller.clock().now() + Duration::from_millis(1);
    while poller.clock().now() < until {
        poller.wait(Some(until)).unwrap();
    }
    let later = poller.clock().now() + Duration::from_millis(30);
    poller.wait(Some(later)).unwrap();
    assert!(poller.clock().now() >= later);
}

#[test]
fn a_socket_wakes_before_the_time() {
    let mut poller = poller();
    let (a, b) = (
        UdpSocket::bind("127.0.0.1:0").unwrap(),
        UdpSocket::bind("127.0.0.1:0").unwrap(),
    );
    poller.registry().add(&a, Token(7), Interest::Read).unwrap();
    b.send_to(b"x", a.local_addr().unwrap()).unwrap();
    let far = poller.clock().now() + Duration::from_secs(60);
    assert_eq!(poller.wait(Some(far)).unwrap(), Woken::Awake);
    let expected = Ready {
        token: Token(7),
        readable: true,
        writable: false,
    };
    assert_eq!(poller.ready(), [expected]);
    // It stays ready until it is read.
    poller.wait(Some(far)).unwrap();
    assert_eq!(poller.ready(), [expected]);
    let registry = poller.registry();
    registry.change(&a, Token(8), Interest::ReadWrite).unwrap();
    poller.wait(Some(far)).unwrap();
    assert!(poller.ready()[0].writable && poller.ready()[0].token == Token(8));
    registry.remove(&a).unwrap();
    let soon = poller.clock().now() + Duration::from_millis(1);
    poller.wait(Some(soon)).unwrap();
    assert!(poller.ready().is_empty());
}

#[test]
fn a_signal_asks_to_stop() {
    let mut poller = poller();
    poller.catch_stop_signals().unwrap();
    raise(Signal::SIGTERM).unwrap();
    let far = poller.clock().now() + Duration::from_secs(60);
    assert_eq!(poller.wait(Some(far)).unwrap(), Woken::Stop);
    // It asks once.
    let soon = poller.clock().now() + Duration::from_millis(1);
    assert_eq!(poller.wait(Some(soon)).unwrap(), Woken::Awake);
    raise(Signal::SIGINT).unwrap();
    assert_eq!(poller.wait(Some(far)).unwrap(), Woken::Stop);
}
