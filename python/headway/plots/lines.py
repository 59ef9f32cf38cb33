"""Several metrics against a factor in one panel, each where it applies."""

from __future__ import annotations

from typing import Any

from headway.plots.curves import x_axis
from headway.plots.definition import Definition
from headway.plots.figure import Entry, Figure, Panel
from headway.plots.source import Row, Source, arrange, build
from headway.plots.theme import DASHES, SERIES, SYMBOLS, axis


def lines(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when the study lacks the axis or every metric."""
    known = [
        (line, entry)
        for line, entry in zip(definition.lines, _legend(definition), strict=True)
        if f"{line['metric']}.mean" in source.points.columns
    ]
    where = {key for line, _ in known for key in line.get("where", {})}
    layout = arrange(definition, source, with_series=False, keep=where)
    x = layout.x
    if x is None or not known:
        return None
    scale = source.scale(known[0][0]["metric"])

    def panel(name: str, rows: list[Row]) -> Panel:
        data = []
        for line, entry in known:
            own = [
                row
                for row in rows
                if all(row.get(key, value) == value for key, value in line.get("where", {}).items())
            ]
            own.sort(key=lambda row: x.values.index(row[x.key]))
            values = [row[f"{line['metric']}.mean"] for row in own]
            shown = [None if v is None else float(f"{v * scale.factor:.5g}") for v in values]
            data.append(_line(x, own, shown, scale.unit, entry))
        y: dict[str, Any] = {"type": "log"} if definition.log_y else {"rangemode": "tozero"}
        return Panel(name, data, {"xaxis": x_axis(x), "yaxis": axis(scale.title(title), **y)})

    title = definition.y or source.metrics[known[0][0]["metric"]].text
    frames, choices = build(layout, definition, source.points.to_dicts(), panel)
    return Figure(
        definition.name,
        definition.title,
        definition.caption,
        [entry for _, entry in known],
        frames,
        choices,
        definition.columns,
        definition.height,
    )


def _legend(definition: Definition) -> list[Entry]:
    return [
        Entry(
            f"s{i}",
            line.get("label", line["metric"]),
            SERIES[i % len(SERIES)],
            DASHES[i % len(DASHES)],
            SYMBOLS[i % len(SYMBOLS)],
        )
        for i, line in enumerate(definition.lines)
    ]


def _line(
    x: Any, rows: list[Row], values: list[float | None], unit: str, entry: Entry
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": entry.label,
        "legendgroup": entry.key,
        "x": [x.position(r[x.key]) if x.numeric else x.label(r[x.key]) for r in rows],
        "y": values,
        "line": {"color": entry.colour, "dash": entry.dash, "width": 2},
        "marker": {"color": entry.colour, "symbol": entry.symbol, "size": 6},
        "text": [x.label(r[x.key]) for r in rows],
        "hovertemplate": f"%{{text}}: <b>%{{y:.4g}} {unit}</b><extra>{entry.label}</extra>",
    }
