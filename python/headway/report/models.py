"""The table of the models beside the simulation, with how well they agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from headway.plots import Source
from headway.plots.columns import Scale
from headway.plots.models import Models
from headway.report.tables import MOST_ROWS, SHORT, Cell, Head, PageTable, csv_of, factor_columns
from headway.report.words import NOTHING, change, counted, number, sentence


def models_tables(source: Source, models: Models) -> list[PageTable]:
    """The models' values beside the simulated means; no table where they know no metric."""
    # Only a study that names models loads them.
    from headway.beside import against, agreement

    compared = against(models.table, source.points)
    if compared.is_empty():
        return []
    shown = _worth_reading(source, compared)
    rows = compared.filter(pl.col("metric").is_in(shown))
    varied = [column.key for column in source.varied if compared[column.key].n_unique() > 1]
    heads, makers = factor_columns(source, varied)
    several = len(models.validity) > 1
    if several:
        heads.append(Head("model", numeric=False))
        makers.append(lambda row: Cell(row["model"]))
    heads += [
        Head("metric", numeric=False),
        Head("simulation", hint="mean over the replications with its 95 % interval"),
        Head("model"),
        Head("error", hint="(model - simulation) / simulation"),
        Head("in the interval", numeric=False),
        Head("in its region", numeric=False, hint="the model's region of validity"),
    ]
    scales = {metric: source.scale(metric) for metric in shown}

    names = {metric: SHORT.get(metric, metric) for metric in shown}
    makers += [
        lambda row: Cell(scales[row["metric"]].title(names[row["metric"]]), row["metric"]),
        _with_scale(scales, _simulated),
        _with_scale(
            scales, lambda row, scale: Cell(number(row["value"] * scale.factor), row["value"])
        ),
        _error,
        lambda row: _mark(row["within"]),
        lambda row: Cell("✓ yes", "", "good") if row["inside"] else Cell(row["why"], row["why"]),
    ]
    told = [
        f"{sentence(names[one.metric])}{f' by {one.model}' if several else ''}: {verdict(one)}."
        for one in agreement(compared)
        if one.metric in shown
    ]
    caption = " ".join(
        [
            *(f"Region of {name}: {words}." for name, words in models.validity.items()),
            *told,
            *(f"No value at {counted(n, 'point')}: {why}." for why, n in models.silent.items()),
            "The file is in base units and holds every metric that the model knows.",
        ]
    )
    return [
        PageTable(
            "models",
            "Model against simulation",
            caption,
            heads,
            [[make(row) for make in makers] for row in rows.head(MOST_ROWS).to_dicts()],
            csv_of(compared),
            max(0, rows.height - MOST_ROWS),
        )
    ]


def verdict(one: Any) -> str:
    """How a model and the simulation agree, in words; `one` is a `headway.beside.Agreement`."""
    return (
        f"in its region the model lies within the 95 % interval of the simulated mean at "
        f"{one.within} of {counted(one.points, 'point')} "
        f"({100 * one.within / one.points:.0f} %); mean relative error "
        f"{100 * one.mean_error:.1f} %, largest {change(1 + one.largest_error)}"
    )


def _worth_reading(source: Source, compared: pl.DataFrame) -> list[str]:
    """The study's main metric and the mean of what it is about, where a model knows them."""
    known = compared["metric"].unique(maintain_order=True).to_list()
    main = source.main_metric
    about = main.partition("_")[0]
    wanted = [main, *(name for name in known if name.startswith(f"{about}_mean"))]
    found = [name for name in dict.fromkeys(wanted) if name in known]
    return found or known[:1]


def _simulated(row: dict[str, Any], scale: Scale) -> Cell:
    text = number(row["simulated"] * scale.factor)
    if row["ci_low"] is not None and row["ci_high"] is not None:
        text += (
            f" ({number(row['ci_low'] * scale.factor)} to {number(row['ci_high'] * scale.factor)})"
        )
    return Cell(text, row["simulated"])


def _error(row: dict[str, Any]) -> Cell:
    error = row["error"]
    if error is None or error != error or abs(error) == float("inf"):
        return Cell(NOTHING)
    return Cell(f"{100 * error:+.1f} %", error)


def _mark(within: bool | None) -> Cell:
    if within is None:
        return Cell(NOTHING, "")
    return Cell("✓ yes", "1", "good") if within else Cell(f"{NOTHING} no", "0")


def _with_scale(
    scales: dict[str, Scale], make: Callable[[dict[str, Any], Scale], Cell]
) -> Callable[[dict[str, Any]], Cell]:
    return lambda row: make(row, scales[row["metric"]])
