"""A results folder as tables."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from headway.claims import registry
from headway.claims.settings import settings
from headway.errors import UserError
from headway.samples import RUN_COLUMNS

if TYPE_CHECKING:
    from headway.study import Factor, Study
    from headway.study.resolve import Assignment

ALWAYS_COMPARED = frozenset({"transport.delivery", "transport.streams"})
"""Keys of the transport that no study judges one by one."""


@dataclass(frozen=True)
class Results:
    """What one execution of a study left in its folder."""

    folder: Path
    study: Study
    runs: pl.DataFrame
    points: pl.DataFrame
    provenance: dict[str, Any]

    @property
    def factors(self) -> list[str]:
        """Columns of the factors, in the order of the study."""
        return [name for name in self.study.factor_columns if name in self.runs.columns]

    @property
    def metrics(self) -> list[str]:
        """Columns of the metrics, in the order of the runs' table."""
        known = {*RUN_COLUMNS, *self.factors}
        return [name for name in self.runs.columns if name not in known]

    @cached_property
    def distributions(self) -> pl.DataFrame | None:
        """Quantiles of each run, None when the folder has none."""
        file = self.folder / "distributions.parquet"
        return pl.read_parquet(file) if file.is_file() else None

    @cached_property
    def replications(self) -> int:
        """Replications of the point that has most."""
        return int(self.runs["replication"].n_unique())


def load(folder: str | Path) -> Results:
    """Read a results folder.

    Raises UserError when it lacks the study, the runs or the points.
    """
    from headway.store import RECORDINGS
    from headway.study import parse

    path = Path(folder)
    for name in ("study.toml", "runs.parquet", "points.parquet"):
        if not (path / name).is_file():
            raise UserError(f"{folder}: no {name}; is this the folder of a finished `headway run`?")
    provenance_file = path / "provenance.json"
    provenance = json.loads(provenance_file.read_text()) if provenance_file.is_file() else {}
    overrides = provenance.get("overrides", [])
    text = (path / "study.toml").read_text(encoding="utf-8")
    study = parse(text, "study.toml", overrides, path / RECORDINGS)
    return Results(
        path,
        study,
        pl.read_parquet(path / "runs.parquet"),
        pl.read_parquet(path / "points.parquet"),
        provenance,
    )


@dataclass(frozen=True)
class Variant:
    """One setting in a study that varies more than the axes of a paper's table."""

    label: str
    runs: pl.DataFrame
    settings: dict[str, Any]


def variants(results: Results) -> list[Variant]:
    """The study split by what is judged separately; one variant when that is nothing."""
    study = results.study
    compared = ALWAYS_COMPARED | registry.compared(study.report.claims)
    splitting = [factor for factor in study.factors if _makes_variants(factor, compared)]
    found = []
    for choice in itertools.product(*(range(len(factor.levels)) for factor in splitting)):
        runs = results.runs
        assignments: list[Assignment] = []
        labels: list[str] = []
        for factor, level in zip(splitting, choice, strict=True):
            assignments += factor.levels[level].assignments
            labels.append(factor.levels[level].label)
            for column, value in zip(factor.columns, factor.values[level], strict=True):
                runs = runs.filter(pl.col(column) == value)
        if runs.is_empty():
            continue
        others = [
            item
            for factor in study.factors
            if factor not in splitting
            for item in factor.levels[0].assignments
        ]
        scenario = study.base.resolve([*others, *assignments])
        fixed = settings(study.scenario if isinstance(scenario, list) else scenario)
        varied = [key for factor in study.factors if factor not in splitting for key in factor.keys]
        found.append(
            Variant(
                ", ".join(labels),
                runs,
                {
                    key: value
                    for key, value in fixed.items()
                    if not any(key == v or key.startswith(f"{v}.") for v in varied)
                },
            )
        )
    return found


def _makes_variants(factor: Factor, compared: frozenset[str]) -> bool:
    """Whether each level is judged by itself: no paper's table has such an axis.

    That is so of the transport, but for the keys that claims compare, and of a factor with a
    name and keys of its choice.
    """
    if factor.columns != factor.keys and len(factor.columns) == 1:
        return True
    return all(
        (key == "transport" or key.startswith("transport.")) and key not in compared
        for key in factor.keys
    )
