"""The edge of a radio cell in curves of successes over the signal-to-noise ratio (SNR).

Runs at one retry limit, in the order of rising SNR, are the last axis of every array here.
Values between two runs are linear. A crossing is looked for from the highest SNR downwards,
so that it is the first that somebody meets who walks out of the cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.stats.quantiles import LEVELS

__all__ = ["Region", "at", "crossing", "leave", "onset", "region", "resampled", "within"]

Array = NDArray[np.float64]

UPPER, LOWER = 0.9, 0.1


def resampled(counts: Array, resamples: int, seed: int) -> Array:
    """Counts of the outcomes of each run (last axis), drawn anew with replacement.

    The result has the resamples as its first axis, and the counts themselves come first.
    """
    counts = np.asarray(counts, dtype=np.float64)
    totals = counts.sum(axis=-1)
    shares = np.divide(
        counts,
        totals[..., None],
        out=np.full_like(counts, 1 / counts.shape[-1]),
        where=totals[..., None] > 0,
    )
    drawn = np.random.default_rng(seed).multinomial(
        totals.astype(np.int64), shares, size=(resamples, *totals.shape)
    )
    return np.concatenate([counts[None], drawn.astype(np.float64)])


def crossing(snr: Array, values: Array, level: float, below: Array | None = None) -> Array:
    """The highest SNR at which `values` fall to `level`; NaN where they do not.

    Nothing above `below` counts. Runs without a value (NaN) end the search.
    """
    found = np.full(values.shape[:-1], np.nan)
    searching = np.isfinite(values[..., -1])
    for i in range(values.shape[-1] - 2, -1, -1):
        here, above = values[..., i], values[..., i + 1]
        searching = searching & np.isfinite(here)
        falls = searching & (here < level) & (above >= level)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            part = (above - level) / (above - here)
        place = snr[i + 1] - part * (snr[i + 1] - snr[i])
        if below is not None:
            falls &= place <= below
        found = np.where(falls & np.isnan(found), place, found)
    return found


def at(snr: Array, values: Array, place: Array) -> Array:
    """`values` at the SNR `place`, one for each row; NaN beside runs without a value."""
    flat = values.reshape(-1, values.shape[-1])
    places = np.broadcast_to(place, values.shape[:-1]).reshape(-1)
    result = np.full(len(places), np.nan)
    for row, (where, own) in enumerate(zip(places, flat, strict=True)):
        known = np.isfinite(own)
        if np.isfinite(where) and known.any():
            result[row] = np.interp(where, snr[known], own[known])
    return result.reshape(values.shape[:-1])


@dataclass(frozen=True)
class Region:
    """Fall-off regions: where F(1) falls from 90 % to 10 %."""

    high: Array
    """Where it begins; NaN where F(1) never reaches 90 %."""
    low: Array
    """Where it ends; NaN where F(1) never falls to 10 %."""
    top: Array
    """`high`, or the highest SNR measured in its place."""
    bottom: Array
    """`low`, or the lowest SNR with a value in its place."""

    @property
    def width(self) -> Array:
        """In dB; where an end is missing it is the part that was measured."""
        return np.asarray(self.top - self.bottom)

    def mean(self, snr: Array, values: Array) -> Array:
        """The mean of `values` over the runs inside; NaN where there are none."""
        inside = (snr >= self.bottom[..., None]) & (snr <= self.top[..., None])
        inside &= np.isfinite(values)
        count = inside.sum(axis=-1)
        total = np.where(inside, values, 0.0).sum(axis=-1)
        out = np.full(total.shape, np.nan)
        return np.asarray(np.divide(total, count, out=out, where=count > 0))


def region(snr: Array, first: Array) -> Region:
    """The fall-off regions of curves F(1)."""
    high = crossing(snr, first, UPPER)
    top = np.where(np.isfinite(high), high, snr[-1])
    low = crossing(snr, first, LOWER, below=top)
    known = np.isfinite(first)
    # From the top down to the first run without a value.
    unbroken = np.logical_and.accumulate(known[..., ::-1], axis=-1)[..., ::-1]
    lowest = snr[np.argmax(unbroken, axis=-1)]
    bottom = np.where(np.isfinite(low), low, np.minimum(lowest, top))
    return Region(high, low, top, bottom)


def onset(snr: Array, values: Array, floor: Array, factor: float) -> Array:
    """The highest SNR at which `values` rise to `factor` times their `floor`."""
    return crossing(snr, -values / floor[..., None], -factor)


def within(quantiles: NDArray[np.float64], budget: float, answered: float) -> float:
    """The share of all transactions that got their answer within `budget`.

    `quantiles` are those of the delays of the share `answered` that got one at all.
    """
    if not len(quantiles):
        return 0.0
    return answered * float(np.interp(budget, quantiles, LEVELS, left=0.0, right=1.0))


def leave(
    snr: Array, shares: Array, number: Array, level: float, resamples: int, seed: int
) -> Array:
    """The SNR below which fewer than `level` of the transactions keep the budget.

    `shares` of `number` transactions do so at each SNR. The result has the study's own value
    first, then one for each resample of its transactions; NaN where all or none of the SNRs do.
    """
    drawn = np.random.default_rng(seed).binomial(
        number.astype(np.int64), np.clip(shares, 0.0, 1.0), size=(resamples, len(snr))
    )
    all_shares = np.vstack([shares[None], drawn / np.maximum(number, 1)])
    return crossing(snr, all_shares, level)
