use super::*;

const N: usize = 1_000_000;

fn fates(config: &LossConfig, seed: u64, n: usize) -> Vec<bool> {
    let mut loss = Loss::new(config, Seed::new(seed));
    (0..n).map(|_| loss.next()).collect()
}

fn bernoulli(rate: f64, correlation: f64, generator: LossGenerator) -> LossConfig {
    LossConfig::Bernoulli {
        rate,
        correlation,
        generator,
    }
}

fn rate(fates: &[bool]) -> f64 {
    fates.iter().filter(|&&lost| lost).count() as f64 / fates.len() as f64
}

fn lag1(fates: &[bool]) -> f64 {
    let p = rate(fates);
    let both = fates.windows(2).filter(|w| w[0] && w[1]).count() as f64;
    (both / (fates.len() - 1) as f64 - p * p) / (p * (1.0 - p))
}

/// Correlation of the indicators of two standard normal variates below the same
/// quantile, themselves correlated by `rho`: the joint probability integrated
/// by Simpson's rule.
fn copula_lag1(p: f64, rho: f64) -> f64 {
    let threshold = normal::quantile(p);
    let (low, steps) = (-10.0, 4000);
    let width = (threshold - low) / f64::from(steps);
    let joint: f64 = (0..=steps)
        .map(|i| {
            let z = low + f64::from(i) * width;
            let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * core::f64::consts::PI);
            let below = normal::cumulative((threshold - rho * z) / libm::sqrt(1.0 - rho * rho));
            let weight = match i {
                0 => 1.0,
                i if i == steps => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * density * below
        })
        .sum::<f64>()
        * width
        / 3.0;
    (joint - p * p) / (p * (1.0 - p))
}

/// Every generator keeps the rate at every correlation, and has the correlation
/// that it promises. The tolerance is five standard deviations of the mean of
/// correlated indicators: an autocorrelation rho^k stretches the variance by at
/// most (1 + rho) / (1 - rho).
#[test]
fn rates_and_correlations_of_bernoulli_losses() {
    for generator in [LossGenerator::Markov, LossGenerator::Copula] {
        for rho in [0.0, 0.5, 0.8] {
            for p in [0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08] {
                let drawn = fates(&bernoulli(p, rho, generator), 2007, N);
                let deviation = (p * (1.0 - p) / N as f64 * (1.0 + rho) / (1.0 - rho)).sqrt();
                let measured = rate(&drawn);
                assert!(
                    (measured - p).abs() < 5.0 * deviation,
                    "{generator:?} rho {rho} p {p}: rate {measured}"
                );
                let expected = match generator {
                    LossGenerator::Markov => rho,
                    LossGenerator::Copula => copula_lag1(p, rho),
                };
                // A joint count of some N p (p + rho) pairs, clustered.
                let tolerance = 5.0 * (3.0 / (N as f64 * p)).sqrt();
                assert!(
                    (lag1(&drawn) - expected).abs() < tolerance,
                    "{generator:?} rho {rho} p {p}: lag 1 {} not {expected}",
                    lag1(&drawn)
                );
            }
        }
    }
}

#[test]
fn the_copulas_indicators_are_correlated_less_than_its_variate() {
    // Against values of the bivariate normal distribution worked out apart:
    // without correlation none, and at the median Sheppard's 2 asin(rho) / pi.
    assert!(copula_lag1(0.02, 0.0).abs() < 1e-9);
    let sheppard = 2.0 * 0.8f64.asin() / core::f64::consts::PI;
    assert!((copula_lag1(0.5, 0.8) - sheppard).abs() < 1e-6);
    assert!(copula_lag1(0.02, 0.8) < 0.5);
}

#[test]
fn certain_and_impossible_losses() {
    for generator in [LossGenerator::Markov, LossGenerator::Copula] {
        for rho in [0.0, 0.8] {
            assert_eq!(
                rate(&fates(&bernoulli(0.0, rho, generator), 1, 10_000)),
                0.0
            );
            assert_eq!(
                rate(&fates(&bernoulli(1.0, rho, generator), 1, 10_000)),
                1.0
            );
        }
    }
    assert_eq!(rate(&fates(&LossConfig::Lossless {}, 1, 10_000)), 0.0);
}

#[test]
fn a_higher_rate_loses_the_same_packets_and_more() {
    let few = fates(&bernoulli(0.01, 0.0, LossGenerator::Markov), 3, 100_000);
    let more = fates(&bernoulli(0.04, 0.0, LossGenerator::Markov), 3, 100_000);
    assert!(few.iter().zip(&more).all(|(few, more)| !few || *more));
    assert!(rate(&more) > rate(&few));
}

#[test]
fn gilbert_elliott_keeps_its_stationary_rate_and_burst_length() {
    let config = LossConfig::GilbertElliott {
        good_to_bad: 0.01,
        bad_to_good: 0.25,
        loss_good: 0.001,
        loss_bad: 0.6,
    };
    // Bad share 0.01 / 0.26, so the rate is 0.001 + 0.599 / 26; successive
    // states are correlated by 1 - 0.26.
    let expected = 0.001 + 0.599 / 26.0;
    let measured = rate(&fates(&config, 11, N));
    let deviation = (expected / N as f64 * (1.74 / 0.26)).sqrt();
    assert!((measured - expected).abs() < 5.0 * deviation, "{measured}");

    // With losses exactly in the bad state a burst lasts 1 / bad_to_good packets.
    let config = LossConfig::GilbertElliott {
        good_to_bad: 0.01,
        bad_to_good: 0.25,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    let drawn = fates(&config, 11, N);
    let bursts = drawn.windows(2).filter(|w| !w[0] && w[1]).count() as f64;
    let length = rate(&drawn) * N as f64 / bursts;
    // Geometric with mean 4: standard deviation sqrt(12) over some 9600 bursts.
    assert!(
        (length - 4.0).abs() < 5.0 * (12.0 / bursts).sqrt(),
        "{length}"
    );
}

#[test]
fn a_frozen_chain_stays_good() {
    let config = LossConfig::GilbertElliott {
        good_to_bad: 0.0,
        bad_to_good: 0.0,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    assert_eq!(rate(&fates(&config, 1, 10_000)), 0.0);
}

#[test]
fn a_trace_repeats() {
    let config = LossConfig::Trace {
        lost: vec![0, 1, 1],
    };
    let drawn = fates(&config, 1, 7);
    assert_eq!(drawn, [false, true, true, false, true, true, false]);
}

/// The first fates of each generator, for ever: a change here changes results.
#[test]
fn lost_packets_of_one_seed() {
    let table: Vec<(&str, Vec<usize>)> = [
        ("bernoulli", bernoulli(0.05, 0.0, LossGenerator::Markov)),
        ("markov", bernoulli(0.05, 0.8, LossGenerator::Markov)),
        ("copula", bernoulli(0.05, 0.8, LossGenerator::Copula)),
    ]
    .iter()
    .map(|(name, config)| {
        let drawn = fates(config, 42, 120);
        (*name, (0..120).filter(|&i| drawn[i]).collect())
    })
    .collect();
    assert_eq!(
        table,
        [
            ("bernoulli", BERNOULLI.to_vec()),
            ("markov", MARKOV.to_vec()),
            ("copula", COPULA.to_vec()),
        ]
    );
}
const BERNOULLI: &[usize] = &[5, 14, 40, 71, 81, 93, 95, 103];
const MARKOV: &[usize] = &[
    70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85,
];
const COPULA: &[usize] = &[63, 64, 65, 66, 67, 68, 69, 70, 71];
