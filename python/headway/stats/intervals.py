"""Means over replications with Student-t intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

CONFIDENCE = 0.95


def t_factor(n: NDArray[np.int64], confidence: float = CONFIDENCE) -> NDArray[np.float64]:
    """Return the two-sided Student-t factor for samples of `n` values; NaN below two values."""
    degrees = np.where(n > 1, n - 1, 1).astype(np.float64)
    return np.where(n > 1, stdtrit(degrees, 0.5 + confidence / 2), np.nan)


def mean_interval(
    values: NDArray[np.float64], confidence: float = CONFIDENCE
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return mean, lower end, upper end and count along the last axis; NaN counts as missing.

    With fewer than two values there is a mean but no interval, and its ends are NaN.
    """
    present = np.isfinite(values)
    n = present.sum(axis=-1)
    some = np.where(n > 0, n, 1)
    mean = np.where(n > 0, np.where(present, values, 0.0).sum(axis=-1) / some, np.nan)
    spread = np.where(present, values - mean[..., None], 0.0)
    variance = (spread**2).sum(axis=-1) / np.where(n > 1, n - 1, 1)
    half = t_factor(n) if confidence == CONFIDENCE else t_factor(n, confidence)
    half = half * np.sqrt(variance / some)
    return mean, mean - half, mean + half, n


def points(
    runs: pl.DataFrame, factor_columns: Sequence[str], metric_columns: Sequence[str]
) -> pl.DataFrame:
    """Return one row a point: its factors, then for each metric mean, interval and count.

    Columns of a metric are NAME.mean, NAME.ci_low, NAME.ci_high (Student-t, 95 %) and NAME.n
    (runs that have a value). Points keep the order in which they first appear in `runs`.
    """
    metrics = list(metric_columns)
    spread = runs.select(
        *factor_columns, *(pl.col(name).cast(pl.Float64).fill_nan(None) for name in metrics)
    )
    aggregates = [
        step
        for name in metrics
        for step in (
            pl.col(name).mean().alias(f"{name}.mean"),
            pl.col(name).std(ddof=1).alias(f"{name}.sd"),
            pl.col(name).count().cast(pl.Int64).alias(f"{name}.n"),
        )
    ]
    if factor_columns:
        grouped = spread.group_by(list(factor_columns), maintain_order=True).agg(aggregates)
    else:
        grouped = spread.select(aggregates)
    columns: list[pl.Series] = [grouped[name] for name in factor_columns]
    for name in metrics:
        n = grouped[f"{name}.n"]
        mean = grouped[f"{name}.mean"]
        count = n.to_numpy()
        half = (
            t_factor(count)
            * grouped[f"{name}.sd"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
            / np.sqrt(np.maximum(count, 1))
        )
        width = pl.Series(half).fill_nan(None)
        columns += [
            mean,
            (mean - width).alias(f"{name}.ci_low"),
            (mean + width).alias(f"{name}.ci_high"),
            n,
        ]
    return pl.DataFrame(columns)
