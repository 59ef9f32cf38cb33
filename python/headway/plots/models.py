"""Analytical models in a figure: thin lines beside the simulated means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import polars as pl

from headway.plots.columns import Column, Scale
from headway.plots.figure import LINE, Entry

Row = dict[str, Any]

DASHES = ("solid", "dot")
"""Of the first and the second model, in their regions;"""
OUTSIDE = "dash"
"""of any of them outside."""
WIDTH = 1.2


@dataclass(frozen=True)
class Value:
    """What a model says at one point."""

    value: float
    inside: bool
    why: str


@dataclass(frozen=True)
class Map:
    """A model over a fine grid of loss rates and round-trip times."""

    model: str
    output: str
    """The column that is shown."""
    table: pl.DataFrame
    """As `headway.models.predict` makes it, with `loss`, `rtt_s`, `inside` and the output."""
    validity: str


@dataclass(frozen=True)
class Models:
    """What models say at the points of a study."""

    table: pl.DataFrame
    """As `headway.beside.values` makes it."""
    validity: Mapping[str, str]
    """For each model its region of validity in words."""

    @cached_property
    def _found(self) -> dict[tuple[str, str], dict[int, Value]]:
        found: dict[tuple[str, str], dict[int, Value]] = {}
        columns = ["model", "metric", "point_id", "value", "inside", "why"]
        known = self.table.filter(pl.col("metric").is_not_null()).select(columns)
        for model, metric, point, value, inside, why in known.iter_rows():
            found.setdefault((model, metric), {})[point] = Value(value, inside, why)
        return found

    def of(self, metric: str) -> dict[str, dict[int, Value]]:
        """For each model that knows the metric its values by number of point."""
        return {
            model: self._found[model, metric]
            for model in self.validity
            if (model, metric) in self._found
        }

    @property
    def silent(self) -> Counter[str]:
        """Why models say nothing, with the number of points of which they say nothing."""
        return Counter(self.table.filter(pl.col("metric").is_null())["why"].to_list())


def entries(models: Models | None, metric: str) -> list[Entry]:
    """A line of the legend for each model that knows the metric."""
    found = models.of(metric) if models else {}
    return [
        Entry(f"model-{name}", f"model {name}", "@muted", _dash(at), LINE)
        for at, name in enumerate(found)
    ]


def traces(
    models: Models | None,
    metric: str,
    rows: Sequence[Row],
    x: Column,
    scale: Scale,
    series: Entry,
) -> list[dict[str, Any]]:
    """The models' lines along one series; `rows` are its points in the order of x.

    A step between two points is drawn as outside the region as soon as one of them is.
    """
    drawn = []
    for at, (name, found) in enumerate((models.of(metric) if models else {}).items()):
        known = [(row, found[row["point_id"]]) for row in rows if row["point_id"] in found]
        if not known:
            continue
        where = [x.position(row[x.key]) if x.numeric else x.label(row[x.key]) for row, _ in known]
        shown = [float(f"{value.value * scale.factor:.5g}") for _, value in known]
        text = [
            f"{x.label(row[x.key])}: <b>{y:.4g} {scale.unit}</b> by {name}"
            + (f"<br>outside its region: {value.why}" if value.why else "")
            for (row, value), y in zip(known, shown, strict=True)
        ]
        steps = [a.inside and b.inside for (_, a), (_, b) in pairwise(known)]
        for inside in (True, False):
            part = _part(shown, steps, inside, [value.inside for _, value in known])
            if part is None:
                continue
            drawn.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": f"{series.label}, model {name}".removeprefix(", "),
                    # The series' button hides its models too, the models' button all of theirs.
                    "legendgroup": f"model-{name}",
                    "meta": series.key,
                    "x": where,
                    "y": part,
                    "connectgaps": False,
                    "line": {
                        "color": series.colour,
                        "dash": _dash(at) if inside else OUTSIDE,
                        "width": WIDTH,
                    },
                    "text": text,
                    "hovertemplate": "%{text}<extra>" + series.label + "</extra>",
                }
            )
    return drawn


def tops(models: Models | None, metric: str, rows: Sequence[Row], scale: Scale) -> list[float]:
    """What the axis must reach so that the models' lines are seen where they hold."""
    return [
        found[row["point_id"]].value * scale.factor
        for found in (models.of(metric) if models else {}).values()
        for row in rows
        if row["point_id"] in found and found[row["point_id"]].inside
    ]


def caption(models: Models | None, metric: str) -> str:
    """What the caption of a figure says of the models in it; empty without any."""
    found = models.of(metric) if models else {}
    if models is None or not found:
        return ""
    told = [f"Thin lines without markers: {_listed(list(found))}; dashed outside its region."]
    told += [f"Region of {name}: {models.validity[name]}." for name in found]
    told += [
        f"No line at {count} points: {why}." if count > 1 else f"No line at one point: {why}."
        for why, count in models.silent.items()
    ]
    return " ".join(told)


def _part(
    shown: list[float], steps: list[bool], inside: bool, points: list[bool]
) -> list[float | None] | None:
    """The line where its steps are inside, or outside; None where there is no such step."""
    kept: list[float | None] = [None] * len(shown)
    for at, step in enumerate(steps):
        if step == inside:
            kept[at], kept[at + 1] = shown[at], shown[at + 1]
    # A single point has no step; it would not be seen as a line either, but it has its text.
    if not steps and points[0] == inside:
        return [*shown]
    return kept if any(value is not None for value in kept) else None


def _dash(at: int) -> str:
    return DASHES[at % len(DASHES)]


def _listed(names: list[str]) -> str:
    return ", ".join(f"model {name}" for name in names)
