"""A study as a labelled array: claims speak of points by their levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headway.claims.verdict import NotTestable
from headway.stats import critical_distance, ks_distance, resample_weights, weighted_means
from headway.stats.ks import ALPHA

Level = float | str
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """One factor of a paper's table."""

    column: str
    levels: tuple[Level, ...]
    unit: str = ""
    scale: float = 1.0

    def show(self, level: Level) -> str:
        """A level as a reader knows it: 0.02 on an axis of percent is "2 %"."""
        shown = f"{level * self.scale:g}" if isinstance(level, float) else level
        return f"{shown} {self.unit}".strip()


@dataclass
class View:
    """The runs of one variant of a study, and how often each replication counts."""

    runs: pl.DataFrame
    """Factors, the settings that do not vary, and metrics as columns."""
    factors: Sequence[str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    resamples: int = 1000
    folder: Path | None = None
    """Where the results lie, for what the runs' table does not hold."""

    def __post_init__(self) -> None:
        self.replications: int = self.runs["replication"].n_unique()
        # With one replication there is nothing to resample.
        drawn = self.resamples if self.replications > 1 else 0
        self.weights: Array = resample_weights(self.replications, drawn)

    def need(self, *columns: str) -> None:
        """Make sure that the runs have these columns; what does not vary becomes one.

        Raises NotTestable for a column that is neither.
        """
        for column in columns:
            if column in self.runs.columns:
                continue
            if self.settings.get(column) is None:
                raise NotTestable(f"the results say nothing of {column}")
            self.runs = self.runs.with_columns(pl.lit(self.settings[column]).alias(column))

    def means(self, values: Array) -> Array:
        """Means over replications, (resamples, points...) for `values` (points..., runs)."""
        flat = values.reshape(-1, values.shape[-1])
        return weighted_means(flat, self.weights).reshape(-1, *values.shape[:-1])

    def sums(self, values: Array) -> Array:
        """Sums over points and replications, one for each resample."""
        total: Array = np.nansum(values.reshape(-1, values.shape[-1]), axis=0)
        return np.asarray(self.weights @ total)

    def rejects(self, a: Array, b: Array) -> NDArray[np.bool_]:
        """Whether Kolmogorov-Smirnov at 5 % tells each pair of points apart."""
        x, y = a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])
        n, m = np.isfinite(x).sum(axis=1), np.isfinite(y).sum(axis=1)
        limit = np.array(
            [critical_distance(int(i), int(j), ALPHA) for i, j in zip(n, m, strict=True)]
        )
        found = ks_distance(x, y, self.weights, self.weights) >= limit - 1e-9
        return found.reshape(-1, *a.shape[:-1])


class Grid:
    """One metric over the axes of a paper's table; what was not run is missing."""

    def __init__(self, view: View, axes: Mapping[str, Axis], metric: str) -> None:
        view.need(*(axis.column for axis in axes.values()), metric)
        self.axes = dict(axes)
        replications = view.runs["replication"].unique().sort()
        index = [_positions(view.runs[axis.column], axis.levels) for axis in self.axes.values()]
        replication = replications.search_sorted(view.runs["replication"]).to_numpy()
        inside = np.logical_and.reduce([place >= 0 for place in index])
        shape = (*(len(axis.levels) for axis in self.axes.values()), len(replications))
        flat = np.ravel_multi_index(
            (*(place[inside] for place in index), replication[inside]), shape
        )
        if np.unique(flat).size != flat.size:
            raise NotTestable("several points of the study fall on one point of the table")
        self.values: Array = np.full(shape, np.nan)
        values = view.runs[metric].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        self.values.reshape(-1)[flat] = values[inside]

    def at(self, **levels: Level | Sequence[Level]) -> Array:
        """The runs at the given levels, shape (axes with several levels..., runs).

        An axis that is not named keeps all its levels; one with a single level is dropped.
        Raises NotTestable when a point has no run.
        """
        found = self.values
        place = 0
        for name, axis in self.axes.items():
            wanted = levels.get(name, axis.levels)
            if isinstance(wanted, str | float | int):
                found = np.take(found, axis.levels.index(wanted), axis=place)
            else:
                chosen = [axis.levels.index(level) for level in wanted]
                found = np.take(found, chosen, axis=place)
                place += 1
        empty = np.asarray(~np.isfinite(found).any(axis=-1))
        if empty.any():
            raise NotTestable(self._lacking(levels, empty))
        return found

    def _lacking(self, levels: Mapping[str, Any], empty: NDArray[np.bool_]) -> str:
        fixed, open_axes = [], []
        for name, axis in self.axes.items():
            wanted = levels.get(name, axis.levels)
            if isinstance(wanted, str | float | int):
                fixed.append(f"{axis.column} = {axis.show(wanted)}")
            else:
                open_axes.append((axis, list(wanted)))
        first = np.argwhere(empty)[0] if empty.ndim else []
        shown = fixed + [
            f"{axis.column} = {axis.show(wanted[i])}"
            for (axis, wanted), i in zip(open_axes, first, strict=True)
        ]
        count = int(empty.sum())
        return f"{count} of {empty.size} points are missing, the first at {', '.join(shown)}"


def _positions(column: pl.Series, levels: Sequence[Level]) -> NDArray[np.int64]:
    """The place of each value among the levels, -1 for another value; numbers within rounding."""
    place = np.full(len(column), -1, dtype=np.int64)
    numeric = column.dtype.is_numeric()
    values = column.to_numpy()
    for i, level in enumerate(levels):
        if isinstance(level, str):
            if not numeric:
                place[values == level] = i
        elif numeric:
            place[np.isclose(values.astype(np.float64), level, rtol=1e-9, atol=1e-12)] = i
    return place
