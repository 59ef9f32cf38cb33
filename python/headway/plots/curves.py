"""Means with their intervals against a factor: one curve for each level of another."""

from __future__ import annotations

from typing import Any

from headway.plots import models
from headway.plots.columns import Column, Scale
from headway.plots.definition import Definition
from headway.plots.figure import Entry, Figure, Panel
from headway.plots.source import Row, Source, arrange, build
from headway.plots.theme import DASHES, SERIES, SYMBOLS, axis

MOST_TICKS = 14


def curves(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when the study varies nothing or lacks the metric."""
    metric = definition.y if definition.y in source.metrics else source.main_metric
    layout = arrange(definition, source)
    x = layout.x
    if x is None or f"{metric}.mean" not in source.points.columns:
        return None
    scale = source.scale(metric)
    legend = series_legend(layout.series)
    title = source.metric_title(metric, scale)

    def panel(name: str, rows: list[Row]) -> Panel:
        data = []
        thin: list[dict[str, Any]] = []
        for i, entry in enumerate(legend):
            level = layout.series.values[i] if layout.series else None
            own = [r for r in rows if layout.series is None or r[layout.series.key] == level]
            own.sort(key=lambda r: x.values.index(r[x.key]))
            if own:
                data.append(_curve(own, metric, scale, x, entry))
                thin += models.traces(source.models, metric, own, x, scale, entry)
        tops = models.tops(source.models, metric, rows, scale)
        return Panel(
            name,
            data + thin,
            {
                "xaxis": x_axis(x),
                "yaxis": axis(title, **_y_range(definition, data, tops)),
            },
        )

    frames, choices = build(layout, definition, source.points.to_dicts(), panel)
    names = {"x": x.name, "y": source.metrics[metric].text}
    told = (definition.caption.format(**names), models.caption(source.models, metric))
    return Figure(
        definition.name,
        _capital(definition.title.format(**names)),
        " ".join(filter(None, told)),
        (legend if layout.series else []) + models.entries(source.models, metric),
        frames,
        choices,
        definition.columns,
        definition.height,
    )


def series_legend(series: Column | None) -> list[Entry]:
    """One entry a level: colour, dash and marker all differ as long as they can."""
    if series is None:
        return [Entry("all", "", SERIES[1], symbol=SYMBOLS[0])]
    entries = []
    for i, label in enumerate(series.labels):
        # A second round through the colours takes the next dash and marker.
        turn = i // len(SERIES)
        entries.append(
            Entry(
                f"s{i}",
                label,
                SERIES[i % len(SERIES)],
                DASHES[(i + turn) % len(DASHES)],
                SYMBOLS[i % len(SYMBOLS)],
            )
        )
    return entries


def x_axis(x: Column) -> dict[str, Any]:
    """The axis of a factor: its levels are the ticks, unless there are too many."""
    if not x.numeric:
        return axis(x.name, type="category", categoryarray=list(x.labels))
    ticks = [x.position(value) for value in x.values]
    shown = axis(x.scale.title(x.name))
    if len(ticks) <= MOST_TICKS:
        shown |= {"tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
    room = 0.05 * (max(ticks) - min(ticks))
    return shown | {"range": [min(ticks) - room, max(ticks) + room]}


def _curve(rows: list[Row], metric: str, scale: Scale, x: Column, entry: Entry) -> dict[str, Any]:
    def shown(row: Row, statistic: str) -> float | None:
        value = row[f"{metric}.{statistic}"]
        return None if value is None else float(f"{value * scale.factor:.5g}")

    mean = [shown(row, "mean") for row in rows]
    low = [shown(row, "ci_low") for row in rows]
    high = [shown(row, "ci_high") for row in rows]
    text = [
        f"{x.label(row[x.key])}: <b>{m:.4g} {scale.unit}</b>"
        + (f"<br>95 %: {lo:.4g} to {hi:.4g}" if lo is not None and hi is not None else "")
        + f"<br>{row[f'{metric}.n']} runs"
        if m is not None
        else ""
        for row, m, lo, hi in zip(rows, mean, low, high, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": entry.label,
        "legendgroup": entry.key,
        "x": [x.position(r[x.key]) if x.numeric else x.label(r[x.key]) for r in rows],
        "y": mean,
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": _gaps(high, mean),
            "arrayminus": _gaps(mean, low),
            "color": entry.colour,
            "thickness": 1.5,
            "width": 4,
        },
        "line": {"color": entry.colour, "dash": entry.dash, "width": 2},
        "marker": {"color": entry.colour, "symbol": entry.symbol, "size": 7},
        "text": text,
        "hovertemplate": "%{text}<extra>" + entry.label + "</extra>",
    }


def _gaps(upper: list[float | None], lower: list[float | None]) -> list[float]:
    return [
        0.0 if a is None or b is None else float(f"{a - b:.4g}")
        for a, b in zip(upper, lower, strict=True)
    ]


def _y_range(
    definition: Definition, data: list[dict[str, Any]], more: list[float]
) -> dict[str, Any]:
    """From zero, when no mean lies below it: an interval that does says nothing of delays."""
    if definition.log_y:
        return {"type": "log"}
    tops = [
        mean + above
        for trace in data
        for mean, above in zip(trace["y"], trace["error_y"]["array"], strict=True)
        if mean is not None
    ]
    if not tops or max(tops) <= 0 or any(m < 0 for t in data for m in t["y"] if m is not None):
        return {"rangemode": "tozero"}
    return {"range": [0, float(f"{1.06 * max(tops + more):.4g}")]}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
