"""Resampling replications: how a verdict would fare with other runs.

A resample draws as many replications as the study has, with replacement, and uses them at
every point at once. A replication is thus one independent row of the whole study, whatever
ties its points together (points that are compared share their arrivals by design). A
resample is a row of counts, how often each replication was drawn, so that each statistic
is a product with a matrix. Row 0 counts every replication once: it is the study itself,
and one road computes both the verdict and its stability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
SEED = 20_060_901
"""Fixed, so that the same results always give the same report."""


def resample_weights(
    replications: int, resamples: int = RESAMPLES, seed: int = SEED
) -> NDArray[np.float64]:
    """Return counts of shape (1 + resamples, replications); row 0 is all ones."""
    drawn = np.random.default_rng(seed).multinomial(
        replications, np.full(replications, 1.0 / replications), size=resamples
    )
    return np.vstack([np.ones((1, replications)), drawn.astype(np.float64)])


def weighted_means(
    values: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return means of shape (resamples, points) for `values` of (points, replications).

    Missing values are left out. A resample that drew only missing ones gives NaN.
    """
    present = np.isfinite(values)
    total = weights @ np.where(present, values, 0.0).T
    if present.all():
        return np.asarray(total / weights.sum(axis=1, keepdims=True))
    count = weights @ present.T.astype(np.float64)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def share_same(outcomes: NDArray[np.bool_]) -> float | None:
    """Return the share of resamples whose outcome is that of row 0; None without resamples."""
    if outcomes.size < 2:
        return None
    return float(np.mean(outcomes[1:] == outcomes[0]))
