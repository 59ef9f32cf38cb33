//! Sets of indices as sorted spans, for the gap blocks of a SACK.

use crate::GapBlock;

/// The indices from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) low: u32,
    pub(super) high: u32,
}

/// Turns gap blocks into spans of indices below `length`, where index 0 is the
/// TSN after the cumulative one. Blocks that are empty, out of order or beyond
/// what was sent say nothing and are left out; so is index 0, which a block can
/// only name in contradiction to the cumulative TSN.
pub(super) fn from_gaps(gaps: &[GapBlock], length: u32, spans: &mut Vec<Span>) {
    spans.clear();
    for gap in gaps {
        let (start, end) = (u32::from(gap.start), u32::from(gap.end));
        if start == 0 || end < start || start > length {
            continue;
        }
        let (low, high) = ((start - 1).max(1), (end - 1).min(length - 1));
        if low > high {
            continue;
        }
        match spans.last_mut() {
            Some(last) if low < last.low => {}
            Some(last) if low <= last.high + 1 => last.high = last.high.max(high),
            _ => spans.push(Span { low, high }),
        }
    }
}

/// Moves spans `by` indices down; what falls below zero is gone.
pub(super) fn shift(spans: &mut Vec<Span>, by: u32) {
    if by == 0 || spans.is_empty() {
        return;
    }
    spans.retain_mut(|span| {
        if span.high < by {
            return false;
        }
        span.low = span.low.saturating_sub(by);
        span.high -= by;
        true
    });
}

/// Writes the parts of `a` that are not in `b` to `out`.
pub(super) fn difference(a: &[Span], b: &[Span], out: &mut Vec<Span>) {
    out.clear();
    let mut others = b.iter().peekable();
    for span in a {
        let mut low = span.low;
        while others.next_if(|other| other.high < low).is_some() {}
        while let Some(other) = others.peek() {
            if other.low > span.high {
                break;
            }
            if other.low > low {
                out.push(Span {
                    low,
                    high: other.low - 1,
                });
            }
            low = other.high + 1;
            if other.high > span.high {
                break;
            }
            others.next();
        }
        if low <= span.high {
            out.push(Span {
                low,
                high: span.high,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn members(spans: &[Span]) -> Vec<u32> {
        spans.iter().flat_map(|s| s.low..=s.high).collect()
    }

    #[test]
    fn senseless_blocks_are_left_out() {
        let gaps = [(0, 4), (3, 2), (2, 3), (9, 60_000), (4, 5), (200, 300)];
        let gaps = gaps.map(|(start, end)| GapBlock { start, end });
        let mut spans = Vec::new();
        from_gaps(&gaps, 10, &mut spans);
        assert_eq!(spans, [Span { low: 1, high: 2 }, Span { low: 8, high: 9 }]);
        from_gaps(&gaps, 0, &mut spans);
        assert_eq!(spans, []);
    }

    proptest! {
        #[test]
        fn difference_is_that_of_sets(
            a in proptest::collection::vec((1u16..60, 1u16..60), 0..8),
            b in proptest::collection::vec((1u16..60, 1u16..60), 0..8),
            by in 0u32..70,
        ) {
            let spans = |pairs: &[(u16, u16)]| {
                let mut sorted = pairs.to_vec();
                sorted.sort_unstable();
                let gaps: Vec<GapBlock> =
                    sorted.iter().map(|&(start, end)| GapBlock { start, end }).collect();
                let mut spans = Vec::new();
                from_gaps(&gaps, 50, &mut spans);
                spans
            };
            let (a, mut b) = (spans(&a), spans(&b));
            let mut out = Vec::new();
            difference(&a, &b, &mut out);
            let in_b = members(&b);
            let expected: Vec<u32> =
                members(&a).into_iter().filter(|i| !in_b.contains(i)).collect();
            prop_assert_eq!(members(&out), expected);
            shift(&mut b, by);
            let shifted: Vec<u32> =
                in_b.iter().filter(|&&i| i >= by).map(|i| i - by).collect();
            prop_assert_eq!(members(&b), shifted);
        }
    }
}
