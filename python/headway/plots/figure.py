"""A figure: panels beside each other, one legend, and choices a reader may make.

A panel is what plotly calls a figure (traces and a layout), as plain data. The page draws
each panel by itself, so that they stack on a narrow screen; for a paper they are put
together into one drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from headway.plots.theme import LIGHT, base_layout, painted

LINE = "line"
"""The symbol of a line without markers."""


@dataclass(frozen=True)
class Entry:
    """One line of the legend."""

    key: str
    """The `legendgroup` of its traces."""
    label: str
    colour: str
    dash: str = "solid"
    symbol: str = ""
    """Marker, or LINE for none; empty for bars."""
    pattern: str = ""
    """Pattern of bars."""

    @property
    def bar(self) -> bool:
        """Whether it stands for bars."""
        return not self.symbol


@dataclass(frozen=True)
class Panel:
    """One set of axes."""

    title: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """A factor whose level the reader picks."""

    name: str
    labels: tuple[str, ...]
    default: int


@dataclass(frozen=True)
class Figure:
    """A whole figure."""

    name: str
    title: str
    caption: str
    legend: list[Entry]
    frames: dict[tuple[int, ...], list[Panel]]
    """Panels for each combination of choices; the empty tuple without choices."""
    choices: list[Choice] = field(default_factory=list)
    columns: int = 2
    """Panels side by side on a wide screen."""
    height: int = 300
    """Height of a panel in pixels."""

    @property
    def default(self) -> tuple[int, ...]:
        """The combination that is shown first and that files show."""
        return tuple(choice.default for choice in self.choices)

    @property
    def panels(self) -> list[Panel]:
        """The panels that are shown first."""
        return self.frames[self.default]

    def for_page(self) -> dict[str, Any]:
        """The figure as the page's script reads it."""
        return {
            "name": self.name,
            "choices": [
                {"name": c.name, "labels": list(c.labels), "default": c.default}
                for c in self.choices
            ],
            "frames": {
                ",".join(map(str, key)): [
                    {
                        "title": panel.title,
                        "data": panel.data,
                        "layout": base_layout() | panel.layout,
                    }
                    for panel in panels
                ]
                for key, panels in self.frames.items()
            },
        }

    def for_paper(self, width: int = 900) -> dict[str, Any]:
        """One plotly figure with the panels that are shown first, on white, with a legend."""
        return compose(self, width)


TITLE_ROOM, LEGEND_ROOM, GAP_X, GAP_Y = 26, 46, 92, 74


def compose(figure: Figure, width: int) -> dict[str, Any]:
    """Put the panels of `figure` into one drawing."""
    panels = figure.panels
    across = min(figure.columns, len(panels))
    rows = ceil(len(panels) / across)
    groups = {trace.get("legendgroup") for panel in panels for trace in panel.data}
    legend = [entry for entry in figure.legend if entry.symbol != LINE or entry.key in groups]
    legend.sort(key=lambda entry: entry.bar)
    margin = {"l": 72, "r": 16, "t": LEGEND_ROOM + TITLE_ROOM, "b": 60}
    inner_width = width - margin["l"] - margin["r"]
    inner_height = rows * figure.height + (rows - 1) * GAP_Y
    panel_width = (inner_width - (across - 1) * GAP_X) / across
    height = inner_height + margin["t"] + margin["b"]
    data: list[dict[str, Any]] = []
    layout = base_layout() | {
        "width": width,
        "height": height,
        "margin": margin,
        "paper_bgcolor": "@paper",
        "plot_bgcolor": "@paper",
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "x": 0.5,
            "xanchor": "center",
            "y": 1 + (TITLE_ROOM + 6) / inner_height,
            "yanchor": "bottom",
            "traceorder": "normal",
        },
        "annotations": [],
    }
    for i, panel in enumerate(panels):
        suffix = "" if i == 0 else str(i + 1)
        row, column = divmod(i, across)
        left = column * (panel_width + GAP_X) / inner_width
        right = left + panel_width / inner_width
        top = 1 - row * (figure.height + GAP_Y) / inner_height
        bottom = top - figure.height / inner_height
        for key, value in panel.layout.items():
            if key in ("xaxis", "yaxis"):
                continue
            if key == "shapes":
                layout.setdefault("shapes", []).extend(_placed(shape, suffix) for shape in value)
                continue
            layout.setdefault(key, value) if key != "barmode" else layout.update(barmode=value)
        layout[f"xaxis{suffix}"] = panel.layout["xaxis"] | {
            "domain": [left, min(right, 1.0)],
            "anchor": f"y{suffix}",
        }
        layout[f"yaxis{suffix}"] = panel.layout["yaxis"] | {
            "domain": [max(bottom, 0.0), top],
            "anchor": f"x{suffix}",
        }
        layout["annotations"].append(
            {
                "text": f"<b>{panel.title}</b>",
                "x": left,
                "y": top,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "bottom",
                "yshift": 4,
                "showarrow": False,
                "font": {"size": 13},
            }
        )
        shared = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "showlegend": False}
        data += [trace | shared for trace in panel.data]
    data += [_legend_trace(entry) for entry in legend]
    drawn: dict[str, Any] = painted({"data": data, "layout": layout}, LIGHT)
    return drawn


def _placed(shape: dict[str, Any], suffix: str) -> dict[str, Any]:
    """A shape of a panel within its panel: what spans it must not span the whole drawing."""
    refs = {}
    for axis in ("x", "y"):
        spans = shape.get(f"{axis}ref") == "paper"
        refs[f"{axis}ref"] = f"{axis}{suffix} domain" if spans else f"{axis}{suffix}"
    return shape | refs


def bar_pattern(entry: Entry) -> dict[str, Any]:
    """The pattern of a bar: thin lines in the colour of the page over the bar's own."""
    return {"shape": entry.pattern, "fillmode": "overlay", "fgcolor": "@paper", "size": 7}


def _legend_trace(entry: Entry) -> dict[str, Any]:
    """A trace without points, which only fills its line of the legend."""
    shared: dict[str, Any] = {
        "x": [None],
        "y": [None],
        "name": entry.label,
        "showlegend": True,
        "hoverinfo": "skip",
    }
    if entry.bar:
        marker = {"color": entry.colour, "pattern": bar_pattern(entry)}
        return shared | {"type": "bar", "marker": marker}
    if entry.symbol == LINE:
        line = {"color": entry.colour, "dash": entry.dash, "width": 1.2}
        return shared | {"type": "scatter", "mode": "lines", "line": line}
    return shared | {
        "type": "scatter",
        "mode": "lines+markers" if entry.dash else "markers",
        "line": {"color": entry.colour, "dash": entry.dash or "solid", "width": 2},
        "marker": {"color": entry.colour, "symbol": entry.symbol, "size": 8},
    }


def letters(titles: Sequence[str]) -> list[str]:
    """Panel titles led by (a), (b), and so on, where there are several."""
    if len(titles) < 2:
        return list(titles)
    return [f"({chr(ord('a') + i)}) {title}" for i, title in enumerate(titles)]
