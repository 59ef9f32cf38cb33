"""The delay of a message taken apart: stacked bars of its four parts."""

from __future__ import annotations

from typing import Any

from headway.plots.curves import x_axis
from headway.plots.definition import Definition
from headway.plots.figure import Entry, Figure, Panel, bar_pattern
from headway.plots.source import Row, Source, arrange, build
from headway.plots.theme import axis

PARTS = (
    ("network_mean_s", Entry("network", "network", "@muted", pattern="")),
    ("sender_wait_mean_s", Entry("sender_wait", "waiting at the sender", "@sky", pattern=".")),
    ("recovery_mean_s", Entry("recovery", "recovery from loss", "@orange", pattern="/")),
    ("hol_blocking_mean_s", Entry("hol_blocking", "HOLB", "@vermillion", pattern="x")),
)


def parts(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when the study lacks the parts or varies nothing."""
    layout = arrange(definition, source, with_series=False)
    x = layout.x
    if x is None or any(f"{name}.mean" not in source.points.columns for name, _ in PARTS):
        return None
    scale = source.scale("message_delay_mean_s")
    largest: dict[tuple[Any, ...], float] = {}
    keys = [c.key for c in layout.choices]
    rows = source.points.to_dicts()
    for row in rows:
        total = sum(row[f"{name}.mean"] or 0.0 for name, _ in PARTS) * scale.factor
        choice = tuple(row[key] for key in keys)
        largest[choice] = max(largest.get(choice, 0.0), total)

    def panel(name: str, own: list[Row]) -> Panel:
        own = sorted(own, key=lambda r: x.values.index(r[x.key]))
        labels = [x.label(row[x.key]) for row in own]
        data = [
            {
                "type": "bar",
                "name": entry.label,
                "legendgroup": entry.key,
                "x": labels,
                "y": [_shown(row[f"{metric}.mean"], scale.factor) for row in own],
                "marker": {
                    "color": entry.colour,
                    "pattern": bar_pattern(entry),
                    "line": {"width": 0},
                },
                "hovertemplate": f"%{{x}}: <b>%{{y:.4g}} {scale.unit}</b>"
                f"<extra>{entry.label}</extra>",
            }
            for metric, entry in PARTS
        ]
        # Bars of one drawing are compared by eye, so its panels share their axis.
        top = max((largest.get(tuple(row[key] for key in keys), 0.0) for row in own), default=1.0)
        return Panel(
            name,
            data,
            {
                "barmode": "stack",
                "xaxis": x_axis(x)
                | {
                    "type": "category",
                    "title": axis(x.name)["title"],
                    "tickvals": None,
                    "ticktext": None,
                    "range": None,
                },
                "yaxis": axis(scale.title("mean delay of a message"), range=[0, 1.05 * top]),
            },
        )

    frames, choices = build(layout, definition, rows, panel)
    return Figure(
        definition.name,
        definition.title,
        definition.caption,
        [entry for _, entry in PARTS],
        frames,
        choices,
        definition.columns,
        definition.height,
    )


def _shown(value: float | None, factor: float) -> float | None:
    return None if value is None else float(f"{value * factor:.5g}")
