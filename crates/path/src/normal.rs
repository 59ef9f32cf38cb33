//! The normal distribution, from a software library: the same bits everywhere.

/// The probability that a standard normal variate lies below `z`.
pub(crate) fn cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z * core::f64::consts::FRAC_1_SQRT_2)
}

/// The `z` below which a standard normal variate lies with probability `p`;
/// infinite at 0 and 1.
///
/// Bisected, because it runs once for each link and then needs neither tables
/// of coefficients nor care in the tails.
pub(crate) fn quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    // Beyond 39 standard deviations nothing is left in double precision.
    let (mut low, mut high) = (-39.0, 39.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if cumulative(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_tabulated_ones() {
        for (p, z) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.02, -2.053_748_910_631_823),
            (0.005, -2.575_829_303_548_901),
        ] {
            assert!((quantile(p) - z).abs() < 1e-12, "{p}: {}", quantile(p));
        }
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
    }
}
