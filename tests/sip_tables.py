"""Made-up results of Table 1 in which every claim holds, for tests of pure functions.

The numbers are a rough model of SIP over SCTP, only meant to lie inside each claim's band;
what the simulator finds is tested on real runs elsewhere.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from headway.metrics import METRICS
from headway.stats import LEVELS, points
from headway.study import locate

LOSSES = (0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08)
FACTORS = [
    "path.loss.rate",
    "path.loss.correlation",
    "path.queue",
    "path.one_way_delay",
    "workload.call_rate",
    "transport.delivery",
]
_HOLB = dict(zip(LOSSES, (0.100, 0.140, 0.190, 0.230, 0.265, 0.330, 0.400), strict=True))
_NO_HOLB = dict(zip(LOSSES, (None, None, None, 0.150, 0.190, 0.230, 0.270), strict=True))
_SCENARIO = {(0.02, 40.0): 1.0, (0.02, 20.0): 1.5, (0.06, 40.0): 1.8, (0.06, 20.0): 2.3}


def sip_runs(replications: int = 10, seed: int = 1) -> pl.DataFrame:
    """Runs of all 336 points."""
    rng = np.random.default_rng(seed)
    rows = []
    # Both queues see the same arrivals and losses, as in the simulator, and never drop here.
    shared: dict[tuple[object, ...], tuple[float, float, int]] = {}
    points = product(
        LOSSES,
        (0.0, 0.5, 0.8),
        ("10-20", "50-60"),
        (0.02, 0.06),
        (20.0, 40.0),
        ("ordered", "unordered"),
    )
    for point, (loss, correlation, queue, delay, rate, delivery) in enumerate(points):
        for replication in range(replications):
            key = (loss, correlation, delay, rate, delivery, replication)
            uniform, normal, more = shared.setdefault(
                key, (rng.random(), rng.normal(), int(rng.integers(-20, 20)))
            )
            base = (_HOLB if delivery == "ordered" else _NO_HOLB)[loss]
            if base is None:
                p95 = 2 * delay * (1.02 + 0.01 * uniform)
            else:
                p95 = base * _SCENARIO[delay, rate] * (1 + 0.03 * normal)
            calls = 60 * rate + more
            lost = 2 * calls * loss
            blocking = 0.3 * loss * (delivery == "ordered")
            rows.append(
                {
                    "run_id": f"p{point:04}-r{replication:02}",
                    "point_id": point,
                    "replication": replication,
                    "seed": f"{point * 1000 + replication:016x}",
                    "path.loss.rate": loss,
                    "path.loss.correlation": correlation,
                    "path.queue": queue,
                    "path.one_way_delay": delay,
                    "workload.call_rate": rate,
                    "transport.delivery": delivery,
                    "complete": True,
                    "calls": calls,
                    "clean_calls": round(calls * (1 - loss) ** 2),
                    "psd_p95_s": p95,
                    "psd_clean_sd_s": 0.001 + blocking,
                    "offered_bps": 3600 * calls / 60,
                    "timeouts": lost * (0.1 if rate == 40 else 0.2),
                    "lost_chunks": lost,
                    "fast_retransmissions": lost * (0.9 if rate == 40 else 0.8),
                    "retransmissions": lost * 1.1,
                    "duplicates": lost * (0.1 if (delay, rate) == (0.06, 40.0) else 0.05),
                    "needless_retransmissions": lost * 0.05,
                    "cwnd_mean_bytes": 4000 + 50 * rate,
                    "sender_wait_mean_s": 0.001,
                    "network_mean_s": delay,
                    "recovery_mean_s": 0.2 * loss,
                    "hol_blocking_mean_s": blocking,
                }
            )
    return pl.DataFrame(rows)


def write_results(folder: Path, runs: pl.DataFrame, study: str | None = None) -> Path:
    """Make `folder` a results folder that holds `runs`, by default of the shipped study."""
    parts = ["sender_wait_mean_s", "network_mean_s", "recovery_mean_s", "hol_blocking_mean_s"]
    runs = runs.with_columns(pl.sum_horizontal(parts).alias("message_delay_mean_s"))
    factors = [name for name in FACTORS if name in runs.columns]
    metrics = [name for name in runs.columns if name in METRICS["sip"]]
    runs.write_parquet(folder / "runs.parquet")
    points(runs, ["point_id", *factors], metrics).write_parquet(folder / "points.parquet")
    text = locate("sip-random-loss").read_text() if study is None else study
    (folder / "study.toml").write_text(text)
    return folder


def with_every_metric(runs: pl.DataFrame) -> pl.DataFrame:
    """`runs` with a column for each metric that real runs have."""
    rng = np.random.default_rng(3)
    missing = [name for name in METRICS["sip"] if name not in runs.columns]
    return runs.with_columns(pl.Series(name, rng.random(len(runs))) for name in missing)


def write_distributions(folder: Path, runs: pl.DataFrame) -> None:
    """The distributions of every run: 201 quantiles of made-up delays."""
    rng = np.random.default_rng(4)
    quantiles = np.quantile(rng.exponential(0.1, size=(400, len(runs))), LEVELS, axis=0).T
    pl.DataFrame(
        {"run_id": runs["run_id"], "metric": "psd_s", "quantiles": quantiles.tolist()}
    ).write_parquet(folder / "distributions.parquet")
