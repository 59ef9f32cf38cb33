"""Models laid beside a study: their values at its points, and how they compare with runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from headway.models.base import ModelError
from headway.models.curves import laid_beside, match_for
from headway.models.predict import predict
from headway.models.registry import get
from headway.plots.models import Map
from headway.study.scenario import Scenario

if TYPE_CHECKING:
    from headway.study import Study
    from headway.study.resolve import Assignment

__all__ = ["Agreement", "against", "agreement", "fine_map", "regions", "values"]

Progress = Callable[[int, int], None]
"""Called with the number of points done and of all points."""

SCHEMA = {
    "point_id": pl.Int64,
    "model": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "inside": pl.Boolean,
    "why": pl.String,
}
FINE = 30
"""Loss rates, and round-trip times, of a fine map."""
SAME = 1e-6
"""Relative distance below which two numbers are the same: the simulator counts nanoseconds."""


def values(
    study: Study,
    models: Sequence[str] = (),
    points: Collection[int] | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """What the models say at the points of a study, one row a point, model and metric.

    `models` are names, by default the first model of the workload; `points` numbers of points,
    by default all. Columns: `point_id`, the factors, `model`, `metric`, `value`, `inside`
    (whether the point lies in the model's region of validity) and `why` (what not). Where a
    model leaves aside something that the point has, such as correlated losses, it has one row
    without metric and value, and `why` names it. ModelError where no model fits the workload.
    """
    workload = study.scenario.workload.kind
    names = tuple(models) or laid_beside(workload)[:1]
    if not names:
        raise ModelError(f'no model for the workload "{workload}"')
    known: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    rows: list[dict[str, Any]] = []
    chosen = [point for point in _points(study) if points is None or point[0] in points]
    for done, (number, factors, scenario) in enumerate(chosen, start=1):
        spec = None if scenario is None else scenario.spec()
        for name in names:
            here = {"point_id": number, **factors, "model": name}
            silent = here | {"metric": None, "value": None, "inside": False}
            if spec is None:
                rows.append(silent | {"why": "a combination that cannot be run"})
                continue
            try:
                match = match_for(spec, model=name)
                if match.aside:
                    rows.append(silent | {"why": _aside(match.aside)})
                    continue
                if match.key not in known:
                    known[match.key] = match.evaluate()
            except ModelError as error:
                rows.append(silent | {"why": str(error)})
                continue
            found = known[match.key]
            rows += [
                here
                | {
                    "metric": metric,
                    "value": float(found[output]),
                    "inside": found["inside"],
                    "why": found["why"],
                }
                for metric, output in match.columns.items()
            ]
        if progress is not None:
            progress(done, len(chosen))
    columns = study.factor_columns
    order = ["point_id", *columns, *(name for name in SCHEMA if name != "point_id")]
    frame = pl.DataFrame(rows, schema_overrides=SCHEMA, infer_schema_length=None)
    return frame.select(order) if rows else pl.DataFrame(schema=SCHEMA)


def against(found: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """The models' values beside the simulated means.

    `found` is from `values`, `points` the table of points of the results. Added columns:
    `simulated`, `ci_low`, `ci_high`, `n`, `error` ((model - simulated) / simulated) and
    `within` (whether the model lies in the 95 % confidence interval of the mean). Metrics that
    the runs do not have are left out, and points without a mean.
    """
    parts = []
    for (metric,), own in found.filter(pl.col("metric").is_not_null()).group_by(
        "metric", maintain_order=True
    ):
        statistics = [f"{metric}.{end}" for end in ("mean", "ci_low", "ci_high", "n")]
        if any(name not in points.columns for name in statistics):
            continue
        names = dict(zip(statistics, ("simulated", "ci_low", "ci_high", "n"), strict=True))
        parts.append(
            own.join(
                points.select("point_id", *statistics)
                .rename(names)
                .with_columns(pl.col("point_id").cast(pl.Int64)),
                on="point_id",
                how="inner",
                maintain_order="left",
            )
        )
    if not parts:
        return pl.DataFrame()
    room = SAME * pl.col("simulated").abs()
    return (
        pl.concat(parts)
        .filter(pl.col("simulated").is_not_null())
        .with_columns(
            ((pl.col("value") - pl.col("simulated")) / pl.col("simulated")).alias("error"),
            (
                (pl.col("value") >= pl.col("ci_low") - room)
                & (pl.col("value") <= pl.col("ci_high") + room)
            ).alias("within"),
        )
        .sort("point_id", maintain_order=True)
    )


@dataclass(frozen=True)
class Agreement:
    """How a model and the simulation agree in one metric, over the points of its region."""

    model: str
    metric: str
    points: int
    """Points inside the region of validity with an interval and a mean other than zero."""
    within: int
    """Of these, where the model lies in the 95 % confidence interval of the simulated mean."""
    mean_error: float
    """Mean of the absolute relative errors."""
    largest_error: float
    """The relative error that is largest in size, with its sign."""
    largest_at: dict[str, Any]
    """The row of that point."""
    outside: int
    """Points where the model has a value but does not vouch for it."""


def agreement(compared: pl.DataFrame) -> list[Agreement]:
    """A verdict for each model and metric of `against`."""
    told = []
    for (model, metric), own in compared.group_by(["model", "metric"], maintain_order=True):
        # Where nothing was simulated to happen there is no relative error.
        inside = own.filter(
            pl.col("inside") & pl.col("within").is_not_null() & pl.col("error").is_finite()
        )
        if inside.is_empty():
            continue
        size = inside["error"].abs()
        worst = inside.row(int(size.arg_max() or 0), named=True)
        told.append(
            Agreement(
                model=str(model),
                metric=str(metric),
                points=inside.height,
                within=int(inside["within"].sum()),
                mean_error=float(size.mean() or 0.0),  # type: ignore[arg-type]
                largest_error=float(worst["error"]),
                largest_at=worst,
                outside=own.height - own.filter(pl.col("inside")).height,
            )
        )
    return told


def regions(models: Sequence[str]) -> dict[str, str]:
    """The regions of validity in words."""
    return {name: get(name).validity for name in models}


def fine_map(
    study: Study,
    model: str,
    metric: str,
    where: Mapping[str, Collection[Any]],
    *,
    least_backlog_s: float = 0.0,
) -> Map:
    """A model over the loss rates and round-trip times that a study spans, finely.

    `where` picks the flow, by the levels of other factors. ModelError where the model does not
    know the metric or has no such grid.
    """
    chosen = [
        scenario
        for _, factors, scenario in _points(study)
        if scenario is not None and all(factors.get(key) in known for key, known in where.items())
    ]
    matches = [match_for(scenario.spec(), model=model) for scenario in chosen]
    if not matches or metric not in matches[0].columns:
        raise ModelError(f"{model} says nothing of {metric} here")
    losses, rtts = ([float(match.settings[key]) for match in matches] for key in ("loss", "rtt_s"))
    flow = {k: v for k, v in matches[0].settings.items() if k not in ("loss", "rtt_s")}
    # One chain serves all loss rates of a round-trip time, so these vary faster.
    table = predict(
        model,
        **flow,
        least_backlog_s=least_backlog_s,
        rtt_s=[float(f"{x:.6g}") for x in np.linspace(min(rtts), max(rtts), FINE)],
        loss=[float(f"{x:.6g}") for x in np.geomspace(min(losses), max(losses), FINE)],
    )
    return Map(model, matches[0].columns[metric], table, regions([model])[model])


def _aside(what: Sequence[str]) -> str:
    return f"the model leaves {' and '.join(what)} aside"


def _points(study: Study) -> Iterator[tuple[int, dict[str, Any], Scenario | None]]:
    """Number, factor columns and scenario of every point, in the order of the plan."""
    sizes = [range(len(factor.levels)) for factor in study.factors]
    for number, levels in enumerate(itertools.product(*sizes)):
        factors: dict[str, Any] = {}
        assignments: list[Assignment] = []
        for factor, level in zip(study.factors, levels, strict=True):
            factors |= zip(factor.columns, factor.values[level], strict=True)
            assignments += factor.levels[level].assignments
        scenario = study.base.resolve(assignments)
        yield number, factors, scenario if isinstance(scenario, Scenario) else None
