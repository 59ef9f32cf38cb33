"""The one quantile rule, and distributions pooled over the runs of a point.

Rule: linear interpolation between order statistics. With the n values sorted as
x[0] .. x[n-1], the quantile at level q lies at position q (n - 1); a position between two
order statistics is interpolated linearly (type 7 of Hyndman and Fan, The American
Statistician 50(4), 1996). The simulator uses the same rule for every quantile it reports.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVELS: NDArray[np.float64] = np.linspace(0.0, 1.0, 201)
"""Levels of the 201 quantiles that each run returns for each distribution."""


def quantile(values: ArrayLike, level: float) -> float:
    """Return the quantile of `values` at `level` (0 to 1); NaN when there are none."""
    data = np.asarray(values, dtype=np.float64)
    data = data[np.isfinite(data)]
    if data.size == 0:
        return float("nan")
    return float(np.quantile(data, level, method="linear"))


def pooled_cdf(quantiles: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distribution function of the pooled runs at the values `at`.

    `quantiles` holds one row of 201 quantiles for each run. Each run weighs the same. Between
    two neighbouring quantiles of a run its distribution function is taken as linear; equal
    neighbours are a step, and the value on a step is the upper one.
    """
    total = np.zeros(at.shape)
    for row in quantiles:
        total += np.interp(at, row, LEVELS)
    return total / len(quantiles)


def pooled_quantiles(
    quantiles: NDArray[np.float64], levels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the quantiles of the pooled runs: the inverse of `pooled_cdf` at `levels`."""
    at = np.unique(quantiles)
    below = pooled_cdf(quantiles, at)
    return at[np.minimum(np.searchsorted(below, levels - 1e-12), at.size - 1)]
