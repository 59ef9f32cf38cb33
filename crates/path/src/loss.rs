//! Loss processes: one fate for each packet offered.

use headway_sansio::{Chance, RandomStream, Seed};

use crate::config::{LossConfig, LossGenerator};
use crate::normal;

/// A loss process and its random stream.
///
/// Each kind draws the same number of times for each packet, whatever becomes
/// of it. Bernoulli and Markov losses draw once and compare: a packet lost at
/// one rate is lost at every higher rate from the same stream, as far as the
/// chain's state allows.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    process: Process,
    stream: RandomStream,
}

#[derive(Clone, Debug)]
enum Process {
    Lossless,
    Bernoulli(Chance),
    /// The chance after a packet that passed and after one that was lost.
    Markov {
        last_lost: bool,
        chances: [Chance; 2],
    },
    Copula {
        variate: f64,
        correlation: f64,
        innovation: f64,
        threshold: f64,
    },
    /// Both arrays: the good state, then the bad one.
    GilbertElliott {
        bad: bool,
        leave: [Chance; 2],
        lose: [Chance; 2],
    },
    Trace {
        lost: Box<[bool]>,
        next: usize,
    },
}

impl Loss {
    pub(crate) fn new(config: &LossConfig, seed: Seed) -> Self {
        let mut stream = seed.stream("loss");
        let process = match config {
            LossConfig::Lossless {} => Process::Lossless,
            LossConfig::Bernoulli {
                rate,
                correlation,
                generator,
            } => bernoulli(*rate, *correlation, *generator, &mut stream),
            LossConfig::GilbertElliott {
                good_to_bad,
                bad_to_good,
                loss_good,
                loss_bad,
            } => {
                let leaves = good_to_bad + bad_to_good;
                // A chain that never moves starts, and stays, in its good state.
                let bad_share = if leaves > 0.0 {
                    good_to_bad / leaves
                } else {
                    0.0
                };
                Process::GilbertElliott {
                    bad: stream.happens(Chance::new(bad_share)),
                    leave: [Chance::new(*good_to_bad), Chance::new(*bad_to_good)],
                    lose: [Chance::new(*loss_good), Chance::new(*loss_bad)],
                }
            }
            LossConfig::Trace { lost } => Process::Trace {
                lost: lost.iter().map(|&x| x != 0).collect(),
                next: 0,
            },
        };
        Self { process, stream }
    }

    /// Whether the next packet is lost.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> bool {
        match &mut self.process {
            Process::Lossless => false,
            Process::Bernoulli(chance) => self.stream.happens(*chance),
            Process::Markov { last_lost, chances } => {
                *last_lost = self.stream.happens(chances[usize::from(*last_lost)]);
                *last_lost
            }
            Process::Copula {
                variate,
                correlation,
                innovation,
                threshold,
            } => {
                let lost = *variate < *threshold;
                *variate = *correlation * *variate + *innovation * self.stream.normal();
                lost
            }
            Process::GilbertElliott { bad, leave, lose } => {
                let state = usize::from(*bad);
                let lost = self.stream.happens(lose[state]);
                *bad ^= self.stream.happens(leave[state]);
                lost
            }
            Process::Trace { lost, next } => {
                let fate = lost.get(*next).copied().unwrap_or(false);
                *next = if *next + 1 < lost.len() { *next + 1 } else { 0 };
                fate
            }
        }
    }
}

/// Bernoulli losses of the given rate and correlation.
fn bernoulli(rate: f64, rho: f64, generator: LossGenerator, stream: &mut RandomStream) -> Process {
    if rho == 0.0 {
        return Process::Bernoulli(Chance::new(rate));
    }
    match generator {
        // With P(lost | lost) - P(lost | passed) = rho the indicators have lag-1
        // correlation rho, and with these two values the rate is stationary:
        // p (p + rho (1 - p)) + (1 - p) p (1 - rho) = p. The state before the
        // first packet is drawn from the stationary distribution.
        LossGenerator::Markov => Process::Markov {
            last_lost: stream.happens(Chance::new(rate)),
            chances: [
                Chance::new(rate * (1.0 - rho)),
                Chance::new(rate + rho * (1.0 - rate)),
            ],
        },
        // z' = rho z + sqrt(1 - rho^2) N keeps z standard normal, so z lies
        // below the quantile of the rate exactly as often as the rate says.
        LossGenerator::Copula => Process::Copula {
            variate: stream.normal(),
            correlation: rho,
            innovation: libm::sqrt(1.0 - rho * rho),
            threshold: normal::quantile(rate),
        },
    }
}

#[cfg(test)]
mod tests;
