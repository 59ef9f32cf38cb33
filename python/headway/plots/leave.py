"""At which SNR to leave a cell, against the delay that a transaction may take."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.plots.curves import series_legend
from headway.plots.definition import Definition
from headway.plots.figure import Figure, Panel
from headway.plots.source import Row, Source, arrange, build
from headway.plots.theme import axis
from headway.stats import edge

SNR = "path.snr"
LEVEL = 0.95
"""Share of the transactions that must keep the budget."""
RESAMPLES, SEED = 400, 20_060_901


def leave(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when the study has no delays over the SNR."""
    varied = {column.key for column in source.varied}
    if source.quantiles is None or SNR not in varied:
        return None
    rows = kept(source, definition.budgets)
    if not rows:
        return None
    layout = arrange(definition, source, keep={SNR}, with_x=False)
    legend = series_legend(layout.series)

    def panel(name: str, own: list[Row]) -> Panel:
        data = []
        for i, entry in enumerate(legend):
            level = layout.series.values[i] if layout.series else None
            mine = [r for r in own if layout.series is None or r[layout.series.key] == level]
            places = [place(mine, budget) for budget in definition.budgets]
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": entry.label,
                    "legendgroup": entry.key,
                    "x": [1000 * budget for budget in definition.budgets],
                    "y": [_shown(p[0]) for p in places],
                    "error_y": {
                        "type": "data",
                        "symmetric": False,
                        "array": [_gap(p[2], p[0]) for p in places],
                        "arrayminus": [_gap(p[0], p[1]) for p in places],
                        "color": entry.colour,
                        "thickness": 1.5,
                        "width": 4,
                    },
                    "line": {"color": entry.colour, "dash": entry.dash, "width": 2},
                    "marker": {"color": entry.colour, "symbol": entry.symbol, "size": 7},
                    "hovertemplate": "%{x:.4g} ms: <b>%{y:.3g} dB</b>"
                    f"<extra>{entry.label}</extra>",
                }
            )
        ticks = [1000 * budget for budget in definition.budgets]
        x: dict[str, Any] = {
            "type": "log",
            "tickvals": ticks,
            "ticktext": [f"{t:g}" for t in ticks],
        }
        return Panel(
            name,
            data,
            {
                "xaxis": axis("delay budget (ms)", **x),
                "yaxis": axis("leave below this SNR (dB)", rangemode="normal"),
            },
        )

    frames, choices = build(layout, definition, rows, panel)
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


def kept(source: Source, budgets: list[float]) -> list[Row]:
    """For each run its factors, and the share of its transactions within each budget."""
    if source.quantiles is None:
        return []
    keys = [column.key for column in source.columns.values()]
    found = []
    answered = {
        tuple(row[key] for key in keys): _answered(row, source.transactions)
        for row in source.points.to_dicts()
    }
    for row in source.quantiles.to_dicts():
        if row["metric"] != "td_s":
            continue
        share, number = answered[tuple(row[key] for key in keys)]
        quantiles = np.array(row["quantiles"] or [])
        within = {budget: edge.within(quantiles, budget, share) for budget in budgets}
        found.append({key: row[key] for key in keys} | {"within": within, "number": number})
    return found


def _answered(point: Row, planned: int | None) -> tuple[float, float]:
    """The share of a run's transactions that got a 200, and their number.

    A transport that gives up ends its run; what it no longer begins counts as unanswered.
    """
    begun = point["transactions.mean"] or 0.0
    number = max(begun, planned or 0)
    return (begun - (point["failed_no_answer.mean"] or 0.0)) / max(number, 1.0), number


def place(rows: list[Row], budget: float) -> tuple[float, float, float]:
    """Where to leave for a budget, with its 95 % interval; NaN where no SNR is measured there."""
    snrs = sorted({row[SNR] for row in rows})
    shares, numbers = [], []
    for snr in snrs:
        own = [row for row in rows if row[SNR] == snr]
        shares.append(float(np.mean([row["within"][budget] for row in own])))
        numbers.append(sum(row["number"] for row in own))
    if not snrs:
        return (float("nan"),) * 3
    places = edge.leave(
        np.array(snrs, dtype=np.float64),
        np.array(shares),
        np.array(numbers),
        LEVEL,
        RESAMPLES,
        SEED,
    )
    known = places[1:][np.isfinite(places[1:])]
    if np.isnan(places[0]) or not known.size:
        return float(places[0]), float("nan"), float("nan")
    low, high = np.quantile(known, [0.025, 0.975])
    return float(places[0]), float(low), float(high)


def _shown(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.4g}")


def _gap(upper: float, lower: float) -> float:
    gap = upper - lower
    return 0.0 if np.isnan(gap) else max(0.0, float(f"{gap:.3g}"))
