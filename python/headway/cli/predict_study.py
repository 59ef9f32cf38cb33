"""`headway predict --study`: what a model says at every point of a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from headway import beside
from headway import plan as plans
from headway.cli.console import console, note, plural, table
from headway.cli.predict import MOST_ROWS, Bar, shown, write_csv
from headway.errors import UserError
from headway.models import get
from headway.models.curves import laid_beside
from headway.plots import Source
from headway.plots.columns import Column, columns_of
from headway.plots.models import Models
from headway.plots.predicted import scale_for
from headway.study import Study, load
from headway.units import nearest

if TYPE_CHECKING:
    from headway.cli.predict import Request

__all__ = ["run"]


def run(request: Request) -> None:
    """Prints a model's values at the points of a study, with what it does not cover."""
    if request.settings:
        raise UserError(
            f'"{request.settings[0]}": the study gives the settings; change it with --set KEY=VALUE'
        )
    if request.limit is not None:
        raise UserError("--limit belongs to the plot of a model, not to that of a study")
    study = load(request.study or "", request.overrides)
    model = get(_model(study, request.model))
    points = _numbers(study, request.only)
    with Bar("points") as bar:
        found = beside.values(study, [model.name], points, bar.show)
    silent = Counter(found.filter(pl.col("metric").is_null())["why"].to_list())
    known = found.filter(pl.col("metric").is_not_null())
    if known.is_empty():
        reasons = "; ".join(silent)
        raise UserError(f"{model.name} has nothing to say of {study.name}: {reasons}")
    metrics = _metrics(known, request.metrics)
    wide = _wide(known, metrics)
    columns = columns_of(study, wide)
    console().print(f"[bold]{study.name}[/] by [bold]{model.name}[/]: {model.title}")
    _print(study, wide, metrics, [c for c in columns.values() if len(c.values) > 1])
    console().print(f"source: {model.source}", markup=False)
    console().print(f"region: {model.validity}", markup=False)
    outside = wide.filter(~pl.col("inside")).height
    if outside:
        console().print(f"outside: {outside} of {plural(wide.height, 'point')}", markup=False)
    for why, count in silent.items():
        console().print(f"no value at {plural(count, 'point')}: {why}", markup=False)
    if request.csv is not None:
        write_csv(found, request.csv)
    if request.plot is not None:
        _draw(study, wide, known, metrics, columns, request)


def _model(study: Study, named: str | None) -> str:
    workload = study.scenario.workload.kind
    fitting = laid_beside(workload)
    if not fitting:
        raise UserError(f'{study.name}: no model for the workload "{workload}"')
    if named is None:
        return next(iter(study.report.models), fitting[0])
    get(named)
    if named not in fitting:
        raise UserError(
            f'{named} has nothing to say of the workload "{workload}" of {study.name}; '
            f"models that have: {', '.join(fitting)}"
        )
    return named


def _numbers(study: Study, only: Sequence[str]) -> set[int] | None:
    """The numbers of the points that --only keeps."""
    if not only:
        return None
    kept = plans.select(study, only)
    numbers = {0}
    for factor, levels in zip(study.factors, kept, strict=True):
        numbers = {n * len(factor.levels) + level for n in numbers for level in levels}
    return numbers


def _metrics(known: pl.DataFrame, named: Sequence[str]) -> list[str]:
    names = known["metric"].unique(maintain_order=True).to_list()
    for name in named:
        if name not in names:
            meant = nearest(name, names)
            hint = f'did you mean "{meant}"?' if meant else f"metrics: {', '.join(names)}"
            raise UserError(f'no metric "{name}" that the model knows; {hint}')
    if named:
        return list(named)
    about = next((name for name in names if name.endswith("_p95_s")), names[0])
    mean = f"{about.partition('_')[0]}_mean_s"
    return [about, *(name for name in (mean,) if name in names and name != about)]


def _wide(known: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """One row a point with a column for each metric."""
    parts = [
        known.filter(pl.col("metric") == name)
        .drop("metric", "model")
        .rename({"value": name})
        .select(pl.exclude("inside", "why"), "inside", "why")
        for name in metrics
    ]
    first, *others = parts
    for metric, part in zip(metrics[1:], others, strict=True):
        first = first.join(part.select("point_id", metric), on="point_id", maintain_order="left")
    return first


def _print(
    study: Study, wide: pl.DataFrame, metrics: Sequence[str], varied: Sequence[Column]
) -> None:
    scales = {name: scale_for(name, wide[name].to_list()) for name in metrics}
    listed = table(
        *(f"{column.name}{'>' if column.numeric else ''}" for column in varied),
        *(f"{scales[name].title(name.removesuffix('_s'))}>" for name in metrics),
        "in its region",
    )
    for row in wide.head(MOST_ROWS).iter_rows(named=True):
        listed.add_row(
            *(column.label(row[column.key]) for column in varied),
            *(shown(row[name], scales[name]) for name in metrics),
            "yes" if row["inside"] else f"[yellow]no: {row['why']}[/]",
        )
    if varied or wide.height:
        console().print(listed)
    if wide.height > MOST_ROWS:
        note(f"{plural(wide.height - MOST_ROWS, 'more point')}; --csv FILE writes all of them")
    if not study.factors:
        note(f"{study.name} varies nothing: one point")


def _draw(
    study: Study,
    wide: pl.DataFrame,
    known: pl.DataFrame,
    metrics: Sequence[str],
    columns: dict[str, Column],
    request: Request,
) -> None:
    """The study's own curves, with the models alone."""
    from headway.cli.drawing import draw
    from headway.plots.curves import curves
    from headway.plots.definition import definition

    metric = metrics[0]
    if metric not in study.metrics:
        raise UserError(f"--plot: {metric} is no metric of {study.name}")
    empty = [
        pl.lit(None, pl.Float64).alias(f"{metric}.{end}") for end in ("mean", "ci_low", "ci_high")
    ]
    model = known["model"][0]
    points = wide.with_columns(*empty, pl.lit(0).alias(f"{metric}.n"))
    source = Source(
        points, columns, study.metrics, models=Models(known, {model: get(model).validity})
    )
    entry = {"kind": "curves", "title": f"{{y}} against {{x}}, by {model}", "y": metric}
    made = curves(definition(request.plot.stem if request.plot else "", entry), source)
    if made is None:
        raise UserError(f"--plot: {study.name} varies nothing to draw along")
    if request.plot is not None:
        draw(made, request.plot, made.caption)
