//! Losses: every profile and every way of recovery delivers each byte once and
//! in order, whatever the network does.

mod pair;

use headway_sansio::{Chance, Duration, Payload, Seed, Time};
use headway_tcp::{Config, Overrides, Profile, Recovery, Reduction, SackDetection};
use pair::{Fate, Pair, Way};
use proptest::prelude::*;

fn noisy(pair: Pair, seed: u64, loss: f64, reorder: f64, duplicate: f64) -> Pair {
    let mut random = Seed::new(seed).stream("noise");
    pair.with_fate(move |_, _| {
        let late = Duration::from_micros(random.below(60_000));
        if random.happens(Chance::new(loss)) {
            Fate::Drop
        } else if random.happens(Chance::new(reorder)) {
            Fate::Late(late)
        } else if random.happens(Chance::new(duplicate)) {
            Fate::Twice(late)
        } else {
            Fate::Deliver
        }
    })
}

/// Sends `bytes` in `writes` pieces through a noisy wire, encoded.
fn transfer(config: Config, seed: u64, noise: (f64, f64, f64), bytes: u32, piece: usize) {
    let mut config = config;
    config.max_retransmissions = 0;
    config.send_buffer_bytes = 1 << 30;
    let pair = Pair::new(config.clone(), config.clone(), Duration::from_millis(20));
    let mut pair = noisy(pair, seed, noise.0, noise.1, noise.2).connected();
    pair.encode = true;
    let text: Vec<u8> = (0..bytes).map(|i| (i * 7 % 253) as u8).collect();
    for part in text.chunks(piece) {
        // Spread out, so that application limits come into play.
        pair.write(Payload::from(part.to_vec()));
        pair.run_for(Duration::from_millis(3));
    }
    pair.client.close(pair.now);
    pair.run_until(Time::ZERO + Duration::from_secs(200_000));
    let got: Vec<u8> = pair
        .to_server
        .iter()
        .flat_map(|p| p.as_bytes().unwrap().to_vec())
        .collect();
    assert!(got == text, "got {} of {} bytes", got.len(), text.len());
    assert_eq!(pair.client.unsent_bytes(), 0);
    assert_eq!(pair.client.buffered_bytes(), 0, "everything acknowledged");
}

fn recoveries() -> impl Strategy<Value = (Recovery, SackDetection, Reduction)> {
    (
        prop::sample::select(vec![
            Recovery::Reno,
            Recovery::NewReno,
            Recovery::Sack,
            Recovery::RackTlp,
        ]),
        prop::sample::select(vec![
            SackDetection::Rfc6675,
            SackDetection::Segments,
            SackDetection::Fack,
            SackDetection::Holes,
        ]),
        prop::sample::select(vec![
            Reduction::Immediate,
            Reduction::RateHalving,
            Reduction::PrrCrb,
            Reduction::PrrSsrb,
            Reduction::OneSegment,
        ]),
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_profile_delivers_every_byte_once(
        profile in prop::sample::select(Profile::ALL.to_vec()),
        seed in any::<u64>(),
        loss in 0.0..0.3_f64,
        reorder in 0.0..0.3_f64,
        duplicate in 0.0..0.3_f64,
        piece in 20_usize..4000,
    ) {
        transfer(profile.config(), seed, (loss, reorder, duplicate), 60_000, piece);
    }

    #[test]
    fn every_way_of_recovery_delivers_every_byte_once(
        profile in prop::sample::select(Profile::ALL.to_vec()),
        (recovery, sack_detection, reduction) in recoveries(),
        sack in any::<bool>(),
        frto in any::<bool>(),
        coalesce in any::<bool>(),
        seed in any::<u64>(),
        loss in 0.0..0.3_f64,
        reorder in 0.0..0.3_f64,
    ) {
        let overrides = Overrides {
            recovery: Some(recovery),
            sack_detection: Some(sack_detection),
            reduction: Some(reduction),
            sack: Some(sack),
            frto: Some(frto),
            coalesce: Some(coalesce),
            ..Overrides::default()
        };
        let config = Config::new(profile, &overrides);
        transfer(config, seed, (loss, reorder, 0.1), 60_000, 700);
    }
}

#[test]
fn only_the_way_forth_or_back_is_lossy() {
    for profile in Profile::ALL {
        for lossy in [Way::Forth, Way::Back] {
            let mut config = profile.config();
            config.send_buffer_bytes = 1 << 30;
            let mut random = Seed::new(9).stream("loss");
            let mut pair = Pair::new(config.clone(), config, Duration::from_millis(20))
                .with_fate(move |way, _| {
                    if random.happens(Chance::new(0.05)) && way == lossy {
                        Fate::Drop
                    } else {
                        Fate::Deliver
                    }
                })
                .connected();
            pair.keep = false;
            pair.write(Payload::Sized(3_000_000));
            pair.run_for(Duration::from_secs(2_000));
            assert_eq!(pair.received(), 3_000_000, "{} {lossy:?}", profile.name());
        }
    }
}
