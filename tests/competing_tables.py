"""Made-up results of Tables 2 to 4 in which every claim holds, for tests of pure functions.

The numbers only lie inside each claim's band; what the simulator finds is tested on real runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import polars as pl

SCENARIO = ["path.one_way_delay", "workload.call_rate", "transport.delivery"]
TABLE_2 = ["path.queue", "competing.bulk.flows", *SCENARIO]
TABLE_3 = ["path.queue", "competing.web.users.session_rate", *SCENARIO]
TABLE_4 = ["competing.bulk.flows", *SCENARIO]
_FACTOR = {(0.02, 40.0): 1.0, (0.02, 20.0): 1.3, (0.06, 40.0): 1.8, (0.06, 20.0): 2.3}
# Seconds at 20 ms, 40 calls/s; None: hardly more than the round-trip time.
_HOLB = {
    "10-20": dict(zip((1, 2, 4, 6), (0.20, 0.23, 0.33, 0.43), strict=True)),
    "50-60": dict(zip((1, 2, 4, 6), (None, 0.12, 0.16, 0.26), strict=True)),
}
_NO_HOLB = {
    "10-20": dict(zip((1, 2, 4, 6), (None, 0.20, 0.205, 0.215), strict=True)),
    "50-60": dict(zip((1, 2, 4, 6), (None, None, None, 0.12), strict=True)),
}


def _points(*axes: Iterable[Any]) -> Iterable[tuple[int, tuple[Any, ...]]]:
    return enumerate(product(*axes, (0.02, 0.06), (20.0, 40.0), ("ordered", "unordered")))


def _row(point: int, replication: int, factors: list[str], levels: tuple[Any, ...]) -> Any:
    return {
        "run_id": f"p{point:04}-r{replication:02}",
        "point_id": point,
        "replication": replication,
        **dict(zip(factors, levels, strict=True)),
    }


def _bulk_p95(queue: str, flows: int, delay: float, rate: float, delivery: str) -> float:
    base = (_HOLB if delivery == "ordered" else _NO_HOLB)[queue][flows]
    far = delay == 0.06
    if base is None or (far and queue == "50-60" and delivery == "unordered"):
        near = 1.1 if queue == "10-20" else 1.0 + 0.01 * flows
        return 2 * delay * near * (1.005 if rate == 20 else 1.0)
    if far and rate == 40 and (queue, flows, delivery) == ("10-20", 2, "unordered"):
        base *= 0.8
    return base * _FACTOR[delay, rate]


def bulk_runs(replications: int = 10) -> pl.DataFrame:
    """Runs of all 64 points of Table 2; points compared share their noise."""
    noise = np.random.default_rng(1).normal(0, 0.03, size=replications)
    rows = []
    for point, levels in _points(("10-20", "50-60"), (1, 2, 4, 6)):
        _, flows, delay, rate, _ = levels
        far_fast = (delay, rate) == (0.06, 40.0)
        lost = 0.07 if flows > 1 or far_fast else 0.03
        for replication in range(replications):
            calls = round(60 * rate)
            duplicates = 0.1 * calls * delay * rate
            retransmissions = 2 * calls * lost + duplicates
            rows.append(
                _row(point, replication, TABLE_2, levels)
                | {
                    "psd_p95_s": _bulk_p95(*levels) * (1 + noise[replication]),
                    "calls": calls,
                    "duplicates": duplicates,
                    "retransmissions": retransmissions,
                    "needless_retransmissions": duplicates,
                    "data_chunks": 2 * calls + retransmissions,
                }
            )
    return pl.DataFrame(rows)


def longer_runs(replications: int = 10) -> pl.DataFrame:
    """Runs with a queue ten times as long: the longer, the later."""
    runs = bulk_runs(replications).filter(pl.col("path.queue") == "50-60")
    return pl.concat(
        [
            runs,
            runs.with_columns(
                pl.lit("500-600").alias("path.queue"), pl.col("psd_p95_s") + pl.lit(0.5)
            ),
        ]
    )


def web_runs(replications: int = 10) -> pl.DataFrame:
    """Runs of all 48 points of Table 3."""
    noise = np.random.default_rng(2).normal(0, 0.1, size=replications)
    rows = []
    for point, levels in _points(("10-20", "50-60"), (1.0, 2.0, 3.0)):
        queue, sessions, delay, rate, delivery = levels
        for replication in range(replications):
            if queue == "50-60":
                p95 = 2 * delay * 1.02
            else:
                high = 0.25 if delivery == "ordered" else 0.1
                p95 = high * sessions * _FACTOR[delay, rate] * (1 + noise[replication])
            rows.append(_row(point, replication, TABLE_3, levels) | {"psd_p95_s": p95})
    return pl.DataFrame(rows)


def long_path_runs(replications: int = 10) -> pl.DataFrame:
    """Runs of all 16 points of Table 4, over a bottleneck that holds 1.55 s."""
    noise = np.random.default_rng(3).normal(0, 0.3, size=replications)
    rows = []
    axes = ((0, 2), (0.035, 0.06), (20.0, 40.0), ("ordered", "unordered"))
    for point, levels in enumerate(product(*axes)):
        flows, delay, rate, delivery = levels
        blocked = delivery == "ordered" and (delay == 0.035 or rate == 40)
        for replication in range(replications):
            quiet = 2 * delay * (1.3 if blocked else 1.02)
            p95 = 5.0 + noise[replication] if flows else quiet
            rows.append(
                _row(point, replication, TABLE_4, levels)
                | {"psd_p95_s": p95, "packets_lost_queue": 3 * flows}
            )
    return pl.DataFrame(rows)
