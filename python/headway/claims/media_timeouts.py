"""The claim on timeouts of a flow with a small window, held against simulation (seed 4, 6.4)."""

from __future__ import annotations

from headway.claims.grid import Axis, Grid, View
from headway.claims.media_configured import LOSSES
from headway.claims.registry import checks
from headway.claims.verdict import Finding

TRANSMIT = "transport.tcp.limited_transmit"
LIMITED, VALIDATION = "transport.tcp.window_when_limited", "transport.tcp.validation"
AXES = {
    "loss": Axis("path.loss.rate", LOSSES, "% loss", 100),
    "transmit": Axis(TRANSMIT, ("on", "off")),
    "limited": Axis(LIMITED, ("keep", "grow")),
    "validation": Axis(VALIDATION, ("off", "rfc2861")),
}
KEPT = {"limited": "keep", "validation": "off"}
SHRUNK = {"limited": "keep", "validation": "rfc2861"}
FACTOR = 1.2
SEEN = 0.005
"""Loss rates from this one on bring the timeouts that a ratio needs."""


@checks("s4-c12", compares=[TRANSMIT, LIMITED, VALIDATION])
def timeouts_are_rare(view: View) -> Finding:
    """Timeouts of all recoveries with both mechanisms and without either."""
    grid = Grid(view, AXES, "timeout_share")
    losses = [loss for loss in LOSSES if loss >= SEEN]

    def share(**where: str) -> list[float]:
        return [float(x) for x in view.means(grid.at(loss=losses, **where))[0]]

    both = view.means(grid.at(loss=losses, transmit="on", **KEPT))
    neither = view.means(grid.at(loss=losses, transmit="off", **SHRUNK))
    rates = ", ".join(f"{100 * loss:g} %" for loss in losses)

    def told(values: list[float]) -> str:
        return ", ".join(f"{100 * value:.2g}" for value in values)

    return Finding(
        (neither >= FACTOR * both).all(axis=1),
        f"{told(list(both[0]))} % of the recoveries, without both {told(list(neither[0]))} %",
        f"At {rates} loss. One without the other: limited transmit and a window that shrinks "
        f"{told(share(transmit='on', **SHRUNK))} %; a kept window without limited transmit "
        f"{told(share(transmit='off', **KEPT))} %. At 0.1 % there is no timeout.",
    )
