"""What is drawn over a coloured map: the line of a limit, and where the model is not valid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Trace = dict[str, Any]


def limit_line(places: Trace, value: Sequence[Sequence[float | None]], edge: float) -> Trace:
    """The line along which a map of `value` (rows along y, columns along x) equals `edge`.

    `places` holds the "x" and "y" of the columns and rows; `edge` is in the unit of `value`.
    """
    return {
        "type": "contour",
        **places,
        "z": value,
        "showscale": False,
        "hoverinfo": "skip",
        "contours": {"coloring": "none", "start": edge, "end": edge, "size": 1},
        "line": {"color": "@vermillion", "width": 2.5},
    }


def outside_marks(x: Sequence[Any], y: Sequence[Any]) -> Trace:
    """Small crosses at the points that lie outside the model's region of validity."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "outside the region of validity",
        "x": x,
        "y": y,
        "marker": {"symbol": "x-thin", "size": 3, "line": {"width": 0.6, "color": "@ink"}},
        "hoverinfo": "skip",
    }
