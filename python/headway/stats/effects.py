"""Effect sizes: how large a difference is, beside whether there is one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def interval(
    resampled: NDArray[np.float64], confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the percentile interval of each column of `resampled` (row 0, the study, left out)."""
    tail = (1 - confidence) / 2
    drawn = resampled[1:]
    if len(drawn) == 0:
        nothing = np.full(resampled.shape[1:], np.nan)
        return nothing, nothing
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0, method="linear")
    return low, high


def cliffs_delta(
    a: NDArray[np.float64], b: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Cliff's delta of shape (resamples, points) for pairs of rows of `a` and `b`.

    Delta is P(a > b) - P(a < b) over all pairs of runs: 1 when every run of `a` lies above
    every run of `b`, 0 when neither tends to be larger (Cliff, Psychological Bulletin
    114(3), 1993). Missing values make no pair.
    """
    with np.errstate(invalid="ignore"):
        sign = np.sign(a[:, :, None] - b[:, None, :])
    present = np.isfinite(sign)
    sign = np.where(present, sign, 0.0)

    def total(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((np.tensordot(weights, pairs, (1, 1)) * weights[:, None, :]).sum(-1))

    if present.all():
        count = (weights.sum(axis=1) ** 2)[:, None]
        return np.asarray(total(sign) / count)
    pairs = total(present.astype(np.float64))
    above = total(sign)
    return np.divide(above, pairs, out=np.full_like(above, np.nan), where=pairs > 0)
