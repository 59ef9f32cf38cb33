"""Our stack under dcSCTP's settings beside dcSCTP itself, point by point.

`python tests/interop/differential.py` prints the table of `docs/interop.md`.
"""

from __future__ import annotations

import argparse
import io
import json
import random
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway import _core

POINTS = 50
SEED = 9260
TOLERANCE = 0.10
"""How far the 95th percentiles of the post-selection delay may lie apart."""

LEFT = frozenset({17})
"""Points at which the named mechanism explains the difference only in part."""

FLOOR_MTUS = 40
"""Least congestion window, in MTUs, above which the window does not bind at any point here."""


@dataclass(frozen=True)
class Point:
    """One point of the path, the load and the delivery."""

    number: int
    one_way_delay_ms: float
    loss: float
    call_rate: float
    delivery: str


@dataclass(frozen=True)
class Seen:
    """What one stack did at a point, all replications together."""

    p95_s: float
    fast: int
    timed: int
    needless: int
    pieces_a_message: float


@dataclass(frozen=True)
class Compared:
    """Both stacks at one point."""

    point: Point
    ours: Seen
    theirs: Seen
    open_ratio: float | None
    """The ratio again with a window that does not bind; None where it was not needed."""

    @property
    def ratio(self) -> float:
        return self.ours.p95_s / self.theirs.p95_s

    @property
    def agrees(self) -> bool:
        return abs(self.ratio - 1) < TOLERANCE

    @property
    def explained(self) -> bool:
        """Whether the named mechanism, switched off, makes the difference vanish."""
        return self.open_ratio is not None and abs(self.open_ratio - 1) < TOLERANCE


def points(count: int = POINTS) -> list[Point]:
    """The first `count` of the random points, always the same ones."""
    draw = random.Random(SEED)
    return [
        Point(
            number,
            round(draw.uniform(5, 150), 1),
            round(draw.uniform(0.005, 0.08), 4),
            round(draw.uniform(5, 80), 1),
            draw.choice(["ordered", "streams", "unordered"]),
        )
        for number in range(count)
    ]


def _run(point: Point, transport: dict[str, Any], seconds: int, replications: int) -> Seen:
    specs = [
        {
            "version": 1,
            "run": {"id": f"r{replication}", "point": point.number, "replication": replication},
            "seed": f"{1_000_003 * point.number + replication:016x}",
            "duration_ns": seconds * 1_000_000_000,
            "workload": {"kind": "sip", "call_rate": point.call_rate},
            "transport": {"delivery": point.delivery, **transport},
            "collect": {"transactions": True},
            "path": {
                "one_way_delay_ns": int(point.one_way_delay_ms * 1e6),
                "loss": {"kind": "bernoulli", "rate": point.loss},
            },
        }
        for replication in range(replications)
    ]
    returned = _core.run([json.dumps(spec) for spec in specs])
    runs = pl.read_ipc_stream(io.BytesIO(returned["runs"]))
    assert runs["complete"].all(), point
    # Of all calls together: a mean of quantiles jumps where few calls decide.
    calls = pl.read_ipc_stream(io.BytesIO(returned["transactions"]))
    p95_ns = calls["psd_ns"].drop_nulls().quantile(0.95, "linear")
    assert p95_ns is not None
    first = runs["data_chunks"].sum() - runs["retransmissions"].sum()
    return Seen(
        float(p95_ns) / 1e9,
        int(runs["fast_retransmissions"].sum()),
        int(runs["timed_retransmissions"].sum()),
        int(runs["needless_retransmissions"].sum()),
        float(first / runs["messages"].sum()),
    )


def compare(point: Point, seconds: int, replications: int) -> Compared:
    """Runs both stacks; where they differ, again with a window that does not bind."""

    def both(floor: int | None) -> tuple[Seen, Seen]:
        knobs = {} if floor is None else {"ssthresh_floor_mtus": floor}
        # dcSCTP asks for SACKs at once below a window of its own; so it still does.
        opened = {"cwnd_mtus_min": floor, "immediate_sack_under_cwnd_mtus": 1000}
        options = {} if floor is None else opened
        ours = {"kind": "sctp", "profile": "dcsctp", "sctp": knobs}
        theirs = {"kind": "dcsctp", "dcsctp": options}
        return (
            _run(point, ours, seconds, replications),
            _run(point, theirs, seconds, replications),
        )

    ours, theirs = both(None)
    seen = Compared(point, ours, theirs, None)
    if seen.agrees:
        return seen
    ours_open, theirs_open = both(FLOOR_MTUS)
    return Compared(point, ours, theirs, ours_open.p95_s / theirs_open.p95_s)


HEAD = (
    "| point | delay | loss | calls | delivery | ours p95 | dcSCTP p95 | difference | "
    "window open | needless, ours | dcSCTP | pieces a message, dcSCTP |\n" + "|---" * 12 + "|"
)


def row(seen: Compared) -> str:
    """One line of the table."""
    point = seen.point
    window = "" if seen.open_ratio is None else f"{seen.open_ratio - 1:+.1%}"
    cells = [
        point.number,
        f"{point.one_way_delay_ms} ms",
        f"{point.loss:.2%}",
        f"{point.call_rate}/s",
        point.delivery,
        f"{seen.ours.p95_s * 1e3:.0f} ms",
        f"{seen.theirs.p95_s * 1e3:.0f} ms",
        f"{seen.ratio - 1:+.1%}",
        window,
        seen.ours.needless,
        seen.theirs.needless,
        f"{seen.theirs.pieces_a_message:.2f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--only", type=int, nargs="*", help="the numbers of some points")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--replications", type=int, default=4)
    arguments = parser.parse_args()
    print(HEAD)
    for point in points(arguments.points):
        if arguments.only and point.number not in arguments.only:
            continue
        print(row(compare(point, arguments.seconds, arguments.replications)), flush=True)


if __name__ == "__main__":
    main()
