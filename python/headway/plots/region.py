"""A fine map of a model over loss and round-trip time, with what was simulated on it."""

from __future__ import annotations

from typing import Any

from headway.plots.columns import Scale
from headway.plots.definition import Definition
from headway.plots.figure import Figure, Panel
from headway.plots.heat import limit_line, outside_marks
from headway.plots.models import Map
from headway.plots.source import Row, Source
from headway.plots.theme import axis

DELAY, LOSS = "path.one_way_delay", "path.loss.rate"
TIMES_LIMIT = 4
"""How far the colours reach beyond the limit, so that it shows."""


def region(definition: Definition, source: Source) -> Figure | None:
    """Draw the figure; None when there is no map of it."""
    found = source.maps.get(definition.name)
    if found is None:
        return None
    scale = source.scale(definition.y)
    points = [row for row in source.points.to_dicts() if _shown(row, definition)]
    data = [*_model(found, scale, definition), _simulated(points, definition, scale)]
    values = found.table[found.output].to_list()
    limit = definition.budgets[0] if definition.budgets else max(values)
    layout = {
        "xaxis": axis("round-trip time (ms)"),
        "yaxis": axis("loss rate (%)", type="log"),
        "coloraxis": {
            "colorscale": "Viridis",
            "reversescale": True,
            "cmin": scale.factor * min(values),
            "cmax": scale.factor * min(max(values), TIMES_LIMIT * limit),
            "colorbar": {"title": {"text": scale.unit}, "thickness": 14},
        },
    }
    caption = f"{definition.caption} {found.validity}".strip()
    return Figure(
        definition.name,
        definition.title,
        caption,
        [],
        {(): [Panel(source.metric_title(definition.y, scale), data, layout)]},
        columns=1,
        height=definition.height,
    )


def _shown(row: Row, definition: Definition) -> bool:
    return row.get(f"{definition.y}.mean") is not None and all(
        row[key] in wanted for key, wanted in definition.levels.items()
    )


def _model(found: Map, scale: Scale, definition: Definition) -> list[dict[str, Any]]:
    """Colours, the line of the limit, and crosses outside the region of validity."""
    at = {(row["loss"], row["rtt_s"]): row for row in found.table.to_dicts()}
    losses = sorted({loss for loss, _ in at})
    rtts = sorted({rtt for _, rtt in at})
    value = [
        [float(f"{scale.factor * at[loss, rtt][found.output]:.4g}") for rtt in rtts]
        for loss in losses
    ]
    places = {
        "x": [round(1000 * rtt, 3) for rtt in rtts],
        "y": [float(f"{100 * loss:.4g}") for loss in losses],
    }
    drawn: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            **places,
            "z": value,
            "coloraxis": "coloraxis",
            "hovertemplate": "%{x} ms, %{y} %: <b>%{z:.4g} "
            f"{scale.unit}</b><extra>{found.model}</extra>",
        }
    ]
    drawn += [limit_line(places, value, scale.factor * limit) for limit in definition.budgets]
    outside = [place for place, row in at.items() if not row["inside"]]
    x = [round(1000 * rtt, 3) for _, rtt in outside]
    drawn.append(outside_marks(x, [float(f"{100 * loss:.4g}") for loss, _ in outside]))
    return drawn


def _simulated(rows: list[Row], definition: Definition, scale: Scale) -> dict[str, Any]:
    """Discs in the colours of the map; a square where the limit is exceeded."""
    means = [scale.factor * row[f"{definition.y}.mean"] for row in rows]
    limit = scale.factor * definition.budgets[0] if definition.budgets else float("inf")
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [round(2000 * row[DELAY], 3) for row in rows],
        "y": [round(100 * row[LOSS], 6) for row in rows],
        "marker": {
            "symbol": ["circle" if mean <= limit else "square" for mean in means],
            "size": 15,
            "color": [float(f"{mean:.4g}") for mean in means],
            "coloraxis": "coloraxis",
            "line": {"width": 1.5, "color": "@ink"},
        },
        "text": [f"{mean:.4g} {scale.unit}" for mean in means],
        "hovertemplate": "%{x} ms, %{y} %: <b>%{text}</b><extra>simulated</extra>",
    }
