"""Distributions over calls or messages: how many wait longer, how many wait at most."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.plots.curves import series_legend
from headway.plots.definition import Definition
from headway.plots.figure import Choice, Entry, Figure, Panel
from headway.plots.source import Row, Source, arrange, build
from headway.plots.theme import axis
from headway.stats import pooled_quantiles

# Each run returns its quantiles in steps of 0.5 %, so nothing is drawn beyond 99.5 %.
LONGER = np.concatenate([np.linspace(0, 0.85, 18), 1 - np.geomspace(0.14, 0.005, 36)])
AT_MOST = np.concatenate([np.linspace(0, 0.9, 31), np.linspace(0.91, 0.995, 18)])
VIEWS = ("share that waits longer (logarithmic)", "share that waits at most")
READ_AT = 0.95
SPOKEN = {
    "psd_s": ("calls that wait", "post-selection delay"),
    "td_s": ("transactions that take", "transaction delay"),
    "delay_s": ("packets that take", "delay"),
}
"""Of each distribution: who waits, and what its delay is called."""


def distributions(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when the study has no such distribution."""
    if source.quantiles is None:
        return None
    rows = [
        row
        for row in source.quantiles.to_dicts()
        if row["metric"] == definition.metric and row["quantiles"]
    ]
    if not rows:
        return None
    layout = arrange(definition, source, with_x=False)
    legend = series_legend(layout.series)
    factor, unit = 1000.0, "ms"

    def panel(longer: bool, name: str, own: list[Row]) -> Panel:
        levels = LONGER if longer else AT_MOST
        data = []
        for i, entry in enumerate(legend):
            level = layout.series.values[i] if layout.series else None
            runs = [
                row["quantiles"]
                for row in own
                if layout.series is None or row[layout.series.key] == level
            ]
            if runs:
                values = pooled_quantiles(np.array(runs), levels) * factor
                data.append(_curve(values, levels, entry, unit, longer))
        return Panel(name, data, _axes(longer, unit, definition.metric))

    frames: dict[tuple[int, ...], list[Panel]] = {}
    for view, longer in enumerate((True, False)):
        drawn, choices = build(layout, definition, rows, partial(panel, longer))
        frames |= {(*picked, view): panels for picked, panels in drawn.items()}
    return Figure(
        definition.name,
        definition.title,
        definition.caption,
        legend if layout.series else [],
        frames,
        [*choices, Choice("shown", VIEWS, 0)],
        definition.columns,
        definition.height,
    )


def _curve(
    values: NDArray[np.float64],
    levels: NDArray[np.float64],
    entry: Entry,
    unit: str,
    longer: bool,
) -> dict[str, Any]:
    share = 100 * (1 - levels if longer else levels)
    words = "wait longer" if longer else "wait at most that long"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": entry.label,
        "legendgroup": entry.key,
        "x": [float(f"{value:.4g}") for value in values],
        "y": [float(f"{value:.3g}") for value in share],
        "line": {"color": entry.colour, "dash": entry.dash, "width": 2.2},
        "hovertemplate": f"%{{x:.4g}} {unit}: <b>%{{y:.3g}} %</b> {words}"
        f"<extra>{entry.label}</extra>",
    }


def _axes(longer: bool, unit: str, metric: str) -> dict[str, Any]:
    mark = 100 * (1 - READ_AT) if longer else 100 * READ_AT
    line = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": mark,
        "y1": mark,
        "line": {"color": "@axis", "dash": "dash", "width": 1},
    }
    who, delay = SPOKEN[metric]
    y = (
        axis(
            f"{who} longer (%)",
            type="log",
            range=[np.log10(0.5), 2.03],
            tickvals=[0.5, 1, 2, 5, 10, 20, 50, 100],
        )
        if longer
        else axis(f"{who} at most (%)", range=[0, 101])
    )
    return {
        "xaxis": axis(f"{delay} ({unit})", rangemode="tozero"),
        "yaxis": y,
        "shapes": [line],
    }
