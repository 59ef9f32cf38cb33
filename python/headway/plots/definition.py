"""Figures as data: what to draw, chosen by name in a study's [report] section.

The catalogue is figures.toml beside this file. An entry names the kind of drawing and the
columns for its axes, series and panels; columns that a study does not vary drop out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any

from headway.errors import UserError
from headway.units import nearest


@dataclass(frozen=True)
class Definition:
    """One figure of the catalogue."""

    name: str
    kind: str
    title: str
    caption: str = ""
    x: str = ""
    """Column of the horizontal axis; empty: chosen from the study."""
    y: str = ""
    """Metric of the vertical axis; empty: the workload's main metric."""
    series: list[str] = field(default_factory=list)
    """Columns told apart within a panel; empty: chosen from the study."""
    panels: list[str] = field(default_factory=list)
    """Columns told apart by panels; empty: chosen from the study."""
    start: dict[str, Any] = field(default_factory=dict)
    """Levels that are shown first, of columns the reader may choose."""
    descending: list[str] = field(default_factory=list)
    """Columns whose levels run downwards over the panels."""
    levels: dict[str, list[Any]] = field(default_factory=dict)
    """Only these levels of a column, where the study has them."""
    needs: list[str] = field(default_factory=list)
    """Columns without which a study does not draw the figure of its own accord."""
    metric: str = ""
    """Distributions: what is distributed."""
    lines: list[dict[str, Any]] = field(default_factory=list)
    """Several metrics in one panel: each with `metric`, `label` and, where it is of some
    points only, `where`."""
    budgets: list[float] = field(default_factory=list)
    """Delay budgets in seconds, of figures that ask where they are kept."""
    columns: int = 2
    height: int = 300
    log_y: bool = False


@cache
def catalogue() -> dict[str, Definition]:
    """Every figure by name."""
    data = tomllib.loads((files(__package__) / "figures.toml").read_text(encoding="utf-8"))
    return {name: definition(name, entry) for name, entry in data.items()}


def definition(name: str, entry: dict[str, Any]) -> Definition:
    """A definition from its table.

    Raises UserError for an unknown key.
    """
    known = {item.name for item in fields(Definition)} - {"name"}
    for key in entry:
        if key not in known:
            meant = nearest(key, tuple(sorted(known)))
            hint = f'did you mean "{meant}"?' if meant else f"keys: {', '.join(sorted(known))}"
            raise UserError(f"figure {name}: unknown key {key}; {hint}")
    return Definition(name=name, **entry)


def chosen(names: Sequence[str], varied: Iterable[str]) -> list[Definition]:
    """The figures a study names, or those that suit the factors it varies.

    Raises UserError for a name that the catalogue lacks.
    """
    known = catalogue()
    for name in names:
        if name not in known:
            meant = nearest(name, tuple(known))
            hint = f'did you mean "{meant}"? ' if meant else ""
            raise UserError(f"no figure {name}; {hint}figures: {', '.join(known)}")
    if names:
        return [known[name] for name in names]
    has = set(varied)
    found: dict[str, Definition] = {}
    for entry in known.values():
        if set(entry.needs) <= has:
            # Of several figures of one kind the first, most special one stands for all.
            found.setdefault(entry.kind, entry)
    return list(found.values())
