"""Our stack under dcSCTP's settings beside dcSCTP itself, point by point.

`python tests/interop/differential.py` prints the table of `docs/interop.md`.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headway import _core

POINTS = 50
SEED = 9260
TOLERANCE = 0.05
"""How far the 95th percentiles of the post-selection delay may lie apart."""

WORTH_A_LOOK = 0.03
"""The difference from which on the table shows both where what parts them is evened out."""

CALLS = 20_000
"""Calls of one run, about: rare calls need longer runs to say as much."""

MTU_BYTES = 1191
"""dcSCTP's `Options::mtu`, in which both count their windows."""

FLOOR_MTUS = 40
"""Least congestion window, in MTUs, above which the window does not bind at any point here."""

ONE_MESSAGE_MTU_BYTES = 276
"""IP and SCTP headers and one DATA chunk with a message of 225 bytes, which all are here."""

OPEN_OURS = {"ssthresh_floor_mtus": FLOOR_MTUS}

OPEN_THEIRS = {
    "cwnd_mtus_min": FLOOR_MTUS,
    # dcSCTP asks for SACKs at once below a window of its own; so it still does.
    "immediate_sack_under_cwnd_mtus": 1000,
}

ONE_A_PACKET_OURS = {
    "mtu_bytes": ONE_MESSAGE_MTU_BYTES,
    # The same windows in bytes.
    "ssthresh_floor_mtus": FLOOR_MTUS * MTU_BYTES // ONE_MESSAGE_MTU_BYTES + 1,
    "initial_cwnd_bytes": 10 * MTU_BYTES,
    # dcSCTP's limit on bursts begins anew with each message that it is handed.
    "max_burst": 0,
}


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
    """What one stack did at a point."""

    delays_s: list[NDArray[np.float64]]
    """Post-selection delays of each replication."""
    timeouts: int
    needless: int
    pieces_a_message: float

    @property
    def p95_s(self) -> float:
        # Of all calls together: a mean of quantiles jumps where few calls decide.
        return _p95(self.delays_s)


def _p95(delays_s: list[NDArray[np.float64]]) -> float:
    return float(np.quantile(np.concatenate(delays_s), 0.95))


@dataclass(frozen=True)
class Compared:
    """Both stacks, over the same arrivals."""

    ours: Seen
    theirs: Seen

    @property
    def difference(self) -> float:
        """Of the 95th percentiles, as a share of dcSCTP's."""
        return self.ours.p95_s / self.theirs.p95_s - 1

    @property
    def agrees(self) -> bool:
        return abs(self.difference) < TOLERANCE

    def interval(self, resamples: int = 400) -> tuple[float, float]:
        """The 95 % interval of the difference: replications drawn again, both stacks together."""
        draw = np.random.default_rng(SEED)
        count = len(self.ours.delays_s)

        # Few ways there are to draw a few replications, and each is asked for often.
        @cache
        def drawn(*chosen: int) -> float:
            ours, theirs = (
                _p95([seen.delays_s[index] for index in chosen])
                for seen in (self.ours, self.theirs)
            )
            return ours / theirs - 1

        differences = [
            drawn(*sorted(draw.integers(0, count, count).tolist())) for _ in range(resamples)
        ]
        low, high = np.quantile(differences, [0.025, 0.975])
        return float(low), float(high)


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


def _spec(
    point: Point, transport: dict[str, Any], seconds: int, replication: int
) -> dict[str, Any]:
    return {
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


def _seen(tables: list[dict[str, bytes]]) -> Seen:
    runs = pl.concat(pl.read_ipc_stream(io.BytesIO(table["runs"])) for table in tables)
    assert runs["complete"].all(), runs
    delays_s = [
        pl.read_ipc_stream(io.BytesIO(table["transactions"]))["psd_ns"].drop_nulls().to_numpy()
        / 1e9
        for table in tables
    ]
    first = runs["data_chunks"].sum() - runs["retransmissions"].sum()
    return Seen(
        delays_s,
        int(runs["timeouts"].sum()),
        int(runs["needless_retransmissions"].sum()),
        float(first / runs["messages"].sum()),
    )


def _compare(
    point: Point,
    ours: dict[str, Any],
    theirs: dict[str, Any],
    calls: int,
    replications: int,
) -> Compared:
    transports = (
        {"kind": "sctp", "profile": "dcsctp", "sctp": ours},
        {"kind": "dcsctp", "dcsctp": theirs},
    )
    seconds = int(calls / point.call_rate)
    specs = [
        json.dumps(_spec(point, transport, seconds, replication))
        for transport in transports
        for replication in range(replications)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tables = list(pool.map(lambda spec: _core.run([spec]), specs))
    return Compared(_seen(tables[:replications]), _seen(tables[replications:]))


def as_documented(point: Point, calls: int = CALLS, replications: int = 4) -> Compared:
    """Both stacks with dcSCTP's settings."""
    return _compare(point, {}, {}, calls, replications)


def with_open_windows(point: Point, calls: int = CALLS, replications: int = 4) -> Compared:
    """Both with a least window that does not bind: dcSCTP has no reason to cut messages."""
    return _compare(point, OPEN_OURS, OPEN_THEIRS, calls, replications)


def one_message_a_packet(point: Point, calls: int = CALLS, replications: int = 4) -> Compared:
    """With open windows, and packets of ours that have room for one message only."""
    return _compare(point, ONE_A_PACKET_OURS, OPEN_THEIRS, calls, replications)


HEAD = (
    "| point | delay | loss | calls | delivery | ours p95 | dcSCTP p95 | difference | "
    "alike | time-outs, ours | dcSCTP | needless, ours | dcSCTP | pieces a message, dcSCTP |\n"
    + "|---" * 14
    + "|"
)


def row(point: Point, seen: Compared, alike: Compared | None) -> str:
    """One line of the table."""

    def difference(compared: Compared) -> str:
        low, high = compared.interval()
        return f"{compared.difference:+.1%} ({low:+.1%}, {high:+.1%})"

    cells = [
        point.number,
        f"{point.one_way_delay_ms} ms",
        f"{point.loss:.2%}",
        f"{point.call_rate}/s",
        point.delivery,
        f"{seen.ours.p95_s * 1e3:.0f} ms",
        f"{seen.theirs.p95_s * 1e3:.0f} ms",
        difference(seen),
        "" if alike is None else difference(alike),
        seen.ours.timeouts,
        seen.theirs.timeouts,
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
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--replications", type=int, default=4)
    arguments = parser.parse_args()
    sizes = (arguments.calls, arguments.replications)
    print(HEAD)
    for point in points(arguments.points):
        if arguments.only and point.number not in arguments.only:
            continue
        seen = as_documented(point, *sizes)
        near = abs(seen.difference) < WORTH_A_LOOK
        alike = None if near else one_message_a_packet(point, *sizes)
        print(row(point, seen, alike), flush=True)


if __name__ == "__main__":
    main()
