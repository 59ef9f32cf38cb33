"""Equivalence as a finding of its own: two one-sided tests on a stated margin.

A test that fails to reject a difference shows nothing: with few runs it always fails.
Here two means count as equivalent only when the runs exclude a difference as large as the
margin, in either direction, each at 5 % (Schuirmann, Journal of Pharmacokinetics and
Biopharmaceutics 15, 1987). That is the same as: the 90 % interval lies within the margin.
Runs are paired by replication, since points that are compared share their arrivals; the
tests hold for independent runs as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headway.stats.intervals import t_factor

LEVEL = 0.05


class Judgement(StrEnum):
    """What the interval says about the margin."""

    EQUIVALENT = "equivalent"
    """The interval lies within the margin."""
    DIFFERENT = "different"
    """The interval lies wholly beyond the margin."""
    UNDECIDED = "undecided"
    """The interval reaches across the margin: more replications are needed."""


@dataclass(frozen=True)
class Equivalence:
    """Outcome of one equivalence test."""

    estimate: float
    low: float
    high: float
    lower_limit: float
    upper_limit: float
    judgement: Judgement
    n: int


def _pairs(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x = np.asarray(a, dtype=np.float64)
    y = np.asarray(b, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"{x.size} and {y.size} replications cannot be paired")
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]


def _judge(low: float, high: float, lower: float, upper: float) -> Judgement:
    if not (np.isfinite(low) and np.isfinite(high)):
        return Judgement.UNDECIDED
    if lower < low and high < upper:
        return Judgement.EQUIVALENT
    if high < lower or upper < low:
        return Judgement.DIFFERENT
    return Judgement.UNDECIDED


def equivalence(a: ArrayLike, b: ArrayLike, margin: float, level: float = LEVEL) -> Equivalence:
    """Compare mean(a) - mean(b) with a margin in the unit of the values.

    Raises ValueError when `a` and `b` differ in length or the margin is not positive.
    """
    if margin <= 0:
        raise ValueError(f"the margin {margin} is not above zero")
    x, y = _pairs(a, b)
    n = x.size
    if n == 0:
        nan = float("nan")
        return Equivalence(nan, nan, nan, -margin, margin, Judgement.UNDECIDED, 0)
    gap = x - y
    estimate = float(gap.mean())
    half = _t(n, level) * float(gap.std(ddof=1)) / np.sqrt(n) if n > 1 else float("nan")
    low, high = estimate - half, estimate + half
    return Equivalence(estimate, low, high, -margin, margin, _judge(low, high, -margin, margin), n)


def ratio_equivalence(
    a: ArrayLike, b: ArrayLike, margin: float, level: float = LEVEL
) -> Equivalence:
    """Compare mean(a) / mean(b) with 1 - margin and 1 + margin (0.25: within 25 %).

    The interval is Fieller's: all ratios r for which the mean of a - r b is not
    significantly off zero. It is undecided when mean(b) itself may be zero.
    Raises ValueError when `a` and `b` differ in length or the margin is not within 0 and 1.
    """
    if not 0 < margin < 1:
        raise ValueError(f"the margin {margin} is not between 0 and 1")
    x, y = _pairs(a, b)
    n = x.size
    nan = float("nan")
    lower, upper = 1 - margin, 1 + margin
    if n == 0 or y.mean() == 0:
        return Equivalence(nan, nan, nan, lower, upper, Judgement.UNDECIDED, n)
    estimate = float(x.mean() / y.mean())
    if n < 2:
        return Equivalence(estimate, nan, nan, lower, upper, Judgement.UNDECIDED, n)
    t2 = _t(n, level) ** 2 / n
    square = y.mean() ** 2 - t2 * y.var(ddof=1)
    covariance = float(np.cov(x, y)[0, 1])
    middle = x.mean() * y.mean() - t2 * covariance
    constant = x.mean() ** 2 - t2 * x.var(ddof=1)
    if square <= 0:
        return Equivalence(estimate, nan, nan, lower, upper, Judgement.UNDECIDED, n)
    root = np.sqrt(max(middle**2 - square * constant, 0.0))
    low, high = float((middle - root) / square), float((middle + root) / square)
    return Equivalence(estimate, low, high, lower, upper, _judge(low, high, lower, upper), n)


def _t(n: int, level: float) -> float:
    """The one-sided t factor: the two-sided one at 1 - 2 level."""
    return float(t_factor(np.array([n]), 1 - 2 * level)[0])
