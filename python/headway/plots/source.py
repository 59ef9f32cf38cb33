"""What figures are drawn from, and which factor goes where in one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import polars as pl

from headway.metrics import Metric
from headway.plots.columns import Column, Scale, metric_scale
from headway.plots.definition import Definition
from headway.plots.figure import Choice, Panel, letters
from headway.plots.models import Map, Models

MAIN_METRICS = ("psd_p95_s",)
MOST_FRAMES = 256
MOST_PANELS = 6

Row = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """The tables of a study as figures need them."""

    points: pl.DataFrame
    columns: Mapping[str, Column]
    metrics: Mapping[str, Metric]
    quantiles: pl.DataFrame | None = None
    """Factor columns, metric and quantiles, one row a run; None without distributions."""
    references: Mapping[str, Any] = field(default_factory=dict)
    """For a factor of named levels the level that others are compared with."""
    transactions: int | None = None
    """How many a run was to have, where it has a number of them."""
    models: Models | None = None
    """What the study's models say; None where it names none."""
    maps: Mapping[str, Map] = field(default_factory=dict)
    """For each figure of kind `region` that the study names what a model says there."""

    @property
    def varied(self) -> list[Column]:
        """The factors with more than one level in these results."""
        return [column for column in self.columns.values() if len(column.values) > 1]

    @property
    def main_metric(self) -> str:
        """The metric that the study is about."""
        measured = [name for name in self.metrics if f"{name}.mean" in self.points.columns]
        for name in (*MAIN_METRICS, *(name for name in measured if name.endswith("_s"))):
            if name in measured:
                return name
        return measured[0] if measured else ""

    def metric_title(self, name: str, scale: Scale) -> str:
        """An axis title for a metric."""
        metric = self.metrics.get(name)
        title = scale.title(metric.text if metric else name.replace("_", " "))
        # What is measured and which of its statistics, on two lines where one is too long.
        return title.replace(", ", ",<br>", 1) if len(title) > 30 else title

    def scale(self, name: str) -> Scale:
        """The unit in which a metric is shown."""
        return metric_scale(self.metrics.get(name), self.points)


@dataclass(frozen=True)
class Layout:
    """Which factor is which part of a figure."""

    x: Column | None
    series: Column | None
    panels: tuple[Column, ...]
    choices: tuple[Column, ...]
    fixed: dict[str, Any]
    """Levels of factors that had too many combinations to choose from."""
    start: tuple[int, ...]
    """The level of each choice that is shown first."""


def arrange(
    definition: Definition,
    source: Source,
    *,
    with_x: bool = True,
    with_series: bool = True,
    keep: Collection[str] = (),
) -> Layout:
    """Place the study's factors; what the definition leaves open is chosen here.

    Factors in `keep` are left to the drawing itself.
    """
    free = {column.key: column for column in source.varied if column.key not in keep}

    def take(key: str) -> Column | None:
        return free.pop(key, None)

    x = take(definition.x) if with_x and definition.x in free else None
    wanted_series = [key for key in definition.series if key in free]
    wanted_panels = [key for key in definition.panels if key in free]
    if with_x and x is None:
        kept = {*wanted_series, *wanted_panels, "transport.delivery"}
        open_ones = [c for c in free.values() if c.key not in kept] or list(free.values())
        x = max(open_ones, key=lambda c: (c.numeric, len(c.values)), default=None)
        if x is not None:
            free.pop(x.key)
            wanted_series = [key for key in wanted_series if key in free]
            wanted_panels = [key for key in wanted_panels if key in free]
    series = take(wanted_series[0]) if wanted_series else None
    if series is None and with_series and not definition.series:
        words = [c for c in free.values() if not c.numeric and c.key not in wanted_panels]
        best = next((c for c in words if c.key == "transport.delivery"), None)
        best = best or next((c for c in words if len(c.values) <= 8), None)
        series = take(best.key) if best else None
    panels = [column for key in wanted_panels if (column := take(key))]
    if not definition.panels:
        for column in sorted(free.values(), key=lambda c: len(c.values)):
            size = prod(len(c.values) for c in panels) * len(column.values)
            if len(panels) < 2 and size <= MOST_PANELS:
                panels.append(column)
                free.pop(column.key)
    panels = [_filtered(column, definition) for column in panels]
    choices = list(free.values())
    fixed: dict[str, Any] = {}
    while prod(len(column.values) for column in choices) > MOST_FRAMES:
        largest = max(choices, key=lambda c: len(c.values))
        choices.remove(largest)
        fixed[largest.key] = largest.values[_start(largest, definition)]
    start = tuple(_start(column, definition) for column in choices)
    return Layout(x, series, tuple(panels), tuple(choices), fixed, start)


def build(
    layout: Layout,
    definition: Definition,
    rows: list[Row],
    panel: Callable[[str, list[Row]], Panel],
) -> tuple[dict[tuple[int, ...], list[Panel]], list[Choice]]:
    """Call `panel` with the title and rows of each panel of each combination of choices."""
    panel_levels = [
        list(reversed(column.values)) if column.key in definition.descending else column.values
        for column in layout.panels
    ]
    combinations = list(product(*panel_levels))
    titles = letters(
        [
            ", ".join(
                _in_title(column, value)
                for column, value in zip(layout.panels, levels, strict=True)
            )
            for levels in combinations
        ]
    )
    keys = [c.key for c in (*layout.choices, *layout.panels)]
    grouped: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if all(row[key] == value for key, value in layout.fixed.items()):
            grouped.setdefault(tuple(row[key] for key in keys), []).append(row)
    frames = {}
    for picked in product(*(range(len(column.values)) for column in layout.choices)):
        chosen = tuple(c.values[i] for c, i in zip(layout.choices, picked, strict=True))
        frames[picked] = [
            panel(title, grouped.get((*chosen, *levels), []))
            for title, levels in zip(titles, combinations, strict=True)
        ]
    choices = [
        Choice(column.name, column.labels, at)
        for column, at in zip(layout.choices, layout.start, strict=True)
    ]
    return frames, choices


def _in_title(column: Column, value: Any) -> str:
    label = column.label(value)
    # A bare number says little without its name.
    return f"{column.name} {label}" if label.replace(".", "", 1).isdigit() else label


def _start(column: Column, definition: Definition) -> int:
    wanted = definition.start.get(column.key)
    return column.values.index(wanted) if wanted in column.values else 0


def _filtered(column: Column, definition: Definition) -> Column:
    wanted = [v for v in definition.levels.get(column.key, column.values) if v in column.values]
    if not wanted:
        return column
    labels = tuple(column.label(value) for value in wanted)
    return Column(column.key, column.name, tuple(wanted), labels, column.scale)
