"""A table of predictions as a figure: curves, or a map over two settings."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import polars as pl

from headway.errors import UserError
from headway.plots.columns import Column, Scale, scale_of
from headway.plots.curves import series_legend
from headway.plots.figure import Entry, Figure, Panel, letters
from headway.plots.heat import limit_line, outside_marks
from headway.plots.theme import axis
from headway.units import BIT_RATE, DURATION, FRACTION, SIZE, Quantity

__all__ = ["Setting", "arrange_settings", "figure", "quantity_of", "scale_for"]

MOST_PANELS = 12
MOST_SERIES = 10
MAP_FROM = 8
"""Two settings of numbers with this many values each make a map."""

Row = dict[str, Any]

_SUFFIXES = {"_s": DURATION, "_bytes": SIZE, "_bps": BIT_RATE, "_share": FRACTION}


def quantity_of(name: str) -> Quantity | None:
    """The quantity of an output, by the unit in its name."""
    for suffix, quantity in _SUFFIXES.items():
        if name.endswith(suffix):
            return quantity
    return None


def scale_for(name: str, values: Sequence[Any], quantity: Quantity | None = None) -> Scale:
    """The unit in which a column reads best."""
    numbers = sorted(abs(v) for v in values if isinstance(v, int | float) and v == v)
    middle = numbers[len(numbers) // 2] if numbers else 0.0
    return scale_of(quantity or quantity_of(name), middle)


@dataclass(frozen=True)
class Setting:
    """One setting that varies over the table."""

    name: str
    values: list[Any]
    scale: Scale

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return all(isinstance(v, int | float) and not isinstance(v, bool) for v in self.values)

    @property
    def wide(self) -> bool:
        """Whether its values read best on a logarithmic axis."""
        return self.numeric and min(self.values) > 0 and max(self.values) / min(self.values) > 20

    @property
    def title(self) -> str:
        """Its name with its unit, which is not said twice."""
        bare = self.name
        for suffix in ("_s", "_bytes"):
            bare = bare.removesuffix(suffix)
        return self.scale.title(bare.replace("_", " "))

    def shown(self, value: Any) -> Any:
        """A value in the unit shown."""
        return round(value * self.scale.factor, 9) if self.numeric else str(value)

    def label(self, value: Any) -> str:
        """A value with its unit."""
        if not self.numeric:
            return str(value)
        return f"{self.shown(value):g} {self.scale.unit}".strip()


def figure(
    name: str,
    title: str,
    table: pl.DataFrame,
    varied: Sequence[Setting],
    outputs: Mapping[str, str],
    limit: float | None = None,
) -> Figure:
    """A table of `headway.models.predict` as a figure.

    `varied` are the settings that vary, `outputs` the columns to draw with their meaning, one
    panel each. What lies outside the region of validity is pale, in a map crossed out.
    `limit`, in base units, is drawn as a line. Raises UserError where there is too little or
    too much to draw.
    """
    placed = arrange_settings(varied, outputs)
    x, series = placed.x, placed.series
    panels = _panels(table, placed.panels, outputs, title)
    if placed.y is not None:
        y = placed.y
        layout = _map_axes(x, y) | _colours(table[next(iter(outputs))].to_list(), outputs, limit)
        drawn = [
            Panel(text, _map(rows, x, y, output, limit), layout) for text, output, rows in panels
        ]
        return Figure(name, title, "", [], {(): drawn}, columns=min(2, len(drawn)), height=420)
    legend = _legend(series)
    drawn = [
        Panel(
            text,
            _curves(rows, x, series, output, legend),
            _axes(rows, x, output, limit if output == next(iter(outputs)) else None),
        )
        for text, output, rows in panels
    ]
    shown = legend if series else []
    return Figure(name, title, "", shown, {(): drawn}, columns=min(2, len(drawn)), height=380)


@dataclass(frozen=True)
class Arrangement:
    """Which setting goes where."""

    x: Setting
    y: Setting | None
    """Upwards, where the figure is a map."""
    series: Setting | None
    panels: list[Setting]


def arrange_settings(varied: Sequence[Setting], outputs: Collection[str]) -> Arrangement:
    """Where each setting that varies goes; UserError where that is too little or too much."""
    numeric = sorted((s for s in varied if s.numeric), key=lambda s: -len(s.values))
    if not numeric:
        raise UserError(
            "a plot needs a setting of numbers that varies, such as loss=0.5%..10%:20 or loss=1%,2%"
        )
    x, y, series = numeric[0], None, None
    others = [s for s in varied if s is not x]
    if len(numeric) > 1 and len(numeric[1].values) >= MAP_FROM:
        y = numeric[1]
        others = [s for s in others if s is not y]
        if len(outputs) > 1:
            raise UserError(
                f"a map over {x.name} and {y.name} shows one output, not {len(outputs)}"
            )
    else:
        few = [s for s in others if len(s.values) <= MOST_SERIES]
        series = max(few, key=lambda s: len(s.values), default=None)
        others = [s for s in others if s is not series]
    panels = prod(len(s.values) for s in others) * len(outputs)
    if panels > MOST_PANELS:
        raise UserError(
            f"{panels} panels are too many for one plot (at most {MOST_PANELS}); vary less"
        )
    return Arrangement(x, y, series, others)


def _legend(series: Setting | None) -> list[Entry]:
    if series is None:
        return series_legend(None)
    labels = tuple(series.label(value) for value in series.values)
    return series_legend(Column(series.name, series.title, tuple(series.values), labels, Scale()))


def _panels(
    table: pl.DataFrame, others: Sequence[Setting], outputs: Mapping[str, str], title: str
) -> list[tuple[str, str, list[Row]]]:
    """For each panel its title, its column and its rows."""
    combinations = list(itertools.product(*(setting.values for setting in others)))
    found = []
    for levels in combinations:
        own = table.filter(
            *(pl.col(s.name) == level for s, level in zip(others, levels, strict=True))
        )
        said = ", ".join(
            f"{s.title.partition(' (')[0]} {s.label(level)}"
            for s, level in zip(others, levels, strict=True)
        )
        for output, meaning in outputs.items():
            # The axis names the output; a title repeats it only where nothing else tells.
            text = said or (meaning if len(outputs) > 1 else title)
            found.append((text, output, own.to_dicts()))
    titles = letters([text for text, _, _ in found])
    return [(text, output, rows) for text, (_, output, rows) in zip(titles, found, strict=True)]


def _curves(
    rows: Sequence[Row], x: Setting, series: Setting | None, output: str, legend: Sequence[Entry]
) -> list[dict[str, Any]]:
    scale = scale_for(output, [row[output] for row in rows])
    drawn = []
    for at, entry in enumerate(legend):
        own = [row for row in rows if series is None or row[series.name] == series.values[at]]
        own.sort(key=lambda row: row[x.name])
        where = [x.shown(row[x.name]) for row in own]
        value = [row[output] * scale.factor for row in own]
        text = [
            f"{x.label(row[x.name])}: <b>{y:.4g} {scale.unit}</b>"
            + (f"<br>outside the region: {row['why']}" if row["why"] else "")
            for row, y in zip(own, value, strict=True)
        ]
        for inside in (True, False):
            part = _along(value, [row["inside"] for row in own], inside)
            if all(y is None for y in part):
                continue
            drawn.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers" if len(own) <= 25 else "lines",
                    "name": entry.label,
                    "legendgroup": entry.key,
                    "x": where,
                    "y": part,
                    "opacity": 1.0 if inside else 0.4,
                    "line": {
                        "color": entry.colour,
                        "dash": entry.dash,
                        "width": 2 if inside else 1.2,
                    },
                    "marker": {"color": entry.colour, "symbol": entry.symbol, "size": 6},
                    "text": text,
                    "hovertemplate": "%{text}<extra>" + entry.label + "</extra>",
                }
            )
    return drawn


def _along(value: list[float], inside: list[bool], wanted: bool) -> list[float | None]:
    """The points that lie inside, or the steps that touch one outside."""
    if wanted:
        return [y if here else None for y, here in zip(value, inside, strict=True)]
    kept: list[float | None] = [None] * len(value)
    for at, here in enumerate(inside):
        if not here:
            for near in range(max(at - 1, 0), min(at + 2, len(value))):
                kept[near] = value[near]
    return kept


def _axes(rows: Sequence[Row], x: Setting, output: str, limit: float | None) -> dict[str, Any]:
    scale = scale_for(output, [row[output] for row in rows])
    name = output
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    layout: dict[str, Any] = {
        "xaxis": axis(x.title, type="log" if x.wide else "linear"),
        "yaxis": axis(scale.title(name.replace("_", " ")), rangemode="tozero"),
    }
    if limit is not None:
        layout["shapes"] = [
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": limit * scale.factor,
                "y1": limit * scale.factor,
                "line": {"color": "@axis", "dash": "dot", "width": 1.5},
            }
        ]
    return layout


def _map(
    rows: Sequence[Row], x: Setting, y: Setting, output: str, limit: float | None
) -> list[dict[str, Any]]:
    scale = scale_for(output, [row[output] for row in rows])
    at = {(row[y.name], row[x.name]): row for row in rows}
    across, up = sorted(x.values), sorted(y.values)
    value = [
        [at[v, u][output] * scale.factor if (v, u) in at else None for u in across] for v in up
    ]
    places = {"x": [x.shown(u) for u in across], "y": [y.shown(v) for v in up]}
    unit = f" {scale.unit}" if scale.unit else ""
    drawn: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            **places,
            "z": value,
            "coloraxis": "coloraxis",
            "hovertemplate": f"{x.title}: %{{x:.4g}}<br>{y.title}: %{{y:.4g}}<br>"
            f"<b>%{{z:.4g}}{unit}</b><extra></extra>",
        }
    ]
    if limit is not None:
        drawn.append(limit_line(places, value, limit * scale.factor))
    outside = [(u, v) for v in up for u in across if (v, u) in at and not at[v, u]["inside"]]
    if outside:
        marks = outside_marks([x.shown(u) for u, _ in outside], [y.shown(v) for _, v in outside])
        drawn.append(marks)
    return drawn


def _colours(
    values: Sequence[float], outputs: Mapping[str, str], limit: float | None
) -> dict[str, Any]:
    """One scale of colours; where there is a limit, up to four times that, so that it shows."""
    output = next(iter(outputs))
    scale = scale_for(output, values)
    bounds = {}
    if limit is not None:
        most = min(max(values), 4 * limit) * scale.factor
        bounds = {"cmin": min(values) * scale.factor, "cmax": most}
    return {
        "coloraxis": {
            "colorscale": "Viridis",
            "reversescale": True,
            "colorbar": {"title": {"text": scale.unit}, "thickness": 14},
            **bounds,
        }
    }


def _map_axes(x: Setting, y: Setting) -> dict[str, Any]:
    return {
        "xaxis": axis(x.title, type="log" if x.wide else "linear"),
        "yaxis": axis(y.title, type="log" if y.wide else "linear"),
    }
