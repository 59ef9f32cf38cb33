//! A network that does to each packet what chance says, for property tests.

use headway_sansio::{Chance, Duration, Seed};
use proptest::prelude::*;

use super::{DELAY, Wire};

/// What the network does to each packet, each way.
#[derive(Clone, Debug)]
pub struct Weather {
    pub seed: u64,
    pub loss: f64,
    pub duplication: f64,
    pub reordering: f64,
}

impl Weather {
    pub fn wire(&self) -> Wire {
        let mut random = Seed::new(self.seed).stream("weather");
        let loss = Chance::new(self.loss);
        let duplication = Chance::new(self.duplication);
        let reordering = Chance::new(self.reordering);
        Box::new(move |_, _, _| {
            let copies = usize::from(!random.happens(loss));
            let copies = copies + usize::from(random.happens(duplication));
            (0..copies)
                .map(|_| {
                    let late = random.happens(reordering);
                    let extra = Duration::from_micros(random.below(60_000));
                    DELAY + if late { extra } else { Duration::ZERO }
                })
                .collect()
        })
    }
}

/// Any weather with at most so much loss and so much duplication.
pub fn weather(loss: f64, duplication: f64) -> impl Strategy<Value = Weather> {
    (any::<u64>(), 0.0..loss, 0.0..duplication, 0.0..0.3).prop_map(
        |(seed, loss, duplication, reordering)| Weather {
            seed,
            loss,
            duplication,
            reordering,
        },
    )
}
