"""Two levels of one factor compared at every point of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from headway.stats.effects import cliffs_delta, interval
from headway.stats.ks import ALPHA, critical_distance, exact_p, ks_distance
from headway.stats.matrix import cells
from headway.stats.resample import RESAMPLES, resample_weights, weighted_means


def select_levels(runs: pl.DataFrame, factor: str, level: Any) -> pl.DataFrame:
    """Return the runs at one level of a factor; numbers match within rounding."""
    if isinstance(level, float):
        return runs.filter((pl.col(factor) - level).abs() <= 1e-9 * max(1.0, abs(level)))
    return runs.filter(pl.col(factor) == level)


def compare(
    runs: pl.DataFrame,
    factor: str,
    a: Any,
    b: Any,
    by: Sequence[str],
    metric: str,
    resamples: int = RESAMPLES,
) -> pl.DataFrame:
    """Compare `metric` at level `a` of `factor` with level `b`, at each point `by`.

    Returns the columns of `by`, then mean_a, mean_b, difference (a - b) and ratio (a / b)
    with 95 % bootstrap intervals (.ci_low, .ci_high), cliffs_delta with the same, ks_distance,
    ks_p, significant (exact Kolmogorov-Smirnov at 5 %) and stable: the share of resamples
    with the same finding (null with one replication). Points without both levels are left out.
    """
    if not by:
        # A study of one other point: any constant tells it from no other.
        single = runs.with_columns(pl.lit(0).alias("_point"))
        return compare(single, factor, a, b, ["_point"], metric, resamples).drop("_point")
    keys = list(by)
    at_a = select_levels(runs, factor, a)
    at_b = select_levels(runs, factor, b)
    shared = (
        at_a.select(keys)
        .unique()
        .join(at_b.select(keys).unique(), on=keys, how="inner", nulls_equal=True)
    )
    both = pl.concat([at_a, at_b]).join(shared, on=keys, how="semi", nulls_equal=True)
    replications = both["replication"].n_unique()
    if replications == 0:
        return pl.DataFrame()
    # One layout for both levels, so that a column is the same replication in each.
    laid = cells(both, [factor, *keys], metric)
    first = select_levels(laid.keys.with_row_index("_row"), factor, a)["_row"].to_numpy()
    second = select_levels(laid.keys.with_row_index("_row"), factor, b)["_row"].to_numpy()
    x, y = laid.values[first], laid.values[second]
    weights = resample_weights(replications, resamples if replications > 1 else 0)

    mean_x, mean_y = weighted_means(x, weights), weighted_means(y, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        measures = {
            "difference": mean_x - mean_y,
            "ratio": mean_x / mean_y,
            "cliffs_delta": cliffs_delta(x, y, weights),
        }
    distance = ks_distance(x, y, weights, weights)
    n, m = np.isfinite(x).sum(axis=1), np.isfinite(y).sum(axis=1)
    limit = np.array(
        [
            critical_distance(int(i), int(j), ALPHA) if i and j else np.inf
            for i, j in zip(n, m, strict=True)
        ]
    )
    rejects = distance >= limit - 1e-9
    table: dict[str, Any] = {"mean_a": mean_x[0], "mean_b": mean_y[0]}
    for name, values in measures.items():
        low, high = interval(values)
        table |= {name: values[0], f"{name}.ci_low": low, f"{name}.ci_high": high}
    table |= {
        "ks_distance": distance[0],
        "ks_p": [
            exact_p(int(i), int(j), d) if i and j else 1.0
            for i, j, d in zip(n, m, distance[0], strict=True)
        ],
        "significant": rejects[0],
        "stable": (rejects[1:] == rejects[0]).mean(axis=0) if len(weights) > 1 else [None] * len(x),
    }
    result = pl.DataFrame(table).with_columns(pl.col(pl.Float64).fill_nan(None))
    return pl.concat([laid.keys[first].drop(factor), result], how="horizontal")
