"""Mean of F(t) over the runs inside the fall-off region, against t (seed 1, Figs. 7 and 11)."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.plots.curves import series_legend
from headway.plots.definition import Definition
from headway.plots.figure import Figure, Panel
from headway.plots.source import Row, Source, arrange, build
from headway.plots.theme import axis
from headway.stats import edge

MOST = 11
SNR = "path.snr"


def fall_off(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when the study has no such region."""
    if SNR not in {column.key for column in source.varied} or (
        "f1_share.mean" not in source.points.columns
    ):
        return None
    layout = arrange(definition, source, keep={SNR}, with_x=False)
    legend = series_legend(layout.series)

    def panel(name: str, rows: list[Row]) -> Panel:
        data = []
        for i, entry in enumerate(legend):
            level = layout.series.values[i] if layout.series else None
            own = [r for r in rows if layout.series is None or r[layout.series.key] == level]
            means = _means(own)
            if means is None:
                continue
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": entry.label,
                    "legendgroup": entry.key,
                    "x": list(range(1, MOST + 1)),
                    "y": [None if np.isnan(m) else float(f"{100 * m:.4g}") for m in means],
                    "line": {"color": entry.colour, "dash": entry.dash, "width": 2},
                    "marker": {"color": entry.colour, "symbol": entry.symbol, "size": 7},
                    "hovertemplate": f"%{{x}}: <b>%{{y:.3g}} %</b><extra>{entry.label}</extra>",
                }
            )
        x: dict[str, Any] = {"tickvals": list(range(1, MOST + 1)), "range": [0.6, MOST + 0.4]}
        return Panel(
            name,
            data,
            {
                "xaxis": axis("transmissions of the 200", **x),
                "yaxis": axis("mean share inside the region (%)", rangemode="tozero"),
            },
        )

    frames, choices = build(layout, definition, source.points.to_dicts(), panel)
    return Figure(
        definition.name,
        definition.title,
        definition.caption,
        legend if layout.series else [],
        frames,
        choices,
        definition.columns,
        definition.height,
    )


def _means(rows: list[Row]) -> list[float] | None:
    rows = sorted(rows, key=lambda row: row[SNR])
    if len(rows) < 3:
        return None
    snr = np.array([row[SNR] for row in rows], dtype=np.float64)

    def share(t: int) -> edge.Array:
        values = [row[f"f{t}_share.mean"] for row in rows]
        return np.array([[np.nan if v is None else v for v in values]])

    first = share(1)
    if np.isnan(first[0, -1]):
        return None
    region = edge.region(snr, first)
    return [float(region.mean(snr, share(t))[0]) for t in range(1, MOST + 1)]
