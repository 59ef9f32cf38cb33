"""Named levels of one factor beside each other: a mean and its interval on each line."""

from __future__ import annotations

from typing import Any

from headway.plots.definition import Definition
from headway.plots.figure import Entry, Figure, Panel
from headway.plots.source import Row, Source, arrange, build
from headway.plots.theme import axis

REFERENCE = Entry("reference", "compared with", "@vermillion", "", "diamond")
OTHERS = Entry("others", "mean with 95 % interval", "@blue", "", "circle")


def levels(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when the study lacks the factor or the metric."""
    metric = definition.x if definition.x in source.metrics else source.main_metric
    layout = arrange(definition, source, with_x=False)
    column = layout.series
    if column is None or f"{metric}.mean" not in source.points.columns:
        return None
    scale = source.scale(metric)
    reference = source.references.get(column.key)

    def panel(name: str, own: list[Row]) -> Panel:
        by_level = {row[column.key]: row for row in own}
        data = [
            _dots(
                [
                    by_level[v]
                    for v in column.values
                    if v in by_level and (v == reference) == is_ref
                ],
                column.key,
                entry,
            )
            for entry, is_ref in ((OTHERS, False), (REFERENCE, True))
        ]
        layout: dict[str, Any] = {
            "margin": {"l": 8, "r": 14, "t": 8, "b": 48},
            "xaxis": axis(source.metric_title(metric, scale), rangemode="tozero"),
            "yaxis": axis(
                "",
                type="category",
                categoryorder="array",
                categoryarray=list(reversed(column.labels)),
                range=[-0.6, len(column.labels) - 0.4],
            ),
        }
        if reference in by_level and by_level[reference][f"{metric}.mean"] is not None:
            at = by_level[reference][f"{metric}.mean"] * scale.factor
            layout["shapes"] = [
                {
                    "type": "line",
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "x0": at,
                    "x1": at,
                    "line": {"color": "@vermillion", "dash": "dash", "width": 1},
                }
            ]
        return Panel(name, [trace for trace in data if trace["x"]], layout)

    def _dots(rows: list[Row], key: str, entry: Entry) -> dict[str, Any]:
        rows = [row for row in rows if row[f"{metric}.mean"] is not None]
        mean = [row[f"{metric}.mean"] * scale.factor for row in rows]
        ends = [
            (row[f"{metric}.ci_low"], row[f"{metric}.ci_high"], m)
            for row, m in zip(rows, mean, strict=True)
        ]
        return {
            "type": "scatter",
            "mode": "markers",
            "name": entry.label,
            "legendgroup": entry.key,
            "x": [float(f"{m:.5g}") for m in mean],
            "y": [column.label(row[key]) for row in rows],
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": [0.0 if h is None else h * scale.factor - m for _, h, m in ends],
                "arrayminus": [0.0 if lo is None else m - lo * scale.factor for lo, _, m in ends],
                "color": entry.colour,
                "thickness": 1.5,
                "width": 5,
            },
            "marker": {"color": entry.colour, "symbol": entry.symbol, "size": 9},
            "hovertemplate": f"%{{y}}: <b>%{{x:.4g}} {scale.unit}</b><extra></extra>",
        }

    frames, choices = build(layout, definition, source.points.to_dicts(), panel)
    return Figure(
        definition.name,
        definition.title,
        definition.caption,
        [OTHERS, REFERENCE] if reference is not None else [OTHERS],
        frames,
        choices,
        definition.columns,
        definition.height,
    )
