"""Claims on playout delays for media with configured drops, held against simulation (6.6).

Each function takes the runs of a study and follows the check and the tolerance that the
claim's entry in media_over_tcp.toml states. A study may carry the same sources over other
transports; the claims speak of TCP.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.claims.grid import Array, Axis, Grid, View
from headway.claims.registry import checks
from headway.claims.verdict import Finding

LOSSES = (0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
SOURCES = {
    "source": Axis("workload", ("VoIP", "video")),
    "delay": Axis("path.one_way_delay", (0.01, 0.05, 0.15), "ms", 1000),
    "loss": Axis("path.loss.rate", LOSSES, "% loss", 100),
    "transport": Axis("transport", ("TCP",)),
}
REGIONS = {"VoIP": {0.01: 0.05, 0.05: 0.02}, "video": {0.05: 0.03, 0.15: 0.001}}
"""The working regions that section 6.1 states: the largest loss rate by one-way delay."""


def _at(view: View, metric: str, source: str, delay: float, losses: Sequence[float]) -> Array:
    """Means over replications by loss rate, one row a resample."""
    grid = Grid(view, SOURCES, metric)
    return view.means(grid.at(source=source, delay=delay, loss=losses, transport="TCP"))


def _percent(losses: Sequence[float], values: Array) -> str:
    return ", ".join(
        f"{100 * value:.2f} % at {100 * loss:g} %"
        for loss, value in zip(losses, values, strict=True)
    )


def _rtt(delay: float) -> str:
    return f"RTT {2000 * delay:.0f} ms"


@checks("s4-c33", compares=["transport"])
def playout_for_voip(view: View) -> Finding:
    """Late share of VoIP at 20 and 100 ms up to 2 %."""
    losses = LOSSES[:4]
    late = {delay: _at(view, "late_share", "VoIP", delay, losses) for delay in (0.01, 0.05)}
    every = np.concatenate(list(late.values()), axis=1)
    return Finding(
        (every <= 0.06).all(axis=1),
        f"at most {100 * every[0].max():.2f} %",
        "; ".join(f"{_rtt(delay)}: {_percent(losses, found[0])}" for delay, found in late.items())
        + ".",
    )


@checks("s4-c34", compares=["transport"])
def sensitivity_to_playout(view: View) -> Finding:
    """Playout delay from 5 to 1 % late by RTT, and VoIP beside video."""
    losses = (0.005, 0.01, 0.02)
    delays = SOURCES["delay"].levels
    p95, p99 = (
        {
            source: np.stack(
                [_at(view, metric, source, float(delay), losses) for delay in delays], axis=2
            )
            for source in ("VoIP", "video")
        }
        for metric in ("delay_p95_s", "delay_p99_s")
    )
    more = {source: p99[source] - p95[source] for source in p95}
    falls: NDArray[np.bool_] = np.logical_and.reduce(
        [(np.diff(added, axis=2) > 0).all(axis=(1, 2)) for added in more.values()]
    )
    # At 20 ms a packet of either is alone in its round trip.
    less = np.stack([(q["VoIP"] <= q["video"])[:, :, 1:] for q in (p95, p99)], axis=3)
    told = "; ".join(
        f"{source} at {100 * loss:g} %: "
        + ", ".join(f"{1000 * value:.0f} ms" for value in added[0, place])
        for source, added in more.items()
        for place, loss in enumerate(losses)
    )
    return Finding(
        falls & less.all(axis=(1, 2, 3)),
        ("from 5 to 1 % late takes longer at a larger RTT" if falls[0] else "no order by RTT")
        + f"; VoIP needs no more than video at {int(less[0].sum())} of {less[0].size} points",
        f"Added playout delay from 5 to 1 % late at 20, 100 and 300 ms: {told}. VoIP is held "
        "beside video at 100 and 300 ms, for 5 and 1 % late.",
    )


@checks("s4-c35", compares=["transport"])
def playout_covers_voip(view: View) -> Finding:
    """Late shares inside the two working regions."""
    late: dict[str, Array] = {}
    told: dict[str, str] = {}
    for source, region in REGIONS.items():
        parts = []
        for delay, most in region.items():
            losses = [loss for loss in LOSSES if loss <= most]
            found = _at(view, "late_share", source, delay, losses)
            parts.append(found)
            told[f"{source}, {_rtt(delay)}"] = _percent(losses, found[0])
        late[source] = np.concatenate(parts, axis=1)
    over = late["video"] > 0.05
    return Finding(
        (late["VoIP"] <= 0.05).all(axis=1) & over.any(axis=1),
        f"VoIP at most {100 * late['VoIP'][0].max():.2f} % late at {late['VoIP'].shape[1]} points; "
        f"video above 5 % at {int(over[0].sum())} of {over.shape[1]}",
        "Inside the regions that section 6.1 states. "
        + "; ".join(f"{where}: {values}" for where, values in told.items())
        + ".",
    )
