//! The E-model: how a conversation is rated from its delay and its losses
//! (ITU-T Recommendation G.107, 2015).
//!
//! Every parameter that is not named here has the default of Table 3 of the
//! Recommendation, with which a connection without delay and loss is rated 93.2.

use headway_apps::media::Codec;

/// Equipment impairment factor Ie and packet-loss robustness Bpl (ITU-T G.113,
/// Appendix I).
fn impairment(codec: Codec) -> (f64, f64) {
    match codec {
        Codec::G711 => (0.0, 4.3),
        Codec::G711Plc => (0.0, 25.1),
        Codec::G729a => (11.0, 19.0),
    }
}

// Defaults of Table 3: send and receive loudness rating, sidetone masking and
// listener sidetone rating, D-values, echo losses, noises in dBm0p and dB(A).
const SLR: f64 = 8.0;
const RLR: f64 = 2.0;
const STMR: f64 = 15.0;
const LSTR: f64 = 18.0;
const DS: f64 = 3.0;
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
const QDU: f64 = 1.0;
const NC: f64 = -70.0;
const NFOR: f64 = -64.0;
const PS: f64 = 35.0;
const PR: f64 = 35.0;

fn power(level: f64) -> f64 {
    libm::pow(10.0, level / 10.0)
}

fn level(power: f64) -> f64 {
    10.0 * libm::log10(power)
}

/// The transmission rating R of a connection with the one-way delay `delay_s`
/// from mouth to ear, in seconds, which loses the share `loss` of its packets at
/// random.
#[must_use]
pub fn rating(codec: Codec, delay_s: f64, loss: f64) -> f64 {
    let t = delay_s * 1e3;
    let noise = noise();
    // Clause 7.2.
    let basic = 15.0 - 1.5 * (SLR + noise);
    let (ie, bpl) = impairment(codec);
    let ppl = 100.0 * loss;
    // Clause 7.5, with losses at random: BurstR = 1.
    let equipment = ie + (95.0 - ie) * ppl / (ppl + bpl);
    basic - simultaneous(t, noise, basic) - delay(t, noise, basic) - equipment
}

/// Clause 7.2: sum of the noises at the receiving side.
fn noise() -> f64 {
    let olr = SLR + RLR;
    let nos = PS - SLR - DS - 100.0 + 0.004 * libm::pow(PS - olr - DS - 14.0, 2.0);
    let pre = PR + level(1.0 + power(10.0 - LSTR));
    let nor = RLR - 121.0 + pre + 0.008 * libm::pow(pre - 35.0, 2.0);
    level(power(NC) + power(nos) + power(nor) + power(NFOR + RLR))
}

/// Clause 7.3: impairments at the same time as the voice.
fn simultaneous(t: f64, noise: f64, basic: f64) -> f64 {
    let x = SLR + RLR + 0.2 * (64.0 + noise - RLR);
    let loudness = 20.0 * (norm(x / 8.0, 8.0) - x / 8.0);
    let sidetone = -level(power(-STMR) + libm::exp(-t / 4.0) * power(-TELR));
    let sidetone = 12.0 * norm((sidetone - 13.0) / 6.0, 8.0)
        - 28.0 * norm((sidetone + 1.0) / 19.4, 35.0)
        - 13.0 * norm((sidetone - 3.0) / 33.0, 13.0)
        + 29.0;
    let q = 37.0 - 15.0 * libm::log10(QDU);
    let g = 1.07 + 0.258 * q + 0.0602 * q * q;
    let y = (basic - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
    let z = 46.0 / 30.0 - g / 40.0;
    let quantising = 15.0 * libm::log10(1.0 + libm::pow(10.0, y) + libm::pow(10.0, z));
    loudness + sidetone + quantising
}

/// Clause 7.4: impairments by delay, in milliseconds: talker echo, listener
/// echo, and delay as such.
fn delay(t: f64, noise: f64, basic: f64) -> f64 {
    let terv = TELR - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0))
        + 6.0 * libm::exp(-0.3 * t * t);
    let roe = -1.5 * (noise - RLR);
    let re = 80.0 + 2.5 * (terv - 14.0);
    let talker = ((roe - re) / 2.0 + libm::sqrt(libm::pow(roe - re, 2.0) / 4.0 + 100.0) - 1.0)
        * (1.0 - libm::exp(-t));
    let rle = 10.5 * (WEPL + 7.0) * libm::pow(2.0 * t + 1.0, -0.25);
    let listener = (basic - rle) / 2.0 + libm::sqrt(libm::pow(basic - rle, 2.0) / 4.0 + 169.0);
    talker + listener + absolute(t)
}

/// Clause 7.4, equations 7-27 and 7-28: delay without any echo.
fn absolute(t: f64) -> f64 {
    if t <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(t / 100.0);
    25.0 * (norm(x, 6.0) - 3.0 * norm(x / 3.0, 6.0) + 2.0)
}

/// (1 + x^n)^(1/n).
fn norm(x: f64, n: f64) -> f64 {
    libm::pow(1.0 + libm::pow(x, n), 1.0 / n)
}

/// The mean opinion score that a rating stands for (Annex B, equation B-4).
#[must_use]
pub fn mean_opinion_score(r: f64) -> f64 {
    if r <= 0.0 {
        1.0
    } else if r >= 100.0 {
        4.5
    } else {
        1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, by: f64) {
        assert!((a - b).abs() <= by, "{a} for {b}");
    }

    #[test]
    fn the_defaults_are_rated_93_2() {
        // Clause 7.7 of the Recommendation.
        close(rating(Codec::G711, 0.0, 0.0), 93.2, 0.05);
        close(mean_opinion_score(93.2), 4.41, 0.005);
    }

    #[test]
    fn scores_of_annex_b() {
        // Table B.1: R 90, 80, 70, 60, 50.
        for (r, mos) in [
            (90.0, 4.34),
            (80.0, 4.03),
            (70.0, 3.60),
            (60.0, 3.10),
            (50.0, 2.58),
        ] {
            // The table rounds up.
            close(mean_opinion_score(r), mos, 0.01);
        }
    }

    #[test]
    fn delay_without_echo() {
        close(absolute(100.0), 0.0, 1e-12);
        close(absolute(200.0), 3.04, 0.01);
        close(absolute(400.0), 24.07, 0.01);
    }

    #[test]
    fn losses_cost_by_codec() {
        let drop = |codec, loss| rating(codec, 0.0, 0.0) - rating(codec, 0.0, loss);
        // Half of 95 where the loss in percent equals Bpl.
        close(drop(Codec::G711, 0.043), 47.5, 1e-9);
        close(drop(Codec::G711Plc, 0.251), 47.5, 1e-9);
        close(
            rating(Codec::G711, 0.0, 0.0) - rating(Codec::G729a, 0.0, 0.0),
            11.0,
            1e-9,
        );
    }

    #[test]
    fn more_delay_is_never_better() {
        let ratings: Vec<f64> = (0..200)
            .map(|i| rating(Codec::G711Plc, f64::from(i) * 0.005, 0.01))
            .collect();
        // Sidetone and talker echo cross within the first milliseconds.
        assert!(ratings.windows(2).skip(2).all(|w| w[1] <= w[0] + 1e-9));
    }
}
