//! A named number.

/// One metric of one run. The unit is in the name: `_s` seconds, `_bytes`,
/// `_bps`; plain names are counts, and `_share` and `_loss` are ratios.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Metric {
    /// Its column.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
}

/// The value of a metric.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A count.
    Count(u64),
    /// Anything else; `None` where the run does not define it.
    Real(Option<f64>),
}

impl Metric {
    /// A count.
    #[must_use]
    pub fn count(name: &'static str, n: u64) -> Self {
        Self {
            name,
            value: Value::Count(n),
        }
    }

    /// A real number; one that is not finite counts as undefined.
    #[must_use]
    pub fn real(name: &'static str, x: f64) -> Self {
        Self {
            name,
            value: Value::Real(x.is_finite().then_some(x)),
        }
    }

    /// A real number that may be undefined.
    #[must_use]
    pub fn maybe(name: &'static str, x: Option<f64>) -> Self {
        Self {
            name,
            value: Value::Real(x.filter(|x| x.is_finite())),
        }
    }
}
