//! Symbol errors of the four modulations over the SNR.
//!
//! The SNR is that of the receiver in 22 MHz, so that Eb/N0 = SNR * 22 / R with
//! R in Mb/s. Symbols fail independently. The curves are those that the ns-3
//! simulator uses for DSSS (its model `dsss-error-rate-model`, after G. Pei and
//! T. Henderson); arithmetic is that of a software library, so that every
//! machine gets the same bits.
//!
//! * 1 Mb/s, DBPSK: bit error exp(-x) / 2 with x = Eb/N0.
//! * 2 Mb/s, DQPSK: bit error (sqrt 2 + 1) / sqrt(8 pi sqrt 2) *
//!   x^(-1/2) * exp(-(2 - sqrt 2) x).
//! * 5.5 and 11 Mb/s, CCK: biorthogonal signalling with 8 waveforms. With
//!   I(b) = 1 - integral from -b of (2 Phi(x + b) - 1)^7 phi(x) dx, a symbol of
//!   4 bits fails with I(sqrt(4 x)), and one of 8 bits with
//!   1 - (1 - I(sqrt(4 x)))^2, each with its own x.

use core::f64::consts::{FRAC_1_SQRT_2, LN_10, PI, SQRT_2};
use std::sync::OnceLock;

use super::timing::Rate;

/// Bits of one symbol, as far as errors go.
const fn bits_per_symbol(rate: Rate) -> f64 {
    match rate {
        Rate::Mbps1 | Rate::Mbps2 => 1.0,
        Rate::Mbps5_5 => 4.0,
        Rate::Mbps11 => 8.0,
    }
}

/// The probability that a frame of `bytes` bytes at `rate` is received wrongly
/// at a receiver SNR of `snr_db`. Preamble and header are not counted.
#[must_use]
pub fn frame_error(rate: Rate, snr_db: f64, bytes: u32) -> f64 {
    let symbols = f64::from(bytes) * 8.0 / bits_per_symbol(rate);
    -libm::expm1(symbols * ln_symbol_success(rate, snr_db))
}

/// Natural logarithm of the probability that one symbol is right: 0 where
/// nothing goes wrong, never above.
fn ln_symbol_success(rate: Rate, snr_db: f64) -> f64 {
    let snr = libm::exp(snr_db * (LN_10 / 10.0));
    match rate {
        Rate::Mbps1 => libm::log1p(-0.5 * libm::exp(-22.0 * snr)),
        Rate::Mbps2 => libm::log1p(-dqpsk_bit_error(11.0 * snr)),
        Rate::Mbps5_5 => libm::log1p(-cck_error(libm::sqrt(4.0 * 4.0 * snr))),
        // Two independent halves: twice the logarithm.
        Rate::Mbps11 => 2.0 * libm::log1p(-cck_error(libm::sqrt(4.0 * 2.0 * snr))),
    }
}

fn dqpsk_bit_error(ebn0: f64) -> f64 {
    let factor = (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2);
    let error = factor / libm::sqrt(ebn0) * libm::exp(-(2.0 - SQRT_2) * ebn0);
    // The approximation leaves the range of probabilities far below any SNR of use.
    error.min(0.5)
}

/// Steps of the table of I(b) for each unit of b.
const STEPS: f64 = 64.0;
/// Where the table ends: I(9) is below 1e-8 and falls like exp(-b^2 / 4).
const LAST: usize = 14 * 64;

/// I(b), from a table of its logarithm. That is nearly a parabola of curvature
/// 1/2, so linear interpolation is good to 2e-5 of the value.
fn cck_error(b: f64) -> f64 {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        (0..=LAST)
            .map(|step| libm::log(cck_error_integral(step as f64 / STEPS)))
            .collect()
    });
    let at = b * STEPS;
    if at >= LAST as f64 {
        return 0.0;
    }
    let index = at as usize;
    let part = at - index as f64;
    libm::exp(table[index] + (table[index + 1] - table[index]) * part)
}

/// I(b) by Simpson's rule. Written as Phi(-b) plus the integral of
/// (1 - (2 Phi - 1)^7) phi, which loses no digits where I is small.
fn cck_error_integral(b: f64) -> f64 {
    const INTERVALS: u32 = 200;
    // Beyond 9 standard deviations the density is below 1e-18.
    let (low, high) = ((-b).max(-9.0), 9.0);
    let step = (high - low) / f64::from(INTERVALS);
    let integrand = |x: f64| {
        let wrong = libm::erfc((x + b) * FRAC_1_SQRT_2);
        let density = libm::exp(-0.5 * x * x) / libm::sqrt(2.0 * PI);
        // At x = -b the other waveforms win for sure: log1p(-1) is -inf, and
        // expm1 of it -1.
        -libm::expm1(7.0 * libm::log1p(-wrong)) * density
    };
    let weighted: f64 = (0..=INTERVALS)
        .map(|i| {
            let weight = match i {
                0 | INTERVALS => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * integrand(low + f64::from(i) * step)
        })
        .sum();
    let below = 0.5 * libm::erfc(b * FRAC_1_SQRT_2);
    (below + weighted * step / 3.0).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SNR at which a frame is lost with probability `p`.
    fn snr_at(rate: Rate, bytes: u32, p: f64) -> f64 {
        let (mut low, mut high) = (-20.0, 30.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if frame_error(rate, middle, bytes) > p {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// SNR at a frame error probability of 0.1, 0.5 and 0.9, by frame length and rate.
    type Table = [(u32, [[f64; 3]; 4]); 3];

    /// Evaluated from the same formulas with adaptive quadrature (SciPy).
    const QUADRATURE: Table = [
        (
            60,
            [
                [-4.542, -5.754, -6.751],
                [-0.077, -1.458, -2.603],
                [2.59, 1.32, 0.248],
                [5.601, 4.331, 3.258],
            ],
        ),
        (
            932,
            [
                [-3.223, -4.084, -4.738],
                [1.404, 0.439, -0.299],
                [3.946, 3.063, 2.387],
                [6.956, 6.073, 5.397],
            ],
        ),
        (
            1528,
            [
                [-3.023, -3.841, -4.457],
                [1.627, 0.713, 0.019],
                [4.15, 3.313, 2.679],
                [7.161, 6.323, 5.689],
            ],
        ),
    ];

    /// The table that the project's sources hold, printed to tenths from a grid
    /// of its own: two of its entries lie 0.052 and 0.054 dB from the quadrature.
    const PRINTED: Table = [
        (
            60,
            [
                [-4.5, -5.8, -6.8],
                [-0.1, -1.5, -2.6],
                [2.6, 1.3, 0.3],
                [5.6, 4.3, 3.3],
            ],
        ),
        (
            932,
            [
                [-3.2, -4.1, -4.7],
                [1.4, 0.4, -0.3],
                [4.0, 3.1, 2.4],
                [7.0, 6.1, 5.4],
            ],
        ),
        (
            1528,
            [
                [-3.0, -3.8, -4.5],
                [1.6, 0.7, 0.0],
                [4.2, 3.3, 2.7],
                [7.2, 6.3, 5.7],
            ],
        ),
    ];

    #[test]
    fn curves_meet_the_check_tables() {
        for (table, tolerance) in [(QUADRATURE, 0.000_9), (PRINTED, 0.055)] {
            for (bytes, rows) in table {
                for (rate, row) in Rate::ALL.into_iter().zip(rows) {
                    for (p, expected) in [0.1, 0.5, 0.9].into_iter().zip(row) {
                        let snr = snr_at(rate, bytes, p);
                        assert!(
                            (snr - expected).abs() <= tolerance,
                            "{bytes} B, {rate:?}, {p}: {snr} instead of {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn errors_are_probabilities_and_fall_with_the_snr() {
        for rate in Rate::ALL {
            let mut before = 1.0;
            for tenth in -400..400 {
                let error = frame_error(rate, f64::from(tenth) / 10.0, 964);
                assert!((0.0..=1.0).contains(&error), "{rate:?} {tenth}: {error}");
                assert!(error <= before, "{rate:?} {tenth}: {error} after {before}");
                before = error;
            }
            assert_eq!(before, 0.0);
        }
    }

    #[test]
    fn the_table_follows_the_integral() {
        for hundredth in 0..1200 {
            let b = f64::from(hundredth) * 0.01 + 0.0051;
            let (table, integral) = (cck_error(b), cck_error_integral(b));
            let off = (table / integral - 1.0).abs();
            assert!(off < 3e-5, "{b}: {table} instead of {integral}");
        }
    }
}
