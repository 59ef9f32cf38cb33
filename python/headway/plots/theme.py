"""Colours, dashes and markers that anyone can tell apart, in the light and in the dark.

Colours are those of Okabe and Ito, "Color Universal Design" (2008). No series is told by
colour alone: each has a marker, a dash or a pattern of its own as well. In figures a colour
is a name such as "@blue"; it becomes a value when a figure is shown, by the page's theme.
"""

from __future__ import annotations

from typing import Any

SERIES = ("@vermillion", "@blue", "@green", "@purple", "@orange", "@sky", "@yellow", "@ink")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "5px,2px", "2px,4px")
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "x",
    "cross",
    "triangle-down",
    "star",
    "pentagon",
    "hexagon",
)
PATTERNS = ("", "/", "x", "\\", ".", "-", "|", "+")

_OKABE_ITO = {
    "@orange": "#E69F00",
    "@sky": "#56B4E9",
    "@green": "#009E73",
    "@yellow": "#F0E442",
    "@blue": "#0072B2",
    "@vermillion": "#D55E00",
    "@purple": "#CC79A7",
}
LIGHT = _OKABE_ITO | {
    # Too pale on white as a thin line; the same hue, darker.
    "@yellow": "#B5A900",
    "@ink": "#1d2733",
    "@muted": "#5b6775",
    "@grid": "#e3e8ee",
    "@axis": "#9aa5b1",
    "@paper": "#ffffff",
    "@hover": "#ffffff",
}
DARK = _OKABE_ITO | {
    # Too dark on a dark page; the same hue, lighter.
    "@blue": "#4AA3DF",
    "@vermillion": "#F07F2E",
    "@green": "#2CC197",
    "@ink": "#e6ebf1",
    "@muted": "#a3afbc",
    "@grid": "#2b3541",
    "@axis": "#5d6977",
    "@paper": "#161c24",
    "@hover": "#222b36",
}

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def base_layout() -> dict[str, Any]:
    """What every panel shares."""
    return {
        "font": {"family": FONT, "size": 13, "color": "@ink"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 62, "r": 14, "t": 8, "b": 48},
        "hoverlabel": {"bgcolor": "@hover", "bordercolor": "@axis", "font": {"color": "@ink"}},
        "hovermode": "closest",
        "showlegend": False,
        "bargap": 0.25,
    }


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis in the report's style."""
    return {
        "title": {"text": title, "standoff": 8, "font": {"size": 13, "color": "@muted"}},
        "gridcolor": "@grid",
        "linecolor": "@axis",
        "tickcolor": "@axis",
        "tickfont": {"color": "@muted"},
        "zeroline": False,
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
        "automargin": True,
        "tickangle": 0,
        **more,
    }


def painted(value: Any, palette: dict[str, str]) -> Any:
    """A figure with every colour name replaced by its value in `palette`."""
    if isinstance(value, str):
        return palette.get(value, value)
    if isinstance(value, dict):
        return {key: painted(item, palette) for key, item in value.items()}
    if isinstance(value, list):
        return [painted(item, palette) for item in value]
    return value
