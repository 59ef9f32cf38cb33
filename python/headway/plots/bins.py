"""How often a delay occurs, in bins of 0.25 s: the frequency charts of seed 1."""

from __future__ import annotations

import numpy as np

from headway.plots.definition import Definition
from headway.plots.figure import Entry, Figure, Panel
from headway.plots.source import Row, Source, arrange, build
from headway.plots.theme import SERIES, axis

WIDTH = 0.25
"""Seconds."""


def bins(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when the study has no such counts."""
    if source.quantiles is None or "counts" not in source.quantiles.columns:
        return None
    rows = [row for row in source.quantiles.to_dicts() if row["metric"] == definition.metric]
    if not any(row["counts"] for row in rows):
        return None
    layout = arrange(definition, source, with_x=False, with_series=False)
    entry = Entry("all", "transactions", SERIES[1])

    def panel(name: str, own: list[Row]) -> Panel:
        longest = max((len(row["counts"] or []) for row in own), default=0)
        total = np.zeros(longest, dtype=np.int64)
        for row in own:
            counts = row["counts"] or []
            total[: len(counts)] += np.array(counts, dtype=np.int64)
        bars = {
            "type": "bar",
            "name": entry.label,
            "legendgroup": entry.key,
            "x": [float(f"{WIDTH * (i + 0.5):g}") for i in range(longest)],
            "y": total.tolist(),
            "width": 0.9 * WIDTH,
            "marker": {"color": entry.colour},
            "text": [f"{WIDTH * i:g} to {WIDTH * (i + 1):g} s" for i in range(longest)],
            "hovertemplate": "%{text}: <b>%{y}</b> transactions<extra></extra>",
            "textposition": "none",
        }
        return Panel(
            name,
            [bars],
            {
                "xaxis": axis("transaction delay (s)", rangemode="tozero"),
                "yaxis": axis("transactions", type="log"),
            },
        )

    frames, choices = build(layout, definition, rows, panel)
    return Figure(
        definition.name,
        definition.title,
        definition.caption,
        [],
        frames,
        choices,
        definition.columns,
        definition.height,
    )
