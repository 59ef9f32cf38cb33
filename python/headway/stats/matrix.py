"""Runs as a matrix: one row a point, one column a replication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True)
class Cells:
    """A metric laid out by point and replication; a missing run is NaN."""

    keys: pl.DataFrame
    """One row a point: the columns that tell points apart."""
    values: NDArray[np.float64]
    """Shape (points, replications)."""


def cells(runs: pl.DataFrame, by: Sequence[str], metric: str) -> Cells:
    """Lay out `metric` of `runs` by the points that `by` tells apart.

    Points are sorted by `by`. Replications are matched by their number, so that column r of
    two calls on the same study holds the same replication.

    Raises ValueError when `by` does not tell the points of `runs` apart.
    """
    columns = list(by)
    replications = runs["replication"].unique().sort()
    keys = runs.select(columns).unique().sort(columns).with_row_index("_row")
    placed = (
        runs.select(*columns, "replication", pl.col(metric).cast(pl.Float64))
        .join(keys, on=columns, how="inner", nulls_equal=True)
        .with_columns(
            pl.col("replication").replace_strict(
                replications, pl.arange(len(replications), eager=True), return_dtype=pl.Int64
            )
        )
    )
    row = placed["_row"].to_numpy()
    column = placed["replication"].to_numpy()
    flat = row.astype(np.int64) * len(replications) + column
    if np.unique(flat).size != flat.size:
        raise ValueError(f"{', '.join(columns)} do not tell the points of these runs apart")
    values = np.full((len(keys), len(replications)), np.nan)
    values[row, column] = placed[metric].fill_null(float("nan")).to_numpy()
    return Cells(keys.drop("_row"), values)
