//! Quantities as people write them: `20ms`, `5 %`, `1Mb/s`, `85kB`.
//!
//! Units and meaning are those of study files. Whole quantities are read without
//! passing through binary fractions, so `0.1s` is exactly 100 000 000 ns.

use headway_sansio::Duration;

/// Units with what one of them is, as a number and a power of ten.
type Units = &'static [(&'static str, u64)];

const DURATIONS: Units = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const BIT_RATES: Units = &[
    ("b/s", 1),
    ("kb/s", 1_000),
    ("Mb/s", 1_000_000),
    ("Gb/s", 1_000_000_000),
    ("B/s", 8),
    ("kB/s", 8_000),
    ("MB/s", 8_000_000),
];
const SIZES: Units = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
];

/// A duration, such as `20ms`.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub fn duration(text: &str) -> Result<Duration, String> {
    whole(text, DURATIONS, "a duration", "20ms").map(Duration::from_nanos)
}

/// A bit rate above zero in bits per second, such as `1Mb/s`.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub fn bit_rate(text: &str) -> Result<u64, String> {
    match whole(text, BIT_RATES, "a bit rate", "1Mb/s")? {
        0 => Err(format!(
            "\"{text}\" carries nothing; leave it out for no limit"
        )),
        rate => Ok(rate),
    }
}

/// A size in bytes, such as `85kB`.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub fn size(text: &str) -> Result<u64, String> {
    whole(text, SIZES, "a size", "85kB")
}

/// A probability, such as `5%` or `0.05`.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub fn fraction(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text, "a probability", "5% or 0.05")?;
    let value = match unit {
        "" => number.to_f64(0),
        "%" => number.to_f64(-2),
        _ => {
            return Err(format!(
                "\"{text}\": \"{unit}\" is no unit of a probability; write 5%"
            ));
        }
    };
    if value <= 1.0 {
        Ok(value)
    } else {
        Err(format!("\"{text}\" is above 1 (or 100 %)"))
    }
}

/// A rate of events per second above zero, such as `40` or `40/s`.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub fn event_rate(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text, "a rate", "40/s")?;
    let value = match unit {
        "" | "/s" => number.to_f64(0),
        "/min" => number.to_f64(0) / 60.0,
        _ => {
            return Err(format!(
                "\"{text}\": \"{unit}\" is no unit of a rate; write 40/s"
            ));
        }
    };
    if value > 0.0 && value <= 1e6 {
        Ok(value)
    } else {
        Err(format!(
            "\"{text}\" is not above 0 and at most 1000000 in a second"
        ))
    }
}

/// A seed: a decimal number, or a hexadecimal one after `0x`.
///
/// # Errors
/// What is wrong with the text, for the user to read.
pub fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("\"{text}\" is no seed: a whole number below 2^64, or 0x and hex"))
}

/// `digits * 10^exponent`, never negative.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
            None => (text, 0),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = [whole, part].concat();
        if whole.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(Self {
            digits: digits.parse().ok()?,
            exponent: i32::from(exponent) - i32::try_from(part.len()).ok()?,
        })
    }

    fn to_f64(self, shift: i32) -> f64 {
        // Reading the decimal text rounds once; the text is always a number.
        let text = format!("{}e{}", self.digits, self.exponent + shift);
        text.parse().unwrap_or(f64::INFINITY)
    }

    /// `self * scale`: `Ok(None)` where that is no whole number, an error where
    /// it is too large.
    fn times(self, scale: u64) -> Result<Option<u64>, ()> {
        let mut value = u128::from(self.digits) * u128::from(scale);
        if value == 0 {
            return Ok(Some(0));
        }
        for _ in 0..self.exponent.max(0) {
            value = value.checked_mul(10).ok_or(())?;
        }
        for _ in self.exponent.min(0)..0 {
            if value % 10 != 0 {
                return Ok(None);
            }
            value /= 10;
        }
        u64::try_from(value).map(Some).map_err(|_| ())
    }
}

fn split<'a>(text: &'a str, what: &str, example: &str) -> Result<(Decimal, &'a str), String> {
    let text = text.trim();
    // The exponent's letter belongs to the number where digits follow it.
    let is_number = |at: usize, c: char| {
        let after = text[at + c.len_utf8()..].bytes().next();
        let before = text[..at].bytes().next_back();
        match c {
            '0'..='9' | '.' => true,
            'e' | 'E' => after.is_some_and(|b| b.is_ascii_digit() || b == b'-' || b == b'+'),
            '-' | '+' => before.is_some_and(|b| b == b'e' || b == b'E'),
            _ => false,
        }
    };
    let end = text
        .char_indices()
        .find(|(at, c)| !is_number(*at, *c))
        .map_or(text.len(), |f| f.0);
    let wrong = || format!("\"{text}\" is not {what}; write for example {example}");
    let number = Decimal::read(&text[..end]).ok_or_else(wrong)?;
    Ok((number, text[end..].trim_start()))
}

fn whole(text: &str, units: Units, what: &str, example: &str) -> Result<u64, String> {
    let (number, unit) = split(text, what, example)?;
    let known = || {
        units
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    if unit.is_empty() && number.digits != 0 {
        return Err(format!(
            "\"{text}\" lacks a unit ({}); write for example {example}",
            known()
        ));
    }
    let scale = match units.iter().find(|(name, _)| *name == unit) {
        Some((_, scale)) => *scale,
        None if unit.is_empty() => 1,
        None => {
            return Err(format!(
                "\"{text}\": unknown unit \"{unit}\"; units: {}",
                known()
            ));
        }
    };
    match number.times(scale) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(format!(
            "\"{text}\" is not a whole number of {}",
            units[0].0
        )),
        Err(()) => Err(format!("\"{text}\" is too large")),
    }
}

#[cfg(test)]
mod tests;
