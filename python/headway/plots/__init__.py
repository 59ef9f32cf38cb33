"""Figures: tables in, figures out. What to draw is data (figures.toml, study.toml)."""

from __future__ import annotations

from collections.abc import Iterable

from headway.errors import UserError
from headway.plots.bins import bins
from headway.plots.curves import curves
from headway.plots.definition import Definition, catalogue, chosen
from headway.plots.distributions import distributions
from headway.plots.fall_off import fall_off
from headway.plots.figure import Choice, Entry, Figure, Panel
from headway.plots.leave import leave
from headway.plots.levels import levels
from headway.plots.lines import lines
from headway.plots.parts import parts
from headway.plots.region import region
from headway.plots.source import Source

__all__ = [
    "KINDS",
    "Choice",
    "Definition",
    "Entry",
    "Figure",
    "Panel",
    "Source",
    "catalogue",
    "chosen",
    "draw",
]

KINDS = {
    "curves": curves,
    "parts": parts,
    "distributions": distributions,
    "levels": levels,
    "lines": lines,
    "bins": bins,
    "fall-off": fall_off,
    "leave": leave,
    "region": region,
}


def draw(definitions: Iterable[Definition], source: Source) -> list[Figure]:
    """Draw the figures; one whose metric or factor the study lacks is left out.

    Raises UserError for a kind that is unknown.
    """
    figures = []
    for definition in definitions:
        if definition.kind not in KINDS:
            kinds = ", ".join(KINDS)
            raise UserError(
                f"figure {definition.name}: unknown kind {definition.kind}; kinds: {kinds}"
            )
        figure = KINDS[definition.kind](definition, source)
        if figure is not None:
            figures.append(figure)
    return figures
